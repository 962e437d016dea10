/* The parser of expressions. Private to formats/record/expression*.c. */
#ifndef FORMATS_RECORD_EXPRESSION_PARSER_INTERNAL_H
#define FORMATS_RECORD_EXPRESSION_PARSER_INTERNAL_H

#include "formats/record/expression_internal.h"

struct expression_parser {
    const char *text;
    const char *at;
    const struct expression_symbols *symbols;
    struct expression *expression;
    struct bt_error *error;
    unsigned depth; /* of parentheses and negations */
};

/* --- expression_words.c --- */

void expression_skip_space(struct expression_parser *parser);

/* Length of the word of letters, digits and underscores at `at`; 0 if none begins there. */
size_t expression_word_length(const char *at);

/* Takes the word, in either case, or the token. Whether it is there. */
bool expression_take_word(struct expression_parser *parser, const char *word);
bool expression_take(struct expression_parser *parser, const char *token);

/* Reports what is allowed at parser->at. Returns BT_USAGE. */
int expression_expected(const struct expression_parser *parser, const char *what);

/* The same, and names the one of `words`, separated by blanks, that is similar to the word at
 * parser->at in either case. Each word is shorter than EDIT_DISTANCE_BYTES. */
int expression_expected_among(const struct expression_parser *parser, const char *what,
                              const char *words);

/* Takes a number, decimal or 0x, of at most `highest`. 0 or BT_USAGE, with parser->at unchanged. */
int expression_number(struct expression_parser *parser, uint64_t highest, const char *what,
                      uint64_t *number);

/* --- expression_values.c --- */

/* How a comparison compares. */
enum expression_comparison {
    COMPARE_EQUAL,
    COMPARE_NOT_EQUAL,
    COMPARE_LESS,
    COMPARE_AT_MOST,
    COMPARE_GREATER,
    COMPARE_AT_LEAST
};

/*
 * Takes the values after an operator and makes `node`, whose field and mask are set, their test;
 * with symbol the values are names of symbols. 0 or a negative code.
 */
int expression_take_values(struct expression_parser *parser, struct expression_node *node,
                           enum expression_comparison comparison, bool symbol);

#endif
