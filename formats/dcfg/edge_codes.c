#include "formats/dcfg/edge_codes.h"

#include "formats/dcfg/phrase_learner.h"

#include <stdlib.h>
#include <string.h>

#define BITS_MAX 32u
/* Rounds of dropping phrases that are not worth their row and assigning the codes again. */
#define PASSES 3

/* A phrase that gets a code. */
struct phrase_leaf {
    uint64_t uses;
    uint32_t before;
    uint32_t phrase;
};

/* Work space for the code of one edge: the leaves of its tree, then the inner nodes. */
struct tree {
    uint64_t *weights;
    uint32_t *parents;
    uint8_t *depths;
};

static int compare_leaves(const void *left, const void *right)
{
    const struct phrase_leaf *a = left;
    const struct phrase_leaf *b = right;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    if (a->uses != b->uses)
        return a->uses < b->uses ? -1 : 1;
    return a->phrase < b->phrase ? -1 : a->phrase > b->phrase;
}

/* The depth of each leaf, rarest leaf first, less than 256: two queues, as in huffman.c. */
static void tree_depths(struct tree *tree, const struct phrase_leaf *leaves, size_t count)
{
    size_t next_leaf = 0;
    size_t next_inner = count;
    for (size_t i = 0; i < count; i++)
        tree->weights[i] = leaves[i].uses;
    for (size_t node = count; node < 2 * count - 1; node++) {
        tree->weights[node] = 0;
        for (int child = 0; child < 2; child++) {
            bool leaf = next_leaf < count && (next_inner >= node || tree->weights[next_leaf] <=
                                                                        tree->weights[next_inner]);
            size_t least = leaf ? next_leaf++ : next_inner++;
            tree->weights[node] += tree->weights[least];
            tree->parents[least] = (uint32_t)node;
        }
    }
    tree->depths[2 * count - 2] = 0;
    for (size_t node = 2 * count - 2; node-- > 0;)
        tree->depths[node] = (uint8_t)(tree->depths[tree->parents[node]] + 1);
}

/*
 * The number of codes of each length. Lengths above BITS_MAX are clipped, which oversubscribes the
 * code; each step of the repair lengthens a shorter code to make room.
 */
static void count_lengths(const uint8_t *depths, size_t count, size_t lengths[BITS_MAX + 1])
{
    uint64_t used = 0; /* of 2^BITS_MAX leaves at the deepest level */
    memset(lengths, 0, (BITS_MAX + 1) * sizeof *lengths);
    for (size_t i = 0; i < count; i++) {
        unsigned length = depths[i] < BITS_MAX ? depths[i] : BITS_MAX;
        lengths[length]++;
        used += (uint64_t)1 << (BITS_MAX - length);
    }
    for (; used > (uint64_t)1 << BITS_MAX; used--) {
        unsigned length = BITS_MAX - 1;
        while (lengths[length] == 0)
            length--;
        lengths[length]--;
        lengths[length + 1] += 2;
        lengths[BITS_MAX]--;
    }
}

/* Assigns codes to the phrases that follow one edge: the most used get the shortest. */
static void assign(struct edge_code *codes, struct tree *tree, const struct phrase_leaf *leaves,
                   size_t count)
{
    size_t lengths[BITS_MAX + 1];
    uint64_t code = 0; /* of BITS_MAX bits */
    tree_depths(tree, leaves, count);
    count_lengths(tree->depths, count, lengths);
    size_t leaf = count;
    for (unsigned bits = 0; bits <= BITS_MAX; bits++)
        for (size_t i = 0; i < lengths[bits]; i++) {
            codes[leaves[--leaf].phrase] =
                (struct edge_code){.code = (uint32_t)code, .bits = (uint8_t)bits, .used = true};
            code += (uint64_t)1 << (BITS_MAX - bits);
        }
}

/* Assigns codes to all phrases that are used. */
static void assign_all(struct edge_code *codes, const struct phrases *phrases,
                       struct phrase_leaf *leaves, struct tree *tree)
{
    size_t count = 0;
    memset(codes, 0, phrases->count * sizeof *codes);
    for (size_t i = 1; i < phrases->count; i++) {
        const struct phrase *phrase = &phrases->items[i];
        if (phrase->uses > 0)
            leaves[count++] = (struct phrase_leaf){
                .uses = phrase->uses, .before = phrase->before, .phrase = (uint32_t)i};
    }
    qsort(leaves, count, sizeof *leaves, compare_leaves);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && leaves[end].before == leaves[begin].before;)
            end++;
        assign(codes, tree, leaves + begin, end - begin);
    }
}

/* The bits that a part has, or would need if it were used as often as the phrase. */
static uint64_t part_bits(const struct edge_code *codes, const struct phrases *phrases,
                          uint32_t part, uint64_t uses)
{
    if (codes[part].used)
        return codes[part].bits;
    uint64_t bits = 1;
    while (bits < 16 && uses << bits < phrases->items[part].uses)
        bits++;
    return bits;
}

/*
 * Whether a joined phrase's row costs more characters than writing its parts instead: their longer
 * codes, and the rows that they do not have yet.
 */
static bool is_too_rare(const struct edge_code *codes, const struct phrases *phrases,
                        const struct phrase *phrase, const struct edge_code *code)
{
    uint64_t parts = 0;
    uint64_t row = phrase_learner_row_cost(phrase->length, phrases->edge_max);
    for (int i = 0; i < 2; i++) {
        uint32_t part = phrase->parts[i];
        uint64_t part_row = phrase_learner_row_cost(phrases->items[part].length, phrases->edge_max);
        /* the first part would take over the phrase's code */
        parts += i == 0 && !codes[part].used ? code->bits
                                             : part_bits(codes, phrases, part, phrase->uses);
        if (!codes[part].used)
            row -= part_row < row ? part_row : row;
    }
    uint64_t longer = parts > code->bits ? parts - code->bits : 0;
    return phrase->uses * longer / 6 < row;
}

/* Moves the uses of phrases that are not worth their row to their parts. Returns whether any. */
static bool dissolve(const struct edge_code *codes, struct phrases *phrases)
{
    bool any = false;
    for (size_t i = phrases->count; i-- > 1;) {
        struct phrase *phrase = &phrases->items[i];
        if (phrase->uses == 0 || phrase->parts[0] == 0 || !codes[i].used ||
            !is_too_rare(codes, phrases, phrase, &codes[i]))
            continue;
        for (int part = 0; part < 2; part++)
            phrases->items[phrase->parts[part]].uses += phrase->uses;
        phrase->uses = 0;
        any = true;
    }
    return any;
}

int edge_codes_assign(struct edge_code *codes, struct phrases *phrases, struct bt_error *error)
{
    size_t count = phrases->count;
    struct phrase_leaf *leaves = malloc(count * sizeof *leaves);
    struct tree tree = {malloc(2 * count * sizeof *tree.weights),
                        malloc(2 * count * sizeof *tree.parents),
                        malloc(2 * count * sizeof *tree.depths)};
    int result = 0;
    if (!leaves || !tree.weights || !tree.parents || !tree.depths) {
        result = bt_fail(error, BT_MEMORY, "no memory for the TRANSITION_TABLE");
        goto out;
    }
    assign_all(codes, phrases, leaves, &tree);
    for (int pass = 0; pass < PASSES && dissolve(codes, phrases); pass++)
        assign_all(codes, phrases, leaves, &tree);
out:
    free(leaves);
    free(tree.weights);
    free(tree.parents);
    free(tree.depths);
    return result;
}
