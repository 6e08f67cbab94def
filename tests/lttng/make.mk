# SPDX-License-Identifier: MIT
# `make lttng`: traces through LTTng, with real daemons, all out of sight of the machine's own.
# ONLY=text picks tests. `make lttng-fast`: those that take no more than seconds (`make check`).
CHECKS += lttng-fast
LTTNG_TESTS = tests/lttng/private.sh $(PYTHON) tests/system/run.py --jobs 1 --tests tests/lttng \
              $(if $(ONLY),--only '$(ONLY)')

.PHONY: lttng lttng-fast lttng-bench
lttng: all
	$(Q)$(LTTNG_TESTS) $(O)/sidewinder

lttng-fast: all
	$(Q)$(LTTNG_TESTS) --fast $(O)/sidewinder

# 10 kHz for a minute into the default channel, and the bytes that a sample takes at 1 kHz
lttng-bench: all $(O)/bench/event_cost $(O)/bench/floor
	$(Q)tests/lttng/private.sh $(PYTHON) tests/lttng/bench.py $(O)/sidewinder

$(O)/bench/event_cost: tests/lttng/event_cost.c include/handler_events.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< -ldl
