# SPDX-License-Identifier: MIT
# `make lines`: names and lines of code objects, held against each interpreter found.
CHECKS += lines
LINES_PROGRAMS := $(O)/tests/lines/compare $(O)/tests/lines/remote

$(LINES_PROGRAMS): %: %.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: lines
lines: $(LINES_PROGRAMS)
	$(Q)tests/lines/run.sh $^
