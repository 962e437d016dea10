#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/plot/sharing.h"

#include <string.h>

#define LINES      64u /* of the twin: at the first and the last addresses */
#define PROCESSORS 8u

/* References to each line, by processor. */
struct sharing_twin {
    uint64_t references[LINES][PROCESSORS];
    bool written[LINES];
};

static void twin_put(struct sharing_twin *twin, const struct record *record, uint32_t line_size)
{
    uint32_t last_line = UINT32_MAX;
    if (record->type > REQUEST_MEMWRITE)
        return;
    for (uint32_t i = 0; i < (record->size ? record->size : 1u); i++) {
        uint32_t line = (record->address + i) / line_size;
        if (i > 0 && line == last_line)
            continue;
        last_line = line;
        twin->references[line % LINES][record->processor]++;
        twin->written[line % LINES] |= record->type == REQUEST_MEMWRITE;
    }
}

static unsigned users_of(const struct sharing_twin *twin, unsigned line)
{
    unsigned users = 0;
    for (unsigned p = 0; p < PROCESSORS; p++)
        users += twin->references[line][p] > 0;
    return users;
}

static void compare_pair(const struct sharing_twin *twin, const struct sharing_counts *counts,
                         unsigned a, unsigned b)
{
    uint64_t lines = 0;
    uint64_t referenced = 0;
    for (unsigned line = 0; line < LINES; line++) {
        const uint64_t *references = twin->references[line];
        if (references[counts->processor[a]] > 0 && references[counts->processor[b]] > 0) {
            lines++;
            referenced += references[counts->processor[a]];
        }
    }
    CU_ASSERT_EQUAL_FATAL(counts->lines[a * counts->processors + b], lines);
    CU_ASSERT_EQUAL_FATAL(counts->referenced[a * counts->processors + b], referenced);
}

static void compare(const struct sharing_twin *twin, const struct sharing_counts *counts)
{
    for (unsigned a = 0; a < counts->processors; a++)
        for (unsigned b = 0; b < counts->processors; b++)
            compare_pair(twin, counts, a, b);
    for (unsigned users = 1; users <= PROCESSORS; users++) {
        struct sharing_users wanted = {.lines = 0, .written = 0, .references = 0};
        for (unsigned line = 0; line < LINES; line++) {
            if (users_of(twin, line) != users)
                continue;
            wanted.lines++;
            wanted.written += twin->written[line];
            for (unsigned p = 0; p < PROCESSORS; p++)
                wanted.references += twin->references[line][p];
        }
        CU_ASSERT_EQUAL_FATAL(counts->users[users].lines, wanted.lines);
        CU_ASSERT_EQUAL_FATAL(counts->users[users].written, wanted.written);
        CU_ASSERT_EQUAL_FATAL(counts->users[users].references, wanted.references);
    }
}

/* Including references that wrap at the end of the address space. */
static void test_against_twin(void)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        uint64_t random = random_seed(seed);
        const struct sharing_settings settings = {.line = 4u << random_below(&random, 8),
                                                  .memory_max = 1u << 20};
        uint32_t span = settings.line * (LINES / 2) - 255; /* no two lines share an entry */
        struct sharing_twin twin;
        struct sharing *sharing = sharing_new(&settings, NULL);
        memset(&twin, 0, sizeof twin);
        CU_ASSERT_PTR_NOT_NULL_FATAL(sharing);
        span = span > settings.line * LINES ? 1 : span;
        size_t count = (size_t)random_below(&random, 300);
        for (size_t i = 0; i < count; i++) {
            struct record record = {.address = (uint32_t)random_below(&random, span),
                                    .type = (uint8_t)random_below(&random, 6),
                                    .size = (uint8_t)random_below(&random, 256),
                                    .processor = (uint8_t)random_below(&random, PROCESSORS)};
            if (random_one_in(&random, 2))
                record.address -= span;
            record.type = record.type > REQUEST_MEMWRITE ? REQUEST_INTA : record.type;
            if (record.size > settings.line * 8)
                record.size = 1;
            CU_ASSERT_EQUAL_FATAL(
                sharing_put(sharing, &(struct batch){.records = &record, .count = 1}, NULL), 0);
            twin_put(&twin, &record, settings.line);
        }
        const struct sharing_counts *counts = sharing_finish(sharing, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
        compare(&twin, counts);
        sharing_free(sharing);
    }
}

static void test_memory(void)
{
    const struct sharing_settings settings = {.line = 64, .memory_max = 1u << 20};
    struct bt_error error = {0};
    struct sharing *sharing = sharing_new(&settings, NULL);
    int result = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(sharing);
    for (uint32_t i = 0; i < 100000 && result == 0; i++) {
        struct record record = {.address = i * 64, .size = 8};
        result = sharing_put(sharing, &(struct batch){.records = &record, .count = 1}, &error);
    }
    CU_ASSERT_EQUAL(result, BT_MEMORY);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "--max-memory"));
    sharing_free(sharing);
}

static void test_none(void)
{
    const struct sharing_settings settings = {.line = 64, .memory_max = 1u << 20};
    struct sharing *sharing = sharing_new(&settings, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sharing);
    const struct sharing_counts *counts = sharing_finish(sharing, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
    CU_ASSERT_EQUAL(counts->processors, 0);
    sharing_free(sharing);
}

static const struct test_case cases[] = {{"against a slow twin", test_against_twin},
                                         {"more lines than memory", test_memory},
                                         {"no references", test_none},
                                         {NULL, NULL}};
TEST_SUITE(sharing, cases)
