# SPDX-License-Identifier: MIT
# `make check` runs all, unit, asan, lint and then each target that a tests/*/make.mk adds to CHECKS.
.PHONY: list-checks
list-checks:
	@echo $(CHECKS)

# CPythons that this machine does not have: PYTHONS='forky:3.14 trixie:3.13' picks suites and versions
.PHONY: pythons
pythons:
	$(Q)tests/tools/packages.sh pythons
	$(Q)tests/tools/pythons.sh $(PYTHONS)
