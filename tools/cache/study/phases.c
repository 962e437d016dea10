#include "tools/cache/study/phases.h"

struct phases phases_begin(const struct extent *warm, const struct extent *interval)
{
    return (struct phases){
        .warm = *warm, .interval = *interval, .warming = warm->unit != EXTENT_NONE};
}

int phases_clock(struct phases *phases, uint64_t clock_hz, struct bt_error *error)
{
    const int result = extent_in_ticks(&phases->warm, clock_hz, error);
    return result < 0 ? result : extent_in_ticks(&phases->interval, clock_hz, error);
}

size_t phases_take(struct phases *phases, const struct batch *batch, size_t at, uint64_t *tick)
{
    const struct extent *extent = phases->warming ? &phases->warm : &phases->interval;
    const size_t left = batch->count - at;
    size_t count = 0;
    uint64_t now = *tick;
    if (left > 0 && !phases->begun) {
        phases->begun = true;
        phases->first_tick = now;
    }
    if (extent->unit == EXTENT_NONE) {
        count = left;
        now = batch->last_tick;
    } else if (extent->unit == EXTENT_REQUESTS && left <= extent->length - phases->records) {
        count = left;
        now = batch->last_tick;
    } else {
        while (count < left &&
               (extent->unit == EXTENT_REQUESTS ? phases->records + count < extent->length
                                                : now - phases->first_tick < extent->length)) {
            phases->last_tick = now;
            count++;
            if (count < left)
                now += batch->records[at + count].time;
        }
    }
    if (count == left && count > 0)
        phases->last_tick = batch->last_tick;
    phases->records += count;
    *tick = now;
    return count;
}

void phases_next(struct phases *phases, uint64_t tick)
{
    if (phases->warming)
        phases->warm_records = phases->records;
    phases->first_record += phases->records;
    phases->records = 0;
    if (phases->warming || phases->interval.unit != EXTENT_TICKS)
        phases->first_tick = tick;
    else /* intervals without records are left out */
        phases->first_tick +=
            (tick - phases->first_tick) / phases->interval.length * phases->interval.length;
    phases->warming = false;
}

int phases_divide(struct phases *phases, const struct batch *batch,
                  const struct phase_operations *operations, void *context, struct bt_error *error)
{
    uint64_t tick = batch->first_tick;
    for (size_t done = 0; done < batch->count;) {
        const size_t some = phases_take(phases, batch, done, &tick);
        int result = operations->put(context, batch->records + done, some, error);
        done += some;
        if (result == 0 && done < batch->count)
            result = operations->end(context, error);
        if (result < 0)
            return result;
        if (done < batch->count)
            phases_next(phases, tick);
    }
    return 0;
}
