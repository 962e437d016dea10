# The board's firmware for riscv32: make firmware.

RISCV       ?= riscv64-unknown-elf-
RISCV_MARCH ?= rv32imac
RISCV_BUILD ?= build/firmware
RISCV_FLAGS := -march=$(RISCV_MARCH) -mabi=ilp32 -mcmodel=medany -std=c11 -Os -g -ffreestanding \
               -ffunction-sections -fdata-sections -fno-tree-loop-distribute-patterns \
               $(WARNINGS) -Werror -Wstack-usage=512 -I. -Ifirmware/riscv -DBOARD_PHASES=16
RISCV_LINK  := -nostdlib -nostartfiles -static -Wl,--gc-sections -Wl,--no-warn-rwx-segments \
               -Wl,-T,firmware/riscv/link.ld -Wl,-Map,$(RISCV_BUILD)/bustap.map
# The freestanding part of formats/ and all of the board; nothing else.
RISCV_FORMATS := record/record record/filter wire/packing wire/wire base/crc32c
RISCV_SOURCES := $(RISCV_FORMATS:%=formats/%.c) $(sort $(wildcard firmware/*.c)) \
                 firmware/riscv/main.c firmware/riscv/string.c
RISCV_OBJECTS := $(RISCV_SOURCES:%.c=$(RISCV_BUILD)/%.o) $(RISCV_BUILD)/firmware/riscv/start.o

.PHONY: firmware firmware-run
firmware:
	@.ci/packages firmware
	@$(MAKE) --no-print-directory firmware-run

firmware-run: $(RISCV_BUILD)/bustap.elf
	@firmware/riscv/check-size $(RISCV)size $< firmware/README.md

$(RISCV_BUILD)/bustap.elf: $(RISCV_OBJECTS) firmware/riscv/link.ld
	@echo '  LINK   $@'
	@$(RISCV)gcc $(RISCV_FLAGS) $(RISCV_LINK) -o $@ $(RISCV_OBJECTS) -lgcc

$(RISCV_BUILD)/%.o: %.c firmware/riscv/firmware.mk
	@mkdir -p $(@D)
	@echo '  RISCV  $<'
	@$(RISCV)gcc $(RISCV_FLAGS) -MMD -MP -c -o $@ $<

$(RISCV_BUILD)/%.o: %.S firmware/riscv/firmware.mk
	@mkdir -p $(@D)
	@echo '  RISCV  $<'
	@$(RISCV)gcc -march=$(RISCV_MARCH)_zicsr -mabi=ilp32 -c -o $@ $<

-include $(shell [ -d $(RISCV_BUILD) ] && find $(RISCV_BUILD) -name '*.d' 2>/dev/null)
