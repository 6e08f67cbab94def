# SPDX-License-Identifier: MIT
# `make system`: the profiler as a user has it, on each interpreter found. ONLY=text picks tests.
CHECKS += system

.PHONY: system
system: all
	$(Q)$(PYTHON) tests/system/run.py $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder
