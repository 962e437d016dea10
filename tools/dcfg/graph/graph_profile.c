#include "tools/dcfg/graph/graph_profile.h"

#include "formats/base/saturating.h"

#include <stdlib.h>
#include <string.h>

static void count(struct graph_profile *profile)
{
    const struct dcfg_process *process = profile->process;
    dcfg_count_blocks(process, profile->executions);
    for (uint32_t i = 0; i < process->block_count; i++) {
        const struct dcfg_block *block = &process->blocks[i];
        if (block->count != DCFG_COUNT_UNKNOWN)
            profile->executions[i] = block->count;
        profile->instructions[i] = saturating_multiply(profile->executions[i], block->instructions);
        profile->total = saturating_add(profile->total, profile->instructions[i]);
    }
}

static void find_routines(struct graph_profile *profile)
{
    const struct dcfg_process *process = profile->process;
    memset(profile->routine_of, 0xff, process->block_count * sizeof *profile->routine_of);
    for (uint32_t i = 0; i < process->routine_count; i++) {
        const struct dcfg_range *nodes = &process->routines[i].nodes;
        for (uint32_t n = nodes->first; n < nodes->first + nodes->count; n++)
            profile->routine_of[dcfg_find_block(process, process->nodes[n].id)] = i;
    }
}

/* Takes the rows of the bus's table; those that are at no block are ignored. 0 or BT_MEMORY. */
static int take_bus(struct graph_profile *profile)
{
    const struct dcfg_process *process = profile->process;
    const struct dcfg_bus *bus = process->graph->bus;
    size_t blocks = (size_t)process->block_count + 1;
    if (!bus || process != process->graph->processes[0])
        return 0;
    profile->certain = calloc(blocks, sizeof *profile->certain);
    profile->unexplained = calloc(blocks, sizeof *profile->unexplained);
    profile->fetches = calloc(blocks, sizeof *profile->fetches);
    if (!profile->certain || !profile->unexplained || !profile->fetches)
        return BT_MEMORY;
    for (uint32_t i = 0; i < bus->block_count; i++) {
        uint32_t block = dcfg_find_block(process, bus->blocks[i].id);
        if (block == DCFG_NONE)
            continue;
        profile->certain[block] = bus->blocks[i].certain;
        profile->unexplained[block] = bus->blocks[i].unexplained;
        profile->fetches[block] = bus->blocks[i].fetches;
    }
    return 0;
}

uint64_t graph_profile_certain(const struct graph_profile *profile, uint32_t block)
{
    return profile->certain ? profile->certain[block] : profile->executions[block];
}

enum graph_confidence graph_profile_confidence(const struct graph_profile *profile, uint32_t block)
{
    uint64_t certain = graph_profile_certain(profile, block);
    if (certain >= profile->executions[block])
        return GRAPH_CERTAIN;
    uint64_t doubtful = profile->executions[block] - certain;
    return profile->unexplained[block] > doubtful / 2 ? GRAPH_UNEXPLAINED : GRAPH_ASSUMED;
}

const char *graph_confidence_name(enum graph_confidence confidence)
{
    static const char *const names[] = {"certain", "assumed", "not explained"};
    return names[confidence];
}

int graph_profile_make(struct graph_profile *profile, const struct dcfg_process *process,
                       struct bt_error *error)
{
    size_t blocks = (size_t)process->block_count + 1;
    *profile = (struct graph_profile){.process = process};
    profile->executions = calloc(blocks, sizeof *profile->executions);
    profile->instructions = calloc(blocks, sizeof *profile->instructions);
    profile->routine_of = malloc(blocks * sizeof *profile->routine_of);
    if (!profile->executions || !profile->instructions || !profile->routine_of ||
        take_bus(profile) != 0) {
        graph_profile_clear(profile);
        return bt_fail(error, BT_MEMORY, "no memory for the sums of %u blocks",
                       process->block_count);
    }
    count(profile);
    find_routines(profile);
    return 0;
}

void graph_profile_clear(struct graph_profile *profile)
{
    free(profile->executions);
    free(profile->instructions);
    free(profile->routine_of);
    free(profile->certain);
    free(profile->unexplained);
    free(profile->fetches);
    *profile = (struct graph_profile){0};
}

double graph_profile_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}
