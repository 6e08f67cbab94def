# SPDX-License-Identifier: MIT
#
#   make            build/sidewinder
#   make demo       install what is missing, build, record a real program, show the result
#   make check      install what the tests need, run all tests
#   make help       everything else
#
# V=1 shows commands; O=dir builds elsewhere (default build/).

O       ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CLANG   ?= clang
PROTOC_C ?= protoc-c
BPFTOOL ?= $(or $(wildcard /usr/sbin/bpftool),bpftool)
PYTHON  ?= python3
VERSION := 0.1.0
RELEASED := 2026-11-29

Q   := $(if $(filter 1,$(V)),,@)
say  = $(if $(Q),@printf '  %-5s %s\n' $(1) $(2:$(O)/%=%))

PACKAGES := libbpf libelf zlib libunwind-generic libunwind-ptrace json-c babeltrace2 libprotobuf-c ncursesw
WARN     := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
OPTIMIZE ?= -O2 -g
SANITIZE ?=
CPPFLAGS += -D_GNU_SOURCE -DSDW_VERSION='"$(VERSION)"' -DSDW_RELEASED='"$(RELEASED)"' -Iinclude -Iuser -I$(O)
ifneq ($(filter-out help clean demo install-packages uninstall,$(or $(MAKECMDGOALS),all)),)
CPPFLAGS += $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
LDLIBS   += $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)
endif
LDLIBS   += -lunwind-x86_64 -liberty -lm -lpthread
CFLAGS   += -std=gnu11 $(OPTIMIZE) $(WARN) $(SANITIZE)

BPF_ARCH   := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))
BPF_CFLAGS := -g -O2 $(filter-out -Wmissing-prototypes,$(WARN)) -Wno-unused-parameter -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) \
              -D__bpf__ -Iinclude -Ibpf -isystem vmlinux

# definitions first: the linker of libbpf 1.1 loses the offset of a map that it met as `extern` before
BPF_SRC  := bpf/maps.bpf.c $(filter-out bpf/maps.bpf.c,$(wildcard bpf/*.bpf.c))
BPF_OBJ  := $(BPF_SRC:%.c=$(O)/%.o)
# shared objects of their own, loaded for --lttng alone: the program runs where LTTng is not installed
LTTNG_SRC := $(wildcard user/lttng/*.c)
LTTNG_SO  := $(if $(shell pkg-config --exists lttng-ust lttng-ctl 2>/dev/null && echo yes),$(O)/lttng-provider.so $(O)/lttng-handler.so $(O)/lttng-control.so)
USER_SRC := $(filter-out $(LTTNG_SRC),$(wildcard user/*/*.c))
TRACECOMPASS := $(O)/tracecompass/sidewinder.xml
PROTO    := $(wildcard user/view/proto/*.proto)
PROTO_C  := $(PROTO:user/view/%.proto=$(O)/%.pb-c.c)
USER_OBJ := $(USER_SRC:%.c=$(O)/%.o) $(PROTO_C:.c=.o)
MAIN_OBJ := $(O)/user/main.o
SKELETON := $(O)/sidewinder.skel.h
REGISTERS := $(O)/registers.skel.h
SCHED    := $(O)/sched.skel.h
LIBRARY  := $(O)/libsidewinder.a
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT     := $(UNIT_SRC:tests/unit/%.c=$(O)/tests/%)

# the agent of the signal path, and the walk of bpf/ compiled for it
AGENT     := $(O)/sidewinder-agent.so
AGENT_SRC := $(wildcard user/sigpath/agent/*.c) $(addprefix bpf/,python.bpf.c thread.bpf.c code.bpf.c native.bpf.c) \
             user/symbol/text.c user/base/utf8.c
AGENT_OBJ := $(AGENT_SRC:%.c=$(O)/agent/%.o)
AGENT_CFLAGS = -std=gnu11 $(OPTIMIZE) $(filter-out -Wmissing-prototypes,$(WARN)) -Wno-unknown-pragmas -Wno-unused-parameter \
               -fPIC -fvisibility=hidden -D_GNU_SOURCE -Iuser/sigpath/agent -Iuser/sigpath/agent/shim -Iinclude -Ibpf -Iuser

.PHONY: all
all: $(O)/sidewinder $(AGENT) $(O)/man/sidewinder.1 $(LTTNG_SO) $(TRACECOMPASS)

$(AGENT): $(AGENT_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-z,defs -Wl,-z,now $(LDFLAGS) -o $@ $(AGENT_OBJ) -lunwind -ldl -lpthread

$(O)/agent/%.o: %.c $(O)/flags
	$(call say,AGENT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(AGENT_CFLAGS) -MMD -MP -c $< -o $@

$(O)/sidewinder: $(MAIN_OBJ) $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(MAIN_OBJ) $(LIBRARY) $(LDLIBS)

$(LIBRARY): $(USER_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(USER_OBJ)

$(O)/%.o: %.c $(O)/flags
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(USER_OBJ) $(MAIN_OBJ): | $(SKELETON) $(REGISTERS) $(SCHED) $(PROTO_C)

$(O)/proto/%.pb-c.c: user/view/proto/%.proto
	$(call say,PROTO,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=$(<D) --c_out=$(@D) $<

$(O)/proto/%.o: $(O)/proto/%.c $(O)/flags
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(O)/user/view/heatmap.o: $(wildcard user/view/heatmap/*)
$(O)/user/analyze/compare_page.o: $(wildcard user/analyze/page/*)
$(O)/user/view/flamegraph.o: $(wildcard user/view/flamegraph/*) # which it holds, by .incbin

$(foreach shell,bash zsh fish,$(O)/user/cmd/completion_$(shell).o): \
  $(O)/user/cmd/completion_%.o: user/cmd/completion/sidewinder.%

$(LTTNG_SRC:%.c=$(O)/%.o): CFLAGS += -fPIC

$(O)/lttng-provider.so: $(O)/user/lttng/provider.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -llttng-ust -ldl

# the tracepoints of the agent
$(O)/lttng-handler.so: $(O)/user/lttng/handler.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -llttng-ust -llttng-ust-common -ldl

$(O)/lttng-control.so: $(patsubst %.c,$(O)/%.o,$(filter-out user/lttng/provider.c user/lttng/handler.c,$(LTTNG_SRC)))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -llttng-ctl

# the program has all its tables, and writes its manual and completion by them
$(O)/man/sidewinder.1: $(O)/sidewinder
	$(call say,MAN,$@)
	$(Q)rm -rf $(O)/man $(O)/completion && mkdir -p $(O)/man $(O)/completion
	$(Q)for shell in bash zsh fish; do \
	  $< help --completion=$$shell >$(O)/completion/sidewinder.$$shell || exit 1; done
	$(Q)for verb in $$($< help --list=verbs | cut -f 1); do \
	  $< help --man $$verb >$(O)/man/sidewinder-$$verb.1 || exit 1; done
	$(Q)$< help --man >$@

# Trace Compass's analyses have no loops: so many levels of a stack are written out
$(TRACECOMPASS): user/view/tracecompass/sidewinder.xml.in user/view/tracecompass/levels.awk
	$(call say,XML,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk -v levels=128 -f user/view/tracecompass/levels.awk $< >$@.tmp && mv $@.tmp $@

# one program: link every BPF object, then one skeleton, written whole or not at all
$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/flags
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(SKELETON): $(BPF_OBJ)
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen object $(O)/sidewinder.bpf.o $(BPF_OBJ)
	$(Q)$(BPFTOOL) gen skeleton $(O)/sidewinder.bpf.o name sdw_bpf > $@.tmp && mv $@.tmp $@

# a program of its own, for dump
$(REGISTERS): $(O)/bpf/dump/registers.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name sdw_registers_bpf > $@.tmp && mv $@.tmp $@

# and one for record --sched
$(SCHED): $(O)/bpf/sched/sched.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name sdw_sched_bpf > $@.tmp && mv $@.tmp $@

# rebuild everything when the flags changed, and only then
$(O)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(subst ','\'',$(CC) $(CPPFLAGS) $(CFLAGS) $(CLANG) $(BPF_CFLAGS))' | cmp -s - $@ || \
	  echo '$(subst ','\'',$(CC) $(CPPFLAGS) $(CFLAGS) $(CLANG) $(BPF_CFLAGS))' > $@

# unit tests: one program a file, each linked with the whole library; what they say is for those that fail
.PHONY: unit
unit: $(UNIT)
	$(Q)printf '%s\n' $(UNIT) | xargs -P "$$(nproc)" -n 1 sh -c 'echo "  TEST  $${0##*/}"; \
	  "$$0" >"$$0.log" 2>&1 || { cat "$$0.log"; exit 1; }'

# cmocka 2 has new names for what Debian 12's has by the old ones only
$(UNIT_SRC:%.c=$(O)/%.o): private CFLAGS += -Wno-deprecated-declarations

$(O)/tests/%: $(O)/tests/unit/%.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIBRARY) $(LDLIBS) -lcmocka

include $(wildcard tests/*/make.mk)

.PHONY: install-packages
install-packages:
	$(Q)tests/tools/packages.sh build

.PHONY: demo
demo:
	$(Q)tests/tools/demo.sh $(O)

.PHONY: check
check:
	$(Q)tests/tools/packages.sh build check
	$(Q)tests/tools/check.sh $(O)

.PHONY: bench
bench: all
	$(Q)tests/bench/run.sh $(O)

SHARE           = $(DESTDIR)$(PREFIX)/share
BASH_COMPLETION = bash-completion/completions/sidewinder
ZSH_COMPLETION  = zsh/site-functions/_sidewinder
FISH_COMPLETION = fish/vendor_completions.d/sidewinder.fish

.PHONY: install
install: all
	$(Q)install -D -m 0755 $(O)/sidewinder $(DESTDIR)$(PREFIX)/bin/sidewinder
	$(Q)$(if $(LTTNG_SO),install -D -m 0644 -t $(DESTDIR)$(PREFIX)/lib/sidewinder $(LTTNG_SO),:)
	$(Q)install -D -m 0755 $(AGENT) $(DESTDIR)$(PREFIX)/lib/sidewinder/sidewinder-agent.so
	$(Q)install -d $(SHARE)/man/man1
	$(Q)install -m 0644 $(O)/man/*.1 $(SHARE)/man/man1/
	$(Q)install -D -m 0644 $(O)/completion/sidewinder.bash $(SHARE)/$(BASH_COMPLETION)
	$(Q)install -D -m 0644 $(O)/completion/sidewinder.zsh $(SHARE)/$(ZSH_COMPLETION)
	$(Q)install -D -m 0644 $(O)/completion/sidewinder.fish $(SHARE)/$(FISH_COMPLETION)
	$(Q)install -D -m 0644 $(TRACECOMPASS) $(SHARE)/sidewinder/tracecompass.xml

.PHONY: uninstall
uninstall:
	$(Q)rm -f $(DESTDIR)$(PREFIX)/lib/sidewinder/sidewinder-agent.so
	$(Q)rm -f $(DESTDIR)$(PREFIX)/lib/sidewinder/lttng-provider.so
	$(Q)rm -f $(DESTDIR)$(PREFIX)/lib/sidewinder/lttng-handler.so
	$(Q)rm -f $(DESTDIR)$(PREFIX)/lib/sidewinder/lttng-control.so
	$(Q)rmdir $(DESTDIR)$(PREFIX)/lib/sidewinder 2>/dev/null || :
	$(Q)rm -f $(SHARE)/sidewinder/tracecompass.xml
	$(Q)rmdir $(SHARE)/sidewinder 2>/dev/null || :
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/sidewinder $(SHARE)/man/man1/sidewinder.1 \
	  $(SHARE)/man/man1/sidewinder-*.1 $(SHARE)/$(BASH_COMPLETION) \
	  $(SHARE)/$(ZSH_COMPLETION) $(SHARE)/$(FISH_COMPLETION)

# one build for sanitized unit tests and for a short look by the fuzzers, beside $(O): -O0 compiles in a
# quarter of the time, -O1 (make fuzz) runs three times as fast
SANITIZED_LEVEL = -O0
SANITIZED = $(MAKE) O=$(O)-asan CC=$(CLANG) OPTIMIZE='$(SANITIZED_LEVEL) -gline-tables-only -fno-omit-frame-pointer' \
  SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'

.PHONY: asan
asan:
	+$(Q)$(SANITIZED) all unit

FORMAT_SRC = $(wildcard include/*.h bpf/*.[ch] bpf/*/*.[ch] user/*.c user/*/*.[ch] user/sigpath/agent/*.[ch] tests/*/*.[ch])

.PHONY: format
format:
	$(Q)clang-format -i $(FORMAT_SRC)

# at how many states of a function the analyzer stops: its own bound here, that of its shallow mode in `make check`
LINT_STATES ?= 225000

.PHONY: lint
lint: export LINT_FLAGS = $(CPPFLAGS) -std=gnu11 -Xclang -analyzer-config -Xclang max-nodes=$(LINT_STATES)
lint: $(SKELETON) $(REGISTERS) $(SCHED) $(PROTO_C)
	$(Q)clang-format --dry-run --Werror $(FORMAT_SRC)
	$(Q)ls -S $(USER_SRC) $(LTTNG_SRC) user/main.c | xargs -P "$$(nproc)" -n 2 sh -c \
	  'eval "clang-tidy --quiet --warnings-as-errors=\"*\" $$* -- $$LINT_FLAGS"' lint

.PHONY: clean
clean:
	$(Q)rm -rf $(O)

.PHONY: help
help:
	@echo 'make               build the program            demo               show it on a real program'
	@echo 'make check         all that has to hold         list-checks        its steps, each a target'
	@echo 'make unit asan     unit tests; sanitizers       lint format        clang-tidy, clang-format'
	@echo 'make system cases  real recordings              fault fuzz         what goes wrong must end well'
	@echo 'make kernels       older and newer kernels      suites             other compilers and libraries'
	@echo 'make matrix        every CPython found          pythons            fetch more of them'
	@echo 'make bench real    the measured tables          paper              rows of the original work'
	@echo 'make install uninstall deb clean install-packages'
	@echo 'V=1 shows commands, O=dir builds elsewhere, PREFIX and DESTDIR say where to install'

.PHONY: FORCE
FORCE:
.DELETE_ON_ERROR:
.SECONDARY:
-include $(USER_OBJ:.o=.d) $(AGENT_OBJ:.o=.d) $(LTTNG_SRC:%.c=$(O)/%.d) $(MAIN_OBJ:.o=.d) $(BPF_OBJ:.o=.d) $(O)/bpf/dump/registers.bpf.d $(O)/bpf/sched/sched.bpf.d $(UNIT:$(O)/tests/%=$(O)/tests/unit/%.d)
