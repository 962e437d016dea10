#include "formats/record/record_text.h"
#include "tests/suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Formats one classic line in the slow and obvious way. */
static size_t classic_twin(char *out, const struct record *r)
{
    static const struct {
        uint8_t type;
        const char *name_and_tabs;
    } names[] = {{0x00, "FETCH\t\t"},    {0x01, "MEMREAD\t"},  {0x02, "MEMREADINV\t"},
                 {0x03, "MEMWRITE\t"},   {0x10, "IOREAD\t\t"}, {0x11, "IOWRITE\t"},
                 {0x20, "DEFERREPLY\t"}, {0x21, "INTA\t\t"},   {0x22, "CNTRLAGNTRES\t"},
                 {0x23, "BRTRACEREC\t"}, {0x31, "SHUTDOWN\t"}, {0x32, "FLUSH\t\t"},
                 {0x33, "HALT\t\t"},     {0x34, "SYNC\t\t"},   {0x35, "FLUSHACK\t"},
                 {0x36, "STOPCLKAK\t"},  {0x37, "SMIACK\t\t"}};
    const char *name = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].type == r->type)
            name = names[i].name_and_tabs;
    return (size_t)sprintf(out, "%08x %s%2d\t%02x\t%d\t%u\n", r->address, name, r->size,
                           r->attribute, r->processor, r->time);
}

static const char *type_twin(char *out, uint8_t type)
{
    const char *name = request_type_name(type);
    if (name)
        return name;
    sprintf(out, "0x%02x", type);
    return out;
}

static size_t csv_twin(char *out, const struct record *r, uint64_t index, uint64_t tick)
{
    char type[8];
    return (size_t)sprintf(out, "%" PRIu64 ",%" PRIu64 ",0x%08x,%s,%d,%d,%d,%u\n", index, tick,
                           r->address, type_twin(type, r->type), r->size, r->attribute,
                           r->processor, r->time);
}

static size_t json_twin(char *out, const struct record *r, uint64_t index, uint64_t tick)
{
    char type[8];
    return (size_t)sprintf(out,
                           "{\"index\":%" PRIu64 ",\"tick\":%" PRIu64
                           ",\"address\":\"0x%08x\",\"type\":\"%s\",\"size\":%d,\"attribute\":%d,"
                           "\"processor\":%d,\"time\":%u}\n",
                           index, tick, r->address, type_twin(type, r->type), r->size, r->attribute,
                           r->processor, r->time);
}

/* Compares all forms with their twins, one record at a time and as one run. */
static int forms_differ(const struct record *records, size_t count, uint64_t index, uint64_t tick)
{
    char *wanted = malloc(count * 256);
    char *found = malloc(count * RECORD_TEXT_MAX_BYTES);
    int differences = 0;
    for (enum record_text form = RECORD_TEXT_B2A; form <= RECORD_TEXT_JSON; form++) {
        size_t size = 0;
        uint64_t now = tick;
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                now += records[i].time;
            char *line = wanted + size;
            size_t length = form == RECORD_TEXT_B2A ? classic_twin(line, &records[i])
                            : form == RECORD_TEXT_CSV
                                ? csv_twin(line, &records[i], index + i, now)
                                : json_twin(line, &records[i], index + i, now);
            differences += length > RECORD_TEXT_MAX_BYTES;
            size += length;
        }
        size_t got = record_text_put(form, found, records, count, index, tick);
        differences += got != size || memcmp(wanted, found, size) != 0;
    }
    free(wanted);
    free(found);
    return differences;
}

static void test_all_types(void)
{
    struct record records[256];
    for (unsigned i = 0; i < 256; i++)
        records[i] = (struct record){.address = i * 0x01020304u, .type = (uint8_t)i, .size = 8};
    CU_ASSERT_EQUAL(forms_differ(records, 256, 0, 0), 0);
}

static void test_all_bytes(void)
{
    struct record records[256];
    for (unsigned shift = 0; shift < 256; shift += 5) {
        for (unsigned i = 0; i < 256; i++)
            records[i] = (struct record){.type = 1,
                                         .size = (uint8_t)i,
                                         .attribute = (uint8_t)(i + shift),
                                         .processor = (uint8_t)(i * 7 + shift)};
        CU_ASSERT_EQUAL(forms_differ(records, 256, 99999990, 9999999999999990u), 0);
    }
}

static void test_edge_values(void)
{
    struct record records[400];
    size_t count = 0;
    for (uint64_t power = 1; power <= UINT32_MAX; power *= 10)
        for (int delta = -2; delta <= 2; delta++) {
            uint32_t value = (uint32_t)(power + (uint64_t)(int64_t)delta);
            records[count++] = (struct record){.address = value, .time = value};
        }
    for (int bit = 0; bit < 32; bit++)
        for (int delta = -2; delta <= 2; delta++) {
            uint32_t value = (uint32_t)((1ll << bit) + delta);
            records[count++] = (struct record){.address = ~value, .time = value};
        }
    CU_ASSERT_EQUAL(forms_differ(records, count, 0, 0), 0);
    for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10)
        CU_ASSERT_EQUAL(forms_differ(records, count, power - 5, power), 0);
    CU_ASSERT_EQUAL(forms_differ(records, count, UINT64_MAX - 1000, UINT64_MAX - UINT32_MAX), 0);
}

/* Every time of up to five digits, and longer ones at random: tests the arithmetic, not a table. */
static void test_times(void)
{
    enum { STEP = 500 };
    struct record records[STEP];
    for (uint32_t first = 0; first < 100000; first += STEP) {
        for (uint32_t i = 0; i < STEP; i++)
            records[i] = (struct record){.time = first + i, .address = first + i};
        CU_ASSERT_EQUAL(forms_differ(records, STEP, first, first), 0);
    }
}

static void test_random(void)
{
    enum { COUNT = 64 };
    struct record records[COUNT];
    uint64_t state = 88172645463325252u;
    for (int seed = 0; seed < 5000; seed++) {
        for (int i = 0; i < COUNT; i++) {
            uint64_t draws[2];
            for (int d = 0; d < 2; d++) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                draws[d] = state;
            }
            records[i] = (struct record){.address = (uint32_t)draws[0],
                                         .type = (uint8_t)(draws[0] >> 32 & 0x3f),
                                         .size = (uint8_t)(draws[0] >> 40),
                                         .attribute = (uint8_t)(draws[0] >> 48),
                                         .processor = (uint8_t)(draws[0] >> 56),
                                         .time = (uint32_t)(draws[1] >> (draws[1] & 31))};
        }
        CU_ASSERT_EQUAL(forms_differ(records, COUNT, state >> (seed & 63), state >> 5), 0);
    }
}

static void test_heading(void)
{
    CU_ASSERT_STRING_EQUAL(record_text_header(RECORD_TEXT_B2A), "");
    CU_ASSERT_STRING_EQUAL(record_text_header(RECORD_TEXT_JSON), "");
    CU_ASSERT_STRING_EQUAL(record_text_header(RECORD_TEXT_CSV),
                           "index,tick,address,type,size,attribute,processor,time\n");
}

static const struct test_case cases[] = {{"all types", test_all_types},
                                         {"all bytes", test_all_bytes},
                                         {"edge values", test_edge_values},
                                         {"times", test_times},
                                         {"random records", test_random},
                                         {"heading", test_heading},
                                         {NULL, NULL}};
TEST_SUITE(record_text, cases)
