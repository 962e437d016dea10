/* Labels of memory ports: each way of prediction, random sets, and bytes that are no labels. */
#include "formats/wet/wet_labels.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

#define IDS    5u
#define LABELS 400u
#define RANGES 20u

/* A label, with the numbers of instances before it. */
struct random_label {
    uint64_t instances[IDS + 1];
    struct wet_writers writers[RANGES];
    uint32_t count;
};

struct labels {
    unsigned count;
    struct random_label labels[LABELS];
};

static struct wet_bytes write_labels(const struct labels *labels)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_port port = {.run = 0};
    for (unsigned i = 0; i < labels->count; i++) {
        const struct wet_writers *first = labels->labels[i].writers;
        const uint32_t count = labels->labels[i].count;
        const uint64_t *instances = labels->labels[i].instances;
        const int result = count == 0 || (count == 1 && first->count == 1)
                               ? wet_port_put(&port, i, count ? first->id : 0,
                                              count ? first->first : 0, instances, &bytes)
                               : wet_port_put_ranges(&port, i, first, count, instances, &bytes);
        CU_ASSERT_EQUAL(result, 0);
    }
    CU_ASSERT_EQUAL(wet_port_finish(&port, &bytes), 0);
    wet_port_clear(&port);
    return bytes;
}

/* Number of labels that are read as they were written. */
static unsigned read_labels(const struct labels *labels, const struct wet_bytes *bytes)
{
    struct wet_cursor from = {.at = bytes->bytes, .end = bytes->bytes + bytes->size};
    struct wet_port port = {.run = 0};
    struct wet_ranges ranges = {.ranges = NULL};
    unsigned same = 0;
    for (unsigned i = 0; i < labels->count; i++) {
        const struct wet_writers *writers = labels->labels[i].writers;
        bool equal =
            wet_port_get(&port, i, IDS, labels->labels[i].instances, &from, &ranges) == 0 &&
            ranges.count == labels->labels[i].count;
        for (size_t r = 0; equal && r < ranges.count; r++)
            equal = ranges.ranges[r].id == writers[r].id &&
                    ranges.ranges[r].first == writers[r].first &&
                    ranges.ranges[r].count == writers[r].count;
        same += equal;
    }
    CU_ASSERT(from.at == from.end);
    free(ranges.ranges);
    wet_port_clear(&port);
    return same;
}

/* A loop: in each iteration every instruction has one more instance. The port depends on instance
 * `first + step * i` of instruction 1. */
static size_t bytes_of_loop(uint64_t first, uint64_t step)
{
    static struct labels labels;
    labels.count = 100;
    for (unsigned i = 0; i < labels.count; i++) {
        for (unsigned id = 1; id <= IDS; id++)
            labels.labels[i].instances[id] = 200 + i;
        labels.labels[i].writers[0] =
            (struct wet_writers){.id = 1, .first = first + step * i, .count = 1};
        labels.labels[i].count = 1;
    }
    struct wet_bytes bytes = write_labels(&labels);
    CU_ASSERT_EQUAL(read_labels(&labels, &bytes), labels.count);
    free(bytes.bytes);
    return bytes.size;
}

static void test_ways(void)
{
    CU_ASSERT(bytes_of_loop(199, 1) <= 8); /* the latest instance */
    CU_ASSERT(bytes_of_loop(3, 1) <= 8);   /* the reader's own number */
    CU_ASSERT(bytes_of_loop(7, 0) <= 10);  /* always the same one */
    CU_ASSERT(bytes_of_loop(100, UINT64_MAX) <= 310);
}

/* Without a writer, only the number of labels is stored. */
static void test_no_writer(void)
{
    static struct labels labels;
    labels.count = LABELS;
    for (unsigned i = 0; i < LABELS; i++)
        labels.labels[i].count = 0;
    struct wet_bytes bytes = write_labels(&labels);
    CU_ASSERT_EQUAL(bytes.size, 2);
    CU_ASSERT_EQUAL(read_labels(&labels, &bytes), LABELS);
    free(bytes.bytes);
}

/* Ranges in their order, which do not touch: of an id several, if it has many instances. */
static void random_set(struct random_label *label, const uint64_t *instances, uint64_t *random)
{
    const uint64_t chance = 1 + random_below(random, 8);
    for (uint32_t id = 1; id <= IDS; id++) {
        uint64_t first = 0;
        while (label->count < RANGES && random_below(random, chance) == 0) {
            first += random_below(random, 10);
            if (first >= instances[id])
                break;
            const uint64_t count = 1 + random_below(random, instances[id] - first);
            label->writers[label->count++] =
                (struct wet_writers){.id = id, .first = first, .count = count};
            first += count + 1;
        }
    }
}

/* A set that mostly repeats the one before in some way. */
static void random_labels(struct labels *labels, uint64_t *random)
{
    uint64_t instances[IDS + 1] = {0};
    labels->count = 1 + (unsigned)random_below(random, LABELS);
    for (unsigned i = 0; i < labels->count; i++) {
        const bool repeats = i > 0 && random_below(random, 4) > 0;
        for (unsigned id = 1; id <= IDS; id++)
            instances[id] += repeats ? 1 : random_below(random, 50);
        memcpy(labels->labels[i].instances, instances, sizeof instances);
        if (repeats) {
            const uint64_t step = random_below(random, 2);
            labels->labels[i].count = labels->labels[i - 1].count;
            for (unsigned r = 0; r < labels->labels[i].count; r++) {
                labels->labels[i].writers[r] = labels->labels[i - 1].writers[r];
                labels->labels[i].writers[r].first += step;
            }
            continue;
        }
        labels->labels[i].count = 0;
        random_set(&labels->labels[i], instances, random);
    }
}

static void test_random_labels(void)
{
    static struct labels labels;
    unsigned different = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = random_seed(seed);
        random_labels(&labels, &random);
        struct wet_bytes bytes = write_labels(&labels);
        different += labels.count - read_labels(&labels, &bytes);
        free(bytes.bytes);
    }
    CU_ASSERT_EQUAL(different, 0);
}

/* Each label is an error, or names instances that exist. */
static void test_other_bytes(void)
{
    static const uint64_t instances[IDS + 1] = {0, 3, 0, 100, 1, UINT64_MAX};
    unsigned wrong = 0, errors = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        uint64_t random = random_seed(seed);
        uint8_t bytes[64];
        struct wet_port port = {.run = 0};
        struct wet_ranges ranges = {.ranges = NULL};
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)random_below(&random, random_below(&random, 8) ? 12 : 256);
        struct wet_cursor from = {.at = bytes, .end = bytes + sizeof bytes};
        int result = 0;
        for (uint64_t reader = 0; reader < 100 && result == 0; reader++) {
            result = wet_port_get(&port, reader, IDS, instances, &from, &ranges);
            for (size_t r = 0; r < ranges.count; r++) {
                const struct wet_writers *writers = &ranges.ranges[r];
                wrong += writers->id == 0 || writers->id > IDS ||
                         writers->first + writers->count > instances[writers->id];
            }
        }
        wrong += result != 0 && result != BT_DATA;
        errors += result == BT_DATA;
        free(ranges.ranges);
        wet_port_clear(&port);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(errors > 1000);
}

static void test_numbers(void)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, UINT32_MAX, INT64_MAX, UINT64_MAX};
    struct wet_bytes bytes = {.bytes = NULL};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const size_t before = bytes.size;
        wet_bytes_put(&bytes, numbers[i]);
        CU_ASSERT_EQUAL(bytes.size - before, wet_number_size(numbers[i]));
        CU_ASSERT_EQUAL(wet_unzigzag(wet_zigzag(numbers[i])), numbers[i]);
    }
    struct wet_cursor from = {.at = bytes.bytes, .end = bytes.bytes + bytes.size};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CU_ASSERT_EQUAL(wet_cursor_get(&from), numbers[i]);
    CU_ASSERT(!from.failed);
    CU_ASSERT_EQUAL(wet_cursor_get(&from), 0);
    CU_ASSERT(from.failed);
    static const uint8_t long_one[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    from = (struct wet_cursor){.at = long_one, .end = long_one + sizeof long_one};
    wet_cursor_get(&from);
    CU_ASSERT(from.failed);
    CU_ASSERT_EQUAL(wet_zigzag(UINT64_MAX), 1); /* -1 */
    free(bytes.bytes);
}

static const struct test_case cases[] = {
    {"numbers", test_numbers},         {"ways of prediction", test_ways},
    {"no writer", test_no_writer},     {"random labels", test_random_labels},
    {"other bytes", test_other_bytes}, {NULL, NULL}};
TEST_SUITE(wet_labels, cases)
