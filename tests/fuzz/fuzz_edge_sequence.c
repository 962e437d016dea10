/*
 * Edge-id sequences. Input: lines "key text" of a dictionary, then the sequence in the last line.
 * A short sequence must equal the result of substitution in strings.
 */
#include "formats/dcfg/edge_sequence.h"
#include "tests/support/edge_expand.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX  32u
#define EXPANDED_MAX 20000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the requested edges and compares them with expected, unless that is NULL. */
static void read_some(struct edge_sequence *sequence, const char *expected)
{
    static uint8_t values[EXPANDED_MAX + 1];
    size_t count = 0;
    for (size_t piece = 1; count < sizeof values; piece = piece * 3 + 1) {
        size_t room = sizeof values - count;
        size_t added = edge_sequence_read(sequence, values + count, piece < room ? piece : room);
        count += added;
        if (added == 0)
            break;
    }
    if (edge_sequence_length(sequence) < sizeof values && edge_sequence_length(sequence) != count)
        abort();
    if (!expected)
        return;
    if (count != strlen(expected))
        abort();
    for (size_t i = 0; i < count; i++)
        if (edge_text_character(values[i]) != expected[i])
            abort();
}

/* Cuts off the next line; NULL if only the last one remains. */
static char *cut_line(char **rest)
{
    char *line = *rest;
    char *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *rest = end + 1;
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct edge_expand_entry entries[ENTRIES_MAX];
    size_t count = 0;
    char *copy = malloc(size + 1);
    struct edge_dictionary *dictionary = edge_dictionary_new(1 << 20);
    struct edge_sequence *sequence = edge_sequence_new();
    if (!copy || !dictionary || !sequence)
        goto out;
    memcpy(copy, data, size);
    copy[size] = '\0';
    char *rest = copy;
    for (char *line; count < ENTRIES_MAX && (line = cut_line(&rest)) != NULL;) {
        char *text = strchr(line, ' ');
        if (!text)
            continue;
        *text++ = '\0';
        if (edge_dictionary_add(dictionary, line, strlen(line), text, strlen(text), NULL) == 0)
            entries[count++] = (struct edge_expand_entry){.key = line, .text = text};
    }
    if (edge_dictionary_finish(dictionary, NULL) == 0 &&
        edge_sequence_start(sequence, dictionary, rest, strlen(rest), NULL) == 0) {
        char *expected = edge_expand(rest, entries, count, EXPANDED_MAX);
        read_some(sequence, expected);
        free(expected);
    }
out:
    edge_sequence_free(sequence);
    edge_dictionary_free(dictionary);
    free(copy);
    return 0;
}
