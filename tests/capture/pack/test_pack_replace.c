#include "capture/pack/pack_replace.h"
#include "formats/base/file_io.h"
#include "formats/capture/capture_peek.h"
#include "tests/suites.h"
#include "tests/support/capture_set.h"
#include "tests/support/folder.h"
#include "tests/support/full_disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES (FOLDER_PATH_BYTES + 32)

/* A capture's file in a folder, and what happens to it while it is packed. */
struct place {
    char folder[FOLDER_PATH_BYTES];
    char path[PATH_BYTES], name[PATH_BYTES];
    unsigned calls, stop_at; /* of go_on; 0: it does not stop */
    unsigned held;
    unsigned remove_at, replace_at, append_at; /* before that hold */
    struct pack_counts counts;
    struct bt_error error;
};

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static bool go_on(void *context, const char *path, uint64_t done, uint64_t total)
{
    struct place *place = context;
    CU_ASSERT_STRING_EQUAL(path, place->path);
    CU_ASSERT(done <= total);
    return ++place->calls != place->stop_at;
}

static void hold(void *context, bool held)
{
    struct place *place = context;
    CU_ASSERT_EQUAL(held, place->held % 2 == 0);
    place->held++;
    if (held && place->held == place->remove_at)
        unlink(place->path);
    if (held && place->held == place->append_at) {
        FILE *file = fopen(place->path, "a");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        fputs("more", file);
        fclose(file);
    }
    if (held && place->held == place->replace_at) {
        unlink(place->path);
        write_text(place->path, "another");
    }
}

static void open_place(struct place *place, uint32_t version)
{
    char prefix[PATH_BYTES];
    const struct capture_set set = {
        .seed = 5, .files = 1, .file_records = 3000, .block_records = 700, .version = version};
    memset(place, 0, sizeof *place);
    folder_make(place->folder);
    snprintf(prefix, sizeof prefix, "%s/c", place->folder);
    CU_ASSERT_EQUAL_FATAL(capture_set_write(&set, prefix), 0);
    snprintf(place->path, sizeof place->path, "%s/c_1.%s", place->folder,
             version == 2 ? "byb" : "byu.gz");
    snprintf(place->name, sizeof place->name, "%s/c_1.byb", place->folder);
}

static int replace(struct place *place, bool replaces)
{
    const struct pack_replace_settings settings = {
        .pack = {.level = 2, .threads = 0, .go_on = go_on, .context = place},
        .replaces = replaces,
        .hold = hold};
    return pack_replace(place->path, place->name, &settings, &place->counts, &place->error);
}

/* Whether the folder has exactly these files. */
static bool has(const struct place *place, const char *first, const char *second)
{
    struct folder_list list = folder_list(place->folder, "");
    bool good = list.count == (first != NULL) + (size_t)(second != NULL) &&
                (!first || strcmp(list.names[0], first) == 0) &&
                (!second || strcmp(list.names[1], second) == 0);
    folder_list_free(&list);
    return good;
}

static bool is_packed(const char *path)
{
    struct capture_member header, data;
    const int file = open(path, O_RDONLY);
    bool good = file >= 0 && capture_peek_header(file, &header) &&
                capture_peek_data(file, &header, &data) && data.codec == RECORD_CODEC_COLUMNS &&
                data.level == 2 && header.info.file_number == 1;
    close(file);
    return good;
}

static void test_done(void)
{
    for (uint32_t version = 1; version <= 2; version++) {
        struct place place;
        open_place(&place, version);
        CU_ASSERT_EQUAL(replace(&place, false), PACK_DONE);
        CU_ASSERT_EQUAL(place.counts.records, 3000);
        CU_ASSERT_EQUAL(place.held, version == 1 ? 4 : 2);
        CU_ASSERT(has(&place, "c_1.byb", NULL));
        CU_ASSERT(is_packed(place.name));
        folder_remove(place.folder);
    }
}

/* Whenever it is stopped, the file is as it was. */
static void test_stopped(void)
{
    unsigned stops = 1;
    for (int result = BT_CLOSED; result == BT_CLOSED; stops++) {
        struct place place;
        open_place(&place, 1);
        place.stop_at = stops;
        result = replace(&place, false);
        CU_ASSERT(result == BT_CLOSED ? has(&place, "c_1.byu.gz", NULL)
                                      : has(&place, "c_1.byb", NULL));
        CU_ASSERT(result == BT_CLOSED || result == PACK_DONE);
        folder_remove(place.folder);
    }
    CU_ASSERT(stops > 5);
}

/* A file that is removed meanwhile does not come back, and another one of its name stays. */
static void test_gone(void)
{
    for (unsigned at = 1; at <= 3; at += 2) {
        struct place place;
        open_place(&place, 1);
        place.remove_at = at;
        CU_ASSERT_EQUAL(replace(&place, false), PACK_GONE);
        CU_ASSERT(has(&place, NULL, NULL));
        folder_remove(place.folder);
        open_place(&place, 1);
        place.replace_at = at;
        CU_ASSERT_EQUAL(replace(&place, false), PACK_GONE);
        CU_ASSERT(has(&place, "c_1.byu.gz", NULL));
        folder_remove(place.folder);
    }
    struct place place;
    open_place(&place, 2);
    place.remove_at = 1;
    CU_ASSERT_EQUAL(replace(&place, false), PACK_GONE);
    CU_ASSERT(has(&place, NULL, NULL));
    folder_remove(place.folder);
}

/* A file to which something was appended meanwhile stays. */
static void test_appended(void)
{
    for (uint32_t version = 1; version <= 2; version++)
        for (unsigned at = 1; at <= (version == 1 ? 3 : 1); at += 2) {
            struct place place;
            struct stat before, after;
            open_place(&place, version);
            CU_ASSERT_EQUAL(stat(place.path, &before), 0);
            place.append_at = at;
            CU_ASSERT_EQUAL(replace(&place, false), PACK_GONE);
            CU_ASSERT(has(&place, version == 1 ? "c_1.byu.gz" : "c_1.byb", NULL));
            CU_ASSERT_EQUAL(stat(place.path, &after), 0);
            CU_ASSERT_EQUAL(after.st_size, before.st_size + 4);
            folder_remove(place.folder);
        }
}

/* The packed form exists: it stays, or is replaced if the caller knows it. */
static void test_exists(void)
{
    struct place place;
    open_place(&place, 1);
    write_text(place.name, "another");
    CU_ASSERT_EQUAL(replace(&place, false), BT_IO);
    CU_ASSERT(has(&place, "c_1.byb", "c_1.byu.gz"));
    CU_ASSERT_FALSE(is_packed(place.name));
    CU_ASSERT_EQUAL(replace(&place, true), PACK_DONE);
    CU_ASSERT(has(&place, "c_1.byb", NULL));
    CU_ASSERT(is_packed(place.name));
    folder_remove(place.folder);
}

static void test_full_disk(void)
{
    struct place place;
    open_place(&place, 1);
    full_disk_begin(2000);
    CU_ASSERT_EQUAL(replace(&place, false), BT_FULL);
    full_disk_end();
    CU_ASSERT(has(&place, "c_1.byu.gz", NULL));
    CU_ASSERT_EQUAL(replace(&place, false), PACK_DONE);
    folder_remove(place.folder);
}

static const struct test_case cases[] = {{"in place, one name or two", test_done},
                                         {"stopped at every point", test_stopped},
                                         {"removed or replaced meanwhile", test_gone},
                                         {"appended to meanwhile", test_appended},
                                         {"a file of the new name", test_exists},
                                         {"a full disk", test_full_disk},
                                         {NULL, NULL}};
TEST_SUITE(pack_replace, cases)
