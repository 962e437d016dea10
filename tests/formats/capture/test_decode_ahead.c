/* A reader whose blocks are decompressed ahead gives what one without threads gives, call by call.
 */
#include "formats/blocks/block_executions.h"
#include "formats/capture/trace_reader.h"
#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/members.h"
#include "tests/support/program_records.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

#define FILES       60u
#define RECORDS_MAX 120000u
#define CAPACITY    50000u

/* What one call returned. */
struct result {
    int code;
    struct batch batch;
    struct bt_error error;
    uint64_t position, offset;
};

/* A buffer for records; exchangeable as in struct batch. */
struct room {
    struct record *records;
    size_t exchangeable;
};

static struct result next(struct trace_reader *reader, struct room *room, size_t capacity)
{
    struct result result = {.batch = {.records = room->records,
                                      .capacity = capacity,
                                      .exchangeable = room->exchangeable}};
    result.code = source_next(trace_reader_source(reader), &result.batch, -1, &result.error);
    CU_ASSERT(room->exchangeable > 0 || result.batch.records == room->records);
    CU_ASSERT(room->exchangeable == 0 || result.batch.exchangeable >= capacity);
    *room = (struct room){result.batch.records, result.batch.exchangeable};
    result.position = trace_reader_position(reader);
    result.offset = trace_reader_offset(reader);
    return result;
}

static bool same_loss(const struct loss *a, const struct loss *b)
{
    return loss_total(a) == loss_total(b) && a->first_tick == b->first_tick &&
           a->last_tick == b->last_tick;
}

/* A message after the name of the file, which of a pipe is another one. */
static const char *sentence(const struct result *result)
{
    const char *colon = strchr(result->error.message, ':');
    return colon ? colon : result->error.message;
}

static bool same(const struct result *a, const struct result *b)
{
    if (a->code != b->code || a->position != b->position || a->offset != b->offset)
        return false;
    if (a->code != 1)
        return a->code == 0 || strcmp(sentence(a), sentence(b)) == 0;
    return a->batch.count == b->batch.count && a->batch.first_index == b->batch.first_index &&
           a->batch.first_tick == b->batch.first_tick && a->batch.last_tick == b->batch.last_tick &&
           same_loss(&a->batch.lost, &b->batch.lost) &&
           memcmp(a->batch.records, b->batch.records, a->batch.count * sizeof(struct record)) == 0;
}

/* One to three captures of random blocks, one after the other; of two thirds, damaged. */
static struct members make_file(uint64_t *random)
{
    static struct record records[RECORDS_MAX];
    struct members file = {0};
    const unsigned captures = 1 + (unsigned)random_below(random, 3);
    for (unsigned i = 0; i < captures; i++) {
        const size_t count = (size_t)random_below(random, RECORDS_MAX);
        const size_t block = 1000 + (size_t)random_below(random, 9000);
        records_fill_like_a_bus(records, count, random);
        file.version = 1 + (unsigned)random_below(random, CAPTURE_VERSION_CODED);
        members_append_capture(&file, records, count, block, NULL);
    }
    for (unsigned i = (unsigned)random_below(random, 3); i > 0; i--)
        file.bytes[random_below(random, file.size)] ^= (uint8_t)(1 + random_below(random, 255));
    if (random_one_in(random, 6))
        file.size -= (size_t)random_below(random, file.size / 4);
    return file;
}

/* Reads both to the end; seeks: with a seek now and then. Returns whether every call gave the same.
 */
static bool read_both(struct trace_reader *alone, struct trace_reader *ahead, bool seeks,
                      struct room *room, uint64_t *random)
{
    static struct record records[CAPACITY];
    struct room fixed = {.records = records};
    for (unsigned call = 0;; call++) {
        if (seeks && call < 100 && random_one_in(random, 8)) {
            const uint64_t record = random_below(random, 2 * RECORDS_MAX);
            if (trace_reader_seek(alone, record, NULL) != trace_reader_seek(ahead, record, NULL))
                return false;
        }
        const size_t capacity =
            random_one_in(random, 4) ? 1 + (size_t)random_below(random, CAPACITY) : CAPACITY;
        const struct result a = next(alone, &fixed, capacity);
        const struct result b = next(ahead, room, capacity);
        if (!same(&a, &b))
            return false;
        if (a.code == 0)
            return true;
    }
}

static void test_same_as_alone(void)
{
    uint64_t random = random_seed(31);
    for (unsigned i = 0; i < FILES; i++) {
        struct members file = make_file(&random);
        const bool pipe = i % 5 == 4;
        struct test_path *path = test_path_file(file.bytes, file.size);
        struct test_path *other =
            pipe ? test_path_pipe(file.bytes, file.size) : test_path_file(file.bytes, file.size);
        struct trace_reader *alone, *ahead;
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&alone, test_path_name(path), 0, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&ahead, test_path_name(other), 0, NULL), 0);
        trace_reader_decode_ahead(ahead, 1 + i % 4);
        struct room room = {malloc(CAPACITY * sizeof(struct record)), i % 2 * CAPACITY};
        CU_ASSERT_TRUE(read_both(alone, ahead, !pipe && i % 3 == 0, &room, &random));
        free(room.records);
        source_close(trace_reader_source(alone));
        source_close(trace_reader_source(ahead));
        test_path_free(path);
        test_path_free(other);
        free(file.bytes);
    }
}

/* Members far larger than a writer's default are decompressed ahead, too, fewer at a time. */
static void test_large_members(void)
{
    enum { COUNT = 1300000, BLOCK = 400000 };
    uint64_t random = random_seed(33);
    struct record *records = malloc(COUNT * sizeof *records);
    static struct record some[CAPACITY];
    struct room room = {.records = some};
    CU_ASSERT_PTR_NOT_NULL_FATAL(records);
    records_fill_like_a_bus(records, COUNT, &random);
    for (unsigned pipe = 0; pipe < 2; pipe++) {
        struct members file = {.version = CAPTURE_VERSION_CODED};
        members_append_capture(&file, records, COUNT, BLOCK, NULL);
        struct test_path *path =
            pipe ? test_path_pipe(file.bytes, file.size) : test_path_file(file.bytes, file.size);
        struct trace_reader *reader;
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
        trace_reader_decode_ahead(reader, 2);
        size_t done = 0;
        for (struct result part; (part = next(reader, &room, CAPACITY)).code == 1;) {
            CU_ASSERT_EQUAL(memcmp(some, records + done, part.batch.count * sizeof *some), 0);
            done += part.batch.count;
        }
        CU_ASSERT_EQUAL(done, COUNT);
        source_close(trace_reader_source(reader));
        test_path_free(path);
        free(file.bytes);
    }
    free(records);
}

/* A capture in members of all codecs, some with marks of events; of two thirds, damaged. */
static struct members make_blocks(uint64_t *random)
{
    static const enum record_engine engines[] = {RECORD_ENGINE_BLOCKS, RECORD_ENGINE_BLOCKS,
                                                 RECORD_ENGINE_COLUMNS, RECORD_ENGINE_RECORDS};
    static struct record records[RECORDS_MAX];
    struct members file = {.version = CAPTURE_VERSION_CODED};
    struct batch batch = {.records = records, .first_index = 0};
    members_append_header(&file, &(struct capture_info){.id = {1}});
    const size_t begin = file.size;
    for (uint64_t members = 1 + random_below(random, 12); members > 0; members--) {
        const bool events = random_one_in(random, 5);
        batch.count = 1 + (size_t)random_below(random, 30000);
        program_records_fill(records, batch.count,
                             PROGRAM_RECORDS_THREADS | (events ? PROGRAM_RECORDS_EVENTS : 0),
                             random);
        batch.events = events;
        batch.last_tick = batch.first_tick + records_time(records + 1, batch.count - 1);
        members_append_data(&file, engines[random_below(random, 4)], &batch);
        batch.first_index += batch.count;
        batch.first_tick = batch.last_tick + 1;
    }
    for (unsigned i = (unsigned)random_below(random, 3); i > 0; i--)
        file.bytes[begin + random_below(random, file.size - begin)] ^=
            (uint8_t)(1 + random_below(random, 255));
    return file;
}

/* What a reader delivers: the records, the ticks of batches summed up, the messages. */
struct delivery {
    struct record *records;
    size_t count, messages;
    uint64_t index, tick; /* after the last batch */
};

/* Reads to the end, sometimes from a seek on, some batches by blocks. */
static struct delivery read_delivery(const struct members *file, uint64_t first, unsigned threads,
                                     bool by_blocks)
{
    static struct record some[CAPACITY];
    struct room room = {.records = some};
    struct block_executions executions[2] = {{.step_count = 0}, {.step_count = 0}};
    struct delivery delivery = {.records = malloc(12 * 30000 * sizeof(struct record))};
    struct test_path *path = test_path_file(file->bytes, file->size);
    struct trace_reader *reader;
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
    trace_reader_decode_ahead(reader, threads);
    if (first > 0)
        trace_reader_seek(reader, first, NULL);
    for (unsigned call = 0;; call++) {
        struct block_executions *here = by_blocks && call % 5 != 4 ? &executions[call % 2] : NULL;
        trace_reader_by_blocks(reader, here);
        const struct result part = next(reader, &room, CAPACITY);
        if (part.code == 0)
            break;
        delivery.messages += part.code < 0;
        if (part.code != 1)
            continue;
        struct record *to = delivery.records + delivery.count;
        if (here && here->step_count > 0)
            for (struct execution_place place = {0}; place.step < here->step_count;) {
                const unsigned count = block_step_records(here, place.step);
                block_step_expand(here, &place, to);
                to += count;
            }
        else
            memcpy(to, some, part.batch.count * sizeof *to);
        delivery.count += part.batch.count;
        delivery.index = part.batch.first_index + part.batch.count;
        delivery.tick = part.batch.last_tick;
    }
    source_close(trace_reader_source(reader));
    test_path_free(path);
    block_executions_free(&executions[0]);
    block_executions_free(&executions[1]);
    return delivery;
}

static void test_by_blocks(void)
{
    uint64_t random = random_seed(34);
    for (unsigned i = 0; i < FILES; i++) {
        struct members file = make_blocks(&random);
        const uint64_t first = i % 4 == 3 ? random_below(&random, 50000) : 0;
        const struct delivery a = read_delivery(&file, first, 0, false);
        for (unsigned threads = 0; threads < 3; threads++) {
            const struct delivery b = read_delivery(&file, first, threads, true);
            CU_ASSERT(a.count == b.count && a.messages == b.messages && a.index == b.index &&
                      a.tick == b.tick);
            CU_ASSERT(a.count != b.count ||
                      memcmp(a.records, b.records, a.count * sizeof *a.records) == 0);
            free(b.records);
        }
        free(a.records);
        free(file.bytes);
    }
}

/* The threads may be busy, or have work left, when the reader is closed. */
static void test_closed_early(void)
{
    uint64_t random = random_seed(32);
    static struct record some[CAPACITY];
    struct room room = {.records = some};
    for (unsigned i = 0; i < FILES; i++) {
        struct members file = make_file(&random);
        struct test_path *path = test_path_file(file.bytes, file.size);
        struct trace_reader *reader;
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
        trace_reader_decode_ahead(reader, 3);
        for (uint64_t calls = random_below(&random, 9); calls > 0; calls--)
            next(reader, &room, CAPACITY);
        source_close(trace_reader_source(reader));
        test_path_free(path);
        free(file.bytes);
    }
}

static const struct test_case cases[] = {{"the same as without threads", test_same_as_alone},
                                         {"by blocks", test_by_blocks},
                                         {"closed early", test_closed_early},
                                         {"members larger than a default", test_large_members},
                                         {NULL, NULL}};
TEST_SUITE(decode_ahead, cases)
