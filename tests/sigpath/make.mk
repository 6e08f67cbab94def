# SPDX-License-Identifier: MIT
# `make sigpath`: programs that use signals hard run under the agent as without it, on each CPython
# found; `make sigpath-fast` (in `make check`): on the newest. ONLY=text picks tests.
CHECKS += sigpath-fast

.PHONY: sigpath sigpath-fast
sigpath sigpath-fast: all
	$(Q)$(PYTHON) tests/system/run.py --tests tests/sigpath $(if $(ONLY),--only '$(ONLY)') \
	  $(if $(filter sigpath-fast,$@),--fast) $(O)/sidewinder
