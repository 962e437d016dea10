#include "capture/program/exec_sender.h"

#include <string.h>

#define RECORDS_MAX ((size_t)8192) /* in a message */

/* Reserves a message with this head. NULL: the consumer is gone. */
static void *begin(struct exec_sender *sender, const struct exec_message *head, size_t bytes)
{
    uint8_t *message =
        message_ring_reserve(sender->ring, sizeof *head + bytes, sender->taken, sender->context);
    if (!message)
        return NULL;
    memcpy(message, head, sizeof *head);
    return message + sizeof *head;
}

int exec_sender_records(struct exec_sender *sender, const struct record *records, size_t count,
                        const struct exec_marks *marks)
{
    struct exec_message head = {.kind = EXEC_MESSAGE_RECORDS,
                                .begins_part = marks->begins_part,
                                .has_events = marks->has_events};
    for (size_t done = 0, part; done < count; done += part) {
        part = count - done < RECORDS_MAX ? count - done : RECORDS_MAX;
        void *to = begin(sender, &head, part * sizeof *records);
        if (!to)
            return BT_CLOSED;
        memcpy(to, records + done, part * sizeof *records);
        message_ring_put(sender->ring);
        head.begins_part = false;
    }
    return 0;
}

static uint8_t *append(uint8_t *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    return to + bytes;
}

static int describe(struct exec_sender *sender, const struct block *block)
{
    const struct exec_message head = {.kind = EXEC_MESSAGE_BLOCK};
    struct exec_block numbers = {.instructions = block->instructions, .slots = block->slots};
    /* else the cache was full: the block is never executed */
    if (block->records && block->patches && block->specials && block->through_fs) {
        numbers.records = block->record_count;
        numbers.patches = block->patch_count;
        numbers.specials = block->special_count;
        numbers.through_fs = block->through_fs_count;
    }
    const size_t records = numbers.records * sizeof *block->records;
    const size_t patches = numbers.patches * sizeof *block->patches;
    const size_t specials = numbers.specials * sizeof *block->specials;
    const size_t through_fs = numbers.through_fs * sizeof *block->through_fs;
    uint8_t *to = begin(sender, &head, sizeof numbers + records + patches + specials + through_fs);
    if (!to)
        return BT_CLOSED;
    to = append(to, &numbers, sizeof numbers);
    to = append(to, block->records, records);
    to = append(to, block->patches, patches);
    to = append(to, block->specials, specials);
    append(to, block->through_fs, through_fs);
    message_ring_put(sender->ring);
    return 0;
}

static int forget(struct exec_sender *sender)
{
    const struct exec_message head = {.kind = EXEC_MESSAGE_FORGET};
    if (!begin(sender, &head, 0))
        return BT_CLOSED;
    message_ring_put(sender->ring);
    sender->described = 0;
    return 0;
}

static int describe_new(struct exec_sender *sender, const struct code_cache *cache)
{
    int result = 0;
    if (sender->flushes != code_cache_flushes(cache)) {
        if (sender->described > 0)
            result = forget(sender);
        sender->flushes = code_cache_flushes(cache);
    }
    while (result == 0 && sender->described < code_cache_blocks(cache))
        result = describe(sender, code_cache_block(cache, sender->described++));
    return result;
}

int exec_sender_entries(struct exec_sender *sender, const struct trace_expander *expander,
                        const uint32_t *entries, size_t count, const struct exec_marks *marks)
{
    const struct exec_message head = {.kind = EXEC_MESSAGE_ENTRIES,
                                      .begins_part = marks->begins_part,
                                      .event = marks->event,
                                      .repetitions = expander->repetitions,
                                      .processor = expander->processor,
                                      .fs_base = expander->fs_base};
    int result = describe_new(sender, expander->cache);
    if (result < 0)
        return result;
    void *to = begin(sender, &head, count * sizeof *entries);
    if (!to)
        return BT_CLOSED;
    memcpy(to, entries, count * sizeof *entries);
    message_ring_put(sender->ring);
    return 0;
}
