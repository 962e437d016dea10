/*
 * Registers that a called function uses: those that its code reads before it writes them may be
 * arguments, and those that it writes are lost. Compilers keep values in registers that a function
 * of the same file does not write.
 */
#ifndef TOOLS_DEPEND_CALLEE_REGISTERS_H
#define TOOLS_DEPEND_CALLEE_REGISTERS_H

#include "tools/depend/value_flow.h"

/* Reads the program's memory: how many bytes can be read at *bytes, up to any number; 0: none. */
typedef size_t callee_read(void *context, uint64_t address, const uint8_t **bytes);

/* Where a call leads: directly, or through a table; 0: it is not known. */
uint64_t callee_of(const struct value_instruction *call, callee_read *read, void *context);

struct callee_registers {
    value_set arguments; /* argument registers (System V ABI for x86-64) that it may read; of code
                            that is not known, all general ones */
    value_set clobbered; /* registers that it need not preserve, and may write */
};

struct callee_registers callee_registers(uint64_t function, callee_read *read, void *context);

/* Decodes an instruction. false: there is none. */
bool callee_decode(struct value_instruction *instruction, uint64_t address, callee_read *read,
                   void *context);

#endif
