# SPDX-License-Identifier: MIT
# `make compare`: both paths on the same overflows, and programs that make them differ, unharmed by either. In each
# `make check` with the newest interpreter; by itself with every one that is found. ONLY=text picks tests.
CHECKS += compare-fast

.PHONY: compare compare-fast
compare: all
	$(Q)$(PYTHON) tests/system/run.py --tests tests/compare $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder

compare-fast: all
	$(Q)$(PYTHON) tests/system/run.py --tests tests/compare --fast $(O)/sidewinder
