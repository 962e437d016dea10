# The library of instrumented programs, and the plug-in of GCC 12 that instruments them.
#
# The library is linked with other people's programs: it is compiled without the sanitizers and counters of this build,
# as one object in which only the hooks are global, and its own allocations are from a heap of its own.

INSTRUMENT        := $(BUILD)/instrument
INSTRUMENT_HOOKS  := depend_default_hooks
INSTRUMENT_OWN    := instrument_memory instrument_heap
INSTRUMENT_FLAGS  := -std=c11 $(WARNINGS) $(if $(WERROR),-Werror) -O2 -g -fPIC -fvisibility=hidden -pthread -fno-omit-frame-pointer
instrument_objects = $(patsubst %.c,$(INSTRUMENT)/%.o,$(1))
INSTRUMENT_CORE   := $(filter-out $(INSTRUMENT_HOOKS:%=capture/instrument/%.c) $(INSTRUMENT_OWN:%=capture/instrument/%.c),\
                       $(sort $(wildcard capture/instrument/*.c)))
INSTRUMENT_PARTS  := $(sort $(wildcard capture/depend/*.c formats/dependences/*.c formats/base/*.c formats/text/*.c))

$(INSTRUMENT)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(CPPFLAGS) $(LIBRARY_CFLAGS) $(INSTRUMENT_FLAGS) -MMD -MP -c -o $@ $<

$(INSTRUMENT)/parts.a: $(call instrument_objects,$(INSTRUMENT_PARTS))
	@rm -f $@
	@$(AR) rcs $@ $^

$(INSTRUMENT)/core.o: $(call instrument_objects,$(INSTRUMENT_CORE)) $(INSTRUMENT)/parts.a
	@$(LD) -r -o $@ $^
	@objcopy $(foreach f,malloc calloc realloc free,--redefine-sym $(f)=instrument_$(f)) $@

# What programs call, and what takes the place of the C library's.
INSTRUMENT_GLOBAL := '_bop_prof_rec_*' 'bop_instm_*' '__tsan_*' free realloc munmap _exit _Exit
$(INSTRUMENT)/runtime.o: $(INSTRUMENT)/core.o $(call instrument_objects,$(INSTRUMENT_OWN:%=capture/instrument/%.c))
	@$(LD) -r -o $@ $^
	@objcopy -w $(INSTRUMENT_GLOBAL:%=--keep-global-symbol=%) $@

# The hooks' defaults come first: the linker searches the members in this order (depend_default_hooks.c).
$(BUILD)/libbustap-depend.a: $(call instrument_objects,$(INSTRUMENT_HOOKS:%=capture/instrument/%.c)) $(INSTRUMENT)/runtime.o
	$(call quiet,AR,$@)rm -f $@ && $(AR) rcs $@ $^

PLUGIN_CXX     ?= g++
PLUGIN_INCLUDE := $(wildcard $(shell $(PLUGIN_CXX) -print-file-name=plugin 2>/dev/null)/include/gcc-plugin.h)
PLUGIN         := $(if $(PLUGIN_INCLUDE),$(BUILD)/depend_plugin.so)

$(BUILD)/depend_plugin.so: capture/instrument/plugin/depend_plugin.cc
	@mkdir -p $(@D)
	$(call quiet,C++,$@)$(PLUGIN_CXX) -std=c++17 -O2 -Wall -Wno-literal-suffix $(if $(WERROR),-Werror) -fno-rtti -fPIC -shared \
	    -isystem $(dir $(PLUGIN_INCLUDE)) -o $@ $<
