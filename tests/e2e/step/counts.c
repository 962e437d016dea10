#include "tests/e2e/step/counts.h"

#include "tests/e2e/step/code.h"

#include <inttypes.h>
#include <stdlib.h>

static struct count *slot_of(struct count *slots, size_t slot_count, uint32_t address)
{
    size_t slot = address * UINT32_C(2654435761) & (slot_count - 1);
    while (slots[slot].used && slots[slot].address != address)
        slot = (slot + 1) & (slot_count - 1);
    return &slots[slot];
}

struct count *counts_find(struct counts *counts, uint32_t address)
{
    enum { FIRST_SLOTS = 4096 };
    if (counts->used * 2 >= counts->slot_count) {
        size_t slot_count = counts->slot_count ? counts->slot_count * 2 : FIRST_SLOTS;
        struct count *slots = calloc(slot_count, sizeof *slots);
        if (!slots)
            return NULL;
        for (size_t i = 0; i < counts->slot_count; i++)
            if (counts->slots[i].used)
                *slot_of(slots, slot_count, counts->slots[i].address) = counts->slots[i];
        free(counts->slots);
        counts->slots = slots;
        counts->slot_count = slot_count;
    }
    struct count *row = slot_of(counts->slots, counts->slot_count, address);
    if (!row->used) {
        counts->used++;
        row->used = 1;
        row->address = address;
    }
    return row;
}

static int compare_rows(const void *a, const void *b)
{
    const struct count *left = a;
    const struct count *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

int counts_print(const struct counts *counts, FILE *file)
{
    size_t rows = 0;
    struct count *sorted = malloc((counts->used + 1) * sizeof *sorted);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < counts->slot_count; i++)
        if (counts->slots[i].count > 0)
            sorted[rows++] = counts->slots[i];
    qsort(sorted, rows, sizeof *sorted, compare_rows);
    for (size_t i = 0; i < rows; i++)
        fprintf(file, "%08" PRIx32 " %u %" PRIu64 " %s\n", sorted[i].address, sorted[i].size,
                sorted[i].count, code_kind_name(sorted[i].kind));
    free(sorted);
    return 0;
}

void counts_clear(struct counts *counts)
{
    free(counts->slots);
    *counts = (struct counts){.slots = NULL};
}
