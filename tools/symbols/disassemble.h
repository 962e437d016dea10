/* Instructions of x86 as text, by Zydis. */
#ifndef TOOLS_SYMBOLS_DISASSEMBLE_H
#define TOOLS_SYMBOLS_DISASSEMBLE_H

#include "tools/symbols/image.h"

#define DISASSEMBLE_BYTES 128u

enum disassemble_syntax { DISASSEMBLE_INTEL, DISASSEMBLE_ATT };

struct disassembler;

/* NULL and *error without memory. */
struct disassembler *disassembler_new(enum disassemble_syntax syntax, struct bt_error *error);
void disassembler_free(struct disassembler *disassembler);

/*
 * The instruction at the start of size bytes of code, which are at an address; bits is 32 or 64.
 * Returns the length of its text, which ends with a NUL and is ASCII, or 0: no valid instruction.
 */
size_t disassemble(const struct disassembler *disassembler, unsigned bits, const uint8_t *code,
                   size_t size, uint64_t address, struct image_instruction *instruction,
                   char text[DISASSEMBLE_BYTES]);

#endif
