#include "tools/plot/sharing.h"

#include "formats/base/power.h"
#include "formats/record/reference.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_FIRST (1u << 12) /* initial number of slots, a power of 2 */
#define WRITTEN     (UINT64_C(1) << 63)

/* The use of a line by a processor. */
struct use {
    uint64_t key; /* line << 8 | processor; WRITTEN is set if the processor wrote to the line */
    uint64_t references; /* 0: empty slot */
};

struct sharing {
    struct sharing_settings settings;
    unsigned shift; /* address >> shift is the line */
    struct use *table;
    size_t size; /* number of slots, a power of 2 */
    size_t used;
    struct sharing_counts counts;
};

struct sharing *sharing_new(const struct sharing_settings *settings, struct bt_error *error)
{
    struct sharing *sharing = calloc(1, sizeof *sharing);
    if (sharing) {
        sharing->settings = *settings;
        sharing->shift = power_log2(settings->line);
        sharing->size = TABLE_FIRST;
        sharing->table = calloc(sharing->size, sizeof *sharing->table);
    }
    if (!sharing || !sharing->table) {
        bt_fail(error, BT_MEMORY, "no memory for a table of lines");
        free(sharing);
        return NULL;
    }
    return sharing;
}

void sharing_free(struct sharing *sharing)
{
    if (!sharing)
        return;
    free(sharing->table);
    free(sharing->counts.lines);
    free(sharing->counts.referenced);
    free(sharing);
}

/* The slot of a use, or the slot where it would be inserted. Uses are stored in the table itself:
 * an array with a hash_index takes 35 % longer for 2,500,000 random lines. */
static struct use *find(struct use *table, size_t size, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & (size - 1);
    while (table[at].references > 0 && (table[at].key & ~WRITTEN) != key)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static int grow(struct sharing *sharing, struct bt_error *error)
{
    size_t size = sharing->size * 2;
    uint64_t both = 3 * (uint64_t)sharing->size * sizeof *sharing->table;
    if (both > sharing->settings.memory_max)
        return bt_fail(error, BT_MEMORY,
                       "%zu lines and users need more memory than %" PRIu64
                       " MiB: allow more with --max-memory, or take larger lines with --line",
                       sharing->used, sharing->settings.memory_max >> 20);
    struct use *table = calloc(size, sizeof *table);
    if (!table)
        return bt_fail(error, BT_MEMORY, "no memory for a table of %zu lines", size);
    for (size_t i = 0; i < sharing->size; i++)
        if (sharing->table[i].references > 0)
            *find(table, size, sharing->table[i].key & ~WRITTEN) = sharing->table[i];
    free(sharing->table);
    sharing->table = table;
    sharing->size = size;
    return 0;
}

static int count_use(struct sharing *sharing, uint32_t line, uint8_t processor, bool write,
                     struct bt_error *error)
{
    uint64_t key = (uint64_t)line << 8 | processor;
    struct use *use = find(sharing->table, sharing->size, key);
    if (use->references == 0) {
        if (sharing->used >= sharing->size / 4 * 3) {
            int result = grow(sharing, error);
            if (result < 0)
                return result;
            use = find(sharing->table, sharing->size, key);
        }
        use->key = key;
        sharing->used++;
    }
    use->references++;
    if (write)
        use->key |= WRITTEN;
    sharing->counts.references++;
    return 0;
}

int sharing_put(struct sharing *sharing, const struct batch *batch, struct bt_error *error)
{
    uint32_t mask = UINT32_MAX >> sharing->shift; /* line numbers wrap around as addresses do */
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        enum reference_kind kind = reference_kind_of(record->type);
        if (kind == REFERENCE_NONE) {
            sharing->counts.dropped++;
            continue;
        }
        sharing->counts.requests++;
        uint32_t last = (record->address + (reference_bytes(record) - 1)) >> sharing->shift;
        for (uint32_t line = record->address >> sharing->shift;; line = (line + 1) & mask) {
            int result =
                count_use(sharing, line, record->processor, kind == REFERENCE_WRITE, error);
            if (result < 0)
                return result;
            if (line == last)
                break;
        }
    }
    return 0;
}

/* --- summing up --- */

static int compare_uses(const void *a, const void *b)
{
    uint64_t left = ((const struct use *)a)->key & ~WRITTEN;
    uint64_t right = ((const struct use *)b)->key & ~WRITTEN;
    return (left > right) - (left < right);
}

/* Moves all uses to the front, sorted by line. */
static void sort_uses(struct sharing *sharing)
{
    size_t kept = 0;
    for (size_t i = 0; i < sharing->size; i++)
        if (sharing->table[i].references > 0)
            sharing->table[kept++] = sharing->table[i];
    qsort(sharing->table, kept, sizeof *sharing->table, compare_uses);
}

/* Lists the processors; index[] becomes the position of each in the list. */
static void list_processors(struct sharing *sharing, uint8_t index[SHARING_PROCESSORS])
{
    struct sharing_counts *counts = &sharing->counts;
    bool there[SHARING_PROCESSORS] = {false};
    for (size_t i = 0; i < sharing->used; i++)
        there[sharing->table[i].key & 0xff] = true;
    for (unsigned id = 0; id < SHARING_PROCESSORS; id++)
        if (there[id]) {
            index[id] = (uint8_t)counts->processors;
            counts->processor[counts->processors++] = (uint8_t)id;
        }
}

/* Counts a line that the processors of uses[0] to uses[users - 1] use. */
static void count_line(struct sharing_counts *counts, const struct use *uses, size_t users,
                       const uint8_t index[SHARING_PROCESSORS])
{
    struct sharing_users *sum = &counts->users[users];
    bool written = false;
    for (size_t a = 0; a < users; a++) {
        size_t row = (size_t)index[uses[a].key & 0xff] * counts->processors;
        for (size_t b = 0; b < users; b++) {
            counts->lines[row + index[uses[b].key & 0xff]]++;
            counts->referenced[row + index[uses[b].key & 0xff]] += uses[a].references;
        }
        written |= (uses[a].key & WRITTEN) != 0;
        sum->references += uses[a].references;
    }
    sum->lines++;
    sum->written += written;
}

const struct sharing_counts *sharing_finish(struct sharing *sharing, struct bt_error *error)
{
    struct sharing_counts *counts = &sharing->counts;
    uint8_t index[SHARING_PROCESSORS] = {0};
    sort_uses(sharing);
    list_processors(sharing, index);
    size_t cells = (size_t)counts->processors * counts->processors;
    counts->lines = calloc(cells + 1, sizeof *counts->lines);
    counts->referenced = calloc(cells + 1, sizeof *counts->referenced);
    if (!counts->lines || !counts->referenced) {
        bt_fail(error, BT_MEMORY, "no memory for %zu pairs of processors", cells);
        return NULL;
    }
    size_t end;
    for (size_t first = 0; first < sharing->used; first = end) {
        uint64_t line = (sharing->table[first].key & ~WRITTEN) >> 8;
        for (end = first + 1; end < sharing->used; end++)
            if ((sharing->table[end].key & ~WRITTEN) >> 8 != line)
                break;
        count_line(counts, sharing->table + first, end - first, index);
    }
    return counts;
}
