/* Checks the member BUSTAP_BUS, which bustap adds to graphs of buses: formats/dcfg/dcfg_bus.h. */
#include "tools/dcfg/graph/bus_model.h"
#include "tools/dcfg/graph/check_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void fail_at(struct check *check, enum check_rule rule, const char *place,
                    const char *message)
{
    char path[DCFG_PATH_BYTES];
    snprintf(path, sizeof path, DCFG_BUS_TAG ".%s", place);
    const struct check_location location = {.kind = CHECK_AT_PATH, .text = path};
    check_fail(check, rule, &location, "%s", message);
}

static void fail_row(struct check *check, enum check_rule rule, uint32_t row, const char *message)
{
    char place[32];
    snprintf(place, sizeof place, "BLOCKS[%" PRIu32 "]", row + 1);
    fail_at(check, rule, place, message);
}

/* --- the model and the fetches ---------------------------------------------------------------- */

static void check_model(struct check *check, const struct dcfg_bus *bus)
{
    struct bus_model model;
    struct bt_error error;
    if (bus_model_parse(&model, bus->model, &error) < 0)
        fail_at(check, CHECK_BUS_MODEL, "MODEL", error.message);
    else if (model.chunk == 0)
        fail_at(check, CHECK_BUS_MODEL, "MODEL", "the size of a chunk is missing");
}

/* Whether a part is more than the whole. */
static void check_share(struct check *check, const char *place, uint64_t part,
                        const char *whole_name, uint64_t whole)
{
    char message[96];
    if (part <= whole)
        return;
    snprintf(message, sizeof message, "%" PRIu64 " is above %s, %" PRIu64, part, whole_name, whole);
    fail_at(check, CHECK_BUS_FETCHES, place, message);
}

static void check_fetches(struct check *check, const struct dcfg *graph)
{
    const uint64_t *counts = graph->bus->counts;
    const uint64_t all = counts[DCFG_BUS_FETCHES];
    const char *name = dcfg_bus_count_name(DCFG_BUS_FETCHES);
    char place[32];
    for (enum dcfg_bus_count i = DCFG_BUS_FETCHES; i < DCFG_BUS_COUNTS; i++)
        check_share(check, dcfg_bus_count_name(i), counts[i], name, all);
    check_share(check, dcfg_bus_count_name(DCFG_BUS_SAMPLE_UNEXPLAINED),
                counts[DCFG_BUS_SAMPLE_UNEXPLAINED], dcfg_bus_count_name(DCFG_BUS_SAMPLE),
                counts[DCFG_BUS_SAMPLE]);
    if (counts[DCFG_BUS_OUTSIDE] <= all)
        check_share(check, dcfg_bus_count_name(DCFG_BUS_UNEXPLAINED), counts[DCFG_BUS_UNEXPLAINED],
                    "FETCHES less IN_NO_IMAGE", all - counts[DCFG_BUS_OUTSIDE]);
    for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++) {
        snprintf(place, sizeof place, "NOISE_BITS[%u]", bit);
        check_share(check, place, graph->bus->noise_bits[bit], dcfg_bus_count_name(DCFG_BUS_NOISE),
                    counts[DCFG_BUS_NOISE]);
    }
    for (uint32_t row = 0; row < graph->bus->block_count; row++) {
        snprintf(place, sizeof place, "BLOCKS[%" PRIu32 "]", row + 1);
        check_share(check, place, graph->bus->blocks[row].fetches, name, all);
    }
    if (graph->bus->chunks && graph->process_count > 0 &&
        graph->processes[0]->instructions != DCFG_COUNT_UNKNOWN) /* each visit needs a fetch */
        check_share(check, "UNIT", graph->processes[0]->instructions, name, all);
}

/* --- the blocks ------------------------------------------------------------------------------- */

static void check_row(struct check *check, const struct dcfg_process *process, uint32_t row,
                      const uint64_t *counts, bool *seen)
{
    const struct dcfg_bus_block *given = &process->graph->bus->blocks[row];
    char message[160];
    uint32_t b = dcfg_find_block(process, given->id);
    if (b == DCFG_NONE) {
        snprintf(message, sizeof message, "%" PRIu32 " is not a block of the first process",
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

static void check_missing(struct check *check, const struct dcfg_process *process, const bool *seen)
{
    char message[64];
    for (uint32_t b = 0; b < process->block_count; b++) {
        if (seen[b])
            continue;
        snprintf(message, sizeof message, "block %" PRIu32 " has no row", process->blocks[b].id);
        fail_at(check, CHECK_BUS_BLOCKS, "BLOCKS", message);
    }
}

static int check_blocks(struct check *check, const struct dcfg *graph, struct bt_error *error)
{
    if (graph->process_count == 0) {
        if (graph->bus->block_count > 0)
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
        check_missing(check, process, seen);
    } else {
        result =
            bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " blocks", process->block_count);
    }
    free(counts);
    free(seen);
    return result;
}

int check_bus(struct check *check, const struct dcfg *graph, struct bt_error *error)
{
    if (!graph->bus)
        return 0;
    check_model(check, graph->bus);
    check_fetches(check, graph);
    return check_blocks(check, graph, error);
}
