/* Chunks of WET files: random streams and indexes, read again; outcomes. */
#include "formats/wet/wet_chunk.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

#define IDS    200u
#define ROUNDS 30u

static void test_streams(void)
{
    struct wet_chunk again = {.streams = {{.bytes = NULL}}};
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t random = random_seed(round);
        struct wet_chunk chunk = {.streams = {{.bytes = NULL}}};
        struct wet_bytes bytes = {.bytes = NULL};
        struct bt_error error;
        for (unsigned i = 0; i < WET_STREAMS; i++)
            for (uint64_t left = random_below(&random, 300); left > 0; left--)
                wet_bytes_put(&chunk.streams[i], random_next(&random) >> random_below(&random, 64));
        CU_ASSERT_EQUAL(wet_chunk_put(&chunk, &bytes), 0);
        CU_ASSERT_EQUAL_FATAL(wet_chunk_get(&again, &bytes, &error), 0);
        for (unsigned i = 0; i < WET_STREAMS; i++) {
            CU_ASSERT_EQUAL(again.streams[i].size, chunk.streams[i].size);
            CU_ASSERT(
                chunk.streams[i].size == 0 ||
                memcmp(again.streams[i].bytes, chunk.streams[i].bytes, chunk.streams[i].size) == 0);
        }
        bytes.size--;
        CU_ASSERT_EQUAL(wet_chunk_get(&again, &bytes, &error), BT_DATA);
        bytes.size++;
        wet_bytes_put(&bytes, 0);
        CU_ASSERT_EQUAL(wet_chunk_get(&again, &bytes, &error), BT_DATA);
        wet_chunk_clear(&chunk);
        free(bytes.bytes);
    }
    wet_chunk_clear(&again);
}

/* Puts extents of random sizes; *extents is what the index must give. */
static size_t put_slices(struct wet_chunk *chunk, bool labels, uint64_t *random,
                         struct wet_extent *extents)
{
    struct wet_bytes bytes = {.bytes = NULL};
    uint32_t last = 0;
    size_t count = 0, offset = 0;
    for (uint32_t id = 1; id < IDS; id++)
        for (uint32_t operand = 0; operand < (labels ? 3u : 1u); operand++) {
            if (random_one_in(random, 2))
                continue;
            bytes.size = 0;
            for (uint64_t left = random_below(random, 20); left > 0; left--)
                wet_bytes_put(&bytes, random_below(random, 200));
            if (labels)
                wet_chunk_put_labels(chunk, id, operand, &bytes, &last);
            else
                wet_chunk_put_outcomes(chunk, id, &bytes, &last);
            extents[count++] = (struct wet_extent){
                .id = id, .operand = operand, .offset = offset, .size = bytes.size};
            offset += bytes.size;
        }
    free(bytes.bytes);
    return count;
}

static void check_index(bool labels, uint64_t seed)
{
    static struct wet_extent expected[3 * IDS];
    uint64_t random = random_seed(seed);
    struct wet_chunk chunk = {.streams = {{.bytes = NULL}}};
    struct wet_extent *extents;
    struct bt_error error;
    size_t count, wanted = put_slices(&chunk, labels, &random, expected);
    CU_ASSERT_EQUAL_FATAL(wet_chunk_index(&chunk, labels, IDS, &extents, &count, &error), 0);
    CU_ASSERT_EQUAL(count, wanted);
    for (size_t i = 0; i < count && i < wanted; i++) {
        CU_ASSERT_EQUAL(extents[i].id, expected[i].id);
        CU_ASSERT_EQUAL(extents[i].operand, expected[i].operand);
        CU_ASSERT_EQUAL(extents[i].offset, expected[i].offset);
        CU_ASSERT_EQUAL(extents[i].size, expected[i].size);
    }
    free(extents);
    /* ids that the file does not have */
    CU_ASSERT_EQUAL(
        wet_chunk_index(&chunk, labels, expected[wanted - 1].id, &extents, &count, &error),
        BT_DATA);
    free(extents);
    chunk.streams[labels ? WET_STREAM_LABELS : WET_STREAM_OUTCOMES].size /= 2;
    CU_ASSERT_EQUAL(wet_chunk_index(&chunk, labels, IDS, &extents, &count, &error), BT_DATA);
    free(extents);
    wet_chunk_clear(&chunk);
}

static void test_index(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_index(true, round);
        check_index(false, round);
    }
}

static void test_outcomes(void)
{
    bool outcomes[500];
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t random = random_seed(round);
        const size_t count = round == 0 ? 0 : 1 + random_below(&random, 500);
        struct wet_outcomes state = {.current = false};
        struct wet_bytes bytes = {.bytes = NULL};
        bool read;
        for (size_t i = 0; i < count; i++) {
            outcomes[i] = random_one_in(&random, 1 + round % 5);
            wet_outcomes_put(&state, outcomes[i], &bytes);
        }
        wet_outcomes_finish(&state, &bytes);
        struct wet_cursor from = {.at = bytes.bytes, .end = bytes.bytes + bytes.size};
        state = (struct wet_outcomes){.current = false};
        for (size_t i = 0; i < count; i++) {
            CU_ASSERT_EQUAL(wet_outcomes_get(&state, &from, &read), 0);
            CU_ASSERT_EQUAL(read, outcomes[i]);
        }
        CU_ASSERT(from.at == from.end);
        CU_ASSERT_EQUAL(wet_outcomes_get(&state, &from, &read), BT_DATA);
        free(bytes.bytes);
    }
}

static const struct test_case cases[] = {
    {"streams", test_streams}, {"index", test_index}, {"outcomes", test_outcomes}, {NULL, NULL}};
TEST_SUITE(wet_chunk, cases)
