#include "driver/session.h"
#include "driver/virtual_board.h"
#include "formats/capture/trace_reader.h"
#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct virtual_board_settings replay(const char *path)
{
    struct virtual_board_settings settings = {0};
    snprintf(settings.bus.replay, sizeof settings.bus.replay, "%s", path);
    return settings;
}

static struct virtual_board_settings smp(uint32_t processors, uint64_t requests)
{
    return (struct virtual_board_settings){.bus = {.processors = processors, .requests = requests}};
}

static struct source *begin(const struct virtual_board_settings *settings,
                            enum wire_packing packing, struct bt_error *error)
{
    struct stream *stream;
    struct session_settings how = session_settings_default();
    how.packing = packing;
    if (virtual_board_open(&stream, settings, "virtual:test", error) < 0)
        return NULL;
    struct session *session = session_new(stream, error);
    if (session && session_arm(session, &how, error) < 0) {
        session_free(session);
        return NULL;
    }
    return session ? session_source(session) : NULL;
}

/* Records and counts read from a source. */
struct result {
    struct record *records;
    size_t count, capacity;
    uint64_t lost, holes; /* lost requests; batches that do not continue the previous one */
    int code;             /* of the last call */
    struct bt_error error;
    struct source_totals totals;
};

static void run(struct source *source, struct result *result, size_t stop_after)
{
    struct record records[4096] = {0};
    struct batch batch = {.records = records, .capacity = sizeof records / sizeof *records};
    uint64_t index = 0;
    *result = (struct result){.capacity = 1u << 20};
    result->records = malloc(result->capacity * sizeof *records);
    while ((result->code = source_next(source, &batch, 5000, &result->error)) == 1 ||
           result->code == BT_TIMEOUT) {
        if (result->code == BT_TIMEOUT)
            continue; /* the machine had no time for the board */
        result->lost += loss_total(&batch.lost);
        result->holes += index + loss_total(&batch.lost) != batch.first_index;
        index = batch.first_index + batch.count;
        if (result->count + batch.count <= result->capacity)
            memcpy(result->records + result->count, records, batch.count * sizeof *records);
        result->count += batch.count;
        if (stop_after && result->count >= stop_after)
            source_stop(source, NULL);
    }
    source_totals(source, &result->totals);
}

/* The records as a raw trace. */
static struct test_path *write_trace(const struct record *records, size_t count)
{
    uint8_t *bytes = malloc(count * RECORD_BYTES);
    records_put(bytes, records, count);
    struct test_path *path = test_path_file(bytes, count * RECORD_BYTES);
    free(bytes);
    return path;
}

/* Records of every type, as a P6 can make them. */
static void make_records(struct record *records, size_t count, uint64_t seed)
{
    static const uint8_t sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32};
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = random_next(&seed);
        struct record *record = &records[i];
        *record = (struct record){.address = (uint32_t)(bits >> 32),
                                  .type = request_type_at(bits % REQUEST_TYPES),
                                  .size = sizes[random_below(&seed, 11)],
                                  .attribute = bits >> 8 & 7,
                                  .processor = bits >> 52 & 7,
                                  .time = (uint32_t)random_below(&seed, 300)};
        if (record->type >= 0x20)
            record->size = record->type == 0x21 || record->type == 0x23 ? record->size % 9 : 0;
        if (random_below(&seed, 1000) == 0)
            record->time = UINT32_MAX;
    }
}

static void compare_replay(const char *path, const struct record *records, size_t count)
{
    for (int packing = WIRE_PLAIN; packing <= WIRE_DELTA; packing++) {
        struct virtual_board_settings settings = replay(path);
        struct bt_error error;
        struct result result;
        struct source *source = begin(&settings, packing, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(source);
        run(source, &result, 0);
        CU_ASSERT_EQUAL(result.code, 0);
        CU_ASSERT(result.lost == 0 && result.holes == 0);
        CU_ASSERT(result.totals.known && result.totals.accepted == count);
        CU_ASSERT_EQUAL_FATAL(result.count, count);
        CU_ASSERT_EQUAL(memcmp(result.records, records, count * sizeof *records), 0);
        source_close(source);
        free(result.records);
    }
}

static void test_replay_is_identical(void)
{
    static struct record records[50000];
    make_records(records, 50000, 5);
    records[0].time = UINT32_MAX;
    struct test_path *path = write_trace(records, 50000);
    compare_replay(test_path_name(path), records, 50000);
    test_path_free(path);
}

static void test_real_trace(void)
{
    static uint8_t bytes[300000];
    static struct record records[25000];
    const char *shared = getenv("SHARED");
    char path[4096];
    snprintf(path, sizeof path, "%s/data/pentium2.byu", shared ? shared : "");
    FILE *file = shared && *shared ? fopen(path, "rb") : NULL;
    if (!file)
        return; /* the trace is optional */
    size_t count = fread(bytes, 1, sizeof bytes, file) / RECORD_BYTES;
    fclose(file);
    records_get(records, bytes, count);
    compare_replay(path, records, count);
}

static void test_refused_record(void)
{
    struct record records[500];
    struct result result;
    make_records(records, 500, 7);
    records[321] = (struct record){.type = REQUEST_HALT, .size = 4};
    struct test_path *path = write_trace(records, 500);
    struct virtual_board_settings settings = replay(test_path_name(path));
    struct source *source = begin(&settings, WIRE_DELTA, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    run(source, &result, 0);
    CU_ASSERT_EQUAL(result.count, 321);
    CU_ASSERT_EQUAL(memcmp(result.records, records, 321 * sizeof *records), 0);
    CU_ASSERT_EQUAL(result.code, BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.error.message, "record 321 of "));
    CU_ASSERT_PTR_NOT_NULL(strstr(result.error.message, "cannot be a P6 request: its size"));
    source_close(source);
    free(result.records);
    test_path_free(path);
}

static void test_loop(void)
{
    struct record records[100];
    struct result result;
    unsigned wrong = 0;
    make_records(records, 100, 9);
    struct test_path *path = write_trace(records, 100);
    struct virtual_board_settings settings = replay(test_path_name(path));
    settings.bus.loop = true;
    settings.bus.requests = 12345;
    struct source *source = begin(&settings, WIRE_DELTA, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    run(source, &result, 0);
    CU_ASSERT_EQUAL(result.count, 12345);
    for (size_t i = 0; i < result.count; i++)
        wrong += memcmp(&result.records[i], &records[i % 100], sizeof *records) != 0;
    CU_ASSERT_EQUAL(wrong, 0);
    source_close(source);
    free(result.records);
    test_path_free(path);
}

static void test_stop(void)
{
    struct virtual_board_settings settings = smp(2, 0);
    struct result result;
    struct source *source = begin(&settings, WIRE_DELTA, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    run(source, &result, 100000);
    CU_ASSERT_EQUAL(result.code, 0);
    CU_ASSERT(result.count >= 100000 && result.lost == 0 && result.holes == 0);
    CU_ASSERT(result.totals.known && result.totals.accepted == result.count);
    source_close(source);
    free(result.records);
}

static void test_same_seed_same_requests(void)
{
    struct result results[3];
    for (unsigned i = 0; i < 3; i++) {
        struct virtual_board_settings settings = smp(4, 50000);
        settings.bus.seed = i / 2;
        struct source *source = begin(&settings, i & 1 ? WIRE_PLAIN : WIRE_DELTA, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(source);
        run(source, &results[i], 0);
        CU_ASSERT(results[i].code == 0 && results[i].count == 50000);
        source_close(source);
    }
    size_t size = 50000 * sizeof(struct record);
    CU_ASSERT_EQUAL(memcmp(results[0].records, results[1].records, size), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(results[0].records, results[2].records, size), 0);
    for (unsigned i = 0; i < 3; i++)
        free(results[i].records);
}

/* A bus that does not wait, and a host that sleeps: the count of lost requests is exact. */
static void test_back_pressure(void)
{
    struct virtual_board_settings settings = smp(4, 300000);
    struct result result;
    settings.bus.pace = BUS_PACE_RATE;
    settings.bus.phases_per_second = 5000000;
    settings.frames = 4;
    settings.fifo_bytes = 8192;
    struct source *source = begin(&settings, WIRE_PLAIN, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    run(source, &result, 0);
    CU_ASSERT_EQUAL(result.code, 0);
    CU_ASSERT(result.lost > 0 && result.holes == 0);
    CU_ASSERT_EQUAL(result.count + result.lost, 300000);
    CU_ASSERT_EQUAL(result.totals.accepted, 300000);
    CU_ASSERT_EQUAL(result.totals.lost_bus, result.lost);
    source_close(source);
    free(result.records);
}

static struct source *begin_stalling(const struct virtual_board_settings *settings)
{
    struct stream *stream;
    struct session_settings how = session_settings_default();
    how.stall = true;
    if (virtual_board_open(&stream, settings, "virtual:test", NULL) < 0)
        return NULL;
    struct session *session = session_new(stream, NULL);
    if (session && session_arm(session, &how, NULL) < 0) {
        session_free(session);
        return NULL;
    }
    return session ? session_source(session) : NULL;
}

/* A bus that does not wait and a link that is too slow for it: the board stalls the bus, and the
 * records are those of an unhurried bus, with later times. */
static void test_stall(void)
{
    static const enum bus_pace paces[] = {BUS_PACE_RATE, BUS_PACE_REAL};
    struct virtual_board_settings settings = smp(4, 60000);
    struct result whole, stalled;
    struct source *source = begin(&settings, WIRE_DELTA, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    run(source, &whole, 0);
    source_close(source);
    const uint64_t last_tick = records_time(whole.records, whole.count);
    settings.bus.phases_per_second = 10000000;
    settings.frames = 4;
    settings.link_rate = 500000;
    for (unsigned i = 0; i < 2; i++) {
        settings.bus.pace = paces[i];
        source = begin_stalling(&settings);
        CU_ASSERT_PTR_NOT_NULL_FATAL(source);
        run(source, &stalled, 0);
        CU_ASSERT(stalled.code == 0 && stalled.lost == 0 && stalled.holes == 0);
        CU_ASSERT_EQUAL_FATAL(stalled.count, whole.count);
        CU_ASSERT(stalled.totals.known && stalled.totals.accepted == whole.count);
        CU_ASSERT(stalled.totals.stalls > 0 && stalled.totals.stalled > 0);
        uint64_t tick = records_time(stalled.records, stalled.count);
        CU_ASSERT(tick > last_tick && tick <= last_tick + stalled.totals.stalled);
        unsigned wrong = 0;
        for (size_t k = 0; k < whole.count; k++) {
            wrong += stalled.records[k].time < whole.records[k].time;
            stalled.records[k].time = whole.records[k].time;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        size_t size = whole.count * sizeof(struct record);
        CU_ASSERT_EQUAL(memcmp(stalled.records, whole.records, size), 0);
        source_close(source);
        free(stalled.records);
    }
    free(whole.records);
}

/* A bus that waits in any case is never stalled. */
static void test_stall_of_a_bus_that_waits(void)
{
    struct virtual_board_settings settings = smp(4, 20000);
    struct result result;
    settings.frames = 4;
    struct source *source = begin_stalling(&settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    run(source, &result, 0);
    CU_ASSERT(result.code == 0 && result.lost == 0 && result.count == 20000);
    CU_ASSERT(result.totals.stalls == 0 && result.totals.stalled == 0);
    source_close(source);
    free(result.records);
}

static void test_errors(void)
{
    struct bt_error error;
    struct stream *stream;
    struct virtual_board_settings settings = replay("there/is/no/such.byu");
    CU_ASSERT(virtual_board_open(&stream, &settings, "x", &error) == BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no/such.byu"));
    settings = smp(9, 0);
    CU_ASSERT(virtual_board_open(&stream, &settings, "x", &error) == BT_USAGE);
    settings = smp(1, 0);
    settings.frames = 3;
    CU_ASSERT(virtual_board_open(&stream, &settings, "x", &error) == BT_USAGE);
}

static void test_close_while_running(void)
{
    for (unsigned i = 0; i < 20; i++) {
        struct virtual_board_settings settings = smp(1 + i % 8, 0);
        settings.bus.pace = i % 2 ? BUS_PACE_MAX : BUS_PACE_REAL;
        struct source *source = begin(&settings, WIRE_DELTA, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(source);
        source_close(source);
    }
}

static const struct test_case cases[] = {
    {"a replay reproduces its trace", test_replay_is_identical},
    {"a replay reproduces a real trace", test_real_trace},
    {"a record that cannot be a request", test_refused_record},
    {"a trace in a loop", test_loop},
    {"stop", test_stop},
    {"the same seed gives the same requests", test_same_seed_same_requests},
    {"back-pressure", test_back_pressure},
    {"stall", test_stall},
    {"stall of a bus that waits", test_stall_of_a_bus_that_waits},
    {"errors", test_errors},
    {"close while running", test_close_while_running},
    {NULL, NULL}};
TEST_SUITE(virtual_board, cases)
