#include "tests/support/edge_expand.h"

#include <stdlib.h>
#include <string.h>

#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
#define DIGITS "0123456789"

/* text with its part from begin to end replaced by copies of another string; frees text. */
static char *substitute(char *text, size_t begin, size_t end, const char *by, size_t by_length,
                        size_t copies, size_t length_max)
{
    size_t rest = strlen(text + end);
    char *made = NULL;
    if (by_length == 0)
        copies = 0;
    if (copies <= length_max && copies * by_length + begin + rest <= length_max) {
        made = malloc(begin + copies * by_length + rest + 1);
        memcpy(made, text, begin);
        for (size_t i = 0; i < copies; i++)
            memcpy(made + begin + i * by_length, by, by_length);
        memcpy(made + begin + copies * by_length, text + end, rest + 1);
    }
    free(text);
    return made;
}

static char *substitute_repeat(char *text, size_t at, size_t length_max)
{
    size_t digits = strspn(text + at + 1, DIGITS);
    size_t begin = at + 1 + digits + 1;
    size_t end = begin;
    int depth = 1;
    if (digits == 0 || digits > 12 || text[begin - 1] != '*') {
        free(text);
        return NULL;
    }
    for (; text[end] != '\0'; end++) {
        depth += (text[end] == '(') - (text[end] == ')');
        if (depth == 0)
            break;
    }
    if (text[end] == '\0') {
        free(text);
        return NULL;
    }
    char *body = malloc(end - begin + 1);
    memcpy(body, text + begin, end - begin);
    text = substitute(text, at, end + 1, body, end - begin, strtoul(text + at + 1, NULL, 10),
                      length_max);
    free(body);
    return text;
}

static char *substitute_reference(char *text, size_t at, const struct edge_expand_entry *entries,
                                  size_t count, size_t length_max)
{
    size_t length = strcspn(text + at, ">");
    if (text[at + length] == '>')
        for (size_t i = 0; i < count; i++)
            if (strlen(entries[i].key) == length - 1 &&
                memcmp(entries[i].key, text + at + 1, length - 1) == 0)
                return substitute(text, at, at + length + 1, entries[i].text,
                                  strlen(entries[i].text), 1, length_max);
    free(text);
    return NULL;
}

char *edge_expand(const char *text, const struct edge_expand_entry *entries, size_t count,
                  size_t length_max)
{
    char *made = malloc(strlen(text) + 1);
    size_t at = 0;
    strcpy(made, text);
    while (made && made[at] != '\0') {
        if (strchr(BASE64, made[at]))
            at++;
        else if (made[at] == '(')
            made = substitute_repeat(made, at, length_max);
        else if (made[at] == '<')
            made = substitute_reference(made, at, entries, count, length_max);
        else {
            free(made);
            made = NULL;
        }
    }
    return made;
}

/* Bit number at of a sequence, '0' or '1'; 0 past its end. */
static char bit_of(const char *sequence, size_t length, size_t at)
{
    if (at / 6 >= length)
        return 0;
    size_t value = (size_t)(strchr(BASE64, sequence[at / 6]) - BASE64);
    return value >> (5 - at % 6) & 1 ? '1' : '0';
}

static const struct edge_expand_row *find_row(const struct edge_expand_row *rows, size_t count,
                                              uint32_t current, const char *code)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].current == current && strcmp(rows[i].code, code) == 0)
            return &rows[i];
    return NULL;
}

size_t edge_expand_walk(uint32_t *edges, size_t count, uint32_t first, const char *sequence,
                        const struct edge_expand_row *rows, size_t row_count)
{
    size_t length = strlen(sequence);
    size_t at = 0;
    size_t found = 0;
    if (count > 0)
        edges[found++] = first;
    while (found < count) {
        char code[34] = "";
        size_t bits = 0;
        const struct edge_expand_row *row;
        while (!(row = find_row(rows, row_count, edges[found - 1], code))) {
            code[bits] = bit_of(sequence, length, at++);
            if (code[bits++] == 0 || bits == 33)
                return found;
        }
        for (size_t i = 0; i < row->count && found < count; i++)
            edges[found++] = row->next[i];
    }
    return found;
}
