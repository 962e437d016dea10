/* Blocks: what is coded is decoded again, from records and from blocks; damage is survived. */
#include "formats/base/bytes.h"
#include "formats/blocks/block_decoder.h"
#include "formats/blocks/block_encoder.h"
#include "formats/blocks/block_executions.h"
#include "tests/suites.h"
#include "tests/support/program_records.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 200000u

/* A coder and a decoder, with room. */
struct rig {
    struct block_encoder *encoder;
    struct block_decoder *decoder;
    struct record *records;
    uint8_t *bytes;
    size_t capacity, size;
    uint32_t check;
};

static struct rig rig_new(void)
{
    struct rig rig = {.encoder = block_encoder_new(NULL),
                      .decoder = block_decoder_new(NULL),
                      .records = calloc(RECORDS_MAX, sizeof(struct record)),
                      .capacity = block_encoder_bound(RECORDS_MAX)};
    rig.bytes = malloc(rig.capacity);
    CU_ASSERT_FATAL(rig.encoder && rig.decoder && rig.records && rig.bytes);
    return rig;
}

static void rig_free(struct rig *rig)
{
    block_encoder_free(rig->encoder);
    block_decoder_free(rig->decoder);
    free(rig->records);
    free(rig->bytes);
}

/* Decodes into memory of exactly that size, so that the sanitizer detects accesses past its end. */
static void decode_and_compare(struct rig *rig, const struct record *expected, size_t count)
{
    struct record *back = malloc(count * sizeof *back + !count);
    uint8_t *bytes = malloc(rig->size);
    uint32_t check = ~rig->check;
    CU_ASSERT_FATAL(back != NULL && bytes != NULL);
    memcpy(bytes, rig->bytes, rig->size);
    CU_ASSERT(block_decode(rig->decoder, bytes, rig->size, back, count, &check, NULL) == 0);
    CU_ASSERT(check == rig->check);
    CU_ASSERT(count == 0 || memcmp(back, expected, count * sizeof *back) == 0);
    CU_ASSERT(block_decode(rig->decoder, bytes, rig->size, back, count - 1, &check, NULL) ==
              BT_DATA);
    free(bytes);
    free(back);
}

/* Puts a walk together again. */
static void walk_and_compare(struct rig *rig, const struct record *expected, size_t count)
{
    struct block_step step;
    size_t at = 0;
    int result = block_walk_begin(rig->decoder, rig->bytes, rig->size, count, NULL);
    CU_ASSERT_FATAL(result == 0);
    while ((result = block_walk_next(rig->decoder, &step, NULL)) > 0) {
        if (step.literals) {
            CU_ASSERT_FATAL(step.literal_count <= count - at);
            CU_ASSERT(memcmp(step.literals, expected + at, step.literal_count * sizeof *expected) ==
                      0);
            at += step.literal_count;
            continue;
        }
        CU_ASSERT_FATAL(step.template <block_walk_templates(rig->decoder));
        const struct block_template *template = block_walk_template(rig->decoder, step.template);
        CU_ASSERT_FATAL(template->record_count <= count - at);
        for (unsigned i = 0, k = 0; i < template->record_count; i++) {
            struct record record = template->records[i];
            record.processor = step.processor;
            record.attribute ^= i == 0 ? step.attribute : 0;
            if (k < template->reference_count && template->references[k].record == i)
                record.address = (uint32_t)step.addresses[k++];
            CU_ASSERT(memcmp(&record, &expected[at++], sizeof record) == 0);
        }
    }
    CU_ASSERT(result == 0 && at == count);
    CU_ASSERT(block_walk_check(rig->decoder) == rig->check);
}

/* Decodes to executions, twice into the same ones, and expands them, but for some steps. */
static void expand_and_compare(struct rig *rig, const struct record *expected, size_t count)
{
    struct block_executions executions = {.step_count = 0};
    struct record *back = malloc(BLOCK_STEP_LITERALS_MAX * sizeof *back);
    uint32_t check = ~rig->check;
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT(block_executions_get(&executions, rig->decoder, rig->bytes, rig->size, count - 1,
                                   &check, NULL) == BT_DATA);
    CU_ASSERT(executions.step_count == 0);
    int result =
        block_executions_get(&executions, rig->decoder, rig->bytes, rig->size, count, &check, NULL);
    CU_ASSERT_FATAL(result == 0 && check == rig->check);
    struct execution_place place = {0};
    size_t at = 0;
    while (place.step < executions.step_count) {
        const unsigned records = block_step_records(&executions, place.step);
        CU_ASSERT_FATAL(records <= BLOCK_STEP_LITERALS_MAX && records <= count - at);
        if (place.step % 7 == 3)
            block_step_pass(&executions, &place);
        else
            block_step_expand(&executions, &place, back);
        CU_ASSERT((place.step - 1) % 7 == 3 ||
                  memcmp(back, expected + at, records * sizeof *back) == 0);
        at += records;
    }
    CU_ASSERT_EQUAL(at, count);
    block_executions_free(&executions);
    free(back);
}

/* Codes records, decodes them, compares. Returns the size of the content. */
static size_t round_trip(struct rig *rig, const struct record *records, size_t count)
{
    int result = block_encoder_records(rig->encoder, records, count, rig->bytes,
                                       block_encoder_bound(count), &rig->size, &rig->check, NULL);
    CU_ASSERT_FATAL(result == 0 && rig->size <= block_encoder_bound(count));
    decode_and_compare(rig, records, count);
    walk_and_compare(rig, records, count);
    if (count > 0)
        expand_and_compare(rig, records, count);
    return rig->size;
}

static void test_programs(void)
{
    struct rig rig = rig_new();
    uint64_t random = random_seed(11);
    for (unsigned kinds = 0; kinds <= PROGRAM_RECORDS_ALL; kinds++) {
        program_records_fill(rig.records, 30000, kinds, &random);
        round_trip(&rig, rig.records, 30000);
        for (unsigned i = 0; i < 20; i++)
            round_trip(&rig, rig.records + random_below(&random, 20000),
                       1 + (size_t)random_below(&random, 400));
    }
    program_records_fill(rig.records, RECORDS_MAX, 0, &random);
    size_t size = round_trip(&rig, rig.records, RECORDS_MAX);
    CU_ASSERT(size < RECORDS_MAX * sizeof(struct record) / 10);
    rig_free(&rig);
}

static void test_any_records(void)
{
    struct rig rig = rig_new();
    uint64_t random = random_seed(12);
    for (unsigned i = 0; i < 60; i++) {
        size_t count = 1 + (size_t)random_below(&random, i < 50 ? 300 : 40000);
        switch (i % 5) {
        case 0:
            records_fill_like_a_bus(rig.records, count, &random);
            break;
        case 1:
            records_fill_random(rig.records, count, &random);
            break;
        case 2:
            random_fill(&random, (uint8_t *)rig.records, count * sizeof(struct record));
            break;
        case 3:
            memset(rig.records, (int)random_below(&random, 256), count * sizeof(struct record));
            break;
        default: /* data or fetches only */
            program_records_fill(rig.records, count, PROGRAM_RECORDS_ALL, &random);
            for (size_t k = 0; k < count; k++)
                rig.records[k].type = i % 2 ? REQUEST_FETCH : REQUEST_MEMWRITE;
            break;
        }
        round_trip(&rig, rig.records, count);
    }
    rig_free(&rig);
}

static void test_result_depends_on_input_alone(void)
{
    struct rig rig = rig_new();
    uint64_t random = random_seed(13);
    program_records_fill(rig.records, 60000, PROGRAM_RECORDS_ALL, &random);
    size_t size = round_trip(&rig, rig.records, 20000);
    uint32_t check = rig.check;
    uint8_t *first = malloc(size);
    CU_ASSERT_FATAL(first != NULL);
    memcpy(first, rig.bytes, size);
    round_trip(&rig, rig.records + 20000, 40000);
    CU_ASSERT(round_trip(&rig, rig.records, 20000) == size);
    CU_ASSERT(check == rig.check && memcmp(first, rig.bytes, size) == 0);
    free(first);
    rig_free(&rig);
}

/* A block with two variable addresses and one constant. */
static const struct record block[] = {
    {.address = 0x400000, .size = 3, .attribute = 3, .time = 1},
    {.type = REQUEST_MEMREAD, .size = 8, .attribute = 3},
    {.address = 0x600000, .type = REQUEST_MEMWRITE, .size = 4, .attribute = 3},
    {.address = 0x400003, .size = 5, .attribute = 3, .time = 1},
    {.type = REQUEST_MEMWRITE, .size = 1, .attribute = 3},
};
#define BLOCK_RECORDS (sizeof block / sizeof *block)
static const uint8_t variable[] = {1, 4};

static void test_fed_with_blocks(void)
{
    struct rig rig = rig_new();
    struct record *expected = rig.records;
    uint64_t random = random_seed(14);
    uint64_t addresses[1000][2];
    size_t count = 0;
    block_encoder_begin(rig.encoder);
    CU_ASSERT(block_encoder_template(rig.encoder, block, 1, NULL, 0) == 0); /* never executed */
    CU_ASSERT(block_encoder_template(rig.encoder, block, BLOCK_RECORDS, variable, 2) == 1);
    for (unsigned i = 0; i < 1000; i++) {
        const struct block_execution execution = {.template = 1,
                                                  .processor = (uint8_t)(i / 300),
                                                  .attribute =
                                                      random_one_in(&random, 20) ? 0x90 : 0};
        addresses[i][0] = UINT64_C(0x7ffff0000000) + i * 8;
        addresses[i][1] = random_one_in(&random, 5) ? random_next(&random) : addresses[i][0] + 64;
        if (random_one_in(&random, 50)) {
            records_fill_random(&expected[count], 3, &random);
            CU_ASSERT(block_encoder_literals(rig.encoder, &expected[count], 3) == 0);
            count += 3;
        }
        CU_ASSERT(block_encoder_execute(rig.encoder, &execution, addresses[i]) == 0);
        memcpy(&expected[count], block, sizeof block);
        for (unsigned k = 0; k < BLOCK_RECORDS; k++)
            expected[count + k].processor = execution.processor;
        expected[count].attribute ^= execution.attribute;
        expected[count + 1].address = (uint32_t)addresses[i][0];
        expected[count + 4].address = (uint32_t)addresses[i][1];
        count += BLOCK_RECORDS;
    }
    CU_ASSERT(block_encoder_literals(rig.encoder, block, 2) == 0);
    memcpy(&expected[count], block, 2 * sizeof *block);
    count += 2;
    CU_ASSERT(block_encoder_finish(rig.encoder, rig.bytes, rig.capacity, &rig.size, &rig.check,
                                   NULL) == 0);
    decode_and_compare(&rig, expected, count);
    walk_and_compare(&rig, expected, count);
    struct block_step step;
    CU_ASSERT(block_walk_begin(rig.decoder, rig.bytes, rig.size, count, NULL) == 0);
    CU_ASSERT(block_walk_templates(rig.decoder) == 1);
    for (unsigned i = 0; block_walk_next(rig.decoder, &step, NULL) > 0;)
        if (!step.literals) {
            CU_ASSERT(memcmp(step.addresses, addresses[i], sizeof addresses[i]) == 0);
            i++;
        }
    rig_free(&rig);
}

/* Random blocks that are executed once, each by another processor, take more than their records,
 * which are then stored instead. */
static void test_blocks_that_do_not_pay(void)
{
    struct rig rig = rig_new();
    uint64_t random = random_seed(15);
    size_t count = 0;
    random_fill(&random, (uint8_t *)rig.records, 4000 * sizeof *rig.records);
    block_encoder_begin(rig.encoder);
    for (unsigned i = 0; count < 4000; i++) {
        const struct block_execution execution = {
            .template = i, .processor = (uint8_t)i, .attribute = (uint8_t)(i | 1)};
        const uint64_t addresses[] = {rig.records[count].address};
        CU_ASSERT(block_encoder_template(rig.encoder, &rig.records[count], 1, variable, 0) == i);
        CU_ASSERT(block_encoder_execute(rig.encoder, &execution, addresses) == 0);
        rig.records[count].processor = execution.processor;
        rig.records[count++].attribute ^= execution.attribute;
        if (i % 100 == 0)
            CU_ASSERT(block_encoder_literals(rig.encoder, &rig.records[count++], 1) == 0);
    }
    CU_ASSERT(block_encoder_finish(rig.encoder, rig.bytes, block_encoder_bound(count), &rig.size,
                                   &rig.check, NULL) == 0);
    CU_ASSERT(bytes_get32(rig.bytes + 8) == 0); /* executions */
    decode_and_compare(&rig, rig.records, count);
    rig_free(&rig);
}

/* Changes bytes: the decoder reports an error, or gives other records or another check. */
static void test_damage(void)
{
    struct rig rig = rig_new();
    uint64_t random = random_seed(16);
    uint32_t check;
    unsigned reported = 0;
    program_records_fill(rig.records, 5000, PROGRAM_RECORDS_ALL, &random);
    round_trip(&rig, rig.records, 5000);
    size_t size = rig.size;
    uint8_t *damaged = malloc(size);
    struct record *back = malloc(5000 * sizeof *back);
    CU_ASSERT_FATAL(damaged != NULL && back != NULL);
    for (unsigned i = 0; i < 2000; i++) {
        size_t left = i % 4 ? size : (size_t)random_below(&random, size);
        memcpy(damaged, rig.bytes, size);
        size_t at = (size_t)random_below(&random, i % 3 ? size : 32);
        damaged[at] ^= (uint8_t)(1 + random_below(&random, 255));
        struct bt_error error = {.message = ""};
        int result = block_decode(rig.decoder, damaged, left, back, 5000, &check, &error);
        CU_ASSERT(result == 0 || ((result == BT_DATA || result == BT_NEWER) && error.message[0]));
        CU_ASSERT(result != 0 || check != rig.check ||
                  memcmp(back, rig.records, 5000 * sizeof *back) == 0);
        reported += result != 0;
    }
    CU_ASSERT(reported > 100);
    free(damaged);
    free(back);
    rig_free(&rig);
}

/* Sections do not hold more executions than were coded, whatever the header counts. */
static void test_work_ends_with_the_sections(void)
{
    enum { COUNT = 500 };
    struct rig rig = rig_new();
    struct record *back = malloc(RECORDS_MAX * sizeof *back);
    uint64_t random = random_seed(25);
    size_t decoded = 0;
    CU_ASSERT_FATAL(back != NULL);
    for (unsigned i = 0; i < 40; i++) {
        uint32_t check;
        program_records_fill(rig.records, COUNT, 0, &random);
        CU_ASSERT_EQUAL_FATAL(block_encoder_records(rig.encoder, rig.records, COUNT, rig.bytes,
                                                    rig.capacity, &rig.size, &check, NULL),
                              0);
        bytes_put32(rig.bytes + 8, RECORDS_MAX / 2); /* executions */
        if (i % 2)                                   /* zeros are the surest code */
            memset(rig.bytes + rig.size - rig.size / 4, 0, rig.size / 4);
        memset(back, 0xa5, RECORDS_MAX * sizeof *back);
        CU_ASSERT_EQUAL(
            block_decode(rig.decoder, rig.bytes, rig.size, back, RECORDS_MAX, &check, NULL),
            BT_DATA);
        for (size_t k = 0; k < RECORDS_MAX; k++)
            decoded += back[k].size != 0xa5;
    }
    /* the last bits can hold many executions, if these are as sure as can be: few are */
    CU_ASSERT(decoded < 40 * (RECORDS_MAX / 4));
    free(back);
    rig_free(&rig);
}

static void test_unknown_form(void)
{
    struct rig rig = rig_new();
    struct bt_error error;
    uint32_t check;
    round_trip(&rig, block, BLOCK_RECORDS);
    rig.bytes[0] = 9;
    CU_ASSERT(block_decode(rig.decoder, rig.bytes, rig.size, rig.records, BLOCK_RECORDS, &check,
                           &error) == BT_NEWER);
    CU_ASSERT(strstr(error.message, "form 9") != NULL);
    rig_free(&rig);
}

static const struct test_case cases[] = {
    {"programs", test_programs},
    {"any records", test_any_records},
    {"the result depends on the input alone", test_result_depends_on_input_alone},
    {"fed with blocks", test_fed_with_blocks},
    {"blocks that do not pay", test_blocks_that_do_not_pay},
    {"damage", test_damage},
    {"work ends with the sections", test_work_ends_with_the_sections},
    {"an unknown form", test_unknown_form},
    {NULL, NULL}};
TEST_SUITE(blocks, cases)
