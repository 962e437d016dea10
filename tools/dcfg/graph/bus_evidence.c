#include "tools/dcfg/graph/bus_evidence.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#include <stdlib.h>

#define RECENT 1024u /* a power of two */

struct place {
    uint64_t fetches; /* of the chunk that begins at the address */
    uint64_t assumed, unexplained;
    uint32_t address;
};

struct bus_evidence {
    uint32_t chunk;
    unsigned shift; /* its logarithm */
    struct place *places;
    uint32_t count;
    size_t capacity;
    struct hash_index index;
    uint32_t recent[RECENT]; /* places of chunks that were found last, by address */
};

struct bus_evidence *bus_evidence_new(uint32_t chunk, struct bt_error *error)
{
    struct bus_evidence *evidence = calloc(1, sizeof *evidence);
    if (!evidence)
        bt_fail(error, BT_MEMORY, "no memory for the fetches of a bus");
    else
        *evidence = (struct bus_evidence){.chunk = chunk, .shift = __builtin_ctz(chunk)};
    return evidence;
}

void bus_evidence_free(struct bus_evidence *evidence)
{
    if (!evidence)
        return;
    hash_index_clear(&evidence->index);
    free(evidence->places);
    free(evidence);
}

static const struct place *find(const struct bus_evidence *evidence, uint32_t address)
{
    struct hash_search search = hash_search(&evidence->index, hash_number(address));
    while (hash_search_next(&search))
        if (evidence->places[search.number].address == address)
            return &evidence->places[search.number];
    return NULL;
}

/* The place at an address, added if need be; NULL without memory. */
static struct place *place_at(struct bus_evidence *evidence, uint32_t address,
                              struct bt_error *error)
{
    uint32_t *recent = &evidence->recent[address >> evidence->shift & (RECENT - 1)];
    if (*recent < evidence->count && evidence->places[*recent].address == address)
        return &evidence->places[*recent];
    const struct place *found = find(evidence, address);
    if (found) {
        *recent = (uint32_t)(found - evidence->places);
        return &evidence->places[*recent];
    }
    struct place *grown = grow_array(evidence->places, &evidence->capacity,
                                     (size_t)evidence->count + 1, sizeof *grown);
    if (grown)
        evidence->places = grown;
    if (!grown || hash_index_add(&evidence->index, hash_number(address), evidence->count) < 0) {
        bt_fail(error, BT_MEMORY, "no memory for the fetches of a bus");
        return NULL;
    }
    evidence->places[evidence->count] = (struct place){.address = address};
    return &evidence->places[evidence->count++];
}

int bus_evidence_fetch(struct bus_evidence *evidence, uint32_t address, struct bt_error *error)
{
    if (!evidence)
        return 0;
    struct place *place = place_at(evidence, address & ~(evidence->chunk - 1), error);
    if (place)
        place->fetches++;
    return place ? 0 : BT_MEMORY;
}

int bus_evidence_assumed(struct bus_evidence *evidence, uint32_t address, struct bt_error *error)
{
    if (!evidence)
        return 0;
    struct place *place = place_at(evidence, address, error);
    if (place)
        place->assumed++;
    return place ? 0 : BT_MEMORY;
}

int bus_evidence_unexplained(struct bus_evidence *evidence, uint32_t address,
                             struct bt_error *error)
{
    if (!evidence)
        return 0;
    struct place *place = place_at(evidence, address, error);
    if (place)
        place->unexplained++;
    return place ? 0 : BT_MEMORY;
}

/* --- the graph's blocks --- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The row of a block. */
static struct dcfg_bus_block examine(const struct bus_evidence *evidence,
                                     const struct dcfg_process *process, uint32_t number)
{
    const struct dcfg_block *block = &process->blocks[number];
    uint64_t address = dcfg_block_address(process, number);
    uint64_t chunk_of_first = address & ~(uint64_t)(evidence->chunk - 1);
    struct dcfg_bus_block row = {.id = block->id};
    uint64_t doubtful = 0;
    for (uint64_t at = address; at - address < block->size; at++) {
        const struct place *place = find(evidence, (uint32_t)at);
        if (!place)
            continue;
        if (place->unexplained > row.unexplained)
            row.unexplained = place->unexplained;
        if (place->assumed + place->unexplained > doubtful)
            doubtful = place->assumed + place->unexplained;
    }
    for (uint64_t at = chunk_of_first; at < address + block->size; at += evidence->chunk) {
        const struct place *place = find(evidence, (uint32_t)at);
        row.fetches += place ? place->fetches : 0;
    }
    row.unexplained = least(row.unexplained, block->count);
    row.certain = block->count - least(doubtful, block->count);
    return row;
}

int bus_evidence_add_to(const struct bus_evidence *evidence, struct dcfg *graph,
                        struct bt_error *error)
{
    const struct dcfg_process *process = graph->processes[0];
    int result = 0;
    for (uint32_t i = 0; i < process->block_count && result == 0; i++) {
        const struct dcfg_bus_block row = examine(evidence, process, i);
        result = dcfg_add_bus_block(graph, &row, error);
    }
    return result;
}
