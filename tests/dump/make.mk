# SPDX-License-Identifier: MIT
# `make dumps`: sidewinder dump on each interpreter found. ONLY=text picks tests.
# `make object-layouts`: where values are in each CPython found, held against its own headers.
CHECKS += object-layouts dumps

$(O)/tests/dump/print: $(O)/tests/dump/print.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(O)/tests/dump/print.d

.PHONY: object-layouts dumps
object-layouts: $(O)/tests/dump/print
	$(Q)CC='$(CC)' tests/dump/layouts.sh $<

dumps: all
	$(Q)$(PYTHON) tests/system/run.py --tests tests/dump $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder
