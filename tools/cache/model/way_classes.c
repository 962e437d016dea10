#include "tools/cache/model/way_classes.h"

#include <stdlib.h>

#define LEVELS_MAX 6u /* 64^6 exceeds any number of ways */

/* A class of a set is a bitmap of its ways, below one of the words that are not 0, and so on up to
 * a single word. */
struct way_classes {
    uint32_t ways;
    unsigned classes;
    unsigned levels;
    uint32_t offsets[LEVELS_MAX]; /* of a level's first word in a bitmap; level 0: the ways */
    uint32_t words;               /* of a bitmap */
    uint64_t *bits;               /* bitmaps of set 0, of set 1, ... */
    uint8_t *youngest;            /* by set: the bitmap that is class 0 */
};

struct way_classes *way_classes_new(uint32_t sets, uint32_t ways, unsigned classes)
{
    struct way_classes *ages = calloc(1, sizeof *ages);
    if (!ages)
        return NULL;
    ages->ways = ways;
    ages->classes = classes;
    uint32_t count = ways;
    do {
        count = (count + 63) / 64;
        ages->offsets[ages->levels++] = ages->words;
        ages->words += count;
    } while (count > 1);
    ages->bits = calloc((size_t)sets * classes, ages->words * sizeof *ages->bits);
    ages->youngest = calloc(sets, sizeof *ages->youngest);
    if (!ages->bits || !ages->youngest) {
        way_classes_free(ages);
        return NULL;
    }
    return ages;
}

void way_classes_free(struct way_classes *ages)
{
    if (!ages)
        return;
    free(ages->bits);
    free(ages->youngest);
    free(ages);
}

static uint64_t *bitmap_of(const struct way_classes *ages, size_t set, unsigned number)
{
    unsigned bitmap = (ages->youngest[set] + number) % ages->classes;
    return ages->bits + (set * ages->classes + bitmap) * ages->words;
}

static void clear_way(const struct way_classes *ages, uint64_t *bitmap, uint32_t way)
{
    for (unsigned level = 0; level < ages->levels; level++, way /= 64) {
        uint64_t *word = &bitmap[ages->offsets[level] + way / 64];
        *word &= ~(1ull << (way % 64));
        if (*word != 0)
            return;
    }
}

static void set_way(const struct way_classes *ages, uint64_t *bitmap, uint32_t way)
{
    for (unsigned level = 0; level < ages->levels; level++, way /= 64)
        bitmap[ages->offsets[level] + way / 64] |= 1ull << (way % 64);
}

void way_classes_put(struct way_classes *ages, size_t slot, unsigned number)
{
    size_t set = slot / ages->ways;
    uint32_t way = (uint32_t)(slot % ages->ways);
    for (unsigned i = 0; i < ages->classes; i++) {
        uint64_t *bitmap = bitmap_of(ages, set, i);
        if (i == number)
            set_way(ages, bitmap, way);
        else if (bitmap[way / 64] >> (way % 64) & 1)
            clear_way(ages, bitmap, way);
    }
}

uint32_t way_classes_oldest(struct way_classes *ages, uint32_t set)
{
    const uint64_t *bitmap;
    while ((bitmap = bitmap_of(ages, set, ages->classes - 1))[ages->words - 1] == 0)
        ages->youngest[set] = (uint8_t)((ages->youngest[set] + ages->classes - 1) % ages->classes);
    uint32_t way = 0;
    for (unsigned level = ages->levels; level-- > 0;)
        way = way * 64 + (uint32_t)__builtin_ctzll(bitmap[ages->offsets[level] + way]);
    return way;
}
