/* Captures of scripted sources: what is in the files is what the source gave, loss for loss. */
#include "capture/capture.h"

#include "tests/suites.h"
#include "tests/support/capture_check.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <string.h>

struct setting {
    char folder[FOLDER_PATH_BYTES];
    struct capture_settings settings;
    struct script script;
    struct capture_status status;
    struct capture_check check;
};

static void set_up(struct setting *s)
{
    memset(s, 0, sizeof *s);
    folder_make(s->folder);
    s->settings = capture_settings_default();
    snprintf(s->settings.prefix, sizeof s->settings.prefix, "%s/t", s->folder);
    s->settings.workers = 2;
    s->script = (struct script){.seed = 1, .total = 100000, .chunk = 100};
}

/* Runs a capture to its end and checks its files. */
static void run(struct setting *s)
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
    capture_check(&s->check, s->folder, ".byu.gz", &s->script, false);
    CU_ASSERT_STRING_EQUAL(s->check.problem, "");
    if (s->check.problem[0])
        printf("\n  seed %llu: %s\n", (unsigned long long)s->script.seed, s->check.problem);
    CU_ASSERT_EQUAL(s->status.files, s->check.files + s->check.first_number - 1);
}

static void tear_down(struct setting *s)
{
    folder_remove(s->folder);
}

static void test_everything(void)
{
    struct setting s;
    set_up(&s);
    run(&s);
    CU_ASSERT_EQUAL(s.check.records, s.script.total);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_SOURCE);
    CU_ASSERT_EQUAL(s.check.files, 1);
    tear_down(&s);
}

static const struct test_case cases[] = {
    {"all that a source gives is in the file", test_everything}, {NULL, NULL}};
TEST_SUITE(capture, cases)
