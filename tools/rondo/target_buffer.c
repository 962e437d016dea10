#include "tools/rondo/target_buffer.h"

#include <stdlib.h>

bool target_buffer_make(struct target_buffer *buffer, uint32_t entries, uint32_t ways)
{
    *buffer = (struct target_buffer){.ways = ways};
    if (entries == 0)
        return true;
    buffer->set_mask = entries / ways - 1;
    buffer->entries = calloc(entries, sizeof *buffer->entries);
    return buffer->entries != NULL;
}

void target_buffer_clear(struct target_buffer *buffer)
{
    free(buffer->entries);
}

static struct target_buffer_entry *set_of(const struct target_buffer *buffer, uint64_t address)
{
    return &buffer->entries[(address & buffer->set_mask) * buffer->ways];
}

uint64_t target_buffer_find(const struct target_buffer *buffer, uint64_t address)
{
    if (!buffer->entries)
        return 0;
    const struct target_buffer_entry *set = set_of(buffer, address);
    for (uint32_t way = 0; way < buffer->ways; way++)
        if (set[way].used != 0 && set[way].address == address)
            return set[way].target;
    return 0;
}

uint64_t target_buffer_put(struct target_buffer *buffer, uint64_t address, uint64_t target)
{
    if (!buffer->entries)
        return 0;
    struct target_buffer_entry *set = set_of(buffer, address);
    struct target_buffer_entry *oldest = set;
    uint64_t found = 0;
    for (uint32_t way = 0; way < buffer->ways; way++) {
        if (set[way].used != 0 && set[way].address == address) {
            oldest = &set[way];
            found = oldest->target;
            break;
        }
        if (set[way].used < oldest->used)
            oldest = &set[way];
    }
    *oldest =
        (struct target_buffer_entry){.address = address, .target = target, .used = ++buffer->now};
    return found;
}
