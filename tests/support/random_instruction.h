/*
 * Random valid instructions of all encodings, registers for which their operands lie in a region of
 * memory, and the references they then make, worked out slowly from Zydis' operands and register
 * values.
 */
#ifndef TESTS_SUPPORT_RANDOM_INSTRUCTION_H
#define TESTS_SUPPORT_RANDOM_INSTRUCTION_H

#include "formats/base/named_fields.h"
#include "tests/support/native_run.h"

#include <Zydis/Zydis.h>

/* Where operands lie: in the middle half, so that nothing leaves the region. */
struct NAMED_FIELDS region {
    uint64_t address;
    size_t size;
};

struct random_instruction {
    uint8_t bytes[15];
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

struct NAMED_FIELDS reference {
    uint32_t address;
    bool write;
    uint8_t size;
};

#define REFERENCES_MAX 512u

/* A straight instruction that user code may execute, whose result depends on registers and memory
 * alone; as it is at `address` (rip-relative operands are moved into the region). */
void random_instruction_make(struct random_instruction *made, uint64_t *random, uint64_t address,
                             const struct region *region);

/* The same, of the gathers and scatters alone, which are too rare among all. */
void random_instruction_make_gather(struct random_instruction *made, uint64_t *random,
                                    uint64_t address, const struct region *region);

/* The same, of those that compress and expand elements. */
void random_instruction_make_pack(struct random_instruction *made, uint64_t *random,
                                  uint64_t address, const struct region *region);

/* The same, of xsave, xsaveopt, xsavec and xrstor alone. */
void random_instruction_make_xsave(struct random_instruction *made, uint64_t *random,
                                   uint64_t address, const struct region *region);

/* Decodes `bytes` into the rest. False: they are no instruction. */
bool random_instruction_decode(struct random_instruction *made);

/* Moves operands that have neither base nor index, or are rip-relative, into the region. */
void random_instruction_move(struct random_instruction *made, uint64_t *random, uint64_t address,
                             const struct region *region);

/* Registers of any values, vector registers among them. */
void random_machine(struct machine *machine, uint64_t *random);

/* Where the machine keeps a byte of vector register `number`, 0 to 31. */
uint8_t *machine_vector_byte(const struct machine *machine, unsigned number, unsigned byte);

/* Changes registers so that all operands lie in the region. False where that cannot be. */
bool random_instruction_place(const struct random_instruction *made, struct machine *machine,
                              uint64_t *random, const struct region *region);

/* Puts into the region's memory (as it will be) what the instruction needs to find there: mostly
 * a header that xrstor takes. */
void random_instruction_fill(const struct random_instruction *made, const struct machine *machine,
                             uint64_t *random, uint8_t *memory, const struct region *region);

/* The references of the instruction, with the registers before and after it; how many. */
unsigned random_instruction_references(const struct random_instruction *made,
                                       const struct machine *before, const struct machine *after,
                                       struct reference *references);

#endif
