/* Records of batches as text: compared with the same, one record at a time. */
#include "tools/common/record_print.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 5000u

/* What is written to the output. *size is its size. */
static char *written(struct record_print *print, const struct batch *batch,
                     const uint64_t *selected, size_t *size)
{
    struct bt_error error = {0};
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    print->output = output_new(fileno(file), "a file", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(print->output);
    CU_ASSERT_EQUAL(record_print_heading(print, &error), 0);
    CU_ASSERT_EQUAL(record_print_batch(print, batch, selected, &error), 0);
    CU_ASSERT_EQUAL(output_flush(print->output, &error), 0);
    output_free(print->output);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_EQUAL(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

static char *twin(const struct record_print *print, const struct batch *batch,
                  const uint64_t *selected, size_t *size)
{
    char *text = malloc((batch->count + 1) * RECORD_TEXT_MAX_BYTES);
    uint64_t tick = batch->first_tick;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    *size = 0;
    if (!print->raw)
        *size = (size_t)sprintf(text, "%s", record_text_header(print->form));
    for (size_t i = 0; i < batch->count; i++) {
        tick += i ? batch->records[i].time : 0;
        if (selected && !(selected[i / 64] >> i % 64 & 1))
            continue;
        if (print->raw)
            record_put((uint8_t *)text + *size, &batch->records[i]);
        *size += print->raw ? RECORD_BYTES
                            : record_text_put(print->form, text + *size, &batch->records[i], 1,
                                              batch->first_index + i, tick);
    }
    return text;
}

static void compare(uint64_t seed, struct record records[RECORDS_MAX],
                    uint64_t selected[RECORDS_MAX / 64 + 1])
{
    uint64_t random = random_seed(seed);
    static const unsigned densities[] = {0, 1, 3, 50, 97, 100}; /* percent */
    const unsigned density = densities[random_below(&random, 6)];
    struct batch batch = {.records = records,
                          .count = random_below(&random, RECORDS_MAX + 1),
                          .first_index = random_below(&random, 1000000),
                          .first_tick = random_below(&random, 1000000000)};
    struct record_print print = {.form = (enum record_text)(seed % 4 % 3), .raw = seed % 4 == 3};
    memset(selected, 0, (RECORDS_MAX / 64 + 1) * sizeof *selected);
    for (size_t i = 0; i < batch.count; i++) {
        records[i] = (struct record){.address = random_next32(&random),
                                     .time = (uint32_t)random_below(&random, 1000),
                                     .size = 32};
        if (random_below(&random, 100) < density)
            selected[i / 64] |= UINT64_C(1) << i % 64;
    }
    const uint64_t *bits = random_one_in(&random, 5) ? NULL : selected;
    size_t got_size, wanted_size;
    char *got = written(&print, &batch, bits, &got_size);
    char *wanted = twin(&print, &batch, bits, &wanted_size);
    CU_ASSERT_EQUAL(got_size, wanted_size);
    CU_ASSERT(got_size == wanted_size && memcmp(got, wanted, got_size) == 0);
    free(got);
    free(wanted);
}

static void test_batches(void)
{
    struct record *records = calloc(RECORDS_MAX, sizeof *records);
    uint64_t *selected = calloc(RECORDS_MAX / 64 + 1, sizeof *selected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(records);
    CU_ASSERT_PTR_NOT_NULL_FATAL(selected);
    for (uint64_t seed = 0; seed < 200; seed++)
        compare(seed, records, selected);
    free(records);
    free(selected);
}

static const struct test_case cases[] = {{"selected records", test_batches}, {NULL, NULL}};
TEST_SUITE(record_print, cases)
