/* Captures of scripted sources: the files contain exactly the records and losses of the source. */
#include "tests/capture/capture_fixture.h"

#include "capture/status_json.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <string.h>

/* Runs a capture to its end and checks its files. */
static void run(struct capture_fixture *s)
{
    struct bt_error error = {0};
    bool closed = false;
    struct capture *capture =
        capture_new(&s->settings, scripted_source_new(&s->script, &closed), &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &s->status);
    capture_free(capture);
    CU_ASSERT(closed);
    capture_check(&s->check, s->folder,
                  s->settings.engine == RECORD_ENGINE_COLUMNS ? ".byb" : ".byu.gz", &s->script,
                  false);
    CU_ASSERT_STRING_EQUAL(s->check.problem, "");
    if (s->check.problem[0])
        printf("\n  seed %llu: %s\n", (unsigned long long)s->script.seed, s->check.problem);
    CU_ASSERT_EQUAL(s->status.files, s->check.files + s->check.first_number - 1);
}

static void tear_down(struct capture_fixture *s)
{
    folder_remove(s->folder);
}

static void test_everything(void)
{
    struct capture_fixture s;
    set_up(&s);
    run(&s);
    CU_ASSERT_EQUAL(s.check.records, s.script.total);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_SOURCE);
    CU_ASSERT_EQUAL(s.check.files, 1);
    tear_down(&s);
}

static void test_nothing(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 0;
    run(&s);
    CU_ASSERT_EQUAL(s.check.records, 0);
    CU_ASSERT_EQUAL(s.check.files, 1);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_SOURCE);
    tear_down(&s);
}

/* The last report of a source may be a loss. */
static void test_only_losses(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 5000;
    s.script.lost_percent = 100;
    run(&s);
    CU_ASSERT_EQUAL(s.check.records, 0);
    CU_ASSERT_EQUAL(loss_total(&s.check.lost), 5000);
    tear_down(&s);
}

static void test_rotation_by_size(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.settings.rotate_bytes = 20000;
    run(&s);
    CU_ASSERT_EQUAL(s.check.records, s.script.total);
    CU_ASSERT(s.check.files > 10);
    CU_ASSERT(s.check.largest_file <= 20000);
    CU_ASSERT(s.check.bytes / s.check.files > 15000);
    CU_ASSERT_EQUAL(s.check.bytes, s.status.compressed_bytes);
    tear_down(&s);
}

static void test_ring(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.settings.rotate_bytes = 20000;
    s.settings.keep = 3;
    run(&s);
    CU_ASSERT_EQUAL(s.check.files, 3);
    CU_ASSERT(s.check.first_number > 5);
    CU_ASSERT_EQUAL(s.status.records, s.script.total);
    tear_down(&s);
}

static void test_stop_records(void)
{
    static const uint64_t limits[] = {1, 99, 100, 101, 87381, 87382, 99999, 100000};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct capture_fixture s;
        set_up(&s);
        s.script.lost_percent = 10;
        s.script.total = 200000;
        s.script.after_stop = 1234;
        s.settings.stop_records = limits[i];
        run(&s);
        CU_ASSERT_EQUAL(s.check.records, limits[i]);
        CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_LIMIT);
        CU_ASSERT(s.check.closing.after_stop > 0);
        CU_ASSERT(s.check.closing.source.known);
        tear_down(&s);
    }
}

static void test_stop_bytes(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.settings.rotate_bytes = 20000;
    s.settings.stop_bytes = 100000;
    run(&s);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_LIMIT);
    CU_ASSERT(s.check.bytes <= 100000);
    CU_ASSERT(s.check.bytes > 80000);
    CU_ASSERT(s.check.closing.after_stop > 0);
    tear_down(&s);
}

static void test_stop_files(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.settings.rotate_bytes = 20000;
    s.settings.stop_files = 4;
    run(&s);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_LIMIT);
    CU_ASSERT_EQUAL(s.check.files, 4);
    tear_down(&s);
}

static void test_stop_time(void)
{
    /* on a slow machine, the first of these times may pass before the source gets processor time */
    uint64_t records = 0;
    for (int64_t stop_ns = 60000000; records == 0 && stop_ns < 100000000000; stop_ns *= 4) {
        struct capture_fixture s;
        set_up(&s);
        s.script.total = UINT64_MAX / 4;
        s.script.pause_ns = 1000000;
        s.script.short_percent = 100;
        s.settings.block_records = 200;
        s.settings.stop_ns = stop_ns;
        run(&s);
        CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_LIMIT);
        CU_ASSERT(s.status.elapsed_ns >= stop_ns);
        records = s.check.records;
        tear_down(&s);
    }
    CU_ASSERT(records > 0);
}

/* A quiet bus: files come from the timer. */
static void test_rotation_by_time(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 50;
    s.script.lingers = true;
    s.settings.rotate_ns = 30000000;
    s.settings.stop_files = 5;
    run(&s);
    CU_ASSERT_EQUAL(s.check.files, 5);
    CU_ASSERT_EQUAL(s.check.records, 50);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_LIMIT);
    tear_down(&s);
}

static void test_rotation_by_clock(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 100000000;
    s.script.pause_ns = 1000000;
    s.settings.block_records = 100;
    s.settings.rotate_every_ns = 40000000;
    s.settings.stop_files = 3;
    run(&s);
    CU_ASSERT_EQUAL(s.check.files, 3);
    CU_ASSERT(s.status.started_ns / 40000000 + 3 <=
              (s.status.started_ns + s.status.elapsed_ns) / 40000000);
    tear_down(&s);
}

/* An end with an unknown board count is reported, and is not complete. */
static void check_unknown(struct capture *capture, const char *why)
{
    struct capture_status status;
    capture_get_status(capture, &status);
    CU_ASSERT_FALSE(status.running);
    CU_ASSERT_FALSE(status.failed);
    CU_ASSERT_FALSE(status.source.known);
    CU_ASSERT_FALSE(status_json_complete(&status));
    CU_ASSERT_EQUAL(bt_exit_status(status.error.code), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(status.error.message, why));
}

/* Waits for an end at which nothing is missing. */
static void check_ended(struct capture_fixture *s, struct capture *capture)
{
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &s->status);
    capture_free(capture);
    CU_ASSERT(s->status.source.known);
    CU_ASSERT(status_json_complete(&s->status));
    CU_ASSERT_EQUAL(s->status.error.code, 0);
    capture_check(&s->check, s->folder, ".byu.gz", &s->script, false);
    CU_ASSERT_STRING_EQUAL(s->check.problem, "");
}

/* Records of a slow source are on the disk after flush_ns, though their block is not full; and a
 * board that does not answer delays the end for a limited time only. */
static void test_flush(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 10;
    s.script.ignores_stop = true;
    s.settings.flush_ns = 20000000;
    struct capture *capture = capture_new(&s.settings, scripted_source_new(&s.script, NULL), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    do {
        CU_ASSERT_FALSE(capture_wait(capture, 1));
        capture_get_status(capture, &s.status);
    } while (s.status.records < 10);
    CU_ASSERT(s.status.running);
    capture_check(&s.check, s.folder, ".byu.gz.part", &s.script, true);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.records, 10);
    capture_stop(capture); /* waits until the silent board is given up */
    CU_ASSERT(capture_wait(capture, -1));
    check_unknown(capture, "did not end");
    capture_free(capture);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_STOPPED);
    CU_ASSERT_FALSE(s.check.closing.source.known);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.check.closing.message, "did not end"));
    tear_down(&s);
}

/* A time beyond the clock's range counts as endless: partial blocks wait. */
static void test_endless_times(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct capture_fixture s;
        set_up(&s);
        s.script.seed = seed;
        s.script.total = 500;
        s.script.short_percent = 100;
        s.settings.block_records = 600;
        s.settings.flush_ns = INT64_MAX;
        s.settings.stop_ns = INT64_MAX;
        s.settings.rotate_ns = INT64_MAX;
        s.settings.rotate_every_ns = INT64_MAX;
        run(&s);
        CU_ASSERT_EQUAL(s.check.records, 500);
        CU_ASSERT_EQUAL(s.check.members, 1);
        tear_down(&s);
    }
}

/* As in test_flush, but a limit ends the capture: the number of requests that a silent board
 * accepts afterwards is unknown. */
static void test_silent_at_a_limit(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 10;
    s.script.ignores_stop = true;
    s.settings.stop_records = 5;
    struct capture *capture = capture_new(&s.settings, scripted_source_new(&s.script, NULL), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    CU_ASSERT(capture_wait(capture, -1));
    check_unknown(capture, "did not end");
    capture_free(capture);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.records, 5);
    CU_ASSERT_EQUAL(s.check.closing.after_stop, 5);
    CU_ASSERT_FALSE(s.check.closing.source.known);
    tear_down(&s);
}

/* For a board that was disconnected at the end, the reason for the unknown count is reported, also
 * at a limit. */
static void test_disconnected_at_the_end(void)
{
    for (int limit = 0; limit < 2; limit++) {
        struct capture_fixture s;
        set_up(&s);
        s.script.total = 10;
        s.script.disconnected = true;
        s.settings.stop_ns = limit ? 20000000 : 0;
        struct capture *capture =
            capture_new(&s.settings, scripted_source_new(&s.script, NULL), NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
        if (!limit)
            capture_stop(capture);
        CU_ASSERT(capture_wait(capture, -1));
        check_unknown(capture, "the scripted board was disconnected");
        capture_free(capture);
        capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
        CU_ASSERT_STRING_EQUAL(s.check.problem, "");
        CU_ASSERT_PTR_NOT_NULL(
            strstr(s.check.closing.message, "the scripted board was disconnected"));
        tear_down(&s);
    }
}

/* A board that takes longer to send its data than the limit for a quiet board: all of it is
 * written, or counted after a limit. */
static void test_long_backlog(void)
{
    struct capture_fixture limited;
    struct capture_fixture stopped;
    set_up(&limited);
    limited.script.total = 10000;
    limited.script.chunk = 20;
    limited.script.after_stop = 1000;
    limited.script.pause_ns = 200000000;
    limited.settings.block_records = 25;
    stopped = limited;
    folder_make(stopped.folder);
    snprintf(stopped.settings.prefix, sizeof stopped.settings.prefix, "%s/t", stopped.folder);
    limited.settings.stop_records = 50;
    struct capture *first =
        capture_new(&limited.settings, scripted_source_new(&limited.script, NULL), NULL);
    struct capture *second =
        capture_new(&stopped.settings, scripted_source_new(&stopped.script, NULL), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    capture_stop(second);
    check_ended(&limited, first);
    check_ended(&stopped, second);
    CU_ASSERT_EQUAL(limited.check.records, 50);
    CU_ASSERT_EQUAL(limited.check.closing.after_stop, 1000);
    CU_ASSERT_EQUAL(limited.check.closing.end, CAPTURE_END_LIMIT);
    CU_ASSERT(stopped.check.records >= 1000);
    CU_ASSERT_EQUAL(stopped.check.closing.after_stop, 0);
    CU_ASSERT_EQUAL(stopped.check.closing.end, CAPTURE_END_STOPPED);
    tear_down(&limited);
    tear_down(&stopped);
}

/* A process that is stopped for longer than the limit for a quiet board, just after it told the
 * board to stop: it could not read, so it does not give the board up. */
static void test_stopped_process(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 1000;
    s.script.after_stop = 1000;
    s.script.pause_ns = 1000000;
    s.script.late_ns = 6000000000;
    struct capture *capture = capture_new(&s.settings, scripted_source_new(&s.script, NULL), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    capture_stop(capture);
    check_ended(&s, capture);
    CU_ASSERT_EQUAL(s.check.records, 1000);
    tear_down(&s);
}

/* A stopped capture writes all data in transit. */
static void test_stop_by_hand(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = UINT64_MAX / 4;
    s.script.pause_ns = 100000;
    s.script.after_stop = 777;
    s.script.short_percent = 100;
    s.settings.block_records = 500;
    s.settings.names = true;
    struct capture *capture = capture_new(&s.settings, scripted_source_new(&s.script, NULL), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    for (int file = 1; file < 4;) {
        char name[4096];
        capture_rotate(capture);
        CU_ASSERT_FALSE(capture_wait(capture, 5));
        while (capture_take_name(capture, name, sizeof name)) {
            char expected[FOLDER_PATH_BYTES + 16];
            snprintf(expected, sizeof expected, "%s/t_%05d_", s.folder, file++);
            CU_ASSERT_NSTRING_EQUAL(name, expected, strlen(expected));
        }
    }
    capture_stop(capture);
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &s.status);
    CU_ASSERT_EQUAL(s.status.end, CAPTURE_END_STOPPED);
    CU_ASSERT_EQUAL(s.status.after_stop, 0);
    CU_ASSERT_EQUAL(s.status.source.accepted, s.status.records);
    capture_free(capture);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_STOPPED);
    tear_down(&s);
}

static void test_unplugged(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.end = BT_CLOSED;
    s.script.lost_percent = 5;
    run(&s);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_DEVICE);
    CU_ASSERT(s.check.closing.final);
    CU_ASSERT_STRING_EQUAL(s.check.closing.message, "the scripted board was unplugged");
    CU_ASSERT(s.status.failed);
    CU_ASSERT_EQUAL(s.status.error.code, BT_CLOSED);
    CU_ASSERT_EQUAL(s.check.records + loss_total(&s.check.lost), s.script.total);
    tear_down(&s);
}

/* A source that does not wait, with slow workers: records are dropped and counted. */
static void test_drop(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 2000000;
    s.script.lost_percent = 1;
    s.script.chunk = 5000;
    s.settings.when_full = CAPTURE_DROP;
    s.settings.workers = 1;
    s.settings.engine = RECORD_ENGINE_ZLIB;
    s.settings.level = 9;
    s.settings.block_records = 4000;
    s.settings.queue_bytes = 1;
    run(&s);
    CU_ASSERT(s.check.lost.count[LOSS_QUEUE] > 0);
    CU_ASSERT(s.check.lost.count[LOSS_BUS] + s.check.lost.count[LOSS_LINK] > 0);
    CU_ASSERT_EQUAL(s.check.records + loss_total(&s.check.lost), s.script.total);
    tear_down(&s);
}

/* Returns the compressed size of a capture with a full queue, with or without the hurry mode. */
static uint64_t compressed_bytes(bool hurry)
{
    struct capture_fixture s;
    set_up(&s);
    s.script.total = 1000000;
    s.settings.workers = 1;
    s.settings.engine = RECORD_ENGINE_ZLIB;
    s.settings.level = 9;
    s.settings.block_records = 4000;
    s.settings.queue_bytes = 1;
    s.script.impatient = hurry;
    run(&s);
    CU_ASSERT_EQUAL(s.check.records, s.script.total);
    uint64_t bytes = s.status.compressed_bytes;
    tear_down(&s);
    return bytes;
}

/* If compression does not keep up, it is omitted; nothing else changes. */
static void test_hurry(void)
{
    /* the number of such blocks depends on the machine */
    CU_ASSERT(compressed_bytes(true) > compressed_bytes(false));
}

static uint64_t maybe(uint64_t *random, uint64_t low, uint64_t high)
{
    return random_below(random, 2) ? low + random_below(random, high - low) : 0;
}

static void randomise(struct capture_fixture *s, uint64_t *random)
{
    s->script.seed = random_next(random) | 1;
    s->script.total = random_below(random, 30000);
    s->script.chunk = 1 + random_below(random, 300);
    s->script.lost_percent = (unsigned)maybe(random, 0, 40);
    s->script.gap_percent = (unsigned)maybe(random, 0, 40);
    s->script.short_percent = (unsigned)maybe(random, 0, 60);
    s->script.odd_percent = (unsigned)maybe(random, 0, 20);
    s->script.after_stop = random_below(random, 3000);
    s->script.end = random_below(random, 8) ? 0 : BT_DEVICE;
    s->settings.rotate_bytes = maybe(random, 4096, 50000);
    uint64_t file_bytes = 4096 + random_below(random, 46000);
    s->settings.keep = (uint32_t)(random_below(random, 4) ? 0 : 1 + random_below(random, 4));
    s->settings.stop_records = random_below(random, 3) ? 0 : 1 + random_below(random, 30000);
    s->settings.stop_bytes = random_below(random, 3) ? 0 : 4096 + random_below(random, 100000);
    s->settings.stop_files = random_below(random, 3) ? 0 : 1 + random_below(random, 5);
    if (s->settings.stop_files && !s->settings.rotate_bytes)
        s->settings.rotate_bytes = file_bytes;
    s->settings.workers = 1 + (unsigned)random_below(random, 4);
    s->settings.block_records = (uint32_t)maybe(random, 1, 3000);
    s->settings.queue_bytes = random_below(random, 8) ? 1 + random_below(random, 200000) : 0;
    s->settings.flush_ns = (int64_t)maybe(random, 1000, 3000000);
    s->settings.engine = random_below(random, 4)   ? RECORD_ENGINE_BEST
                         : random_below(random, 2) ? RECORD_ENGINE_ZLIB
                                                   : RECORD_ENGINE_COLUMNS;
    s->settings.when_full = random_below(random, 2) ? CAPTURE_WAIT : CAPTURE_DROP;
    if (s->settings.block_records && s->settings.block_records < 50)
        s->script.total /= 20; /* a member for every few records takes long */
}

static void check_limits(const struct capture_fixture *s)
{
    const struct capture_settings *settings = &s->settings;
    bool own_blocks = settings->block_records == 0;
    if (settings->rotate_bytes && own_blocks)
        CU_ASSERT(s->check.largest_file <= settings->rotate_bytes);
    if (settings->stop_bytes && own_blocks)
        CU_ASSERT(s->status.compressed_bytes <= settings->stop_bytes);
    if (settings->stop_records)
        CU_ASSERT(s->status.records <= settings->stop_records);
    if (settings->stop_files)
        CU_ASSERT(s->status.files <= settings->stop_files);
    if (settings->keep)
        CU_ASSERT(s->check.files <= settings->keep);
    if (settings->block_records)
        CU_ASSERT(s->check.most_records <= settings->block_records);
    if (s->check.closing.end == CAPTURE_END_LIMIT && !settings->stop_bytes && !settings->stop_files)
        CU_ASSERT_EQUAL(s->status.records, settings->stop_records);
    if (s->check.closing.end == CAPTURE_END_SOURCE)
        CU_ASSERT_EQUAL(s->check.closing.end_index, s->script.total);
    CU_ASSERT_EQUAL(s->status.end, s->check.closing.end);
    CU_ASSERT_EQUAL(s->status.failed, s->check.closing.end == CAPTURE_END_DEVICE);
    CU_ASSERT_EQUAL(s->check.closing.capture_records, s->status.records);
}

static void test_random(void)
{
    uint64_t random = 20261120;
    for (int i = 0; i < 2000; i++) {
        struct capture_fixture s;
        set_up(&s);
        randomise(&s, &random);
        run(&s);
        check_limits(&s);
        bool good = s.check.problem[0] == '\0' && CU_get_number_of_failures() == 0;
        tear_down(&s);
        if (!good) {
            printf("\n  run %d\n", i);
            return;
        }
    }
}

static const struct test_case cases[] = {
    {"all records of a source are in the file", test_everything},
    {"an empty source", test_nothing},
    {"a source with only losses", test_only_losses},
    {"files by size", test_rotation_by_size},
    {"a ring of files", test_ring},
    {"stop after records, exactly", test_stop_records},
    {"compression is omitted when it is late", test_hurry},
    {"stop after bytes", test_stop_bytes},
    {"stop after files", test_stop_files},
    {"stop after a time", test_stop_time},
    {"files by time, from a quiet bus", test_rotation_by_time},
    {"files by the wall clock", test_rotation_by_clock},
    {"a block that waits is flushed", test_flush},
    {"times without end", test_endless_times},
    {"a board that is disconnected at the end", test_disconnected_at_the_end},
    {"a limit, and a silent board", test_silent_at_a_limit},
    {"a stop, and a board with much to send", test_long_backlog},
    {"a stop, and a stopped process", test_stopped_process},
    {"stop and rotate by hand", test_stop_by_hand},
    {"a board that is unplugged", test_unplugged},
    {"a full queue that drops", test_drop},
    {"random settings, random sources", test_random},
    {NULL, NULL}};
TEST_SUITE(capture, cases)
