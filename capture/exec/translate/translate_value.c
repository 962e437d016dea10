/*
 * Entries with the values that instructions define (doc/wet.md, "Values").
 *
 * Almost all of the code comes after the instruction. Faults of the loads from memory, which only
 * another thread can cause, count as faults of the instruction, like those of XSAVE's header.
 */
#include "capture/exec/translate/translate_internal.h"

#include <Zydis/Zydis.h>
#include <string.h>

#define PIECE     8u    /* bytes of memory that are copied at once */
#define LONGEST   64    /* bytes of a value */
#define ST0       32    /* offset of x87's registers in the image */
#define ST_BYTES  16    /* from one to the next */
#define X87_BYTES 10u   /* of an x87 register */
#define REX       0x40u /* and the fields W, R, X and B */
#define REX_W     8u
#define REX_R     4u
#define REX_B     1u

/* An instruction's opcode, and the REX before it; 0: none. */
struct opcode {
    const uint8_t *at;
    uint8_t rex;
};

static struct opcode opcode_of(const struct decode_instruction *instruction)
{
    struct opcode opcode = {.at = instruction->bytes};
    for (; opcode.at + 1 < instruction->bytes + instruction->size && decode_is_prefix(*opcode.at);
         opcode.at++)
        opcode.rex = (*opcode.at & 0xf0) == REX ? *opcode.at : 0;
    return opcode;
}

/* --- entries -----------------------------------------------------------------------------------
 */

/* Reserves entries for `bytes` bytes. Returns the first one's number. */
static unsigned take_slots(struct translator *translator, unsigned bytes)
{
    const unsigned slot = translator->slots;
    translator->slots += (bytes + TRANSLATE_ENTRY - 1) / TRANSLATE_ENTRY;
    return slot;
}

/* Notes where the value of the block's instruction is. */
static void note_value(struct translator *translator, unsigned instruction, unsigned slot,
                       unsigned offset)
{
    translator->values[translator->value_count++] =
        (struct value_slot){.instruction = (uint16_t)instruction,
                            .slot = (uint16_t)slot,
                            .size = translator->flow.value_size,
                            .offset = (uint8_t)offset};
}

/* Stores at most the lowest eight bytes of a general register. */
static void store_register(struct translator *translator, unsigned slot, uint8_t reg,
                           unsigned bytes)
{
    const uint8_t pointer = translator->block->pointer;
    if (bytes > TRANSLATE_ENTRY)
        emit_store64(&translator->emitter, pointer, translate_displacement(slot), reg);
    else
        emit_store32(&translator->emitter, pointer, translate_displacement(slot), reg);
}

static void store_constant(struct translator *translator, unsigned slot, uint64_t value,
                           unsigned bytes)
{
    for (unsigned i = 0; i * TRANSLATE_ENTRY < bytes; i++)
        emit_store32_constant(&translator->emitter, translator->block->pointer,
                              translate_displacement(slot + i), (uint32_t)(value >> 32 * i));
}

/* --- registers ---------------------------------------------------------------------------------
 */

static void store_vector(struct translator *translator,
                         const struct decode_instruction *instruction, unsigned slot,
                         unsigned bytes)
{
    const uint8_t first = *opcode_of(instruction).at;
    const enum emit_encoding encoding = first == 0x62 ? EMIT_EVEX
                                        : first == 0xc4 || first == 0xc5 || first == 0x8f
                                            ? EMIT_VEX /* or XOP */
                                            : EMIT_LEGACY;
    emit_store_vector_low(&translator->emitter, translator->block->pointer,
                          translate_displacement(slot), translator->flow.value.number, bytes,
                          encoding);
}

/* A copy of all of x87's state shows a register without a change of any. */
static void store_x87(struct translator *translator, unsigned slot)
{
    struct emitter *emitter = &translator->emitter;
    const uint8_t scratch = translator->block->scratch;
    const unsigned image = offsetof(struct exec_thread, x87_image);
    const unsigned field = image + ST0 + ST_BYTES * translator->flow.value.number;
    const struct emit_memory copy = emit_memory_at(DECODE_NONE, (int32_t)image);
    emit8(emitter, 0x65);
    emit_with_memory(emitter, 0x0fae, true, 0, &copy); /* fxsave64 */
    emit_restore(emitter, scratch, field);
    store_register(translator, slot, scratch, PIECE);
    emit_restore(emitter, scratch, field + PIECE);
    store_register(translator, slot + PIECE / TRANSLATE_ENTRY, scratch, X87_BYTES - PIECE);
}

/* Processors without AVX512BW have 16 bits only. */
static void store_opmask(struct translator *translator, unsigned slot, unsigned bytes)
{
    const bool wide = bytes > 2 && __builtin_cpu_supports("avx512bw");
    if (!wide)
        store_constant(translator, slot, 0, bytes);
    emit_store_opmask(&translator->emitter, translator->block->pointer,
                      translate_displacement(slot), translator->flow.value.number, wide);
}

/* The register that holds the value, too, after the instruction; false: none, or not known. */
static bool find_stored_register(const struct decode_instruction *instruction, uint8_t *reg,
                                 unsigned *offset)
{
    const struct opcode opcode = opcode_of(instruction);
    *offset = 0;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        *reg = (uint8_t)((opcode.at[1] >> 3 & 7) | (opcode.rex & REX_R ? 8 : 0));
        if (*opcode.at == 0x88 && !opcode.rex && *reg >= 4) { /* ah, ch, dh, bh */
            *offset = 1;
            *reg -= 4;
        }
        if (*opcode.at == 0xa2 || *opcode.at == 0xa3)
            *reg = DECODE_RAX;
        return *opcode.at == 0x88 || *opcode.at == 0x89 || *opcode.at == 0xa2 || *opcode.at == 0xa3;
    case ZYDIS_MNEMONIC_PUSH:
        *reg = (uint8_t)((*opcode.at & 7) | (opcode.rex & REX_B ? 8 : 0));
        return (*opcode.at & 0xf8) == 0x50 && *reg != DECODE_RSP;
    case ZYDIS_MNEMONIC_STOSB:
    case ZYDIS_MNEMONIC_STOSW:
    case ZYDIS_MNEMONIC_STOSD:
    case ZYDIS_MNEMONIC_STOSQ:
        *reg = DECODE_RAX;
        return true;
    default:
        return false;
    }
}

/* The constant that a mov or push stores: its last bytes, sign-extended; false: it stores none. */
static bool find_stored_constant(const struct decode_instruction *instruction, unsigned bytes,
                                 uint64_t *value)
{
    const uint8_t opcode = *opcode_of(instruction).at;
    const uint8_t *end = instruction->bytes + instruction->size;
    const bool is_move = instruction->mnemonic == ZYDIS_MNEMONIC_MOV;
    int8_t value8;
    int16_t value16;
    int32_t value32;
    if (!is_move && instruction->mnemonic != ZYDIS_MNEMONIC_PUSH)
        return false;
    if (opcode == (is_move ? 0xc6 : 0x6a)) {
        memcpy(&value8, end - sizeof value8, sizeof value8);
        *value = (uint64_t)value8;
    } else if (opcode == (is_move ? 0xc7 : 0x68) && bytes == sizeof value16) {
        memcpy(&value16, end - sizeof value16, sizeof value16);
        *value = (uint64_t)value16;
    } else if (opcode == (is_move ? 0xc7 : 0x68)) {
        memcpy(&value32, end - sizeof value32, sizeof value32);
        *value = (uint64_t)value32;
    } else {
        return false;
    }
    return true;
}

/* --- addresses ---------------------------------------------------------------------------------
 */

static bool has_changed(const struct decode_instruction *instruction, uint8_t reg)
{
    return reg != DECODE_NONE && instruction->registers_written >> reg & 1;
}

/* The operand as an instruction after this one has to name it; false: its registers have changed,
 * or it cannot be named. */
static bool find_operand(const struct decode_instruction *instruction,
                         const struct decode_access *access, struct emit_memory *memory)
{
    const bool is_absolute = access->base == DECODE_NONE && access->index == DECODE_NONE;
    int64_t displacement = access->displacement;
    if (access->form != DECODE_PLAIN || has_changed(instruction, access->base) ||
        has_changed(instruction, access->index))
        return false;
    if (instruction->adjusted != DECODE_NONE && instruction->adjusted == access->base)
        displacement -= instruction->adjustment;
    if (instruction->adjusted != DECODE_NONE && instruction->adjusted == access->index)
        displacement -= access->scale * instruction->adjustment;
    *memory =
        (struct emit_memory){.base = access->base,
                             .index = access->index,
                             .scale = access->scale,
                             .fs = access->fs,
                             .narrow = access->narrow || (is_absolute && displacement > INT32_MAX),
                             .displacement = (int32_t)displacement};
    if (is_absolute && (access->narrow || !access->fs))
        return true;
    return displacement >= INT32_MIN && displacement <= INT32_MAX - LONGEST;
}

/* Adds to the scratch register. */
static void add_scratch(struct translator *translator, uint8_t reg, uint8_t scale)
{
    const uint8_t scratch = translator->block->scratch;
    const struct emit_memory sum = {.base = scratch, .index = reg, .scale = scale};
    emit_lea(&translator->emitter, scratch, &sum);
}

/* Loads the number of the element of a bit test that has the bit. The bit's number, shifted to the
 * left until this is in the bits from 8 on, goes through the entry: no flag changes. */
static void load_element(struct translator *translator, const struct decode_access *access,
                         unsigned slot)
{
    struct emitter *emitter = &translator->emitter;
    const uint8_t scratch = translator->block->scratch, pointer = translator->block->pointer;
    const struct emit_memory shifted = {
        .base = DECODE_NONE, .index = scratch, .scale = access->index_size == 8 ? 4 : 8};
    const struct emit_memory twice = {.base = DECODE_NONE, .index = scratch, .scale = 2};
    const struct emit_memory entry = emit_memory_at(pointer, translate_displacement(slot) + 1);
    const struct emit_memory number = emit_memory_at(pointer, translate_displacement(slot));
    store_register(translator, slot, access->mask, PIECE);
    if (access->index_size == 8)
        emit_load(emitter, scratch, &number);
    else /* movsxd, or movsx */
        emit_with_memory(emitter, access->index_size == 4 ? 0x63 : 0x0fbf, true, scratch, &number);
    emit_lea(emitter, scratch, &shifted);
    if (access->index_size == 2)
        emit_lea(emitter, scratch, &twice);
    emit_store64(emitter, pointer, translate_displacement(slot), scratch);
    emit_with_memory(emitter, 0x63, true, scratch, &entry); /* movsxd */
}

/* Loads the address of the element of a bit test that has the bit. */
static void load_bits_address(struct translator *translator, const struct decode_access *access,
                              unsigned slot)
{
    struct emitter *emitter = &translator->emitter;
    const uint8_t scratch = translator->block->scratch;
    const struct emit_memory offset = {
        .base = DECODE_NONE, .index = scratch, .scale = access->index_size};
    int64_t left = access->displacement;
    load_element(translator, access, slot);
    emit_lea(emitter, scratch, &offset);
    if (access->base == DECODE_RSP) { /* which cannot be an index */
        const struct emit_memory sum = {.base = DECODE_RSP, .index = scratch, .scale = 1};
        emit_lea(emitter, scratch, &sum);
    } else if (access->base != DECODE_NONE) {
        add_scratch(translator, access->base, 1);
    }
    if (access->index != DECODE_NONE)
        add_scratch(translator, access->index, access->scale);
    while (left != 0) { /* rip-relative operands may be beyond 2 GiB */
        const int64_t step = left > INT32_MAX ? INT32_MAX : left;
        const struct emit_memory sum = emit_memory_at(scratch, (int32_t)step);
        emit_lea(emitter, scratch, &sum);
        left -= step;
    }
    if (access->narrow || !access->fs) { /* mov scratch, scratch: the program is below 4 GiB */
        emit8(emitter, (uint8_t)(REX | (scratch >= 8 ? REX_R | REX_B : 0)));
        emit8(emitter, 0x89);
        emit8(emitter, (uint8_t)(0xc0 | (scratch & 7) << 3 | (scratch & 7)));
    }
}

/* Stores the address where the value will be, without fs, before the registers change. */
static void store_address(struct translator *translator, const struct decode_access *access)
{
    struct emitter *emitter = &translator->emitter;
    const uint8_t scratch = translator->block->scratch;
    const struct emit_memory memory = translate_operand(access);
    const unsigned slot = take_slots(translator, PIECE);
    if (access->form == DECODE_BITS)
        load_bits_address(translator, access, slot);
    else if (access->base == DECODE_NONE && access->index == DECODE_NONE)
        emit_constant(emitter, scratch, (uint64_t)access->displacement);
    else
        emit_lea(emitter, scratch, &memory);
    store_register(translator, slot, scratch, PIECE);
    translator->value_address = slot;
}

/* --- memory ------------------------------------------------------------------------------------
 */

/* Loads 1, 2, 4 or 8 bytes into the scratch register. */
static void load_piece(struct translator *translator, const struct emit_memory *memory,
                       unsigned bytes)
{
    const unsigned opcode = bytes == 1 ? 0x0fb6 : bytes == 2 ? 0x0fb7 : 0x8b;
    emit_with_memory(&translator->emitter, opcode, bytes == PIECE, translator->block->scratch,
                     memory);
}

/* Copies the operand, from its address in an entry if there is one. */
static void copy_memory(struct translator *translator, const struct decode_access *access,
                        const struct emit_memory *operand, unsigned slot)
{
    struct emit_memory memory = *operand;
    const uint8_t scratch = translator->block->scratch;
    const unsigned size = translator->flow.value_size;
    unsigned bytes;
    if (translator->value_address) {
        memory = emit_memory_at(scratch, 0);
        memory.fs = access->fs;
    }
    for (unsigned done = 0; done < size; done += bytes, memory.displacement += (int32_t)bytes) {
        const struct emit_memory address = emit_memory_at(
            translator->block->pointer, translate_displacement(translator->value_address));
        for (bytes = PIECE; bytes > size - done; bytes /= 2)
            ;
        if (translator->value_address)
            emit_load(&translator->emitter, scratch, &address);
        load_piece(translator, &memory, bytes);
        store_register(translator, slot + done / TRANSLATE_ENTRY, scratch, bytes);
    }
}

/* Loads the address of the last element that movs has written. The direction is known only from
 * what a string instruction does: lods moves rsi from the thread's address, by one. */
static void load_last_address(struct translator *translator, const struct decode_access *access)
{
    struct emitter *emitter = &translator->emitter;
    const uint8_t scratch = translator->block->scratch, size = (uint8_t)access->size;
    const struct emit_memory moved = {
        .base = DECODE_RSI, .index = scratch, .scale = 1, .displacement = 1};
    const struct emit_memory last = {.base = DECODE_RDI,
                                     .index = DECODE_RSI,
                                     .scale = size,
                                     .narrow = true,
                                     .displacement = size};
    emit_save(emitter, 8 * DECODE_RSI, DECODE_RSI);
    emit_save(emitter, EXEC_THREAD_JUMP, DECODE_RAX);
    emit_restore(emitter, DECODE_RSI, EXEC_THREAD_SELF);
    emit8(emitter, 0xac); /* lodsb */
    emit_restore(emitter, DECODE_RAX, EXEC_THREAD_JUMP);
    emit_restore(emitter, scratch, EXEC_THREAD_SELF);
    emit_not(emitter, scratch);
    emit_lea(emitter, DECODE_RSI, &moved); /* 1 or -1 */
    emit_not(emitter, DECODE_RSI);
    emit_lea(emitter, scratch, &last); /* rdi + size * (-rsi - 1) + size */
    emit_restore(emitter, DECODE_RSI, 8 * DECODE_RSI);
}

/* The last element that rep movs has written, unless the count was 0: then there is none, and
 * memory at rdi may not be readable. */
static void copy_last(struct translator *translator, const struct decode_access *access,
                      unsigned slot)
{
    struct emitter *emitter = &translator->emitter;
    const uint8_t scratch = translator->block->scratch;
    const struct special *special = &translator->specials[translator->special_count - 1];
    const struct emit_memory count =
        emit_memory_at(translator->block->pointer, translate_displacement(special->slot));
    const struct emit_memory element = emit_memory_at(scratch, 0);
    emit_save(emitter, 8 * DECODE_RCX, DECODE_RCX);
    emit_with_memory(emitter, 0x8b, false, DECODE_RCX, &count);
    uint8_t *none = emit_short_jump(emitter, 0xe3); /* jrcxz */
    emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
    load_last_address(translator, access);
    load_piece(translator, &element, access->size);
    store_register(translator, slot, scratch, access->size);
    uint8_t *end = emit_short_jump(emitter, 0xeb);
    emit_land(emitter, none);
    emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
    emit_land(emitter, end);
}

/* Returns the value's offset in the entry. */
static unsigned store_memory(struct translator *translator,
                             const struct decode_instruction *instruction, unsigned slot)
{
    const struct decode_access *access = &instruction->accesses[translator->flow.value.number];
    const unsigned size = translator->flow.value_size;
    struct emit_memory operand = {.base = DECODE_NONE};
    uint64_t constant;
    uint8_t reg;
    unsigned offset = 0;
    if (find_stored_register(instruction, &reg, &offset)) {
        store_register(translator, slot, reg, size);
        return offset;
    }
    if (find_stored_constant(instruction, size, &constant)) {
        store_constant(translator, slot, constant, size);
    } else if (instruction->repeated) {
        copy_last(translator, access, slot);
    } else {
        if (!translator->value_address)
            find_operand(instruction, access, &operand);
        copy_memory(translator, access, &operand, slot);
    }
    return 0;
}

/* Whether the address has to be stored before the instruction. */
static bool needs_address(const struct decode_instruction *instruction,
                          const struct data_flow_part *value)
{
    struct emit_memory operand;
    uint64_t constant;
    uint8_t reg;
    unsigned offset;
    return value->kind == DATA_FLOW_MEMORY && !instruction->repeated &&
           !find_stored_register(instruction, &reg, &offset) &&
           !find_stored_constant(instruction, sizeof(uint16_t), &constant) &&
           !find_operand(instruction, &instruction->accesses[value->number], &operand);
}

/* --- interface ---------------------------------------------------------------------------------
 */

/* Branches come after the last entry: the values of ret and loop follow from their registers. */
static void store_branch(struct translator *translator,
                         const struct decode_instruction *instruction)
{
    const bool returns = instruction->kind == DECODE_RETURN;
    const uint8_t scratch = translator->block->scratch;
    const struct emit_memory after = emit_memory_at(translator->flow.value.number,
                                                    returns ? 8 + instruction->stack_release : -1);
    const unsigned size = translator->flow.value_size, slot = take_slots(translator, size);
    emit_lea(&translator->emitter, scratch, &after);
    store_register(translator, slot, scratch, size);
    note_value(translator, translator->block->instructions, slot, 0);
}

void translate_value_before(struct translator *translator,
                            const struct decode_instruction *instruction)
{
    const struct data_flow *flow = &translator->flow;
    if (translator->trace != EXEC_TRACE_VALUES)
        return;
    translator->value_address = 0;
    data_flow_of(&translator->flow, instruction);
    if (!flow->has_value)
        return;
    if (instruction->kind == DECODE_RETURN || instruction->kind == DECODE_CONDITIONAL)
        store_branch(translator, instruction);
    else if (instruction->kind == DECODE_STRAIGHT && needs_address(instruction, &flow->value))
        store_address(translator, &instruction->accesses[flow->value.number]);
}

void translate_value_after(struct translator *translator,
                           const struct decode_instruction *instruction)
{
    const struct data_flow_part *value = &translator->flow.value;
    const unsigned size = translator->flow.value_size;
    /* the first byte in the register */
    const unsigned first = value->bytes ? (unsigned)__builtin_ctzll(value->bytes) : 0;
    unsigned offset = first % TRANSLATE_ENTRY, bytes = TRANSLATE_ENTRY;
    if (translator->trace != EXEC_TRACE_VALUES || !translator->flow.has_value)
        return;
    while (bytes < first + size && value->kind == DATA_FLOW_VECTOR)
        bytes *= 2;
    const unsigned slot =
        take_slots(translator, value->kind == DATA_FLOW_VECTOR ? bytes : offset + size);
    switch ((enum data_flow_kind)value->kind) {
    case DATA_FLOW_GENERAL:
        store_register(translator, slot, value->number, size);
        break;
    case DATA_FLOW_VECTOR:
        store_vector(translator, instruction, slot, bytes);
        break;
    case DATA_FLOW_X87:
        store_x87(translator, slot);
        break;
    case DATA_FLOW_MMX:
        emit_store_vector(&translator->emitter, translator->block->pointer,
                          translate_displacement(slot), value->number, size, DECODE_PLAIN, true);
        break;
    case DATA_FLOW_MASK:
        store_opmask(translator, slot, size);
        break;
    case DATA_FLOW_MEMORY:
        offset = store_memory(translator, instruction, slot);
        break;
    default:
        break;
    }
    note_value(translator, translator->block->instructions - 1u, slot + first / TRANSLATE_ENTRY,
               offset);
}
