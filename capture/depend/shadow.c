#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "capture/depend/shadow.h"

#include "formats/base/grow.h"

#include <string.h>
#include <sys/mman.h>

#define CHUNK_GRANULES (SHADOW_CHUNK / SHADOW_GRANULE)
#define CHUNK_BYTES    (CHUNK_GRANULES * sizeof(shadow_entry))
#define HUGE_PAGE      ((size_t)2 << 20)
#define ARENA_BYTES    (8 * HUGE_PAGE)

/* Memory that is backed when it is first written; NULL: none. */
static void *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int shadow_init(struct shadow *shadow, unsigned address_bits, struct bt_error *error)
{
    /* one more, because an access may begin at the last byte */
    *shadow = (struct shadow){.chunk_limit = ((size_t)1 << (address_bits - SHADOW_CHUNK_BITS)) + 1};
    shadow->chunks = reserve(shadow->chunk_limit * sizeof(shadow_entry *));
    if (!shadow->chunks)
        return bt_fail_errno(error, "no memory for shadow memory");
    return 0;
}

void shadow_clear(struct shadow *shadow)
{
    for (size_t i = 0; i < shadow->arena_count; i++)
        munmap(shadow->arenas[i], ARENA_BYTES);
    if (shadow->chunks)
        munmap(shadow->chunks, shadow->chunk_limit * sizeof(shadow_entry *));
    free(shadow->arenas);
    free(shadow->splits);
    *shadow = (struct shadow){.chunks = NULL};
}

/* A new arena, of huge pages: misses of the TLB cost more than anything else here. */
static bool add_arena(struct shadow *shadow)
{
    uint8_t **larger = grow_array(shadow->arenas, &shadow->arena_capacity, shadow->arena_count + 1,
                                  sizeof *larger);
    if (!larger)
        return false;
    shadow->arenas = larger;
    uint8_t *memory = reserve(ARENA_BYTES + HUGE_PAGE);
    if (!memory)
        return false;
    size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0)
        munmap(memory, before);
    if (before < HUGE_PAGE)
        munmap(memory + before + ARENA_BYTES, HUGE_PAGE - before);
    shadow->arena = memory + before;
    shadow->arena_rest = ARENA_BYTES;
    madvise(shadow->arena, ARENA_BYTES, MADV_HUGEPAGE);
    larger[shadow->arena_count++] = shadow->arena;
    return true;
}

shadow_entry *shadow_make(struct shadow *shadow, uint64_t address)
{
    shadow_entry *chunk = shadow->unused;
    if (chunk) {
        memcpy(&shadow->unused, chunk, sizeof shadow->unused);
        chunk[0] = 0;
    } else if (shadow->arena_rest > 0 || add_arena(shadow)) {
        chunk = (shadow_entry *)(void *)shadow->arena;
        shadow->arena += CHUNK_BYTES;
        shadow->arena_rest -= CHUNK_BYTES;
    } else {
        return NULL;
    }
    shadow->chunk_bytes += CHUNK_BYTES;
    shadow->chunks[address >> SHADOW_CHUNK_BITS] = chunk;
    return shadow_find(shadow, address);
}

/* --- splits ------------------------------------------------------------------------------------
 */

void shadow_release(struct shadow *shadow, shadow_entry split)
{
    shadow_bytes_of(shadow, split)[0] = shadow->free_split;
    shadow->free_split = (uint32_t)shadow_time(split);
}

shadow_entry shadow_split(struct shadow *shadow, shadow_entry entry)
{
    uint32_t number = shadow->free_split;
    if (number) {
        shadow->free_split = (uint32_t)shadow->splits[number].bytes[0];
    } else {
        const size_t first = shadow->split_count ? shadow->split_count : 1;
        struct shadow_split *larger =
            first < UINT32_MAX
                ? grow_array(shadow->splits, &shadow->split_capacity, first + 1, sizeof *larger)
                : NULL;
        if (!larger)
            return 0;
        shadow->splits = larger;
        shadow->split_count = first + 1;
        number = (uint32_t)first;
    }
    for (unsigned i = 0; i < SHADOW_GRANULE; i++)
        shadow->splits[number].bytes[i] = entry;
    return shadow_entry_of(SHADOW_SPLIT, number);
}

/* --- entries -----------------------------------------------------------------------------------
 */

/* Sets bytes [from, to) of a granule. 0 or BT_MEMORY. */
static int set_part(struct shadow *shadow, shadow_entry *granule, unsigned from, unsigned to,
                    shadow_entry entry)
{
    if (to - from == SHADOW_GRANULE) {
        if (shadow_is_split(*granule))
            shadow_release(shadow, *granule);
        *granule = entry;
        return 0;
    }
    if (!shadow_is_split(*granule)) {
        if (*granule == entry)
            return 0;
        const shadow_entry made = shadow_split(shadow, *granule);
        if (!made)
            return BT_MEMORY;
        *granule = made;
    }
    for (unsigned i = from; i < to; i++)
        shadow_bytes_of(shadow, *granule)[i] = entry;
    return 0;
}

int shadow_set(struct shadow *shadow, uint64_t address, uint64_t size, shadow_entry entry)
{
    for (uint64_t at = address, end = address + size, next; at < end; at = next) {
        next = shadow_granule_end(at, end);
        shadow_entry *granule = shadow_get(shadow, at);
        const unsigned from = at % SHADOW_GRANULE;
        if (!granule || set_part(shadow, granule, from, from + (unsigned)(next - at), entry) < 0)
            return BT_MEMORY;
    }
    return 0;
}

/* Forgets [at, end), which is within a chunk that has entries. */
static void forget_within(struct shadow *shadow, uint64_t at, uint64_t end)
{
    for (uint64_t next; at < end; at = next) {
        shadow_entry *granule = shadow_find(shadow, at);
        const unsigned from = at % SHADOW_GRANULE;
        next = shadow_granule_end(at, end);
        if (!*granule)
            continue;
        /* without memory for a split the whole granule is forgotten: nothing untrue remains */
        if (set_part(shadow, granule, from, from + (unsigned)(next - at), 0) < 0)
            *granule = 0;
    }
}

/* Keeps a chunk without entries for another address. */
static void retire(struct shadow *shadow, uint64_t address)
{
    shadow_entry **chunk = &shadow->chunks[address >> SHADOW_CHUNK_BITS];
    memcpy(*chunk, &shadow->unused, sizeof shadow->unused);
    shadow->unused = *chunk;
    shadow->chunk_bytes -= CHUNK_BYTES;
    *chunk = NULL;
}

void shadow_forget(struct shadow *shadow, uint64_t address, uint64_t size)
{
    const uint64_t limit = (uint64_t)shadow->chunk_limit << SHADOW_CHUNK_BITS;
    if (address >= limit)
        return;
    const uint64_t end = size < limit - address ? address + size : limit;
    for (uint64_t at = address, next; at < end; at = next) {
        next = (at | (SHADOW_CHUNK - 1)) + 1;
        if (next > end)
            next = end;
        if (!shadow->chunks[at >> SHADOW_CHUNK_BITS])
            continue;
        forget_within(shadow, at, next);
        if (next - at == SHADOW_CHUNK)
            retire(shadow, at);
    }
}

int shadow_move(struct shadow *shadow, uint64_t from, uint64_t to, uint64_t size)
{
    for (uint64_t at = 0, next; at < size; at = next) {
        shadow_entry *source = shadow_find(shadow, from + at);
        next = source ? at + SHADOW_GRANULE : at + SHADOW_CHUNK - (from + at) % SHADOW_CHUNK;
        if (!source || !*source)
            continue;
        shadow_entry *target = shadow_get(shadow, to + at);
        if (!target)
            return BT_MEMORY;
        *target = *source;
        *source = 0;
    }
    return 0;
}

size_t shadow_bytes(const struct shadow *shadow)
{
    return shadow->chunk_bytes + shadow->split_capacity * sizeof *shadow->splits;
}
