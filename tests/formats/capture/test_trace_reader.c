/* Every kind of trace, from files and pipes, intact and damaged: intact data is always
 * delivered. */
#include "formats/capture/trace_reader.h"
#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/members.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define RECORDS 1000
#define BLOCK   64

/* Results of reading a trace. */
struct reading {
    struct record records[4 * RECORDS];
    uint64_t indices[4 * RECORDS];
    uint64_t ticks[4 * RECORDS];
    size_t count;
    unsigned batches;
    unsigned damage;
    unsigned notes;
    bool closed;
    int result;            /* of the last call */
    struct bt_error first; /* first message, */
    struct bt_error error; /* and last */
};

/* Reads to the end, in batches of the given capacity. */
static void read_all(struct trace_reader *reader, struct reading *reading, size_t capacity)
{
    struct record *room = malloc(capacity * sizeof *room);
    struct batch batch = {.records = room, .capacity = capacity};
    memset(reading, 0, sizeof *reading);
    for (;;) {
        struct bt_error error;
        int result = source_next(trace_reader_source(reader), &batch, -1, &error);
        reading->result = result;
        reading->damage += result == BT_DATA;
        reading->notes += result == BT_NOTE;
        if (result == BT_DATA || result == BT_NOTE) {
            reading->error = error;
            if (reading->damage + reading->notes == 1)
                reading->first = error;
            continue;
        }
        if (result <= 0)
            break;
        CU_ASSERT_FATAL(reading->count + batch.count <= 4 * RECORDS);
        uint64_t tick = batch.first_tick;
        reading->batches++;
        for (size_t i = 0; i < batch.count; i++) {
            tick += i ? batch.records[i].time : 0;
            reading->ticks[reading->count] = tick;
            reading->indices[reading->count] = batch.first_index + i;
            reading->records[reading->count++] = batch.records[i];
        }
        CU_ASSERT(batch.count == 0 || tick == batch.last_tick);
    }
    reading->closed = trace_reader_closing(reader) != NULL;
    free(room);
}

/* Opens bytes as a file or a pipe, seeks unless from is 0, and reads everything. */
static struct reading read_bytes(const void *bytes, size_t size, bool pipe, unsigned how,
                                 uint64_t from, size_t capacity)
{
    static struct reading reading;
    struct trace_reader *reader = NULL;
    struct test_path *path = pipe ? test_path_pipe(bytes, size) : test_path_file(bytes, size);
    struct bt_error error;
    int result = trace_reader_open(&reader, test_path_name(path), how, &error);
    CU_ASSERT_EQUAL_FATAL(result, 0);
    if (from > 0)
        CU_ASSERT_EQUAL(trace_reader_seek(reader, from, &error), 0);
    read_all(reader, &reading, capacity);
    source_close(trace_reader_source(reader));
    test_path_free(path);
    return reading;
}

/* The records of all traces of these tests. */
static struct record *sample(void)
{
    static struct record records[RECORDS];
    uint64_t random = 5;
    records_fill_like_a_bus(records, RECORDS, &random);
    return records;
}

/* Whether the records read are those of the sample, beginning with number `from`. */
static bool is_sample(const struct reading *reading, size_t from)
{
    return reading->count == RECORDS - from &&
           memcmp(reading->records, sample() + from, reading->count * RECORD_BYTES) == 0;
}

static struct members gzipped(const void *bytes, size_t size, size_t member)
{
    struct members out = {0};
    uint8_t room[65536];
    for (size_t at = 0; at < size; at += member) {
        z_stream stream = {0};
        size_t here = size - at < member ? size - at : member;
        CU_ASSERT_EQUAL_FATAL(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, 0), Z_OK);
        stream.next_in = (Bytef *)(uintptr_t)((const uint8_t *)bytes + at);
        stream.avail_in = (uInt)here;
        stream.next_out = room;
        stream.avail_out = sizeof room;
        CU_ASSERT_EQUAL_FATAL(deflate(&stream, Z_FINISH), Z_STREAM_END);
        members_append(&out, room, stream.total_out);
        deflateEnd(&stream);
    }
    return out;
}

static void test_raw(void)
{
    for (unsigned i = 0; i < 8; i++) {
        struct reading r = read_bytes(sample(), RECORDS * RECORD_BYTES, i & 1, 0, 0, 1 + 97 * i);
        CU_ASSERT_TRUE(is_sample(&r, 0));
        CU_ASSERT(r.damage == 0 && r.notes == 0 && r.result == 0);
        CU_ASSERT_EQUAL(r.indices[RECORDS - 1], RECORDS - 1);
        CU_ASSERT_EQUAL(r.ticks[RECORDS - 1], records_time(sample(), RECORDS));
    }
}

static void test_extra_bytes_are_a_note(void)
{
    uint8_t bytes[10 * RECORD_BYTES + 2];
    memcpy(bytes, sample(), sizeof bytes);
    struct reading r = read_bytes(bytes, sizeof bytes, false, 0, 0, 100);
    CU_ASSERT_EQUAL(r.count, 10);
    CU_ASSERT(r.notes == 1 && r.damage == 0 && r.result == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.error.message, "2 extra bytes after record 10"));
    struct members packed = gzipped(bytes, sizeof bytes, sizeof bytes);
    r = read_bytes(packed.bytes, packed.size, false, 0, 0, 100);
    CU_ASSERT(r.count == 10 && r.notes == 1 && r.damage == 0);
    free(packed.bytes);
}

static void test_empty(void)
{
    for (unsigned pipe = 0; pipe < 2; pipe++) {
        struct reading r = read_bytes("", 0, pipe, 0, 0, 10);
        CU_ASSERT(r.count == 0 && r.notes == 1 && r.damage == 0 && r.result == 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(r.error.message, "is empty"));
        r = read_bytes("", 0, pipe, TRACE_INSIST, 0, 10);
        CU_ASSERT(r.count == 0 && r.notes == 1 && r.damage == 0 && r.result == 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(r.error.message, "is empty"));
        r = read_bytes("12345", 5, pipe, TRACE_INSIST, 0, 10);
        CU_ASSERT(r.count == 0 && r.notes == 1 && r.damage == 0 && r.result == 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(r.error.message, "5 extra bytes"));
    }
}

static void test_saturated_times(void)
{
    struct record records[6];
    memcpy(records, sample(), sizeof records);
    records[0].time = UINT32_MAX;
    records[3].time = UINT32_MAX;
    struct reading r = read_bytes(records, sizeof records, false, 0, 0, 10);
    CU_ASSERT_EQUAL_FATAL(r.count, 6);
    CU_ASSERT_EQUAL(memcmp(r.records, records, sizeof records), 0);
    CU_ASSERT_EQUAL(r.ticks[0], 0);
    CU_ASSERT_EQUAL(r.ticks[3] - r.ticks[2], UINT32_MAX);
}

/* The sample as programs with 8-byte longs write it. */
static void fill_lp64(uint8_t *bytes)
{
    for (size_t i = 0; i < RECORDS; i++) {
        const struct record *r = &sample()[i];
        uint8_t *p = bytes + i * RECORD_LP64_BYTES;
        memset(p + 12, 0xcc, 4); /* padding holds anything */
        bytes_put64(p, r->address);
        memcpy(p + 8, (const uint8_t *)r + 4, 4);
        bytes_put64(p + 16, r->time);
    }
}

static void test_lp64(void)
{
    static uint8_t bytes[RECORDS * RECORD_LP64_BYTES];
    fill_lp64(bytes);
    struct reading r = read_bytes(bytes, sizeof bytes, false, TRACE_LP64, 0, 333);
    CU_ASSERT_TRUE(is_sample(&r, 0));
    CU_ASSERT_EQUAL(r.damage, 0);
    r = read_bytes(bytes, sizeof bytes, true, TRACE_LP64, 500, 333);
    CU_ASSERT_TRUE(is_sample(&r, 500));
    bytes[7 * RECORD_LP64_BYTES + 4] = 1; /* an address above 4 GiB */
    r = read_bytes(bytes, sizeof bytes, false, TRACE_LP64, 0, 333);
    CU_ASSERT_TRUE(is_sample(&r, 0));
    CU_ASSERT_EQUAL(r.damage, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.error.message, "1 records, the first is number 7"));
    bytes_put64(bytes + 3 * RECORD_LP64_BYTES + 16, UINT32_MAX); /* saturated: a new batch */
    r = read_bytes(bytes, sizeof bytes, false, true, 0, RECORDS);
    CU_ASSERT_EQUAL(r.count, RECORDS);
    CU_ASSERT_EQUAL(r.batches, 2);
    CU_ASSERT_EQUAL(r.ticks[3] - r.ticks[2], UINT32_MAX);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.error.message, "1 records, the first is number 7"));
}

static void test_gzip(void)
{
    static const size_t member_sizes[] = {RECORDS * RECORD_BYTES, 1001, 17};
    for (size_t i = 0; i < 3; i++) {
        struct members packed = gzipped(sample(), RECORDS * RECORD_BYTES, member_sizes[i]);
        for (unsigned pipe = 0; pipe < 2; pipe++)
            for (uint64_t from = 0; from < RECORDS; from += 499) {
                struct reading r = read_bytes(packed.bytes, packed.size, pipe, 0, from, 77);
                CU_ASSERT_TRUE(is_sample(&r, (size_t)from));
                CU_ASSERT(r.damage == 0 && r.notes == 0);
            }
        struct reading cut = read_bytes(packed.bytes, packed.size - 9, false, 0, 0, 77);
        CU_ASSERT_EQUAL(cut.damage, 1);
        CU_ASSERT_EQUAL(memcmp(cut.records, sample(), cut.count * RECORD_BYTES), 0);
        free(packed.bytes);
    }
}

/* What follows a gzip member: padding of zeros is harmless, everything else is damage. */
static void test_after_gzip(void)
{
    static const struct {
        const char *what;
        size_t size;
        bool damage;
    } cases[] = {{"garbage", 7, true},         {"g", 1, true},       {"\0", 1, false},
                 {"\0\0\0\0\0\0\0", 7, false}, {"\0\0\0g", 4, true}, {"\x1f", 1, true},
                 {"\0\x1f\x8b\x08", 4, true},  {"\x1f\x8b", 2, true}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t n = i / 2;
        struct members packed = gzipped(sample(), RECORDS * RECORD_BYTES, RECORDS * RECORD_BYTES);
        members_append(&packed, cases[n].what, cases[n].size);
        struct reading r = read_bytes(packed.bytes, packed.size, i % 2 == 1, 0, 0, 77);
        CU_ASSERT_TRUE(is_sample(&r, 0));
        CU_ASSERT(r.damage == cases[n].damage && r.notes == 0);
        free(packed.bytes);
    }
}

/* A wrong bit anywhere in the second of two members is damage, or the records are all there. */
static void test_second_gzip_member(void)
{
    const size_t half = RECORDS / 2 * RECORD_BYTES;
    struct members packed = gzipped(sample(), half, half);
    const size_t second = packed.size;
    struct members rest = gzipped((const uint8_t *)sample() + half, half, half);
    members_append(&packed, rest.bytes, rest.size);
    for (size_t bit = 0; bit < 8 * rest.size; bit += bit < 80 ? 1 : 97) {
        uint8_t *byte = packed.bytes + second + bit / 8;
        *byte ^= (uint8_t)(1u << bit % 8);
        struct reading r = read_bytes(packed.bytes, packed.size, false, TRACE_INSIST, 0, 333);
        CU_ASSERT(r.damage == 1 || is_sample(&r, 0));
        CU_ASSERT(bit >= 24 || r.damage == 1);
        *byte ^= (uint8_t)(1u << bit % 8);
    }
    free(rest.bytes);
    free(packed.bytes);
}

static void check_capture(unsigned version)
{
    struct members file = {.version = version};
    members_append_capture(&file, sample(), RECORDS, BLOCK, NULL);
    static const size_t capacities[] = {1, 10, BLOCK, 100, RECORDS};
    for (unsigned i = 0; i < 10; i++) {
        struct reading r = read_bytes(file.bytes, file.size, i & 1, 0, 0, capacities[i / 2]);
        CU_ASSERT_TRUE(is_sample(&r, 0));
        CU_ASSERT(r.damage == 0 && r.notes == 0 && r.result == 0 && r.closed);
        CU_ASSERT_EQUAL(r.ticks[0], 100);
        CU_ASSERT_EQUAL(r.ticks[RECORDS - 1], 100 + records_time(sample() + 1, RECORDS - 1));
        CU_ASSERT_EQUAL(r.indices[RECORDS - 1], RECORDS - 1);
    }
    free(file.bytes);
}

static void test_capture(void)
{
    check_capture(CAPTURE_VERSION_GZIP);
    check_capture(CAPTURE_VERSION_CODED);
}

static void check_capture_seek(unsigned version)
{
    struct members file = {.version = version};
    uint64_t random = 3;
    members_append_capture(&file, sample(), RECORDS, BLOCK, NULL);
    struct reading whole = read_bytes(file.bytes, file.size, false, 0, 0, 50);
    for (unsigned i = 0; i < 300; i++) {
        size_t from = (size_t)random_below(&random, RECORDS + 1);
        struct reading r = read_bytes(file.bytes, file.size, i & 1, 0, from, 1 + i % 100);
        CU_ASSERT_TRUE(is_sample(&r, from));
        CU_ASSERT_TRUE(r.damage == 0 && r.closed);
        CU_ASSERT(memcmp(r.ticks, whole.ticks + from, r.count * sizeof *r.ticks) == 0);
        CU_ASSERT(memcmp(r.indices, whole.indices + from, r.count * sizeof *r.indices) == 0);
    }
    struct reading past_end = read_bytes(file.bytes, file.size, false, 0, RECORDS + 999, 50);
    CU_ASSERT(past_end.count == 0 && past_end.damage == 0 && past_end.closed);
    free(file.bytes);
}

static void test_capture_seek(void)
{
    check_capture_seek(CAPTURE_VERSION_GZIP);
    check_capture_seek(CAPTURE_VERSION_CODED);
}

/* Appends a capture of the sample with marks before every third record of some members. */
static void append_parts(struct members *file)
{
    static struct record records[RECORDS];
    const struct capture_info info = {.id = {1}, .bus = CAPTURE_BUS_PROGRAM, .file_number = 1};
    struct capture_totals totals = {.end = CAPTURE_END_SOURCE, .final = true};
    uint64_t tick = 100;
    memcpy(records, sample(), sizeof records);
    members_append_header(file, &info);
    for (size_t at = 0, count; at < RECORDS; at += count) {
        count = RECORDS - at < BLOCK ? RECORDS - at : BLOCK;
        struct batch batch = {
            .records = records + at, .count = count, .first_index = at, .first_tick = tick};
        for (size_t i = 0; i < count && at / BLOCK % 3 != 0; i += 3) {
            records[at + i].attribute |= ATTRIBUTE_PART;
            batch.parts += i > 0;
        }
        batch.gap.chosen = at / BLOCK % 3 == 1;
        batch.last_tick = tick + records_time(records + at + 1, count - 1);
        tick = batch.last_tick + (at + count < RECORDS ? records[at + count].time : 0);
        totals.last_tick = batch.last_tick;
        members_append_data(file, RECORD_ENGINE_BEST, &batch);
    }
    totals.file_records = totals.capture_records = totals.end_index = RECORDS;
    members_append_closing(file, &totals);
}

static bool is_part(size_t record)
{
    const size_t block = record / BLOCK, place = record % BLOCK;
    return place == 0 ? block % 3 == 1 : block % 3 != 0 && place % 3 == 0;
}

/* Members with parts are delivered as batches, whatever their size and wherever they begin: each
 * part begins a batch with its gap, and no mark is left. */
static void test_parts(void)
{
    struct members file = {0};
    uint64_t random = 5, tick;
    append_parts(&file);
    struct test_path *path = test_path_file(file.bytes, file.size);
    struct trace_reader *reader;
    struct record room[100];
    struct batch batch = {.records = room};
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
    for (unsigned i = 0; i < 600; i++) {
        size_t at = i == 0 ? 0 : (size_t)random_below(&random, RECORDS);
        CU_ASSERT_EQUAL(trace_reader_seek(reader, at, NULL), 0);
        for (unsigned n = 0; at < RECORDS && (i == 0 || n < 4); n++, at += batch.count) {
            batch.capacity = 1 + (size_t)random_below(&random, 100);
            CU_ASSERT_EQUAL_FATAL(source_next(trace_reader_source(reader), &batch, -1, NULL), 1);
            tick = 100 + records_time(sample() + 1, at);
            CU_ASSERT(batch.first_index == at && batch.first_tick == tick && batch.parts == 0);
            tick += records_time(sample() + at + 1, batch.count - 1);
            CU_ASSERT_EQUAL(batch.last_tick, tick);
            CU_ASSERT_EQUAL(memcmp(room, sample() + at, batch.count * RECORD_BYTES), 0);
            CU_ASSERT_EQUAL(batch.gap.chosen, is_part(at));
            for (size_t r = 1; r < batch.count; r++)
                CU_ASSERT_FALSE(is_part(at + r));
        }
    }
    source_close(trace_reader_source(reader));
    test_path_free(path);
    free(file.bytes);
}

/* For readers that want unchanged members, marks are kept, and counted. */
static void test_parts_kept(void)
{
    struct members file = {0};
    append_parts(&file);
    for (size_t capacity = 1; capacity < 100; capacity++) {
        struct test_path *path = test_path_file(file.bytes, file.size);
        struct trace_reader *reader;
        struct record room[100];
        struct batch batch = {.records = room, .capacity = capacity};
        size_t at = 0;
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
        trace_reader_keep_parts(reader);
        for (; source_next(trace_reader_source(reader), &batch, -1, NULL) == 1; at += batch.count) {
            uint32_t parts = 0;
            CU_ASSERT(batch.count == capacity || (at + batch.count) % BLOCK == 0 ||
                      at + batch.count == RECORDS);
            CU_ASSERT_EQUAL(batch.gap.chosen, is_part(at));
            for (size_t r = 1; r < batch.count; r++) {
                CU_ASSERT_EQUAL(room[r].attribute & ATTRIBUTE_PART,
                                is_part(at + r) ? ATTRIBUTE_PART : 0);
                parts += is_part(at + r);
            }
            CU_ASSERT_EQUAL(batch.parts, parts);
        }
        CU_ASSERT_EQUAL(at, RECORDS);
        source_close(trace_reader_source(reader));
        test_path_free(path);
    }
    free(file.bytes);
}

#define EVENTS_AT(record) ((record) % 7 == 0 ? (uint8_t)(0x10 * (1 + (record) / 7 % 3)) : 0)

/* Appends a capture of fetches, every seventh of which has an event. */
static void append_events(struct members *file)
{
    static struct record records[BLOCK];
    const struct capture_info info = {.id = {1}, .bus = CAPTURE_BUS_PROGRAM, .file_number = 1};
    struct capture_totals totals = {.end = CAPTURE_END_SOURCE, .final = true, .last_tick = BLOCK};
    for (size_t i = 0; i < BLOCK; i++)
        records[i] = (struct record){.address = (uint32_t)i,
                                     .attribute = (uint8_t)(ATTRIBUTE_WRITE_BACK | EVENTS_AT(i)),
                                     .time = 1};
    const struct batch batch = {
        .records = records, .count = BLOCK, .first_tick = 1, .last_tick = BLOCK, .events = true};
    members_append_header(file, &info);
    members_append_data(file, RECORD_ENGINE_BEST, &batch);
    totals.file_records = totals.capture_records = totals.end_index = BLOCK;
    members_append_closing(file, &totals);
}

/* A record with an event begins a batch that has the event; attributes have none. Readers that keep
 * marks get the attributes as they are. */
static void test_events(void)
{
    struct members file = {0};
    append_events(&file);
    struct test_path *path = test_path_file(file.bytes, file.size);
    for (unsigned keeps = 0; keeps < 2; keeps++) {
        struct trace_reader *reader;
        struct record room[BLOCK];
        struct batch batch = {.records = room, .capacity = BLOCK};
        size_t at = 0;
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
        if (keeps)
            trace_reader_keep_parts(reader);
        for (; source_next(trace_reader_source(reader), &batch, -1, NULL) == 1; at += batch.count) {
            CU_ASSERT_EQUAL(batch.events, keeps == 1);
            CU_ASSERT_EQUAL(batch.event, keeps ? EVENT_NONE : EVENTS_AT(at));
            CU_ASSERT_EQUAL(batch.first_tick, at + 1);
            for (size_t i = 0; i < batch.count; i++)
                CU_ASSERT_EQUAL(room[i].attribute,
                                ATTRIBUTE_WRITE_BACK | (keeps ? EVENTS_AT(at + i) : 0));
            CU_ASSERT_EQUAL(batch.count, keeps ? BLOCK : at + 7 > BLOCK ? BLOCK - at : 7);
        }
        CU_ASSERT_EQUAL(at, BLOCK);
        source_close(trace_reader_source(reader));
    }
    test_path_free(path);
    free(file.bytes);
}

/* Three blocks, the second of them with other records than its header says, or none. */
static void test_other_records(void)
{
    static const struct {
        uint32_t times[3];
        uint64_t first_tick;
        bool loss, gap, belongs;
    } seconds[] = {
        {{4, 1, 2}, 14, .belongs = true},
        {{4, 1, 3}, 14, .belongs = false}, /* ends later */
        {{4, 0, 2}, 14, .belongs = false}, /* ends earlier */
        {{5, 2, 1}, 14, .belongs = false}, /* begins later */
        {{3, 2, 1}, 14, .belongs = false}, /* begins earlier */
        {{3, 1, 2}, 9, .belongs = false},  /* begins before the first block ends */
        {{1, 2, 1},
         14,
         .loss = true,
         .belongs = true}, /* the time before a loss is that of a lost one */
        {{1, 2, 1}, 14, .gap = true, .belongs = true},
        {{UINT32_MAX, 2, 1}, 14, .belongs = false}, /* that many ticks, or more */
    };
    for (size_t i = 0; i < 2 * sizeof seconds / sizeof *seconds; i++) {
        const size_t n = i / 2;
        struct members file = {.version = i % 2 ? CAPTURE_VERSION_CODED : CAPTURE_VERSION_GZIP};
        const struct capture_info info = {.id = {1}, .file_number = 1};
        struct record records[3] = {{.time = 4}, {.time = 3}, {.time = 2}};
        struct batch batch = {.records = records, .count = 3, .first_tick = 5, .last_tick = 10};
        members_append_header(&file, &info);
        members_append_data(&file, RECORD_ENGINE_BEST, &batch);
        for (size_t k = 0; k < 3; k++)
            records[k].time = seconds[n].times[k];
        batch.first_index = 3 + seconds[n].loss;
        batch.lost = (struct loss){.count = {seconds[n].loss}, .first_tick = 11, .last_tick = 12};
        batch.gap.milliseconds = seconds[n].gap;
        batch.first_tick = seconds[n].first_tick;
        batch.last_tick = batch.first_tick + 3;
        members_append_data(&file, RECORD_ENGINE_BEST, &batch);
        batch = (struct batch){.records = records, .count = 1, .first_tick = 18, .last_tick = 18};
        batch.first_index = 6 + seconds[n].loss;
        records[0].time = 1;
        members_append_data(&file, RECORD_ENGINE_BEST, &batch);
        struct reading r = read_bytes(file.bytes, file.size, false, 0, 0, 10);
        CU_ASSERT_EQUAL(r.count, seconds[n].belongs ? 7 : 4);
        /* no end; the second block, and that its records are missing before the third */
        CU_ASSERT_EQUAL(r.damage, seconds[n].belongs ? 1 : 3);
        CU_ASSERT_EQUAL(r.ticks[r.count - 1], 18);
        free(file.bytes);
    }
}

static void test_seeking_back_and_forth(void)
{
    struct members file = {0};
    uint64_t random = 8;
    members_append_capture(&file, sample(), RECORDS, BLOCK, NULL);
    struct test_path *paths[2] = {test_path_file(file.bytes, file.size),
                                  test_path_file(sample(), RECORDS * RECORD_BYTES)};
    for (unsigned p = 0; p < 2; p++) {
        struct trace_reader *reader;
        struct record room[40];
        struct batch batch = {.records = room, .capacity = 40};
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(paths[p]), 0, NULL), 0);
        for (unsigned i = 0; i < 1000; i++) {
            size_t from = (size_t)random_below(&random, RECORDS);
            batch.capacity = 1 + (size_t)random_below(&random, 40);
            CU_ASSERT_EQUAL(trace_reader_seek(reader, from, NULL), 0);
            CU_ASSERT_EQUAL(source_next(trace_reader_source(reader), &batch, -1, NULL), 1);
            CU_ASSERT_EQUAL(memcmp(room, sample() + from, batch.count * RECORD_BYTES), 0);
            CU_ASSERT_EQUAL(batch.first_index, from);
        }
        source_close(trace_reader_source(reader));
        test_path_free(paths[p]);
    }
    free(file.bytes);
}

/* Whether every record of a damaged file was read except those from..to. */
static bool has_all_but(const struct reading *r, size_t from, size_t to)
{
    return r->count == RECORDS - (to - from) &&
           memcmp(r->records, sample(), from * RECORD_BYTES) == 0 &&
           memcmp(r->records + from, sample() + to, (RECORDS - to) * RECORD_BYTES) == 0;
}

static void test_every_flipped_byte_costs_one_block(void)
{
    struct members file = {0};
    size_t offsets[RECORDS / BLOCK + 1];
    size_t members = members_append_capture(&file, sample(), RECORDS, BLOCK, offsets);
    for (size_t at = 0; at < file.size; at++) {
        size_t member = 0;
        while (member + 1 < members && offsets[member + 1] <= at)
            member++;
        size_t closing = file.size - 370; /* a closing member has 370 bytes */
        size_t from = member * BLOCK;
        size_t to = from + BLOCK < RECORDS ? from + BLOCK : RECORDS;
        if (at < offsets[0] || at >= closing)
            from = to = 0;
        file.bytes[at] ^= (uint8_t)(1u << at % 8);
        struct reading r = read_bytes(file.bytes, file.size, at & 1, 0, 0, 100);
        file.bytes[at] ^= (uint8_t)(1u << at % 8);
        CU_ASSERT(r.damage > 0);
        CU_ASSERT_EQUAL(r.result, 0);
        CU_ASSERT(has_all_but(&r, from, to));
        CU_ASSERT_EQUAL(r.closed, at < closing);
        CU_ASSERT_PTR_NOT_NULL(strstr(r.first.message, "offset "));
    }
    free(file.bytes);
}

static void test_every_cut_keeps_whole_blocks(void)
{
    struct members file = {0};
    size_t offsets[RECORDS / BLOCK + 1];
    size_t members = members_append_capture(&file, sample(), RECORDS, BLOCK, offsets);
    for (size_t cut = 1; cut < file.size; cut += 3) {
        struct reading r = read_bytes(file.bytes, cut, cut & 1, 0, 0, 100);
        size_t whole = 0;
        while (whole + 1 < members && offsets[whole + 1] <= cut)
            whole++;
        size_t expected = whole * BLOCK;
        if (cut >= file.size - 370)
            expected = RECORDS;
        if (cut < offsets[0])
            continue; /* indistinguishable from other gzip data */
        CU_ASSERT_EQUAL(r.count, expected);
        CU_ASSERT_EQUAL(memcmp(r.records, sample(), r.count * RECORD_BYTES), 0);
        CU_ASSERT(r.damage > 0 && !r.closed);
    }
    free(file.bytes);
}

static void test_missing_and_duplicate_blocks(void)
{
    struct members file = {0};
    struct members changed = {0};
    size_t offsets[RECORDS / BLOCK + 1];
    members_append_capture(&file, sample(), RECORDS, BLOCK, offsets);
    members_append(&changed, file.bytes, offsets[3]);
    members_append(&changed, file.bytes + offsets[5], file.size - offsets[5]);
    struct reading r = read_bytes(changed.bytes, changed.size, false, 0, 0, 100);
    CU_ASSERT_TRUE(has_all_but(&r, 3 * BLOCK, 5 * BLOCK));
    CU_ASSERT_EQUAL(r.damage, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.first.message, "128 requests (192 to 319) are missing"));
    changed.size = 0;
    members_append(&changed, file.bytes, offsets[3]);
    members_append(&changed, file.bytes + offsets[2], file.size - offsets[2]);
    r = read_bytes(changed.bytes, changed.size, false, 0, 0, 100);
    CU_ASSERT(r.count == RECORDS + BLOCK && r.damage == 2);
    changed.size = 0; /* without its last data member: only the closing member counts it */
    members_append(&changed, file.bytes, offsets[RECORDS / BLOCK]);
    members_append(&changed, file.bytes + file.size - 370, 370);
    r = read_bytes(changed.bytes, changed.size, false, 0, 0, 100);
    CU_ASSERT(r.count == RECORDS / BLOCK * BLOCK && r.damage == 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.error.message, "counts 1000 records; 960 are here"));
    free(file.bytes);
    free(changed.bytes);
}

static void test_consecutive_files(void)
{
    struct members file = {0};
    members_append_capture(&file, sample(), RECORDS, BLOCK, NULL);
    members_append_capture(&file, sample(), RECORDS, 10, NULL);
    struct reading r = read_bytes(file.bytes, file.size, false, 0, 0, 100);
    CU_ASSERT(r.count == 2 * RECORDS && r.damage == 0 && r.closed);
    r = read_bytes(file.bytes, file.size, false, 0, RECORDS, 100);
    CU_ASSERT_TRUE(is_sample(&r, 0));
    free(file.bytes);
}

static void test_seeking_in_a_pipe(void)
{
    struct members file = {0};
    members_append_capture(&file, sample(), RECORDS, BLOCK, NULL);
    const size_t places[] = {1, BLOCK - 1, BLOCK, 5 * BLOCK + 7, RECORDS - 1, RECORDS, 2 * RECORDS};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct reading r = read_bytes(file.bytes, file.size, true, 0, places[i], 100);
        CU_ASSERT_TRUE(is_sample(&r, places[i] < RECORDS ? places[i] : RECORDS));
        CU_ASSERT(r.damage == 0 && r.closed);
    }
    struct test_path *path = test_path_pipe(file.bytes, file.size);
    struct trace_reader *reader;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, &error), 0);
    CU_ASSERT_EQUAL(trace_reader_seek(reader, 500, &error), 0);
    CU_ASSERT_EQUAL(trace_reader_position(reader), 500);
    CU_ASSERT_EQUAL(trace_reader_seek(reader, 499, &error), BT_USAGE); /* a pipe cannot seek back */
    source_close(trace_reader_source(reader));
    test_path_free(path);
    free(file.bytes);
}

/* Members are larger than the read-ahead, so that they are skipped, not only consumed. */
static void test_seeking_past_buffered(void)
{
    enum { COUNT = 400000, LARGE = 300000 };
    uint64_t random = random_seed(3);
    struct record *records = malloc(COUNT * sizeof *records);
    struct members file = {0};
    random_fill(&random, (uint8_t *)records, COUNT * sizeof *records);
    for (size_t i = 0; i < COUNT; i++)
        records[i].time &= 0xffff;
    members_append_capture(&file, records, COUNT, LARGE, NULL);
    struct test_path *paths[] = {test_path_file(file.bytes, file.size),
                                 test_path_pipe(file.bytes, file.size)};
    for (unsigned p = 0; p < 2; p++) {
        struct trace_reader *reader;
        struct record room[10];
        struct batch batch = {.records = room, .capacity = 10};
        CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(paths[p]), 0, NULL), 0);
        CU_ASSERT_EQUAL(trace_reader_seek(reader, LARGE + 5, NULL), 0);
        CU_ASSERT_EQUAL(source_next(trace_reader_source(reader), &batch, -1, NULL), 1);
        CU_ASSERT_EQUAL(batch.first_index, LARGE + 5);
        CU_ASSERT_EQUAL(memcmp(room, records + LARGE + 5, sizeof room), 0);
        source_close(trace_reader_source(reader));
        test_path_free(paths[p]);
    }
    free(records);
    free(file.bytes);
}

/* A damaged header before the target: its block has no record numbers, which is reported. */
static void test_seeking_over_damage(void)
{
    struct members file = {0};
    size_t offsets[RECORDS / BLOCK + 1];
    members_append_capture(&file, sample(), RECORDS, BLOCK, offsets);
    file.bytes[offsets[2] + 40] ^= 1;
    for (unsigned pipe = 0; pipe < 2; pipe++) {
        struct reading r = read_bytes(file.bytes, file.size, pipe, 0, 5 * BLOCK + 7, 100);
        CU_ASSERT_EQUAL(r.count, RECORDS - 6 * BLOCK - 7);
        CU_ASSERT_EQUAL(memcmp(r.records, sample() + 6 * BLOCK + 7, r.count * RECORD_BYTES), 0);
        CU_ASSERT_EQUAL(r.indices[0], 6 * BLOCK + 7);
        CU_ASSERT_EQUAL(r.damage, 2); /* the block, and the number of records at the end */
        CU_ASSERT_PTR_NOT_NULL(strstr(r.first.message, "bytes are left out"));
    }
    free(file.bytes);
}

/* Appends a letter for each member that the watcher receives. */
static void watch(void *context, const struct capture_member *member)
{
    char *members = context;
    size_t length = strlen(members);
    if (length < 7)
        members[length] = member->kind == CAPTURE_MEMBER_HEADER ? 'H' : 'C';
}

static void test_watcher_of_files(void)
{
    struct members file = {0};
    members_append_capture(&file, sample(), RECORDS, BLOCK, NULL);
    members_append_capture(&file, sample(), 0, BLOCK, NULL);
    members_append_capture(&file, sample(), RECORDS, BLOCK, NULL);
    struct test_path *path = test_path_file(file.bytes, file.size);
    struct trace_reader *reader;
    struct reading *reading = malloc(sizeof *reading);
    char members[8] = "";
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
    trace_reader_watch(reader, watch, members);
    read_all(reader, reading, 100);
    CU_ASSERT_EQUAL(reading->count, 2 * RECORDS);
    CU_ASSERT_STRING_EQUAL(members, "HCHCHC");
    source_close(trace_reader_source(reader));
    test_path_free(path);
    free(reading);
    free(file.bytes);
}

static void test_not_opened(void)
{
    struct trace_reader *reader;
    struct bt_error error;
    CU_ASSERT_EQUAL(trace_reader_open(&reader, "no/such/file", 0, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no/such/file"));
    CU_ASSERT_EQUAL(trace_reader_open(&reader, ".", 0, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "folder"));
}

/* Returns the reason why bytes are refused, as a file and through a pipe, plain and gzipped; "" if
 * they are accepted. */
static const char *refusal(const void *bytes, size_t size, unsigned reading)
{
    static struct bt_error errors[4];
    struct members packed = gzipped(bytes, size, size);
    for (unsigned i = 0; i < 4; i++) {
        const void *given = i < 2 ? bytes : packed.bytes;
        struct test_path *path = i & 1 ? test_path_pipe(given, i < 2 ? size : packed.size)
                                       : test_path_file(given, i < 2 ? size : packed.size);
        struct trace_reader *reader;
        errors[i] = (struct bt_error){.code = 0};
        if (trace_reader_open(&reader, test_path_name(path), reading, &errors[i]) == 0) {
            struct record room[100];
            struct batch batch = {.records = room, .capacity = 100};
            int result;
            while ((result = source_next(trace_reader_source(reader), &batch, -1, &errors[i])) ==
                       1 ||
                   result == BT_NOTE)
                errors[i].code = 0;
            source_close(trace_reader_source(reader));
        }
        CU_ASSERT(errors[i].code == 0 || errors[i].code == BT_IO);
        CU_ASSERT_EQUAL(errors[i].code, errors[0].code);
        test_path_free(path);
    }
    free(packed.bytes);
    return errors[0].code ? errors[0].message : "";
}

/* Makes records of which some are impossible. */
static void make_odd(struct record *records, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++)
        records[i] = (struct record){.address = 1, .type = 0x47, .size = 8, .time = 1};
}

static void test_other_data_is_refused(void)
{
    static uint8_t bytes[3 * RECORDS * RECORD_BYTES];
    uint64_t random = random_seed(12);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(" etaoinshr\n0123"[i % 15]);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, 79 * RECORD_BYTES + 5, 0),
                                  "of its first 79 records have unknown types, sizes or"));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes, 0), "--raw"));
    CU_ASSERT_STRING_EQUAL(refusal(bytes, sizeof bytes, TRACE_INSIST), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal("hello\n", 6, 0), "it has 6 bytes"));
    random_fill(&random, bytes, sizeof bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes, 0), "not a trace"));
    memset(bytes, 0, sizeof bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes, 0), "not a trace"));
    for (uint32_t i = 0; i < sizeof bytes / 8; i++) /* small numbers of 64 bits */
        bytes_put64(bytes + 8 * i, i % 97);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes, 0), "not a trace"));
}

/* At most 50 of the first 1,000 records may be odd, wherever they are; the rest is not checked. */
static void test_a_trace_may_have_odd_records(void)
{
    static struct record records[2 * RECORDS];
    memcpy(records, sample(), RECORDS * RECORD_BYTES);
    make_odd(records, RECORDS, RECORDS);
    for (size_t at = 0; at <= RECORDS - 50; at += 190) {
        memcpy(records, sample(), RECORDS * RECORD_BYTES);
        make_odd(records, at, 50);
        CU_ASSERT_STRING_EQUAL(refusal(records, sizeof records, 0), "");
        make_odd(records, at == 0 ? 50 : at - 1, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(refusal(records, sizeof records, 0), "51 of its first"));
    }
    memcpy(records, sample(), RECORDS * RECORD_BYTES);
    make_odd(records, 7, 1);
    CU_ASSERT_STRING_EQUAL(refusal(records, 20 * RECORD_BYTES, 0), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(records, 19 * RECORD_BYTES, 0), "1 of its first 19"));
}

static void test_the_other_width_is_recognised(void)
{
    static uint8_t bytes[RECORDS * RECORD_LP64_BYTES];
    fill_lp64(bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes, TRACE_OPTIONS), "with --lp64"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(bytes, 10 * RECORD_LP64_BYTES, TRACE_OPTIONS), "with --lp64"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(sample(), RECORDS * RECORD_BYTES, TRACE_LP64), "without --lp64"));
}

/* Records that arrive one by one in a pipe are read one by one. */
static void test_slow_pipe(void)
{
    struct record records[200];
    memcpy(records, sample(), sizeof records);
    make_odd(records, 100, 1);
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    CU_ASSERT_EQUAL_FATAL(write(ends[1], records, 90 * RECORD_BYTES), 90 * RECORD_BYTES);
    struct trace_reader *reader;
    struct record room[300];
    struct batch batch = {.records = room, .capacity = 300};
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, path, 0, NULL), 0);
    size_t taken = 0;
    for (size_t put = 90; put <= 200; put++) {
        while (taken < put) { /* would wait forever if more were needed */
            CU_ASSERT_EQUAL_FATAL(source_next(trace_reader_source(reader), &batch, -1, NULL), 1);
            CU_ASSERT_EQUAL(memcmp(room, records + taken, batch.count * RECORD_BYTES), 0);
            taken += batch.count;
        }
        if (put < 200)
            CU_ASSERT_EQUAL_FATAL(write(ends[1], &records[put], RECORD_BYTES), RECORD_BYTES);
    }
    close(ends[1]);
    CU_ASSERT_EQUAL(source_next(trace_reader_source(reader), &batch, -1, NULL), 0);
    source_close(trace_reader_source(reader));
    close(ends[0]);
}

static const struct test_case cases[] = {
    {"raw", test_raw},
    {"extra tail bytes are a note", test_extra_bytes_are_a_note},
    {"empty", test_empty},
    {"saturated times", test_saturated_times},
    {"LP64", test_lp64},
    {"gzip, whole and damaged", test_gzip},
    {"after a gzip member", test_after_gzip},
    {"a second gzip member", test_second_gzip_member},
    {"capture", test_capture},
    {"capture, from any record on", test_capture_seek},
    {"parts of a member", test_parts},
    {"parts that are kept", test_parts_kept},
    {"records of another block", test_other_records},
    {"events", test_events},
    {"seeking back and forth", test_seeking_back_and_forth},
    {"seeking in a pipe", test_seeking_in_a_pipe},
    {"seeking past the buffered bytes", test_seeking_past_buffered},
    {"seeking over damage", test_seeking_over_damage},
    {"a watcher receives the members of consecutive files", test_watcher_of_files},
    {"every flipped byte costs one block at most", test_every_flipped_byte_costs_one_block},
    {"every cut keeps the whole blocks", test_every_cut_keeps_whole_blocks},
    {"missing and duplicate blocks are reported", test_missing_and_duplicate_blocks},
    {"consecutive capture files", test_consecutive_files},
    {"files that cannot be opened", test_not_opened},
    {"other data is refused", test_other_data_is_refused},
    {"a trace may have odd records", test_a_trace_may_have_odd_records},
    {"records of the other width are recognised", test_the_other_width_is_recognised},
    {"a slow pipe is read at once", test_slow_pipe},
    {NULL, NULL}};
TEST_SUITE(trace_reader, cases)
