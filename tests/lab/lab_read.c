/*
 * Reads a board's chip as fast as it sends, in one of two ways: a loop of libusb's asynchronous
 * transfers that discards the bytes, or the driver's own stream.
 *
 * usage: lab_read bare|driver SECONDS [TRANSFERS [KIB]]
 * output: bytes=N seconds=S rate=MB/s cpu=SECONDS, of processor time
 */
#include "driver/ftdi.h"
#include "formats/base/clock.h"

#include <libusb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define TRANSFERS_MAX 64u
#define READ_BYTES    (64u * 1024u)
#define VENDOR_OUT    0x40
#define BIT_MODE      0x0b
#define SYNC_FIFO     0x40ffu

struct bare {
    uint64_t bytes;
    bool ending, failed;
    unsigned queued;
};

static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void report(uint64_t bytes, double seconds, double cpu)
{
    printf("bytes=%llu seconds=%.2f rate=%.1f cpu=%.2f\n", (unsigned long long)bytes, seconds,
           (double)bytes / seconds / 1e6, cpu);
}

static void LIBUSB_CALL completed(struct libusb_transfer *transfer)
{
    struct bare *bare = transfer->user_data;
    bare->bytes += (uint64_t)transfer->actual_length;
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
        bare->failed = !bare->ending;
    if (bare->ending || bare->failed || libusb_submit_transfer(transfer) < 0)
        bare->queued--;
}

static int read_bare(double seconds, unsigned transfers, size_t bytes)
{
    libusb_context *context;
    struct bare bare = {0};
    struct libusb_transfer *queue[TRANSFERS_MAX];
    if (libusb_init(&context) < 0)
        return -1;
    libusb_device_handle *handle = libusb_open_device_with_vid_pid(context, 0x0403, 0x6014);
    if (!handle || libusb_set_auto_detach_kernel_driver(handle, 1) < 0 ||
        libusb_claim_interface(handle, 0) < 0)
        return -1;
    for (unsigned i = 0; i < transfers; i++) {
        queue[i] = libusb_alloc_transfer(0);
        libusb_fill_bulk_transfer(queue[i], handle, 0x81, malloc(bytes), (int)bytes, completed,
                                  &bare, 0);
        if (libusb_submit_transfer(queue[i]) < 0)
            return -1;
        bare.queued++;
    }
    libusb_control_transfer(handle, VENDOR_OUT, BIT_MODE, SYNC_FIFO, 1, NULL, 0, 1000);
    int64_t begun = clock_monotonic_ns();
    double cpu = processor_seconds();
    uint64_t before = bare.bytes;
    while (!bare.failed && (double)(clock_monotonic_ns() - begun) / 1e9 < seconds)
        libusb_handle_events(context);
    report(bare.bytes - before, (double)(clock_monotonic_ns() - begun) / 1e9,
           processor_seconds() - cpu);
    bare.ending = true;
    for (unsigned i = transfers; i > 0; i--)
        libusb_cancel_transfer(queue[i - 1]);
    while (bare.queued > 0)
        libusb_handle_events(context);
    libusb_control_transfer(handle, VENDOR_OUT, BIT_MODE, 0, 1, NULL, 0, 1000);
    libusb_close(handle);
    libusb_exit(context);
    return bare.failed ? -1 : 0;
}

static int read_driver(double seconds)
{
    struct stream *stream;
    struct bt_error error;
    static uint8_t bytes[READ_BYTES];
    uint64_t total = 0;
    if (ftdi_open(&stream, "", &error) < 0) {
        fprintf(stderr, "lab_read: %s\n", error.message);
        return -1;
    }
    int64_t begun = clock_monotonic_ns();
    double cpu = processor_seconds();
    long size = 0;
    while ((double)(clock_monotonic_ns() - begun) / 1e9 < seconds) {
        size = stream_read(stream, bytes, sizeof bytes, 1000, &error);
        if (size < 0 && size != BT_TIMEOUT)
            break;
        total += size > 0 ? (uint64_t)size : 0;
    }
    report(total, (double)(clock_monotonic_ns() - begun) / 1e9, processor_seconds() - cpu);
    stream_close(stream);
    if (size < 0 && size != BT_TIMEOUT)
        fprintf(stderr, "lab_read: %s\n", error.message);
    return size < 0 && size != BT_TIMEOUT ? -1 : 0;
}

int main(int argc, char **argv)
{
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    unsigned transfers = argc > 3 ? (unsigned)atoi(argv[3]) : 64;
    size_t bytes = 1024u * (argc > 4 ? (size_t)atoi(argv[4]) : 128u);
    if (seconds <= 0 || transfers == 0 || transfers > TRANSFERS_MAX || bytes == 0) {
        fprintf(stderr, "usage: lab_read bare|driver SECONDS [TRANSFERS [KIB]]\n");
        return 2;
    }
    return strcmp(argv[1], "bare") == 0 ? read_bare(seconds, transfers, bytes) < 0
                                        : read_driver(seconds) < 0;
}
