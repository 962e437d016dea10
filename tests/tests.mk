# Tests, fuzzers, benchmarks, lint, demo.

TEST_SECONDS ?= 200
FUZZ_SECONDS ?= 60
BENCH_ARGUMENTS ?=

PARTS := $(call objects,$(TEST_PARTS))

$(BUILD)/tests/unit: $(call objects,$(UNIT_TESTS)) $(PARTS) $(BUILD)/libhost.a $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link) -lcunit

STEP_PARTS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/e2e/step/*.c)))
$(BUILD)/tests/e2e/single_step: $(BUILD)/tests/e2e/single_step.o $(STEP_PARTS) $(BUILD)/libformats.a
	$(call quiet,LINK,$@)$(link)

$(BUILD)/tests/e2e/%: $(BUILD)/tests/e2e/%.o $(PARTS) $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link)

# The programs with calls that may fail wrapped by tests/failpoints/failpoints.c.
FAILPOINTS := $(BUILD)/tests/failpoints
$(FAILPOINTS)/wrap: tests/failpoints/failpoints.c
	@mkdir -p $(@D)
	@sed -n 's/^WRAP([^,]*, *\([^,]*\),.*/-Wl,--wrap=\1/p' $< >$@
$(FAILPOINTS)/bustap: $(BUILD)/tools/bustap.o $(FAILPOINTS)/failpoints.o $(BUILD)/libtools.a $(LAYERS)
$(FAILPOINTS)/bustapd: $(BUILD)/host/bustapd.o $(FAILPOINTS)/failpoints.o $(BUILD)/libhost.a $(LAYERS)
$(FAILPOINTS)/bustap $(FAILPOINTS)/bustapd: $(FAILPOINTS)/wrap
	$(call quiet,LINK,$@)$(link) @$(FAILPOINTS)/wrap

# Each fuzzer twice: against libFuzzer to search (clang), against replay.o to run its corpus in `make check`.
$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(PARTS) $(BUILD)/libhost.a $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link)

$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/bench_%.o $(PARTS) $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link)

# --- the USB laboratory (tests/lab/README.md) ---
# The simulated gateware is one for all variants.
CAN_VERILATE    := $(if $(SANITIZE),,$(shell command -v verilator))
HAVE_VERILATOR  := $(if $(FUZZING),,$(CAN_VERILATE))
FUZZERS         := $(if $(CAN_VERILATE),$(FUZZERS),$(filter-out gateware_%,$(FUZZERS)))
LAB_MODEL_PARTS := fault ftdi_chip lab_board lab_bus lab_control model usb_redir lab_gateware$(if $(HAVE_VERILATOR),,_none)
LAB_PROGRAMS    := $(patsubst %,$(BUILD)/tests/lab/%,model lab_check lab_read lab_yardstick)
LAB_ARGUMENTS   ?=
SOAK_MINUTES    ?= 30

$(BUILD)/tests/lab/model: $(LAB_MODEL_PARTS:%=$(BUILD)/tests/lab/%.o) $(LAYERS)
	$(call quiet,LINK,$@)$(link) -lusbredirparser $(if $(HAVE_VERILATOR),-lstdc++)
$(BUILD)/tests/lab/lab_check: $(BUILD)/tests/lab/lab_check.o $(BUILD)/tests/lab/lab_bus.o $(LAYERS)
	$(call quiet,LINK,$@)$(link)
$(BUILD)/tests/lab/lab_read $(BUILD)/tests/lab/lab_yardstick: %: %.o $(LAYERS)
	$(call quiet,LINK,$@)$(link)

.PHONY: check-lab check-lab-run lab-programs soak bench-lab
lab-programs: all $(LAB_PROGRAMS)
check-lab soak bench-lab:
	@.ci/packages build lab
	@$(MAKE) --no-print-directory $@-run
check-lab-run: lab-programs
	@BUILD=$(BUILD) tests/lab/run $(LAB_ARGUMENTS)
soak-run: lab-programs
	@BUILD=$(BUILD) SOAK_MINUTES=$(SOAK_MINUTES) tests/lab/run --soak
	@$(MAKE) --no-print-directory soak-faults
bench-lab-run: lab-programs
	@BUILD=$(BUILD) tests/lab/run --bench

# Tests in a guest with another processor.
CPU   ?= Haswell-noTSX
TESTS ?=
.PHONY: check-processor check-processor-run
check-processor:
	@.ci/packages build check lab
	@$(MAKE) --no-print-directory $@-run
check-processor-run: tests
	@BUILD=$(BUILD) tests/lab/processor $(CPU) $(TESTS)

FUZZ_REPLAYS := $(FUZZERS:%=$(BUILD)/tests/fuzz/replay_%)
E2E_TOOLS    := $(TEST_TOOLS:%=$(BUILD)/tests/e2e/%)
BENCH_BINARIES := $(BENCHES:%=$(BUILD)/tests/bench/%)

# Real programs under bustap exec, in a loop.
.PHONY: soak-exec soak-exec-run
soak-exec:
	@.ci/packages build check
	@$(MAKE) --no-print-directory $@-run
soak-exec-run: all
	@BUILD=$(BUILD) SOAK_MINUTES=$(SOAK_MINUTES) tests/e2e/exec_soak
	@BUILD=$(BUILD) tests/e2e/exec_stress

# Every call of the commands that capture, recover and convert fails once.
.PHONY: soak-faults soak-faults-run
soak-faults:
	@.ci/packages build check
	@$(MAKE) --no-print-directory $@-run
soak-faults-run: all $(FAILPOINTS)/bustap $(FAILPOINTS)/bustapd
	@folder=$$(mktemp -d) && cd "$$folder" && BUILD=$(abspath $(BUILD)) $(CURDIR)/tests/failpoints/run \
	 capture capture_wait capture_keep capture_exec capture_windows capture_windows_wait recover recover_force recover_append cut \
	 merge convert daemon; \
	 status=$$?; rm -rf "$$folder"; exit $$status

.PHONY: check check-run tests
check:
	@.ci/packages build check firmware mpi
	@$(MAKE) --no-print-directory check-run

# The program for mpirun is tested if Open MPI is installed, and without sanitizers: Open MPI itself leaks memory.
HAVE_MPI := $(if $(SANITIZE)$(FUZZING),,$(shell $(PKG_CONFIG) --exists ompi-c 2>/dev/null && echo 1))

tests: all $(if $(HAVE_MPI),$(BUILD)/mpi/bustap) $(if $(HAVE_VERILATOR),gateware-sim-run) $(BUILD)/tests/unit $(FAILPOINTS)/bustap $(FAILPOINTS)/bustapd $(FUZZ_REPLAYS) $(E2E_TOOLS)

check-run: tests
	@BUILD=$(BUILD) tests/run

# Executed lines by room. COVERAGE_TESTS are patterns of tests/run; without one, all tests run.
COVERAGE_TESTS ?=
.PHONY: coverage coverage-run
coverage:
	@.ci/packages build check mpi coverage
	@$(MAKE) --no-print-directory MODE=coverage coverage-run
coverage-run: tests
	@find $(BUILD) -name '*.gcda' -delete
	-@BUILD=$(BUILD) tests/run $(COVERAGE_TESTS)
	@BUILD=$(BUILD) tests/coverage

.PHONY: fuzz fuzz-run fuzz-build
fuzz:
	@.ci/packages build fuzz
	@$(MAKE) --no-print-directory CC=clang FUZZING=1 BUILD=build/fuzz fuzz-run

ifdef FUZZING
FUZZING_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
BASE_CFLAGS += $(FUZZING_FLAGS)
LDFLAGS     += -fsanitize=address,undefined
$(BUILD)/tests/fuzz/libfuzzer_%: $(BUILD)/tests/fuzz/fuzz_%.o $(PARTS) $(BUILD)/libhost.a $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link) -fsanitize=fuzzer
fuzz-build: $(FUZZERS:%=$(BUILD)/tests/fuzz/libfuzzer_%)
fuzz-run: fuzz-build
	@BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(FUZZERS)
endif

.PHONY: bench bench-run
bench:
	@.ci/packages build bench mpi
	@$(MAKE) --no-print-directory bench-run
bench-run: all $(if $(HAVE_VERILATOR),gateware-sim-run) $(BENCH_BINARIES) $(BUILD)/tests/e2e/make_trace $(BUILD)/tests/e2e/make_fetches $(BUILD)/tests/e2e/bus_models $(if $(HAVE_MPI),$(BUILD)/mpi/bustap)
	@BUILD=$(BUILD) tests/bench/run $(BENCH_ARGUMENTS)

# The same against plain programs, in a minute or two: fails if something became twice as slow.
SMOKE_PEERS := $(BUILD)/tests/bench/smoke_peers
$(SMOKE_PEERS): $(BUILD)/tests/bench/smoke_peers.o $(PARTS) $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link)

.PHONY: bench-smoke bench-smoke-run
bench-smoke:
	@.ci/packages build
	@$(MAKE) --no-print-directory $@-run
bench-smoke-run: all $(SMOKE_PEERS)
	@BUILD=$(BUILD) tests/bench/smoke $(BENCH_ARGUMENTS)

.PHONY: demo demo-run
demo:
	@.ci/packages build
	@$(MAKE) --no-print-directory -s demo-run
demo-run: all
	@BUILD=$(BUILD) tests/e2e/demo

.PHONY: lint
lint:
	@.ci/packages build check lint
	@$(MAKE) --no-print-directory WERROR=1 BUILD=build/lint -s all tests
	@tests/lint

.PRECIOUS: $(BUILD)/%.o
