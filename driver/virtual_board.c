#include "driver/virtual_board.h"

#include "firmware/board_state.h"
#include "formats/base/clock.h"
#include "formats/base/thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMAND_FIFO_BYTES 1024u
#define MILLISECOND_NS     INT64_C(1000000)

/* How long an idle board sleeps unless the host wakes it. A bus in real time is polled at this
 * interval; the requests of an interval arrive together. */
#define NAP_NS      INT64_C(1000000)
#define NAP_IDLE_NS INT64_C(50000000)

/* What a slow link can carry at once, after a pause. */
#define LINK_BURST_NS INT64_C(10000000)
#define SECOND_NS     INT64_C(1000000000)

/* A ring of bytes in transit. The owner's mutex guards it. */
struct fifo {
    uint8_t *bytes;
    size_t capacity, first, count;
};

struct virtual_board {
    struct stream stream;
    char name[128];
    struct virtual_bus *bus;
    struct board *board;
    struct board_frame *frames;
    enum bus_pace pace;
    pthread_t thread;
    bool running; /* the thread was started */

    /* Of a slow link; used by the board's thread. */
    uint64_t link_rate;   /* bytes per second; 0: no limit */
    int64_t link_free_ns; /* when it has carried everything that it took */

    pthread_mutex_t mutex;   /* guards the fields below */
    pthread_cond_t to_host;  /* bytes for the host, or the end */
    pthread_cond_t to_board; /* a command, room in the FIFO, or the end */
    struct fifo up, down;
    bool closing;
    struct bt_error failure; /* of the bus; code 0: none */
};

/* --- FIFOs ------------------------------------------------------------------------------------ */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t fifo_put(struct fifo *fifo, const uint8_t *bytes, size_t size)
{
    size = smaller(size, fifo->capacity - fifo->count);
    size_t at = (fifo->first + fifo->count) % fifo->capacity;
    size_t straight = smaller(size, fifo->capacity - at);
    memcpy(fifo->bytes + at, bytes, straight);
    memcpy(fifo->bytes, bytes + straight, size - straight);
    fifo->count += size;
    return size;
}

static size_t fifo_get(struct fifo *fifo, uint8_t *bytes, size_t capacity)
{
    size_t size = smaller(capacity, fifo->count);
    size_t straight = smaller(size, fifo->capacity - fifo->first);
    memcpy(bytes, fifo->bytes + fifo->first, straight);
    memcpy(bytes + straight, fifo->bytes, size - straight);
    fifo->first = (fifo->first + size) % fifo->capacity;
    fifo->count -= size;
    return size;
}

/* --- the board's side ---------------------------------------------------------------------------
 */

/* How much of size bytes the link can carry now. */
static size_t link_capacity(const struct virtual_board *virtual, size_t size)
{
    if (virtual->link_rate == 0)
        return size;
    int64_t free_ns = virtual->link_free_ns - LINK_BURST_NS;
    int64_t idle_ns = clock_monotonic_ns() - free_ns;
    if (idle_ns <= 0)
        return 0;
    idle_ns = idle_ns < LINK_BURST_NS ? idle_ns : LINK_BURST_NS;
    double bytes = (double)idle_ns * (double)virtual->link_rate / (double)SECOND_NS;
    return bytes < (double)size ? (size_t)bytes : size;
}

static void link_occupy(struct virtual_board *virtual, size_t size)
{
    if (virtual->link_rate == 0 || size == 0)
        return;
    int64_t now = clock_monotonic_ns();
    if (virtual->link_free_ns < now)
        virtual->link_free_ns = now;
    double ns = (double)size * (double)SECOND_NS / (double)virtual->link_rate;
    virtual->link_free_ns += (int64_t)ns;
}

static size_t link_send(void *context, const uint8_t *bytes, size_t size)
{
    struct virtual_board *virtual = context;
    size = link_capacity(virtual, size);
    pthread_mutex_lock(&virtual->mutex);
    /* set before the END frame is sent, after which the host asks for it */
    if (!virtual->failure.code)
        virtual_bus_failure(virtual->bus, &virtual->failure);
    bool empty = virtual->up.count == 0;
    size_t taken = fifo_put(&virtual->up, bytes, size);
    if (empty && taken > 0)
        pthread_cond_signal(&virtual->to_host);
    pthread_mutex_unlock(&virtual->mutex);
    link_occupy(virtual, taken);
    return taken;
}

static size_t link_receive(void *context, uint8_t *bytes, size_t capacity)
{
    struct virtual_board *virtual = context;
    pthread_mutex_lock(&virtual->mutex);
    bool full = virtual->down.count == virtual->down.capacity;
    size_t taken = fifo_get(&virtual->down, bytes, capacity);
    if (full && taken > 0)
        pthread_cond_broadcast(&virtual->to_host);
    pthread_mutex_unlock(&virtual->mutex);
    return taken;
}

static struct timespec after(clockid_t clock, int64_t nanoseconds)
{
    struct timespec time;
    clock_gettime(clock, &time);
    nanoseconds += time.tv_nsec;
    time.tv_sec += (time_t)(nanoseconds / 1000000000);
    time.tv_nsec = (long)(nanoseconds % 1000000000);
    return time;
}

/* Waits until there may be work. Returns true when the board is to end. */
static bool nap(struct virtual_board *virtual, bool busy)
{
    bool armed = board_armed(virtual->board);
    bool waiting = virtual->board->queue.waiting > 0;
    pthread_mutex_lock(&virtual->mutex);
    bool slow = waiting && virtual->link_rate > 0;
    bool room = waiting && !slow && virtual->up.count < virtual->up.capacity;
    if (!busy && !virtual->closing && virtual->down.count == 0 && !room) {
        if (armed || waiting) {
            bool timed = slow || (armed && virtual->pace != BUS_PACE_MAX);
            struct timespec until = after(CLOCK_MONOTONIC, timed ? NAP_NS : NAP_IDLE_NS);
            pthread_cond_timedwait(&virtual->to_board, &virtual->mutex, &until);
        } else {
            pthread_cond_wait(&virtual->to_board, &virtual->mutex);
        }
    }
    bool closing = virtual->closing;
    pthread_mutex_unlock(&virtual->mutex);
    return closing;
}

static void *run(void *context)
{
    struct virtual_board *virtual = context;
    thread_set_name("virtual board");
    for (bool busy = true; !nap(virtual, busy);)
        busy = board_step(virtual->board);
    return NULL;
}

/* --- the host's side ----------------------------------------------------------------------------
 */

static struct virtual_board *board_of(struct stream *stream)
{
    return (struct virtual_board *)stream;
}

/* Waits on to_host until a deadline (NULL: for ever). Returns false when it has passed. */
static bool wait_host(struct virtual_board *virtual, const struct timespec *until)
{
    if (!until)
        return pthread_cond_wait(&virtual->to_host, &virtual->mutex) == 0;
    return pthread_cond_timedwait(&virtual->to_host, &virtual->mutex, until) == 0;
}

static long virtual_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                         struct bt_error *error)
{
    struct virtual_board *virtual = board_of(stream);
    struct timespec until =
        after(CLOCK_MONOTONIC, (timeout_ms > 0 ? timeout_ms : 0) * MILLISECOND_NS);
    pthread_mutex_lock(&virtual->mutex);
    while (virtual->up.count == 0 && timeout_ms != 0)
        if (!wait_host(virtual, timeout_ms < 0 ? NULL : &until))
            break;
    bool full = virtual->up.count == virtual->up.capacity;
    size_t taken = fifo_get(&virtual->up, bytes, capacity);
    if (full && taken > 0)
        pthread_cond_signal(&virtual->to_board);
    pthread_mutex_unlock(&virtual->mutex);
    if (taken == 0)
        return bt_fail(error, BT_TIMEOUT, "%s sent nothing for %d ms", virtual->name, timeout_ms);
    return (long)taken;
}

static int virtual_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                         struct bt_error *error)
{
    struct virtual_board *virtual = board_of(stream);
    struct timespec until =
        after(CLOCK_MONOTONIC, (timeout_ms > 0 ? timeout_ms : 0) * MILLISECOND_NS);
    pthread_mutex_lock(&virtual->mutex);
    for (;;) {
        size_t taken = fifo_put(&virtual->down, bytes, size);
        bytes += taken;
        size -= taken;
        pthread_cond_signal(&virtual->to_board);
        if (size == 0 || timeout_ms == 0)
            break;
        if (!wait_host(virtual, timeout_ms < 0 ? NULL : &until))
            break;
    }
    pthread_mutex_unlock(&virtual->mutex);
    if (size > 0)
        return bt_fail(error, BT_TIMEOUT, "%s accepted no command for %d ms", virtual->name,
                       timeout_ms);
    return 0;
}

static const char *virtual_name(struct stream *stream)
{
    return board_of(stream)->name;
}

static int virtual_diagnose(struct stream *stream, struct bt_error *error)
{
    struct virtual_board *virtual = board_of(stream);
    pthread_mutex_lock(&virtual->mutex);
    int code = virtual->failure.code;
    if (code && error)
        *error = virtual->failure;
    pthread_mutex_unlock(&virtual->mutex);
    return code;
}

static void virtual_close(struct stream *stream)
{
    struct virtual_board *virtual = board_of(stream);
    if (virtual->running) {
        pthread_mutex_lock(&virtual->mutex);
        virtual->closing = true;
        pthread_cond_broadcast(&virtual->to_board);
        pthread_mutex_unlock(&virtual->mutex);
        pthread_join(virtual->thread, NULL);
    }
    pthread_cond_destroy(&virtual->to_host);
    pthread_cond_destroy(&virtual->to_board);
    pthread_mutex_destroy(&virtual->mutex);
    virtual_bus_free(virtual->bus);
    free(virtual->board);
    free(virtual->frames);
    free(virtual->up.bytes);
    free(virtual->down.bytes);
    free(virtual);
}

static const struct stream_operations operations = {.backpressure = true,
                                                    .read = virtual_read,
                                                    .write = virtual_write,
                                                    .name = virtual_name,
                                                    .diagnose = virtual_diagnose,
                                                    .close = virtual_close};

/* --- opening ------------------------------------------------------------------------------------
 */

static void init_board(struct virtual_board *virtual, uint32_t frames)
{
    struct wire_identity identity = {.bus = WIRE_BUS_P6,
                                     .firmware = 0x00010000,
                                     .clock_hz = virtual_bus_clock_hz(virtual->bus),
                                     .name = "virtual",
                                     .serial = "0"};
    struct bus_front front = virtual_bus_front(virtual->bus, virtual->board);
    struct board_link link = {.send = link_send, .receive = link_receive, .context = virtual};
    board_init(virtual->board, &identity, &front, &link, virtual->frames, frames);
}

static void init_waiting(struct virtual_board *virtual)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&virtual->mutex, NULL);
    pthread_cond_init(&virtual->to_host, &attributes);
    pthread_cond_init(&virtual->to_board, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool allocate(struct virtual_board *virtual, uint32_t frames, uint32_t fifo_bytes)
{
    virtual->board = calloc(1, sizeof *virtual->board);
    virtual->frames = malloc(frames * sizeof *virtual->frames);
    virtual->up.bytes = malloc(fifo_bytes);
    virtual->up.capacity = fifo_bytes;
    virtual->down.bytes = malloc(COMMAND_FIFO_BYTES);
    virtual->down.capacity = COMMAND_FIFO_BYTES;
    return virtual->board && virtual->frames && virtual->up.bytes && virtual->down.bytes;
}

int virtual_board_open(struct stream **stream, const struct virtual_board_settings *settings,
                       const char *name, struct bt_error *error)
{
    uint32_t frames = settings->frames ? settings->frames : VIRTUAL_BOARD_FRAMES;
    if (frames < VIRTUAL_BOARD_FRAMES_MIN || frames > VIRTUAL_BOARD_FRAMES_MAX) {
        source_close(settings->bus.source);
        return bt_fail(error, BT_USAGE, "a virtual board's queue has %u to %u frames",
                       VIRTUAL_BOARD_FRAMES_MIN, VIRTUAL_BOARD_FRAMES_MAX);
    }

    struct bt_error failure;
    struct virtual_bus *bus = virtual_bus_new(&settings->bus, &failure);
    if (!bus) {
        if (error)
            *error = failure;
        return failure.code;
    }
    struct virtual_board *virtual = calloc(1, sizeof *virtual);
    if (!virtual) {
        virtual_bus_free(bus);
        return bt_fail(error, BT_MEMORY, "no memory for a virtual board");
    }
    virtual->stream.operations = &operations;
    virtual->bus = bus;
    virtual->pace = settings->bus.pace;
    virtual->link_rate = settings->link_rate;
    snprintf(virtual->name, sizeof virtual->name, "%s", name);
    init_waiting(virtual);

    int code = BT_MEMORY;
    if (!allocate(virtual, frames,
                  settings->fifo_bytes ? settings->fifo_bytes : VIRTUAL_BOARD_FIFO_BYTES)) {
        bt_fail(error, code, "no memory for a virtual board with %u frames", frames);
        goto out;
    }
    init_board(virtual, frames);
    if (pthread_create(&virtual->thread, NULL, run, virtual) != 0) {
        bt_fail(error, code, "no thread for a virtual board");
        goto out;
    }
    virtual->running = true;
    *stream = &virtual->stream;
    return 0;
out:
    virtual_close(&virtual->stream);
    return code;
}
