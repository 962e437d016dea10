/*
 * The grammar of expressions, by recursive descent. A negation is passed down: it exchanges "and"
 * and "or", and complements the tests.
 */
#include "formats/record/expression_parser_internal.h"

#include "formats/base/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64u

static const struct {
    const char *name;
    enum expression_field field;
    bool symbol;
} field_names[] = {{"type", FIELD_TYPE, false},       {"processor", FIELD_PROCESSOR, false},
                   {"proc", FIELD_PROCESSOR, false},  {"cpu", FIELD_PROCESSOR, false},
                   {"address", FIELD_ADDRESS, false}, {"addr", FIELD_ADDRESS, false},
                   {"size", FIELD_SIZE, false},       {"attribute", FIELD_ATTRIBUTE, false},
                   {"attr", FIELD_ATTRIBUTE, false},  {"time", FIELD_TIME, false},
                   {"index", FIELD_INDEX, false},     {"symbol", FIELD_ADDRESS, true}};

static const char a_field[] =
    "type, processor, address, size, attribute, time, index, symbol, \"not\" or \"(\"";

static int take_disjunction(struct expression_parser *parser, bool negated,
                            struct expression_node **node);

static struct expression_node *new_node(struct expression_parser *parser, enum expression_kind kind)
{
    struct expression_node *node = calloc(1, sizeof *node);
    if (!node)
        bt_fail(parser->error, BT_MEMORY, "no memory for a filter");
    else
        node->kind = kind;
    return node;
}

/* --- comparisons ----------------------------------------------------------------------------- */

static int take_field(struct expression_parser *parser, struct expression_node *node, bool *symbol)
{
    for (size_t i = 0; i < sizeof field_names / sizeof *field_names; i++)
        if (expression_take_word(parser, field_names[i].name)) {
            node->field = field_names[i].field;
            node->mask =
                node->field == FIELD_ATTRIBUTE ? ATTRIBUTE_MASK : expression_highest(node->field);
            *symbol = field_names[i].symbol;
            return 0;
        }
    return expression_expected_among(parser, a_field,
                                     "type processor address size attribute time index symbol not");
}

/* [ "&" number ] */
static int take_mask(struct expression_parser *parser, struct expression_node *node, bool symbol)
{
    expression_skip_space(parser);
    if (parser->at[0] != '&' || parser->at[1] == '&')
        return 0;
    if (symbol || node->field == FIELD_TIME)
        return expression_expected(parser, "an operator: = or !=");
    parser->at++;
    expression_skip_space(parser);
    return expression_number(parser, expression_highest(node->field), "a mask, such as 0xfff",
                             &node->mask);
}

static int take_operator(struct expression_parser *parser, const struct expression_node *node,
                         bool symbol, enum expression_comparison *comparison)
{
    static const struct {
        const char *token;
        enum expression_comparison comparison;
    } tokens[] = {{"==", COMPARE_EQUAL},   {"=", COMPARE_EQUAL}, {"!=", COMPARE_NOT_EQUAL},
                  {"<=", COMPARE_AT_MOST}, {"<", COMPARE_LESS},  {">=", COMPARE_AT_LEAST},
                  {">", COMPARE_GREATER}};
    bool ordered = !symbol && node->field != FIELD_TYPE && node->field != FIELD_ATTRIBUTE;
    const char *start = parser->at;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        if (!expression_take(parser, tokens[i].token))
            continue;
        *comparison = tokens[i].comparison;
        if (ordered || *comparison == COMPARE_EQUAL || *comparison == COMPARE_NOT_EQUAL)
            return 0;
        parser->at = start;
        break;
    }
    return expression_expected(parser, ordered ? "=, !=, <, <=, > or >=" : "= or !=");
}

static int negate(struct expression_parser *parser, struct expression_node *node)
{
    if (node->on_clock) {
        node->negated = !node->negated;
        return 0;
    }
    if (interval_set_complement(&node->values, node->mask) < 0)
        return bt_fail(parser->error, BT_MEMORY, "no memory for a filter");
    return 0;
}

/* field [ "&" mask ] operator values */
static int take_comparison(struct expression_parser *parser, bool negated,
                           struct expression_node **made)
{
    bool symbol = false;
    enum expression_comparison comparison = COMPARE_EQUAL;
    struct expression_node *node = *made = new_node(parser, EXPRESSION_TEST);
    if (!node)
        return BT_MEMORY;
    int result = take_field(parser, node, &symbol);
    if (result == 0)
        result = take_mask(parser, node, symbol);
    expression_skip_space(parser);
    if (result == 0)
        result = take_operator(parser, node, symbol, &comparison);
    if (result < 0)
        return result;
    parser->expression->has_indices |= node->field == FIELD_INDEX;
    result = expression_take_values(parser, node, comparison, symbol);
    return result == 0 && negated ? negate(parser, node) : result;
}

/* --- connectives ----------------------------------------------------------------------------- */

/* ( "not" | "!" ) factor | "(" disjunction ")" | comparison */
static int take_factor(struct expression_parser *parser, bool negated,
                       struct expression_node **node)
{
    const char *start = parser->at;
    bool inverts = expression_take_word(parser, "not") || expression_take(parser, "!");
    bool group = !inverts && expression_take(parser, "(");
    if (!inverts && !group)
        return take_comparison(parser, negated, node);
    if (parser->depth == DEPTH_MAX) {
        parser->at = start;
        return expression_expected(parser, "fewer than 64 parentheses within each other");
    }
    parser->depth++;
    expression_skip_space(parser);
    int result =
        inverts ? take_factor(parser, !negated, node) : take_disjunction(parser, negated, node);
    parser->depth--;
    if (result < 0 || inverts)
        return result;
    expression_skip_space(parser);
    return expression_take(parser, ")")
               ? 0
               : expression_expected_among(parser, "\"and\", \"or\" or \")\"", "and or");
}

static bool take_and(struct expression_parser *parser)
{
    return expression_take(parser, ",") || expression_take(parser, "&&") ||
           expression_take_word(parser, "and");
}

static bool take_or(struct expression_parser *parser)
{
    return expression_take(parser, "||") || expression_take_word(parser, "or");
}

typedef int take_operand(struct expression_parser *parser, bool negated,
                         struct expression_node **node);

/* operand { connective operand }; a single operand is the node itself. */
static int take_list(struct expression_parser *parser, bool negated, take_operand *operand,
                     bool (*connective)(struct expression_parser *), enum expression_kind kind,
                     struct expression_node **node)
{
    int result = operand(parser, negated, node);
    struct expression_node *parent = NULL;
    for (expression_skip_space(parser); result == 0 && connective(parser);
         expression_skip_space(parser)) {
        struct expression_node *next = NULL;
        if (!parent) {
            parent = new_node(parser, kind);
            if (!parent)
                return BT_MEMORY;
            parent->children = *node;
            *node = parent;
        }
        expression_skip_space(parser);
        result = operand(parser, negated, &next);
        if (result < 0)
            expression_node_free(next);
        else if (expression_node_add(parent, next) < 0)
            result = bt_fail(parser->error, BT_MEMORY, "no memory for a filter");
    }
    if (parent && !parent->children->next) { /* all were tests of one field */
        *node = parent->children;
        parent->children = NULL;
        expression_node_free(parent);
    }
    return result;
}

static int take_conjunction(struct expression_parser *parser, bool negated,
                            struct expression_node **node)
{
    return take_list(parser, negated, take_factor, take_and,
                     negated ? EXPRESSION_OR : EXPRESSION_AND, node);
}

static int take_disjunction(struct expression_parser *parser, bool negated,
                            struct expression_node **node)
{
    return take_list(parser, negated, take_conjunction, take_or,
                     negated ? EXPRESSION_AND : EXPRESSION_OR, node);
}

static int take_all(struct expression_parser *parser)
{
    expression_skip_space(parser);
    if (*parser->at == '\0')
        return 0;
    int result = take_disjunction(parser, false, &parser->expression->root);
    if (result == 0 && *parser->at != '\0')
        result = expression_expected_among(parser, "\"and\", \"or\" or the end", "and or");
    return result;
}

/* As expression_parse; *place: the offset of an error. */
static int parse(struct expression **expression, const char *text,
                 const struct expression_symbols *symbols, size_t *place, struct bt_error *error)
{
    struct expression *made = calloc(1, sizeof *made);
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a filter");
    struct expression_parser parser = {
        .text = text, .at = text, .symbols = symbols, .expression = made, .error = error};
    int result = take_all(&parser);
    if (result == 0 && !made->in_seconds)
        result = expression_clock(made, 0, error);
    *place = (size_t)(parser.at - text);
    if (result < 0) {
        expression_free(made);
        return result;
    }
    *expression = made;
    return 0;
}

int expression_parse(struct expression **expression, const char *text,
                     const struct expression_symbols *symbols, struct bt_error *error)
{
    size_t place;
    return parse(expression, text, symbols, &place, error);
}

/* --- errors ---------------------------------------------------------------------------------- */

#define EXCERPT_BEFORE 100u /* bytes of text before the place */
#define EXCERPT_AFTER  40u  /* and after it */

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

char *expression_excerpt(char out[EXPRESSION_EXCERPT_BYTES], const char *text,
                         const struct expression_symbols *symbols)
{
    struct expression *expression;
    size_t place;
    out[0] = '\0';
    if (parse(&expression, text, symbols, &place, NULL) == 0) {
        expression_free(expression);
        return out;
    }
    size_t start = place > EXCERPT_BEFORE ? place - EXCERPT_BEFORE : 0;
    while (start < place && continues_character(text[start]))
        start++;
    size_t length = strnlen(text + start, place - start + EXCERPT_AFTER);
    while (length > place - start && continues_character(text[start + length]))
        length--;
    char shown[EXCERPT_BEFORE + EXCERPT_AFTER + 1];
    memcpy(shown, text + start, length);
    shown[length] = '\0';
    printable_make(shown);
    size_t column = 0;
    for (size_t i = start; i < place; i++)
        column += !continues_character(text[i]);
    snprintf(out, EXPRESSION_EXCERPT_BYTES, "  %s\n  %*s^\n", shown, (int)column, "");
    return out;
}
