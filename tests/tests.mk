# Tests, fuzzers, benchmarks, lint, demo.

TEST_SECONDS ?= 200
FUZZ_SECONDS ?= 60
BENCH_ARGUMENTS ?=

PARTS := $(call objects,$(TEST_PARTS))

$(BUILD)/tests/unit: $(call objects,$(UNIT_TESTS)) $(PARTS) $(BUILD)/libhost.a $(BUILD)/libtools.a $(LAYERS)
	$(call quiet,LINK,$@)$(link) -lcunit

$(BUILD)/tests/e2e/%: $(BUILD)/tests/e2e/%.o $(PARTS) $(LAYERS)
	$(call quiet,LINK,$@)$(link)

# Each fuzzer twice: against libFuzzer to search (clang), against replay.o to run its corpus in `make check`.
$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(PARTS) $(BUILD)/libhost.a $(LAYERS)
	$(call quiet,LINK,$@)$(link)

$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/bench_%.o $(PARTS) $(LAYERS)
	$(call quiet,LINK,$@)$(link)

FUZZ_REPLAYS := $(FUZZERS:%=$(BUILD)/tests/fuzz/replay_%)
E2E_TOOLS    := $(TEST_TOOLS:%=$(BUILD)/tests/e2e/%)
BENCH_BINARIES := $(BENCHES:%=$(BUILD)/tests/bench/%)

.PHONY: check check-run tests
check:
	@.ci/packages build check firmware
	@$(MAKE) --no-print-directory check-run

tests: all $(BUILD)/tests/unit $(FUZZ_REPLAYS) $(E2E_TOOLS)

check-run: tests
	@BUILD=$(BUILD) tests/run

.PHONY: fuzz fuzz-run fuzz-build
fuzz:
	@.ci/packages build fuzz
	@$(MAKE) --no-print-directory CC=clang FUZZING=1 BUILD=build/fuzz fuzz-run

ifdef FUZZING
BASE_CFLAGS += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
LDFLAGS     += -fsanitize=address,undefined
$(BUILD)/tests/fuzz/libfuzzer_%: $(BUILD)/tests/fuzz/fuzz_%.o $(PARTS) $(BUILD)/libhost.a $(LAYERS)
	$(call quiet,LINK,$@)$(link) -fsanitize=fuzzer
fuzz-build: $(FUZZERS:%=$(BUILD)/tests/fuzz/libfuzzer_%)
fuzz-run: fuzz-build
	@BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(FUZZERS)
endif

.PHONY: bench bench-run
bench:
	@.ci/packages build bench
	@$(MAKE) --no-print-directory bench-run
bench-run: all $(BENCH_BINARIES)
	@BUILD=$(BUILD) tests/bench/run $(BENCH_ARGUMENTS)

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
