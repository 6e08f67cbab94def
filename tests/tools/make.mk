# SPDX-License-Identifier: MIT
# `make check` runs all, unit, asan, lint and then each target that a tests/*/make.mk adds to CHECKS.
.PHONY: list-checks
list-checks:
	@echo $(CHECKS)
