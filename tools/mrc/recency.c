#include "tools/mrc/recency.h"

#include "tools/common/large_memory.h"

#define ONES4    1, 1, 1, 1
#define ONES16   ONES4, ONES4, ONES4, ONES4
#define ZEROES4  0, 0, 0, 0
#define ZEROES16 ZEROES4, ZEROES4, ZEROES4, ZEROES4

const uint16_t recency_ones16[64] = {ZEROES16, ZEROES16, ONES16, ONES16};
const uint32_t recency_ones32[32] = {ZEROES16, ONES16};

static unsigned levels_of(uint32_t slots)
{
    unsigned levels = 0;
    while (slots > UINT32_C(1) << (RECENCY_ROW_BITS + RECENCY_LEVEL_BITS * levels))
        levels++;
    return levels;
}

/* Number of counts of a level, in whole rows. */
static size_t level_counts(uint32_t slots, unsigned level)
{
    const size_t counts = (size_t)slots >> (RECENCY_ROW_BITS + RECENCY_LEVEL_BITS * level);
    return (counts + 15) & ~(size_t)15;
}

/* Number of set bits before a slot if slots 1 to live are set. */
static uint32_t front(uint32_t slot, uint32_t live)
{
    return slot == 0 ? 0 : slot > live ? live : slot - 1;
}

static void fill(struct recency *recency)
{
    const uint32_t live = recency->live;
    for (uint32_t slot = 1; slot <= live; slot++)
        recency->bits[slot >> RECENCY_WORD_BITS] |= UINT64_C(1) << (slot & 63);
    for (uint32_t word = 0; word <= live >> RECENCY_WORD_BITS; word++) {
        const uint32_t row = word >> (RECENCY_ROW_BITS - RECENCY_WORD_BITS) << RECENCY_ROW_BITS;
        recency->words[word] =
            (uint16_t)(front(word << RECENCY_WORD_BITS, live) - front(row, live));
    }
    for (unsigned level = 0; level < recency->levels; level++) {
        const unsigned shift = RECENCY_ROW_BITS + RECENCY_LEVEL_BITS * level;
        for (uint32_t row = 0; row <= live >> shift; row++)
            recency->rows[level][row] =
                front(row << shift, live) - front((row & ~15u) << shift, live);
    }
}

int recency_init(struct recency *recency, uint32_t slots, uint32_t live, struct bt_error *error)
{
    struct recency made = {
        .levels = levels_of(slots), .slots = slots, .next = live + 1, .live = live};
    const size_t bits = (size_t)slots / 8;
    made.bytes = bits + bits / 4;
    for (unsigned level = 0; level < made.levels; level++)
        made.bytes += level_counts(slots, level) * sizeof *made.rows[0];
    made.memory = large_memory_grow(NULL, 0, made.bytes);
    if (!made.memory)
        return bt_fail(error, BT_MEMORY, "no memory for the order of %u references", slots);
    made.bits = made.memory;
    made.words = (uint16_t *)(made.bits + slots / 64);
    uint32_t *rows = (uint32_t *)(made.words + slots / 64);
    for (unsigned level = 0; level < made.levels; level++) {
        made.rows[level] = rows;
        rows += level_counts(slots, level);
    }
    fill(&made);
    *recency = made;
    return 0;
}

void recency_free(struct recency *recency)
{
    large_memory_free(recency->memory, recency->bytes);
    recency->memory = NULL;
}

void recency_enter(struct recency *recency)
{
    uint32_t in_front = recency->live;
    for (unsigned level = recency->levels; level-- > 0;) {
        const unsigned shift = RECENCY_ROW_BITS + RECENCY_LEVEL_BITS * level;
        uint32_t *count = &recency->rows[level][recency->next >> shift];
        if ((recency->next & ((UINT32_C(1) << shift) - 1)) == 0)
            *count = in_front;
        in_front -= *count;
    }
    recency->words[recency->next >> RECENCY_WORD_BITS] = (uint16_t)in_front;
}
