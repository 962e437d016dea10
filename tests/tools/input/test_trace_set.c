/* Verdicts on rolled captures: complete ones, damaged ones, and ones with missing files. */
#include "tests/suites.h"
#include "tests/support/capture_set.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/trace_judge.h"
#include "tools/common/words.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 6u

/* Files of a capture in a separate folder. */
struct set_files {
    char folder[FOLDER_PATH_BYTES];
    char prefix[FOLDER_PATH_BYTES + 8];
    char names[FILES_MAX][FOLDER_PATH_BYTES + 32];
    char *paths[FILES_MAX];
    int count;
};

static void write_files(struct set_files *files, const struct capture_set *set)
{
    folder_make(files->folder);
    snprintf(files->prefix, sizeof files->prefix, "%s/p", files->folder);
    CU_ASSERT_EQUAL_FATAL(capture_set_write(set, files->prefix), 0);
    files->count = 0;
    for (uint32_t number = set->removed + 1; number <= set->files; number++) {
        char *name = files->names[files->count];
        snprintf(name, sizeof files->names[0], "%s_%u.byu.gz", files->prefix, number);
        files->paths[files->count++] = name;
    }
}

static void remove_path(struct set_files *files, int which)
{
    for (int i = which; i + 1 < files->count; i++)
        files->paths[i] = files->paths[i + 1];
    files->count--;
}

static void judge(struct trace_verdict *verdict, const struct set_files *files)
{
    CU_ASSERT_FATAL(trace_judge(verdict, files->paths, files->count) > 0);
}

static struct capture_set random_set(uint64_t *random)
{
    struct capture_set set = {.seed = random_next(random),
                              .files = 1 + (uint32_t)random_below(random, FILES_MAX),
                              .file_records = 2 + (uint32_t)random_below(random, 400),
                              .block_records = 1 + (uint32_t)random_below(random, 200)};
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        if (random_one_in(random, 3))
            set.lost[stage] = random_below(random, 1000);
    if (random_one_in(random, 3))
        set.lost_at_end = random_below(random, 100);
    if (random_one_in(random, 3))
        set.after_stop = random_below(random, 100);
    if (random_one_in(random, 3)) {
        set.removed = (uint32_t)random_below(random, set.files);
        set.keep = set.files - set.removed;
    }
    if (random_one_in(random, 3))
        set.gap_ms = 1 + random_next32(random) % GAP_MILLISECONDS_MAX;
    return set;
}

static uint64_t requests(const struct capture_set *set)
{
    uint64_t sum = 0;
    for (uint32_t number = set->removed + 1; number <= set->files; number++)
        sum += capture_set_file_requests(set, number);
    return sum;
}

static void test_whole_sets(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = random_seed(seed);
        struct capture_set set = random_set(&random);
        struct set_files files;
        struct trace_verdict verdict;
        write_files(&files, &set);
        char *first = files.paths[0]; /* the order does not matter */
        files.paths[0] = files.paths[files.count - 1];
        files.paths[files.count - 1] = first;
        judge(&verdict, &files);
        uint32_t present = set.files - set.removed;
        CU_ASSERT_TRUE(verdict.complete);
        CU_ASSERT_STRING_EQUAL(verdict.why, "");
        CU_ASSERT_EQUAL(verdict.files, present);
        CU_ASSERT_EQUAL(verdict.records, (uint64_t)present * set.file_records);
        CU_ASSERT_EQUAL(verdict.records + words_lost(verdict.lost), requests(&set));
        CU_ASSERT_EQUAL(verdict.removed_files, set.removed);
        bool gaps = set.gap_ms > 0 && set.file_records > set.block_records;
        CU_ASSERT_EQUAL(verdict.gaps, gaps ? present : 0);
        CU_ASSERT_EQUAL(verdict.gap_ms, gaps ? (uint64_t)present * set.gap_ms : 0);
        folder_remove(files.folder);
    }
}

static void test_missing_file(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = random_seed(seed);
        struct capture_set set = random_set(&random);
        struct set_files files;
        struct trace_verdict verdict;
        set.removed = set.keep = 0;
        if (set.files < 2)
            set.files = 2;
        write_files(&files, &set);
        remove_path(&files, (int)random_below(&random, (uint64_t)files.count));
        judge(&verdict, &files);
        CU_ASSERT_FALSE(verdict.complete);
        CU_ASSERT(verdict.why[0] != '\0');
        folder_remove(files.folder);
    }
}

/* Changes one byte, or cuts the file off there. */
static void damage(const char *path, uint64_t *random)
{
    struct stat status;
    uint8_t byte;
    int file = open(path, O_RDWR);
    CU_ASSERT_FATAL(file >= 0 && fstat(file, &status) == 0 && status.st_size > 0);
    off_t at = (off_t)random_below(random, (uint64_t)status.st_size);
    if (random_one_in(random, 3)) {
        CU_ASSERT_EQUAL(ftruncate(file, at), 0);
    } else {
        CU_ASSERT_EQUAL(pread(file, &byte, 1, at), 1);
        byte ^= (uint8_t)(1u << random_below(random, 8));
        CU_ASSERT_EQUAL(pwrite(file, &byte, 1, at), 1);
    }
    close(file);
}

static void test_damage(void)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        uint64_t random = random_seed(seed);
        struct capture_set set = random_set(&random);
        struct set_files files;
        struct trace_verdict verdict;
        write_files(&files, &set);
        damage(files.paths[random_below(&random, (uint64_t)files.count)], &random);
        judge(&verdict, &files);
        CU_ASSERT_FALSE(verdict.complete);
        folder_remove(files.folder);
    }
}

/* Well-formed files that contradict each other: the verdict gives the reason. */
static void test_lies(void)
{
    static const struct {
        enum capture_set_lie lie;
        const char *word;
    } lies[] = {{LIE_SEAM, "begins with request"},
                {LIE_ACCEPTED, "the board accepted"},
                {LIE_CAPTURED, "do not continue those of file 1"},
                {LIE_TICK, "ticks after the one before; its first"},
                {LIE_FINAL, "says that the file is the last and that it is not"},
                {LIE_BACK, "the one before ends at tick"},
                {LIE_HOLE, "lacks 40 requests"}};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct capture_set set = {.seed = 9 + i,
                                  .files = 2,
                                  .file_records = 100,
                                  .block_records = 40,
                                  .lie = lies[i].lie};
        struct set_files files;
        struct trace_verdict verdict;
        write_files(&files, &set);
        judge(&verdict, &files);
        CU_ASSERT_FALSE(verdict.complete);
        CU_ASSERT_PTR_NOT_NULL(strstr(verdict.why, lies[i].word));
        folder_remove(files.folder);
    }
}

static void test_board_without_counts(void)
{
    struct capture_set set = {
        .seed = 5, .files = 2, .file_records = 100, .block_records = 40, .source_unknown = true};
    struct set_files files;
    struct trace_verdict verdict;
    write_files(&files, &set);
    judge(&verdict, &files);
    CU_ASSERT_FALSE(verdict.complete);
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict.why, "the board did not say"));
    folder_remove(files.folder);
}

/* Concatenates the files in the order of their paths. */
static void concatenate(struct set_files *files, const char *name)
{
    snprintf(files->names[FILES_MAX - 1], sizeof files->names[0], "%s/%s", files->folder, name);
    FILE *whole = fopen(files->names[FILES_MAX - 1], "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    for (int i = 0; i < files->count; i++) {
        FILE *part = fopen(files->paths[i], "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(part);
        for (int byte = getc(part); byte != EOF; byte = getc(part))
            putc(byte, whole);
        fclose(part);
    }
    CU_ASSERT_EQUAL(fclose(whole), 0);
    files->paths[0] = files->names[FILES_MAX - 1];
    files->count = 1;
}

/* Concatenated files get the same verdict as separate ones. */
static void test_concatenated(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t random = random_seed(seed);
        struct capture_set set = random_set(&random);
        struct set_files files;
        struct trace_verdict apart;
        struct trace_verdict together;
        if (set.files == FILES_MAX)
            set.files--; /* the whole takes this name */
        if (set.removed >= set.files)
            set.removed = set.keep = 0;
        set.lie =
            random_one_in(&random, 3) ? LIE_NONE : (enum capture_set_lie)random_below(&random, 8);
        write_files(&files, &set);
        if (files.count > 1 && random_one_in(&random, 3))
            remove_path(&files, (int)random_below(&random, (uint64_t)files.count));
        judge(&apart, &files);
        concatenate(&files, "whole");
        judge(&together, &files);
        CU_ASSERT_EQUAL(together.complete, apart.complete);
        CU_ASSERT_EQUAL(together.why[0] == 0, apart.why[0] == 0);
        CU_ASSERT_EQUAL(together.files, apart.files);
        CU_ASSERT_EQUAL(together.records, apart.records);
        CU_ASSERT_EQUAL(together.bytes, apart.bytes);
        CU_ASSERT_EQUAL(memcmp(together.lost, apart.lost, sizeof apart.lost), 0);
        CU_ASSERT_EQUAL(together.removed_files, apart.removed_files);
        folder_remove(files.folder);
    }
}

static void test_uncounted_gap(void)
{
    struct capture_set set = {.seed = 3,
                              .files = 2,
                              .file_records = 20,
                              .block_records = 10,
                              .gap_ms = 5,
                              .gap_uncounted = true};
    struct set_files files;
    struct trace_verdict verdict;
    write_files(&files, &set);
    judge(&verdict, &files);
    CU_ASSERT_FALSE(verdict.complete);
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict.why, "are not counted in "));
    CU_ASSERT_EQUAL(verdict.gaps, 2);
    folder_remove(files.folder);
}

static const struct test_case cases[] = {{"complete sets", test_whole_sets},
                                         {"a missing file is reported", test_missing_file},
                                         {"a changed or missing byte is reported", test_damage},
                                         {"files that contradict each other", test_lies},
                                         {"concatenated files", test_concatenated},
                                         {"a board without counts", test_board_without_counts},
                                         {"a board that restarted", test_uncounted_gap},
                                         {NULL, NULL}};
TEST_SUITE(trace_set, cases)
