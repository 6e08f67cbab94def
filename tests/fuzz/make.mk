# SPDX-License-Identifier: MIT
# `make fuzz`: forged input for every stage that reads what a target wrote, FUZZ_SECONDS (60) each.
# `make fuzz-smoke`: the same for two seconds each, as many at a time as there are processors (`make check`). ONLY=name picks one.
CHECKS += fuzz-smoke
FUZZ_SECONDS ?= 60
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/fuzz/%)

.PHONY: fuzz fuzz-smoke fuzz-programs
fuzz: SANITIZED_LEVEL = -O1
fuzz:
	+$(Q)$(SANITIZED) fuzz-programs
	$(Q)tests/fuzz/run.sh $(O)-asan/fuzz $(FUZZ_SECONDS) $(ONLY)

fuzz-smoke:
	+$(Q)$(SANITIZED) fuzz-programs
	$(Q)tests/fuzz/run.sh $(O)-asan/fuzz 2 $(ONLY)

fuzz-programs: $(FUZZ)

$(O)/fuzz/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIBRARY) $(LDLIBS)

$(O)/tests/fuzz/%.o: CPPFLAGS += -Itests
# BPF may load from any address of its memory
$(O)/tests/fuzz/fuzz_pywalk.o: override SANITIZE += -fno-sanitize=alignment
-include $(FUZZ_SRC:%.c=$(O)/%.d)
