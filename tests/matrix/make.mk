# SPDX-License-Identifier: MIT
# `make matrix`: layouts, lines, system tests and cases on every CPython here (more: `make pythons`).
# VERSION_LIKE=text picks interpreters, CASES=all|telling|none cases, JSON=1 prints an object, MARKDOWN=1 README's table.
.PHONY: matrix
matrix: all $(O)/tests/layout/print $(O)/tests/lines/compare $(O)/tests/lines/remote
	$(Q)$(PYTHON) tests/matrix/run.py --build $(O) $(if $(CASES),--cases $(CASES)) \
	  $(if $(VERSION_LIKE),--python '$(VERSION_LIKE)') $(if $(JSON),--json) $(if $(MARKDOWN),--markdown)
