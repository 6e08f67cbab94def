# SPDX-License-Identifier: MIT
# `make browser`: the flame graph page in a headless Chromium: zoom, search, switches, keys, safety.
CHECKS += browser

.PHONY: browser
browser: $(O)/tests/test_flamegraph
	$(Q)$(PYTHON) tests/browser/run.py $<
