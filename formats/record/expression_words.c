/* Words and numbers of expressions. */
#include "formats/record/expression_parser_internal.h"

#include "formats/base/edit_distance.h"
#include "formats/base/suggestion.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static unsigned digit_value(char c)
{
    if (is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

void expression_skip_space(struct expression_parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r')
        parser->at++;
}

size_t expression_word_length(const char *at)
{
    size_t length = 0;
    if (is_letter(at[0]))
        while (is_letter(at[length]) || is_digit(at[length]))
            length++;
    return length;
}

bool expression_take_word(struct expression_parser *parser, const char *word)
{
    size_t length = expression_word_length(parser->at);
    if (length != strlen(word) || strncasecmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

bool expression_take(struct expression_parser *parser, const char *token)
{
    size_t length = strlen(token);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    parser->at += length;
    return true;
}

int expression_expected(const struct expression_parser *parser, const char *what)
{
    return bt_fail(parser->error, BT_USAGE, "filter, column %zu: expected %s",
                   (size_t)(parser->at - parser->text) + 1, what);
}

static void copy_lower(char *copy, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        copy[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] - 'A' + 'a' : word[i]);
    copy[length] = '\0';
}

int expression_expected_among(const struct expression_parser *parser, const char *what,
                              const char *words)
{
    const size_t length = expression_word_length(parser->at);
    char given[EDIT_DISTANCE_BYTES], word[EDIT_DISTANCE_BYTES], nearest[EDIT_DISTANCE_BYTES] = "";
    struct suggestion suggestion;
    expression_expected(parser, what);
    if (length == 0 || length >= sizeof given)
        return BT_USAGE;
    copy_lower(given, parser->at, length);
    suggestion_begin(&suggestion, given);
    for (size_t end; *words; words += end + strspn(words + end, " ")) {
        const size_t before = suggestion.distance;
        end = strcspn(words, " ");
        copy_lower(word, words, end);
        suggestion_try(&suggestion, word);
        if (suggestion.distance < before)
            snprintf(nearest, sizeof nearest, "%.*s", (int)end, words);
    }
    return suggestion_add(parser->error, *nearest ? nearest : NULL);
}

/* Whether a hexadecimal number without 0x is at `at`: hexadecimal digits, one a letter. Its length,
 * or 0. */
static size_t bare_hexadecimal(const char *at)
{
    size_t length = 0;
    bool letter = false;
    for (; digit_value(at[length]) < 16; length++)
        letter = letter || !is_digit(at[length]);
    return letter && !is_letter(at[length]) && !is_digit(at[length]) ? length : 0;
}

int expression_number(struct expression_parser *parser, uint64_t highest, const char *what,
                      uint64_t *number)
{
    const char *digit = parser->at;
    unsigned base = 10;
    size_t bare = bare_hexadecimal(digit);
    if (bare > 0 && bare <= 16) {
        char hint[80];
        snprintf(hint, sizeof hint, "0x before a hexadecimal number: 0x%.*s", (int)bare, digit);
        return expression_expected(parser, hint);
    }
    if (digit[0] == '0' && (digit[1] == 'x' || digit[1] == 'X')) {
        base = 16;
        digit += 2;
    }
    if (digit_value(*digit) >= base)
        return expression_expected(parser, what);
    uint64_t value = 0;
    bool too_large = false;
    for (; digit_value(*digit) < base; digit++)
        too_large = too_large || __builtin_mul_overflow(value, base, &value) ||
                    __builtin_add_overflow(value, digit_value(*digit), &value);
    if (is_letter(*digit) || is_digit(*digit))
        return expression_expected(parser, what);
    if (too_large || value > highest) {
        char limit[60];
        snprintf(limit, sizeof limit, "a number of at most %#llx", (unsigned long long)highest);
        return expression_expected(parser, highest == UINT8_MAX ? what : limit);
    }
    parser->at = digit;
    *number = value;
    return 0;
}
