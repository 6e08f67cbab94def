# SPDX-License-Identifier: MIT
# `make kernels`: the profiler under Debian's kernels 5.10 to 7.x, in emulated machines. KERNELS=suites.
.PHONY: kernels
kernels: all
	$(Q)tests/tools/packages.sh build kernels
	$(Q)tests/kernels/run.sh $(O)
