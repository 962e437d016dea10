#include "formats/dcfg/phrases.h"

#include "formats/base/grow.h"

#include <string.h>

/* Trees of words that are put together may have this many nodes; basic words always find room. */
#define NODES_MAX ((size_t)4 << 20)
#define SEVERAL   UINT32_MAX

/* A place in the tree: the edges on the way to it are the beginning of words. */
struct node {
    uint32_t edge; /* to the first child */
    uint32_t child;
    uint32_t word; /* that ends here; 0: none */
    uint32_t more; /* whether there are more children: in the table */
};

/* A child other than the first. */
struct branch {
    uint32_t node, edge;
    uint32_t child; /* 0: the slot is free */
};

/* What is known of an edge. */
struct state {
    uint32_t root;      /* node: of the words behind it; 0: none */
    uint32_t successor; /* the one edge that followed so far, 0: none, SEVERAL */
};

struct edge_words_tree {
    struct node *nodes; /* number 0 is none */
    size_t node_count, node_capacity;
    struct branch *branches;
    size_t branch_count, branch_size;
    struct state *states;
};

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the TRANSITION_TABLE");
}

int edge_words_begin(struct edge_words *words, uint32_t edge_max, struct bt_error *error)
{
    memset(words, 0, sizeof *words);
    words->edge_max = edge_max;
    words->tree = calloc(1, sizeof *words->tree);
    if (!words->tree)
        return no_memory(error);
    words->tree->states = calloc((size_t)edge_max + 1, sizeof *words->tree->states);
    words->tree->branch_size = 1024;
    words->tree->branches = calloc(words->tree->branch_size, sizeof *words->tree->branches);
    words->tree->node_count = 1;
    words->words = grow_array(NULL, &words->capacity, 1, sizeof *words->words);
    if (!words->tree->states || !words->tree->branches || !words->words) {
        edge_words_free(words);
        return no_memory(error);
    }
    words->words[words->count++] = (struct edge_word){.uses = 0};
    return 0;
}

void edge_words_free(struct edge_words *words)
{
    if (words->tree) {
        free(words->tree->nodes);
        free(words->tree->branches);
        free(words->tree->states);
        free(words->tree);
    }
    free(words->words);
    free(words->runs);
    memset(words, 0, sizeof *words);
}

void edge_words_see(struct edge_words *words, const uint32_t *edges, size_t count)
{
    struct state *states = words->tree->states;
    for (size_t i = 0; i + 1 < count; i++) {
        uint32_t *successor = &states[edges[i]].successor;
        if (*successor != edges[i + 1])
            *successor = *successor == 0 ? edges[i + 1] : SEVERAL;
    }
}

/* --- the tree --------------------------------------------------------------------------------- */

static size_t branch_slot(const struct edge_words_tree *tree, uint32_t node, uint32_t edge)
{
    size_t mask = tree->branch_size - 1;
    uint64_t hash = ((uint64_t)node << 32 | edge) * 0x9e3779b97f4a7c15u;
    size_t i = (hash ^ hash >> 29) & mask;
    while (tree->branches[i].child != 0 &&
           (tree->branches[i].node != node || tree->branches[i].edge != edge))
        i = (i + 1) & mask;
    return i;
}

/* The child of a node along an edge, 0: there is none. */
static inline uint32_t find_child(const struct edge_words_tree *tree, uint32_t node, uint32_t edge)
{
    const struct node *from = &tree->nodes[node];
    if (from->edge == edge)
        return from->child;
    return from->more ? tree->branches[branch_slot(tree, node, edge)].child : 0;
}

/* A new node; 0: no memory. */
static uint32_t add_node(struct edge_words_tree *tree)
{
    struct node *grown =
        grow_array(tree->nodes, &tree->node_capacity, tree->node_count + 1, sizeof *grown);
    if (!grown || tree->node_count >= UINT32_MAX)
        return 0;
    tree->nodes = grown;
    grown[tree->node_count] = (struct node){.edge = 0, .child = 0, .word = 0, .more = 0};
    return (uint32_t)tree->node_count++;
}

static int grow_branches(struct edge_words_tree *tree)
{
    if (tree->branch_count * 2 < tree->branch_size)
        return 0;
    struct branch *old = tree->branches;
    size_t old_size = tree->branch_size;
    tree->branches = calloc(old_size * 2, sizeof *tree->branches);
    if (!tree->branches) {
        tree->branches = old;
        return -1;
    }
    tree->branch_size = old_size * 2;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].child != 0)
            tree->branches[branch_slot(tree, old[i].node, old[i].edge)] = old[i];
    free(old);
    return 0;
}

/* As find_child, and makes it; 0: no memory. */
static uint32_t make_child(struct edge_words_tree *tree, uint32_t node, uint32_t edge)
{
    uint32_t child = find_child(tree, node, edge);
    if (child != 0)
        return child;
    child = add_node(tree);
    if (child == 0 || grow_branches(tree) < 0)
        return 0;
    struct node *from = &tree->nodes[node];
    if (from->child == 0) {
        from->edge = edge;
        from->child = child;
        return child;
    }
    from->more = 1;
    tree->branches[branch_slot(tree, node, edge)] =
        (struct branch){.node = node, .edge = edge, .child = child};
    tree->branch_count++;
    return child;
}

/* The node where a word of these edges ends, made if need be; 0: no memory. */
static uint32_t make_path(struct edge_words *words, uint32_t before, const uint32_t *edges,
                          size_t length)
{
    struct edge_words_tree *tree = words->tree;
    struct state *state = &tree->states[before];
    if (state->root == 0)
        state->root = add_node(tree);
    uint32_t node = state->root;
    for (size_t i = 0; i < length && node != 0; i++)
        node = make_child(tree, node, edges[i]);
    return node;
}

/* --- words ------------------------------------------------------------------------------------ */

/* A new word's number; 0: no memory. */
static uint32_t add_word(struct edge_words *words, struct edge_word word)
{
    struct edge_word *grown =
        grow_array(words->words, &words->capacity, words->count + 1, sizeof *grown);
    if (!grown || words->count >= UINT32_MAX)
        return 0;
    words->words = grown;
    grown[words->count] = word;
    return (uint32_t)words->count++;
}

uint32_t edge_words_join(struct edge_words *words, uint32_t first, uint32_t second)
{
    const struct edge_word *a = &words->words[first];
    const struct edge_word *b = &words->words[second];
    return add_word(words, (struct edge_word){.before = a->before,
                                              .last = b->last,
                                              .length = a->length + b->length,
                                              .parts = {first, second}});
}

void edge_words_drop(struct edge_words *words, size_t count)
{
    words->count = count;
}

void edge_words_edges(const struct edge_words *words, uint32_t word, uint32_t *edges)
{
    /* words are at most EDGE_WORD_MAX parts deep, and each part has an edge */
    while (words->words[word].parts[0] != 0) {
        const struct edge_word *joined = &words->words[word];
        edge_words_edges(words, joined->parts[0], edges);
        edges += words->words[joined->parts[0]].length;
        word = joined->parts[1];
    }
    memcpy(edges, words->runs + words->words[word].parts[1],
           words->words[word].length * sizeof *edges);
}

int edge_words_know(struct edge_words *words, uint32_t word, struct bt_error *error)
{
    uint32_t edges[EDGE_WORD_MAX];
    struct edge_word *known = &words->words[word];
    if (words->tree->node_count > NODES_MAX)
        return 0;
    edge_words_edges(words, word, edges);
    uint32_t node = make_path(words, known->before, edges, known->length);
    if (node == 0)
        return no_memory(error);
    if (words->tree->nodes[node].word != 0)
        return 0;
    words->tree->nodes[node].word = word;
    known->known = true;
    return 1;
}

/* Makes a basic word of the edges that begin a run, behind an edge. Its number; 0: no memory. */
static uint32_t add_basic(struct edge_words *words, uint32_t before, const uint32_t *edges,
                          size_t count)
{
    size_t length = 1;
    while (length < count && length < EDGE_WORD_MAX &&
           words->tree->states[edges[length - 1]].successor == edges[length])
        length++;
    uint32_t *grown =
        grow_array(words->runs, &words->run_capacity, words->run_count + length, sizeof *grown);
    if (!grown || words->run_count + length >= UINT32_MAX)
        return 0;
    words->runs = grown;
    uint32_t node = make_path(words, before, edges, length);
    uint32_t word = add_word(words, (struct edge_word){.before = before,
                                                       .last = edges[length - 1],
                                                       .length = (uint32_t)length,
                                                       .parts = {0, (uint32_t)words->run_count},
                                                       .known = true});
    if (node == 0 || word == 0)
        return 0;
    memcpy(grown + words->run_count, edges, length * sizeof *edges);
    words->run_count += length;
    words->tree->nodes[node].word = word;
    return word;
}

/*
 * The longest known word that edges begin with, 0: none. *open: the edges ended while a longer one
 * was possible.
 */
static uint32_t longest_word(const struct edge_words_tree *tree, uint32_t before,
                             const uint32_t *edges, size_t count, bool *open)
{
    uint32_t node = tree->states[before].root;
    uint32_t found = 0;
    *open = false;
    if (node == 0) {
        *open = count < EDGE_WORD_MAX;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        node = find_child(tree, node, edges[i]);
        if (node == 0)
            return found;
        if (tree->nodes[node].word != 0)
            found = tree->nodes[node].word;
    }
    *open = true;
    return found;
}

int edge_words_cut(struct edge_words *words, const uint32_t *edges, size_t count, bool more,
                   uint32_t *cut_words, size_t *word_count, size_t *cut, struct bt_error *error)
{
    size_t at = 1;
    size_t made = 0;
    while (at < count) {
        bool open;
        uint32_t word = longest_word(words->tree, edges[at - 1], edges + at, count - at, &open);
        if (more && (open || (word == 0 && count - at < EDGE_WORD_MAX)) && made > 0)
            break;
        if (word == 0)
            word = add_basic(words, edges[at - 1], edges + at, count - at);
        if (word == 0)
            return no_memory(error);
        cut_words[made++] = word;
        at += words->words[word].length;
    }
    *word_count = made;
    *cut = at < count ? at : count;
    return 0;
}
