# SPDX-License-Identifier: MIT
# `make layouts`: where things are in each CPython found, held against that CPython's own headers.
CHECKS += layouts

$(O)/tests/layout/print: $(O)/tests/layout/print.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: layouts
layouts: $(O)/tests/layout/print
	$(Q)CC='$(CC)' tests/layout/run.sh $<

-include $(O)/tests/layout/print.d
