/* Snapshots: their numbers, and when their files are complete. */
#define _DEFAULT_SOURCE /* usleep */
#include "tests/capture/capture_fixture.h"

#include "tests/suites.h"

#include <string.h>
#include <unistd.h>

#define KEPT 1000u /* records */

static struct capture *begin(struct capture_fixture *s)
{
    struct bt_error error = {0};
    s->script.total = 5000;
    s->script.lingers = true;
    struct capture *capture =
        capture_new(&s->settings, scripted_source_new(&s->script, NULL), &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    const struct source_totals *source = &s->status.source;
    do {
        usleep(1000);
        capture_get_status(capture, &s->status);
    } while (source->accepted + source->filtered < s->script.total);
    return capture;
}

static void end(struct capture_fixture *s, struct capture *capture)
{
    capture_stop(capture);
    CU_ASSERT(capture_wait(capture, -1));
    capture_free(capture);
    folder_remove(s->folder);
}

/* Waits for the file of a snapshot, for at most 20 s. */
static void await_snapshot(struct capture_fixture *s, struct capture *capture, uint64_t number)
{
    for (int i = 0; i < 20000; i++) {
        capture_get_status(capture, &s->status);
        if (s->status.snapshots >= number)
            break;
        usleep(1000);
    }
    CU_ASSERT_EQUAL(s->status.snapshots, number);
    CU_ASSERT_EQUAL(access(s->status.snapshot_file, F_OK), 0);
}

/* The file holds what the ring holds; a record is saved once. */
static void test_ring(void)
{
    struct capture_fixture s;
    set_up(&s);
    s.settings.trigger.ring_bytes = KEPT * RECORD_BYTES;
    struct capture *capture = begin(&s);
    CU_ASSERT_EQUAL(s.status.snapshots, 0);
    CU_ASSERT_STRING_EQUAL(s.status.snapshot_file, "");
    CU_ASSERT_EQUAL(capture_snapshot(capture), 1);
    await_snapshot(&s, capture, 1);
    CU_ASSERT_EQUAL(s.status.records, KEPT);
    CU_ASSERT_EQUAL(s.status.trigger.windows, 1);
    CU_ASSERT_EQUAL(s.status.trigger.outside, s.script.total - KEPT);
    capture_rotate(capture); /* the same */
    CU_ASSERT_EQUAL(capture_snapshot(capture), 3);
    await_snapshot(&s, capture, 3);
    CU_ASSERT_EQUAL(s.status.records, KEPT);
    end(&s, capture);
}

/* Within an open window the snapshot is complete when the window is. */
static void test_open_window(void)
{
    struct capture_fixture s;
    set_up(&s);
    strcpy(s.settings.trigger.trigger, "index=4000");
    s.settings.trigger.pre_records = 10;
    s.settings.trigger.post_records = 1000000;
    struct capture *capture = begin(&s);
    CU_ASSERT_EQUAL(capture_snapshot(capture), 1);
    usleep(200000);
    capture_get_status(capture, &s.status);
    CU_ASSERT_EQUAL(s.status.snapshots, 0);
    CU_ASSERT_EQUAL(s.status.trigger.windows, 1);
    end(&s, capture);
}

/* Nothing is kept: no number. */
static void test_none(void)
{
    struct capture_fixture s;
    set_up(&s);
    struct capture *capture = begin(&s);
    CU_ASSERT_EQUAL(capture_snapshot(capture), 0);
    end(&s, capture);
    set_up(&s);
    strcpy(s.settings.trigger.trigger, "type=FETCH");
    capture = begin(&s);
    CU_ASSERT_EQUAL(capture_snapshot(capture), 0);
    end(&s, capture);
}

static const struct test_case cases[] = {{"what a ring holds", test_ring},
                                         {"in an open window", test_open_window},
                                         {"nothing is kept", test_none},
                                         {NULL, NULL}};
TEST_SUITE(snapshot, cases)
