# SPDX-License-Identifier: MIT
# `make containers-fast`: real containers, by runc, with this machine's own files (`make check`).
# `make containers`: the same, and images of Debian made by debootstrap. ONLY=text picks tests.
CHECKS += containers-fast
CONTAINERS = tests/system/run.py --tests tests/containers $(if $(ONLY),--only '$(ONLY)')

.PHONY: containers containers-fast
containers: all
	$(Q)$(PYTHON) $(CONTAINERS) $(O)/sidewinder

containers-fast: all
	$(Q)$(PYTHON) $(CONTAINERS) --fast $(O)/sidewinder
