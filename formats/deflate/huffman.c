#include "formats/deflate/huffman.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 15u

struct leaf {
    uint32_t frequency;
    uint16_t symbol;
};

static int compare_leaves(const void *left, const void *right)
{
    const struct leaf *a = left;
    const struct leaf *b = right;
    if (a->frequency != b->frequency)
        return a->frequency < b->frequency ? -1 : 1;
    return (int)a->symbol - (int)b->symbol;
}

/*
 * The depth of every leaf of the Huffman tree over leaves sorted by frequency: two queues, one of
 * leaves and one of inner nodes, are both sorted by construction, so that each step looks at their
 * heads only.
 */
static void tree_depths(const struct leaf *leaves, size_t count, unsigned *depths)
{
    uint64_t weights[2 * HUFFMAN_SYMBOLS_MAX];
    uint16_t parents[2 * HUFFMAN_SYMBOLS_MAX];
    unsigned node_depths[2 * HUFFMAN_SYMBOLS_MAX];
    for (size_t i = 0; i < count; i++)
        weights[i] = leaves[i].frequency;
    size_t next_leaf = 0;
    size_t next_inner = count;
    for (size_t node = count; node < 2 * count - 1; node++) {
        weights[node] = 0;
        for (int child = 0; child < 2; child++) {
            size_t least = next_leaf < count &&
                                   (next_inner >= node || weights[next_leaf] <= weights[next_inner])
                               ? next_leaf++
                               : next_inner++;
            weights[node] += weights[least];
            parents[least] = (uint16_t)node;
        }
    }
    node_depths[2 * count - 2] = 0;
    for (size_t node = 2 * count - 2; node-- > 0;)
        node_depths[node] = node_depths[parents[node]] + 1;
    memcpy(depths, node_depths, count * sizeof *depths);
}

/*
 * The number of codes of each length, at most max_length bits. Longer ones are cut to max_length,
 * which overfills the code; each repair lengthens a shorter code to make room.
 */
static void count_lengths(const unsigned *depths, size_t count, unsigned max_length,
                          uint32_t counts[LENGTH_MAX + 1])
{
    uint32_t used = 0; /* in units of leaves at depth max_length, of which there are 2^max_length */
    memset(counts, 0, (LENGTH_MAX + 1) * sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        unsigned length = depths[i] < max_length ? depths[i] : max_length;
        counts[length]++;
        used += 1u << (max_length - length);
    }
    while (used > 1u << max_length) {
        unsigned length = max_length - 1;
        while (counts[length] == 0)
            length--;
        counts[length]--;
        counts[length + 1] += 2;
        counts[max_length]--;
        used--;
    }
}

static uint16_t reverse_bits(uint32_t value, unsigned length)
{
    uint32_t reversed = 0;
    for (unsigned i = 0; i < length; i++)
        reversed |= (value >> i & 1u) << (length - 1 - i);
    return (uint16_t)reversed;
}

/* RFC 1951, 3.2.2: codes of one length are consecutive, in the order of their symbols. */
static void assign_codes(const uint32_t counts[LENGTH_MAX + 1], size_t symbols,
                         struct huffman_code *codes)
{
    uint32_t next[LENGTH_MAX + 2] = {0};
    for (unsigned length = 1; length <= LENGTH_MAX; length++)
        next[length + 1] = (next[length] + counts[length]) << 1;
    for (size_t symbol = 0; symbol < symbols; symbol++) {
        unsigned length = codes[symbol].length;
        if (length > 0)
            codes[symbol].bits = reverse_bits(next[length]++, length);
    }
}

void huffman_build(const uint32_t *frequencies, size_t count, unsigned max_length,
                   struct huffman_code *codes)
{
    struct leaf leaves[HUFFMAN_SYMBOLS_MAX];
    unsigned depths[HUFFMAN_SYMBOLS_MAX];
    uint32_t counts[LENGTH_MAX + 1] = {0};
    size_t used = 0;
    memset(codes, 0, count * sizeof *codes);
    for (size_t symbol = 0; symbol < count; symbol++)
        if (frequencies[symbol] > 0)
            leaves[used++] =
                (struct leaf){.frequency = frequencies[symbol], .symbol = (uint16_t)symbol};
    if (used == 1)
        codes[leaves[0].symbol].length = 1;
    if (used < 2)
        return;
    qsort(leaves, used, sizeof *leaves, compare_leaves);
    tree_depths(leaves, used, depths);
    count_lengths(depths, used, max_length, counts);
    size_t leaf = 0; /* the rarest first: they get the longest codes */
    for (unsigned length = max_length; length > 0; length--)
        for (uint32_t i = 0; i < counts[length]; i++)
            codes[leaves[leaf++].symbol].length = (uint8_t)length;
    assign_codes(counts, count, codes);
}
