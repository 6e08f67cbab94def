# SPDX-License-Identifier: MIT
# `make lttng`: traces through LTTng, with real daemons, all out of sight of the machine's own.
# ONLY=text picks tests.
CHECKS += lttng
LTTNG_TESTS = tests/lttng/private.sh $(PYTHON) tests/system/run.py --jobs 1 --tests tests/lttng

.PHONY: lttng
lttng: all
	$(Q)$(LTTNG_TESTS) $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder
