# what `make bench` needs besides the profiler: an event with a program that does nothing
$(O)/bench/floor: tests/bench/floor.c $(O)/flags
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -o $@ $< -lbpf
-include $(O)/bench/floor.d

bench: $(O)/bench/floor
