/* A simulator of riscv32 processors (RV32IM, no traps), to run the board's firmware. */
#ifndef TESTS_SUPPORT_RV32_H
#define TESTS_SUPPORT_RV32_H

#include <stdbool.h>
#include <stdint.h>

struct rv32 {
    uint32_t registers[32];
    uint32_t pc;
    uint64_t instructions; /* instructions done so far */
    /* Reads or writes 1, 2 or 4 bytes, little endian; the owner ends the program on bad addresses.
     */
    uint32_t (*load)(void *context, uint32_t address, unsigned bytes);
    void (*store)(void *context, uint32_t address, uint32_t value, unsigned bytes);
    void *context;
};

/* Executes one instruction. Returns false if the simulator does not know it. */
bool rv32_step(struct rv32 *processor);

#endif
