#include "formats/wire/packing.h"

#include "tests/suites.h"
#include "tests/support/records.h"
#include "tests/support/wire_frames.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 600u

/* --- the slow twin: a decoder written from doc/wire-protocol.md, byte by byte --- */

struct twin {
    const uint8_t *bytes;
    size_t left;
    int broken;
};

static uint32_t twin_number(struct twin *twin, unsigned size)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        if (twin->left == 0) {
            twin->broken = 1;
            return 0;
        }
        value |= (uint32_t)*twin->bytes++ << 8 * i;
        twin->left--;
    }
    return value;
}

struct twin_slot {
    int filled;
    uint8_t kind[4];
    uint32_t address, time;
};

static void twin_address(struct twin *twin, struct twin_slot *slot, unsigned code)
{
    if (code == 3) {
        slot->address = twin_number(twin, 4);
        return;
    }
    int64_t difference = twin_number(twin, code + 1);
    int64_t range = (int64_t)1 << 8 * (code + 1);
    if (difference >= range / 2)
        difference -= range;
    slot->address = (uint32_t)(((int64_t)slot->address + difference) & 0xffffffff);
}

static int twin_get_all(struct record *records, size_t count, const uint8_t *bytes, size_t size)
{
    struct twin twin = {.bytes = bytes, .left = size, .broken = 0};
    struct twin_slot slots[15];
    memset(slots, 0, sizeof slots);
    unsigned turn = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned control = twin_number(&twin, 1);
        unsigned number = control % 16;
        if (number == 15) {
            number = turn;
            turn = turn == 14 ? 0 : turn + 1;
            memset(&slots[number], 0, sizeof slots[number]);
            slots[number].filled = 1;
            for (unsigned k = 0; k < 4; k++)
                slots[number].kind[k] = (uint8_t)twin_number(&twin, 1);
        }
        struct twin_slot *slot = &slots[number];
        if (!slot->filled)
            return -1;
        twin_address(&twin, slot, control / 16 % 4);
        if (control / 64 != 3)
            slot->time = twin_number(&twin, control / 64 == 2 ? 4 : control / 64 + 1);
        if (twin.broken)
            return -1;
        records[i] = (struct record){.address = slot->address,
                                     .type = slot->kind[0],
                                     .size = slot->kind[1],
                                     .attribute = slot->kind[2],
                                     .processor = slot->kind[3],
                                     .time = slot->time};
    }
    return twin.left == 0 ? 0 : -1;
}

/* --- tests --- */

static void round_trip(const struct record *records, size_t count)
{
    /* of exactly the size needed, so that a sanitizer detects accesses past its end */
    uint8_t *packed = malloc(count * PACKING_RECORD_MAX_BYTES + 1);
    struct record *back = malloc((count + 1) * sizeof *back);
    size_t size = wire_frames_pack(packed, records, count);
    uint8_t *exact = malloc(size + 1);
    memcpy(exact, packed, size);
    CU_ASSERT(size <= count * PACKING_RECORD_MAX_BYTES);
    CU_ASSERT_EQUAL(packing_get_all(back, count, exact, size), 0);
    CU_ASSERT_EQUAL(memcmp(back, records, count * sizeof *back), 0);
    CU_ASSERT_EQUAL(twin_get_all(back, count, exact, size), 0);
    CU_ASSERT_EQUAL(memcmp(back, records, count * sizeof *back), 0);
    /* one record more or less than there are, one byte more or less */
    CU_ASSERT_EQUAL(packing_get_all(back, count + 1, exact, size), -1);
    if (count > 0) {
        CU_ASSERT_EQUAL(packing_get_all(back, count - 1, exact, size), -1);
        CU_ASSERT_EQUAL(packing_get_all(back, count, exact, size - 1), -1);
    }
    free(exact);
    free(back);
    free(packed);
}

static void test_round_trips(void)
{
    struct record records[RECORDS_MAX];
    for (unsigned seed = 0; seed < 4000; seed++) {
        uint64_t random = random_seed(seed);
        size_t count = random_below(&random, seed % 16 ? 40 : RECORDS_MAX);
        if (seed % 2)
            wire_frames_realistic(&random, records, count);
        else
            wire_frames_arbitrary(&random, records, count);
        round_trip(records, count);
    }
}

/* Each form at its limits: the largest difference that fits, and the next one. */
static void test_limits(void)
{
    static const struct {
        uint32_t difference;
        size_t bytes;
    } cases[] = {{0, 2},        {0x7f, 2},       {0x80, 3},       {0xffffff80, 2}, {0xffffff7f, 3},
                 {0x7fff, 3},   {0x8000, 4},     {0xffff8000, 3}, {0xffff7fff, 4}, {0x7fffff, 4},
                 {0x800000, 5}, {0xff800000, 4}, {0xff7fffff, 5}, {0x80000000, 5}, {0x7fffffff, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct packing packing;
        packing_reset(&packing);
        uint8_t out[PACKING_RECORD_MAX_BYTES];
        struct record record = {.address = 0xdeadbeef, .time = 9};
        packing_put(&packing, &record, out);
        record.address += cases[i].difference;
        CU_ASSERT_EQUAL(packing_put(&packing, &record, out), cases[i].bytes);
    }
    static const struct {
        uint32_t time;
        size_t bytes;
    } times[] = {{0, 2}, {1, 3}, {0xff, 3}, {0x100, 4}, {0xffff, 4}, {0x10000, 6}, {0xffffffff, 6}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct packing packing;
        packing_reset(&packing);
        uint8_t out[PACKING_RECORD_MAX_BYTES];
        struct record record = {.address = 0};
        packing_put(&packing, &record, out);
        record.time = times[i].time;
        CU_ASSERT_EQUAL(packing_put(&packing, &record, out), times[i].bytes);
    }
}

/* The worked example of doc/wire-protocol.md, "Packed records", byte for byte. */
static void test_worked_example(void)
{
    static const uint8_t bytes[] = {
        0x2f, 0x00, 0x08, 0x07, 0x00, 0x00, 0x10, 0x0f, 0x60,                         /* 0 */
        0x00, 0x08, 0x6e,                                                             /* 1 */
        0x6f, 0x03, 0x08, 0x07, 0x01, 0xc0, 0x16, 0x70, 0x84, 0x03,                   /* 2 */
        0xc0, 0xf0,                                                                   /* 3 */
        0xbf, 0x03, 0x04, 0x00, 0x01, 0x00, 0x03, 0xe0, 0xfe, 0xa0, 0x86, 0x01, 0x00, /* 4 */
        0x81, 0x20, 0xa0, 0x86, 0x01, 0x00};                                          /* 5 */
    const struct record *expected = records_worked_example;
    struct record records[6];
    CU_ASSERT_EQUAL(packing_get_all(records, 6, bytes, sizeof bytes), 0);
    CU_ASSERT_EQUAL(memcmp(records, expected, sizeof records), 0);
    CU_ASSERT_EQUAL(twin_get_all(records, 6, bytes, sizeof bytes), 0);
    CU_ASSERT_EQUAL(memcmp(records, expected, sizeof records), 0);
    uint8_t packed[6 * PACKING_RECORD_MAX_BYTES];
    CU_ASSERT_EQUAL(wire_frames_pack(packed, expected, 6), sizeof bytes);
    CU_ASSERT_EQUAL(memcmp(packed, bytes, sizeof bytes), 0);
}

static void test_packed_is_smaller(void)
{
    uint64_t random = random_seed(7);
    enum { COUNT = 5000 };
    struct record *records = malloc(COUNT * sizeof *records);
    uint8_t *packed = malloc(COUNT * PACKING_RECORD_MAX_BYTES);
    wire_frames_realistic(&random, records, COUNT);
    size_t size = wire_frames_pack(packed, records, COUNT);
    CU_ASSERT(size < COUNT * RECORD_BYTES / 2);
    free(packed);
    free(records);
}

/* Random octets, or packed records with some octets changed. Returns their number. */
static size_t make_octets(uint64_t *random, uint8_t *bytes, size_t count)
{
    struct record records[12];
    wire_frames_realistic(random, records, count);
    size_t size = wire_frames_pack(bytes, records, count);
    if (random_one_in(random, 4))
        random_fill(random, bytes, size);
    for (size_t flips = random_below(random, 4); flips > 0 && size > 0; flips--)
        bytes[random_below(random, size)] ^= (uint8_t)random_next32(random);
    return random_one_in(random, 4) ? random_below(random, size + 1) : size;
}

/* Any octets: the same result as the twin, and no access outside. */
static void test_any_octets(void)
{
    unsigned good = 0;
    for (unsigned seed = 0; seed < 20000; seed++) {
        uint64_t random = random_seed(seed);
        struct record ours[12] = {{.address = 0}};
        struct record twins[12] = {{.address = 0}};
        uint8_t made[12 * PACKING_RECORD_MAX_BYTES];
        size_t count = random_below(&random, 13);
        size_t size = make_octets(&random, made, count);
        uint8_t *bytes = malloc(size + !size);
        memcpy(bytes, made, size);
        int result = packing_get_all(ours, count, bytes, size);
        CU_ASSERT_EQUAL(result, twin_get_all(twins, count, bytes, size));
        if (result == 0) {
            good++;
            CU_ASSERT_EQUAL(memcmp(ours, twins, count * sizeof ours[0]), 0);
        }
        free(bytes);
    }
    CU_ASSERT(good > 5000 && good < 15000);
}

static const struct test_case cases[] = {{"round trips", test_round_trips},
                                         {"limits of each form", test_limits},
                                         {"the specification's example", test_worked_example},
                                         {"packed is smaller", test_packed_is_smaller},
                                         {"any octets", test_any_octets},
                                         {NULL, NULL}};
TEST_SUITE(packing, cases)
