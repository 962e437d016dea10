#define _GNU_SOURCE /* syscall */
#include "capture/program/record_ring.h"

#include "formats/base/clock.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In records; a power of two. The ring fits the L2 cache of a processor: with eight times as many
 * records copying takes twice as long. */
#define CAPACITY     ((size_t)1 << 15)
#define WAKE_RECORDS (CAPACITY / 4) /* wake the consumer for these */
#define MS_NS        INT64_C(1000000)
#define SECOND_NS    INT64_C(1000000000)
#define LINE         64

/* Each side writes to its own cache lines. `put` and `taken` only grow. */
struct record_ring {
    struct alive taker;
    _Alignas(LINE) _Atomic uint64_t put;
    _Atomic uint32_t put_events; /* futex of the consumer */
    _Atomic uint32_t ended;
    _Atomic uint64_t filtered;
    _Atomic uint32_t has_parts;
    _Atomic uint32_t has_events;
    _Alignas(LINE) _Atomic uint64_t taken;
    _Atomic uint32_t taken_events; /* futex of the producer */
    _Atomic uint32_t closed;
    _Alignas(LINE) _Atomic uint32_t taker_waits; /* number of records that it waits for */
    _Atomic uint32_t putter_waits;
    _Alignas(LINE) struct record records[CAPACITY];
};

struct record_ring *record_ring_at(void *memory, const struct alive *taker)
{
    struct record_ring *ring = memory;
    atomic_store(&ring->put, 0);
    atomic_store(&ring->taken, 0);
    atomic_store(&ring->ended, 0);
    atomic_store(&ring->filtered, 0);
    atomic_store(&ring->has_parts, 0);
    atomic_store(&ring->has_events, 0);
    atomic_store(&ring->closed, 0);
    ring->taker = *taker;
    return ring;
}

size_t record_ring_bytes(void)
{
    return sizeof(struct record_ring);
}

/* Waits until *events differs from seen, at most for the given time. */
static void wait_for(_Atomic uint32_t *events, uint32_t seen, int64_t nanoseconds)
{
    const struct timespec time = {.tv_sec = nanoseconds / SECOND_NS,
                                  .tv_nsec = nanoseconds % SECOND_NS};
    syscall(SYS_futex, events, FUTEX_WAIT, seen, &time, NULL, 0);
}

static void notify(_Atomic uint32_t *events)
{
    atomic_fetch_add(events, 1);
    syscall(SYS_futex, events, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- producer --------------------------------------------------------------------------------- */

static size_t room_for_more(struct record_ring *ring)
{
    return CAPACITY - (size_t)(atomic_load(&ring->put) - atomic_load(&ring->taken));
}

/* False: the consumer is gone. The check for that opens a descriptor, which the program might
 * notice; so it is made once a second only, however many signals end the wait. */
static bool wait_for_room(struct record_ring *ring, record_ring_taken_function *taken,
                          const void *context)
{
    int64_t ask_at = 0;
    while (room_for_more(ring) == 0 && !atomic_load(&ring->closed)) {
        uint32_t seen = atomic_load(&ring->taken_events);
        int64_t now = clock_monotonic_ns();
        if (ask_at == 0)
            ask_at = now + SECOND_NS;
        if (now >= ask_at) {
            if (taken ? !taken(context) : !alive_still(&ring->taker))
                return false;
            ask_at = now + SECOND_NS;
        }
        atomic_store(&ring->putter_waits, 1);
        if (room_for_more(ring) == 0 && !atomic_load(&ring->closed))
            wait_for(&ring->taken_events, seen, ask_at - now);
        atomic_store(&ring->putter_waits, 0);
    }
    return !atomic_load(&ring->closed);
}

int record_ring_put(struct record_ring *ring, const struct record *records, size_t count,
                    record_ring_taken_function *taken, const void *context)
{
    while (count > 0) {
        if (!wait_for_room(ring, taken, context))
            return BT_CLOSED;
        uint64_t put = atomic_load_explicit(&ring->put, memory_order_relaxed);
        size_t at = (size_t)(put % CAPACITY);
        size_t part = smaller(smaller(count, room_for_more(ring)), CAPACITY - at);
        memcpy(ring->records + at, records, part * sizeof *records);
        atomic_store(&ring->put, put + part);
        records += part;
        count -= part;
        uint32_t wished = atomic_load(&ring->taker_waits);
        if (wished > 0 && put + part - atomic_load(&ring->taken) >= wished)
            notify(&ring->put_events);
    }
    return 0;
}

void record_ring_begin_part(struct record_ring *ring, struct record *first)
{
    first->attribute |= ATTRIBUTE_PART;
    atomic_store(&ring->has_parts, 1);
}

void record_ring_set_event(struct record_ring *ring, struct record *fetch, enum record_event event)
{
    fetch->attribute = (uint8_t)((fetch->attribute & ~ATTRIBUTE_EVENT) | event);
    atomic_store(&ring->has_events, 1);
}

void record_ring_add_filtered(struct record_ring *ring, uint64_t count)
{
    atomic_fetch_add(&ring->filtered, count);
}

void record_ring_end(struct record_ring *ring)
{
    atomic_store(&ring->ended, 1);
    notify(&ring->put_events);
}

bool record_ring_has_ended(const struct record_ring *ring)
{
    return atomic_load(&ring->ended);
}

/* --- consumer --------------------------------------------------------------------------------- */

static size_t there_are(struct record_ring *ring)
{
    return (size_t)(atomic_load(&ring->put) - atomic_load(&ring->taken));
}

static bool has_ended(struct record_ring *ring)
{
    return atomic_load(&ring->ended) || atomic_load(&ring->closed);
}

/* Waits for this many records, for the end, or for the timeout. */
static void wait_for_records(struct record_ring *ring, size_t wished, int timeout_ms)
{
    int64_t until = clock_monotonic_ns() + timeout_ms * MS_NS;
    for (;;) {
        uint32_t seen = atomic_load(&ring->put_events);
        int64_t left = timeout_ms < 0 ? SECOND_NS : until - clock_monotonic_ns();
        atomic_store(&ring->taker_waits, (uint32_t)wished);
        if (there_are(ring) >= wished || has_ended(ring) || left <= 0)
            break;
        wait_for(&ring->put_events, seen, left);
    }
    atomic_store(&ring->taker_waits, 0);
}

bool record_ring_take(struct record_ring *ring, struct record *records, size_t capacity,
                      int timeout_ms, size_t *count)
{
    size_t wished = timeout_ms < 0 ? 1 : smaller(capacity, WAKE_RECORDS);
    wait_for_records(ring, wished, timeout_ms);
    bool ended = has_ended(ring); /* read before the number of records */
    size_t there = smaller(there_are(ring), capacity);
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    size_t at = (size_t)(taken % CAPACITY);
    size_t straight = smaller(there, CAPACITY - at);
    memcpy(records, ring->records + at, straight * sizeof *records);
    memcpy(records + straight, ring->records, (there - straight) * sizeof *records);
    if (there > 0)
        there = records_until_saturated(records, there);
    atomic_store(&ring->taken, taken + there);
    if (atomic_load(&ring->putter_waits) && room_for_more(ring) >= WAKE_RECORDS)
        notify(&ring->taken_events);
    *count = there;
    return there > 0 || !ended;
}

uint64_t record_ring_filtered(const struct record_ring *ring)
{
    return atomic_load(&ring->filtered);
}

bool record_ring_has_parts(const struct record_ring *ring)
{
    return atomic_load(&ring->has_parts);
}

bool record_ring_has_events(const struct record_ring *ring)
{
    return atomic_load(&ring->has_events);
}

void record_ring_close(struct record_ring *ring)
{
    atomic_store(&ring->closed, 1);
    notify(&ring->taken_events);
    notify(&ring->put_events);
}
