/*
 * Indirect branches of blocks without a trace. A branch jumps to the code in the thread's `targets`
 * for the low 16 bits of its target. That code, a block's arrival, compares the target with the
 * block's address, and continues with the block or with exec_find_target(). In between, rcx is in
 * its slot and the target in the thread's `jump`.
 */
#include "capture/exec/translate/translate_internal.h"

#include <limits.h>

#define ARRIVAL_BYTES 64u /* more than an arrival and a jump */

static struct emit_memory field(int32_t offset)
{
    return emit_memory_at(DECODE_NONE, offset);
}

/* An instruction with an operand in the thread. */
static void emit_with_field(struct translator *translator, unsigned opcode, uint8_t reg,
                            const struct emit_memory *memory)
{
    emit8(&translator->emitter, 0x65);
    emit_with_memory(&translator->emitter, opcode, false, reg, memory);
}

void translate_arrive(struct translator *translator, uint64_t target)
{
    struct emitter *emitter = &translator->emitter;
    emit_restore(emitter, DECODE_RCX, EXEC_THREAD_JUMP);
    while (target) { /* in steps that fit a displacement */
        const uint64_t part = target < INT_MAX ? target : INT_MAX;
        const struct emit_memory rest = emit_memory_at(DECODE_RCX, -(int32_t)part);
        emit_lea(emitter, DECODE_RCX, &rest);
        target -= part;
    }
    uint8_t *found = emit_short_jump(emitter, 0xe3); /* jrcxz */
    emit_jump(emitter, code_cache_find_target(translator->cache));
    translate_relocate(translator, TRANSLATE_FIND_TARGET);
    emit_land(emitter, found);
    emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
}

const uint8_t *translate_arrival(struct translator *translator, struct block *block)
{
    struct emitter *emitter = &translator->emitter;
    if (block->indirect)
        return block->indirect;
    emitter->at = code_cache_room(translator->cache, &emitter->end);
    emitter->full = false;
    if ((size_t)(emitter->end - emitter->at) < ARRIVAL_BYTES)
        return NULL;
    block->indirect = emitter->at;
    translate_arrive(translator, block->address);
    emit_jump(emitter, block->code);
    code_cache_keep(translator->cache, emitter->at);
    return block->indirect;
}

void translate_push(struct translator *translator, uint64_t value)
{
    struct emitter *emitter = &translator->emitter;
    translator->pushed = NULL;
    if (value <= INT32_MAX) { /* the instruction extends its sign */
        emit8(emitter, 0x68);
        emit32(emitter, (uint32_t)value);
        return;
    }
    emit8(emitter,
          0xff); /* push [rip + rel32]: a return that reads two stores would wait for them */
    emit8(emitter, 0x35);
    translator->pushed = emitter->at;
    emit32(emitter, 0);
}

void translate_place(struct translator *translator, uint64_t value)
{
    struct emitter *emitter = &translator->emitter;
    if (!translator->pushed)
        return;
    if (!emitter->full)
        emit_set(translator->pushed, emitter->at);
    emit_bytes(emitter, (const uint8_t *)&value, sizeof value);
    translator->pushed = NULL;
}

/* Stores the target in `jump`, and of a return in rcx, too. All faults occur before any change. */
static void emit_target(struct translator *translator, const struct decode_instruction *instruction,
                        uint64_t end)
{
    struct emitter *emitter = &translator->emitter;
    const struct decode_access *access = &instruction->accesses[0];
    if (instruction->kind == DECODE_RETURN) {
        const struct emit_memory release = emit_memory_at(DECODE_RSP, instruction->stack_release);
        emit_save(emitter, 8 * DECODE_RCX, DECODE_RCX);
        emit_pop(emitter, DECODE_RCX);
        emit_save(emitter, EXEC_THREAD_JUMP, DECODE_RCX);
        if (instruction->stack_release)
            emit_lea(emitter, DECODE_RSP, &release);
    } else if (instruction->branch_register != DECODE_NONE) {
        emit_save(emitter, EXEC_THREAD_JUMP, instruction->branch_register);
    } else {
        const struct emit_memory memory = translate_target_operand(access);
        emit_save(emitter, 8 * DECODE_RCX, DECODE_RCX);
        emit_load(emitter, DECODE_RCX, &memory);
        emit_save(emitter, EXEC_THREAD_JUMP, DECODE_RCX);
        if (instruction->kind == DECODE_CALL_INDIRECT) /* the push may fault */
            emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
    }
    if (instruction->kind == DECODE_CALL_INDIRECT)
        translate_push(translator, end);
}

/* Whether emit_target() leaves rcx in its slot. */
static bool has_saved_rcx(const struct decode_instruction *instruction)
{
    return instruction->kind == DECODE_RETURN || (instruction->kind == DECODE_JUMP_INDIRECT &&
                                                  instruction->branch_register == DECODE_NONE);
}

void translate_go(struct translator *translator, const struct decode_instruction *instruction,
                  struct pc_map_entry *entry, uint64_t end)
{
    struct emitter *emitter = &translator->emitter;
    struct exit *exit = &translator->block->exits[0];
    static const uint8_t low_of_rcx[] = {0x0f, 0xb7, 0xc9}; /* movzx ecx, cx */
    const struct emit_memory low = field(EXEC_THREAD_JUMP);
    const struct emit_memory code = {
        .base = DECODE_NONE, .index = DECODE_RCX, .scale = 8, .displacement = translator->targets};
    translate_reload(translator, false);
    emit_target(translator, instruction, end);
    entry->end = translate_offset(translator);
    exit->stub = exit->leave = emitter->at;
    if (!has_saved_rcx(instruction))
        emit_save(emitter, 8 * DECODE_RCX, DECODE_RCX);
    emit_save32_constant(emitter, EXEC_THREAD_EXIT, translator->block->first_exit);
    translate_relocate(translator, TRANSLATE_EXIT_NUMBER);
    if (instruction->kind == DECODE_RETURN)
        emit_bytes(emitter, low_of_rcx, sizeof low_of_rcx);
    else
        emit_with_field(translator, 0x0fb7, DECODE_RCX, &low); /* movzx, of 16 bits */
    emit_with_field(translator, 0xff, 4, &code);               /* jmp */
    translate_place(translator, end);
}
