#include "tests/tools/dcfg/graph/flow_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void twin_begin(struct flow_twin *twin)
{
    memset(twin, 0, sizeof *twin);
    twin->instruction_count = 2;
}

static int instruction_of(struct flow_twin *twin, const struct record *record)
{
    for (int i = 2; i < twin->instruction_count; i++)
        if (twin->instructions[i].address == record->address &&
            (twin->instructions[i].size == record->size || twin->instructions[i].size == 0 ||
             record->size == 0)) {
            if (twin->instructions[i].size == 0)
                twin->instructions[i].size = record->size;
            return i;
        }
    if (twin->instruction_count == TWIN_INSTRUCTIONS)
        abort();
    int made = twin->instruction_count++;
    twin->instructions[made].address = record->address;
    twin->instructions[made].size = record->size;
    return made;
}

static void count_pair(struct flow_twin *twin, int source, int target, unsigned processor,
                       bool known)
{
    int p = 0;
    while (p < twin->pair_count &&
           (twin->pairs[p].source != source || twin->pairs[p].target != target))
        p++;
    if (p == TWIN_PAIRS)
        abort();
    if (p == twin->pair_count)
        twin->pair_count++;
    twin->pairs[p].source = source;
    twin->pairs[p].target = target;
    twin->pairs[p].known |= known;
    twin->pairs[p].counts[processor]++;
}

void twin_put(struct flow_twin *twin, const struct batch *batch)
{
    for (unsigned i = 0; i < FLOW_PROCESSORS; i++)
        twin->lost[i] |= batch_has_loss_or_gap(batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        unsigned processor = record->processor;
        if (record->type != REQUEST_FETCH)
            continue;
        int target = instruction_of(twin, record);
        int source = twin->at[processor];
        count_pair(twin, source, target, processor, source == 0 || !twin->lost[processor]);
        twin->at[processor] = target;
        twin->lost[processor] = false;
        twin->fetched[processor]++;
    }
}

void twin_cut(struct flow_twin *twin, bool (*cut)(uint32_t address, uint8_t size))
{
    for (int i = 2; i < twin->instruction_count; i++)
        twin->instructions[i].cut = cut(twin->instructions[i].address, twin->instructions[i].size);
}

static bool sequential(const struct flow_twin *twin, int source, int target)
{
    if (source < 2 || source >= TWIN_INSTRUCTIONS || target < 2 || target >= TWIN_INSTRUCTIONS ||
        twin->instructions[source].size == 0)
        return false;
    return (uint64_t)twin->instructions[source].address + twin->instructions[source].size ==
           twin->instructions[target].address;
}

/* The only successor of instruction i, if i is its only predecessor; else 0. */
static int only_successor(const struct flow_twin *twin, int i)
{
    const struct twin_pair *out = NULL;
    int outs = 0;
    int ins = 0;
    for (int p = 0; p < twin->pair_count; p++)
        if (twin->pairs[p].source == i) {
            out = &twin->pairs[p];
            outs++;
        }
    if (outs != 1 || !out->known || twin->instructions[i].cut || !sequential(twin, i, out->target))
        return 0;
    for (int p = 0; p < twin->pair_count; p++)
        ins += twin->pairs[p].target == out->target;
    return ins == 1 ? out->target : 0;
}

void twin_finish(struct flow_twin *twin)
{
    bool inner[TWIN_INSTRUCTIONS] = {false};
    for (unsigned processor = 0; processor < FLOW_PROCESSORS; processor++)
        if (twin->at[processor] != 0)
            count_pair(twin, twin->at[processor], 1, processor, true);
    memset(twin->starts, 0xff, sizeof twin->starts);
    memset(twin->ends, 0xff, sizeof twin->ends);
    for (int i = 2; i < twin->instruction_count; i++)
        inner[only_successor(twin, i)] = true;
    for (int i = 2; i < twin->instruction_count; i++) {
        if (inner[i])
            continue;
        int last = i;
        struct flow_block block = {.address = twin->instructions[i].address, .instructions = 1};
        for (int next; (next = only_successor(twin, last)) != 0; last = next)
            block.instructions++;
        block.last_offset = twin->instructions[last].address - block.address;
        block.last_size = twin->instructions[last].size;
        block.size = (uint64_t)block.last_offset + block.last_size;
        for (int p = 0; p < twin->pair_count; p++)
            for (unsigned t = 0; t < FLOW_PROCESSORS && twin->pairs[p].target == i; t++)
                block.count += twin->pairs[p].counts[t];
        twin->starts[i] = twin->block_count;
        twin->ends[last] = twin->block_count;
        twin->blocks[twin->block_count++] = block;
    }
}

/* --- comparing --- */

static bool disagree(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "twins disagree: %s: %llx and %llx\n", what, (unsigned long long)a,
            (unsigned long long)b);
    return false;
}

static bool same_block(const struct flow_block *a, const struct flow_block *b)
{
    return a->address == b->address && a->size == b->size && a->count == b->count &&
           a->instructions == b->instructions && a->last_offset == b->last_offset &&
           a->last_size == b->last_size;
}

static enum flow_kind kind_of(const struct flow_twin *twin, const struct twin_pair *pair)
{
    if (pair->source == 0)
        return FLOW_ENTRY;
    if (pair->target == 1)
        return FLOW_EXIT;
    if (!pair->known)
        return FLOW_UNKNOWN;
    return sequential(twin, pair->source, pair->target) ? FLOW_NEXT : FLOW_JUMP;
}

/* Whether an end of an edge equals the twin's: both no block, or equal blocks. Blocks of
 * overlapping code may differ only in their inner boundaries; these are equal. */
static bool same_end(const struct flow_twin *twin, const struct flow_graph *graph, uint32_t index,
                     uint32_t none, int block)
{
    if (index == none || block < 0)
        return index == none && block < 0;
    return same_block(&graph->blocks[index], &twin->blocks[block]);
}

static bool same_edge(const struct flow_twin *twin, const struct flow_graph *graph, size_t e,
                      const struct twin_pair *pair)
{
    const struct flow_edge *edge = &graph->edges[e];
    if (!same_end(twin, graph, edge->source, FLOW_START, twin->ends[pair->source]) ||
        !same_end(twin, graph, edge->target, FLOW_END, twin->starts[pair->target]) ||
        edge->kind != kind_of(twin, pair))
        return false;
    for (size_t t = 0; t < graph->thread_count; t++)
        if (graph->counts[e * graph->thread_count + t] != pair->counts[graph->processors[t]])
            return false;
    return true;
}

static bool edge_agrees(const struct flow_twin *twin, const struct flow_graph *graph, size_t e)
{
    for (int p = 0; p < twin->pair_count; p++)
        if (same_edge(twin, graph, e, &twin->pairs[p]))
            return true;
    return disagree("edge", graph->edges[e].source, graph->edges[e].target);
}

bool twin_agrees(const struct flow_twin *twin, const struct flow_graph *graph)
{
    size_t edges = 0;
    if (graph->block_count != (size_t)twin->block_count)
        return disagree("blocks", graph->block_count, (uint64_t)twin->block_count);
    for (size_t i = 0; i < graph->block_count; i++) {
        bool found = false;
        for (int b = 0; b < twin->block_count; b++)
            found |= same_block(&graph->blocks[i], &twin->blocks[b]);
        if (!found)
            return disagree("block", graph->blocks[i].address, graph->blocks[i].count);
        if (i > 0 && graph->blocks[i].address < graph->blocks[i - 1].address)
            return disagree("order", graph->blocks[i - 1].address, graph->blocks[i].address);
    }
    for (int p = 0; p < twin->pair_count; p++)
        edges += twin->pairs[p].source == 0 || only_successor(twin, twin->pairs[p].source) == 0;
    if (edges != graph->edge_count)
        return disagree("edges", graph->edge_count, edges);
    for (size_t e = 0; e < graph->edge_count; e++)
        if (!edge_agrees(twin, graph, e))
            return false;
    for (size_t t = 0; t < graph->thread_count; t++)
        if (graph->instructions[t] != twin->fetched[graph->processors[t]])
            return disagree("fetches", graph->instructions[t], twin->fetched[graph->processors[t]]);
    return true;
}
