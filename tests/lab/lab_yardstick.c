/*
 * The load of a capture without bustap: arms the board as bustap does, reads it with a loop of
 * libusb transfers, reads each byte PASSES times, which is more work than storing it, and discards
 * it. If this cannot keep up, either, losses of bustap on this machine are no fault.
 *
 * usage: lab_yardstick PASSES     until the board ends
 * output: bytes=N cpu=SECONDS, of processor time
 */
#include "formats/base/clock.h"
#include "formats/wire/wire.h"

#include <libusb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define TRANSFERS      64u
#define TRANSFER_BYTES (128u * 1024u)
#define BUFFERS        (TRANSFERS + 512u) /* 64 MiB, as the queue of a capture */
#define WORKERS        2u
#define EVENT_WAIT_US  20000
#define QUIET_ROUNDS   300u /* waits without data, some seconds of this process's time */
#define STATUS_BYTES   2    /* of a packet without data */
#define VENDOR_OUT     0x40
#define BIT_MODE       0x0b
#define SYNC_FIFO      0x40ffu

struct buffer {
    size_t size;
    uint8_t *bytes;
};

struct yardstick {
    libusb_context *context;
    libusb_device_handle *handle;
    struct libusb_transfer *transfers[TRANSFERS];
    bool queued[TRANSFERS];
    struct buffer *using[TRANSFERS];
    uint64_t bytes;
    unsigned quiet;
    bool ending, failed;
    unsigned passes;

    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    struct buffer buffers[BUFFERS];
    struct buffer *empty[BUFFERS]; /* a stack */
    struct buffer *full[BUFFERS];  /* a ring */
    size_t empties, put, taken;
    bool closed;
    uint32_t sum; /* keeps the compiler from removing the work */
};

/* --- the work --- */

static uint32_t look_at(const struct buffer *buffer, unsigned passes, uint32_t sum)
{
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < buffer->size; i++)
            sum = (sum << 5 | sum >> 27) ^ buffer->bytes[i];
    return sum;
}

static void *work(void *argument)
{
    struct yardstick *yardstick = argument;
    uint32_t sum = 0;
    pthread_mutex_lock(&yardstick->mutex);
    while (true) {
        while (yardstick->taken == yardstick->put && !yardstick->closed)
            pthread_cond_wait(&yardstick->changed, &yardstick->mutex);
        if (yardstick->taken == yardstick->put)
            break;
        struct buffer *buffer = yardstick->full[yardstick->taken++ % BUFFERS];
        pthread_mutex_unlock(&yardstick->mutex);
        sum = look_at(buffer, yardstick->passes, sum);
        pthread_mutex_lock(&yardstick->mutex);
        yardstick->empty[yardstick->empties++] = buffer;
    }
    yardstick->sum ^= sum;
    pthread_mutex_unlock(&yardstick->mutex);
    return NULL;
}

/* --- the transfers --- */

static void LIBUSB_CALL completed(struct libusb_transfer *transfer);

/* Queues transfers while buffers are available. */
static void queue_all(struct yardstick *yardstick)
{
    for (unsigned i = 0; i < TRANSFERS && !yardstick->ending && !yardstick->failed; i++) {
        if (yardstick->queued[i])
            continue;
        pthread_mutex_lock(&yardstick->mutex);
        struct buffer *buffer = yardstick->empties ? yardstick->empty[--yardstick->empties] : NULL;
        pthread_mutex_unlock(&yardstick->mutex);
        if (!buffer)
            break;
        yardstick->using[i] = buffer;
        yardstick->transfers[i]->buffer = buffer->bytes;
        yardstick->failed = libusb_submit_transfer(yardstick->transfers[i]) < 0;
        yardstick->queued[i] = !yardstick->failed;
    }
}

static void LIBUSB_CALL completed(struct libusb_transfer *transfer)
{
    struct yardstick *yardstick = transfer->user_data;
    unsigned i = 0;
    while (yardstick->transfers[i] != transfer)
        i++;
    yardstick->queued[i] = false;
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
        yardstick->failed = !yardstick->ending;
    struct buffer *buffer = yardstick->using[i];
    buffer->size = (size_t)transfer->actual_length;
    yardstick->bytes += buffer->size;
    if (transfer->actual_length > STATUS_BYTES)
        yardstick->quiet = 0;
    pthread_mutex_lock(&yardstick->mutex);
    yardstick->full[yardstick->put++ % BUFFERS] = buffer;
    pthread_cond_signal(&yardstick->changed);
    pthread_mutex_unlock(&yardstick->mutex);
    queue_all(yardstick);
}

static void handle_events(struct yardstick *yardstick)
{
    struct timeval wait = {.tv_usec = EVENT_WAIT_US};
    libusb_handle_events_timeout(yardstick->context, &wait);
}

static bool still_queued(const struct yardstick *yardstick)
{
    for (unsigned i = 0; i < TRANSFERS; i++)
        if (yardstick->queued[i])
            return true;
    return false;
}

static void cancel_all(struct yardstick *yardstick)
{
    yardstick->ending = true;
    for (unsigned i = 0; i < TRANSFERS; i++)
        if (yardstick->queued[i])
            libusb_cancel_transfer(yardstick->transfers[i]);
    while (still_queued(yardstick))
        handle_events(yardstick);
}

/* --- the board --- */

static bool command(struct yardstick *yardstick, enum wire_command_code code, const uint8_t *body,
                    size_t size)
{
    uint8_t bytes[WIRE_COMMAND_MAX];
    const struct wire_command command = {.version = WIRE_VERSION,
                                         .code = (uint8_t)code,
                                         .body_bytes = (uint16_t)size,
                                         .tag = code,
                                         .body = body};
    int whole = (int)wire_command_put(bytes, &command), sent = 0;
    return libusb_bulk_transfer(yardstick->handle, 0x02, bytes, whole, &sent, 1000) == 0 &&
           sent == whole;
}

/* All requests, in plain frames. The bus restarts with a session of another number. */
static bool arm(struct yardstick *yardstick)
{
    const uint32_t number = (uint32_t)clock_monotonic_ns() | 1;
    const struct wire_configuration configuration = {
        .filter = filter_all(), .packing = WIRE_PLAIN, .flush_us = 20000, .heartbeat_ms = 0};
    uint8_t body[WIRE_CONFIGURATION_BYTES];
    const uint8_t session[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                                (uint8_t)(number >> 24)};
    wire_configuration_put(body, &configuration);
    return command(yardstick, WIRE_CONFIGURE, body, sizeof body) &&
           command(yardstick, WIRE_ARM, session, sizeof session);
}

static bool open_board(struct yardstick *yardstick)
{
    if (libusb_init(&yardstick->context) < 0)
        return false;
    yardstick->handle = libusb_open_device_with_vid_pid(yardstick->context, 0x0403, 0x6014);
    return yardstick->handle && libusb_set_auto_detach_kernel_driver(yardstick->handle, 1) == 0 &&
           libusb_claim_interface(yardstick->handle, 0) == 0;
}

/* Allocates all memory before the board sends. */
static bool make_buffers(struct yardstick *yardstick)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        struct buffer *buffer = &yardstick->buffers[i];
        buffer->bytes = malloc(TRANSFER_BYTES);
        if (!buffer->bytes)
            return false;
        memset(buffer->bytes, (int)i, TRANSFER_BYTES);
        yardstick->empty[yardstick->empties++] = buffer;
    }
    for (unsigned i = 0; i < TRANSFERS; i++) {
        yardstick->transfers[i] = libusb_alloc_transfer(0);
        if (!yardstick->transfers[i])
            return false;
        libusb_fill_bulk_transfer(yardstick->transfers[i], yardstick->handle, 0x81, NULL,
                                  TRANSFER_BYTES, completed, yardstick, 0);
    }
    return true;
}

static bool measure(struct yardstick *yardstick)
{
    queue_all(yardstick);
    libusb_control_transfer(yardstick->handle, VENDOR_OUT, BIT_MODE, SYNC_FIFO, 1, NULL, 0, 1000);
    yardstick->failed |= !arm(yardstick);
    while (!yardstick->failed && yardstick->quiet < QUIET_ROUNDS) {
        yardstick->quiet++;
        handle_events(yardstick);
        queue_all(yardstick);
    }
    cancel_all(yardstick);
    libusb_control_transfer(yardstick->handle, VENDOR_OUT, BIT_MODE, 0, 1, NULL, 0, 1000);
    return !yardstick->failed;
}

static void report(const struct yardstick *yardstick)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("bytes=%llu cpu=%.1f\n", (unsigned long long)yardstick->bytes,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

int main(int argc, char **argv)
{
    static struct yardstick yardstick;
    yardstick.passes = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    if (yardstick.passes == 0) {
        fprintf(stderr, "usage: lab_yardstick PASSES\n");
        return 2;
    }
    pthread_t workers[WORKERS];
    pthread_mutex_init(&yardstick.mutex, NULL);
    pthread_cond_init(&yardstick.changed, NULL);
    if (!open_board(&yardstick) || !make_buffers(&yardstick)) {
        fprintf(stderr, "lab_yardstick: the board cannot be opened\n");
        return 1;
    }
    for (unsigned i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, work, &yardstick) != 0)
            return 1;
    bool good = measure(&yardstick);
    pthread_mutex_lock(&yardstick.mutex);
    yardstick.closed = true;
    pthread_cond_broadcast(&yardstick.changed);
    pthread_mutex_unlock(&yardstick.mutex);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    report(&yardstick);
    return good ? 0 : 1;
}
