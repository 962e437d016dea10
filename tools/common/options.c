#include "tools/common/options.h"

#include "formats/base/edit_distance.h"
#include "formats/base/quantity.h"
#include "formats/base/suggestion.h"
#include "tools/common/wrap.h"

#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LONG_ONLY 0x100 /* getopt's value of row n is LONG_ONLY + n */

const struct option_row options_help_row = {OPTION_FLAG,          'h', "help", NULL,
                                            "print this and end", 0,   NULL};

/* The table in getopt's form. */
struct getopt_tables {
    struct option *rows; /* the command's rows, --help, an empty row */
    char *letters;
    int count; /* number of the command's rows */
};

static const struct option_row *row_at(const struct getopt_tables *tables,
                                       const struct option_row *rows, int n)
{
    return n < tables->count ? &rows[n] : &options_help_row;
}

static void free_tables(struct getopt_tables *tables)
{
    free(tables->rows);
    free(tables->letters);
}

/* Length of the argument's name. */
static int argument_length(const struct option_row *row)
{
    return row->argument ? (int)strcspn(row->argument, " ") : 0;
}

/* 0 or BT_MEMORY; free_tables in any case. */
static int make_tables(struct getopt_tables *tables, const struct option_row *rows,
                       struct bt_error *error)
{
    memset(tables, 0, sizeof *tables);
    while (rows[tables->count].kind != OPTION_END)
        tables->count++;
    size_t size = (size_t)tables->count + 2;
    tables->rows = calloc(size, sizeof *tables->rows);
    tables->letters = calloc(size, 2); /* "+:", "x:" of each row, "h", the end */
    if (!tables->rows || !tables->letters)
        return bt_fail(error, BT_MEMORY, "no memory for options");
    char *letter = tables->letters;
    if (rows[tables->count].letter == '+')
        *letter++ = '+';
    *letter++ = ':'; /* getopt then distinguishes missing arguments from unknown options */
    for (int n = 0; n <= tables->count; n++) {
        const struct option_row *row = row_at(tables, rows, n);
        tables->rows[n] = (struct option){row->name,
                                          row->kind == OPTION_OPTIONAL ? optional_argument
                                          : row->argument              ? required_argument
                                                                       : no_argument,
                                          NULL, LONG_ONLY + n};
        if (row->letter) {
            *letter++ = row->letter;
            if (row->argument)
                *letter++ = ':';
        }
    }
    return 0;
}

/* Index of the row of getopt_long's answer, or -1. */
static int row_of(const struct getopt_tables *tables, const struct option_row *rows, int answer)
{
    if (answer >= LONG_ONLY)
        return answer - LONG_ONLY;
    for (int n = 0; n <= tables->count; n++)
        if (answer != 0 && row_at(tables, rows, n)->letter == answer)
            return n;
    return -1;
}

static int take_number(uint32_t *number, const char *argument, struct bt_error *error)
{
    uint64_t value;
    int result = quantity_count(&value, argument, error);
    if (result < 0)
        return result;
    if (value > UINT32_MAX)
        return bt_fail(error, BT_USAGE, "\"%.40s\" is too large", argument);
    *number = (uint32_t)value;
    return 0;
}

static int take_file(const char **name, const char *argument, struct bt_error *error)
{
    *name = argument;
    return *argument ? 0 : bt_fail(error, BT_USAGE, "the name of a file is empty");
}

static int take_positive(uint64_t *number, const char *argument, struct bt_error *error)
{
    int result = quantity_count(number, argument, error);
    if (result == 0 && *number == 0)
        return bt_fail(error, BT_USAGE, "\"%.40s\" should be above 0", argument);
    return result;
}

static int take(const struct option_row *row, void *settings, const char *argument,
                struct bt_error *error)
{
    void *field = (char *)settings + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)field = argument;
        return 0;
    case OPTION_FILE:
        return take_file(field, argument, error);
    case OPTION_POSITIVE:
        return take_positive(field, argument, error);
    case OPTION_COUNT:
        return quantity_count(field, argument, error);
    case OPTION_NUMBER:
        return take_number(field, argument, error);
    case OPTION_BYTES:
        return quantity_bytes(field, argument, error);
    case OPTION_DURATION:
        return quantity_duration(field, argument, error);
    case OPTION_CALL:
    case OPTION_OPTIONAL:
        return row->take(field, argument, error);
    default:
        return bt_fail(error, BT_USAGE, "option --%s has an unknown kind", row->name);
    }
}

char *options_word(const char **words, char word[OPTION_WORD_BYTES])
{
    *words += strspn(*words, " ,");
    size_t length = strcspn(*words, " ");
    snprintf(word, OPTION_WORD_BYTES, "%.*s", (int)length, *words);
    *words += length;
    return length > 0 ? word : NULL;
}

bool options_is_list(const struct option_row *row)
{
    return row->argument && strstr(row->argument, " , ");
}

/* The word of the row that `given` is most similar to, in `nearest`; NULL: it is one of them, or
 * similar to none. */
static char *similar_word(const struct option_row *row, const char *given,
                          char nearest[OPTION_WORD_BYTES])
{
    const char *words = row->argument;
    char word[OPTION_WORD_BYTES];
    struct suggestion suggestion;
    size_t distance = SIZE_MAX;
    suggestion_begin(&suggestion, given);
    options_word(&words, word); /* the name */
    while (options_word(&words, word)) {
        char name[OPTION_WORD_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "=:"), word);
        suggestion_try(&suggestion, name);
        if (suggestion.nearest && suggestion.distance < distance) {
            distance = suggestion.distance;
            strcpy(nearest, word);
        }
    }
    return distance == 0 || distance == SIZE_MAX ? NULL : nearest;
}

/* Completes the message about an argument with the word that may be meant. */
static void suggest_word(const struct option_row *row, const char *argument, struct bt_error *error)
{
    char given[OPTION_WORD_BYTES], nearest[OPTION_WORD_BYTES];
    if (strstr(error->message, "did you mean"))
        return;
    do {
        size_t length = options_is_list(row) ? strcspn(argument, ",") : strlen(argument);
        size_t word = strcspn(argument, "=:"); /* "size" of "size=4K" */
        snprintf(given, sizeof given, "%.*s", (int)(word < length ? word : length), argument);
        if (similar_word(row, given, nearest)) {
            suggestion_add(error, nearest);
            return;
        }
        argument += length;
    } while (*argument++);
}

int options_wrong_word(const struct option_row *rows, const char *name, const char *given,
                       struct bt_error *error)
{
    while (strcmp(rows->name, name) != 0)
        rows++;
    const char *words = rows->argument;
    char word[OPTION_WORD_BYTES], known[160] = "";
    size_t used = 0;
    options_word(&words, word); /* the name */
    for (bool first = true; options_word(&words, word); first = false)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                 first    ? ""
                                 : *words ? ", "
                                          : " or ",
                                 word);
    bt_fail(error, BT_USAGE, "--%s: '%.40s' is not %s", name, given, known);
    suggest_word(rows, given, error);
    return BT_USAGE;
}

/* The long option that argument, "--NAME" or "--NAME=VALUE", is most similar to; NULL: none. */
static const char *similar_option(const struct getopt_tables *tables, const struct option_row *rows,
                                  const char *argument)
{
    char name[EDIT_DISTANCE_BYTES];
    struct suggestion suggestion;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    suggestion_begin(&suggestion, name);
    for (int n = 0; n <= tables->count; n++)
        suggestion_try(&suggestion, row_at(tables, rows, n)->name);
    return suggestion.nearest;
}

static int unknown(const struct getopt_tables *tables, const struct option_row *rows,
                   const char *argument, struct bt_error *error)
{
    const char *nearest = similar_option(tables, rows, argument);
    if (nearest)
        return bt_fail(error, BT_USAGE, "unknown option %.60s, did you mean --%s?", argument,
                       nearest);
    return bt_fail(error, BT_USAGE, "unknown option %.60s", argument);
}

/* The error for getopt's '?' and ':'; argument is the last one that it examined. */
static int wrong(const struct getopt_tables *tables, const struct option_row *rows, int answer,
                 const char *argument, struct bt_error *error)
{
    int n = row_of(tables, rows, optopt);
    bool is_long = strncmp(argument, "--", 2) == 0;
    if (answer == ':')
        return bt_fail(error, BT_USAGE, "option --%s needs %.*s", row_at(tables, rows, n)->name,
                       argument_length(row_at(tables, rows, n)), row_at(tables, rows, n)->argument);
    if (n >= 0)
        return bt_fail(error, BT_USAGE, "option --%s takes no argument",
                       row_at(tables, rows, n)->name);
    if (is_long)
        return unknown(tables, rows, argument, error);
    return bt_fail(error, BT_USAGE, "unknown option -%c", optopt);
}

/* Begins the message with the option's name. */
static int name_option(const struct option_row *row, struct bt_error *error)
{
    size_t length = strlen(row->name);
    if (strncmp(error->message, row->name, length) != 0)
        return bt_fail_within(error, "--%s", row->name);
    memmove(error->message + 2, error->message, sizeof error->message - 2);
    memcpy(error->message, "--", 2);
    error->message[sizeof error->message - 1] = '\0';
    return error->code;
}

static int parse(const struct getopt_tables *tables, const struct option_row *rows, void *settings,
                 int count, char **arguments, struct bt_error *error)
{
    opterr = 0;
    optind = 0; /* glibc and musl: start a new scan */
    for (;;) {
        int answer = getopt_long(count, arguments, tables->letters, tables->rows, NULL);
        if (answer == -1)
            return optind;
        int n = row_of(tables, rows, answer);
        if (n < 0)
            return wrong(tables, rows, answer, arguments[optind - 1], error);
        if (n == tables->count)
            return 0;
        if (rows[n].kind == OPTION_OPTIONAL && !optarg && optind < count &&
            isdigit((unsigned char)arguments[optind][0]))
            optarg = arguments[optind++];
        int result = take(&rows[n], settings, optarg, error);
        if (result < 0) {
            if (optarg)
                suggest_word(&rows[n], optarg, error);
            return name_option(&rows[n], error);
        }
    }
}

int options_parse(const struct option_row *rows, void *settings, int count, char **arguments,
                  struct bt_error *error)
{
    struct getopt_tables tables;
    int result = make_tables(&tables, rows, error);
    if (result == 0)
        result = parse(&tables, rows, settings, count, arguments, error);
    free_tables(&tables);
    return result;
}

/* Column of the help texts. */
#define HELP_COLUMN 31u

static void print_row(const struct option_row *row, FILE *out)
{
    char form[64];
    snprintf(form, sizeof form, "--%s%s%.*s", row->name, row->argument ? " " : "",
             argument_length(row), row->argument ? row->argument : "");
    if (row->letter)
        fprintf(out, "  -%c, %-24s ", row->letter, form);
    else
        fprintf(out, "      %-24s ", form);
    wrap_print(row->help, HELP_COLUMN, out);
}

/* Whether an argument is a number with a unit, or a range of times. */
static bool has_quantity(const struct option_row *rows)
{
    for (; rows->kind != OPTION_END; rows++)
        if ((rows->kind >= OPTION_COUNT && rows->kind <= OPTION_DURATION) ||
            (rows->argument && strcmp(rows->argument, "A..B") == 0))
            return true;
    return false;
}

void options_help(const struct option_row *rows, FILE *out)
{
    const bool quantity = has_quantity(rows);
    for (; rows->kind != OPTION_END; rows++)
        print_row(rows, out);
    print_row(&options_help_row, out);
    if (quantity)
        fputs("\n10K records are 10,000, 256K bytes are 262,144: see UNITS in bustap(1).\n", out);
}
