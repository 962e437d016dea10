#include "formats/columns/word_numbers.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdbool.h>
#include <string.h>

#define TWIN_MOST 768u /* different words that are counted */

/* The obvious way: a list of words in the order of their first occurrence. */
struct twin {
    uint32_t words[TWIN_MOST], counts[TWIN_MOST];
    unsigned used;
};

static void twin_count(struct twin *twin, uint32_t word)
{
    unsigned i = 0;
    while (i < twin->used && twin->words[i] != word)
        i++;
    if (i == TWIN_MOST)
        return;
    if (i == twin->used) {
        twin->words[twin->used] = word;
        twin->counts[twin->used++] = 0;
    }
    twin->counts[i]++;
}

/* How many words are more frequent than number i, or as frequent and smaller. */
static unsigned twin_number(const struct twin *twin, unsigned i)
{
    unsigned before = 0;
    for (unsigned j = 0; j < twin->used; j++)
        before += twin->counts[j] > twin->counts[i] ||
                  (twin->counts[j] == twin->counts[i] && twin->words[j] < twin->words[i]);
    return before < WORD_NUMBERS_MOST ? before : WORD_NUMBER_NONE;
}

/* What is written is read again, and nothing shorter is. */
static void check_bytes(const struct word_numbers *numbers)
{
    static struct word_numbers back;
    uint8_t bytes[WORD_NUMBERS_BYTES + 1];
    const size_t size = word_numbers_put(numbers, bytes);
    CU_ASSERT_FATAL(size <= WORD_NUMBERS_BYTES);
    bytes[size] = 0xff; /* belongs to what follows */
    CU_ASSERT_EQUAL(word_numbers_get(&back, bytes, size + 1), size);
    CU_ASSERT_EQUAL(back.count, numbers->count);
    CU_ASSERT_EQUAL(memcmp(back.words, numbers->words, numbers->count * sizeof *back.words), 0);
    for (unsigned i = back.count; i < WORD_NUMBERS_MOST; i++)
        CU_ASSERT_EQUAL(back.words[i], 0);
    for (size_t cut = 0; cut < size; cut++)
        CU_ASSERT_EQUAL(word_numbers_get(&back, bytes, cut), 0);
}

static void check(const uint32_t *words, size_t count)
{
    static struct word_numbers numbers;
    static struct twin twin;
    twin.used = 0;
    word_numbers_clear(&numbers);
    for (size_t i = 0; i < count; i++) {
        word_numbers_count(&numbers, words[i]);
        twin_count(&twin, words[i]);
    }
    word_numbers_assign(&numbers);
    CU_ASSERT_EQUAL(numbers.count, twin.used < WORD_NUMBERS_MOST ? twin.used : WORD_NUMBERS_MOST);
    for (unsigned i = 0; i < twin.used; i++) {
        const unsigned number = twin_number(&twin, i);
        CU_ASSERT_EQUAL(word_numbers_find(&numbers, twin.words[i]), number);
        if (number != WORD_NUMBER_NONE)
            CU_ASSERT_EQUAL(numbers.words[number], twin.words[i]);
    }
    for (size_t i = 0; i < count && twin.used == TWIN_MOST; i++) {
        bool counted = false;
        for (unsigned j = 0; j < twin.used; j++)
            counted = counted || twin.words[j] == words[i];
        CU_ASSERT(counted || word_numbers_find(&numbers, words[i]) == WORD_NUMBER_NONE);
    }
    check_bytes(&numbers);
}

static void test_twin(void)
{
    enum { MOST = 4000 };
    static uint32_t words[MOST];
    uint64_t random = random_seed(31);
    check(words, 0);
    for (unsigned round = 0; round < 60; round++) {
        const unsigned kinds = round % 6 == 0 ? 2000 : 1 + (unsigned)random_below(&random, 300);
        const size_t count = 1 + (size_t)random_below(&random, MOST);
        const uint32_t factor = round % 2 ? 1 : 0x9e3779b1;
        for (size_t i = 0; i < count; i++)
            words[i] = factor * (uint32_t)random_below(&random, 1 + random_below(&random, kinds));
        check(words, count);
    }
}

/* The numbers of words at which something changes, and the lengths of words in bytes. */
static void test_edges(void)
{
    static const uint32_t values[] = {0,       127,       128,       16383,      16384,     2097151,
                                      2097152, 268435455, 268435456, UINT32_MAX, UINT32_MAX};
    static uint32_t words[TWIN_MOST + 1];
    check(values, sizeof values / sizeof *values);
    for (uint32_t i = 0; i <= TWIN_MOST; i++)
        words[i] = i * 4093;
    for (uint32_t count = 254; count <= 257; count++)
        check(words, count);
    check(words, TWIN_MOST);
    check(words, TWIN_MOST + 1);
}

/* A word of more than five groups, or one that has no end. */
static void test_corrupt(void)
{
    static struct word_numbers numbers;
    const uint8_t six[] = {1, 0x80, 0x80, 0x80, 0x80, 0x80, 0},
                  five[] = {1, 0xff, 0xff, 0xff, 0xff, 0x7f};
    CU_ASSERT_EQUAL(word_numbers_get(&numbers, six, sizeof six), 0);
    CU_ASSERT_EQUAL(word_numbers_get(&numbers, five, sizeof five), sizeof five);
    CU_ASSERT_EQUAL(numbers.words[0], UINT32_MAX);
}

static const struct test_case cases[] = {{"numbers are by frequency", test_twin},
                                         {"edges", test_edges},
                                         {"corrupt words", test_corrupt},
                                         {NULL, NULL}};
TEST_SUITE(word_numbers, cases)
