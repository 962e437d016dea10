/* The ring of transfers on a fake USB. */
#define _DEFAULT_SOURCE /* usleep */
#include "driver/ftdi_ring.h"

#include "tests/suites.h"
#include "tests/support/fake_usb.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKET     512u
#define READ_BYTES (1u << 20)
#define TIMEOUT_MS 20000

struct fixture {
    struct ftdi_ring *ring;
    struct bt_error error;
    uint8_t *sent, *got;
    size_t size;
};

static void fixture_open(struct fixture *f)
{
    *f = (struct fixture){.got = malloc(READ_BYTES)};
    fake_usb_reset();
    f->ring = ftdi_ring_new(NULL, NULL, 0x81, PACKET, "fake", &f->error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->ring);
}

static void fixture_start(struct fixture *f)
{
    fixture_open(f);
    CU_ASSERT_EQUAL_FATAL(ftdi_ring_start(f->ring, &f->error), 0);
}

/* Starts with a chip that does not answer yet: all transfers are queued, and stay queued. */
static void fixture_start_silent(struct fixture *f, int silence_ms)
{
    fixture_open(f);
    ftdi_ring_set_silence(f->ring, silence_ms);
    fake_usb_take()->silent = true;
    fake_usb_give();
    CU_ASSERT_EQUAL_FATAL(ftdi_ring_start(f->ring, &f->error), 0);
}

static void fixture_close(struct fixture *f)
{
    CU_ASSERT_EQUAL(ftdi_ring_free(f->ring), 0);
    struct fake_usb *usb = fake_usb_take();
    CU_ASSERT_EQUAL(usb->misuse, 0);
    CU_ASSERT_EQUAL(usb->queued, 0);
    CU_ASSERT_EQUAL(usb->transfers, 0);
    fake_usb_give();
    free(f->sent);
    free(f->got);
    fake_usb_reset();
}

/* Has the chip send size random bytes. */
static void send_random(struct fixture *f, size_t size, uint64_t seed)
{
    uint64_t random = random_seed(seed);
    f->sent = realloc(f->sent, size);
    f->size = size;
    random_fill(&random, f->sent, size);
    fake_usb_send(f->sent, size, PACKET);
}

/* Reads all data that was sent, in pieces of up to piece bytes. */
static void receive(struct fixture *f, size_t piece)
{
    size_t at = 0;
    while (at < f->size) {
        size_t capacity = piece < f->size - at ? piece : f->size - at;
        long got = ftdi_ring_read(f->ring, f->got, capacity, TIMEOUT_MS, &f->error);
        CU_ASSERT_FATAL(got > 0 && (size_t)got <= capacity);
        CU_ASSERT_EQUAL(memcmp(f->got, f->sent + at, (size_t)got), 0);
        at += (size_t)got;
    }
}

static size_t queued_now(void)
{
    size_t queued = fake_usb_take()->queued;
    fake_usb_give();
    return queued;
}

/* Waits until count transfers are queued, even if briefly. */
static bool comes_to_queue(size_t count)
{
    for (int i = 0; i < 20000; i++) {
        if (queued_now() == count)
            return true;
        usleep(1000);
    }
    return false;
}

static void test_stream(void)
{
    struct fixture f;
    fixture_start(&f);
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, 10, &f.error), BT_TIMEOUT);
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, 0, 10, &f.error), 0);
    for (unsigned i = 0; i < 20; i++) {
        send_random(&f, i < 10 ? i * 100 + 1 : i * 40000, i);
        receive(&f, i % 3 == 0 ? 7 + i * 50 : READ_BYTES);
    }
    fixture_close(&f);
}

/* Closing while all transfers are queued and data arrives. */
static void test_close(void)
{
    struct fixture f;
    fixture_start_silent(&f, TIMEOUT_MS);
    size_t queued = queued_now();
    CU_ASSERT(queued >= FTDI_RING_TRANSFERS_MIN);
    CU_ASSERT_EQUAL(ftdi_ring_free(f.ring), 0);
    struct fake_usb *usb = fake_usb_take();
    CU_ASSERT(usb->cancelled >= FTDI_RING_TRANSFERS_MIN && usb->cancelled <= queued);
    CU_ASSERT_EQUAL(usb->misuse, 0);
    CU_ASSERT_EQUAL(usb->queued, 0);
    CU_ASSERT_EQUAL(usb->transfers, 0);
    fake_usb_give();
    free(f.got);

    fixture_start(&f);
    send_random(&f, 3000000, 1);
    CU_ASSERT(ftdi_ring_read(f.ring, f.got, 100, TIMEOUT_MS, &f.error) > 0);
    fixture_close(&f);

    fixture_open(&f); /* never started */
    fixture_close(&f);
}

static void test_unplugged(void)
{
    struct fixture f;
    fixture_start(&f);
    send_random(&f, 100000, 2);
    receive(&f, 4096);
    fake_usb_take()->unplugged = true;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, -1, &f.error), BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(f.error.message, "board fake was unplugged");
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, -1, &f.error), BT_CLOSED);
    fixture_close(&f);

    fixture_open(&f);
    fake_usb_take()->unplugged = true;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_start(f.ring, &f.error), BT_CLOSED);
    fixture_close(&f);
}

static void test_storm(void)
{
    static const struct {
        int status;
        const char *word;
    } storms[] = {{LIBUSB_TRANSFER_STALL, "stalled"},
                  {LIBUSB_TRANSFER_OVERFLOW, "overflowed"},
                  {LIBUSB_TRANSFER_TIMED_OUT, "timed out"},
                  {LIBUSB_TRANSFER_ERROR, "failed"}};
    for (size_t i = 0; i < sizeof storms / sizeof storms[0]; i++) {
        struct fixture f;
        fixture_start(&f);
        fake_usb_take()->status = storms[i].status;
        fake_usb_give();
        CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, -1, &f.error), BT_DEVICE);
        CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "USB transfers in a row"));
        CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, storms[i].word));
        fixture_close(&f);
    }
}

/* The kernel has memory for a few transfers, or for too few. */
static void test_no_memory(void)
{
    struct fixture f;
    fixture_open(&f);
    struct fake_usb *usb = fake_usb_take();
    usb->queue_max = 10;
    usb->silent = true; /* a completed transfer would free memory for another */
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_start(f.ring, &f.error), 0);
    fake_usb_take()->silent = false;
    fake_usb_give();
    send_random(&f, 2000000, 3);
    receive(&f, READ_BYTES);
    size_t got = ftdi_ring_halve(FTDI_RING_TRANSFERS, 10);
    CU_ASSERT_TRUE(comes_to_queue(got) || queued_now() < 10);
    fixture_close(&f);

    fixture_open(&f);
    usb = fake_usb_take();
    usb->queue_max = FTDI_RING_TRANSFERS_MIN - 1;
    usb->silent = true;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_start(f.ring, &f.error), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "MiB for all USB transfers"));
    fixture_close(&f);

    /* memory runs out while the ring runs */
    fixture_start(&f);
    usb = fake_usb_take();
    usb->queue_max = 1;
    fake_usb_give();
    CU_ASSERT_TRUE(comes_to_queue(1));
    send_random(&f, 100000, 4);
    receive(&f, READ_BYTES);
    fixture_close(&f);
}

/* Transfers complete, and none can be queued again. */
static void test_not_queued(void)
{
    struct fixture f;
    fixture_start(&f);
    fake_usb_take()->submit_error = LIBUSB_ERROR_IO;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, -1, &f.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message,
                           "board fake: USB transfers cannot be queued: LIBUSB_ERROR_IO");
    fixture_close(&f);
}

/* Delays the event handling, as if the process had been stopped. */
static void stand_still(unsigned milliseconds)
{
    struct fake_usb *usb = fake_usb_take();
    usb->stopped = milliseconds;
    while (usb->stopped > 0) {
        fake_usb_give();
        usleep(1000);
        fake_usb_take();
    }
    fake_usb_give();
}

/* The board is unplugged, so that no transfer can be queued: the data of queued transfers is still
 * read, with a time limit. */
static void test_gone_behind(void)
{
    struct fixture f;
    fixture_open(&f);
    struct fake_usb *usb = fake_usb_take();
    usb->silent = true;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_start(f.ring, &f.error), 0);
    fake_usb_take();
    usb->submit_error = LIBUSB_ERROR_NO_DEVICE;
    fake_usb_give();
    for (unsigned i = 1; i < 4; i++) {
        if (i == 3)
            stand_still(1500); /* longer than the limit, without event handling */
        send_random(&f, i * 10000, i);
        receive(&f, READ_BYTES);
        CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, 5, &f.error), BT_TIMEOUT);
    }
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, TIMEOUT_MS, &f.error), BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(f.error.message, "board fake was unplugged");
    fixture_close(&f);
}

static void test_silence(void)
{
    struct fixture f;
    fixture_start_silent(&f, 50);
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, -1, &f.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message,
                           "board fake: its USB chip has not answered for 0.05 s; unplug it and "
                           "plug it in");
    fixture_close(&f);
}

/* A process is stopped for longer than the limit on silence: the data received meanwhile is read.
 */
static void test_stopped(void)
{
    struct fixture f;
    fixture_start(&f);
    ftdi_ring_set_silence(f.ring, 300);
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, 10, &f.error), BT_TIMEOUT);
    fake_usb_take()->stopped = 1500;
    fake_usb_give();
    usleep(400000);
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, 10, &f.error), BT_TIMEOUT);
    send_random(&f, 100000, 7);
    receive(&f, READ_BYTES);
    fixture_close(&f);
}

/* A reader pauses for longer than the limit on silence: no transfer is queued meanwhile, so that
 * the chip cannot answer. */
static void test_slow_reader(void)
{
    struct fixture f;
    fixture_start_silent(&f, 3000);
    /* fills all buffers that the ring can have, but no more */
    size_t buffers = queued_now() + 64;
    fake_usb_take()->silent = false;
    fake_usb_give();
    send_random(&f, buffers * (FTDI_RING_TRANSFER_BYTES / PACKET) * (PACKET - 2), 5);
    CU_ASSERT_TRUE_FATAL(comes_to_queue(0));
    fake_usb_take()->silent = true;
    fake_usb_give();
    usleep(3100000);
    receive(&f, READ_BYTES);
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, 1, &f.error), BT_TIMEOUT);
    fake_usb_take()->silent = false;
    fake_usb_give();
    CU_ASSERT_TRUE(comes_to_queue(buffers - 64));
    send_random(&f, 1000000, 6);
    receive(&f, READ_BYTES);
    fixture_close(&f);
}

/* libusb fails repeatedly and immediately: the reader gets the error, and the loop is not busy. */
static void test_event_error(void)
{
    struct fixture f;
    fixture_start(&f);
    fake_usb_take()->event_error = LIBUSB_ERROR_IO;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, TIMEOUT_MS, &f.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message,
                           "board fake: USB events cannot be handled: LIBUSB_ERROR_IO");
    unsigned before = fake_usb_take()->waits;
    fake_usb_give();
    usleep(100000);
    CU_ASSERT(fake_usb_take()->waits - before < 1000);
    fake_usb_give();
    /* the error is not permanent */
    fake_usb_take()->event_error = 0;
    fake_usb_give();
    long result = BT_DEVICE;
    for (int i = 0; i < 2000 && result == BT_DEVICE; i++) {
        result = ftdi_ring_read(f.ring, f.got, READ_BYTES, 0, &f.error);
        usleep(10000);
    }
    CU_ASSERT_EQUAL(result, BT_TIMEOUT);
    send_random(&f, 1000, 7);
    receive(&f, READ_BYTES);
    /* a signal is not an error */
    fake_usb_take()->event_error = LIBUSB_ERROR_INTERRUPTED;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_ring_read(f.ring, f.got, READ_BYTES, 100, &f.error), BT_TIMEOUT);
    fake_usb_take()->event_error = 0;
    fake_usb_give();
    fixture_close(&f);
}

static const struct test_case cases[] = {{"streaming", test_stream},
                                         {"closing", test_close},
                                         {"unplugged", test_unplugged},
                                         {"unplugged after data", test_gone_behind},
                                         {"an error storm", test_storm},
                                         {"no memory in the kernel", test_no_memory},
                                         {"transfers that cannot be queued", test_not_queued},
                                         {"silence", test_silence},
                                         {"a reader that pauses", test_slow_reader},
                                         {"a process that was stopped", test_stopped},
                                         {"events that fail", test_event_error},
                                         {NULL, NULL}};
TEST_SUITE(ftdi_ring, cases)
