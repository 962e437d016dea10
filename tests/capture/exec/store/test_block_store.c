#define _GNU_SOURCE /* mkstemp() */
#include "capture/exec/store/block_store.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORDS 500u

/* The bytes of a record follow from its key and a version. */
static size_t make(uint8_t bytes[64], uint64_t key, unsigned version)
{
    const size_t size = (key * 7 + version) % 64;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(key * 31 + i * version);
    return size;
}

static void add(struct block_store *store, uint64_t key, unsigned version)
{
    uint8_t bytes[64];
    const size_t size = make(bytes, key, version), half = size / 2;
    const struct block_store_part parts[] = {{bytes, half}, {bytes + half, size - half}};
    block_store_add(store, key, parts, 2);
}

static bool has(struct block_store *store, uint64_t key, unsigned version)
{
    uint8_t bytes[64];
    size_t size = 0;
    const uint8_t *found = block_store_find(store, key, &size);
    return found && size == make(bytes, key, version) && memcmp(found, bytes, size) == 0;
}

static uint64_t key_of(unsigned i)
{
    return (uint64_t)i * i * 37 | (uint64_t)(i % 3) << 32;
}

/* The file of a store; the caller frees it. */
static uint8_t *file_of(const struct block_store *store, size_t *size)
{
    char name[] = "block_store_XXXXXX";
    const char *folder = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/tmp", name);
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    unlink(path);
    CU_ASSERT_FATAL(block_store_write(store, file, NULL) == 0);
    *size = (size_t)lseek(file, 0, SEEK_END);
    uint8_t *bytes = malloc(*size);
    CU_ASSERT_FATAL(bytes && pread(file, bytes, *size, 0) == (ssize_t)*size);
    close(file);
    return bytes;
}

static uint8_t *first_file(size_t *size)
{
    struct block_store *store = block_store_new("owner");
    for (unsigned i = 0; i < RECORDS; i++)
        add(store, key_of(i), 1);
    uint8_t *bytes = file_of(store, size);
    block_store_free(store);
    return bytes;
}

static void test_found_again(void)
{
    size_t size;
    uint8_t *bytes = first_file(&size);
    struct block_store *store = block_store_new("owner");
    CU_ASSERT_FALSE(has(store, key_of(1), 1));
    CU_ASSERT(block_store_read(store, bytes, size));
    for (unsigned i = 0; i < RECORDS; i++)
        CU_ASSERT(has(store, key_of(i), 1));
    for (unsigned i = RECORDS; i-- > 0;)
        CU_ASSERT(has(store, key_of(i), 1));
    CU_ASSERT_PTR_NULL(block_store_find(store, 12345678, &size));
    CU_ASSERT_FALSE(block_store_has_grown(store));
    block_store_free(store);
    free(bytes);
}

static void test_replaced(void)
{
    size_t size;
    uint8_t *bytes = first_file(&size);
    struct block_store *store = block_store_new("owner");
    CU_ASSERT(block_store_read(store, bytes, size));
    for (unsigned i = 100; i < RECORDS + 100; i++)
        add(store, key_of(i), 2);
    CU_ASSERT(block_store_has_grown(store));
    uint8_t *second = file_of(store, &size);
    block_store_free(store);
    free(bytes);
    store = block_store_new("owner");
    CU_ASSERT(block_store_read(store, second, size));
    for (unsigned i = 0; i < RECORDS + 100; i++)
        CU_ASSERT(has(store, key_of(i), i < 100 ? 1 : 2));
    block_store_free(store);
    free(second);
}

static void test_foreign(void)
{
    size_t size;
    uint8_t *bytes = first_file(&size);
    struct block_store *store = block_store_new("another owner");
    CU_ASSERT_FALSE(block_store_read(store, bytes, size));
    CU_ASSERT_FALSE(has(store, key_of(1), 1));
    block_store_free(store);
    store = block_store_new("owner");
    CU_ASSERT_FALSE(block_store_read(store, bytes, size - 1));
    CU_ASSERT_FALSE(block_store_read(store, bytes, 17));
    bytes[8]++; /* the version */
    CU_ASSERT_FALSE(block_store_read(store, bytes, size));
    block_store_free(store);
    free(bytes);
}

/* A corrupt record is not found; all others are as they were. */
static void test_corrupt(void)
{
    size_t size;
    uint64_t random = 5;
    uint8_t *bytes = first_file(&size);
    for (unsigned round = 0; round < 300; round++) {
        const size_t at = random_below(&random, size);
        const uint8_t was = bytes[at];
        bytes[at] ^= (uint8_t)(1 + random_below(&random, 255));
        struct block_store *store = block_store_new("owner");
        unsigned lost = 0;
        if (block_store_read(store, bytes, size))
            for (unsigned i = 0; i < RECORDS; i++) {
                size_t found, wanted;
                uint8_t made[64];
                const uint8_t *record = block_store_find(store, key_of(i), &found);
                wanted = make(made, key_of(i), 1);
                if (record)
                    CU_ASSERT(found == wanted && memcmp(record, made, wanted) == 0);
                lost += !record;
            }
        CU_ASSERT(lost <= 20); /* an entry of the table hides those that follow it */
        block_store_free(store);
        bytes[at] = was;
    }
    free(bytes);
}

static const struct test_case cases[] = {{"records are found in the next run", test_found_again},
                                         {"new records replace old ones", test_replaced},
                                         {"foreign and truncated files", test_foreign},
                                         {"corrupt records are not found", test_corrupt},
                                         {NULL, NULL}};
TEST_SUITE(block_store, cases)
