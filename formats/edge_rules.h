/*
 * The rules of a grammar of edge-id sequences: what symbols stand for, which of them are entries of
 * the string dictionary, and how they are written. For edge_grammar.c, which finds them.
 */
#ifndef FORMATS_EDGE_RULES_H
#define FORMATS_EDGE_RULES_H

#include "formats/edge_grammar.h"

#include <stdbool.h>

/* Symbols below are the values of single characters. Higher bits than SYMBOL are the user's. */
#define EDGE_RULES_LITERALS 64u
#define EDGE_RULES_SYMBOL   0x7fffffffu

/* Rules are not nested deeper: edge_text.h reads more. */
#define EDGE_RULES_DEPTH_MAX 200u

/* What a symbol stands for: symbol a and then b, or a repeated b times. Literals have none. */
struct edge_rule {
    uint32_t a;
    uint32_t b;
    uint32_t entry; /* 1 + its number in the dictionary; 0: it is not there */
    bool repeat;
    uint8_t depth;
};

/* What deciding knows about a rule. */
struct edge_rule_worth {
    uint64_t text;   /* characters that its content is written with */
    uint64_t places; /* where it is written */
};

/* Zeroed is empty. */
struct edge_rules {
    struct edge_rule *rules; /* of symbol EDGE_RULES_LITERALS + index: behind those they are of */
    size_t count, capacity;
    uint32_t *map; /* hash table from what rules stand for to 1 + their index */
    size_t map_size;
    struct edge_rule_worth *worths;
    size_t worth_capacity;
    uint32_t *entries; /* their symbols */
    size_t entry_count, entry_capacity;
};

void edge_rules_free(struct edge_rules *rules); /* what is inside; not *rules itself */

/* The symbol of a rule, or 0 if there is none. */
uint32_t edge_rules_find(const struct edge_rules *rules, uint32_t a, uint32_t b, bool repeat);

/* The symbol of a rule, which is made if need be; 0: no memory. */
uint32_t edge_rules_make(struct edge_rules *rules, uint32_t a, uint32_t b, bool repeat);

static inline unsigned edge_rules_depth(const struct edge_rules *rules, uint32_t symbol)
{
    return symbol < EDGE_RULES_LITERALS ? 0 : rules->rules[symbol - EDGE_RULES_LITERALS].depth;
}

/* Chooses new entries so that these symbols are written with the fewest characters. 0 or BT_MEMORY.
 */
int edge_rules_choose_entries(struct edge_rules *rules, const uint32_t *symbols, size_t count,
                              struct bt_error *error);

/* Forgets the rules that no entry is made of; symbols change their numbers. 0 or BT_MEMORY. */
int edge_rules_keep_entries(struct edge_rules *rules, struct bt_error *error);

/* Appends a symbol as it is written; an entry is referred to. 0 or BT_MEMORY. */
int edge_rules_write(const struct edge_rules *rules, uint32_t symbol,
                     struct edge_grammar_text *text, struct bt_error *error);

/* Appends what a rule stands for. 0 or BT_MEMORY. */
int edge_rules_write_content(const struct edge_rules *rules, uint32_t symbol,
                             struct edge_grammar_text *text, struct bt_error *error);

/* The key of entry number entry, ended with 0. */
void edge_rules_key(size_t entry, char key[EDGE_GRAMMAR_KEY_MAX + 1]);

#endif
