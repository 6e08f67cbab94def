# SPDX-License-Identifier: MIT
# `make top`: the live view in real terminals (tmux), by keys and screen contents. ONLY=text picks tests.
CHECKS += top

.PHONY: top
top: all
	$(Q)$(PYTHON) tests/system/run.py --tests tests/top $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder

.PHONY: top-listing
top-listing: all
	$(Q)$(PYTHON) tests/top/listing.py $(O)/sidewinder Enter
