/* Damaged capture files: whatever headers claim, every intact block is found, in linear time. */
#include "formats/base/crc32c.h"
#include "formats/capture/crc_trail.h"
#include "formats/capture/trace_reader.h"
#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/members.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 600u
#define BLOCK   40u

/* Offsets in a member (doc/capture-file.md). */
#define AT_MEMBER_BYTES 20u
#define AT_CODEC        112u /* in version 2 */

/* --- CRCs of ranges --- */

static void test_shift(void)
{
    static uint8_t bytes[5000];
    uint64_t random = random_seed(4);
    random_fill(&random, bytes, sizeof bytes);
    for (unsigned i = 0; i < 200; i++) {
        size_t size = (size_t)random_below(&random, sizeof bytes);
        size_t front = (size_t)random_below(&random, size + 1);
        uint32_t first = crc32c(0, bytes, front);
        uint32_t second = crc32c(0, bytes + front, size - front);
        CU_ASSERT_EQUAL(crc32c_shift(first, size - front) ^ second, crc32c(0, bytes, size));
    }
}

static void test_trail(void)
{
    enum { SIZE = 60 << 20 };
    uint8_t *bytes = malloc(SIZE);
    uint64_t random = random_seed(5);
    CU_ASSERT_FATAL(bytes != NULL);
    random_fill(&random, bytes, SIZE);
    struct crc_trail trail = {.count = 0};
    /* steps of all lengths: within the trail, over its end, far after it */
    for (uint64_t at = 0; at < SIZE;) {
        size_t most = SIZE - at < CRC_TRAIL_RANGE_MAX ? (size_t)(SIZE - at) : CRC_TRAIL_RANGE_MAX;
        size_t size = random_one_in(&random, 3) ? (size_t)random_below(&random, 2000) : most;
        uint32_t crc = 0;
        size = size < most ? size : most;
        CU_ASSERT_TRUE(crc_trail_range(&trail, at, bytes + at, size, &crc));
        CU_ASSERT_EQUAL(crc, crc32c(0, bytes + at, size));
        CU_ASSERT_TRUE(size < CRC_TRAIL_STEP || crc_trail_covers(&trail, at + size / 2));
        at += random_below(&random, random_one_in(&random, 8) ? 20 << 20 : 200000);
    }
    crc_trail_clear(&trail);
    free(bytes);
}

/* --- reading --- */

/* All records of the intact blocks. */
struct found {
    struct record *records;
    size_t count, capacity;
    unsigned damage;
    uint64_t examined;
};

static void found_add(struct found *found, const struct record *records, size_t count)
{
    while (found->capacity - found->count < count) {
        found->capacity = 2 * found->capacity + 4096;
        found->records = realloc(found->records, found->capacity * sizeof *found->records);
        CU_ASSERT_FATAL(found->records != NULL);
    }
    memcpy(found->records + found->count, records, count * sizeof *records);
    found->count += count;
}

static struct found read_all(const struct members *file, bool pipe)
{
    static struct record room[CAPTURE_BLOCK_RECORDS];
    struct test_path *path =
        pipe ? test_path_pipe(file->bytes, file->size) : test_path_file(file->bytes, file->size);
    struct found found = {.count = 0};
    struct batch batch = {.records = room, .capacity = CAPTURE_BLOCK_RECORDS};
    struct trace_reader *reader;
    int result;
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), TRACE_INSIST, NULL), 0);
    while ((result = source_next(trace_reader_source(reader), &batch, -1, NULL)) != 0) {
        if (result == 1)
            found_add(&found, batch.records, batch.count);
        else if (result == BT_DATA)
            found.damage++;
        else if (result != BT_NOTE)
            break;
    }
    CU_ASSERT_EQUAL(result, 0);
    found.examined = trace_reader_examined(reader);
    source_close(trace_reader_source(reader));
    test_path_free(path);
    return found;
}

/* Makes a capture of random requests, and copies them to records. */
static struct members make_capture(struct record records[RECORDS], unsigned version,
                                   uint64_t *random)
{
    struct members file = {.version = version};
    records_fill_like_a_bus(records, RECORDS, random);
    members_append_capture(&file, records, RECORDS, BLOCK, NULL);
    return file;
}

/* Reads with the plain algorithm, which may examine each byte for each header before it. */
static struct found read_plainly(const struct members *file)
{
    static struct record room[CAPTURE_MEMBER_RECORDS_MAX];
    struct record_decoder *decoder = record_decoder_new(NULL);
    struct found found = {.count = 0};
    size_t at = 0;
    while (at < file->size) {
        struct capture_member member;
        size_t left = file->size - at;
        bool whole = capture_get_member(&member, file->bytes + at, left, NULL) == 1 &&
                     member.member_bytes <= left &&
                     capture_get_records(decoder, &member, file->bytes + at, room, NULL) == 0;
        if (whole && member.kind == CAPTURE_MEMBER_DATA)
            found_add(&found, room, member.batch.count);
        at += whole ? member.member_bytes : 1;
    }
    record_decoder_free(decoder);
    return found;
}

static bool same(const struct found *a, const struct found *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->records, b->records, a->count * sizeof *a->records) == 0);
}

/* Sets the size in the header of the member at bytes to member_bytes, with a correct CRC of the
 * header. */
static void claim(uint8_t *bytes, size_t left, uint32_t member_bytes)
{
    struct capture_member member;
    CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes, left, NULL), 1);
    bytes_put32(bytes + AT_MEMBER_BYTES, member_bytes);
    bytes_put32(bytes + member.header_bytes - 4, crc32c(0, bytes, member.header_bytes - 4));
}

/* Appends a header that claims member_bytes, without the rest of the member. */
static void append_claim(struct members *file, uint32_t member_bytes)
{
    struct record record = {.address = 1, .size = 8};
    struct batch batch = {.records = &record, .count = 1};
    struct capture_member member;
    size_t at = file->size;
    members_append_data(file, RECORD_ENGINE_BEST, &batch);
    claim(file->bytes + at, file->size - at, member_bytes);
    CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, file->bytes + at, file->size - at, NULL), 1);
    file->size = at + member.header_bytes;
}

static void test_overlapping_claims_cost_linear_time(void)
{
    enum { SIZE = 6 << 20 };
    struct record records[RECORDS];
    uint64_t random = random_seed(6);
    struct members file = make_capture(records, CAPTURE_VERSION_GZIP, &random);
    size_t whole = RECORDS;
    while (file.size < SIZE) { /* each claims the rest, or 2 MiB of it; sometimes a whole file */
        uint32_t left = (uint32_t)(SIZE - file.size);
        append_claim(&file, left > 2 << 20 && random_one_in(&random, 2) ? 2 << 20 : left + 1000);
        if (random_one_in(&random, 2000)) {
            members_append_capture(&file, records, RECORDS, BLOCK, NULL);
            whole += RECORDS;
        }
    }
    file.size = SIZE + 1000;
    for (unsigned pipe = 0; pipe < 2; pipe++) {
        struct found found = read_all(&file, pipe);
        CU_ASSERT(found.count >= whole - RECORDS && found.count <= whole);
        CU_ASSERT(found.damage > SIZE / 400);
        CU_ASSERT(found.examined < 16 * (uint64_t)SIZE);
        free(found.records);
    }
    free(file.bytes);
}

/* Gives the member at bytes the correct CRC of the bytes that it claims. */
static void make_right(uint8_t *bytes, size_t left)
{
    struct capture_member member;
    const uint8_t *stream;
    size_t size;
    CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes, left, NULL), 1);
    (void)capture_member_crc(&member, bytes, &stream, &size);
    bytes_put32(bytes + member.header_bytes - 8, crc32c(0, stream, size));
    bytes_put32(bytes + member.header_bytes - 4, crc32c(0, bytes, member.header_bytes - 4));
}

/* Headers whose claims have a correct CRC, but no records. */
static void test_right_claims_cost_linear_time(void)
{
    enum { SIZE = 512 << 10 };
    struct record records[RECORDS];
    uint64_t random = random_seed(7);
    struct members file = make_capture(records, CAPTURE_VERSION_GZIP, &random);
    size_t first = file.size;
    while (file.size < SIZE)
        append_claim(&file, SIZE + 1000 - (uint32_t)file.size);
    file.size = SIZE + 1000;
    struct capture_member member;
    for (size_t at = SIZE;
         at-- > first;) /* backwards: each is covered by the claims of those before it */
        if (capture_get_member(&member, file.bytes + at, file.size - at, NULL) == 1)
            make_right(file.bytes + at, file.size - at);
    members_append_capture(&file, records, RECORDS, BLOCK, NULL);
    struct found found = read_all(&file, false);
    CU_ASSERT_EQUAL(found.count, 2 * RECORDS);
    CU_ASSERT(found.examined < (64 << 20) + 20 * (uint64_t)SIZE);
    free(found.records);
    free(file.bytes);
}

/* Cuts, flips, moves or forges at a random offset. */
static void mutate(struct members *file, uint64_t *random)
{
    size_t at = (size_t)random_below(random, file->size);
    size_t other = (size_t)random_below(random, file->size);
    size_t size = (size_t)random_below(random, 3000);
    struct capture_member member;
    size = size < file->size - at ? size : file->size - at;
    switch (random_below(random, 6)) {
    case 0:
        file->size = at + 1;
        break;
    case 1:
        file->bytes[at] ^= (uint8_t)(1u << random_below(random, 8));
        break;
    case 2:
        memmove(file->bytes + at, file->bytes + at + size, file->size - at - size);
        file->size -= size < file->size ? size : 0;
        break;
    case 3: /* duplicates a part of the file */
        size = size < file->size - other ? size : file->size - other;
        memmove(file->bytes + at, file->bytes + other, size < file->size - at ? size : 0);
        break;
    case 4:
        random_fill(random, file->bytes + at, size / 16);
        break;
    default: /* a header claims more, or less, with a correct CRC */
        while (at < file->size &&
               capture_get_member(&member, file->bytes + at, file->size - at, NULL) != 1)
            at++;
        if (at < file->size)
            claim(file->bytes + at, file->size - at, (uint32_t)random_below(random, 30000));
    }
}

/* The second half of the file is of the other version. */
static void check_mutants(unsigned version, unsigned count)
{
    struct record records[RECORDS];
    uint64_t random = random_seed(8);
    struct members file = make_capture(records, version, &random);
    file.version = CAPTURE_VERSION_GZIP + CAPTURE_VERSION_CODED - version;
    members_append_capture(&file, records, RECORDS, 7, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct members mutant = {0};
        members_append(&mutant, file.bytes, file.size);
        for (uint64_t n = 1 + random_below(&random, 6); n > 0; n--)
            mutate(&mutant, &random);
        struct capture_member first;
        struct found wanted = read_plainly(&mutant);
        /* without its beginning it may be recognised as another format */
        if (capture_get_member(&first, mutant.bytes, mutant.size, NULL) == 1) {
            struct found found = read_all(&mutant, i & 1);
            CU_ASSERT(same(&found, &wanted));
            free(found.records);
        }
        free(wanted.records);
        free(mutant.bytes);
    }
    free(file.bytes);
}

static void test_every_mutant_keeps_its_whole_blocks(void)
{
    check_mutants(CAPTURE_VERSION_GZIP, 2500);
    check_mutants(CAPTURE_VERSION_CODED, 2500);
}

/* A block of a later version is whole: the report asks for a newer version, all others are read. */
static void test_newer_codec(void)
{
    struct record records[RECORDS], room[BLOCK];
    size_t offsets[RECORDS / BLOCK + 1];
    uint64_t random = random_seed(11);
    struct members file = {.version = CAPTURE_VERSION_CODED};
    struct batch batch = {.records = room, .capacity = BLOCK};
    struct capture_member member;
    struct trace_reader *reader;
    struct bt_error error;
    records_fill_like_a_bus(records, RECORDS, &random);
    members_append_capture(&file, records, RECORDS, BLOCK, offsets);
    uint8_t *third = file.bytes + offsets[2];
    CU_ASSERT_EQUAL_FATAL(
        capture_get_member(&member, third, file.size - (size_t)(third - file.bytes), NULL), 1);
    third[AT_CODEC] = 77;
    capture_restate_data_member(third, &member.batch);
    struct test_path *path = test_path_file(file.bytes, file.size);
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, test_path_name(path), 0, NULL), 0);
    size_t count = 0;
    unsigned newer = 0;
    int result;
    while ((result = source_next(trace_reader_source(reader), &batch, -1, &error)) != 0) {
        count += result == 1 ? batch.count : 0;
        if (result != BT_DATA)
            continue;
        newer += strstr(error.message, "method 77") && strstr(error.message, "newer version");
        CU_ASSERT_PTR_NULL(strstr(error.message, "damaged"));
    }
    CU_ASSERT_EQUAL(newer, 1);
    CU_ASSERT_EQUAL(count, RECORDS - BLOCK);
    source_close(trace_reader_source(reader));
    test_path_free(path);
    free(file.bytes);
}

static const struct test_case cases[] = {
    {"CRCs of two parts are combined", test_shift},
    {"CRCs of ranges", test_trail},
    {"overlapping claims cost linear time", test_overlapping_claims_cost_linear_time},
    {"claims with correct CRCs cost linear time", test_right_claims_cost_linear_time},
    {"every mutant keeps its intact blocks", test_every_mutant_keeps_its_whole_blocks},
    {"a block of a later version", test_newer_codec},
    {NULL, NULL}};
TEST_SUITE(trace_damage, cases)
