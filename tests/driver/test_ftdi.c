/* The parts of the FTDI driver that need no USB. */
#include "driver/ftdi.h"

#include "driver/ftdi_options.h"
#include "driver/ftdi_packets.h"
#include "driver/ftdi_ring.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

/* --- status bytes --- */

/* Byte by byte: the first two bytes of each packet are status. */
static size_t slow_strip(uint8_t *out, const uint8_t *transfer, size_t size, size_t packet)
{
    size_t copied = 0;
    for (size_t i = 0; i < size; i++)
        if (i % packet >= 2)
            out[copied++] = transfer[i];
    return copied;
}

static void test_strip(void)
{
    static uint8_t transfer[8192];
    static uint8_t expected[8192];
    for (unsigned seed = 0; seed < 5000; seed++) {
        uint64_t random = random_seed(seed);
        size_t packet = random_one_in(&random, 3) ? 64 : 512;
        size_t size = random_below(&random, sizeof transfer + 1);
        if (random_one_in(&random, 4))
            size = size / packet * packet + random_below(&random, 4);
        size = size > sizeof transfer ? sizeof transfer : size;
        random_fill(&random, transfer, size);
        uint8_t *exact = malloc(size + !size);
        memcpy(exact, transfer, size);
        size_t wanted = slow_strip(expected, transfer, size, packet);
        uint8_t *out = malloc(wanted + 1);
        size_t position = 0;
        size_t got = 0;
        while (position < size) {
            size_t capacity = 1 + random_below(&random, random_one_in(&random, 2) ? 2000 : 9);
            if (capacity > wanted - got + 1)
                capacity = wanted - got + 1;
            size_t before = position;
            got += ftdi_packets_strip(out + got, capacity, exact, size, packet, &position);
            CU_ASSERT_FATAL(position > before && position <= size);
        }
        CU_ASSERT_EQUAL(got, wanted);
        CU_ASSERT_EQUAL(memcmp(out, expected, wanted), 0);
        free(out);
        free(exact);
    }
}

/* An idle link: packets of only the two status bytes. */
static void test_strip_idle(void)
{
    const uint8_t status[2] = {0x31, 0x60};
    uint8_t out[4];
    size_t position = 0;
    CU_ASSERT_EQUAL(ftdi_packets_strip(out, sizeof out, status, 2, 512, &position), 0);
    CU_ASSERT_EQUAL(position, 2);
    position = 0;
    CU_ASSERT_EQUAL(ftdi_packets_strip(out, sizeof out, status, 1, 512, &position), 0);
    CU_ASSERT_EQUAL(position, 1);
    position = 0;
    CU_ASSERT_EQUAL(ftdi_packets_strip(out, sizeof out, status, 0, 512, &position), 0);
}

static void test_eeprom(void)
{
    CU_ASSERT_TRUE(ftdi_packets_fifo_mode(0x0001, false, 'A'));
    CU_ASSERT_TRUE(ftdi_packets_fifo_mode(0x0811, false, 'A')); /* with the VCP driver bit */
    CU_ASSERT_FALSE(ftdi_packets_fifo_mode(0x0000, false, 'A'));
    CU_ASSERT_FALSE(ftdi_packets_fifo_mode(0xffff, false, 'A'));
    CU_ASSERT_FALSE(ftdi_packets_fifo_mode(0x0009, false, 'A'));
    CU_ASSERT_TRUE(ftdi_packets_fifo_mode(0x0809, true, 'A'));
    CU_ASSERT_FALSE(ftdi_packets_fifo_mode(0x0001, true, 'B'));
    CU_ASSERT_TRUE(ftdi_packets_fifo_mode(0x0100, true, 'B'));
}

/* --- memory for transfers --- */

static void test_clamp(void)
{
    const size_t bytes = FTDI_RING_TRANSFER_BYTES;
    CU_ASSERT_EQUAL(ftdi_ring_clamp(64, bytes, 0), 64);   /* no limit */
    CU_ASSERT_EQUAL(ftdi_ring_clamp(64, bytes, 16), 64);  /* 12 MiB of 8 */
    CU_ASSERT_EQUAL(ftdi_ring_clamp(200, bytes, 16), 96); /* a quarter is left */
    CU_ASSERT_EQUAL(ftdi_ring_clamp(64, bytes, 4), 24);
    CU_ASSERT_EQUAL(ftdi_ring_clamp(64, bytes, 1), 6);
    CU_ASSERT_EQUAL(ftdi_ring_clamp(64, 1 << 20, 4), 0); /* 3 are too few */
    CU_ASSERT_EQUAL(ftdi_ring_clamp(64, bytes, 4294967295u), 64);
    CU_ASSERT_EQUAL(ftdi_ring_halve(64, 64), 64);
    CU_ASSERT_EQUAL(ftdi_ring_halve(64, 63), 32);
    CU_ASSERT_EQUAL(ftdi_ring_halve(64, 31), 16);
    CU_ASSERT_EQUAL(ftdi_ring_halve(64, 4), 4);
    CU_ASSERT_EQUAL(ftdi_ring_halve(64, 3), 0);
    CU_ASSERT_EQUAL(ftdi_ring_halve(64, 0), 0);
}

/* --- options --- */

static void test_options(void)
{
    struct ftdi_options o;
    CU_ASSERT_EQUAL(ftdi_options_parse(&o, "", NULL), 0);
    CU_ASSERT_EQUAL(o.channel, 'A');
    CU_ASSERT_TRUE(ftdi_options_match(&o, 0x0403, 0x6014, "any", "thing"));
    CU_ASSERT_TRUE(ftdi_options_match(&o, 0x0403, 0x6010, "", ""));
    CU_ASSERT_FALSE(ftdi_options_match(&o, 0x0403, 0x6001, "", "")); /* FT232R: no FIFO */
    CU_ASSERT_FALSE(ftdi_options_match(&o, 0x0404, 0x6014, "", ""));
    CU_ASSERT_EQUAL(
        ftdi_options_parse(&o, "pid=0xBEEF,serial=BT0001,channel=b,vid=1209,description=bus tap",
                           NULL),
        0);
    CU_ASSERT_EQUAL(o.channel, 'B');
    CU_ASSERT_TRUE(ftdi_options_match(&o, 0x1209, 0xbeef, "BT0001", "bus tap"));
    CU_ASSERT_FALSE(ftdi_options_match(&o, 0x1209, 0xbeef, "BT0002", "bus tap"));
    CU_ASSERT_FALSE(ftdi_options_match(&o, 0x1209, 0xbeef, "BT0001", "bus"));
    CU_ASSERT_FALSE(ftdi_options_match(&o, 0x0403, 0x6014, "BT0001", "bus tap"));
}

static void test_wrong_options(void)
{
    static const char *const wrong[] = {
        "serial",
        "serial=",
        "serial=a,",
        "serial=a,serial=b",
        ",",
        "=",
        "vid=0403",
        "vid=0403,pid=",
        "speed=1",
        "vid=0403,pid=zz",
        "vid=10403,pid=1",
        "vid=-1,pid=1",
        "channel=C",
        "channel=AB",
        "channel=",
        "Serial=a",
        "serial=0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ftdi_options o;
        struct bt_error error = {0};
        CU_ASSERT_EQUAL(ftdi_options_parse(&o, wrong[i], &error), BT_USAGE);
        CU_ASSERT(strlen(error.message) > 10);
    }
}

/* --- without a board --- */

static void test_no_board(void)
{
    struct stream *stream = NULL;
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(ftdi_open(&stream, "vid=fffe,pid=fffe", &error), BT_DEVICE);
    CU_ASSERT(strlen(error.message) > 10);
    CU_ASSERT_EQUAL(ftdi_open(&stream, "channel=Z", &error), BT_USAGE);
    struct board_listing *listings;
    size_t count;
    CU_ASSERT_EQUAL(ftdi_list(&listings, &count, &error), 0);
    free(listings);
}

static const struct test_case cases[] = {{"status bytes are removed", test_strip},
                                         {"an idle link", test_strip_idle},
                                         {"EEPROM modes", test_eeprom},
                                         {"memory for transfers", test_clamp},
                                         {"options", test_options},
                                         {"wrong options", test_wrong_options},
                                         {"no board", test_no_board},
                                         {NULL, NULL}};
TEST_SUITE(ftdi, cases)
