/*
 * The evaluation of expressions, 64 records at a time: a test is one loop over a column of its
 * field, which the compiler vectorizes, and makes a word with a bit a record; "and" and "or" join
 * words.
 */
#include "formats/record/expression_internal.h"

#include <string.h>

#define BLOCK 64u

#define ALL_BITS UINT64_MAX

/* Up to 64 successive records. */
struct block {
    const struct record *records; /* BLOCK, the excess ones are zero */
    size_t count;
    uint64_t index;
    bool has_addresses, has_fields; /* the columns are filled */
    uint32_t addresses[BLOCK];
    uint32_t fields[BLOCK]; /* type, size, attribute, processor, from the lowest byte */
    uint64_t ticks[BLOCK];  /* only with times in the expression */
};

/* Offset of a field of 8 bits in block.fields. */
static unsigned shift_of(enum expression_field field)
{
    switch (field) {
    case FIELD_TYPE:
        return 0;
    case FIELD_SIZE:
        return 8;
    case FIELD_ATTRIBUTE:
        return 16;
    default:
        return 24; /* FIELD_PROCESSOR */
    }
}

/* --- preparation ----------------------------------------------------------------------------- */

static void set_ranges(struct expression_node *node, const struct interval_set *set)
{
    node->range_count = 0;
    if (set->count > EXPRESSION_RANGES)
        return;
    for (size_t i = 0; i < set->count; i++)
        node->ranges[node->range_count++] = (struct expression_range){
            .low = (uint32_t)set->intervals[i].low,
            .span = (uint32_t)(set->intervals[i].high - set->intervals[i].low)};
}

/* A table of a field of 8 bits; or a range, if that is all. */
static void set_matches(struct expression_node *node)
{
    unsigned low = 0;
    unsigned high = 255;
    node->range_count = 0;
    for (unsigned i = 0; i < 256; i++)
        node->matches[i] = interval_set_has(&node->values, i & node->mask);
    while (low < 255 && !node->matches[low])
        low++;
    while (high > low && !node->matches[high])
        high--;
    if (!memchr(node->matches + low, 0, high - low + 1))
        node->ranges[node->range_count++] =
            (struct expression_range){.low = low, .span = high - low};
}

void expression_prepare(struct expression_node *node)
{
    for (struct expression_node *child = node->children; child; child = child->next)
        expression_prepare(child);
    if (node->kind == EXPRESSION_TEST && node->field == FIELD_ADDRESS)
        set_ranges(node, &node->values);
    else if (node->kind == EXPRESSION_TEST && expression_highest(node->field) == UINT8_MAX)
        set_matches(node);
}

/* --- one block ------------------------------------------------------------------------------- */

/* Bit i: hits[i], which is 0 or 1. */
static inline uint64_t pack(const uint8_t hits[BLOCK])
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < BLOCK; i += 8) /* gathers the lowest bits of 8 bytes in the highest */
        bits |= (bytes_get64(hits + i) * 0x0102040810204080u >> 56) << i;
    return bits;
}

static inline void load_addresses(struct block *block)
{
    if (block->has_addresses)
        return;
    block->has_addresses = true;
    for (unsigned i = 0; i < BLOCK; i++)
        block->addresses[i] = block->records[i].address;
}

static inline void load_fields(struct block *block)
{
    if (block->has_fields)
        return;
    block->has_fields = true;
    for (unsigned i = 0; i < BLOCK; i++)
        block->fields[i] = block->records[i].type | (uint32_t)block->records[i].size << 8 |
                           (uint32_t)block->records[i].attribute << 16 |
                           (uint32_t)block->records[i].processor << 24;
}

/* Values whose bits after the shift and the mask are in one of the node's ranges. */
static inline uint64_t in_ranges(const struct expression_node *node, const uint32_t values[BLOCK],
                                 unsigned shift, uint32_t mask)
{
    uint64_t bits = 0;
    for (unsigned range = 0; range < node->range_count; range++) {
        const uint32_t low = node->ranges[range].low;
        const uint32_t span = node->ranges[range].span;
        uint8_t hits[BLOCK];
        for (unsigned i = 0; i < BLOCK; i++)
            hits[i] = (values[i] >> shift & mask) - low <= span;
        bits |= pack(hits);
    }
    return bits;
}

static inline uint64_t test_address(const struct expression_node *node, struct block *block)
{
    load_addresses(block);
    const uint32_t mask = (uint32_t)node->mask;
    if (node->values.count <= EXPRESSION_RANGES)
        return in_ranges(node, block->addresses, 0, mask);
    uint8_t hits[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++)
        hits[i] = interval_set_has(&node->values, block->addresses[i] & mask);
    return pack(hits);
}

static inline uint64_t test_field(const struct expression_node *node, struct block *block)
{
    const unsigned shift = shift_of(node->field);
    load_fields(block);
    if (node->range_count > 0)
        return in_ranges(node, block->fields, shift, UINT8_MAX);
    uint8_t hits[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++)
        hits[i] = node->matches[block->fields[i] >> shift & UINT8_MAX];
    return pack(hits);
}

/* Ticks and indices ascend: most blocks are inside or outside as a whole. */
static uint64_t test_place(const struct expression_node *node, const struct block *block)
{
    const bool time = node->field == FIELD_TIME;
    const uint64_t first = time ? block->ticks[0] : block->index;
    const uint64_t last = time ? block->ticks[block->count - 1] : block->index + block->count - 1;
    if (node->mask == UINT64_MAX && first <= last) {
        if (interval_set_covers(&node->values, first, last))
            return ALL_BITS;
        if (!interval_set_meets(&node->values, first, last))
            return 0;
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < block->count; i++) {
        uint64_t value = time ? block->ticks[i] : block->index + i;
        bits |= (uint64_t)interval_set_has(&node->values, value & node->mask) << i;
    }
    return bits;
}

/* Records of the block that match; bits after its last record may be set. */
static uint64_t evaluate(const struct expression_node *node, struct block *block)
{
    uint64_t bits;
    switch (node->kind) {
    case EXPRESSION_AND:
        bits = ALL_BITS;
        for (node = node->children; node && bits != 0; node = node->next)
            bits &= evaluate(node, block);
        return bits;
    case EXPRESSION_OR:
        bits = 0;
        for (node = node->children; node && bits != ALL_BITS; node = node->next)
            bits |= evaluate(node, block);
        return bits;
    default:
        if (node->field == FIELD_ADDRESS)
            return test_address(node, block);
        if (node->field == FIELD_TIME || node->field == FIELD_INDEX)
            return test_place(node, block);
        return test_field(node, block);
    }
}

/* The first tick of the next block. */
static uint64_t set_ticks(struct block *block, uint64_t tick)
{
    for (size_t i = 0; i < block->count; i++) {
        tick += i ? block->records[i].time : 0;
        block->ticks[i] = tick;
    }
    return tick;
}

size_t expression_select(const struct expression *expression, const struct batch *batch,
                         uint64_t first_index, uint64_t *selected)
{
    struct block block = {.index = first_index};
    struct record padded[BLOCK];
    uint64_t tick = batch->first_tick;
    size_t matches = 0;
    for (size_t done = 0; done < batch->count; done += block.count) {
        block.records = batch->records + done;
        block.count = batch->count - done < BLOCK ? batch->count - done : BLOCK;
        block.has_addresses = block.has_fields = false;
        if (expression->on_clock && done > 0)
            tick += block.records[0].time;
        uint64_t live = ALL_BITS >> (BLOCK - block.count);
        if (block.count < BLOCK) {
            memset(padded, 0, sizeof padded);
            memcpy(padded, block.records, block.count * sizeof *padded);
            block.records = padded;
        }
        if (expression->on_clock)
            tick = set_ticks(&block, tick);
        uint64_t bits = expression->root ? evaluate(expression->root, &block) & live : live;
        matches += (size_t)__builtin_popcountll(bits);
        *selected++ = bits;
        block.index += block.count;
    }
    return matches;
}

/* --- one record ------------------------------------------------------------------------------ */

static uint64_t value_of(enum expression_field field, const struct record *record, uint64_t index,
                         uint64_t tick)
{
    switch (field) {
    case FIELD_TYPE:
        return record->type;
    case FIELD_PROCESSOR:
        return record->processor;
    case FIELD_ADDRESS:
        return record->address;
    case FIELD_SIZE:
        return record->size;
    case FIELD_ATTRIBUTE:
        return record->attribute;
    case FIELD_TIME:
        return tick;
    default:
        return index;
    }
}

static bool matches(const struct expression_node *node, const struct record *record, uint64_t index,
                    uint64_t tick)
{
    if (node->kind == EXPRESSION_TEST)
        return interval_set_has(&node->values,
                                value_of(node->field, record, index, tick) & node->mask);
    const bool conjunction = node->kind == EXPRESSION_AND;
    for (node = node->children; node; node = node->next)
        if (matches(node, record, index, tick) != conjunction)
            return !conjunction;
    return conjunction;
}

bool expression_match(const struct expression *expression, const struct record *record,
                      uint64_t index, uint64_t tick)
{
    return !expression->root || matches(expression->root, record, index, tick);
}
