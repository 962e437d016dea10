/*
 * ChampSim's instruction trace: 64 bytes for each instruction, little endian.
 *
 *   0    8        9       10            12        16                   32               64
 *   +----+--------+-------+-------------+---------+--------------------+----------------+
 *   | ip | branch | taken | 2 registers | 4 regs. | 2 written addresses| 4 read ones    |
 *   +----+--------+-------+-------------+---------+--------------------+----------------+
 *
 * Registers: 2 written, 4 read; 0 is none, 6 the stack pointer, 25 the flags, 26 the instruction
 * pointer, from which ChampSim derives the kind of branch. An address of 0 is none. There are no
 * sizes, and one processor.
 *
 * Writing: a fetch is an instruction, and the data requests up to the next fetch of the same
 * processor belong to it; if they do not fit, further records of the same ip follow. The processor
 * is the one in the options, otherwise the first that fetches. With the program's code, registers
 * and branches are those of the instruction, and each repetition of a string instruction is a
 * record. Otherwise an instruction is a taken branch if the next fetch is not at the next address;
 * its registers make it a conditional one.
 */
#ifndef FORMATS_FOREIGN_CHAMPSIM_H
#define FORMATS_FOREIGN_CHAMPSIM_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

#define CHAMPSIM_BYTES        64u
#define CHAMPSIM_DESTINATIONS 2u
#define CHAMPSIM_SOURCES      4u

/* Registers with a meaning for ChampSim, which are also the numbers of Intel's Pin. */
#define CHAMPSIM_STACK_POINTER       6u
#define CHAMPSIM_FLAGS               25u
#define CHAMPSIM_INSTRUCTION_POINTER 26u
#define CHAMPSIM_LOADED              63u /* never written: a target that was read from memory */

enum champsim_branch {
    CHAMPSIM_PLAIN, /* no branch */
    CHAMPSIM_JUMP,
    CHAMPSIM_INDIRECT_JUMP,
    CHAMPSIM_CONDITIONAL,
    CHAMPSIM_CALL,
    CHAMPSIM_INDIRECT_CALL,
    CHAMPSIM_RETURN
};

/* An instruction of the program's code. */
struct champsim_instruction {
    uint32_t distance;     /* of CHAMPSIM_CONDITIONAL: its target minus its own address */
    uint8_t size;          /* bytes */
    uint8_t branch;        /* enum champsim_branch */
    uint8_t reads, writes; /* of a repetition of a string instruction; 0, 0: it is none */
    uint8_t destinations[CHAMPSIM_DESTINATIONS]; /* other registers than the branch's; 0: none */
    uint8_t sources[CHAMPSIM_SOURCES];
    bool more_registers; /* some did not fit */
};

/* Adds a register to an array of them unless it is there already. False: it does not fit. */
bool champsim_add_register(uint8_t *registers, unsigned count, uint8_t number);

/* Adds the registers by which ChampSim recognizes the branch, in place of those that would make it
 * another one. */
void champsim_add_branch(struct champsim_instruction *instruction);

/* The size of a fetch leads to the next instruction unless that is a branch target; data, and
 * branches, have 4 bytes. After a full record, a record of the same ip continues it. */
extern const struct foreign_decoder champsim_decoder;
extern const struct foreign_encoder champsim_encoder;

#endif
