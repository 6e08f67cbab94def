# SPDX-License-Identifier: MIT
# `make lines`: the line of every instruction of hundreds of modules, held against each interpreter found.
CHECKS += lines

$(O)/tests/lines/compare: $(O)/tests/lines/compare.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: lines
lines: $(O)/tests/lines/compare
	$(Q)tests/lines/run.sh $<
