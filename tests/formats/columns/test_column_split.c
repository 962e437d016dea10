/* The streams of columns, against a slow twin that follows doc/capture-file.md to the letter. */
#include "formats/columns/column_split.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 3000u

/* Where the twin reads each stream. */
struct twin {
    const struct columns *columns;
    size_t at[COLUMN_STREAMS];
    uint32_t next[256][256];  /* by type and processor, */
    uint32_t next_unnumbered; /* and of records of no numbered kind */
    uint32_t slots[256];
};

static uint32_t read_element(struct twin *twin, enum column_stream stream)
{
    const size_t width = column_width(stream);
    const uint8_t *from = twin->columns->bytes[stream] + twin->at[stream]++ * width;
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint32_t)from[i] << 8 * i;
    return value;
}

static uint32_t read_page(struct twin *twin)
{
    const uint32_t token = read_element(twin, COLUMN_PAGES);
    if (token != COLUMN_ESCAPE)
        return twin->slots[token];
    const uint32_t page = read_element(twin, COLUMN_NEW_PAGES);
    const uint32_t slot = page * 2654435761u >> 24;
    twin->slots[slot == 255 ? 0 : slot] = page;
    return page;
}

static struct record read_record(struct twin *twin)
{
    const uint32_t kind = read_element(twin, COLUMN_KINDS);
    uint32_t shift = 2;
    uint8_t head[4];
    struct record record;
    if (kind == COLUMN_ESCAPE) {
        bytes_put32(head, read_element(twin, COLUMN_HEADS));
    } else {
        memcpy(head, twin->columns->kinds[kind].head, sizeof head);
        shift = twin->columns->kinds[kind].shift;
    }
    record.type = head[0];
    record.size = head[1];
    record.attribute = head[2];
    record.processor = head[3];
    record.time = read_element(twin, COLUMN_TIMES);
    if (record.time == COLUMN_ESCAPE)
        record.time = read_element(twin, COLUMN_LONG_TIMES);
    uint32_t *next = kind == COLUMN_ESCAPE ? &twin->next_unnumbered : &twin->next[head[0]][head[3]];
    const uint32_t step = read_element(twin, COLUMN_STEPS);
    if (step == COLUMN_ESCAPE) {
        const uint32_t page = read_page(twin);
        record.address = page << 12 | read_element(twin, COLUMN_OFFSETS);
    } else {
        record.address = *next + (uint32_t)(((int64_t)step - 127) * (INT64_C(1) << shift));
    }
    *next = record.address + record.size;
    return record;
}

static void check(const struct record *records, size_t count)
{
    struct columns columns = {.capacity = 0};
    struct twin *twin = calloc(1, sizeof *twin);
    struct record *back = malloc(count * sizeof *back);
    bool same = true;
    CU_ASSERT_EQUAL_FATAL(columns_reserve(&columns, count, NULL), 0);
    columns_split(&columns, records, count);
    twin->columns = &columns;
    for (size_t i = 0; i < count; i++) {
        const struct record record = read_record(twin);
        same &= memcmp(&record, &records[i], sizeof record) == 0;
    }
    CU_ASSERT_TRUE(same);
    CU_ASSERT_EQUAL(memcmp(twin->at, columns.elements, sizeof twin->at), 0);
    CU_ASSERT_TRUE(columns_join(&columns, back, count));
    CU_ASSERT_EQUAL(memcmp(back, records, count * sizeof *back), 0);
    free(back);
    free(twin);
    columns_clear(&columns);
}

static void test_twin(void)
{
    static struct record records[RECORDS];
    uint64_t random = random_seed(65);
    for (unsigned i = 0; i < 300; i++) {
        const size_t count = 1 + (size_t)random_below(&random, RECORDS);
        if (i % 3 == 0)
            records_fill_random(records, count, &random);
        else
            records_fill_like_a_bus(records, count, &random);
        for (size_t k = 0; k < count && i % 3 == 2; k++) {
            records[k].address &= 0xffff0ff0;
            records[k].processor = (uint8_t)random_below(&random, i);
        }
        check(records, count);
    }
}

/* A number without a kind is refused. */
static void test_no_such_kind(void)
{
    struct record records[20];
    struct columns columns = {.capacity = 0};
    uint64_t random = random_seed(66);
    records_fill_like_a_bus(records, 20, &random);
    CU_ASSERT_EQUAL_FATAL(columns_reserve(&columns, 20, NULL), 0);
    columns_split(&columns, records, 20);
    columns.bytes[COLUMN_KINDS][19] = (uint8_t)columns.kind_count;
    CU_ASSERT_FALSE(columns_join(&columns, records, 20));
    columns_clear(&columns);
}

static const struct test_case cases[] = {{"a slow twin reads the same", test_twin},
                                         {"a kind that does not exist", test_no_such_kind},
                                         {NULL, NULL}};
TEST_SUITE(column_split, cases)
