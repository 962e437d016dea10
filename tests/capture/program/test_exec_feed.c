/* Executions of blocks from one process to another, and into members, without records in between.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "capture/program/exec_source.h"
#include "formats/blocks/block_decoder.h"
#include "formats/blocks/block_encoder.h"
#include "tests/suites.h"
#include "tests/support/exec_play.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPACITY_MAX 40000u
#define SEEDS        30u

/* The reader of a capture, and the decoder of its members. */
struct reading {
    struct message_ring *ring;
    struct source *source;
    struct block_encoder *encoder;
    struct block_decoder *decoder;
    struct record *buffer, *taken;
    uint8_t *bytes;
    size_t count;  /* of `taken` */
    uint64_t tick; /* of the last one */
    size_t words;  /* segments of words so far */
    uint64_t state;
};

static struct reading begin_reading(uint64_t seed)
{
    static const struct capture_info info = {.bus = CAPTURE_BUS_PROGRAM};
    const struct alive taker = alive_process(getpid());
    void *memory =
        mmap(NULL, message_ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(memory != MAP_FAILED);
    struct reading reading = {.ring = message_ring_at(memory, &taker),
                              .encoder = block_encoder_new(NULL),
                              .decoder = block_decoder_new(NULL),
                              .buffer = malloc(CAPACITY_MAX * sizeof(struct record)),
                              .taken = malloc(EXEC_PLAY_ROOM * sizeof(struct record)),
                              .bytes = malloc(block_encoder_bound(CAPACITY_MAX)),
                              .state = seed};
    reading.source = exec_source_new(reading.ring, &info, NULL);
    CU_ASSERT_FATAL(reading.source && reading.encoder && reading.decoder);
    return reading;
}

static void end_reading(struct reading *reading)
{
    source_close(reading->source);
    block_encoder_free(reading->encoder);
    block_decoder_free(reading->decoder);
    free(reading->buffer);
    free(reading->taken);
    free(reading->bytes);
    munmap(reading->ring, message_ring_bytes());
}

/* Checks a part's clocks, and joins it to the block as a capture's reader does. */
static void join_part(struct reading *reading, struct batch *block, const struct batch *part)
{
    const uint32_t time = block_feed_time(block->feed, block->records, block->count);
    CU_ASSERT(part->count <= part->capacity && part->first_index == reading->count + block->count);
    CU_ASSERT_EQUAL(part->first_tick, reading->tick + time);
    if (part->gap.chosen)
        block_feed_mark(block->feed, block->records, block->count, ATTRIBUTE_PART);
    block->parts += part->parts + part->gap.chosen;
    block->events |= part->events;
    block->count += part->count;
    reading->tick = part->last_tick;
}

/* Reads parts until the block is full, or the source has ended. Returns its last result. */
static int fill(struct reading *reading, struct batch *block)
{
    int result = 1;
    while (result != 0 && block->count < block->capacity) {
        struct batch part = {.records = block->records + block->count,
                             .capacity = block->capacity - block->count,
                             .feed = block->feed};
        block->feed->base = block->count;
        result =
            source_next(reading->source, &part, random_next(&reading->state) % 2 ? -1 : 10, NULL);
        CU_ASSERT_FATAL(result == 1 || result == 0 || result == BT_TIMEOUT);
        if (result == 1)
            join_part(reading, block, &part);
    }
    return result;
}

/* Codes the block, and decodes it to the records taken. */
static void take_block(struct reading *reading, const struct batch *block)
{
    struct record *to = reading->taken + reading->count;
    uint32_t check, check_back;
    size_t size;
    if (block->count == 0)
        return;
    for (size_t i = 0; i < block->feed->count; i++)
        reading->words += block->feed->segments[i].table != NULL;
    CU_ASSERT_FATAL(reading->count + block->count <= EXEC_PLAY_ROOM);
    CU_ASSERT_EQUAL(block_encoder_feed(reading->encoder, block->feed, block->records, block->count,
                                       reading->bytes, block_encoder_bound(block->count), &size,
                                       &check, NULL),
                    0);
    CU_ASSERT_EQUAL_FATAL(
        block_decode(reading->decoder, reading->bytes, size, to, block->count, &check_back, NULL),
        0);
    CU_ASSERT_EQUAL(check, check_back);
    CU_ASSERT_EQUAL(block->parts, records_parts(to, block->count));
    CU_ASSERT_EQUAL(block->events, records_have_events(to, block->count));
    reading->count += block->count;
}

static void compare_play(uint64_t seed, struct exec_play_output *expected)
{
    struct reading reading = begin_reading(seed);
    struct block_feed *feed = block_feed_new(seed % 5 ? 500 : 4);
    int result, status = -1;
    expected->count = 0;
    exec_play_expand(seed, expected);
    const pid_t child = exec_play_put(reading.ring, seed);
    do {
        struct batch block = {
            .records = reading.buffer,
            .capacity = random_next(&reading.state) % (seed % 2 ? CAPACITY_MAX : 4000) + 1,
            .feed = feed};
        result = fill(&reading, &block);
        take_block(&reading, &block);
        block_feed_clear(feed);
    } while (result != 0);
    CU_ASSERT_TRUE(reading.words > 0);
    CU_ASSERT_EQUAL_FATAL(reading.count, expected->count);
    CU_ASSERT_EQUAL(memcmp(reading.taken, expected->records, reading.count * sizeof(struct record)),
                    0);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    block_feed_free(feed);
    end_reading(&reading);
}

/* Members hold the records that the expansion in the program's process gives. */
static void test_members(void)
{
    struct exec_play_output expected = {malloc(EXEC_PLAY_ROOM * sizeof(struct record)), 0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        compare_play(seed, &expected);
    free(expected.records);
}

/* A part with a time that saturated is records alone: it may begin another block. */
static void test_saturated(void)
{
    struct reading reading = begin_reading(1);
    struct exec_sender sender = {.ring = reading.ring};
    const struct exec_marks none = {.begins_part = false};
    const struct record records[3] = {{.time = 1}, {.time = UINT32_MAX}, {.time = 2}};
    const size_t counts[2] = {1, 2};
    struct block_feed *feed = block_feed_new(4);
    CU_ASSERT_EQUAL(exec_sender_records(&sender, records, 3, &none), 0);
    message_ring_end(reading.ring);
    struct batch part = {.records = reading.buffer, .capacity = 10, .feed = feed};
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(source_next(reading.source, &part, -1, NULL), 1);
        CU_ASSERT(part.count == counts[i] && feed->count == 1);
        feed->base = part.count;
        part.records += part.count;
    }
    block_feed_cut_records(feed, 1);
    CU_ASSERT(feed->count == 1 && feed->segments[0].count == 1);
    block_feed_cut_records(feed, 0);
    CU_ASSERT_EQUAL(feed->count, 0);
    block_feed_free(feed);
    end_reading(&reading);
}

static const struct test_case cases[] = {{"members of executions", test_members},
                                         {"times that saturated", test_saturated},
                                         {NULL, NULL}};
TEST_SUITE(exec_feed, cases)
