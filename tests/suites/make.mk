# SPDX-License-Identifier: MIT
# `make suites`: built and tested with the compilers, libraries and Python of other Debian suites. SUITES=names.
.PHONY: suites
suites:
	$(Q)tests/tools/packages.sh suites
	$(Q)tests/suites/run.sh $(O)
