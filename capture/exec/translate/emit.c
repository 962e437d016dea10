#include "capture/exec/translate/emit.h"

#include <string.h>

#define REX   0x40u
#define REX_W 8u
#define REX_R 4u
#define REX_X 2u
#define REX_B 1u

#define PREFIX_DS 0x3eu
#define PREFIX_FS 0x64u
#define PREFIX_GS 0x65u

/* Fields of VEX and EVEX prefixes. */
#define PP_66   1u
#define PP_F3   2u
#define PP_F2   3u
#define VEX_256 4u
#define EVEX_W  0x80u

#define NO_BASE  5u /* in a SIB byte, with mod 0: a displacement instead */
#define NO_INDEX 4u
#define SIB      4u /* as rm: a SIB byte follows */

static const struct emit_memory nothing = {.base = DECODE_NONE,
                                           .index = DECODE_NONE,
                                           .scale = 1,
                                           .fs = false,
                                           .narrow = false,
                                           .displacement = 0};

void emit_bytes(struct emitter *emitter, const uint8_t *bytes, size_t size)
{
    if ((size_t)(emitter->end - emitter->at) < size) {
        emitter->full = true;
        return;
    }
    memcpy(emitter->at, bytes, size);
    emitter->at += size;
}

void emit8(struct emitter *emitter, uint8_t byte)
{
    emit_bytes(emitter, &byte, 1);
}

void emit32(struct emitter *emitter, uint32_t value)
{
    emit_bytes(emitter, (const uint8_t *)&value, sizeof value);
}

static void emit64(struct emitter *emitter, uint64_t value)
{
    emit_bytes(emitter, (const uint8_t *)&value, sizeof value);
}

/* ModRM, SIB and displacement. */
static void emit_operand(struct emitter *emitter, uint8_t reg, const struct emit_memory *memory,
                         bool always32)
{
    bool has_base = memory->base != DECODE_NONE;
    bool has_index = memory->index != DECODE_NONE;
    int32_t displacement = memory->displacement;
    unsigned mod = 0;
    if (has_base && (displacement != 0 || (memory->base & 7) == NO_BASE || always32))
        mod = displacement >= -128 && displacement < 128 && !always32 ? 1 : 2;
    bool sib = has_index || !has_base || (memory->base & 7) == SIB;
    emit8(emitter, (uint8_t)(mod << 6 | (reg & 7u) << 3 | (sib ? SIB : memory->base & 7u)));
    if (sib) {
        unsigned scale = memory->scale == 8   ? 3
                         : memory->scale == 4 ? 2
                         : memory->scale == 2 ? 1
                                              : 0;
        emit8(emitter, (uint8_t)(scale << 6 | (has_index ? memory->index & 7u : NO_INDEX) << 3 |
                                 (has_base ? memory->base & 7u : NO_BASE)));
    }
    if (mod == 1)
        emit8(emitter, (uint8_t)displacement);
    else if (mod == 2 || !has_base)
        emit32(emitter, (uint32_t)displacement);
}

static unsigned rex_of(uint8_t reg, const struct emit_memory *memory)
{
    return (reg != DECODE_NONE && reg >= 8 ? REX_R : 0) |
           (memory->index != DECODE_NONE && memory->index >= 8 ? REX_X : 0) |
           (memory->base != DECODE_NONE && memory->base >= 8 ? REX_B : 0);
}

void emit_with_memory(struct emitter *emitter, unsigned opcode, bool wide, uint8_t reg,
                      const struct emit_memory *memory)
{
    unsigned rex = rex_of(reg, memory) | (wide ? REX_W : 0);
    if (memory->fs)
        emit8(emitter, 0x64);
    if (memory->narrow)
        emit8(emitter, 0x67);
    if (rex)
        emit8(emitter, (uint8_t)(REX | rex));
    if (opcode > 0xff)
        emit8(emitter, 0x0f);
    emit8(emitter, (uint8_t)opcode);
    emit_operand(emitter, reg, memory, false);
}

void emit_lea(struct emitter *emitter, uint8_t reg, const struct emit_memory *memory)
{
    emit_with_memory(emitter, 0x8d, true, reg, memory);
}

void emit_load(struct emitter *emitter, uint8_t reg, const struct emit_memory *memory)
{
    emit_with_memory(emitter, 0x8b, true, reg, memory);
}

static struct emit_memory at(uint8_t base, int32_t displacement)
{
    struct emit_memory memory = nothing;
    memory.base = base;
    memory.displacement = displacement;
    return memory;
}

void emit_store32(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t reg)
{
    struct emit_memory memory = at(base, displacement);
    emit_with_memory(emitter, 0x89, false, reg, &memory);
}

void emit_store64(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t reg)
{
    struct emit_memory memory = at(base, displacement);
    emit_with_memory(emitter, 0x89, true, reg, &memory);
}

void emit_store32_constant(struct emitter *emitter, uint8_t base, int32_t displacement,
                           uint32_t value)
{
    struct emit_memory memory = at(base, displacement);
    emit_with_memory(emitter, 0xc7, false, 0, &memory);
    emit32(emitter, value);
}

void emit_move(struct emitter *emitter, uint8_t to, uint8_t from)
{
    emit8(emitter, (uint8_t)(REX | REX_W | (from >= 8 ? REX_R : 0) | (to >= 8 ? REX_B : 0)));
    emit8(emitter, 0x89);
    emit8(emitter, (uint8_t)(0xc0 | (from & 7) << 3 | (to & 7)));
}

void emit_constant(struct emitter *emitter, uint8_t reg, uint64_t value)
{
    bool wide = value > UINT32_MAX;
    if (wide || reg >= 8)
        emit8(emitter, (uint8_t)(REX | (wide ? REX_W : 0) | (reg >= 8 ? REX_B : 0)));
    emit8(emitter, (uint8_t)(0xb8 | (reg & 7)));
    if (wide)
        emit64(emitter, value);
    else
        emit32(emitter, (uint32_t)value);
}

void emit_not(struct emitter *emitter, uint8_t reg)
{
    emit8(emitter, (uint8_t)(REX | REX_W | (reg >= 8 ? REX_B : 0)));
    emit8(emitter, 0xf7);
    emit8(emitter, (uint8_t)(0xd0 | (reg & 7)));
}

void emit_push(struct emitter *emitter, uint8_t reg)
{
    if (reg >= 8)
        emit8(emitter, REX | REX_B);
    emit8(emitter, (uint8_t)(0x50 | (reg & 7)));
}

void emit_pop(struct emitter *emitter, uint8_t reg)
{
    if (reg >= 8)
        emit8(emitter, REX | REX_B);
    emit8(emitter, (uint8_t)(0x58 | (reg & 7)));
}

/* --- fields of the thread ----------------------------------------------------------------------
 */

static void emit_field(struct emitter *emitter, uint8_t opcode, bool wide, uint8_t reg,
                       unsigned field)
{
    struct emit_memory memory = nothing;
    memory.displacement = (int32_t)field;
    emit8(emitter, 0x65);
    emit_with_memory(emitter, opcode, wide, reg, &memory);
}

void emit_save(struct emitter *emitter, unsigned field, uint8_t reg)
{
    emit_field(emitter, 0x89, true, reg, field);
}

void emit_restore(struct emitter *emitter, uint8_t reg, unsigned field)
{
    emit_field(emitter, 0x8b, true, reg, field);
}

void emit_save32_constant(struct emitter *emitter, unsigned field, uint32_t value)
{
    emit_field(emitter, 0xc7, false, 0, field);
    emit32(emitter, value);
}

/* --- jumps -------------------------------------------------------------------------------------
 */

static void emit_nothing(struct emitter *emitter, unsigned bytes)
{
    static const uint8_t nops[][7] = {{0x90},
                                      {0x66, 0x90},
                                      {0x0f, 0x1f, 0x00},
                                      {0x0f, 0x1f, 0x40, 0x00},
                                      {0x0f, 0x1f, 0x44, 0x00, 0x00},
                                      {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
                                      {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}};
    if (bytes)
        emit_bytes(emitter, nops[bytes - 1], bytes);
}

/* The rel32 that comes `before` bytes from here must not cross 8 bytes: stores of it would tear. */
static void emit_align(struct emitter *emitter, unsigned before)
{
    unsigned offset = (unsigned)((uintptr_t)(emitter->at + before) & 7);
    if (offset > 4)
        emit_nothing(emitter, 8 - offset);
}

static uint8_t *emit_relative(struct emitter *emitter, const uint8_t *target)
{
    uint8_t *rel32 = emitter->at;
    emit32(emitter, 0);
    if (target && !emitter->full)
        emit_patch(rel32, target);
    return rel32;
}

uint8_t *emit_jump(struct emitter *emitter, const uint8_t *target)
{
    emit_align(emitter, 1);
    emit8(emitter, 0xe9);
    return emit_relative(emitter, target);
}

uint8_t *emit_jump_if(struct emitter *emitter, unsigned condition, const uint8_t *target)
{
    emit_align(emitter, 2);
    emit8(emitter, 0x0f);
    emit8(emitter, (uint8_t)(0x80 | condition));
    return emit_relative(emitter, target);
}

uint8_t *emit_short_jump(struct emitter *emitter, uint8_t opcode)
{
    emit8(emitter, opcode);
    emit8(emitter, 0);
    return emitter->at;
}

void emit_land(struct emitter *emitter, uint8_t *jump)
{
    if (!emitter->full)
        jump[-1] = (uint8_t)(emitter->at - jump);
}

void emit_set(uint8_t *rel32, const uint8_t *target)
{
    const uint32_t relative = (uint32_t)(target - (rel32 + 4));
    memcpy(rel32, &relative, sizeof relative);
}

void emit_patch(uint8_t *rel32, const uint8_t *target)
{
    uint32_t relative = (uint32_t)(target - (rel32 + 4));
    __atomic_store_n((uint32_t *)(void *)rel32, relative, __ATOMIC_RELEASE);
}

/* --- mask and vector registers -----------------------------------------------------------------
 */

void emit_store_opmask(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t mask,
                       bool wide)
{
    struct emit_memory memory = at(base, displacement);
    emit8(emitter, 0xc4);
    emit8(emitter, (uint8_t)(0xc1 | (base >= 8 ? 0 : 0x20)));
    emit8(emitter, wide ? 0xf8 : 0x78);
    emit8(emitter, 0x91);
    emit_operand(emitter, mask, &memory, false);
}

/* An instruction with EVEX: any of 32 registers. A displacement of 32 bits is not scaled. `fields`
 * is the third byte of the prefix, without vvvv: W and pp. */
static void emit_evex(struct emitter *emitter, const struct emit_memory *memory, uint8_t vector,
                      unsigned length, unsigned map, unsigned fields, uint8_t opcode)
{
    unsigned r = vector & 8 ? 0 : 0x80, r2 = vector & 16 ? 0 : 0x10;
    unsigned b = memory->base >= 8 ? 0 : 0x20;
    emit8(emitter, 0x62);
    emit8(emitter, (uint8_t)(r | 0x40 | b | r2 | map));
    emit8(emitter, (uint8_t)(0x7c | fields));
    emit8(emitter, (uint8_t)(length << 5 | 8));
    emit8(emitter, opcode);
    emit_operand(emitter, vector, memory, true);
}

/* vmovups */
static void emit_store_evex(struct emitter *emitter, const struct emit_memory *memory,
                            uint8_t vector, unsigned bytes)
{
    emit_evex(emitter, memory, vector, bytes == 64 ? 2 : bytes == 32 ? 1 : 0, 1, 0, 0x11);
}

/* A store with VEX; `fields`: vector length and pp. */
static void emit_store_vex(struct emitter *emitter, const struct emit_memory *memory,
                           uint8_t vector, unsigned fields)
{
    emit8(emitter, 0xc4);
    emit8(emitter, (uint8_t)((vector & 8 ? 0 : 0x80) | 0x40 | (memory->base >= 8 ? 0 : 0x20) | 1));
    emit8(emitter, (uint8_t)(0x78 | fields));
    emit8(emitter, 0x11);
    emit_operand(emitter, vector, memory, false);
}

void emit_store_vector(struct emitter *emitter, uint8_t base, int32_t displacement, uint8_t vector,
                       unsigned bytes, enum decode_form form, bool legacy)
{
    struct emit_memory memory = at(base, displacement);
    if (form == DECODE_GATHER) {
        emit_store_evex(emitter, &memory, vector, bytes);
    } else if (bytes == 8) { /* movq from an MMX register */
        emit_with_memory(emitter, 0x0f7f, false, vector, &memory);
    } else if (legacy) { /* movups */
        emit_with_memory(emitter, 0x0f11, false, vector, &memory);
    } else {
        emit_store_vex(emitter, &memory, vector, bytes == 32 ? VEX_256 : 0);
    }
}

/* Upper registers: the 16- and 32-byte forms of vmovups need AVX512VL, vextractf does not. */
static void emit_store_upper(struct emitter *emitter, const struct emit_memory *memory,
                             uint8_t vector, unsigned bytes)
{
    if (bytes == 4) /* vmovss */
        emit_evex(emitter, memory, vector, 0, 1, PP_F3, 0x11);
    else if (bytes == 8) /* vmovsd */
        emit_evex(emitter, memory, vector, 0, 1, EVEX_W | PP_F2, 0x11);
    else if (bytes == 16) /* vextractf32x4 */
        emit_evex(emitter, memory, vector, 2, 3, PP_66, 0x19);
    else /* vextractf64x4 */
        emit_evex(emitter, memory, vector, 2, 3, EVEX_W | PP_66, 0x1b);
    if (bytes >= 16)
        emit8(emitter, 0); /* the lowest part */
}

void emit_store_vector_low(struct emitter *emitter, uint8_t base, int32_t displacement,
                           uint8_t vector, unsigned bytes, enum emit_encoding encoding)
{
    const struct emit_memory memory = at(base, displacement);
    const unsigned scalar = bytes == 4 ? PP_F3 : bytes == 8 ? PP_F2 : 0; /* movss, movsd, movups */
    if (encoding == EMIT_LEGACY) {
        if (scalar)
            emit8(emitter, scalar == PP_F3 ? 0xf3 : 0xf2);
        emit_with_memory(emitter, 0x0f11, false, vector, &memory);
    } else if (bytes == 64) {
        emit_store_evex(emitter, &memory, vector, bytes);
    } else if (vector >= 16) {
        emit_store_upper(emitter, &memory, vector, bytes);
    } else {
        emit_store_vex(emitter, &memory, vector, scalar | (bytes == 32 ? VEX_256 : 0));
    }
}

/* --- instructions of the program ---------------------------------------------------------------
 */

static bool is_rex(uint8_t byte)
{
    return (byte & 0xf0) == REX;
}

static bool has_narrow_prefix(const struct decode_instruction *instruction)
{
    for (size_t i = 0; i < instruction->size && decode_is_prefix(instruction->bytes[i]); i++)
        if (instruction->bytes[i] == 0x67)
            return true;
    return false;
}

/* The address of a rip-relative operand. */
static uint64_t rip_address(const struct decode_instruction *instruction)
{
    int32_t displacement;
    memcpy(&displacement, instruction->bytes + instruction->rip_displacement, sizeof displacement);
    uint64_t address = instruction->address + instruction->size + (uint64_t)(int64_t)displacement;
    return has_narrow_prefix(instruction) ? address & UINT32_MAX : address;
}

/* A displacement alone is sign-extended; from 2 GiB on the prefix cuts that off. */
static bool needs_narrow(const struct decode_instruction *instruction)
{
    return rip_address(instruction) > INT32_MAX && !has_narrow_prefix(instruction);
}

/* A register index that rip-relative operands ignore would become effective with a SIB byte. */
static void clear_index(uint8_t *bytes)
{
    size_t i = 0;
    for (; decode_is_prefix(bytes[i]); i++)
        if (is_rex(bytes[i]))
            bytes[i] &= (uint8_t)~REX_X;
    if (bytes[i] == 0xc4 || bytes[i] == 0x62 || bytes[i] == 0x8f)
        bytes[i + 1] |= 0x40;
}

/* Replaces the prefix of gs with one without effect; an fs prefix before it has none either. */
static void clear_segment(uint8_t *bytes)
{
    for (size_t i = 0; decode_is_prefix(bytes[i]); i++)
        if (bytes[i] == PREFIX_FS || bytes[i] == PREFIX_GS)
            bytes[i] = PREFIX_DS;
}

bool emit_can(const struct decode_instruction *instruction)
{
    if (instruction->rip_displacement == 0)
        return true;
    return rip_address(instruction) <= UINT32_MAX &&
           instruction->size + 1u + needs_narrow(instruction) <= DECODE_BYTES_MAX;
}

bool emit_verbatim(struct emitter *emitter, const struct decode_instruction *instruction)
{
    size_t at_displacement = instruction->rip_displacement;
    uint8_t bytes[DECODE_BYTES_MAX];
    memcpy(bytes, instruction->bytes, sizeof bytes);
    if (instruction->gs)
        clear_segment(bytes);
    if (at_displacement == 0) {
        emit_bytes(emitter, bytes, instruction->size);
        return true;
    }
    if (!emit_can(instruction))
        return false;
    clear_index(bytes);
    if (needs_narrow(instruction))
        emit8(emitter, 0x67);
    bytes[at_displacement - 1] = (uint8_t)((bytes[at_displacement - 1] & 0x38u) | SIB);
    emit_bytes(emitter, bytes, at_displacement);
    emit8(emitter, NO_INDEX << 3 | NO_BASE);
    emit32(emitter, (uint32_t)rip_address(instruction));
    emit_bytes(emitter, bytes + at_displacement + 4, instruction->size - at_displacement - 4);
    return true;
}
