#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/translate/code_cache.h"

#include "capture/exec/translate/emit.h"
#include "capture/exec/translate/exec_thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_ENTRIES    4096u
#define PAGE_SHIFT      12u
#define ROOM_CODE       ((size_t)256 << 10)
#define ROOM_KNOWLEDGE  ((size_t)1 << 20)
#define ROOM_BLOCKS     16u
#define ASIDE_BYTES     4096u
#define BYTES_PER_BLOCK 64u /* lower bound of a block's average size */
#define LEAVE_BYTES     16u /* of each of the jumps at the begin */
#define LEAVES          3u
#define KNOWLEDGE       3u /* bytes of metadata for each byte of code */

struct code_cache {
    uint8_t *code; /* begins with jumps to the thread's `leave`, `again` and `find` */
    size_t code_size;
    uint8_t *code_at;
    uint8_t *code_end;             /* from here on, code that is rarely executed */
    uint8_t *aside_at, *aside_end; /* free space in the part that was begun last */
    uint8_t *arena;                /* metadata of blocks */
    size_t arena_size;
    size_t arena_used;
    size_t arena_fresh;    /* offset from which on it was never used, and is zeros */
    struct block **blocks; /* by number; in ascending order of their code */
    uint32_t block_count, block_limit;
    struct exit **exits; /* by number */
    uint32_t exit_count, exit_limit;
    struct block *hash[CODE_CACHE_HASH_ENTRIES];
    struct block *pages[PAGE_ENTRIES]; /* blocks in the hash table, by their pages */
    unsigned flushes;
};

static void *map(size_t bytes, int protection)
{
    void *memory =
        mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE); /* fewer page faults and TLB misses; may fail */
    return memory;
}

/* jmp *gs:[where] */
static void write_jump(uint8_t *at, uint32_t where)
{
    static const uint8_t jump[] = {0x65, 0xff, 0x24, 0x25};
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &where, sizeof where);
}

/* All space after the jumps is free. */
static void begin_code(struct code_cache *cache)
{
    cache->code_at = cache->code + LEAVES * LEAVE_BYTES;
    cache->code_end = cache->aside_at = cache->aside_end = cache->code + cache->code_size;
}

struct code_cache *code_cache_new(size_t bytes, struct bt_error *error)
{
    struct code_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        goto out;
    cache->code_size = bytes;
    cache->arena_size = bytes * KNOWLEDGE;
    cache->block_limit = (uint32_t)(bytes / BYTES_PER_BLOCK);
    cache->exit_limit = 2 * cache->block_limit;
    cache->code = map(bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
    cache->arena = map(cache->arena_size, PROT_READ | PROT_WRITE);
    cache->blocks = map(cache->block_limit * sizeof *cache->blocks, PROT_READ | PROT_WRITE);
    cache->exits = map(cache->exit_limit * sizeof *cache->exits, PROT_READ | PROT_WRITE);
    if (!cache->code || !cache->arena || !cache->blocks || !cache->exits)
        goto out;
    begin_code(cache);
    write_jump(cache->code, EXEC_THREAD_LEAVE);
    write_jump(cache->code + LEAVE_BYTES, EXEC_THREAD_AGAIN);
    write_jump(cache->code + 2 * LEAVE_BYTES, EXEC_THREAD_FIND);
    return cache;
out:
    bt_fail_errno(error, "no memory for translated code");
    code_cache_free(cache);
    return NULL;
}

void code_cache_free(struct code_cache *cache)
{
    if (!cache)
        return;
    if (cache->code)
        munmap(cache->code, cache->code_size);
    if (cache->arena)
        munmap(cache->arena, cache->arena_size);
    if (cache->blocks)
        munmap(cache->blocks, cache->block_limit * sizeof *cache->blocks);
    if (cache->exits)
        munmap(cache->exits, cache->exit_limit * sizeof *cache->exits);
    free(cache);
}

struct block *const *code_cache_hash(const struct code_cache *cache)
{
    return cache->hash;
}

struct block *code_cache_find(const struct code_cache *cache, uint64_t address)
{
    return code_cache_find_in(cache->hash, address);
}

struct block *code_cache_block(const struct code_cache *cache, uint32_t number)
{
    return number < cache->block_count ? cache->blocks[number] : NULL;
}

uint32_t code_cache_blocks(const struct code_cache *cache)
{
    return __atomic_load_n(&cache->block_count, __ATOMIC_RELAXED);
}

uint32_t code_cache_block_limit(const struct code_cache *cache)
{
    return cache->block_limit;
}

struct block *code_cache_at(const struct code_cache *cache, const void *code)
{
    const uint8_t *at = code;
    uint32_t low = 0, high = cache->block_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cache->blocks[middle]->code_end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == cache->block_count || at < cache->blocks[low]->code)
        return NULL;
    return cache->blocks[low];
}

bool code_cache_holds(const struct code_cache *cache, const void *code)
{
    const uint8_t *at = code;
    return at >= cache->code && at < cache->code + cache->code_size;
}

uint8_t *code_cache_room(struct code_cache *cache, uint8_t **end)
{
    *end = cache->code_end;
    return cache->code_at;
}

uint8_t *code_cache_aside(struct code_cache *cache, size_t bytes, uint8_t **end)
{
    if ((size_t)(cache->aside_end - cache->aside_at) < bytes) {
        if (bytes > ASIDE_BYTES || (size_t)(cache->code_end - cache->code_at) < ASIDE_BYTES)
            return NULL;
        cache->aside_end = cache->code_end;
        cache->code_end -= ASIDE_BYTES;
        cache->aside_at = cache->code_end;
    }
    *end = cache->aside_end;
    return cache->aside_at;
}

void code_cache_keep_aside(struct code_cache *cache, uint8_t *end)
{
    cache->aside_at = end;
}

void code_cache_keep(struct code_cache *cache, uint8_t *end)
{
    cache->code_at = end;
}

bool code_cache_has_room(const struct code_cache *cache)
{
    return (size_t)(cache->code_end - cache->code_at) >= ROOM_CODE &&
           cache->arena_size - cache->arena_used >= ROOM_KNOWLEDGE &&
           cache->block_limit - cache->block_count >= ROOM_BLOCKS &&
           cache->exit_limit - cache->exit_count >= 4 * ROOM_BLOCKS;
}

void *code_cache_allocate(struct code_cache *cache, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > cache->arena_size - cache->arena_used)
        return NULL;
    uint8_t *memory = cache->arena + cache->arena_used;
    const size_t used = cache->arena_fresh - cache->arena_used; /* what follows is zeros */
    cache->arena_used += bytes;
    if (cache->arena_used > cache->arena_fresh)
        cache->arena_fresh = cache->arena_used;
    return memset(memory, 0, used < bytes ? used : bytes);
}

int code_cache_add_block(struct code_cache *cache, struct block *block)
{
    if (cache->block_count == cache->block_limit)
        return -1;
    block->number = cache->block_count;
    cache->blocks[cache->block_count] = block;
    __atomic_store_n(&cache->block_count, cache->block_count + 1, __ATOMIC_RELAXED);
    return 0;
}

int64_t code_cache_add_exits(struct code_cache *cache, struct exit *exits, unsigned count)
{
    if (count > cache->exit_limit - cache->exit_count)
        return -1;
    for (unsigned i = 0; i < count; i++)
        cache->exits[cache->exit_count + i] = &exits[i];
    cache->exit_count += count;
    return (int64_t)cache->exit_count - count;
}

struct exit *code_cache_exit(const struct code_cache *cache, uint32_t number)
{
    return number < cache->exit_count ? cache->exits[number] : NULL;
}

/* The entry of the page with a block's first byte, or with its last. */
static unsigned page_of(const struct block *block, unsigned last)
{
    uint64_t offset = last && block->size ? block->size - 1 : 0;
    return (unsigned)((block->address + offset) >> PAGE_SHIFT) % PAGE_ENTRIES;
}

static unsigned pages_of(const struct block *block)
{
    return page_of(block, 0) == page_of(block, 1) ? 1 : 2;
}

static struct block **next_in_page(struct block *block, unsigned page)
{
    return &block->next_in_page[page_of(block, 0) == page ? 0 : 1];
}

void code_cache_enter(struct code_cache *cache, struct block *block)
{
    unsigned hash = code_cache_hash_of(block->address);
    block->next_at_hash = cache->hash[hash];
    cache->hash[hash] = block;
    for (unsigned i = 0; i < pages_of(block); i++) {
        block->next_in_page[i] = cache->pages[page_of(block, i)];
        cache->pages[page_of(block, i)] = block;
    }
}

/* --- links -------------------------------------------------------------------------------------
 */

void code_cache_link(struct exit *exit, struct block *to)
{
    if (!exit->jump || exit->to)
        return;
    if (exit->from->pointer == to->pointer && exit->from->scratch == to->scratch)
        emit_patch(exit->jump, to->inner);
    else if (!exit->stub_jump)
        emit_patch(exit->jump, to->code);
    else
        emit_patch(exit->stub_jump, to->code);
    exit->to = to;
    exit->next_incoming = to->incoming;
    to->incoming = exit;
}

/* Unlinks all exits that are linked to a block. */
static void unlink_block(struct block *block)
{
    struct exit *next;
    for (struct exit *exit = block->incoming; exit; exit = next) {
        next = exit->next_incoming;
        emit_patch(exit->jump, exit->stub);
        if (exit->stub_jump)
            emit_patch(exit->stub_jump, exit->leave);
        exit->to = NULL;
        exit->next_incoming = NULL;
    }
    block->incoming = NULL;
}

void code_cache_unlink_all(struct code_cache *cache)
{
    for (uint32_t i = 0; i < cache->block_count; i++)
        unlink_block(cache->blocks[i]);
}

static void forget(struct code_cache *cache, struct block *block)
{
    struct block **at = &cache->hash[code_cache_hash_of(block->address)];
    while (*at != block)
        at = &(*at)->next_at_hash;
    *at = block->next_at_hash;
    for (unsigned i = 0; i < pages_of(block); i++) {
        unsigned page = page_of(block, i);
        at = &cache->pages[page];
        while (*at != block)
            at = next_in_page(*at, page);
        *at = *next_in_page(block, page);
    }
    unlink_block(block);
}

unsigned code_cache_invalidate(struct code_cache *cache, uint64_t begin, uint64_t end)
{
    unsigned count = 0;
    uint64_t pages = begin < end ? ((end - 1) >> PAGE_SHIFT) - (begin >> PAGE_SHIFT) + 1 : 0;
    for (uint64_t i = 0; i < pages && i < PAGE_ENTRIES; i++) {
        unsigned page = (unsigned)((begin >> PAGE_SHIFT) + i) % PAGE_ENTRIES;
        struct block *next;
        for (struct block *block = cache->pages[page]; block; block = next) {
            next = *next_in_page(block, page);
            if (block->address >= end || block->address + block->size <= begin)
                continue;
            forget(cache, block);
            count++;
        }
    }
    return count;
}

void code_cache_flush(struct code_cache *cache)
{
    memset(cache->hash, 0, sizeof cache->hash);
    memset(cache->pages, 0, sizeof cache->pages);
    begin_code(cache);
    cache->arena_used = 0;
    cache->block_count = 0;
    cache->exit_count = 0;
    cache->flushes++;
}

const uint8_t *code_cache_leave(const struct code_cache *cache)
{
    return cache->code;
}

const uint8_t *code_cache_look_again(const struct code_cache *cache)
{
    return cache->code + LEAVE_BYTES;
}

const uint8_t *code_cache_find_target(const struct code_cache *cache)
{
    return cache->code + 2 * LEAVE_BYTES;
}

unsigned code_cache_flushes(const struct code_cache *cache)
{
    return cache->flushes;
}
