/* Captures with one false field and valid checksums: each rule of doc/capture-file.md, "Verifying",
 * that a header can break. */
#include "formats/base/crc32c.h"
#include "formats/capture/capture_file.h"
#include "tests/suites.h"
#include "tests/support/capture_set.h"
#include "tests/support/files.h"
#include "tests/support/folder.h"
#include "tests/support/members.h"
#include "tests/support/trace_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES      3
#define FILE_BYTES 65536u
#define TICKS      99 /* as an offset: all ticks of this file and of those after it */
#define INDICES    98 /* likewise: all indices */

/* Adds `by` to a field of `bytes` bytes at `offset` of the payload of the member-th member of its
 * kind in a file. */
struct change {
    int file; /* 0: none */
    enum capture_member_kind kind;
    int member;
    unsigned offset, bytes;
    uint64_t by;
};

struct lie {
    struct change changes[3];
    const char *offset; /* part of the verdict: the place */
    const char *word;   /* part of the verdict: the reason */
};

/* Adds to the field and updates the header's checksum. */
static void add_to(uint8_t *bytes, const struct capture_member *member, unsigned offset,
                   unsigned size, uint64_t by)
{
    uint8_t *field = bytes + 16 + offset;
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)field[i] << 8 * i;
    value += by;
    for (unsigned i = 0; i < size; i++)
        field[i] = (uint8_t)(value >> 8 * i);
    bytes_put32(bytes + member->header_bytes - 4, crc32c(0, bytes, member->header_bytes - 4));
}

static void change_member(uint8_t *bytes, const struct capture_member *member, int ordinal,
                          const struct change *change)
{
    static const unsigned ticks[] = {24, 32, 72, 80};
    if (change->offset == TICKS && member->kind == CAPTURE_MEMBER_DATA)
        for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++)
            add_to(bytes, member, ticks[i], 8, change->by);
    else if (change->offset == TICKS && member->kind == CAPTURE_MEMBER_CLOSING)
        add_to(bytes, member, 104, 8, change->by);
    else if (change->offset == INDICES)
        add_to(bytes, member,
               member->kind == CAPTURE_MEMBER_HEADER ? 48
               : member->kind == CAPTURE_MEMBER_DATA ? 16
                                                     : 96,
               8, change->by);
    else if (change->offset < INDICES || change->offset > TICKS)
        if (member->kind == change->kind && ordinal == change->member)
            add_to(bytes, member, change->offset, change->bytes, change->by);
}

static void change_file(const char *path, const struct change *change)
{
    static uint8_t bytes[FILE_BYTES];
    FILE *file = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    int ordinals[4] = {0};
    struct capture_member member;
    for (size_t at = 0; at < size; at += member.member_bytes) {
        CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes + at, size - at, NULL), 1);
        change_member(bytes + at, &member, ++ordinals[member.kind], change);
    }
    rewind(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Writes the capture, changes it, and judges it. Each file has blocks of 40, 40 and 20 records;
 * after its first block, 2 requests are lost on the bus and 3 on the link. After the last block of
 * the capture, 4 are lost on the bus. */
static void judge_lie(struct trace_verdict *verdict, const struct lie *lie)
{
    const struct capture_set set = {.seed = 5,
                                    .files = FILES,
                                    .file_records = 100,
                                    .block_records = 40,
                                    .lost = {2, 3},
                                    .lost_at_end = 4,
                                    .filtered = 7,
                                    .after_stop = 6};
    char folder[FOLDER_PATH_BYTES];
    char prefix[FOLDER_PATH_BYTES + 8];
    char names[FILES][FOLDER_PATH_BYTES + 32];
    char *paths[FILES];
    folder_make(folder);
    snprintf(prefix, sizeof prefix, "%s/p", folder);
    CU_ASSERT_EQUAL_FATAL(capture_set_write(&set, prefix), 0);
    for (int i = 0; i < FILES; i++) {
        paths[i] = names[i];
        snprintf(names[i], sizeof names[i], "%s_%d.byu.gz", prefix, i + 1);
    }
    for (size_t i = 0; i < 3 && lie->changes[i].file > 0; i++) {
        bool all = lie->changes[i].offset == TICKS || lie->changes[i].offset == INDICES;
        for (int file = lie->changes[i].file; file <= (all ? FILES : lie->changes[i].file); file++)
            change_file(paths[file - 1], &lie->changes[i]);
    }
    CU_ASSERT_EQUAL(trace_judge(verdict, paths, FILES), 1);
    folder_remove(folder);
}

#define HEADER   CAPTURE_MEMBER_HEADER, 1
#define DATA(n)  CAPTURE_MEMBER_DATA, n
#define CLOSING  CAPTURE_MEMBER_CLOSING, 1
#define MINUS(n) (0 - UINT64_C(n))
#define HALF     (UINT64_C(1) << 63)

static const struct lie lies[] = {
    /* rule 5 */
    {{{1, HEADER, 56, 4, MINUS(1)}}, "offset 0:", "the header says file 0"},
    {{{1, DATA(1), INDICES, 8, 5}}, "offset 0:", "begins with request 5, not 0"},
    /* rule 6 */
    {{{1, DATA(2), 40, 8, HALF}, {1, DATA(2), 48, 8, HALF}},
     "offset ",
     "more requests lost before"},
    {{{3, DATA(3), 16, 8, MINUS(305)}}, "offset ", "indices of the block's 20 records"},
    /* rule 7 */
    {{{1, DATA(1), 32, 8, 1}}, "offset ", "the block's last tick is"},
    {{{3, DATA(3), 32, 8, MINUS(1)}, {3, CLOSING, 104, 8, MINUS(1)}}, "offset ", "last tick is"},
    {{{1, DATA(1), 24, 8, MINUS(100)}}, "offset ", "overflow"},
    /* rules 8 and 9 */
    {{{2, DATA(1), TICKS, 8, HALF}}, "offset 0:", "ticks after the one before"},
    {{{3, DATA(1), TICKS, 8, 1}}, "offset 0:", "ticks after the one before"},
    {{{2, DATA(1), TICKS, 8, HALF}, {3, DATA(1), TICKS, 8, HALF}}, "offset 0:", "ticks after the"},
    {{{1, DATA(1), 24, 8, 1000000}, {1, DATA(1), 32, 8, 1000000}},
     "offset ",
     "the one before ends"},
    /* rule 10 */
    {{{1, DATA(2), 72, 8, HALF}}, "offset ", "the last request lost is at tick"},
    {{{1, DATA(2), 72, 8, MINUS(1)}}, "offset ", "the block before ends at tick"},
    {{{1, DATA(2), 80, 8, 1}}, "offset ", "the block after them begins at tick"},
    /* rule 11 */
    {{{1, DATA(1), 2, 2, 1}}, "offset ", "a chosen gap, which only captures of programs"},
    /* rule 13 */
    {{{1, CLOSING, 24, 8, MINUS(1)}, {1, CLOSING, 32, 8, 1}}, "offset ", "requests lost (bus)"},
    {{{1, CLOSING, 32, 8, 1}}, "offset ", "ends at request 105; the blocks end at request 105"},
    {{{1, CLOSING, 96, 8, 1}}, "offset ", "ends at request 106"},
    {{{1, CLOSING, 96, 8, HALF}}, "offset ", "the blocks end at request 105, with 0 more lost"},
    /* rule 14 */
    {{{1, CLOSING, 104, 8, 1}}, "offset ", "the closing block's last tick is"},
    {{{2, CLOSING, 104, 8, MINUS(1)}}, "offset ", "the closing block's last tick is"},
    {{{3, CLOSING, 104, 8, MINUS(1)}}, "offset ", "the closing block's last tick is"},
    /* rule 15 */
    {{{1, CLOSING, 9, 1, 1}}, "offset ", "is the last and that it is not"},
    {{{1, CLOSING, 8, 1, 1}}, "offset ", "ends the capture (stopped)"},
    {{{3, CLOSING, 8, 1, MINUS(1)}}, "offset ", "is the last and that it is not"},
    /* rule 16 */
    {{{1, CLOSING, 56, 8, 1}}, "offset ", "do not add up to its end index"},
    {{{2, CLOSING, 88, 8, MINUS(1)}}, "offset 0:", "do not continue those of file 1"},
    {{{1, CLOSING, 56, 8, 1}, {1, CLOSING, 64, 8, MINUS(1)}}, "offset ", "fewer in the capture"},
    {{{1, CLOSING, 56, 8, HALF}, {1, CLOSING, 64, 8, HALF}}, "offset ", "do not add up"},
    /* rule 17 */
    {{{3, CLOSING, 128, 8, 1}}, "offset ", "the board saw"},
    {{{3, CLOSING, 144, 8, HALF}, {3, CLOSING, 152, 8, HALF}}, "offset ", "the board saw"},
    {{{3, CLOSING, 168, 8, MINUS(1)}}, "offset ", "the board counted 9 requests lost"},
    {{{3, CLOSING, 168, 8, 1000}}, "offset ", "the board counted 1010 requests lost"},
    {{{3, CLOSING, 136, 8, 1}, {3, CLOSING, 128, 8, 1}}, "", "the board accepted 326 requests"},
    /* rule 18 */
    {{{2, HEADER, 8, 8, 1}}, "offset 0:", "the clock in the header is not that of file 1"},
    {{{3, HEADER, 32, 8, 1}}, "offset 0:", "the start of the capture in the header"},
    {{{2, HEADER, 60, 4, 1}}, "offset 0:", "the number of files kept in the header"},
    {{{2, HEADER, 64, 1, 1}}, "offset 0:", "the board in the header"},
    {{{2, HEADER, 128, 1, 1}}, "offset 0:", "the bus in the header"},
    {{{2, HEADER, 160, 1, 65}}, "offset 0:", "the filter in the header"},
    /* rule 21, in a file that is not the last */
    {{{2, CLOSING, 56, 8, 1}, {2, CLOSING, 80, 8, MINUS(0)}}, "", "do not continue"},
    {{{2, CLOSING, 72, 8, 1}, {2, CLOSING, 64, 8, MINUS(1)}}, "offset 0:", "do not continue"},
    {{{3, CLOSING, 56, 8, MINUS(1)}, {3, CLOSING, 88, 8, 1}}, "offset 0:", "do not continue"},
};

static void test_each_lie(void)
{
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct trace_verdict verdict;
        judge_lie(&verdict, &lies[i]);
        CU_ASSERT_FALSE(verdict.complete);
        bool said = strstr(verdict.why, lies[i].offset) && strstr(verdict.why, lies[i].word);
        CU_ASSERT_TRUE(said);
        if (!said)
            printf("\nlie %zu, wanted '%s': %s\n", i, lies[i].word, verdict.why);
    }
}

/* Fields that no rule covers: times of day, reserved bytes, messages, unknown ends. */
static void test_no_lies(void)
{
    const struct lie truths[] = {
        {{{0}}, "", ""},
        {{{1, HEADER, 40, 8, 12345}, {1, DATA(1), 88, 8, HALF}, {1, CLOSING, 120, 8, HALF}},
         "",
         ""},
        {{{2, HEADER, 2, 2, 2}, {2, DATA(1), 2, 2, 2}, {2, CLOSING, 11, 4, 1}}, "", ""},
        {{{3, CLOSING, 8, 1, 3}, {3, CLOSING, 176, 1, 65}, {1, CLOSING, 136, 8, 9}}, "", ""},
        {{{3, CLOSING, 8, 1, 200}, {3, CLOSING, 104, 8, 50}, {2, CLOSING, 168, 8, 9}}, "", ""},
    };
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        struct trace_verdict verdict;
        judge_lie(&verdict, &truths[i]);
        CU_ASSERT_TRUE(verdict.complete);
        CU_ASSERT_STRING_EQUAL(verdict.why, "");
    }
}

/* A loss in a separate block, as from a heartbeat after lost frames: the time of the next record
 * counts from a lost one. */
static void test_loss_alone(void)
{
    struct record records[2] = {{.time = 3}, {.time = 4}};
    const struct capture_info info = {.id = {1}, .file_number = 1};
    const struct batch first = {
        .records = records, .count = 2, .first_tick = 3, .last_tick = 7, .first_index = 0};
    const struct batch loss = {.first_index = 5,
                               .first_tick = 7,
                               .last_tick = 7,
                               .lost = {.count = {0, 3}, .first_tick = 7, .last_tick = 50}};
    const struct batch second = {
        .records = records, .count = 2, .first_tick = 40, .last_tick = 44, .first_index = 5};
    const struct capture_totals totals = {.end = CAPTURE_END_SOURCE,
                                          .final = true,
                                          .file_records = 4,
                                          .file_lost = {0, 3},
                                          .capture_records = 4,
                                          .capture_lost = {0, 3},
                                          .end_index = 7,
                                          .last_tick = 44,
                                          .source = {.known = true, .seen = 7, .accepted = 7}};
    struct members bytes = {0};
    members_append_header(&bytes, &info);
    members_append_data(&bytes, RECORD_ENGINE_ZLIB, &first);
    members_append_data(&bytes, RECORD_ENGINE_ZLIB, &loss);
    members_append_data(&bytes, RECORD_ENGINE_ZLIB, &second);
    members_append_closing(&bytes, &totals);
    struct test_path *path = test_path_file(bytes.bytes, bytes.size);
    char name[4096];
    char *paths[] = {name};
    struct trace_verdict verdict;
    snprintf(name, sizeof name, "%s", test_path_name(path));
    CU_ASSERT_EQUAL(trace_judge(&verdict, paths, 1), 1);
    CU_ASSERT_TRUE(verdict.complete);
    CU_ASSERT_STRING_EQUAL(verdict.why, "");
    test_path_free(path);
    free(bytes.bytes);
}

static const struct test_case cases[] = {{"captures with one false field", test_each_lie},
                                         {"changes that no rule forbids", test_no_lies},
                                         {"a loss in a separate block", test_loss_alone},
                                         {NULL, NULL}};
TEST_SUITE(trace_rules, cases)
