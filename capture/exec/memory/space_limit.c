/* Memory limits that count the program's mappings only. */
#include "capture/exec/memory/space_internal.h"

void space_limit(struct space *space, const struct space_limits *limits)
{
    pthread_mutex_lock(&space->mutex);
    space->limits = *limits;
    pthread_mutex_unlock(&space->mutex);
}

static bool is_data(const struct space_mapping *mapping)
{
    return (mapping->protection & PROT_WRITE) &&
           !(mapping->flags & (SPACE_SHARED | SPACE_STACK | SPACE_GROWS));
}

static uint64_t sum(const struct space *space, uint64_t at, uint64_t end, bool data)
{
    uint64_t bytes = 0;
    struct space_mapping piece;
    while (space_table_next(&space->table, &at, end, &piece)) {
        uint64_t size = piece.end - piece.start;
        if ((piece.flags & SPACE_STACK) && size > SPACE_STACK_USED)
            size = SPACE_STACK_USED;
        if (!(piece.flags & SPACE_FOREIGN) && (!data || is_data(&piece)))
            bytes += size;
    }
    return bytes;
}

uint64_t space_bytes(const struct space *space, uint64_t start, uint64_t end)
{
    return sum(space, start, end, false);
}

bool space_may_have_data(const struct space *space, const struct space_mapping *mapping,
                         uint64_t bytes)
{
    return space->limits.data == UINT64_MAX || !is_data(mapping) ||
           sum(space, 0, SPACE_END, true) + bytes <= space->limits.data;
}

bool space_may_grow(const struct space *space, const struct space_mapping *mapping, uint64_t bytes)
{
    return (space->limits.all == UINT64_MAX ||
            sum(space, 0, SPACE_END, false) + bytes <= space->limits.all) &&
           space_may_have_data(space, mapping, bytes);
}
