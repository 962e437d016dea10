#define _GNU_SOURCE /* memfd_create(), MAP_FIXED_NOREPLACE */
#include "capture/exec/store/block_store.h"
#include "capture/exec/translate/exec_thread.h"
#include "capture/exec/translate/translate.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE        0x20000000u
#define CODE_BYTES  0x20000u
#define CACHE_BYTES ((size_t)8 << 20)

static size_t readable(void *context, uint64_t address)
{
    (void)context;
    return address >= CODE && address < CODE + CODE_BYTES ? CODE + CODE_BYTES - address : 0;
}

static bool stored(void *context, uint64_t address)
{
    (void)context;
    return address < CODE + CODE_BYTES - 0x1000;
}

/* Code of the C library, which is not executed, at addresses that the translator accepts. */
static uint8_t *map_code(void)
{
    uint8_t *code = mmap((void *)(uintptr_t)CODE, CODE_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CU_ASSERT_FATAL(code != MAP_FAILED);
    memcpy(code, (const void *)(uintptr_t)qsort, CODE_BYTES);
    return code;
}

struct made {
    struct code_cache *cache;
    struct translator *translator;
};

/* Translates all of the code, each block after the other. */
static struct made make(enum exec_trace trace, bool counts, unsigned side,
                        struct block_store *store)
{
    struct made made = {.cache = code_cache_new(CACHE_BYTES, NULL)};
    const struct block *block = NULL;
    made.translator = translator_new(made.cache, trace, readable, NULL, NULL);
    CU_ASSERT_FATAL(made.cache && made.translator);
    translator_count_turns(made.translator, counts);
    translator_set_side(made.translator, side);
    if (store)
        translator_use_store(made.translator, store, stored);
    for (uint64_t at = CODE; at < CODE + CODE_BYTES - 0x800;) {
        block = translate(made.translator, at, 0, block);
        if (!block)
            break;
        at += block->size + !block->size;
    }
    return made;
}

static void free_made(const struct made *made)
{
    translator_free(made->translator);
    code_cache_free(made->cache);
}

static bool same_array(const void *one, const void *other, size_t bytes)
{
    return bytes == 0 || memcmp(one, other, bytes) == 0;
}

static bool same_exits(const struct block *one, const struct block *other)
{
    for (unsigned i = 0; i < one->exit_count; i++) {
        const struct exit *a = &one->exits[i], *b = &other->exits[i];
        if (a->kind != b->kind || a->branch != b->branch || a->branch_kind != b->branch_kind ||
            a->branch_size != b->branch_size || a->branch_address != b->branch_address ||
            a->branch_target != b->branch_target || a->target != b->target || a->from != one ||
            a->to || !a->jump != !b->jump || !a->stub_jump != !b->stub_jump ||
            a->stub - one->code != b->stub - other->code ||
            a->leave - one->code != b->leave - other->code ||
            (a->jump && a->jump - one->code != b->jump - other->code))
            return false;
    }
    return true;
}

static bool same_pc_map(const struct block *one, const struct block *other)
{
    for (unsigned i = 0; i < one->pc_map_count; i++) {
        const struct pc_map_entry *a = &one->pc_map[i], *b = &other->pc_map[i];
        if (a->traced != b->traced || a->code != b->code || a->end != b->end ||
            a->records != b->records || a->specials != b->specials || a->repeated != b->repeated ||
            a->offset != b->offset)
            return false;
    }
    return true;
}

static bool same_scalars(const struct block *a, const struct block *b)
{
    return a->address == b->address && a->first_exit == b->first_exit &&
           a->record_count == b->record_count && a->patch_count == b->patch_count &&
           a->through_fs_count == b->through_fs_count && a->instructions == b->instructions &&
           a->vector == b->vector && a->fs == b->fs && a->breakpoint == b->breakpoint &&
           a->verify_code == b->verify_code && a->saves_x87 == b->saves_x87 &&
           a->pointer == b->pointer && a->scratch == b->scratch && a->ending == b->ending &&
           a->exit_count == b->exit_count && a->slots == b->slots && a->size == b->size &&
           a->number == b->number && !a->indirect == !b->indirect &&
           (!a->indirect || a->indirect - a->code == b->indirect - b->code) &&
           a->inner - a->code == b->inner - b->code &&
           a->code_end - a->code == b->code_end - b->code && a->advance == b->advance &&
           a->bytes == b->bytes && a->special_count == b->special_count &&
           a->pc_map_count == b->pc_map_count && a->outcome_count == b->outcome_count &&
           a->value_count == b->value_count;
}

static bool same_block(const struct block *a, const struct block *b)
{
    return same_scalars(a, b) && same_exits(a, b) && same_pc_map(a, b) &&
           same_array(a->records, b->records, a->record_count * sizeof *a->records) &&
           same_array(a->patches, b->patches, a->patch_count * sizeof *a->patches) &&
           same_array(a->through_fs, b->through_fs, a->through_fs_count * sizeof(uint16_t)) &&
           same_array(a->values, b->values, a->value_count * sizeof *a->values);
}

/* The number of blocks whose metadata is in the file. */
static unsigned taken(const struct made *made, const uint8_t *file, size_t size)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < code_cache_blocks(made->cache); i++) {
        const uint8_t *at = (const uint8_t *)code_cache_block(made->cache, i)->pc_map;
        count += at >= file && at < file + size;
    }
    return count;
}

static uint8_t *map_file(const struct block_store *store, size_t *size)
{
    int file = memfd_create("blocks", MFD_CLOEXEC);
    CU_ASSERT_FATAL(file >= 0 && block_store_write(store, file, NULL) == 0);
    *size = (size_t)lseek(file, 0, SEEK_END);
    uint8_t *bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    CU_ASSERT_FATAL(bytes != MAP_FAILED);
    close(file);
    return bytes;
}

/* Blocks from a store equal those translated at the same place, byte for byte. */
static void compare(enum exec_trace trace, bool counts, unsigned side, uint8_t *code)
{
    size_t size;
    struct block_store *store = block_store_new("test");
    struct made first = make(trace, counts, side, store);
    uint8_t *file = map_file(store, &size);
    block_store_free(store);
    free_made(&first);
    store = block_store_new("test");
    CU_ASSERT(block_store_read(store, file, size));
    code[0x400] ^= 1; /* this block has changed since, and comes from its bytes */
    struct made one = make(trace, counts, side, store), other = make(trace, counts, side, NULL);
    code[0x400] ^= 1;
    const uint32_t blocks = code_cache_blocks(one.cache);
    CU_ASSERT_FATAL(blocks > 500 && code_cache_blocks(other.cache) == blocks);
    CU_ASSERT(taken(&one, file, size) > blocks / 2 && taken(&one, file, size) < blocks);
    for (uint32_t i = 0; i < blocks; i++)
        CU_ASSERT(same_block(code_cache_block(one.cache, i), code_cache_block(other.cache, i)));
    CU_ASSERT(memcmp(code_cache_leave(one.cache), code_cache_leave(other.cache), CACHE_BYTES) == 0);
    free_made(&one);
    free_made(&other);
    block_store_free(store);
    munmap(file, size);
}

static void test_same(void)
{
    uint8_t *code = map_code();
    for (enum exec_trace trace = EXEC_TRACE_NONE; trace <= EXEC_TRACE_COUNT; trace++)
        for (unsigned counts = 0; counts < 2; counts++)
            compare(trace, counts, trace == EXEC_TRACE_NONE ? counts : 0, code);
    munmap(code, CODE_BYTES);
}

/* Another trace, side or count of turns has blocks of its own. */
static void test_apart(void)
{
    size_t size;
    uint8_t *code = map_code();
    struct block_store *store = block_store_new("test");
    struct made first = make(EXEC_TRACE_ALL, false, 0, store);
    uint8_t *file = map_file(store, &size);
    block_store_free(store);
    free_made(&first);
    store = block_store_new("test");
    CU_ASSERT(block_store_read(store, file, size));
    struct made others[] = {make(EXEC_TRACE_FETCHES, false, 0, store),
                            make(EXEC_TRACE_ALL, true, 0, store),
                            make(EXEC_TRACE_ALL, false, 1, store)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CU_ASSERT_EQUAL(taken(&others[i], file, size), 0);
        free_made(&others[i]);
    }
    block_store_free(store);
    munmap(file, size);
    munmap(code, CODE_BYTES);
}

static const struct test_case cases[] = {{"blocks from a store are the same", test_same},
                                         {"other settings have other blocks", test_apart},
                                         {NULL, NULL}};
TEST_SUITE(exec_translate_store, cases)
