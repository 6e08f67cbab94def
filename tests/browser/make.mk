# SPDX-License-Identifier: MIT
# `make browser`: the pages in a headless Chromium: flame graph, time, differences, heat map, comparison; keys, safety.
CHECKS += browser

.PHONY: browser
browser: $(O)/tests/test_flamegraph $(O)/tests/test_compare_report $(O)/tests/test_heatmap
	$(Q)$(PYTHON) tests/browser/run.py $^

.PHONY: pictures
pictures: all
	$(Q)$(PYTHON) tests/browser/pictures.py $(O)/sidewinder tests/browser
