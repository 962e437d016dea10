#include "formats/batch.h"

#include "formats/base/saturating.h"

#include <string.h>

const char *loss_stage_name(enum loss_stage stage)
{
    static const char *const names[LOSS_STAGES] = {"bus", "link", "queue", "disk"};
    return names[stage];
}

uint64_t loss_total(const struct loss *loss)
{
    uint64_t total = 0;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        total = saturating_add(total, loss->count[stage]);
    return total;
}

void loss_add(struct loss *loss, const struct loss *more)
{
    uint64_t before = loss_total(loss);
    if (loss_total(more) == 0)
        return;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        loss->count[stage] = saturating_add(loss->count[stage], more->count[stage]);
    if (before == 0 || more->first_tick < loss->first_tick)
        loss->first_tick = more->first_tick;
    if (before == 0 || more->last_tick > loss->last_tick)
        loss->last_tick = more->last_tick;
}

void batch_clear(struct batch *batch)
{
    struct record *records = batch->records;
    size_t capacity = batch->capacity;
    memset(batch, 0, sizeof *batch);
    batch->records = records;
    batch->capacity = capacity;
}
