/* Checks the member BUSTAP_BUS, which bustap adds to graphs of buses: formats/dcfg/dcfg_bus.h. */
#include "tools/dcfg/graph/check_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void fail_row(struct check *check, enum check_rule rule, uint32_t row, const char *message)
{
    char path[DCFG_PATH_BYTES];
    snprintf(path, sizeof path, DCFG_BUS_TAG ".BLOCKS[%" PRIu32 "]", row + 1);
    const struct check_location location = {.kind = CHECK_AT_PATH, .text = path};
    check_fail(check, rule, &location, "%s", message);
}

static void check_row(struct check *check, const struct dcfg_process *process, uint32_t row,
                      const uint64_t *counts, bool *seen)
{
    const struct dcfg_bus_block *given = &process->graph->bus->blocks[row];
    char message[160];
    uint32_t b = dcfg_find_block(process, given->id);
    if (b == DCFG_NONE) {
        snprintf(message, sizeof message, "%" PRIu32 " is no block of the first process",
                 given->id);
        fail_row(check, CHECK_BUS_BLOCKS, row, message);
        return;
    }
    if (seen[b]) {
        snprintf(message, sizeof message, "block %" PRIu32 " occurs twice", given->id);
        fail_row(check, CHECK_BUS_BLOCKS, row, message);
    }
    seen[b] = true;
    if (given->certain > counts[b] || given->unexplained > counts[b] - given->certain) {
        snprintf(message, sizeof message,
                 "block %" PRIu32 " has %" PRIu64 " certain and %" PRIu64
                 " unexplained executions, and its count is %" PRIu64,
                 given->id, given->certain, given->unexplained, counts[b]);
        fail_row(check, CHECK_BUS_COUNTS, row, message);
    }
}

int check_bus(struct check *check, const struct dcfg *graph, struct bt_error *error)
{
    if (!graph->bus || (graph->process_count == 0 && graph->bus->block_count == 0))
        return 0;
    if (graph->process_count == 0) {
        fail_row(check, CHECK_BUS_BLOCKS, 0, "the graph has no process");
        return 0;
    }
    const struct dcfg_process *process = graph->processes[0];
    uint64_t *counts = malloc(((size_t)process->block_count + 1) * sizeof *counts);
    bool *seen = calloc((size_t)process->block_count + 1, sizeof *seen);
    int result = 0;
    if (counts && seen) {
        dcfg_count_blocks(process, counts);
        for (uint32_t row = 0; row < graph->bus->block_count; row++)
            check_row(check, process, row, counts, seen);
    } else {
        result =
            bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " blocks", process->block_count);
    }
    free(counts);
    free(seen);
    return result;
}
