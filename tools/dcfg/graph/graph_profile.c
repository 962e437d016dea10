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

int graph_profile_make(struct graph_profile *profile, const struct dcfg_process *process,
                       struct bt_error *error)
{
    size_t blocks = (size_t)process->block_count + 1;
    *profile = (struct graph_profile){.process = process};
    profile->executions = calloc(blocks, sizeof *profile->executions);
    profile->instructions = calloc(blocks, sizeof *profile->instructions);
    profile->routine_of = malloc(blocks * sizeof *profile->routine_of);
    if (!profile->executions || !profile->instructions || !profile->routine_of) {
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
    *profile = (struct graph_profile){0};
}

double graph_profile_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}
