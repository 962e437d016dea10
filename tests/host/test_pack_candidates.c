#include "capture/pack/pack_replace.h"
#include "host/pack_candidates.h"
#include "tests/suites.h"
#include "tests/support/capture_set.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS  1000000000ll
#define PATH_BYTES (FOLDER_PATH_BYTES + 128)

/* A capture of three files in a folder. */
struct place {
    char folder[FOLDER_PATH_BYTES];
    char prefix[FOLDER_PATH_BYTES + 8];
    struct pack_list list;
    struct pack_passed passed;
    struct pack_candidate candidate;
    int64_t due_ns;
    struct bt_error error;
};

static void path_of(const struct place *place, unsigned number, bool coded, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s_%05u_20010909T014640Z.%s", place->prefix, number,
             coded ? "byb" : "byu.gz");
}

static void set_time(const char *path, int64_t second)
{
    const struct timespec times[2] = {{second, 0}, {second, 0}};
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Writes three files, whose times are seconds 10, 20 and 30. */
static void put_capture(struct place *place)
{
    char made[PATH_BYTES], path[PATH_BYTES];
    const struct capture_set set = {
        .seed = 3, .files = 3, .file_records = 300, .block_records = 100};
    snprintf(made, sizeof made, "%.*s/m", (int)FOLDER_PATH_BYTES, place->folder);
    CU_ASSERT_EQUAL_FATAL(capture_set_write(&set, made), 0);
    for (unsigned i = 1; i <= 3; i++) {
        snprintf(made, sizeof made, "%.*s/m_%u.byu.gz", (int)FOLDER_PATH_BYTES, place->folder, i);
        path_of(place, i, false, path);
        CU_ASSERT_EQUAL_FATAL(rename(made, path), 0);
        set_time(path, 10 * i);
    }
}

static void open_place(struct place *place)
{
    memset(place, 0, sizeof *place);
    folder_make(place->folder);
    snprintf(place->prefix, sizeof place->prefix, "%s/p", place->folder);
    put_capture(place);
}

static void close_place(struct place *place)
{
    pack_list_free(&place->list);
    pack_passed_free(&place->passed);
    folder_remove(place->folder);
}

static void list(struct place *place)
{
    CU_ASSERT_EQUAL(pack_list_read(&place->list, place->prefix, &place->passed, &place->error), 0);
    place->due_ns = INT64_MAX;
}

/* The next file that is at least 5 s old at a second. */
static int next_file(struct place *place, int level, int64_t second)
{
    return pack_list_next(&place->list, place->prefix, &place->passed, level, 5 * SECOND_NS,
                          second * SECOND_NS, &place->candidate, &place->due_ns, &place->error);
}

static void expect(struct place *place, unsigned number, bool coded)
{
    char path[PATH_BYTES];
    path_of(place, number, coded, path);
    CU_ASSERT_STRING_EQUAL(place->candidate.path, path);
    path_of(place, number, true, path);
    CU_ASSERT_STRING_EQUAL(place->candidate.packed, path);
}

static void test_age(void)
{
    struct place place;
    open_place(&place);
    list(&place);
    CU_ASSERT_EQUAL(next_file(&place, 5, 25), 1);
    expect(&place, 1, false);
    CU_ASSERT_FALSE(place.candidate.left);
    CU_ASSERT_EQUAL(next_file(&place, 5, 25), 1);
    expect(&place, 2, false);
    CU_ASSERT_EQUAL(next_file(&place, 5, 25), 0);
    CU_ASSERT_EQUAL(place.due_ns, 35 * SECOND_NS);
    close_place(&place);
}

static bool go_on(void *context, const char *path, uint64_t done, uint64_t total)
{
    (void)context, (void)path, (void)done, (void)total;
    return true;
}

/* Packs the three files with level 2. */
static void pack_all(const struct place *place)
{
    const struct pack_replace_settings settings = {.pack = {.level = 2, .go_on = go_on}};
    struct pack_counts counts;
    char from[PATH_BYTES], to[PATH_BYTES];
    for (unsigned i = 1; i <= 3; i++) {
        path_of(place, i, false, from);
        path_of(place, i, true, to);
        CU_ASSERT_EQUAL(pack_replace(from, to, &settings, &counts, NULL), PACK_DONE);
    }
}

/* Packed files are packed again if their level is lower; what could not be packed has passed until
 * it is another file. */
static void test_level(void)
{
    struct place place;
    char path[PATH_BYTES];
    open_place(&place);
    pack_all(&place);
    list(&place);
    CU_ASSERT_EQUAL(next_file(&place, 2, 100), 0);
    list(&place);
    CU_ASSERT_EQUAL(next_file(&place, 9, 100), 1);
    expect(&place, 1, true);
    CU_ASSERT_EQUAL(pack_passed_add(&place.passed, place.candidate.path, 9, &place.error), 0);
    CU_ASSERT_EQUAL(place.passed.count, 1);
    CU_ASSERT_EQUAL(next_file(&place, 9, 100), 1);
    expect(&place, 2, true);
    list(&place);
    CU_ASSERT_EQUAL(next_file(&place, 9, 100), 1);
    expect(&place, 2, true);
    /* what has the level, or is gone, needs no mark; marks of what is gone are removed */
    CU_ASSERT_EQUAL(pack_passed_add(&place.passed, place.candidate.path, 2, &place.error), 0);
    CU_ASSERT_EQUAL(pack_passed_add(&place.passed, "/none-such", 9, &place.error), 0);
    CU_ASSERT_EQUAL(place.passed.count, 1);
    path_of(&place, 1, true, path);
    unlink(path);
    list(&place);
    CU_ASSERT_EQUAL(place.passed.count, 0);
    close_place(&place);
}

/* A packed form that a killed process has left is written again; another file of the name is an
 * error, and the list continues after it. */
static void test_left(void)
{
    struct place place;
    char from[PATH_BYTES], to[PATH_BYTES];
    open_place(&place);
    path_of(&place, 1, false, from);
    path_of(&place, 1, true, to);
    CU_ASSERT_EQUAL(link(from, to), 0);
    path_of(&place, 3, false, from);
    path_of(&place, 2, true, to);
    CU_ASSERT_EQUAL(link(from, to), 0);
    list(&place);
    CU_ASSERT_EQUAL(next_file(&place, 5, 100), 1);
    expect(&place, 1, false);
    CU_ASSERT(place.candidate.left);
    CU_ASSERT_EQUAL(next_file(&place, 5, 100), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(place.error.message, "another file has the name"));
    CU_ASSERT_EQUAL(next_file(&place, 5, 100), 1);
    expect(&place, 3, false);
    CU_ASSERT_EQUAL(next_file(&place, 5, 100), 0);
    close_place(&place);
}

static void test_no_folder(void)
{
    struct place place = {.prefix = "/none-such/p"};
    list(&place);
    CU_ASSERT_EQUAL(place.list.count, 0);
    CU_ASSERT_EQUAL(next_file(&place, 5, 100), 0);
}

static const struct test_case cases[] = {{"files that are old enough", test_age},
                                         {"levels", test_level},
                                         {"the packed form exists", test_left},
                                         {"no folder", test_no_folder},
                                         {NULL, NULL}};
TEST_SUITE(pack_candidates, cases)
