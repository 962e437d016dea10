/* A victim buffer: the lines that a cache evicted last, oldest first. */
#include "tools/cache/model/hierarchy_internal.h"

#include <stdlib.h>
#include <string.h>

struct victim_buffer {
    uint32_t capacity;
    uint32_t count;
    struct cache_line lines[];
};

struct victim_buffer *victim_new(uint32_t lines)
{
    struct victim_buffer *victim =
        calloc(1, sizeof *victim + (size_t)lines * sizeof *victim->lines);
    if (victim)
        victim->capacity = lines;
    return victim;
}

void victim_free(struct victim_buffer *victim)
{
    free(victim);
}

static void take_out(struct victim_buffer *victim, uint32_t n)
{
    victim->count--;
    memmove(victim->lines + n, victim->lines + n + 1, (victim->count - n) * sizeof *victim->lines);
}

bool victim_take(struct victim_buffer *victim, uint32_t address, struct cache_line *line)
{
    for (uint32_t n = 0; n < victim->count; n++) {
        if (victim->lines[n].address != address)
            continue;
        *line = victim->lines[n];
        take_out(victim, n);
        return true;
    }
    return false;
}

void victim_put(struct victim_buffer *victim, const struct cache_line *line,
                struct cache_line *dropped)
{
    dropped->valid = 0;
    if (victim->count == victim->capacity) {
        *dropped = victim->lines[0];
        take_out(victim, 0);
    }
    victim->lines[victim->count++] = *line;
}

struct cache_line *victim_line(struct victim_buffer *victim, uint32_t n)
{
    return n < victim->count ? &victim->lines[n] : NULL;
}
