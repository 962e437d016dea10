#include "capture/exec/translate/code_cache.h"

#include "tests/suites.h"

#include <string.h>

#define CACHE_BYTES ((size_t)1 << 20)
#define DIRT        0x5a
#define MOST        4096u

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Allocates `count` pieces of `size` bytes, which must be zeros, and fills them. */
static void use(struct code_cache *cache, unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        uint8_t *bytes = code_cache_allocate(cache, size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
        CU_ASSERT(is_zero(bytes, size));
        memset(bytes, DIRT, size);
    }
}

/* Metadata is zeros also where it is partly in memory that was used before a flush. */
static void test_zeros(void)
{
    struct code_cache *cache = code_cache_new(CACHE_BYTES, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cache);
    use(cache, 10, 208);
    for (size_t size = 16; size <= MOST; size += size / 2 & ~(size_t)15 ? size / 2 : 16) {
        code_cache_flush(cache);
        use(cache, 7, size);
    }
    for (unsigned most = 1; most < 40; most++) { /* ends a little later each time */
        code_cache_flush(cache);
        use(cache, most, 176);
        use(cache, 1, 208);
    }
    code_cache_free(cache);
}

static const struct test_case cases[] = {{"allocated memory is zeros", test_zeros}, {NULL, NULL}};
TEST_SUITE(code_cache, cases)
