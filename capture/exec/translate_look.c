/* Code that others may change unseen is compared with what a block was made from. */
#include "capture/exec/translate_work.h"

#include <string.h>

#define BYTES_MAX (CODE_CACHE_INSTRUCTIONS * DECODE_BYTES_MAX)

/* The bytes that were decoded, whatever is there by now. */
static unsigned code_of(const struct translator *translator, uint8_t *bytes)
{
    unsigned size = 0;
    for (unsigned i = 0; i < translator->count; i++) {
        memcpy(bytes + size, translator->instructions[i].bytes, translator->instructions[i].size);
        size += translator->instructions[i].size;
    }
    return size;
}

/* Aligned, as the program may have that checked. */
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

/* What is there, less what was there: jrcxz goes on if that is nothing, without the flags. */
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

bool translate_look(struct translator *translator)
{
    struct emitter *emitter = &translator->emitter;
    struct block *block = translator->block;
    struct exit *changed = code_cache_allocate(translator->cache, sizeof *changed);
    int64_t number = changed ? code_cache_add_exits(translator->cache, changed, 1) : -1;
    if (number < 0)
        return false;
    *changed = (struct exit){.kind = EXIT_CHANGED, .target = block->address, .from = block};
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
