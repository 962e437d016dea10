/* Checks at the begin of a block: that code which may change unseen has not changed since its
 * translation, and that x87's instruction pointer is the program's before it is stored. */
#include "capture/exec/translate/translate_internal.h"

#include <string.h>

#define BYTES_MAX (CODE_CACHE_INSTRUCTIONS * DECODE_BYTES_MAX)

/* Collects the decoded bytes, which memory may no longer contain. */
static unsigned code_of(const struct translator *translator, uint8_t *bytes)
{
    unsigned size = 0;
    for (unsigned i = 0; i < translator->count; i++) {
        memcpy(bytes + size, translator->instructions[i].bytes, translator->instructions[i].size);
        size += translator->instructions[i].size;
    }
    return size;
}

/* The size of an aligned part: the program may have alignment checks enabled. */
static unsigned part_of(uint64_t address, unsigned left)
{
    unsigned bytes = 8;
    while (bytes > left || address % bytes != 0)
        bytes /= 2;
    return bytes;
}

static void emit_load_part(struct translator *translator, uint64_t address, unsigned bytes)
{
    const struct emit_memory memory = {.base = DECODE_NONE,
                                       .index = DECODE_NONE,
                                       .scale = 1,
                                       .narrow = address > INT32_MAX,
                                       .displacement = (int32_t)(uint32_t)address};
    unsigned opcode = bytes == 1 ? 0x0fb6 : bytes == 2 ? 0x0fb7 : 0x8b;
    emit_with_memory(&translator->emitter, opcode, bytes == 8, translator->block->scratch, &memory);
}

/* Subtracts the decoded bytes from those in memory; jrcxz continues, without flags, if the
 * difference is 0. */
static uint8_t *emit_compare(struct translator *translator, uint64_t address, const uint8_t *was,
                             unsigned bytes)
{
    struct emitter *emitter = &translator->emitter;
    const struct emit_memory sum = {.base = DECODE_RCX,
                                    .index = translator->block->scratch,
                                    .scale = 1,
                                    .fs = false,
                                    .narrow = false,
                                    .displacement = 0};
    uint64_t value = 0;
    memcpy(&value, was, bytes);
    emit_load_part(translator, address, bytes);
    emit_constant(emitter, DECODE_RCX, -value);
    emit_lea(emitter, DECODE_RCX, &sum);
    emit8(emitter, 0xe3);
    emit8(emitter, 0);
    return emitter->at;
}

static void go_on_here(struct translator *translator, uint8_t *jump_end)
{
    if (!translator->emitter.full)
        jump_end[-1] = (uint8_t)(translator->emitter.at - jump_end);
}

/* Adds an exit that is taken before the block executes anything. Returns its number, or -1 if the
 * cache is full. */
static int64_t make_exit(struct translator *translator, enum exit_kind kind)
{
    struct block *block = translator->block;
    struct exit *exit = code_cache_allocate(translator->cache, sizeof *exit);
    if (!exit)
        return -1;
    *exit = (struct exit){.kind = (uint8_t)kind, .target = block->address, .from = block};
    return code_cache_add_exits(translator->cache, exit, 1);
}

bool translate_verify_code(struct translator *translator)
{
    struct emitter *emitter = &translator->emitter;
    struct block *block = translator->block;
    int64_t number = make_exit(translator, EXIT_CHANGED);
    if (number < 0)
        return false;
    uint8_t was[BYTES_MAX];
    unsigned size = code_of(translator, was), bytes;
    const uint8_t *out = NULL;
    emit_save(emitter, 8 * DECODE_RCX, DECODE_RCX);
    for (unsigned done = 0; done < size; done += bytes) {
        bytes = part_of(block->address + done, size - done);
        uint8_t *jump_end = emit_compare(translator, block->address + done, was + done, bytes);
        if (out) {
            emit_jump(emitter, out);
        } else {
            out = emitter->at;
            emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
            translate_leave(translator, (uint32_t)number);
        }
        go_on_here(translator, jump_end);
    }
    emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
    return true;
}

/* fnstenv (6) or fldenv (4) of the thread's copy. */
static void emit_environment(struct translator *translator, uint8_t operation)
{
    const struct emit_memory copy = {.base = DECODE_NONE,
                                     .index = DECODE_NONE,
                                     .scale = 1,
                                     .displacement =
                                         (int32_t)offsetof(struct exec_thread, x87_environment)};
    emit8(&translator->emitter, 0x65);
    emit_with_memory(&translator->emitter, 0xd9, false, operation, &copy);
}

/* Some processors save x87's pointers only while an exception is pending. fnstenv and fnsave always
 * do: for them the pointer is set through the thread's copy of the environment. */
bool translate_check_x87(struct translator *translator)
{
    const struct emit_memory unsettled = {
        .base = DECODE_NONE, .index = DECODE_NONE, .scale = 1, .displacement = EXEC_THREAD_X87};
    struct emitter *emitter = &translator->emitter;
    bool environment = translator->instructions[0].saves_x87 == DECODE_X87_ENVIRONMENT;
    int64_t number = make_exit(translator, EXIT_X87);
    if (number < 0)
        return false;
    emit_save(emitter, 8 * DECODE_RCX, DECODE_RCX);
    emit8(emitter, 0x65);
    emit_with_memory(emitter, 0x8b, false, DECODE_RCX, &unsettled);
    emit8(emitter, 0xe3); /* jrcxz */
    emit8(emitter, 0);
    uint8_t *jump_end = emitter->at;
    emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
    if (environment) {
        emit_environment(translator, 6);
        emit_environment(translator, 4); /* fnstenv has masked all exceptions */
    }
    translate_leave(translator, (uint32_t)number);
    go_on_here(translator, jump_end);
    emit_restore(emitter, DECODE_RCX, 8 * DECODE_RCX);
    emit_save32_constant(emitter, EXEC_THREAD_X87, 1);
    if (environment)
        emit_environment(translator, 4);
    return true;
}
