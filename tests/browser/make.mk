# SPDX-License-Identifier: MIT
# `make browser`: the flame graph page in a headless Chromium: zoom, search, switches, keys, safety; the page of a comparison.
CHECKS += browser

.PHONY: browser
browser: $(O)/tests/test_flamegraph $(O)/tests/test_compare_report
	$(Q)$(PYTHON) tests/browser/run.py $^
