/* The instructions of images as ChampSim sees them: registers and kinds of branches. */
#ifndef TOOLS_SYMBOLS_CHAMPSIM_CODE_H
#define TOOLS_SYMBOLS_CHAMPSIM_CODE_H

#include "formats/foreign/champsim.h"
#include "tools/symbols/module_lists.h"

/*
 * Describes size bytes of code at an address; bits is 32 or 64. False: no valid instruction.
 * Registers are whole: AL, AX and EAX are RAX. doc/formats.md has their numbers.
 */
bool champsim_code_describe(struct champsim_instruction *instruction, unsigned bits,
                            const uint8_t *code, size_t size, uint64_t address);

/* Decoded instructions of the programs in lists, which must outlive them. */
struct champsim_code;

/* NULL and *error: no memory. */
struct champsim_code *champsim_code_new(const struct module_lists *lists, struct bt_error *error);
void champsim_code_free(struct champsim_code *code);

/* For struct foreign_options; valid until champsim_code_free(). */
const struct foreign_code *champsim_code_foreign(const struct champsim_code *code);

#endif
