#include "tests/support/plain_mesi.h"

#include "formats/record/reference.h"

#include <stdlib.h>

enum state { INVALID, SHARED, EXCLUSIVE, MODIFIED };

struct line {
    uint32_t number;
    enum state state;
    uint64_t used;
};

/* Two caches of each processor, instructions first, then the second level. */
struct plain {
    struct line first[2 * PLAIN_MESI_PROCESSORS][128][4];
    struct line second[4096][8];
    uint64_t clock;
    struct plain_mesi_counts counts;
};

static struct line *find(struct line *set, unsigned ways, uint32_t number)
{
    for (unsigned way = 0; way < ways; way++)
        if (set[way].state != INVALID && set[way].number == number)
            return &set[way];
    return NULL;
}

/* An empty line, or the least recently used one. */
static struct line *victim(struct line *set, unsigned ways)
{
    struct line *oldest = &set[0];
    for (unsigned way = 0; way < ways; way++) {
        if (set[way].state == INVALID)
            return &set[way];
        if (set[way].used < oldest->used)
            oldest = &set[way];
    }
    return oldest;
}

static void second(struct plain *plain, uint32_t number)
{
    struct line *set = plain->second[number % 4096];
    struct line *line = find(set, 8, number);
    if (!line) {
        plain->counts.second_misses++;
        line = victim(set, 8);
        line->number = number;
        line->state = SHARED;
    }
    line->used = plain->clock++;
}

static void write_back(struct plain *plain, uint32_t number)
{
    plain->counts.write_backs++;
    second(plain, number);
}

/* Takes a line from the caches of other processors. Returns whether one supplies it. */
static bool snoop(struct plain *plain, unsigned cache, uint32_t number, bool write, bool *others)
{
    bool supplied = false;
    for (unsigned i = 0; i < 2 * PLAIN_MESI_PROCESSORS; i++) {
        struct line *line = i == cache ? NULL : find(plain->first[i][number % 128], 4, number);
        if (!line)
            continue;
        const bool foreign = i / 2 != cache / 2;
        const enum state state = line->state;
        if (write)
            line->state = INVALID;
        else if (foreign)
            line->state = SHARED;
        else if (state == MODIFIED)
            line->state = EXCLUSIVE;
        plain->counts.invalidations += write && foreign;
        *others |= foreign;
        supplied |= foreign && state == MODIFIED;
        if (!write && state == MODIFIED)
            write_back(plain, number);
    }
    plain->counts.interventions += supplied;
    return supplied;
}

/* A reference within one line, which owns the line if it is a write or MEMREADINV. */
static void refer(struct plain *plain, unsigned cache, uint32_t number, bool owns, bool whole)
{
    struct line *set = plain->first[cache][number % 128];
    struct line *line = find(set, 4, number);
    bool others = false;
    if (line) {
        if (owns && line->state != MODIFIED) {
            plain->counts.upgrades += line->state == SHARED;
            snoop(plain, cache, number, true, &others);
            line->state = MODIFIED;
        }
        line->used = plain->clock++;
        return;
    }
    plain->counts.first_misses++;
    line = victim(set, 4);
    const struct line old = *line;
    *line = (struct line){number, MODIFIED, plain->clock++};
    bool supplied = snoop(plain, cache, number, owns, &others);
    if (!owns)
        line->state = others ? SHARED : EXCLUSIVE;
    plain->counts.interventions -= supplied && whole;
    if (!whole && !supplied)
        second(plain, number);
    if (old.state == MODIFIED)
        write_back(plain, old.number);
}

int plain_mesi(const struct record *records, size_t count, struct plain_mesi_counts *counts)
{
    struct plain *plain = calloc(1, sizeof *plain);
    if (!plain)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        const enum reference_kind kind = reference_kind_of(record->type);
        if (kind == REFERENCE_NONE)
            continue;
        const unsigned cache = 2u * record->processor + (kind != REFERENCE_FETCH);
        const bool owns = kind == REFERENCE_WRITE || record->type == REQUEST_MEMREADINV;
        uint32_t left = reference_bytes(record);
        for (uint32_t address = record->address; left > 0;) {
            const uint32_t room = 32 - address % 32;
            const uint32_t bytes = left < room ? left : room;
            refer(plain, cache, address / 32, owns, kind == REFERENCE_WRITE && bytes == 32);
            address += bytes;
            left -= bytes;
        }
    }
    *counts = plain->counts;
    free(plain);
    return 0;
}
