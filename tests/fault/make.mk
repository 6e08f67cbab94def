# SPDX-License-Identifier: MIT
# `make fault`: targets that end, lie and change under the profiler. ONLY=0201 picks tests.
# `make fault-fast`: those that take no more than seconds (`make check`).
CHECKS += fault-fast
FAULT = tests/system/run.py --tests tests/fault $(if $(ONLY),--only '$(ONLY)')

.PHONY: fault fault-fast
fault: all
	$(Q)$(PYTHON) $(FAULT) $(O)/sidewinder

fault-fast: all
	$(Q)$(PYTHON) $(FAULT) --fast $(O)/sidewinder
