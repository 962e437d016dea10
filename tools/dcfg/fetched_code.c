#include "tools/dcfg/fetched_code.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct fetched_code {
    struct fetched_row *chunks;
    size_t count, capacity;
    struct hash_index index;
    uint32_t recent; /* number of the chunk fetched last */
};

struct fetched_code *fetched_code_new(struct bt_error *error)
{
    struct fetched_code *code = calloc(1, sizeof *code);
    if (!code)
        bt_fail(error, BT_MEMORY, "no memory for the fetches");
    return code;
}

void fetched_code_free(struct fetched_code *code)
{
    if (code) {
        hash_index_clear(&code->index);
        free(code->chunks);
    }
    free(code);
}

/* --- counting -------------------------------------------------------------------------------- */

static bool is_chunk(const struct fetched_row *chunk, const struct record *record)
{
    return chunk->address == record->address && chunk->size == record->size;
}

/* The chunk of a fetch, new if it is the first; NULL without memory. */
static struct fetched_row *chunk_of(struct fetched_code *code, const struct record *record)
{
    if (code->count > 0 && is_chunk(&code->chunks[code->recent], record))
        return &code->chunks[code->recent];
    uint32_t hash = hash_pair(record->address, record->size);
    struct hash_search search = hash_search(&code->index, hash);
    while (hash_search_next(&search))
        if (is_chunk(&code->chunks[search.number], record)) {
            code->recent = search.number;
            return &code->chunks[search.number];
        }
    struct fetched_row *grown =
        grow_array(code->chunks, &code->capacity, code->count + 1, sizeof *grown);
    if (grown)
        code->chunks = grown;
    if (!grown || code->count > HASH_INDEX_NUMBER_MAX ||
        hash_index_add(&code->index, hash, (uint32_t)code->count) < 0)
        return NULL;
    code->recent = (uint32_t)code->count;
    grown[code->count] = (struct fetched_row){.address = record->address,
                                              .size = record->size,
                                              .chunks = 1,
                                              .bytes = record->size,
                                              .first = UINT64_MAX};
    return &grown[code->count++];
}

int fetched_code_put(struct fetched_code *code, const struct batch *batch, struct bt_error *error)
{
    uint64_t tick = batch->first_tick;
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        tick += i > 0 ? record->time : 0;
        if (record->type != REQUEST_FETCH)
            continue;
        struct fetched_row *chunk = chunk_of(code, record);
        if (!chunk)
            return bt_fail(error, BT_MEMORY, "no memory for more than %zu chunks", code->count);
        chunk->fetches++;
        chunk->first = tick < chunk->first ? tick : chunk->first;
        chunk->last = tick > chunk->last ? tick : chunk->last;
        chunk->processors[record->processor >> 6] |= UINT64_C(1) << (record->processor & 63);
    }
    return 0;
}

/* --- rows ------------------------------------------------------------------------------------ */

static int by_address(const void *left, const void *right)
{
    const struct fetched_row *a = left;
    const struct fetched_row *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

struct fetched_row *fetched_code_rows(const struct fetched_code *code, size_t *count)
{
    struct fetched_row *rows = malloc((code->count + 1) * sizeof *rows);
    *count = code->count;
    if (!rows || code->count == 0)
        return rows;
    memcpy(rows, code->chunks, code->count * sizeof *rows);
    qsort(rows, code->count, sizeof *rows, by_address);
    return rows;
}

/* The first function that ends after an address and begins before `end`; NULL: none. */
static const struct image_symbol *function_in(const struct image_names *names, size_t images,
                                              uint64_t address, uint64_t end)
{
    const struct image_symbol *found = NULL;
    for (size_t i = 0; i < images; i++) {
        size_t low = 0, high = names[i].symbol_count;
        while (low < high) { /* the first symbol after the address */
            size_t middle = low + (high - low) / 2;
            if (names[i].symbols[middle].address <= address)
                low = middle + 1;
            else
                high = middle;
        }
        const struct image_symbol *symbols = names[i].symbols;
        if (low > 0 && address - symbols[low - 1].address < symbols[low - 1].size) {
            size_t at = low - 1; /* of several names the first one */
            while (at > 0 && symbols[at - 1].address == symbols[at].address)
                at--;
            return &symbols[at];
        }
        if (low < names[i].symbol_count && symbols[low].address < end &&
            (!found || symbols[low].address < found->address))
            found = &symbols[low];
    }
    return found;
}

/* Adds a chunk to the row of its function. covered: where the bytes counted so far end. */
static void merge(struct fetched_row *row, const struct fetched_row *chunk, uint64_t *covered)
{
    uint64_t end = chunk->address + chunk->size;
    uint64_t from = chunk->address > row->address ? chunk->address : row->address;
    uint64_t to = end < row->address + row->size ? end : row->address + row->size;
    from = from > *covered ? from : *covered;
    row->bytes += to > from ? to - from : 0;
    *covered = to > *covered ? to : *covered;
    row->fetches += chunk->fetches;
    row->chunks++;
    row->first = chunk->first < row->first ? chunk->first : row->first;
    row->last = chunk->last > row->last ? chunk->last : row->last;
    for (unsigned i = 0; i < 4; i++)
        row->processors[i] |= chunk->processors[i];
}

struct fetched_row *fetched_code_by_function(const struct fetched_code *code,
                                             const struct image_names *names, size_t images,
                                             size_t *count)
{
    struct fetched_row *rows = fetched_code_rows(code, count);
    size_t made = 0;
    uint64_t covered = 0;
    for (size_t i = 0; rows && i < *count; i++) {
        const struct fetched_row chunk = rows[i];
        const struct image_symbol *symbol =
            function_in(names, images, chunk.address, chunk.address + chunk.size);
        if (!symbol) {
            rows[made++] = chunk;
            continue;
        }
        if (made == 0 || !rows[made - 1].name || rows[made - 1].address != symbol->address) {
            covered = symbol->address;
            rows[made++] = (struct fetched_row){.address = symbol->address,
                                                .size = symbol->size,
                                                .first = UINT64_MAX,
                                                .name = symbol->name};
        }
        merge(&rows[made - 1], &chunk, &covered);
    }
    *count = made;
    return rows;
}
