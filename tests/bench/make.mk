# what `make bench` needs besides the profiler: an event with a program that does nothing
$(O)/bench/floor: tests/bench/floor.c $(O)/flags
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -o $@ $< -lbpf

# what `make paper` needs besides
$(O)/bench/forwarding: tests/bench/forwarding.c $(O)/flags
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -o $@ $< -lbpf
-include $(O)/bench/floor.d $(O)/bench/forwarding.d

bench: $(O)/bench/floor

# the rows of the work this comes from, measured here: QUICK=1 for a look, JSON=1 for programs
.PHONY: paper
paper: all $(O)/bench/floor $(O)/bench/forwarding
	$(Q)tests/bench/paper.sh $(O)

# how soon interpreters are found, new ones and known ones, and with a thousand processes
.PHONY: finding
finding: all
	$(Q)$(PYTHON) tests/bench/finding.py $(O)
