# The board in logic: make gateware makes its bit stream and checks it, make gateware-sim builds its simulation, which
# the tests compare with the C code.

GATEWARE       := firmware/gateware
GATEWARE_BUILD ?= $(if $(FUZZING),$(BUILD),build)/gateware
# tests/firmware/gateware/plant_faults and .../coverage set the next four.
GATEWARE_SOURCES ?= $(GATEWARE)/rtl
VERILATOR_FLAGS  ?= -O3 -Wall -Wno-UNUSED -Wno-UNUSEDPARAM -CFLAGS -O2
VERILATED_FLAGS  ?= -DVM_TRACE=1
GATEWARE_RTL   := $(sort $(wildcard $(GATEWARE_SOURCES)/*.v $(GATEWARE_SOURCES)/*.vh))
GATEWARE_TOP   := bustap_hx8k
VERILATED      := $(GATEWARE_BUILD)/verilated
VERILATOR_ROOT  = $(shell verilator --getenv VERILATOR_ROOT)
GATEWARE_FLAGS := -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g $(WARNINGS) -Werror -I. -DBOARD_PAYLOAD_MAX=960u
# The board's own code, with the gateware's size of slots.
GATEWARE_TWIN  := $(sort $(wildcard firmware/*.c)) formats/record/record.c formats/record/filter.c \
                  formats/wire/packing.c formats/wire/wire.c formats/base/crc32c.c
GATEWARE_SIM   := $(filter-out %/bustap_gateware.c %/gateware_options.c,$(sort $(wildcard $(GATEWARE)/sim/*.c)))
GATEWARE_TESTS := $(patsubst %.c,$(GATEWARE_BUILD)/%.o,$(GATEWARE_TWIN) $(GATEWARE_SIM))

GATEWARE_SEED  ?= 1
GATEWARE_CLOCKS := bclk=100 core_clock=66 clkout=66

.PHONY: gateware gateware-run
gateware:
	@.ci/packages gateware
	@$(MAKE) --no-print-directory gateware-run

gateware-run: $(GATEWARE_BUILD)/bustap-hx8k.bin $(GATEWARE_BUILD)/icetime.txt
	@$(GATEWARE)/check_timing $(GATEWARE_BUILD)/report.json $(GATEWARE_BUILD)/icetime.txt $(GATEWARE_CLOCKS)

$(GATEWARE_BUILD)/netlist.json: $(GATEWARE_RTL)
	@mkdir -p $(@D)
	@echo '  LINT   $(GATEWARE_TOP)'
	@verilator --lint-only -Wall -Wno-UNUSED --language 1364-2005 -I$(GATEWARE_SOURCES) --top-module $(GATEWARE_TOP) $(filter %.v,$^)
	@echo '  YOSYS  $(GATEWARE_TOP)'
	@yosys -q -l $(@D)/yosys.log -p 'read_verilog -DICE40 -I$(GATEWARE_SOURCES) $(filter %.v,$^)' \
	    -p 'synth_ice40 -abc9 -device hx -top $(GATEWARE_TOP) -json $@.part' >/dev/null 2>&1 || \
	    { tail -n 20 $(@D)/yosys.log; exit 1; }
	@mv $@.part $@

$(GATEWARE_BUILD)/checked: $(GATEWARE_BUILD)/netlist.json $(GATEWARE)/rtl/crossings.txt $(GATEWARE)/check_netlist
	@$(GATEWARE)/check_netlist $< $(GATEWARE)/rtl/crossings.txt $(foreach clock,$(GATEWARE_CLOCKS),$(firstword $(subst =, ,$(clock))))
	@touch $@

$(GATEWARE_BUILD)/bustap-hx8k.asc: $(GATEWARE_BUILD)/netlist.json $(GATEWARE_BUILD)/checked $(GATEWARE)/boards/hx8k.pcf $(GATEWARE)/clocks.py
	@echo '  PLACE  $@ (minutes)'
	@nextpnr-ice40 --quiet --hx8k --package ct256 --seed $(GATEWARE_SEED) --timing-allow-fail --json $< \
	    --pcf $(GATEWARE)/boards/hx8k.pcf --pre-pack $(GATEWARE)/clocks.py --report $(@D)/report.json --log $(@D)/nextpnr.log \
	    --asc $@.part >/dev/null 2>&1 || { tail -n 20 $(@D)/nextpnr.log; exit 1; }
	@mv $@.part $@

$(GATEWARE_BUILD)/icetime.txt: $(GATEWARE_BUILD)/bustap-hx8k.asc
	@icetime -d hx8k -P ct256 -p $(GATEWARE)/boards/hx8k.pcf -t $< >$@ 2>&1 || { tail -n 5 $@; exit 1; }

$(GATEWARE_BUILD)/bustap-hx8k.bin: $(GATEWARE_BUILD)/bustap-hx8k.asc
	@icepack $< $@

# For an ECP5, the board between the registers of its pins is synthesised and counted only.
.PHONY: gateware-ecp5 gateware-ecp5-run
gateware-ecp5:
	@.ci/packages gateware
	@$(MAKE) --no-print-directory gateware-ecp5-run

gateware-ecp5-run: $(GATEWARE_BUILD)/ecp5.txt
	@$(GATEWARE)/count_ecp5 $<

$(GATEWARE_BUILD)/ecp5.txt: $(filter-out %/$(GATEWARE_TOP).v $(GATEWARE_SOURCES)/pin_%,$(GATEWARE_RTL))
	@mkdir -p $(@D)
	@echo '  YOSYS  bustap_board (ECP5)'
	@yosys -q -l $(@D)/ecp5.log -p 'read_verilog -I$(GATEWARE_SOURCES) $(filter %.v,$^)' \
	    -p 'synth_ecp5 -abc9 -top bustap_board; tee -o $@ stat' >/dev/null 2>&1 || \
	    { tail -n 20 $(@D)/ecp5.log; exit 1; }

.PHONY: gateware-sim gateware-sim-run
gateware-sim:
	@.ci/packages gateware
	@$(MAKE) --no-print-directory gateware-sim-run

gateware-sim-run: $(GATEWARE_BUILD)/cosimulate $(GATEWARE_BUILD)/bustap-gateware

.PHONY: check-gateware check-gateware-run
check-gateware:
	@.ci/packages build check gateware
	@$(MAKE) --no-print-directory check-gateware-run
check-gateware-run: tests gateware-sim-run $(GATEWARE_BUILD)/bustap-hx8k.asc
	@BUILD=$(BUILD) tests/firmware/gateware/check

$(VERILATED)/V$(GATEWARE_TOP)__ALL.a: $(GATEWARE_RTL) $(GATEWARE)/sim/gateware_pins.vlt
	@mkdir -p $(VERILATED)
	@echo '  VERILATE $(GATEWARE_TOP)'
	@verilator $(VERILATOR_FLAGS) --cc --trace --Mdir $(VERILATED) --language 1364-2005 \
	    -I$(GATEWARE_SOURCES) --top-module $(GATEWARE_TOP) $(filter %.v %.vlt,$^)
	@$(MAKE) -s -C $(VERILATED) -f V$(GATEWARE_TOP).mk >$(VERILATED)/log 2>&1 || { cat $(VERILATED)/log; exit 1; }

$(VERILATED)/runtime.o: $(GATEWARE)/sim/gateware_pins.cpp $(VERILATED)/V$(GATEWARE_TOP)__ALL.a
	@echo '  CXX    $<'
	@for f in verilated verilated_vcd_c verilated_threads verilated_cov; do \
	    g++ -O2 $(VERILATED_FLAGS) -I$(VERILATOR_ROOT)/include -I$(VERILATOR_ROOT)/include/vltstd \
	        -c $(VERILATOR_ROOT)/include/$$f.cpp -o $(VERILATED)/$$f.o || exit 1; done
	@g++ -O2 $(VERILATED_FLAGS) -I. -I$(VERILATED) -I$(VERILATOR_ROOT)/include -I$(VERILATOR_ROOT)/include/vltstd \
	    -c $< -o $(VERILATED)/gateware_pins.o
	@ld -r -o $@ $(VERILATED)/verilated.o $(VERILATED)/verilated_vcd_c.o $(VERILATED)/verilated_threads.o $(VERILATED)/verilated_cov.o \
	    $(VERILATED)/gateware_pins.o

$(GATEWARE_BUILD)/cosimulate: $(patsubst %.c,$(GATEWARE_BUILD)/%.o,$(wildcard tests/firmware/gateware/*.c)) $(GATEWARE_TESTS) \
    $(VERILATED)/runtime.o $(VERILATED)/V$(GATEWARE_TOP)__ALL.a $(BUILD)/libfirmware.a $(BUILD)/libformats.a
	@echo '  LINK   $@'
	@g++ $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lpthread

# The fuzzer of its commands (the simulation itself is not instrumented), and the replay of its corpus.
GATEWARE_FUZZED := $(patsubst %,$(GATEWARE_BUILD)/tests/firmware/gateware/%.o,cosimulation cosimulation_follow cosimulation_frames cosimulation_twin) $(GATEWARE_TESTS) \
                   $(VERILATED)/runtime.o $(VERILATED)/V$(GATEWARE_TOP)__ALL.a
$(GATEWARE_SIM:%.c=$(GATEWARE_BUILD)/%.o): private FUZZING_FLAGS :=
$(BUILD)/tests/fuzz/replay_gateware_%: $(BUILD)/tests/fuzz/fuzz_gateware_%.o $(BUILD)/tests/fuzz/replay.o $(GATEWARE_FUZZED)
	$(call quiet,LINK,$@)$(link) -lstdc++ -lpthread
$(BUILD)/tests/fuzz/libfuzzer_gateware_%: $(BUILD)/tests/fuzz/fuzz_gateware_%.o $(GATEWARE_FUZZED)
	$(call quiet,LINK,$@)$(link) -fsanitize=fuzzer -lstdc++ -lpthread

# The simulated board as a program. It has no C code of the board in it, but its virtual bus.
$(GATEWARE_BUILD)/bustap-gateware: $(patsubst %,$(GATEWARE_BUILD)/$(GATEWARE)/sim/%.o,bustap_gateware gateware_options \
    gateware_board ft245_chip p6_pins) $(VERILATED)/runtime.o $(VERILATED)/V$(GATEWARE_TOP)__ALL.a \
    $(BUILD)/libfirmware.a $(BUILD)/libformats.a
	@echo '  LINK   $@'
	@g++ $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lpthread

# The laboratory's boards can run it, too.
$(BUILD)/tests/lab/model: $(if $(HAVE_VERILATOR),$(VERILATED)/runtime.o $(VERILATED)/V$(GATEWARE_TOP)__ALL.a)

$(GATEWARE_BUILD)/%.o: %.c $(GATEWARE)/gateware.mk
	@mkdir -p $(@D)
	@echo '  CC     $< (gateware)'
	@$(CC) $(GATEWARE_FLAGS) $(FUZZING_FLAGS) -MMD -MP -c -o $@ $<

-include $(shell [ -d $(GATEWARE_BUILD) ] && find $(GATEWARE_BUILD) -name '*.d' 2>/dev/null)
