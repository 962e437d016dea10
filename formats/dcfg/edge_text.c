#include "formats/dcfg/edge_text_internal.h"

#include "formats/base/grow.h"
#include "formats/base/saturating.h"
#include "formats/dcfg/edge_dictionary.h"

#include <stdbool.h>
#include <string.h>

/* A list being built: the whole text, or a part in parentheses. */
struct edge_group {
    uint64_t copies;
    size_t at; /* of its '(' */
    struct edge_list list;
    uint32_t last;
};

struct compiler {
    struct edge_nodes *nodes;
    const struct edge_dictionary *dictionary;
    const char *text;
    size_t length;
    size_t at;
    size_t depth; /* number of open groups; the text itself is group 0 */
    struct bt_error *error;
};

size_t edge_text_memory(size_t bytes)
{
    return bytes < SIZE_MAX / 8 ? 4 * bytes + 4096 : SIZE_MAX;
}

void edge_nodes_free(struct edge_nodes *nodes)
{
    free(nodes->nodes);
    free(nodes->sextets);
    free(nodes->open);
    memset(nodes, 0, sizeof *nodes);
}

void edge_nodes_clear(struct edge_nodes *nodes)
{
    nodes->count = 0;
    nodes->sextet_count = 0;
}

char edge_text_character(unsigned value)
{
    static const char characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    return characters[value & 63u];
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of a character, or -1. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (is_digit(c))
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '-' ? 63 : -1;
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for an edge-id sequence");
}

/* Checks the memory limit for one more node. There are at most as many sextets as characters, so
 * that checking here suffices. */
static int check_room(const struct compiler *compiler)
{
    const struct edge_nodes *made = compiler->nodes;
    size_t bytes = (made->count + 1) * sizeof *made->nodes + made->sextet_count;
    if (made->bytes_max == 0 || bytes <= made->bytes_max)
        return 0;
    return bt_fail(compiler->error, BT_DATA,
                   "character %zu: more than %zu octets of memory: the limit", compiler->at + 1,
                   made->bytes_max);
}

/* Appends a node to the innermost open list. */
static int append(struct compiler *compiler, enum edge_node_kind kind, uint64_t count,
                  uint32_t first)
{
    struct edge_nodes *nodes = compiler->nodes;
    if (check_room(compiler) < 0)
        return BT_DATA;
    struct edge_node *grown =
        grow_array(nodes->nodes, &nodes->capacity, nodes->count + 1, sizeof *grown);
    if (!grown || nodes->count >= EDGE_TEXT_NONE)
        return no_memory(compiler->error);
    nodes->nodes = grown;
    struct edge_group *group = &nodes->open[compiler->depth];
    uint32_t added = (uint32_t)nodes->count++;
    grown[added] = (struct edge_node){
        .count = count, .first = first, .next = EDGE_TEXT_NONE, .kind = (uint32_t)kind};
    if (group->list.first == EDGE_TEXT_NONE)
        group->list.first = added;
    else
        grown[group->last].next = added;
    group->last = added;
    return 0;
}

static void account(struct compiler *compiler, uint64_t length, uint32_t depth)
{
    struct edge_list *list = &compiler->nodes->open[compiler->depth].list;
    list->length = saturating_add(list->length, length);
    if (list->depth < depth)
        list->depth = depth;
}

static int compile_literal(struct compiler *compiler)
{
    struct edge_nodes *nodes = compiler->nodes;
    size_t first = nodes->sextet_count;
    while (compiler->at < compiler->length) {
        char c = compiler->text[compiler->at];
        int value = value_of(c);
        if (value < 0 && !is_space(c))
            break;
        if (value >= 0) {
            uint8_t *grown =
                grow_array(nodes->sextets, &nodes->sextet_capacity, nodes->sextet_count + 1, 1);
            if (!grown || nodes->sextet_count >= EDGE_TEXT_NONE)
                return no_memory(compiler->error);
            nodes->sextets = grown;
            grown[nodes->sextet_count++] = (uint8_t)value;
        }
        compiler->at++;
    }
    if (nodes->sextet_count == first)
        return 0;
    account(compiler, nodes->sextet_count - first, 0);
    return append(compiler, EDGE_LITERAL, nodes->sextet_count - first, (uint32_t)first);
}

static int open_group(struct compiler *compiler, uint64_t copies, size_t at)
{
    struct edge_nodes *nodes = compiler->nodes;
    struct edge_group *grown =
        grow_array(nodes->open, &nodes->open_capacity, compiler->depth + 1, sizeof *grown);
    if (!grown)
        return no_memory(compiler->error);
    nodes->open = grown;
    grown[compiler->depth] =
        (struct edge_group){.copies = copies,
                            .at = at,
                            .list = {.first = EDGE_TEXT_NONE, .depth = 0, .length = 0},
                            .last = EDGE_TEXT_NONE};
    return 0;
}

static void skip_space(struct compiler *compiler)
{
    while (compiler->at < compiler->length && is_space(compiler->text[compiler->at]))
        compiler->at++;
}

/* "(42*" */
static int compile_open(struct compiler *compiler)
{
    size_t at = compiler->at++;
    uint64_t copies = 0;
    skip_space(compiler);
    if (compiler->at == compiler->length || !is_digit(compiler->text[compiler->at]))
        return bt_fail(compiler->error, BT_DATA, "character %zu: '(' without a number after it",
                       at + 1);
    for (; compiler->at < compiler->length && is_digit(compiler->text[compiler->at]);
         compiler->at++) {
        unsigned digit = (unsigned)(compiler->text[compiler->at] - '0');
        if (copies > (UINT64_MAX - digit) / 10)
            return bt_fail(compiler->error, BT_DATA, "character %zu: repeats more than 2^64 times",
                           at + 1);
        copies = copies * 10 + digit;
    }
    skip_space(compiler);
    if (compiler->at == compiler->length || compiler->text[compiler->at] != '*')
        return bt_fail(compiler->error, BT_DATA, "character %zu: '(' and a number without a '*'",
                       at + 1);
    compiler->at++;
    if (compiler->depth + 1 > EDGE_TEXT_DEPTH_MAX)
        return bt_fail(compiler->error, BT_DATA, "character %zu: nested deeper than %u", at + 1,
                       EDGE_TEXT_DEPTH_MAX);
    compiler->depth++;
    return open_group(compiler, copies, at);
}

/* ")": drops repeats of nothing, and of zero times; merges a single repeat into its list. */
static int compile_close(struct compiler *compiler)
{
    struct edge_nodes *nodes = compiler->nodes;
    if (compiler->depth == 0)
        return bt_fail(compiler->error, BT_DATA, "character %zu: ')' without its '('",
                       compiler->at + 1);
    compiler->at++;
    const struct edge_group closed = nodes->open[compiler->depth--];
    if (closed.copies == 0 || closed.list.first == EDGE_TEXT_NONE)
        return 0;
    if (closed.copies > 1) {
        account(compiler, saturating_multiply(closed.list.length, closed.copies),
                closed.list.depth + 1);
        return append(compiler, EDGE_REPEAT, closed.copies, closed.list.first);
    }
    struct edge_group *group = &nodes->open[compiler->depth];
    account(compiler, closed.list.length, closed.list.depth);
    if (group->list.first == EDGE_TEXT_NONE)
        group->list.first = closed.list.first;
    else
        nodes->nodes[group->last].next = closed.list.first;
    group->last = closed.last;
    return 0;
}

/*
 * The key of a reference whose '<' is at *at, without white space; advances *at past its '>'.
 * Returns its length, or -1 if there is no '>', -2 if it is too long.
 */
static int take_key(char key[EDGE_TEXT_KEY_MAX + 1], const char *text, size_t length, size_t *at)
{
    unsigned used = 0;
    for (size_t i = *at + 1; i < length; i++) {
        if (text[i] == '>') {
            *at = i + 1;
            key[used] = '\0';
            return (int)used;
        }
        if (is_space(text[i]))
            continue;
        if (used == EDGE_TEXT_KEY_MAX)
            return -2;
        key[used++] = text[i];
    }
    return -1;
}

/* "<key>" */
static int compile_reference(struct compiler *compiler)
{
    char key[EDGE_TEXT_KEY_MAX + 1];
    size_t at = compiler->at;
    int key_length = take_key(key, compiler->text, compiler->length, &compiler->at);
    if (key_length == -1)
        return bt_fail(compiler->error, BT_DATA, "character %zu: '<' without its '>'", at + 1);
    if (key_length == -2)
        return bt_fail(compiler->error, BT_DATA, "character %zu: a key longer than %u characters",
                       at + 1, EDGE_TEXT_KEY_MAX);
    const struct edge_list *entry =
        edge_dictionary_find(compiler->dictionary, key, (size_t)key_length);
    if (!entry)
        return bt_fail(compiler->error, BT_DATA,
                       "character %zu: the STRING_DICTIONARY has no key \"%s\"", at + 1, key);
    if (entry->first == EDGE_TEXT_NONE)
        return 0;
    account(compiler, entry->length, entry->depth + 1);
    return append(compiler, EDGE_REFERENCE, 1, entry->first);
}

static int compile_next(struct compiler *compiler)
{
    char c = compiler->text[compiler->at];
    if (is_space(c) || value_of(c) >= 0)
        return compile_literal(compiler);
    switch (c) {
    case '(':
        return compile_open(compiler);
    case ')':
        return compile_close(compiler);
    case '<':
        return compile_reference(compiler);
    default:
        return bt_fail(compiler->error, BT_DATA,
                       "character %zu: 0x%02x is not allowed in an edge-id sequence%s",
                       compiler->at + 1, (unsigned char)c,
                       c == '.' || c == '/'
                           ? ": the 64th character is '-' (DCFG-trace 1.00, section 3.7.1.1)"
                           : "");
    }
}

int edge_text_compile(struct edge_nodes *nodes, struct edge_list *list,
                      const struct edge_dictionary *dictionary, const char *text, size_t length,
                      struct bt_error *error)
{
    struct compiler compiler = {
        .nodes = nodes, .dictionary = dictionary, .text = text, .length = length, .error = error};
    if (length > EDGE_TEXT_BYTES_MAX)
        return bt_fail(error, BT_DATA, "an edge-id sequence of %zu characters; %zu are allowed",
                       length, EDGE_TEXT_BYTES_MAX);
    int result = open_group(&compiler, 1, 0);
    while (result == 0 && compiler.at < length)
        result = compile_next(&compiler);
    if (result < 0)
        return result;
    if (compiler.depth > 0)
        return bt_fail(error, BT_DATA, "character %zu: '(' without its ')'",
                       nodes->open[compiler.depth].at + 1);
    *list = nodes->open[0].list;
    if (list->depth > EDGE_TEXT_DEPTH_MAX)
        return bt_fail(error, BT_DATA, "repeats and references nested deeper than %u",
                       EDGE_TEXT_DEPTH_MAX);
    /* a list with a single reference is the entry referred to */
    if (list->first != EDGE_TEXT_NONE && nodes->nodes[list->first].kind == EDGE_REFERENCE &&
        nodes->nodes[list->first].next == EDGE_TEXT_NONE &&
        nodes == edge_dictionary_nodes(dictionary)) {
        list->first = nodes->nodes[list->first].first;
        list->depth--;
    }
    return 0;
}

int edge_text_references(const char *text, size_t length,
                         int (*found)(void *context, const char *key, size_t key_length, size_t at),
                         void *context)
{
    char key[EDGE_TEXT_KEY_MAX + 1];
    size_t at = 0;
    while (at < length) {
        const char *next = memchr(text + at, '<', length - at);
        if (!next)
            break;
        size_t open = at = (size_t)(next - text);
        int key_length = take_key(key, text, length, &at);
        if (key_length < 0)
            break;
        int result = found(context, key, (size_t)key_length, open);
        if (result != 0)
            return result;
    }
    return 0;
}
