#include "formats/capture/member_ticks.h"

#include <inttypes.h>

int member_ticks_within(const struct batch *batch, struct bt_error *error)
{
    uint64_t last = batch->first_tick;
    if (batch->count > 0) {
        size_t known = records_until_saturated(batch->records, batch->count);
        if (known < batch->count)
            return bt_fail(error, BT_DATA,
                           "the time of record %zu of the block is 0xffffffff; only that of its "
                           "first record may be",
                           known + 1);
        if (__builtin_add_overflow(last, records_time(batch->records + 1, batch->count - 1), &last))
            return bt_fail(error, BT_DATA,
                           "the ticks of the block, from %" PRIu64 " on, overflow 64 bits",
                           batch->first_tick);
    }
    if (batch->last_tick != last)
        return bt_fail(error, BT_DATA,
                       "the block's last tick is %" PRIu64 "; its records end at tick %" PRIu64,
                       batch->last_tick, last);
    return 0;
}

int member_ticks_follow(const struct member_ticks *before, uint64_t first_tick, bool timed,
                        uint32_t time, struct bt_error *error)
{
    if (!before->known)
        return 0;
    if (first_tick < before->tick)
        return bt_fail(error, BT_DATA,
                       "the block begins at tick %" PRIu64 "; the one before ends at tick %" PRIu64,
                       first_tick, before->tick);
    uint64_t passed = first_tick - before->tick;
    if (before->exact && timed && (passed < time || (passed > time && time != UINT32_MAX)))
        return bt_fail(error, BT_DATA,
                       "the block begins %" PRIu64 " ticks after the one before; its first "
                       "record's time is %" PRIu32,
                       passed, time);
    return 0;
}

void member_ticks_advance(struct member_ticks *ticks, const struct batch *batch)
{
    *ticks =
        (struct member_ticks){.known = true, .exact = batch->count > 0, .tick = batch->last_tick};
}
