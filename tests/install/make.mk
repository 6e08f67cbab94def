# SPDX-License-Identifier: MIT
# `make install-check`: what make install puts in place works from there, and goes with make uninstall.
CHECKS += install-check

.PHONY: install-check
install-check: all
	$(Q)sh tests/install/run.sh $(O)
