#include "driver/ftdi_ring.h"

#include "driver/ftdi_packets.h"
#include "formats/base/clock.h"
#include "formats/base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPARE_BUFFERS   64u  /* buffers that may wait for the reader, beyond the queued ones */
#define ERRORS_MAX      8u   /* consecutive failed transfers before the ring gives up */
#define SILENCE_MS      3000 /* about 190 latency periods */
#define GONE_WAIT_MS    1000 /* for transfers that completed before the board was unplugged */
#define EVENT_WAIT_US   100000
#define EVENT_RETRY_NS  20000000 /* after an error of libusb; the queued transfers last longer */
#define CANCEL_WAIT_MS  5000
#define LIMIT_MIB_USUAL 16u

_Static_assert(FTDI_RING_TRANSFER_BYTES % 512 == 0, "transfers are whole packets");

struct buffer {
    struct buffer *next;
    size_t size; /* bytes received */
    uint8_t *bytes;
};

/* A FIFO of buffers. */
struct buffer_list {
    struct buffer *first, *last;
};

struct transfer_slot {
    struct ftdi_ring *ring;
    struct libusb_transfer *transfer;
    struct buffer *buffer; /* written by the transfer; NULL while it is not queued */
    bool queued;
};

struct ftdi_ring {
    libusb_context *context;
    libusb_device_handle *handle;
    uint8_t endpoint;
    size_t packet_bytes;
    char name[160];
    unsigned limit_mib;
    struct transfer_slot *slots;
    size_t slot_count;
    struct buffer *buffers;
    size_t buffer_count;
    uint8_t *memory;

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t changed;
    bool has_locks;
    struct buffer_list ready; /* full, oldest first */
    struct buffer_list empty;
    size_t queued;         /* transfers queued in the kernel */
    size_t queue_wanted;   /* limit of queued */
    unsigned errors;       /* consecutive failed transfers */
    int last_error;        /* a libusb_transfer_status */
    int submit_error;      /* the libusb_error of the last failed submission */
    unsigned event_errors; /* consecutive failures of libusb's event handling */
    int event_error;       /* the libusb_error of the last one */
    bool gone, stopping;
    int64_t gone_ns;  /* time spent handling events since `gone` */
    bool heard;       /* a transfer completed, or was just queued, since events were last handled */
    int64_t quiet_ns; /* time spent handling events since then without a completed transfer */
    int silence_ms;

    struct buffer *reading; /* owned by the reader; needs no lock */
    size_t position;
};

size_t ftdi_ring_clamp(size_t wanted, size_t transfer_bytes, unsigned limit_mib)
{
    if (limit_mib == 0)
        return wanted;
    size_t allowed = (size_t)limit_mib * (1024u * 1024u / 4u) * 3u / transfer_bytes;
    size_t count = wanted < allowed ? wanted : allowed;
    return count < FTDI_RING_TRANSFERS_MIN ? 0 : count;
}

size_t ftdi_ring_halve(size_t wanted, size_t got)
{
    while (wanted > got)
        wanted /= 2;
    return wanted < FTDI_RING_TRANSFERS_MIN ? 0 : wanted;
}

static void list_put(struct buffer_list *list, struct buffer *buffer)
{
    buffer->next = NULL;
    if (list->last)
        list->last->next = buffer;
    else
        list->first = buffer;
    list->last = buffer;
}

static struct buffer *list_take(struct buffer_list *list)
{
    struct buffer *buffer = list->first;
    if (buffer) {
        list->first = buffer->next;
        if (!list->first)
            list->last = NULL;
    }
    return buffer;
}

static void LIBUSB_CALL completed(struct libusb_transfer *transfer);

/* Queues a slot's transfer if the ring is running and an empty buffer is available. The caller
 * holds the lock. Returns a libusb_error. */
static int queue(struct ftdi_ring *ring, struct transfer_slot *slot)
{
    if (slot->queued || ring->stopping || ring->gone || ring->errors > ERRORS_MAX ||
        ring->queued >= ring->queue_wanted)
        return 0;
    slot->buffer = list_take(&ring->empty);
    if (!slot->buffer)
        return 0;
    /* no time-out: the latency timer of an idle chip completes transfers */
    libusb_fill_bulk_transfer(slot->transfer, ring->handle, ring->endpoint, slot->buffer->bytes,
                              (int)FTDI_RING_TRANSFER_BYTES, completed, slot, 0);
    int result = libusb_submit_transfer(slot->transfer);
    if (result == 0) {
        /* silence counts from here: while no transfer was queued the chip could not answer */
        if (ring->queued == 0)
            ring->heard = true;
        slot->queued = true;
        ring->queued++;
        return 0;
    }
    list_put(&ring->empty, slot->buffer);
    slot->buffer = NULL;
    return result;
}

/* Records a failed submission of a running ring. The caller holds the lock. */
static void note_submit(struct ftdi_ring *ring, int result)
{
    if (result == LIBUSB_ERROR_NO_DEVICE)
        ring->gone = true;
    else if (result < 0)
        ring->submit_error = result;
}

/* Hands the buffer over and queues the transfer again. Delays here lose requests on the bus. */
static void LIBUSB_CALL completed(struct libusb_transfer *transfer)
{
    struct transfer_slot *slot = transfer->user_data;
    struct ftdi_ring *ring = slot->ring;
    pthread_mutex_lock(&ring->mutex);
    struct buffer *buffer = slot->buffer;
    slot->buffer = NULL;
    slot->queued = false;
    ring->queued--;
    ring->heard = true;
    bool good = transfer->status == LIBUSB_TRANSFER_COMPLETED;
    if (good)
        ring->errors = 0;
    else if (transfer->status == LIBUSB_TRANSFER_NO_DEVICE)
        ring->gone = true;
    else if (transfer->status != LIBUSB_TRANSFER_CANCELLED) {
        ring->errors++;
        ring->last_error = transfer->status;
    }
    /* data before an error is used, too: the wire's frames have checksums */
    buffer->size = (size_t)transfer->actual_length;
    list_put(buffer->size > FTDI_STATUS_BYTES ? &ring->ready : &ring->empty, buffer);
    if (transfer->status != LIBUSB_TRANSFER_CANCELLED)
        note_submit(ring, queue(ring, slot));
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

/* Counts only time spent in libusb's event handling as silence: a process that was stopped or not
 * scheduled receives the pending events the next time. The caller holds the lock. */
static void note_silence(struct ftdi_ring *ring, int64_t asked_ns)
{
    int64_t listened = clock_monotonic_ns() - asked_ns;
    if (listened > 2 * EVENT_WAIT_US * INT64_C(1000))
        listened = 2 * EVENT_WAIT_US * INT64_C(1000);
    ring->gone_ns += ring->gone ? listened : 0;
    ring->quiet_ns = ring->heard ? 0 : ring->quiet_ns + listened;
    ring->heard = false;
}

static void *handle_events(void *argument)
{
    struct ftdi_ring *ring = argument;
    bool more = true;
    thread_set_name("usb");
    while (more) {
        struct timeval wait = {.tv_usec = EVENT_WAIT_US};
        int64_t asked_ns = clock_monotonic_ns();
        int result = libusb_handle_events_timeout_completed(ring->context, &wait, NULL);
        bool failed = result < 0 && result != LIBUSB_ERROR_INTERRUPTED;
        /* such an error returns at once: the pause avoids a busy loop */
        if (failed)
            nanosleep(&(struct timespec){.tv_nsec = EVENT_RETRY_NS}, NULL);
        pthread_mutex_lock(&ring->mutex);
        note_silence(ring, asked_ns);
        ring->event_errors = failed ? ring->event_errors + 1 : 0;
        ring->event_error = failed ? result : 0;
        if (ring->event_errors > ERRORS_MAX)
            pthread_cond_broadcast(&ring->changed);
        more = !ring->stopping || ring->queued > 0;
        pthread_mutex_unlock(&ring->mutex);
    }
    return NULL;
}

/* --- creation --- */

unsigned ftdi_ring_limit_mib(const char *root)
{
    unsigned limit = LIMIT_MIB_USUAL;
    char path[256];
    snprintf(path, sizeof path, "%.150s%s", root, FTDI_RING_LIMIT_FILE);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%u", &limit) != 1)
            limit = LIMIT_MIB_USUAL;
        fclose(file);
    }
    return limit;
}

static int no_memory_for_transfers(const struct ftdi_ring *ring, struct bt_error *error)
{
    return bt_fail(
        error, BT_DEVICE,
        "board %s: the kernel allows %u MiB for all USB transfers together and bustap "
        "needs %u KiB at least, %u MiB for full speed; allow more with: echo 64 > %s",
        ring->name, ring->limit_mib, FTDI_RING_TRANSFERS_MIN * FTDI_RING_TRANSFER_BYTES / 1024u,
        FTDI_RING_TRANSFERS * FTDI_RING_TRANSFER_BYTES / (1024u * 1024u), FTDI_RING_LIMIT_FILE);
}

static int allocate(struct ftdi_ring *ring, struct bt_error *error)
{
    ring->buffer_count = ring->slot_count + SPARE_BUFFERS;
    ring->slots = calloc(ring->slot_count, sizeof *ring->slots);
    ring->buffers = calloc(ring->buffer_count, sizeof *ring->buffers);
    ring->memory = malloc(ring->buffer_count * FTDI_RING_TRANSFER_BYTES);
    /* write to the pages now: page faults during a capture would cost time */
    if (ring->memory)
        memset(ring->memory, 0, ring->buffer_count * FTDI_RING_TRANSFER_BYTES);
    bool good = ring->slots && ring->buffers && ring->memory;
    for (size_t i = 0; good && i < ring->slot_count; i++) {
        ring->slots[i].ring = ring;
        ring->slots[i].transfer = libusb_alloc_transfer(0);
        good = ring->slots[i].transfer;
    }
    for (size_t i = 0; good && i < ring->buffer_count; i++) {
        ring->buffers[i].bytes = ring->memory + i * FTDI_RING_TRANSFER_BYTES;
        list_put(&ring->empty, &ring->buffers[i]);
    }
    return good ? 0 : bt_fail(error, BT_MEMORY, "no memory for the USB transfers");
}

static int make_locks(struct ftdi_ring *ring, struct bt_error *error)
{
    pthread_condattr_t attributes;
    int result = pthread_condattr_init(&attributes);
    if (result == 0) {
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        result = pthread_cond_init(&ring->changed, &attributes);
        pthread_condattr_destroy(&attributes);
    }
    if (result != 0)
        return bt_fail(error, BT_MEMORY, "no memory for the USB transfers");
    if (pthread_mutex_init(&ring->mutex, NULL) != 0) {
        pthread_cond_destroy(&ring->changed);
        return bt_fail(error, BT_MEMORY, "no memory for the USB transfers");
    }
    ring->has_locks = true;
    return 0;
}

static int start_thread(struct ftdi_ring *ring, struct bt_error *error)
{
    const int code = thread_start_without_signals(&ring->thread, handle_events, ring);
    ring->has_thread = code == 0;
    errno = code;
    return code ? bt_fail_errno(error, "no thread for the USB transfers") : 0;
}

struct ftdi_ring *ftdi_ring_new(libusb_context *context, libusb_device_handle *handle,
                                uint8_t endpoint, size_t packet_bytes, const char *name,
                                struct bt_error *error)
{
    struct ftdi_ring *ring = calloc(1, sizeof *ring);
    if (!ring) {
        bt_fail(error, BT_MEMORY, "no memory for the USB transfers");
        return NULL;
    }
    ring->context = context;
    ring->handle = handle;
    ring->endpoint = endpoint;
    ring->packet_bytes = packet_bytes;
    ring->silence_ms = SILENCE_MS;
    snprintf(ring->name, sizeof ring->name, "%s", name);
    ring->limit_mib = ftdi_ring_limit_mib("");
    ring->slot_count =
        ftdi_ring_clamp(FTDI_RING_TRANSFERS, FTDI_RING_TRANSFER_BYTES, ring->limit_mib);
    int result = ring->slot_count ? make_locks(ring, error) : no_memory_for_transfers(ring, error);
    if (result == 0)
        result = allocate(ring, error);
    if (result == 0)
        result = start_thread(ring, error);
    if (result == 0)
        return ring;
    (void)ftdi_ring_free(ring);
    return NULL;
}

void ftdi_ring_set_silence(struct ftdi_ring *ring, int milliseconds)
{
    ring->silence_ms = milliseconds;
}

/* Queues all transfers; halves their number while the kernel has no memory for them. */
int ftdi_ring_start(struct ftdi_ring *ring, struct bt_error *error)
{
    int result = 0;
    pthread_mutex_lock(&ring->mutex);
    ring->queue_wanted = ring->slot_count;
    size_t count = 0;
    while (count < ring->slot_count && (result = queue(ring, &ring->slots[count])) == 0)
        count++;
    if (result == LIBUSB_ERROR_NO_MEM) {
        ring->queue_wanted = ftdi_ring_halve(ring->slot_count, count);
        for (size_t i = count; i > ring->queue_wanted; i--)
            libusb_cancel_transfer(ring->slots[i - 1].transfer);
        if (ring->queue_wanted > 0)
            result = 0;
    }
    ring->heard = true;
    pthread_mutex_unlock(&ring->mutex);
    if (result == LIBUSB_ERROR_NO_MEM)
        return no_memory_for_transfers(ring, error);
    if (result < 0)
        return bt_fail(error, result == LIBUSB_ERROR_NO_DEVICE ? BT_CLOSED : BT_DEVICE,
                       "board %s: USB transfers cannot be queued: %s", ring->name,
                       libusb_error_name(result));
    return 0;
}

/* --- reading --- */

static const char *status_name(int status)
{
    switch (status) {
    case LIBUSB_TRANSFER_TIMED_OUT:
        return "timed out";
    case LIBUSB_TRANSFER_STALL:
        return "stalled";
    case LIBUSB_TRANSFER_OVERFLOW:
        return "overflowed";
    default:
        return "failed";
    }
}

/* A submission may fail because the board is gone while the kernel still holds completed transfers:
 * waits for those. The caller holds the lock. */
static bool may_have_more(const struct ftdi_ring *ring)
{
    return ring->queued > 0 && ring->gone_ns < GONE_WAIT_MS * INT64_C(1000000);
}

/* Why no more data will arrive; 0 while it may. The caller holds the lock. */
static int trouble(const struct ftdi_ring *ring, struct bt_error *error)
{
    if (ring->gone)
        return may_have_more(ring)
                   ? 0
                   : bt_fail(error, BT_CLOSED, "board %s was unplugged", ring->name);
    if (ring->errors > ERRORS_MAX)
        return bt_fail(error, BT_DEVICE,
                       "board %s: %u USB transfers in a row %s; try another cable or port, without "
                       "a hub",
                       ring->name, ring->errors, status_name(ring->last_error));
    if (ring->queued == 0 && ring->submit_error)
        return bt_fail(error, BT_DEVICE, "board %s: USB transfers cannot be queued: %s", ring->name,
                       libusb_error_name(ring->submit_error));
    if (ring->event_errors > ERRORS_MAX)
        return bt_fail(error, BT_DEVICE, "board %s: USB events cannot be handled: %s", ring->name,
                       libusb_error_name(ring->event_error));
    if (ring->queued > 0 && !ring->heard && ring->quiet_ns > ring->silence_ms * INT64_C(1000000))
        return bt_fail(
            error, BT_DEVICE,
            "board %s: its USB chip has not answered for %.3g s; unplug it and plug it in",
            ring->name, (double)ring->silence_ms / 1000);
    return 0;
}

/* Returns the reader's buffer and queues transfers that had to wait for one. */
static void return_buffer(struct ftdi_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    list_put(&ring->empty, ring->reading);
    ring->reading = NULL;
    for (size_t i = 0; i < ring->slot_count && ring->queued < ring->queue_wanted &&
                       ring->empty.first && !ring->gone;
         i++)
        if (!ring->slots[i].queued)
            note_submit(ring, queue(ring, &ring->slots[i]));
    pthread_mutex_unlock(&ring->mutex);
}

/* Waits for a full buffer. 0, BT_TIMEOUT, or why none will come. */
static int take_buffer(struct ftdi_ring *ring, int64_t deadline_ms, struct bt_error *error)
{
    int result = 0;
    pthread_mutex_lock(&ring->mutex);
    while (!(ring->reading = list_take(&ring->ready))) {
        result = trouble(ring, error);
        int64_t left = deadline_ms - clock_monotonic_ms();
        if (result == 0 && left <= 0)
            result = bt_fail(error, BT_TIMEOUT, "board %s sent nothing", ring->name);
        if (result < 0)
            break;
        /* in steps, to detect silence during a longer wait */
        int64_t until = clock_monotonic_ms() + (left < 500 ? left : 500);
        struct timespec time = {.tv_sec = (time_t)(until / 1000),
                                .tv_nsec = (long)(until % 1000) * 1000000};
        pthread_cond_timedwait(&ring->changed, &ring->mutex, &time);
    }
    pthread_mutex_unlock(&ring->mutex);
    ring->position = 0;
    return result;
}

long ftdi_ring_read(struct ftdi_ring *ring, uint8_t *bytes, size_t capacity, int timeout_ms,
                    struct bt_error *error)
{
    int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_monotonic_ms() + timeout_ms;
    size_t size = 0;
    while (size == 0 && capacity > 0) {
        if (!ring->reading) {
            int result = take_buffer(ring, deadline, error);
            if (result < 0)
                return result;
        }
        const struct buffer *buffer = ring->reading;
        size = ftdi_packets_strip(bytes, capacity, buffer->bytes, buffer->size, ring->packet_bytes,
                                  &ring->position);
        if (ring->position >= buffer->size)
            return_buffer(ring);
    }
    return (long)size;
}

/* --- end --- */

/* Cancels all transfers and waits for their callbacks. True once all were called. */
static bool cancel_all(struct ftdi_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    ring->stopping = true;
    /* in reverse order, so that later transfers do not run while earlier ones are cancelled */
    for (size_t i = ring->slot_count; ring->slots && i > 0; i--)
        if (ring->slots[i - 1].queued)
            libusb_cancel_transfer(ring->slots[i - 1].transfer);
    int64_t until = clock_monotonic_ms() + CANCEL_WAIT_MS;
    struct timespec time = {.tv_sec = (time_t)(until / 1000),
                            .tv_nsec = (long)(until % 1000) * 1000000};
    int result = 0;
    while (ring->queued > 0 && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&ring->changed, &ring->mutex, &time);
    bool done = ring->queued == 0;
    pthread_mutex_unlock(&ring->mutex);
    return done;
}

int ftdi_ring_free(struct ftdi_ring *ring)
{
    if (!ring)
        return 0;
    if (ring->has_thread) {
        if (!cancel_all(ring)) {
            /* libusb and the event thread still use it: leak it rather than free it */
            pthread_detach(ring->thread);
            return -1;
        }
        pthread_join(ring->thread, NULL);
    }
    for (size_t i = 0; ring->slots && i < ring->slot_count; i++)
        libusb_free_transfer(ring->slots[i].transfer);
    if (ring->has_locks) {
        pthread_cond_destroy(&ring->changed);
        pthread_mutex_destroy(&ring->mutex);
    }
    free(ring->memory);
    free(ring->buffers);
    free(ring->slots);
    free(ring);
    return 0;
}
