/*
 * Random valid instructions of all encodings, registers for which their operands are in a region
 * of memory, and their references, computed slowly from Zydis' operands and register values.
 */
#ifndef TESTS_SUPPORT_RANDOM_INSTRUCTION_H
#define TESTS_SUPPORT_RANDOM_INSTRUCTION_H

#include "formats/base/named_fields.h"
#include "tests/support/native_run.h"

#include <Zydis/Zydis.h>

/* Memory for operands; they use its middle half, so that nothing leaves the region. */
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

/* Makes an instruction that does not branch, which user code may execute and whose result depends
 * on registers and memory alone, for `address` (rip-relative operands are moved into the
 * region). */
void random_instruction_make(struct random_instruction *made, uint64_t *random, uint64_t address,
                             const struct region *region);

/* The same for gathers and scatters only, which are too rare among all. */
void random_instruction_make_gather(struct random_instruction *made, uint64_t *random,
                                    uint64_t address, const struct region *region);

/* The same for instructions that compress and expand elements. */
void random_instruction_make_pack(struct random_instruction *made, uint64_t *random,
                                  uint64_t address, const struct region *region);

/* The same for xsave, xsaveopt, xsavec and xrstor. */
void random_instruction_make_xsave(struct random_instruction *made, uint64_t *random,
                                   uint64_t address, const struct region *region);

/* Decodes `bytes` into the other fields. Returns false if they are not an instruction. */
bool random_instruction_decode(struct random_instruction *made);

/* Moves operands that have neither base nor index, or are rip-relative, into the region. */
void random_instruction_move(struct random_instruction *made, uint64_t *random, uint64_t address,
                             const struct region *region);

/* Fills in random values for all registers, also vector registers. */
void random_machine(struct machine *machine, uint64_t *random);

/* Address of a byte of vector register `number`, 0 to 31, in the machine. */
uint8_t *machine_vector_byte(const struct machine *machine, unsigned number, unsigned byte);

/* Changes registers so that all operands are in the region. Returns false if that is impossible. */
bool random_instruction_place(const struct random_instruction *made, struct machine *machine,
                              uint64_t *random, const struct region *region);

/* Prepares `memory`, a copy of the region's, for the instruction: mostly a header that xrstor
 * accepts. */
void random_instruction_fill(const struct random_instruction *made, const struct machine *machine,
                             uint64_t *random, uint8_t *memory, const struct region *region);

/* Computes the references of the instruction from the registers before and after it. Returns their
 * number. */
unsigned random_instruction_references(const struct random_instruction *made,
                                       const struct machine *before, const struct machine *after,
                                       struct reference *references);

#endif
