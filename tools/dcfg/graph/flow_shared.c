/* Finds instructions that share bytes, and makes each a block of its own. */
#include "tools/dcfg/graph/flow_internal.h"

#include <stdlib.h>

/* Bytes that instructions `first` to `last` occupy. */
struct stretch {
    uint64_t end;
    uint32_t begin;
    uint32_t first, last;
};

static int by_begin(const void *left, const void *right)
{
    const struct stretch *a = left;
    const struct stretch *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static void put_alone(struct flow *flow, uint32_t i)
{
    struct instruction *instruction = &flow->instructions[i];
    instruction->tag |= TAG_CUT | TAG_ALONE;
    if (instruction->tag & TAG_RUN)
        instruction[-1].tag |= TAG_CUT;
}

/* Lists the instructions of runs, each as a stretch; returns their number. */
static uint32_t list_instructions(const struct flow *flow, const struct stretch *runs,
                                  uint32_t count, struct stretch *rows)
{
    uint32_t used = 0;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = runs[r].first; i <= runs[r].last; i++, used++) {
            const struct instruction *instruction = &flow->instructions[i];
            if (rows)
                rows[used] = (struct stretch){.begin = instruction->address,
                                              .end = (uint64_t)instruction->address +
                                                     (instruction->tag & 0xffu),
                                              .first = i,
                                              .last = i};
        }
    return used;
}

/* Runs that share bytes with each other. */
static int part_runs(struct flow *flow, const struct stretch *runs, uint32_t count)
{
    uint32_t used = list_instructions(flow, runs, count, NULL);
    struct stretch *rows = flow_resize(flow, NULL, 0, used, sizeof *rows);
    if (!rows)
        return flow->broken.code;
    list_instructions(flow, runs, count, rows);
    qsort(rows, used, sizeof *rows, by_begin);
    const struct stretch *far = rows; /* ends last so far */
    for (uint32_t i = 1; i < used; i++) {
        if (far->end > rows[i].begin && rows[i].end > rows[i].begin) { /* else no size is known */
            put_alone(flow, far->first);
            put_alone(flow, rows[i].first);
        }
        if (rows[i].end > far->end)
            far = &rows[i];
    }
    flow->memory -= (uint64_t)used * sizeof *rows;
    free(rows);
    return 0;
}

static uint32_t list_runs(const struct flow *flow, struct stretch *runs)
{
    uint32_t count = 0;
    for (uint32_t i = FIRST_INSTRUCTION; i < flow->instruction_count; i++) {
        const struct instruction *instruction = &flow->instructions[i];
        if (!(instruction->tag & TAG_USED))
            continue;
        count += !(instruction->tag & TAG_RUN);
        if (!runs)
            continue;
        struct stretch *run = &runs[count - 1];
        if (!(instruction->tag & TAG_RUN))
            *run = (struct stretch){.begin = instruction->address, .first = i};
        run->last = i;
        run->end = (uint64_t)instruction->address + (instruction->tag & 0xffu);
    }
    return count;
}

int flow_part_shared(struct flow *flow, struct bt_error *error)
{
    uint32_t count = flow->broken.code == 0 ? list_runs(flow, NULL) : 0;
    struct stretch *runs = count > 0 ? flow_resize(flow, NULL, 0, count, sizeof *runs) : NULL;
    if (runs) {
        list_runs(flow, runs);
        qsort(runs, count, sizeof *runs, by_begin);
        for (uint32_t first = 0, past; first < count && flow->broken.code == 0; first = past) {
            uint64_t end = runs[first].end;
            for (past = first + 1; past < count && runs[past].begin < end; past++)
                if (runs[past].end > end)
                    end = runs[past].end;
            if (past - first > 1)
                part_runs(flow, runs + first, past - first);
        }
        flow->memory -= (uint64_t)count * sizeof *runs;
        free(runs);
    }
    if (flow->broken.code != 0 && error)
        *error = flow->broken;
    return flow->broken.code;
}
