#include "formats/dcfg/phrases.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#include <string.h>

/* Joined phrases are added to the tree up to this number of nodes; basic phrases always are. */
#define NODES_MAX ((size_t)4 << 20)
#define SEVERAL   UINT32_MAX

/* A node of the prefix tree: the edges on the path to it are a prefix of phrases. */
struct tree_node {
    uint32_t edge; /* label of the first child */
    uint32_t child;
    uint32_t phrase; /* number of the phrase that ends here; 0: none */
    uint32_t more;   /* whether there are branches: children other than the first */
};

/* A child other than the first. */
struct tree_branch {
    uint32_t node, edge;
    uint32_t child;
};

/* State of an edge. */
struct edge_state {
    uint32_t root;      /* node: root of the phrases that follow it; 0: none */
    uint32_t successor; /* the only edge that has followed it; 0: none yet; or SEVERAL */
};

struct phrases_tree {
    struct tree_node *nodes; /* number 0 is none */
    size_t node_count, node_capacity;
    struct tree_branch *branches;
    size_t branch_count, branch_capacity;
    struct hash_index by_node; /* branches by node and edge */
    struct edge_state *states;
};

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the TRANSITION_TABLE");
}

int phrases_begin(struct phrases *phrases, uint32_t edge_max, struct bt_error *error)
{
    memset(phrases, 0, sizeof *phrases);
    phrases->edge_max = edge_max;
    phrases->tree = calloc(1, sizeof *phrases->tree);
    if (!phrases->tree)
        return no_memory(error);
    phrases->tree->states = calloc((size_t)edge_max + 1, sizeof *phrases->tree->states);
    phrases->tree->node_count = 1;
    phrases->items = grow_array(NULL, &phrases->capacity, 1, sizeof *phrases->items);
    if (!phrases->tree->states || !phrases->items) {
        phrases_free(phrases);
        return no_memory(error);
    }
    phrases->items[phrases->count++] = (struct phrase){.uses = 0};
    return 0;
}

void phrases_free(struct phrases *phrases)
{
    if (phrases->tree) {
        free(phrases->tree->nodes);
        free(phrases->tree->branches);
        hash_index_clear(&phrases->tree->by_node);
        free(phrases->tree->states);
        free(phrases->tree);
    }
    free(phrases->items);
    free(phrases->runs);
    memset(phrases, 0, sizeof *phrases);
}

void phrases_observe(struct phrases *phrases, const uint32_t *edges, size_t count)
{
    struct edge_state *states = phrases->tree->states;
    for (size_t i = 0; i + 1 < count; i++) {
        uint32_t *successor = &states[edges[i]].successor;
        if (*successor != edges[i + 1])
            *successor = *successor == 0 ? edges[i + 1] : SEVERAL;
    }
}

/* --- the tree --------------------------------------------------------------------------------- */

/* The child of a node along an edge, other than the first child; 0: none. */
static uint32_t find_branch(const struct phrases_tree *tree, uint32_t node, uint32_t edge)
{
    struct hash_search search = hash_search(&tree->by_node, hash_pair(node, edge));
    while (hash_search_next(&search)) {
        const struct tree_branch *branch = &tree->branches[search.number];
        if (branch->node == node && branch->edge == edge)
            return branch->child;
    }
    return 0;
}

/* The child of a node along an edge; 0: none. */
static inline uint32_t find_child(const struct phrases_tree *tree, uint32_t node, uint32_t edge)
{
    const struct tree_node *from = &tree->nodes[node];
    if (from->edge == edge)
        return from->child;
    return from->more ? find_branch(tree, node, edge) : 0;
}

/* A new node; 0: no memory. */
static uint32_t add_node(struct phrases_tree *tree)
{
    struct tree_node *grown =
        grow_array(tree->nodes, &tree->node_capacity, tree->node_count + 1, sizeof *grown);
    if (!grown || tree->node_count >= UINT32_MAX)
        return 0;
    tree->nodes = grown;
    grown[tree->node_count] = (struct tree_node){.edge = 0, .child = 0, .phrase = 0, .more = 0};
    return (uint32_t)tree->node_count++;
}

static int add_branch(struct phrases_tree *tree, const struct tree_branch *branch)
{
    struct tree_branch *grown =
        grow_array(tree->branches, &tree->branch_capacity, tree->branch_count + 1, sizeof *grown);
    if (!grown)
        return BT_MEMORY;
    tree->branches = grown;
    if (hash_index_add(&tree->by_node, hash_pair(branch->node, branch->edge),
                       (uint32_t)tree->branch_count) != 0)
        return BT_MEMORY;
    grown[tree->branch_count++] = *branch;
    return 0;
}

/* As find_child, but adds a missing child; 0: no memory. */
static uint32_t make_child(struct phrases_tree *tree, uint32_t node, uint32_t edge)
{
    uint32_t child = find_child(tree, node, edge);
    if (child != 0)
        return child;
    child = add_node(tree);
    if (child == 0)
        return 0;
    struct tree_node *from = &tree->nodes[node];
    if (from->child == 0) {
        from->edge = edge;
        from->child = child;
        return child;
    }
    from->more = 1;
    return add_branch(tree, &(struct tree_branch){.node = node, .edge = edge, .child = child}) == 0
               ? child
               : 0;
}

/* The node where a phrase of these edges ends, added if missing; 0: no memory. */
static uint32_t make_path(struct phrases *phrases, uint32_t before, const uint32_t *edges,
                          size_t length)
{
    struct phrases_tree *tree = phrases->tree;
    struct edge_state *state = &tree->states[before];
    if (state->root == 0)
        state->root = add_node(tree);
    uint32_t node = state->root;
    for (size_t i = 0; i < length && node != 0; i++)
        node = make_child(tree, node, edges[i]);
    return node;
}

/* --- phrases ---------------------------------------------------------------------------------- */

/* A new phrase's number; 0: no memory. */
static uint32_t add_phrase(struct phrases *phrases, struct phrase phrase)
{
    struct phrase *grown =
        grow_array(phrases->items, &phrases->capacity, phrases->count + 1, sizeof *grown);
    if (!grown || phrases->count >= UINT32_MAX)
        return 0;
    phrases->items = grown;
    grown[phrases->count] = phrase;
    return (uint32_t)phrases->count++;
}

uint32_t phrases_join(struct phrases *phrases, uint32_t first, uint32_t second)
{
    const struct phrase *a = &phrases->items[first];
    const struct phrase *b = &phrases->items[second];
    return add_phrase(phrases, (struct phrase){.before = a->before,
                                               .last = b->last,
                                               .length = a->length + b->length,
                                               .parts = {first, second}});
}

void phrases_drop(struct phrases *phrases, size_t count)
{
    phrases->count = count;
}

void phrases_expand(const struct phrases *phrases, uint32_t phrase, uint32_t *edges)
{
    /* phrases are at most PHRASE_EDGES_MAX parts deep, and each part has an edge */
    while (phrases->items[phrase].parts[0] != 0) {
        const struct phrase *joined = &phrases->items[phrase];
        phrases_expand(phrases, joined->parts[0], edges);
        edges += phrases->items[joined->parts[0]].length;
        phrase = joined->parts[1];
    }
    memcpy(edges, phrases->runs + phrases->items[phrase].parts[1],
           phrases->items[phrase].length * sizeof *edges);
}

int phrases_activate(struct phrases *phrases, uint32_t phrase, struct bt_error *error)
{
    uint32_t edges[PHRASE_EDGES_MAX];
    struct phrase *added = &phrases->items[phrase];
    if (phrases->tree->node_count > NODES_MAX)
        return 0;
    phrases_expand(phrases, phrase, edges);
    uint32_t node = make_path(phrases, added->before, edges, added->length);
    if (node == 0)
        return no_memory(error);
    if (phrases->tree->nodes[node].phrase != 0)
        return 0;
    phrases->tree->nodes[node].phrase = phrase;
    added->active = true;
    return 1;
}

/* Adds a basic phrase: a prefix of edges, after edge `before`. Its number; 0: no memory. */
static uint32_t add_basic(struct phrases *phrases, uint32_t before, const uint32_t *edges,
                          size_t count)
{
    size_t length = 1;
    while (length < count && length < PHRASE_EDGES_MAX &&
           phrases->tree->states[edges[length - 1]].successor == edges[length])
        length++;
    uint32_t *grown = grow_array(phrases->runs, &phrases->run_capacity, phrases->run_count + length,
                                 sizeof *grown);
    if (!grown || phrases->run_count + length >= UINT32_MAX)
        return 0;
    phrases->runs = grown;
    uint32_t node = make_path(phrases, before, edges, length);
    uint32_t phrase =
        add_phrase(phrases, (struct phrase){.before = before,
                                            .last = edges[length - 1],
                                            .length = (uint32_t)length,
                                            .parts = {0, (uint32_t)phrases->run_count},
                                            .active = true});
    if (node == 0 || phrase == 0)
        return 0;
    memcpy(grown + phrases->run_count, edges, length * sizeof *edges);
    phrases->run_count += length;
    phrases->tree->nodes[node].phrase = phrase;
    return phrase;
}

/*
 * The longest active phrase that is a prefix of edges; 0: none. *open: more edges could make a
 * longer phrase match.
 */
static uint32_t longest_phrase(const struct phrases_tree *tree, uint32_t before,
                               const uint32_t *edges, size_t count, bool *open)
{
    uint32_t node = tree->states[before].root;
    uint32_t found = 0;
    *open = false;
    if (node == 0) {
        *open = count < PHRASE_EDGES_MAX;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        node = find_child(tree, node, edges[i]);
        if (node == 0)
            return found;
        if (tree->nodes[node].phrase != 0)
            found = tree->nodes[node].phrase;
    }
    *open = true;
    return found;
}

int phrases_parse(struct phrases *phrases, const uint32_t *edges, size_t count, bool more,
                  uint32_t *parsed, size_t *phrase_count, size_t *cut, struct bt_error *error)
{
    size_t at = 1;
    size_t made = 0;
    while (at < count) {
        bool open;
        uint32_t phrase =
            longest_phrase(phrases->tree, edges[at - 1], edges + at, count - at, &open);
        if (more && (open || (phrase == 0 && count - at < PHRASE_EDGES_MAX)) && made > 0)
            break;
        if (phrase == 0)
            phrase = add_basic(phrases, edges[at - 1], edges + at, count - at);
        if (phrase == 0)
            return no_memory(error);
        parsed[made++] = phrase;
        at += phrases->items[phrase].length;
    }
    *phrase_count = made;
    *cut = at < count ? at : count;
    return 0;
}
