# bustap. `make help` lists what can be made.
#
# CC=clang, SANITIZE=1, NO_ISAL=1 and MODE=debug|coverage build into separate folders, so that builds never mix.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# These goals install packages and then start a make of their own: beside another goal it would write the same files.
STARTING_MAKE := bench bench-lab bench-smoke check check-gateware check-lab check-processor coverage debug demo firmware fuzz gateware \
                 gateware-ecp5 gateware-sim lint soak soak-exec soak-faults
ifneq ($(and $(word 2,$(MAKECMDGOALS)),$(filter $(STARTING_MAKE),$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif

ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

compiler := $(notdir $(firstword $(CC)))
ifndef BUILD
BUILD := build$(if $(filter-out gcc,$(compiler)),/$(compiler))$(if $(SANITIZE),/sanitize)$(if $(NO_ISAL),/no-isal)$(addprefix /,$(MODE))
endif

# --- flags -----------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
            -Wvla -Wundef -Wformat=2
CPPFLAGS += -I. -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -DBUSTAP_VERSION='"$(VERSION)"'
ifeq ($(MODE),debug)
CFLAGS   ?= -O0 -g3
else ifeq ($(MODE),coverage)
CFLAGS   ?= -O0 -g --coverage -fprofile-update=atomic
endif
CFLAGS   ?= -O2 -g
BASE_CFLAGS := -std=c11 $(WARNINGS) $(if $(WERROR),-Werror) -pthread -fstack-protector-strong
ifdef SANITIZE
BASE_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS     += -fsanitize=address,undefined
endif

PKG_CONFIG ?= pkg-config
LIBRARIES  := zlib libdeflate libftdi1 libusb-1.0 libsystemd libelf libdw libprotobuf-c liblzma libzstd
HAVE_ISAL  := $(if $(NO_ISAL),,$(shell $(PKG_CONFIG) --exists libisal 2>/dev/null && echo 1))
ifeq ($(HAVE_ISAL),1)
CPPFLAGS  += -DHAVE_ISAL=1
LIBRARIES += libisal
endif
# Evaluated when first used, so that `make help` and the package script work where pkg-config is missing.
LIBRARY_CFLAGS = $(eval LIBRARY_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(LIBRARIES)))$(LIBRARY_CFLAGS)
# libbz2 has no file for pkg-config
LDLIBS         = $(eval LDLIBS := $$(shell $(PKG_CONFIG) --libs $(LIBRARIES)) -lbz2 -lZydis -lm)$(LDLIBS)

# Say what is built, not how; V=1 shows the commands.
quiet = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2);)

compile = $(CC) $(CPPFLAGS) -I$(BUILD) $(LIBRARY_CFLAGS) $(BASE_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
link    = $(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# --- what there is ---------------------------------------------------------------------------------

sources   = $(sort $(wildcard $(1)/*.c $(1)/*/*.c $(1)/*/*/*.c))
objects   = $(patsubst %.c,$(BUILD)/%.o,$(1))

FORMATS  := $(call sources,formats)
FIRMWARE := $(filter-out firmware/riscv/% firmware/gateware/sim/bustap_gateware.c,$(call sources,firmware))
DRIVER   := $(call sources,driver)
CAPTURE  := $(filter-out capture/instrument/%,$(call sources,capture))
HOST     := $(filter-out host/bustapd.c,$(call sources,host))
TOOLS    := $(filter-out tools/bustap.c tools/common/cluster_mpi.c,$(call sources,tools))

UNIT_TESTS  := tests/unit.c $(foreach f,formats firmware driver capture host tools,$(sort \
               $(foreach d,$(f) $(f)/* $(f)/*/*,$(wildcard tests/$(d)/test_*.c tests/$(d)/*_fixture.c))))
TEST_PARTS  := $(sort $(wildcard tests/support/*.c))
FUZZERS     := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
BENCHES     := $(patsubst tests/bench/bench_%.c,%,$(sort $(wildcard tests/bench/bench_*.c)))
TEST_TOOLS  := $(patsubst tests/e2e/%.c,%,$(sort $(wildcard tests/e2e/*.c)))

LAYERS   := $(BUILD)/libcapture.a $(BUILD)/libdriver.a $(BUILD)/libfirmware.a $(BUILD)/libformats.a
PROGRAMS := $(BUILD)/bustap $(BUILD)/bustapd $(BUILD)/b2a

.PHONY: all
all: $(PROGRAMS) depend-library $(if $(MPI),$(BUILD)/mpi/bustap)

# Programs that are instrumented when they are compiled: capture/instrument/instrument.mk.
.PHONY: depend-library

# What protoc-c makes of a message's description, and who includes it.
MESSAGES := $(patsubst %.proto,$(BUILD)/%.pb-c,$(sort $(wildcard formats/*/*.proto)))

$(BUILD)/libformats.a: $(call objects,$(FORMATS)) $(MESSAGES:=.o)
$(BUILD)/libfirmware.a: $(call objects,$(FIRMWARE))
$(BUILD)/libdriver.a: $(call objects,$(DRIVER))
$(BUILD)/libcapture.a: $(call objects,$(CAPTURE))
$(BUILD)/libhost.a: $(call objects,$(HOST))
$(BUILD)/libtools.a: $(call objects,$(TOOLS))
$(BUILD)/lib%.a:
	@rm -f $@
	@$(AR) rcs $@ $^

$(BUILD)/bustap: $(BUILD)/tools/bustap.o $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link)
$(BUILD)/bustapd: $(BUILD)/host/bustapd.o $(BUILD)/libhost.a $(LAYERS)
	$(call quiet,LINK,$@)$(link)
# The same program, for mpirun: what is linked first takes the place of the archive's cluster.o.
$(BUILD)/tools/common/cluster_mpi.o: private CPPFLAGS += $(shell $(PKG_CONFIG) --cflags ompi-c)
$(BUILD)/mpi/bustap: $(BUILD)/tools/bustap.o $(BUILD)/tools/common/cluster_mpi.o $(BUILD)/libtools.a $(LAYERS)
	@mkdir -p $(@D)
	$(call quiet,LINK,$@)$(link) $(shell $(PKG_CONFIG) --libs ompi-c)
# b2a is bustap under another name: argv[0] makes it `bustap dump`.
$(BUILD)/b2a: $(BUILD)/bustap
	@ln -sf bustap $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(compile)

$(BUILD)/%.pb-c.c $(BUILD)/%.pb-c.h &: %.proto
	@mkdir -p $(@D)
	@protoc-c --c_out=$(BUILD) $<
$(BUILD)/%.pb-c.o: $(BUILD)/%.pb-c.c $(BUILD)/flags
	$(call quiet,CC,$<)$(compile)

# Names of system calls by number, from the system's headers.
SYSTEM_CALL_NAMES := $(BUILD)/tools/exec/system_call_names.h
$(SYSTEM_CALL_NAMES): $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '#include <sys/syscall.h>' | $(CC) -E -dM - | sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' >$@
$(BUILD)/tools/exec/exec_debug.o: $(SYSTEM_CALL_NAMES)
$(BUILD)/formats/foreign/gem5.o: $(BUILD)/formats/foreign/gem5_packet.pb-c.h

# Style and script of the page of `dcfg annotate --html`, as lines of C.
PAGE_PARTS := $(BUILD)/tools/dcfg/annotate_page.css.h $(BUILD)/tools/dcfg/annotate_page.js.h
$(PAGE_PARTS): $(BUILD)/%.h: %
	@mkdir -p $(@D)
	@sed 's/[\\"]/\\&/g; s/.*/"&\\n",/' $< >$@
$(BUILD)/tools/dcfg/annotate_html.o: $(PAGE_PARTS)

# The shells' scripts, in the same form.
COMPLETION_PARTS := $(patsubst %,$(BUILD)/tools/common/completion.%.h,bash zsh fish)
$(COMPLETION_PARTS): $(BUILD)/%.h: %
	@mkdir -p $(@D)
	@sed 's/[\\"]/\\&/g; s/.*/"&\\n",/' $< >$@
$(BUILD)/tools/common/completion.o: $(COMPLETION_PARTS)

# Rebuilds everything when compiler or flags change.
.PHONY: force
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(CC) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS)' | cmp -s - $@ || \
	 echo '$(CC) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS)' > $@

include capture/instrument/instrument.mk
depend-library: $(BUILD)/libbustap-depend.a $(PLUGIN)
include tests/tests.mk
include firmware/riscv/firmware.mk
include firmware/gateware/gateware.mk
include doc/install.mk

# --- the rest --------------------------------------------------------------------------------------

# The same programs for a debugger.
.PHONY: debug
debug:
	@$(MAKE) --no-print-directory MODE=debug all

# The command that compiles each file, for clangd and other tools.
COMPILED := $(FORMATS) $(FIRMWARE) $(DRIVER) $(CAPTURE) $(wildcard capture/instrument/*.c) $(call sources,host) $(TOOLS) tools/bustap.c $(UNIT_TESTS) \
            $(TEST_PARTS) $(wildcard $(foreach d,bench e2e e2e/step failpoints fuzz lab,tests/$(d)/*.c))
compile_commands.json: export COMMAND = $(CC) $(CPPFLAGS) -I$(BUILD) $(LIBRARY_CFLAGS) $(BASE_CFLAGS) $(CFLAGS) -c
compile_commands.json: $(MESSAGES:=.h) $(SYSTEM_CALL_NAMES) force
	@printf '%s\n' $(sort $(COMPILED)) | awk -v folder='$(CURDIR)' ' \
	    BEGIN { command = ENVIRON["COMMAND"]; gsub(/["\\]/, "\\\\&", command); print "[" } \
	    { printf "%s{\"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s %s\"}", \
	        (NR > 1 ? ",\n" : ""), folder, $$0, command, $$0 } \
	    END { print "\n]" }' >$@

.PHONY: clean help packages-build
packages-build:
	@.ci/packages build

clean:
	rm -rf build

help:
	@echo 'make            build bustap, b2a and bustapd (CC=clang, SANITIZE=1, NO_ISAL=1, MPI=1)'
	@echo 'make demo       capture from a virtual board, show, verify; graph of a program; installs what it lacks'
	@echo 'make check      all tests; installs missing packages; build/tests/progress says how far it is'
	@echo 'make check-lab  the USB laboratory: real USB stack in QEMU; make soak: 30 minutes of faults'
	@echo 'make soak-faults  fails every system call and allocation of capture, recover, convert, bustapd once'
	@echo 'make check-processor CPU=Haswell-noTSX TESTS=...  tests on another processor, in QEMU'
	@echo 'make soak-exec  real programs under bustap exec for SOAK_MINUTES (30), and all stressors of stress-ng'
	@echo 'make lint       warnings as errors, clang-format, cppcheck, rooms and circles of files, names, phrases'
	@echo 'make debug      the programs with -O0 -g3, in build/debug'
	@echo 'make coverage   lines that the tests execute, by room, in build/coverage (COVERAGE_TESTS=...: some tests)'
	@echo 'make compile_commands.json  for clangd'
	@echo 'make fuzz       run every fuzzer for FUZZ_SECONDS (60) each'
	@echo 'make bench      benchmarks, with peers in the same run; make bench-lab: through USB, in QEMU'
	@echo 'make bench-smoke  short benchmarks beside plain programs; fails if something became twice as slow'
	@echo 'make firmware   link the board firmware for riscv32 and check its size'
	@echo 'make install    into DESTDIR, PREFIX (/usr/local); make uninstall takes it back'
	@echo 'make clean      remove build/'

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d' -type f 2>/dev/null)
