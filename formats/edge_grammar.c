#include "formats/edge_grammar.h"

#include "formats/base/grow.h"
#include "formats/edge_grams.h"
#include "formats/edge_rules.h"
#include "formats/edge_text.h"

#include <string.h>

#define ROUNDS_MAX 64u
#define NO_PAIR    UINT32_MAX

/* A pair of neighbours in the round under way. */
struct pair {
    uint32_t a, b;
    uint32_t count; /* 0: the slot is free */
    uint32_t rule;  /* its symbol; 0: none yet */
};

struct edge_grammar {
    struct edge_rules rules;
    uint32_t *symbols; /* of the window */
    size_t symbol_count, symbol_capacity;
    uint32_t *slots; /* of the pair that begins at each symbol */
    size_t slot_capacity;
    struct pair *pairs; /* a hash table */
    size_t pair_size, pair_capacity;
    size_t *ends; /* of the sequences, in symbols */
    size_t end_count, end_capacity;
    struct edge_grams *grams;
};

struct edge_grammar *edge_grammar_new(void)
{
    struct edge_grammar *grammar = calloc(1, sizeof *grammar);
    if (!grammar)
        return NULL;
    grammar->grams = edge_grams_new();
    if (!grammar->grams) {
        free(grammar);
        return NULL;
    }
    return grammar;
}

void edge_grammar_free(struct edge_grammar *grammar)
{
    if (!grammar)
        return;
    edge_rules_free(&grammar->rules);
    free(grammar->symbols);
    free(grammar->slots);
    free(grammar->pairs);
    free(grammar->ends);
    edge_grams_free(grammar->grams);
    free(grammar);
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the STRING_DICTIONARY");
}

static int take_window(struct edge_grammar *grammar, const uint8_t *values, const size_t *ends,
                       size_t count, struct bt_error *error)
{
    size_t size = count > 0 ? ends[count - 1] : 0;
    uint32_t *symbols =
        grow_array(grammar->symbols, &grammar->symbol_capacity, size + 1, sizeof *symbols);
    if (!symbols)
        return no_memory(error);
    grammar->symbols = symbols;
    uint32_t *slots = grow_array(grammar->slots, &grammar->slot_capacity, size + 1, sizeof *slots);
    if (!slots)
        return no_memory(error);
    grammar->slots = slots;
    size_t *copied = grow_array(grammar->ends, &grammar->end_capacity, count + 1, sizeof *copied);
    if (!copied)
        return no_memory(error);
    grammar->ends = copied;
    memcpy(copied, ends, count * sizeof *copied);
    grammar->end_count = count;
    edge_grams_begin(grammar->grams);
    for (size_t i = 0; i < count; i++)
        edge_grams_link(grammar->grams, values, symbols, i > 0 ? ends[i - 1] : 0, ends[i]);
    grammar->symbol_count = size;
    return 0;
}

/* Replaces the symbols from begin by made of them, which end at end; moves the ends of sequences.
 */
struct rewrite {
    struct edge_grammar *grammar;
    size_t from, to; /* symbols read, written */
    size_t end;      /* the next end of a sequence */
};

static void rewrite_put(struct rewrite *rewrite, uint32_t symbol, size_t from_count)
{
    struct edge_grammar *grammar = rewrite->grammar;
    grammar->symbols[rewrite->to++] = symbol;
    rewrite->from += from_count;
    while (rewrite->end < grammar->end_count && grammar->ends[rewrite->end] == rewrite->from)
        grammar->ends[rewrite->end++] = rewrite->to;
}

static struct rewrite rewrite_begin(struct edge_grammar *grammar)
{
    struct rewrite rewrite = {.grammar = grammar};
    while (rewrite.end < grammar->end_count && grammar->ends[rewrite.end] == 0)
        rewrite.end++;
    return rewrite;
}

/* Runs of one symbol become one symbol that repeats it. */
static int collapse_runs(struct edge_grammar *grammar, struct bt_error *error)
{
    struct rewrite rewrite = rewrite_begin(grammar);
    const uint32_t *symbols = grammar->symbols;
    while (rewrite.from < grammar->symbol_count) {
        size_t at = rewrite.from;
        uint32_t symbol = symbols[at] & ~EDGE_LINKED;
        size_t last = at;
        while (symbols[last] & EDGE_LINKED && (symbols[last + 1] & ~EDGE_LINKED) == symbol)
            last++;
        uint32_t made = symbols[at];
        if (last > at && edge_rules_depth(&grammar->rules, symbol) < EDGE_RULES_DEPTH_MAX) {
            uint32_t rule =
                edge_rules_make(&grammar->rules, symbol, (uint32_t)(last - at + 1), true);
            if (rule == 0)
                return no_memory(error);
            made = rule | (symbols[last] & EDGE_LINKED);
            rewrite_put(&rewrite, made, last - at + 1);
        } else {
            rewrite_put(&rewrite, made, 1);
        }
    }
    grammar->symbol_count = rewrite.to;
    return 0;
}

static uint32_t count_pair(struct edge_grammar *grammar, uint32_t a, uint32_t b)
{
    size_t mask = grammar->pair_size - 1;
    uint64_t hash = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
    size_t i = (hash ^ hash >> 29) & mask;
    struct pair *pair = &grammar->pairs[i];
    while (pair->count != 0 && (pair->a != a || pair->b != b)) {
        i = (i + 1) & mask;
        pair = &grammar->pairs[i];
    }
    if (pair->count == 0)
        *pair = (struct pair){
            .a = a, .b = b, .count = 0, .rule = edge_rules_find(&grammar->rules, a, b, false)};
    pair->count++;
    return (uint32_t)i;
}

/* Counts all pairs of linked neighbours. */
static int count_pairs(struct edge_grammar *grammar, struct bt_error *error)
{
    const uint32_t *symbols = grammar->symbols;
    size_t linked = 0;
    for (size_t i = 0; i < grammar->symbol_count; i++)
        linked += symbols[i] & EDGE_LINKED ? 1 : 0;
    grammar->pair_size = 1024;
    while (grammar->pair_size < linked * 2)
        grammar->pair_size *= 2;
    struct pair *pairs =
        grow_array(grammar->pairs, &grammar->pair_capacity, grammar->pair_size, sizeof *pairs);
    if (!pairs)
        return no_memory(error);
    grammar->pairs = pairs;
    memset(pairs, 0, grammar->pair_size * sizeof *pairs);
    for (size_t i = 0; i < grammar->symbol_count; i++) {
        uint32_t a = symbols[i] & ~EDGE_LINKED;
        grammar->slots[i] = NO_PAIR;
        if (!(symbols[i] & EDGE_LINKED))
            continue;
        uint32_t b = symbols[i + 1] & ~EDGE_LINKED;
        if (a != b && edge_rules_depth(&grammar->rules, a) < EDGE_RULES_DEPTH_MAX &&
            edge_rules_depth(&grammar->rules, b) < EDGE_RULES_DEPTH_MAX)
            grammar->slots[i] = count_pair(grammar, a, b);
    }
    return 0;
}

static bool is_candidate(const struct edge_grammar *grammar, uint32_t slot)
{
    return slot != NO_PAIR && (grammar->pairs[slot].rule != 0 || grammar->pairs[slot].count > 1);
}

/* Whether pair a goes before pair b: the same answer wherever they meet. */
static bool goes_before(const struct pair *a, const struct pair *b)
{
    if (a->rule != 0 || b->rule != 0)
        return a->rule != 0 && (b->rule == 0 || a->rule < b->rule);
    if (a->count != b->count)
        return a->count > b->count;
    return a->a != b->a ? a->a < b->a : a->b < b->b;
}

/* Replaces pairs that are not outdone by the pair behind them. Returns how many, or BT_MEMORY. */
static long merge_pairs(struct edge_grammar *grammar, struct bt_error *error)
{
    struct rewrite rewrite = rewrite_begin(grammar);
    const uint32_t *symbols = grammar->symbols;
    long merged = 0;
    while (rewrite.from < grammar->symbol_count) {
        size_t at = rewrite.from;
        uint32_t slot = grammar->slots[at];
        uint32_t behind = at + 1 < grammar->symbol_count ? grammar->slots[at + 1] : NO_PAIR;
        if (!is_candidate(grammar, slot) ||
            (is_candidate(grammar, behind) &&
             goes_before(&grammar->pairs[behind], &grammar->pairs[slot]))) {
            rewrite_put(&rewrite, symbols[at], 1);
            continue;
        }
        struct pair *pair = &grammar->pairs[slot];
        if (pair->rule == 0)
            pair->rule = edge_rules_make(&grammar->rules, pair->a, pair->b, false);
        if (pair->rule == 0)
            return no_memory(error);
        rewrite_put(&rewrite, pair->rule | (symbols[at + 1] & EDGE_LINKED), 2);
        merged++;
    }
    grammar->symbol_count = rewrite.to;
    return merged;
}

int edge_grammar_window(struct edge_grammar *grammar, const uint8_t *values, const size_t *ends,
                        size_t count, struct bt_error *error)
{
    int result = edge_rules_keep_entries(&grammar->rules, error);
    if (result == 0)
        result = take_window(grammar, values, ends, count, error);
    long merged = 1;
    long worthwhile = 1; /* a round with fewer is the last: the next would find less still */
    for (unsigned round = 0; round < ROUNDS_MAX && merged >= worthwhile && result == 0; round++) {
        worthwhile = 1 + (long)(grammar->symbol_count / 1024);
        result = collapse_runs(grammar, error);
        if (result == 0)
            result = count_pairs(grammar, error);
        if (result == 0)
            merged = merge_pairs(grammar, error);
    }
    if (result < 0 || merged < 0)
        return BT_MEMORY;
    return edge_rules_choose_entries(&grammar->rules, grammar->symbols, grammar->symbol_count,
                                     error);
}

int edge_grammar_sequence(const struct edge_grammar *grammar, size_t i,
                          struct edge_grammar_text *text, struct bt_error *error)
{
    int result = 0;
    for (size_t at = i > 0 ? grammar->ends[i - 1] : 0; at < grammar->ends[i] && result == 0; at++)
        result =
            edge_rules_write(&grammar->rules, grammar->symbols[at] & ~EDGE_LINKED, text, error);
    return result;
}

size_t edge_grammar_entries(const struct edge_grammar *grammar)
{
    return grammar->rules.entry_count;
}

int edge_grammar_entry(const struct edge_grammar *grammar, size_t i,
                       char key[EDGE_GRAMMAR_KEY_MAX + 1], struct edge_grammar_text *text,
                       struct bt_error *error)
{
    edge_rules_key(i, key);
    return edge_rules_write_content(&grammar->rules, grammar->rules.entries[i], text, error);
}
