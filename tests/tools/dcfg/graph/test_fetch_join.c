/* The two fetches of a long instruction become one, wherever batches end. */
#include "tests/suites.h"
#include "tests/support/elf_file.h"
#include "tests/support/folder.h"
#include "tools/dcfg/graph/fetch_join.h"

#include <stdio.h>
#include <string.h>

#define LOAD 0x8048000u
#define CODE (LOAD + ELF_FILE_OFFSET)

/* movabs (10 bytes), nopl (8), nop, ret */
static const uint8_t code[] = {0x48, 0xb8, 1,    2, 3, 4, 5, 6, 7,    8,
                               0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x90, 0xc3};

struct taken_fetches {
    struct sink sink;
    struct record records[32];
    bool begins[32]; /* after a gap */
    size_t count;
};

static int take(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct taken_fetches *taken = (struct taken_fetches *)sink;
    (void)error;
    for (size_t i = 0; i < batch->count; i++) {
        taken->begins[taken->count] = i == 0 && batch_has_loss_or_gap(batch);
        taken->records[taken->count++] = batch->records[i];
    }
    return 0;
}

static const struct sink_operations operations = {.put = take};

static struct images *make_images(void)
{
    static char folder[FOLDER_PATH_BYTES];
    static char path[FOLDER_PATH_BYTES + 16];
    const struct elf_file file = {
        .bits = 64, .load_address = LOAD, .code = code, .code_size = sizeof code};
    struct images *images = images_new(NULL);
    folder_make(folder);
    snprintf(path, sizeof path, "%s/program", folder);
    elf_file_write(&file, path);
    CU_ASSERT_EQUAL_FATAL(images_add(images, path, NULL), 0);
    folder_remove(folder);
    return images;
}

/* The address counts from the begin of the code. */
static struct record fetch(uint32_t address, uint8_t size, uint32_t time)
{
    return (struct record){.address = CODE + address, .size = size, .time = time};
}

/* Puts the records in batches of some size; a gap is before record number `gap`. */
static void put_all(struct taken_fetches *taken, const struct record *records, size_t count,
                    size_t size, size_t gap)
{
    struct images *images = make_images();
    *taken = (struct taken_fetches){.sink.operations = &operations};
    struct fetch_join *join = fetch_join_new(images, &taken->sink, NULL);
    struct record copy[16];
    for (size_t at = 0, end; at < count; at = end) {
        end = at + size < count ? at + size : count;
        if (at < gap && gap < end)
            end = gap;
        memcpy(copy, records + at, (end - at) * sizeof *copy);
        const struct batch batch = {
            .records = copy, .count = end - at, .gap = {.milliseconds = at == gap ? 1 : 0}};
        CU_ASSERT_EQUAL(fetch_join_put(join, &batch, NULL), 0);
    }
    CU_ASSERT_EQUAL(fetch_join_end(join, NULL), 0);
    fetch_join_free(join);
    images_free(images);
}

static void test_halves(void)
{
    const struct record records[] = {fetch(0, 8, 1),  fetch(8, 2, 0),  fetch(10, 8, 1),
                                     fetch(18, 1, 1), fetch(19, 1, 1), fetch(0, 8, 1),
                                     fetch(8, 2, 0)};
    static const uint8_t sizes[] = {10, 8, 1, 1, 10};
    for (size_t size = 1; size <= 7; size++) {
        struct taken_fetches taken;
        put_all(&taken, records, 7, size, SIZE_MAX);
        CU_ASSERT_EQUAL_FATAL(taken.count, 5);
        for (size_t i = 0; i < 5; i++) {
            CU_ASSERT_EQUAL(taken.records[i].size, sizes[i]);
            CU_ASSERT_EQUAL(taken.records[i].time, 1);
        }
    }
}

/* Other fetches stay as they are: another instruction, a later tick, another processor, and across
 * a gap, which is passed on. */
static void test_others(void)
{
    struct record records[] = {fetch(10, 8, 1), fetch(18, 1, 0), fetch(0, 8, 1),
                               fetch(8, 2, 1),  fetch(0, 8, 1),  fetch(8, 2, 0),
                               fetch(0, 8, 1),  fetch(8, 2, 0),  fetch(0, 8, 1)};
    records[5].processor = 1;
    for (size_t size = 1; size <= 9; size++) {
        struct taken_fetches taken;
        put_all(&taken, records, 9, size, 7);
        CU_ASSERT_EQUAL_FATAL(taken.count, 9);
        CU_ASSERT_EQUAL(memcmp(taken.records, records, sizeof records), 0);
        for (size_t i = 0; i < 9; i++)
            CU_ASSERT_EQUAL(taken.begins[i], i == 7);
        put_all(&taken, records, 9, size, 6); /* the gap is before the first half */
        CU_ASSERT_EQUAL_FATAL(taken.count, 8);
        for (size_t i = 0; i < 8; i++)
            CU_ASSERT_EQUAL(taken.begins[i], i == 6);
    }
}

static const struct test_case cases[] = {
    {"halves", test_halves}, {"fetches that are no halves", test_others}, {NULL, NULL}};
TEST_SUITE(fetch_join, cases)
