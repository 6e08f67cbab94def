# SPDX-License-Identifier: MIT
# `make compass`: what the scheduler does beside the samples, and the analyses for Trace Compass.
# ONLY=text picks tests.
CHECKS += compass

.PHONY: compass
compass: all
	$(Q)$(PYTHON) tests/system/run.py --jobs 1 --tests tests/compass $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder
