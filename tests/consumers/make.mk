# SPDX-License-Identifier: MIT
# `make check-consumers`: each export opened by the program that it is for. Not part of `make check`: it fetches
# packages from npm and PyPI, and builds Go's pprof.
.PHONY: check-consumers
check-consumers: all
	$(Q)$(PYTHON) tests/consumers/run.py $(O)/sidewinder $(O)/consumers
