#define _DEFAULT_SOURCE /* symlink */
#include "formats/text/text_writer.h"

#include "formats/text/text_reader.h"
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/full_disk.h"
#include "tests/support/random.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES ((size_t)700000)
#define NAME_BYTES (FOLDER_PATH_BYTES + 32)

static char *random_text(size_t size)
{
    uint64_t state = random_seed(size);
    char *text = malloc(size);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('0' + random_below(&state, 10));
    return text;
}

static int write_in_steps(struct text_writer *writer, const char *text, size_t size,
                          struct bt_error *error)
{
    uint64_t state = random_seed(1);
    int result = 0;
    while (size > 0 && result == 0) {
        size_t step = random_below(&state, 90000);
        if (step > size)
            step = size;
        result = text_writer_put(writer, text, step, error);
        text += step;
        size -= step;
    }
    return result;
}

static bool reads_as(const char *path, const char *text, size_t size)
{
    struct bt_error error;
    struct text_reader *reader = text_reader_open(path, &error);
    char *got = malloc(size + 1);
    size_t total = 0;
    size_t step = 1;
    int result = reader ? 0 : -1;
    while (result == 0 && step > 0 && total <= size) {
        result = text_reader_read(reader, got + total, size + 1 - total, &step, &error);
        total += step;
    }
    bool good = result == 0 && total == size && memcmp(got, text, size) == 0;
    free(got);
    text_reader_close(reader);
    return good;
}

/* Whether the file begins with magic. */
static bool begins_with(const char *path, const char *magic)
{
    char bytes[4] = "";
    int file = open(path, O_RDONLY);
    bool good = file >= 0 && read(file, bytes, 3) == 3 && strncmp(bytes, magic, strlen(magic)) == 0;
    close(file);
    return good;
}

static void test_by_the_names_ending(void)
{
    static const struct {
        const char *name, *magic;
    } kinds[] = {{"a.json", "123"}, {"a.json.gz", "\x1f\x8b"}, {"a.json.bz2", "BZh"}};
    char folder[FOLDER_PATH_BYTES];
    char path[NAME_BYTES];
    struct bt_error error = {0};
    char *text = random_text(TEXT_BYTES);
    memcpy(text, "123", 3);
    folder_make(folder);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, kinds[i].name);
        struct text_writer *writer = text_writer_new(path, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
        CU_ASSERT_EQUAL(write_in_steps(writer, text, TEXT_BYTES, &error), 0);
        CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
        CU_ASSERT_EQUAL(text_writer_finish(writer, &error), 0);
        text_writer_free(writer);
        CU_ASSERT(begins_with(path, kinds[i].magic));
        CU_ASSERT(reads_as(path, text, TEXT_BYTES));
    }
    struct folder_list list = folder_list(folder, "");
    CU_ASSERT_EQUAL(list.count, 3); /* no part file */
    folder_list_free(&list);
    folder_remove(folder);
    free(text);
}

static void put_line(const char *path, const char *line)
{
    struct bt_error error = {0};
    struct text_writer *writer = text_writer_new(path, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    CU_ASSERT_EQUAL(text_writer_put(writer, line, strlen(line), &error), 0);
    CU_ASSERT_EQUAL(text_writer_finish(writer, &error), 0);
    text_writer_free(writer);
}

static void test_replaces_when_complete(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[NAME_BYTES], part[NAME_BYTES], link[NAME_BYTES];
    struct bt_error error = {0};
    struct stat status;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/x", folder);
    snprintf(part, sizeof part, "%s/x.part-1", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    put_line(path, "old");
    CU_ASSERT_EQUAL(close(open(part, O_CREAT | O_WRONLY, 0600)), 0); /* of another process */
    struct text_writer *writer = text_writer_new(path, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    CU_ASSERT_EQUAL(text_writer_put(writer, "new", 3, &error), 0);
    text_writer_free(writer); /* not finished: no effect */
    CU_ASSERT(reads_as(path, "old", 3));
    struct folder_list list = folder_list(folder, "");
    CU_ASSERT_EQUAL(list.count, 2);
    folder_list_free(&list);
    CU_ASSERT_EQUAL(symlink("x", link), 0);
    put_line(link, "through the link");
    CU_ASSERT(reads_as(path, "through the link", 16));
    CU_ASSERT(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
    folder_remove(folder);
}

static void test_in_place(void)
{
    struct stat status;
    put_line("/dev/null", "nothing");
    CU_ASSERT(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
}

static void test_full_disk(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[NAME_BYTES];
    char *text = random_text(TEXT_BYTES);
    static const char *const names[] = {"a.json", "a.json.gz", "a.json.bz2"};
    folder_make(folder);
    for (int i = 0; i < 3; i++) {
        struct bt_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        struct text_writer *writer = text_writer_new(path, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
        full_disk_begin(1000);
        write_in_steps(writer, text, TEXT_BYTES, &error);
        CU_ASSERT_EQUAL(text_writer_finish(writer, &error), BT_FULL);
        full_disk_end();
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, names[i]));
        CU_ASSERT_EQUAL(text_writer_put(writer, "x", 1, &error), BT_FULL);
        text_writer_free(writer);
    }
    struct folder_list list = folder_list(folder, "");
    CU_ASSERT_EQUAL(list.count, 0);
    folder_list_free(&list);
    folder_remove(folder);
    free(text);
}

static void test_memory(void)
{
    struct bt_error error = {0};
    struct text_writer *writer = text_writer_new_memory(&error);
    size_t size = 0;
    char *text = random_text(TEXT_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    CU_ASSERT_EQUAL(write_in_steps(writer, text, TEXT_BYTES, &error), 0);
    CU_ASSERT_EQUAL(text_writer_finish(writer, &error), 0);
    const char *got = text_writer_memory(writer, &size);
    CU_ASSERT(size == TEXT_BYTES && memcmp(got, text, size) == 0);
    text_writer_free(writer);
    free(text);
}

static void test_cannot_create(void)
{
    struct bt_error error = {0};
    CU_ASSERT_PTR_NULL(text_writer_new("/nowhere/at/all", &error));
    CU_ASSERT_EQUAL(error.code, BT_IO);
    CU_ASSERT_PTR_NULL(text_writer_new("/", &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "folder"));
}

static const struct test_case cases[] = {
    {"plain, gzip and bzip2, by the name's ending", test_by_the_names_ending},
    {"the old file stays until the new one is complete", test_replaces_when_complete},
    {"other than regular files are written in place", test_in_place},
    {"a full disk is reported, and no file is left", test_full_disk},
    {"into memory", test_memory},
    {"errors name the file", test_cannot_create},
    {NULL, NULL}};
TEST_SUITE(text_writer, cases)
