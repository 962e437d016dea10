/*
 * Encodes the instructions that the translator inserts between the program's: moves, lea, pushes
 * and jumps. None of them changes flags.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_EMIT_H
#define CAPTURE_EXEC_TRANSLATE_EMIT_H

#include "capture/exec/translate/decode.h"
#include "formats/base/named_fields.h"

/* Output position. Nothing is written beyond `end`; `full` is set instead. */
struct emitter {
    uint8_t *at, *end;
    bool full;
};

/* A memory operand: base + index * scale + displacement; DECODE_NONE: no such register. */
struct NAMED_FIELDS emit_memory {
    uint8_t base, index, scale;
    bool fs;
    bool narrow; /* cut to 32 bits */
    int32_t displacement;
};

static inline struct emit_memory emit_memory_at(uint8_t base, int32_t displacement)
{
    return (struct emit_memory){
        .base = base, .index = DECODE_NONE, .scale = 1, .displacement = displacement};
}

void emit_bytes(struct emitter *emitter, const uint8_t *bytes, size_t size);
void emit8(struct emitter *emitter, uint8_t byte);
void emit32(struct emitter *emitter, uint32_t value);

/* opcode reg, [memory], with REX where needed. opcode: one byte, or two after 0x0f as 0x0fxx. */
void emit_with_memory(struct emitter *emitter, unsigned opcode, bool wide, uint8_t reg,
                      const struct emit_memory *memory);

/* lea, mov from and mov to memory; 64 bits, or 32 for emit_store32. */
void emit_lea(struct emitter *emitter, uint8_t reg, const struct emit_memory *memory);
void emit_load(struct emitter *emitter, uint8_t reg, const struct emit_memory *memory);
void emit_store32(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t reg);
void emit_store64(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t reg);
void emit_store32_constant(struct emitter *emitter, uint8_t base, int32_t displacement,
                           uint32_t value);
void emit_move(struct emitter *emitter, uint8_t to, uint8_t from);
void emit_constant(struct emitter *emitter, uint8_t reg, uint64_t value);
void emit_not(struct emitter *emitter, uint8_t reg);
void emit_push(struct emitter *emitter, uint8_t reg);
void emit_pop(struct emitter *emitter, uint8_t reg);

/* Fields of the thread, by their offset from gs. */
void emit_save(struct emitter *emitter, unsigned field, uint8_t reg);
void emit_restore(struct emitter *emitter, uint8_t reg, unsigned field);
void emit_save32_constant(struct emitter *emitter, unsigned field, uint32_t value);

/*
 * jmp rel32, or jcc rel32 (condition as encoded, 0 to 15), to target, or to the next instruction
 * if target is NULL. Returns the address of the rel32, which one atomic store can change.
 */
uint8_t *emit_jump(struct emitter *emitter, const uint8_t *target);
uint8_t *emit_jump_if(struct emitter *emitter, unsigned condition, const uint8_t *target);

/* A jump of two bytes: jmp, jcc or jrcxz. emit_land() makes what is emitted next its target, which
 * must be at most 127 bytes after it. */
uint8_t *emit_short_jump(struct emitter *emitter, uint8_t opcode);
void emit_land(struct emitter *emitter, uint8_t *jump);

/* Sets a rel32 of code that is not executed yet; it need not be aligned. */
void emit_set(uint8_t *rel32, const uint8_t *target);

/* Changes a jump's target atomically: concurrent threads jump to the old or the new one. */
void emit_patch(uint8_t *rel32, const uint8_t *target);

/* Stores of mask and vector registers into [base + displacement]. */
void emit_store_opmask(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t mask,
                       bool wide);
void emit_store_vector(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t vector,
                       unsigned bytes, enum decode_form form, bool legacy);

/* How an instruction is encoded. A store in the same encoding as the instruction that has written
 * the register causes no transition between SSE and AVX. */
enum emit_encoding { EMIT_LEGACY, EMIT_VEX, EMIT_EVEX };

/* Stores the lowest 4, 8, 16, 32 or 64 bytes of a vector register into [base + displacement].
 * Registers 16 to 31, and 64 bytes, need EMIT_EVEX, 32 bytes not EMIT_LEGACY; nothing but AVX512F
 * is needed for it. */
void emit_store_vector_low(struct emitter *emitter, uint8_t base, int32_t displacement,
                           uint8_t vector, unsigned bytes, enum emit_encoding encoding);

/* Copies an instruction of the program; rip-relative operands become absolute. False if that has no
 * encoding: the instruction becomes too long, or the address is beyond 4 GiB. */
bool emit_verbatim(struct emitter *emitter, const struct decode_instruction *instruction);

/* Whether emit_verbatim() can encode the instruction. */
bool emit_can(const struct decode_instruction *instruction);

#endif
