# SPDX-License-Identifier: MIT
# `make usage`: what the command line says and returns, without recording anything.
CHECKS += usage

.PHONY: usage
usage: all
	$(Q)sh tests/usage/usage.sh $(O)/sidewinder
