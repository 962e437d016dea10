#define _GNU_SOURCE /* syscall */
#include "capture/program/message_ring.h"

#include "formats/base/clock.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In bytes; a power of two. A few trace buffers: ring and buffer stay in the second-level cache. */
#define CAPACITY   ((size_t)1 << 20)
#define WAKE_BYTES (CAPACITY / 4) /* wake the other side for these */
#define MS_NS      INT64_C(1000000)
#define SECOND_NS  INT64_C(1000000000)
#define LINE       64

/* Before each message. A message does not wrap around: what is left at the end is skipped. */
struct head {
    _Alignas(LINE) uint32_t bytes; /* message size */
    uint32_t room;                 /* bytes up to the next head */
    uint32_t skipped;              /* 1: there is no message */
};
_Static_assert(sizeof(struct head) == LINE, "messages are aligned");
_Static_assert(2 * (MESSAGE_RING_BYTES_MAX + 2 * LINE) + WAKE_BYTES <= CAPACITY + LINE * 4,
               "a message that does not fit at the end has room, also while the taker waits");

/* Each side writes to its own cache lines. `put` and `taken` only grow. */
struct message_ring {
    struct alive taker;
    _Alignas(LINE) _Atomic uint64_t put;
    _Atomic uint32_t put_events; /* futex of the consumer */
    _Atomic uint32_t ended;
    _Atomic uint64_t filtered;
    _Atomic uint32_t settles; /* the producer waits for an empty ring */
    uint64_t reserved;        /* end of the reserved message */
    _Alignas(LINE) _Atomic uint64_t taken;
    _Atomic uint32_t taken_events; /* futex of the producer */
    _Atomic uint32_t closed;
    _Atomic uint64_t counted;
    _Alignas(LINE) _Atomic uint32_t taker_waits; /* number of bytes that it waits for */
    _Atomic uint32_t putter_waits;
    _Alignas(LINE) uint8_t bytes[CAPACITY];
    uint8_t beyond[MESSAGE_RING_BEYOND];
};

struct message_ring *message_ring_at(void *memory, const struct alive *taker)
{
    struct message_ring *ring = memory;
    atomic_store(&ring->put, 0);
    atomic_store(&ring->taken, 0);
    atomic_store(&ring->ended, 0);
    atomic_store(&ring->filtered, 0);
    atomic_store(&ring->counted, 0);
    atomic_store(&ring->settles, 0);
    atomic_store(&ring->closed, 0);
    ring->taker = *taker;
    return ring;
}

size_t message_ring_bytes(void)
{
    return sizeof(struct message_ring);
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

static size_t room_for(size_t bytes)
{
    return LINE + (bytes + LINE - 1) / LINE * LINE;
}

static struct head *head_at(struct message_ring *ring, uint64_t position)
{
    return (struct head *)(void *)(ring->bytes + position % CAPACITY);
}

static size_t there_are(struct message_ring *ring)
{
    return (size_t)(atomic_load(&ring->put) - atomic_load(&ring->taken));
}

static size_t free_bytes(struct message_ring *ring)
{
    return CAPACITY - there_are(ring);
}

/* --- producer --------------------------------------------------------------------------------- */

/* Waits until this number of bytes is free. False: the consumer is gone. The check for that opens a
 * descriptor, which the program might notice; so it is made once a second only, however many
 * signals end the wait. */
static bool wait_for_room(struct message_ring *ring, size_t bytes,
                          message_ring_taken_function *taken, const void *context)
{
    int64_t ask_at = 0;
    while (free_bytes(ring) < bytes && !atomic_load(&ring->closed)) {
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
        if (free_bytes(ring) < bytes && !atomic_load(&ring->closed))
            wait_for(&ring->taken_events, seen, ask_at - now);
        atomic_store(&ring->putter_waits, 0);
    }
    return !atomic_load(&ring->closed);
}

void *message_ring_reserve(struct message_ring *ring, size_t bytes,
                           message_ring_taken_function *taken, const void *context)
{
    uint64_t put = atomic_load_explicit(&ring->put, memory_order_relaxed);
    const size_t room = room_for(bytes), left = CAPACITY - (size_t)(put % CAPACITY);
    const size_t skipped = left < room ? left : 0;
    if (bytes > MESSAGE_RING_BYTES_MAX || !wait_for_room(ring, skipped + room, taken, context))
        return NULL;
    if (skipped > 0)
        *head_at(ring, put) = (struct head){.room = (uint32_t)skipped, .skipped = 1};
    put += skipped;
    *head_at(ring, put) = (struct head){.bytes = (uint32_t)bytes, .room = (uint32_t)room};
    ring->reserved = put + room;
    return head_at(ring, put) + 1;
}

void message_ring_put(struct message_ring *ring)
{
    atomic_store(&ring->put, ring->reserved);
    uint32_t wished = atomic_load(&ring->taker_waits);
    if (wished > 0 && there_are(ring) >= wished)
        notify(&ring->put_events);
}

bool message_ring_settle(struct message_ring *ring, message_ring_taken_function *taken,
                         const void *context)
{
    atomic_store(&ring->settles, 1);
    if (there_are(ring) > 0 && atomic_load(&ring->taker_waits) > 0)
        notify(&ring->put_events);
    bool settled = wait_for_room(ring, CAPACITY, taken, context);
    atomic_store(&ring->settles, 0);
    return settled;
}

uint64_t message_ring_counted(const struct message_ring *ring)
{
    return atomic_load(&ring->counted);
}

void message_ring_add_filtered(struct message_ring *ring, uint64_t count)
{
    atomic_fetch_add(&ring->filtered, count);
}

void message_ring_end(struct message_ring *ring)
{
    atomic_store(&ring->ended, 1);
    notify(&ring->put_events);
}

bool message_ring_has_ended(const struct message_ring *ring)
{
    return atomic_load(&ring->ended);
}

/* --- consumer --------------------------------------------------------------------------------- */

static bool has_ended(struct message_ring *ring)
{
    return atomic_load(&ring->ended) || atomic_load(&ring->closed);
}

struct message_taker message_taker_of(struct message_ring *ring)
{
    return (struct message_taker){.ring = ring, .taken = atomic_load(&ring->taken) / LINE * LINE};
}

/* Bytes that were put and not taken. */
static uint64_t left_for(const struct message_taker *taker)
{
    return atomic_load(&taker->ring->put) - taker->taken;
}

static bool is_enough(const struct message_taker *taker, size_t wished)
{
    const uint64_t there = left_for(taker);
    return there >= wished || (there > 0 && atomic_load(&taker->ring->settles));
}

bool message_ring_wait(struct message_taker *taker, int timeout_ms)
{
    struct message_ring *ring = taker->ring;
    const size_t wished = timeout_ms < 0 ? 1 : WAKE_BYTES;
    const int64_t until = clock_monotonic_ns() + timeout_ms * MS_NS;
    for (;;) {
        uint32_t seen = atomic_load(&ring->put_events);
        int64_t left = timeout_ms < 0 ? SECOND_NS : until - clock_monotonic_ns();
        atomic_store(&ring->taker_waits, (uint32_t)wished);
        if (is_enough(taker, wished) || has_ended(ring) || left <= 0)
            break;
        wait_for(&ring->put_events, seen, left);
    }
    atomic_store(&ring->taker_waits, 0);
    bool ended = has_ended(ring); /* read before the number of bytes */
    return left_for(taker) > 0 || !ended;
}

/* The head at a position before `put`, or one of no room if it cannot be the producer's. */
static struct head read_head(struct message_ring *ring, uint64_t position, uint64_t put)
{
    const volatile struct head *at = head_at(ring, position);
    const struct head head = {.bytes = at->bytes, .room = at->room, .skipped = at->skipped};
    const uint64_t most = put - position, left = CAPACITY - position % CAPACITY;
    const bool sound = head.room >= LINE && head.room % LINE == 0 && head.room <= most &&
                       head.room <= left && head.bytes <= head.room - LINE;
    return sound ? head : (struct head){.room = 0};
}

const void *message_ring_front(struct message_taker *taker, size_t *bytes)
{
    const uint64_t put = atomic_load(&taker->ring->put);
    uint64_t at = taker->taken;
    if (put == at || taker->overwritten)
        return NULL;
    struct head head = {.room = 0};
    if (put - at <= CAPACITY)
        head = read_head(taker->ring, at, put);
    if (head.room > 0 && head.skipped) {
        at += head.room;
        head = read_head(taker->ring, at, put);
    }
    taker->overwritten = head.room == 0 || head.skipped;
    if (taker->overwritten)
        return NULL;
    *bytes = head.bytes;
    taker->next = at + head.room;
    return head_at(taker->ring, at) + 1;
}

void message_ring_drop(struct message_taker *taker)
{
    struct message_ring *ring = taker->ring;
    taker->taken = taker->next;
    atomic_store(&ring->taken, taker->taken);
    if (atomic_load(&ring->putter_waits) && free_bytes(ring) >= WAKE_BYTES)
        notify(&ring->taken_events);
}

void message_ring_set_counted(struct message_ring *ring, uint64_t count)
{
    atomic_store(&ring->counted, count);
}

uint64_t message_ring_filtered(const struct message_ring *ring)
{
    return atomic_load(&ring->filtered);
}

void message_ring_close(struct message_ring *ring)
{
    atomic_store(&ring->closed, 1);
    notify(&ring->taken_events);
    notify(&ring->put_events);
}
