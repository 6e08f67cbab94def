# SPDX-License-Identifier: MIT
# `make dumps`: sidewinder dump and doctor on the interpreters found. ONLY=text picks tests, EVERY=1 takes
# those of the oldest and newest versions for every test, too.
# `make object-layouts`: where values are in each CPython found, held against its own headers.
CHECKS += object-layouts dumps

$(O)/tests/dump/print: $(O)/tests/dump/print.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(O)/tests/dump/print.d

.PHONY: object-layouts dumps
object-layouts: $(O)/tests/dump/print
	$(Q)CC='$(CC)' EVERY='$(EVERY)' tests/dump/layouts.sh $<

dumps: all
	$(Q)$(PYTHON) tests/system/run.py $(if $(EVERY),--every) --tests tests/dump $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder
