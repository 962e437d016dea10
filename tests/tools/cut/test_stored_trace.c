/* The files of a capture, member by member, in any way of reading. */
#include "tools/cut/stored_trace.h"

#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/random_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPTURES   200
#define PATH_BYTES (FOLDER_PATH_BYTES + 32)

struct scene {
    char folder[FOLDER_PATH_BYTES];
    char names[RANDOM_CAPTURE_FILES][PATH_BYTES];
    char *paths[RANDOM_CAPTURE_FILES];
    struct trace_items all;
    struct record records[256];
};

/* What a walk has seen. */
struct seen {
    uint64_t records;
    struct loss lost;
};

static bool step(struct scene *scene, struct stored_trace *trace, uint64_t *random,
                 struct seen *seen)
{
    struct batch description, batch = {.records = scene->records, .capacity = 256};
    struct stored_member member;
    struct bt_error error;
    const uint64_t index = stored_trace_index(trace);
    if (stored_trace_peek(trace, &description, &error) != STORED_MEMBER)
        return false;
    /* nothing is missing before a member but what it counts as lost */
    CU_ASSERT_EQUAL(description.first_index - loss_total(&description.lost), index);
    CU_ASSERT(description.first_tick >= stored_trace_tick(trace));
    seen->records += description.count;
    loss_add(&seen->lost, &description.lost);
    switch (random_below(random, 3)) {
    case 0:
        CU_ASSERT_EQUAL(stored_trace_pass(trace, &error), 0);
        break;
    case 1:
        CU_ASSERT_EQUAL(stored_trace_take(trace, &member, &error), 1);
        CU_ASSERT(member.size > 100 && member.bytes[0] == 0x1f && member.bytes[1] == 0x8b);
        break;
    default:
        CU_ASSERT_EQUAL(stored_trace_next(trace, &batch, &error), 1);
        CU_ASSERT(batch.count == description.count && batch.first_index == description.first_index);
        CU_ASSERT_EQUAL(memcmp(&batch.lost, &description.lost, sizeof batch.lost), 0);
        CU_ASSERT_FALSE(stored_trace_in_member(trace));
    }
    CU_ASSERT_EQUAL(stored_trace_index(trace), description.first_index + description.count);
    CU_ASSERT_EQUAL(stored_trace_tick(trace), description.last_tick);
    return true;
}

static void walk(struct scene *scene, int files, uint64_t *random)
{
    struct input_report report;
    struct bt_error error;
    char message[160];
    struct seen seen = {.records = 0}, wanted = {.records = 0};
    const struct stored_trace_settings settings = {.keep_parts = true, .report = &report};
    input_report_begin(&report, false);
    struct stored_trace *trace = stored_trace_open(files, scene->paths, &settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
    while (step(scene, trace, random, &seen))
        ;
    for (size_t i = 0; i < scene->all.count; i++) {
        wanted.records += scene->all.items[i].is_record;
        loss_add(&wanted.lost, &scene->all.items[i].lost);
    }
    CU_ASSERT_EQUAL(seen.records, wanted.records);
    CU_ASSERT_EQUAL(memcmp(seen.lost.count, wanted.lost.count, sizeof wanted.lost.count), 0);
    const struct loss *after = stored_trace_lost_after(trace);
    CU_ASSERT_EQUAL(memcmp(after->count, scene->all.after.count, sizeof after->count), 0);
    CU_ASSERT(stored_trace_closing(trace) && stored_trace_closing(trace)->final);
    CU_ASSERT(stored_trace_tells_losses(trace, true, message, sizeof message));
    CU_ASSERT_EQUAL(report.status, 0);
    stored_trace_free(trace);
}

static int write_capture(struct scene *scene, const char *name, uint64_t seed)
{
    char prefix[FOLDER_PATH_BYTES + 8];
    snprintf(prefix, sizeof prefix, "%s/%s", scene->folder, name);
    const int files = random_capture_write(&scene->all, prefix, seed, seed % 2 == 0);
    for (int i = 0; i < files; i++) { /* in any order */
        const int place = (i + (int)(seed % 3)) % files;
        snprintf(scene->names[place], sizeof scene->names[place], "%s_%d.byu.gz", prefix, i + 1);
        scene->paths[place] = scene->names[place];
    }
    return files;
}

static void test_walks(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    uint64_t random = random_seed(4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scene);
    folder_make(scene->folder);
    for (uint64_t seed = 1; seed <= CAPTURES; seed++)
        walk(scene, write_capture(scene, "p", seed), &random);
    folder_remove(scene->folder);
    free(scene);
}

/* Reads all. STORED_END, or the code of the error. */
static int read_code(struct scene *scene, int count, char **paths)
{
    struct input_report report;
    struct bt_error error = {.code = 0};
    const struct stored_trace_settings settings = {.report = &report};
    input_report_begin(&report, false);
    struct stored_trace *trace = stored_trace_open(count, paths, &settings, &error);
    struct batch batch = {.records = scene->records, .capacity = 256};
    int result = trace ? 1 : error.code;
    while (result > 0) {
        result = stored_trace_peek(trace, &batch, &error);
        if (result == STORED_MEMBER)
            result = stored_trace_pass(trace, &error) < 0 ? error.code : 1;
        else if (result == STORED_RECORDS)
            result = stored_trace_next(trace, &batch, &error);
    }
    stored_trace_free(trace);
    return result;
}

static void test_refused(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    char other[PATH_BYTES], copy[PATH_BYTES], command[3 * PATH_BYTES];
    CU_ASSERT_PTR_NOT_NULL_FATAL(scene);
    folder_make(scene->folder);
    write_capture(scene, "a", 3);
    snprintf(other, sizeof other, "%s/a_1.byu.gz", scene->folder);
    snprintf(copy, sizeof copy, "%s/copy", scene->folder);
    snprintf(command, sizeof command, "cp '%s' '%s'", other, copy);
    CU_ASSERT_EQUAL(system(command), 0); /* NOLINT(cert-env33-c): the test's own command */
    char *copies[] = {other, copy}, *missing[] = {scene->folder};
    CU_ASSERT_EQUAL(read_code(scene, 2, copies), BT_USAGE);
    CU_ASSERT(read_code(scene, 1, missing) < 0);
    write_capture(scene, "b", 4);
    char *two[] = {other, scene->paths[0]};
    CU_ASSERT_EQUAL(read_code(scene, 2, two), BT_USAGE);
    /* no bytes */
    FILE *file = fopen(copy, "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fclose(file);
    char *empty[] = {copy};
    CU_ASSERT_EQUAL(read_code(scene, 1, empty), BT_DATA);
    folder_remove(scene->folder);
    free(scene);
}

static const struct test_case cases[] = {{"members passed, taken and read", test_walks},
                                         {"what is refused", test_refused},
                                         {NULL, NULL}};
TEST_SUITE(stored_trace, cases)
