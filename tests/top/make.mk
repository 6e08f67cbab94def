# SPDX-License-Identifier: MIT
# `make top`: the live view in real terminals (tmux), by keys and screen contents. ONLY=text picks tests.
CHECKS += top

# one at a time: terminals do not have the priority that the targets have, and two of these are two processors
.PHONY: top
top: all
	$(Q)$(PYTHON) tests/system/run.py --tests tests/top --jobs 1 $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder

.PHONY: top-listing
top-listing: all
	$(Q)$(PYTHON) tests/top/listing.py $(O)/sidewinder Enter
