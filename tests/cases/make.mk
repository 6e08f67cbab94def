# SPDX-License-Identifier: MIT
# `make cases`: every program of tests/cases/given on every interpreter found.
# `make cases-slice`: all of them on one interpreter, the telling ones on the others (`make check`).
CHECKS += cases-slice

.PHONY: cases cases-slice
cases: all
	$(Q)$(PYTHON) tests/cases/run.py --work $(O)/cases $(O)/sidewinder

cases-slice: all
	$(Q)$(PYTHON) tests/cases/run.py --slice --work $(O)/cases $(O)/sidewinder
