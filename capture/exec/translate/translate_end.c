#include "capture/exec/translate/translate_internal.h"

#define STUB_BYTES 80u /* more than those of a stub */

#define LOOKUP_SCALE 8 /* of 16 bytes of an entry; the operand's scale is the factor 2 */

/* Advances the trace pointer over the block's entries. After this only the branch can fault. */
static void emit_advance(struct translator *translator)
{
    struct block *block = translator->block;
    block->bytes = (uint16_t)(translator->trace == EXEC_TRACE_COUNT ? block->instructions
                                                                    : 4 * translator->slots);
    struct emit_memory memory = emit_memory_at(block->pointer, block->bytes);
    if (translator->trace != EXEC_TRACE_NONE)
        emit_lea(&translator->emitter, block->pointer, &memory);
    block->advance = translate_offset(translator);
}

void translate_reload(struct translator *translator, bool pointer)
{
    const struct block *block = translator->block;
    if (!translate_spills(block))
        return;
    if (pointer && translator->trace != EXEC_TRACE_NONE)
        emit_save(&translator->emitter, EXEC_THREAD_POINTER, block->pointer);
    emit_restore(&translator->emitter, block->pointer, 8u * block->pointer);
    emit_restore(&translator->emitter, block->scratch, 8u * block->scratch);
}

static void emit_leave(struct translator *translator, uint32_t number)
{
    emit_save32_constant(&translator->emitter, EXEC_THREAD_EXIT, number);
    emit_jump(&translator->emitter, code_cache_leave(translator->cache));
}

void translate_leave(struct translator *translator, uint32_t number)
{
    translate_reload(translator, true);
    emit_leave(translator, number);
}

/* The target of an exit that is not linked. */
static void emit_stub(struct translator *translator, struct exit *exit, uint32_t number)
{
    exit->stub = translator->emitter.at;
    translate_reload(translator, true);
    if (translate_spills(translator->block))
        exit->stub_jump = emit_jump(&translator->emitter, NULL);
    exit->leave = translator->emitter.at;
    emit_leave(translator, number);
    if (translator->emitter.full)
        return;
    if (exit->stub_jump)
        emit_patch(exit->stub_jump, exit->leave);
    if (exit->jump)
        emit_patch(exit->jump, exit->stub);
}

/* The stubs of all exits; of those with jumps apart from the block, because most are linked soon.
 */
bool translate_stubs(struct translator *translator, uint32_t number)
{
    struct block *block = translator->block;
    struct emitter *emitter = &translator->emitter, inside = *emitter;
    translator->stubs = emitter->at;
    if (!block->exits[0].jump) {
        emit_stub(translator, &block->exits[0], number);
        return true;
    }
    emitter->at =
        code_cache_aside(translator->cache, block->exit_count * STUB_BYTES, &emitter->end);
    code_cache_room(translator->cache, &inside.end);
    if (!emitter->at || inside.at > inside.end)
        return false;
    for (unsigned i = 0; i < block->exit_count; i++)
        emit_stub(translator, &block->exits[i], number + i);
    code_cache_keep_aside(translator->cache, emitter->at);
    inside.full |= emitter->full;
    *emitter = inside;
    return true;
}

/* --- targets --------------------------------------------------------------------------------- */

/* The opcode of a short jump, or the second byte of a near one. */
static uint8_t condition_of(const struct decode_instruction *instruction)
{
    if (instruction->size >= 6 && instruction->bytes[instruction->size - 6] == 0x0f)
        return instruction->bytes[instruction->size - 5];
    return instruction->bytes[instruction->size - 2];
}

static bool is_counted(const struct decode_instruction *instruction)
{
    return (condition_of(instruction) & 0xfc) == 0xe0; /* loopne, loope, loop, jrcxz */
}

static void emit_conditional(struct translator *translator,
                             const struct decode_instruction *instruction, struct exit *exits)
{
    struct emitter *emitter = &translator->emitter;
    if (!is_counted(instruction)) {
        exits[0].jump = emit_jump_if(emitter, condition_of(instruction) & 15u, NULL);
        exits[1].jump = emit_jump(emitter, NULL);
        return;
    }
    /* their range is 128 bytes: the copied branch skips the jump of the not-taken exit */
    emit_bytes(emitter, instruction->bytes, instruction->size - 1u);
    uint8_t *over = emitter->at;
    emit8(emitter, 0);
    exits[1].jump = emit_jump(emitter, NULL);
    if (!emitter->full)
        *over = (uint8_t)(emitter->at - over - 1);
    exits[0].jump = emit_jump(emitter, NULL);
}

/* Pushes the program's return address. With `keep` the scratch register is preserved. */
static void emit_return_address(struct translator *translator, uint64_t address, bool keep)
{
    struct emitter *emitter = &translator->emitter;
    uint8_t scratch = translator->block->scratch;
    if (address <= INT32_MAX || !translate_spills(translator->block)) {
        translate_push(translator, address);
        return;
    }
    if (keep)
        emit_save(emitter, EXEC_THREAD_JUMP, scratch);
    emit_constant(emitter, scratch, address);
    emit_push(emitter, scratch);
    if (keep)
        emit_restore(emitter, scratch, EXEC_THREAD_JUMP);
}

/* Loads the target of an indirect branch into the scratch register. */
static void emit_target(struct translator *translator, const struct decode_instruction *instruction)
{
    struct emitter *emitter = &translator->emitter;
    uint8_t scratch = translator->block->scratch;
    if (instruction->kind == DECODE_RETURN) {
        struct emit_memory release = emit_memory_at(DECODE_RSP, instruction->stack_release);
        emit_pop(emitter, scratch);
        if (instruction->stack_release)
            emit_lea(emitter, DECODE_RSP, &release);
    } else if (instruction->branch_register != DECODE_NONE) {
        emit_move(emitter, scratch, instruction->branch_register);
    } else {
        const struct emit_memory memory = translate_target_operand(&instruction->accesses[0]);
        emit_load(emitter, scratch, &memory);
    }
}

/*
 * Jumps to the code for the target in the scratch register, or to code_cache_look_again(). The
 * target plus the `minus_target` of the entry for its low 16 bits is 0 if the entry matches, which
 * jrcxz tests without flags. The entry's code expects CODE_CACHE_POINTER and CODE_CACHE_SCRATCH
 * spilled, and the trace pointer in the thread.
 */
static void emit_lookup(struct translator *translator, struct exit *exit, uint32_t number)
{
    struct emitter *emitter = &translator->emitter;
    const struct block *block = translator->block;
    uint8_t pointer = block->pointer, scratch = block->scratch;
    struct emit_memory index = {.base = DECODE_NONE,
                                .index = pointer,
                                .scale = LOOKUP_SCALE,
                                .fs = false,
                                .narrow = false,
                                .displacement = 0};
    struct emit_memory entry = {.base = DECODE_NONE,
                                .index = pointer,
                                .scale = 2,
                                .fs = false,
                                .narrow = false,
                                .displacement = translator->lookup};
    struct emit_memory sum = {.base = DECODE_RCX,
                              .index = scratch,
                              .scale = 1,
                              .fs = false,
                              .narrow = false,
                              .displacement = 0};
    emit_save(emitter, EXEC_THREAD_POINTER, pointer);
    emit_save(emitter, 8 * DECODE_RCX, DECODE_RCX);
    emit8(emitter, (uint8_t)(0x40 | (pointer >= 8 ? 4 : 0) | (scratch >= 8 ? 1 : 0)));
    emit8(emitter, 0x0f); /* movzx pointer, scratch: 16 bits */
    emit8(emitter, 0xb7);
    emit8(emitter, (uint8_t)(0xc0 | (pointer & 7) << 3 | (scratch & 7)));
    emit_lea(emitter, pointer, &index);
    emit8(emitter, 0x65);
    emit_load(emitter, DECODE_RCX, &entry);
    emit_lea(emitter, DECODE_RCX, &sum);
    emit8(emitter, 0xe3); /* jrcxz: skips the jump of a miss */
    uint8_t *over = emitter->at;
    emit8(emitter, 0);
    uint8_t *miss = emit_jump(emitter, NULL);
    if (!emitter->full)
        *over = (uint8_t)(emitter->at - over - 1);
    emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
    entry.displacement += 8;
    if (pointer != CODE_CACHE_POINTER || scratch != CODE_CACHE_SCRATCH) {
        struct emit_memory jump = emit_memory_at(DECODE_NONE, EXEC_THREAD_JUMP);
        emit8(emitter, 0x65);
        emit_load(emitter, pointer, &entry);
        emit_save(emitter, EXEC_THREAD_JUMP, pointer);
        translate_reload(translator, false);
        emit_save(emitter, 8 * CODE_CACHE_POINTER, CODE_CACHE_POINTER);
        emit_save(emitter, 8 * CODE_CACHE_SCRATCH, CODE_CACHE_SCRATCH);
        entry = jump;
    }
    emit8(emitter, 0x65);
    emit_with_memory(emitter, 0xff, false, 4, &entry); /* jmp */
    exit->stub = exit->leave = emitter->at;
    if (!emitter->full)
        emit_patch(miss, emitter->at);
    emit_save(emitter, EXEC_THREAD_JUMP, scratch);
    translate_reload(translator, false);
    emit_save32_constant(emitter, EXEC_THREAD_EXIT, number);
    translate_relocate(translator, TRANSLATE_EXIT_NUMBER);
    emit_jump(emitter, code_cache_look_again(translator->cache));
    translate_relocate(translator, TRANSLATE_LOOK_AGAIN);
}

/* --- exits ----------------------------------------------------------------------------------- */

static uint8_t exit_kind_of(const struct decode_instruction *last)
{
    switch (last->kind) {
    case DECODE_RETURN:
    case DECODE_JUMP_INDIRECT:
    case DECODE_CALL_INDIRECT:
        return EXIT_INDIRECT;
    case DECODE_SYSTEM_CALL:
        return EXIT_SYSTEM_CALL;
    case DECODE_EMULATED:
        return EXIT_EMULATED;
    case DECODE_TRAP:
        return EXIT_TRAP;
    case DECODE_DEFINED:
        return EXIT_DEFINED;
    case DECODE_REFUSED:
        return EXIT_REFUSED;
    default:
        return EXIT_DIRECT;
    }
}

static bool is_branch(const struct decode_instruction *last)
{
    return last->kind >= DECODE_JUMP && last->kind <= DECODE_CALL_INDIRECT;
}

/* Allocates the block's exits. Returns the number of the first, or -1 if the cache is full. */
static int64_t make_exits(struct translator *translator, const struct decode_instruction *last,
                          uint64_t end)
{
    struct block *block = translator->block;
    unsigned count = last->kind == DECODE_CONDITIONAL ? 2 : 1;
    struct exit *exits = code_cache_allocate(translator->cache, count * sizeof *exits);
    if (!exits)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        exits[i].kind = exit_kind_of(last);
        exits[i].branch = is_branch(last);
        exits[i].branch_kind = last->kind;
        exits[i].branch_size = last->size;
        exits[i].branch_address = last->address;
        exits[i].branch_target = last->target;
        exits[i].from = block;
        exits[i].target =
            i == 1 || last->kind == DECODE_STRAIGHT || last->kind == DECODE_SYSTEM_CALL ? end
            : is_branch(last) ? last->target
                              : last->address;
    }
    block->exits = exits;
    block->exit_count = (uint8_t)count;
    return code_cache_add_exits(translator->cache, exits, count);
}

bool translate_end(struct translator *translator, const struct decode_instruction *last,
                   struct pc_map_entry *entry, uint64_t end)
{
    int64_t first = make_exits(translator, last, end);
    struct block *block = translator->block;
    struct emitter *emitter = &translator->emitter;
    if (first < 0)
        return false;
    uint32_t number = block->first_exit = (uint32_t)first;
    emit_advance(translator);
    if (decode_ends_block(last))
        entry->code = entry->end = block->advance;
    switch (last->kind) {
    case DECODE_RETURN:
    case DECODE_JUMP_INDIRECT:
    case DECODE_CALL_INDIRECT:
        if (translator->trace == EXEC_TRACE_NONE) {
            translate_go(translator, last, entry, end);
            return true;
        }
        emit_target(translator, last);
        if (last->kind == DECODE_CALL_INDIRECT)
            emit_return_address(translator, end, true);
        entry->end = translate_offset(translator);
        emit_lookup(translator, &block->exits[0], number);
        return true;
    case DECODE_CONDITIONAL:
        emit_conditional(translator, last, block->exits);
        break;
    case DECODE_CALL:
        emit_return_address(translator, end, false);
        /* fall through */
    case DECODE_STRAIGHT:
    case DECODE_JUMP:
        entry->end = translate_offset(translator);
        block->exits[0].jump = emit_jump(emitter, NULL);
        translate_place(translator, end);
        break;
    default:
        break;
    }
    return translate_stubs(translator, number);
}
