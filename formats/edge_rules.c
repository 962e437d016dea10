#include "formats/edge_rules.h"

#include "formats/base/grow.h"
#include "formats/edge_text.h"

#include <stdio.h>
#include <string.h>

#define LITERALS    EDGE_RULES_LITERALS
#define ENTRIES_MAX 1000000u
/* What an entry costs beside its text and its key: quotes, colon, comma, line. */
#define ENTRY_COST 7u
/* Where lengths stop to be counted. */
#define MUCH ((uint64_t)1 << 40)
/* An entry that has no number yet. */
#define CHOSEN UINT32_MAX
#define PASSES 3

void edge_rules_free(struct edge_rules *rules)
{
    free(rules->rules);
    free(rules->map);
    free(rules->worths);
    free(rules->entries);
    memset(rules, 0, sizeof *rules);
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the STRING_DICTIONARY");
}

static uint32_t *map_slot(const struct edge_rules *rules, uint32_t a, uint32_t b, bool repeat)
{
    size_t mask = rules->map_size - 1;
    uint64_t key = ((uint64_t)repeat << 63 | (uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
    for (size_t i = (key ^ key >> 29) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &rules->map[i];
        if (*slot == 0)
            return slot;
        const struct edge_rule *rule = &rules->rules[*slot - 1];
        if (rule->a == a && rule->b == b && rule->repeat == repeat)
            return slot;
    }
}

/* A new map of that size, a power of two and more than there are rules. */
static int make_map(struct edge_rules *rules, size_t size)
{
    uint32_t *map = calloc(size, sizeof *map);
    if (!map)
        return -1;
    free(rules->map);
    rules->map = map;
    rules->map_size = size;
    for (size_t i = 0; i < rules->count; i++) {
        const struct edge_rule *rule = &rules->rules[i];
        *map_slot(rules, rule->a, rule->b, rule->repeat) = (uint32_t)i + 1;
    }
    return 0;
}

uint32_t edge_rules_find(const struct edge_rules *rules, uint32_t a, uint32_t b, bool repeat)
{
    uint32_t present = rules->map_size ? *map_slot(rules, a, b, repeat) : 0;
    return present ? LITERALS + present - 1 : 0;
}

uint32_t edge_rules_make(struct edge_rules *rules, uint32_t a, uint32_t b, bool repeat)
{
    uint32_t present = edge_rules_find(rules, a, b, repeat);
    if (present)
        return present;
    struct edge_rule *grown =
        grow_array(rules->rules, &rules->capacity, rules->count + 1, sizeof *grown);
    if (!grown || rules->count + LITERALS >= EDGE_RULES_SYMBOL)
        return 0;
    rules->rules = grown;
    if (rules->count * 2 >= rules->map_size &&
        make_map(rules, rules->map_size ? rules->map_size * 2 : 1024) < 0)
        return 0;
    unsigned depth = edge_rules_depth(rules, a);
    if (!repeat && depth < edge_rules_depth(rules, b))
        depth = edge_rules_depth(rules, b);
    *map_slot(rules, a, b, repeat) = (uint32_t)rules->count + 1;
    grown[rules->count++] =
        (struct edge_rule){.a = a, .b = b, .repeat = repeat, .depth = (uint8_t)(depth + 1)};
    return (uint32_t)(LITERALS + rules->count - 1);
}

/* --- choosing --------------------------------------------------------------------------------- */

static unsigned digits_of(uint32_t number)
{
    unsigned digits = 1;
    while (number >= 10) {
        number /= 10;
        digits++;
    }
    return digits;
}

static unsigned key_length(size_t entry)
{
    unsigned length = 1;
    for (size_t keys = 64; entry >= keys; keys *= 64) {
        entry -= keys;
        length++;
    }
    return length;
}

void edge_rules_key(size_t entry, char key[EDGE_GRAMMAR_KEY_MAX + 1])
{
    unsigned length = key_length(entry);
    for (size_t i = 1, keys = 64; i < length; i++, keys *= 64)
        entry -= keys;
    key[length] = '\0';
    for (unsigned i = length; i > 0; i--, entry /= 64)
        key[i - 1] = edge_text_character((unsigned)(entry % 64));
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The length of keys that new entries are expected to get. */
static unsigned new_key_length(const struct edge_rules *rules)
{
    return key_length(rules->entry_count + 64);
}

/* How many characters a symbol is written with, once worths are measured. */
static uint64_t written_length(const struct edge_rules *rules, uint32_t symbol)
{
    if (symbol < LITERALS)
        return 1;
    uint32_t entry = rules->rules[symbol - LITERALS].entry;
    if (entry == 0)
        return rules->worths[symbol - LITERALS].text;
    return 2 + (entry == CHOSEN ? new_key_length(rules) : key_length(entry - 1));
}

/* Whether a repeat is shorter with parentheses than written out. */
static bool is_parenthesized(const struct edge_rules *rules, const struct edge_rule *rule)
{
    uint64_t length = written_length(rules, rule->a);
    return 3 + digits_of(rule->b) + length < length * rule->b;
}

/* The lengths of all contents, from the bottom up. */
static void measure_texts(struct edge_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct edge_rule *rule = &rules->rules[i];
        uint64_t text = written_length(rules, rule->a);
        if (!rule->repeat)
            text += written_length(rules, rule->b);
        else if (is_parenthesized(rules, rule))
            text += 3 + digits_of(rule->b);
        else
            text *= rule->b;
        rules->worths[i].text = least(text, MUCH);
    }
}

static void add_places(struct edge_rules *rules, uint32_t symbol, uint64_t places)
{
    if (symbol < LITERALS)
        return;
    uint64_t *to = &rules->worths[symbol - LITERALS].places;
    *to = least(*to + places, MUCH);
}

/* Hands the places of a rule on to what it is made of. */
static void pass_places(struct edge_rules *rules, const struct edge_rule *rule, uint64_t places)
{
    if (!rule->repeat)
        add_places(rules, rule->b, places);
    else if (!is_parenthesized(rules, rule))
        places = least(places, MUCH / rule->b) * rule->b;
    add_places(rules, rule->a, places);
}

/* Whether an entry for this saves characters. */
static bool is_worth_it(const struct edge_rule_worth *worth, unsigned key)
{
    if (worth->text <= 2 + key)
        return false;
    uint64_t each = worth->text - 2 - key;
    return least(worth->places, MUCH / each) * each > worth->text + ENTRY_COST + key;
}

/*
 * Chooses from the top down: what a rule stands for is written in all places of the rule, but once
 * if it is an entry.
 */
static void choose(struct edge_rules *rules, const uint32_t *symbols, size_t count)
{
    unsigned key = new_key_length(rules);
    for (size_t i = 0; i < rules->count; i++)
        rules->worths[i].places = 0;
    for (size_t i = 0; i < count; i++)
        add_places(rules, symbols[i] & EDGE_RULES_SYMBOL, 1);
    for (size_t i = rules->count; i-- > 0;) {
        struct edge_rule *rule = &rules->rules[i];
        const struct edge_rule_worth *worth = &rules->worths[i];
        if (rule->entry == 0 || rule->entry == CHOSEN)
            rule->entry = is_worth_it(worth, key) ? CHOSEN : 0;
        if (worth->places > 0)
            pass_places(rules, rule, rule->entry ? 1 : worth->places);
    }
}

struct candidate {
    uint64_t places;
    uint32_t rule;
};

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left;
    const struct candidate *b = right;
    if (a->places != b->places)
        return a->places > b->places ? -1 : 1;
    return a->rule < b->rule ? -1 : a->rule > b->rule;
}

/* Numbers what was chosen: what is in the most places gets the shortest keys. */
static int number_entries(struct edge_rules *rules, struct bt_error *error)
{
    struct candidate *candidates = malloc((rules->count + 1) * sizeof *candidates);
    if (!candidates)
        return no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < rules->count; i++)
        if (rules->rules[i].entry == CHOSEN)
            candidates[count++] =
                (struct candidate){.places = rules->worths[i].places, .rule = (uint32_t)i};
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    uint32_t *grown = grow_array(rules->entries, &rules->entry_capacity,
                                 rules->entry_count + count + 1, sizeof *grown);
    if (!grown) {
        free(candidates);
        return no_memory(error);
    }
    rules->entries = grown;
    for (size_t i = 0; i < count; i++) {
        struct edge_rule *rule = &rules->rules[candidates[i].rule];
        rule->entry = 0;
        if (rules->entry_count == ENTRIES_MAX)
            continue;
        grown[rules->entry_count++] = LITERALS + candidates[i].rule;
        rule->entry = (uint32_t)rules->entry_count;
    }
    free(candidates);
    return 0;
}

int edge_rules_choose_entries(struct edge_rules *rules, const uint32_t *symbols, size_t count,
                              struct bt_error *error)
{
    struct edge_rule_worth *grown =
        grow_array(rules->worths, &rules->worth_capacity, rules->count + 1, sizeof *grown);
    if (!grown)
        return no_memory(error);
    rules->worths = grown;
    /* what is chosen shortens the texts that the next pass measures */
    for (int pass = 0; pass < PASSES; pass++) {
        measure_texts(rules);
        choose(rules, symbols, count);
    }
    int result = number_entries(rules, error);
    measure_texts(rules);
    return result;
}

/* --- forgetting ------------------------------------------------------------------------------- */

/* Marks, in worths, what entries are made of, and gives it new numbers. */
static void renumber(struct edge_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        rules->worths[i].places = rules->rules[i].entry != 0;
    for (size_t i = rules->count; i-- > 0;)
        if (rules->worths[i].places) {
            add_places(rules, rules->rules[i].a, 1);
            if (!rules->rules[i].repeat)
                add_places(rules, rules->rules[i].b, 1);
        }
    uint64_t kept = 0;
    for (size_t i = 0; i < rules->count; i++)
        if (rules->worths[i].places)
            rules->worths[i].text = LITERALS + kept++;
}

static uint32_t new_number(const struct edge_rules *rules, uint32_t symbol)
{
    return symbol < LITERALS ? symbol : (uint32_t)rules->worths[symbol - LITERALS].text;
}

int edge_rules_keep_entries(struct edge_rules *rules, struct bt_error *error)
{
    if (rules->count == 0)
        return 0;
    renumber(rules);
    size_t kept = 0;
    for (size_t i = 0; i < rules->count; i++) {
        struct edge_rule rule = rules->rules[i];
        if (!rules->worths[i].places)
            continue;
        rule.a = new_number(rules, rule.a);
        if (!rule.repeat)
            rule.b = new_number(rules, rule.b);
        rules->rules[kept++] = rule;
    }
    for (size_t i = 0; i < rules->entry_count; i++)
        rules->entries[i] = new_number(rules, rules->entries[i]);
    rules->count = kept;
    if (make_map(rules, rules->map_size) < 0)
        return no_memory(error);
    measure_texts(rules);
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int append(struct edge_grammar_text *text, const char *added, size_t length,
                  struct bt_error *error)
{
    char *grown = grow_array(text->text, &text->capacity, text->length + length + 1, 1);
    if (!grown)
        return no_memory(error);
    text->text = grown;
    memcpy(grown + text->length, added, length);
    text->length += length;
    grown[text->length] = '\0';
    return 0;
}

static int write_repeat(const struct edge_rules *rules, const struct edge_rule *rule,
                        struct edge_grammar_text *text, struct bt_error *error)
{
    char open[16];
    int result = 0;
    if (is_parenthesized(rules, rule)) {
        int length = snprintf(open, sizeof open, "(%u*", rule->b);
        result = append(text, open, (size_t)length, error);
        if (result == 0)
            result = edge_rules_write(rules, rule->a, text, error);
        return result == 0 ? append(text, ")", 1, error) : result;
    }
    for (uint32_t i = 0; i < rule->b && result == 0; i++)
        result = edge_rules_write(rules, rule->a, text, error);
    return result;
}

/* As deep as rules are nested, EDGE_RULES_DEPTH_MAX. */
int edge_rules_write_content(const struct edge_rules *rules, uint32_t symbol,
                             struct edge_grammar_text *text, struct bt_error *error)
{
    const struct edge_rule *rule = &rules->rules[symbol - LITERALS];
    if (rule->repeat)
        return write_repeat(rules, rule, text, error);
    int result = edge_rules_write(rules, rule->a, text, error);
    return result == 0 ? edge_rules_write(rules, rule->b, text, error) : result;
}

int edge_rules_write(const struct edge_rules *rules, uint32_t symbol,
                     struct edge_grammar_text *text, struct bt_error *error)
{
    char reference[EDGE_GRAMMAR_KEY_MAX + 3] = "<";
    if (symbol < LITERALS) {
        reference[0] = edge_text_character(symbol);
        return append(text, reference, 1, error);
    }
    uint32_t entry = rules->rules[symbol - LITERALS].entry;
    if (entry == 0)
        return edge_rules_write_content(rules, symbol, text, error);
    edge_rules_key(entry - 1, reference + 1);
    size_t length = strlen(reference);
    reference[length++] = '>';
    return append(text, reference, length, error);
}
