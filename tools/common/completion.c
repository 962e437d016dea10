#include "tools/common/completion.h"

#include "tools/common/options.h"

#include <ctype.h>
#include <string.h>

/* What is completed. */
struct completion {
    const struct option_row *rows;      /* NULL: no options but -h */
    const struct command *const *group; /* commands that the first operand can be; or NULL */
    const char *operands;               /* as in struct command */
    bool version;                       /* --version is an option, too */
    const char *word;                   /* the word to complete */
    FILE *out;
};

/* --- candidates ------------------------------------------------------------------------------- */

static void begin(const struct completion *completion, const char *kind, const char *word)
{
    fprintf(completion->out, "%s\t%.*s\n", kind, (int)(word - completion->word), completion->word);
}

/* A candidate of two parts, if it begins with the word. */
static void offer(const struct completion *completion, const char *before, const char *after,
                  const char *description)
{
    const size_t length = strlen(before);
    const size_t typed = strlen(completion->word);
    if (strncmp(before, completion->word, length < typed ? length : typed) == 0 &&
        (typed <= length || strncmp(after, completion->word + length, typed - length) == 0))
        fprintf(completion->out, "%s%s\t%s\n", before, after, description);
}

static void offer_commands(const struct completion *completion,
                           const struct command *const *commands)
{
    for (; commands && *commands; commands++)
        offer(completion, (*commands)->name, "", (*commands)->summary);
}

static void offer_row(const struct completion *completion, const struct option_row *row)
{
    const char letter[] = {row->letter, '\0'};
    offer(completion, "--", row->name, row->help);
    if (row->letter && strlen(completion->word) < 3)
        offer(completion, "-", letter, row->help);
}

static void offer_options(const struct completion *completion)
{
    for (const struct option_row *row = completion->rows; row && row->kind != OPTION_END; row++)
        offer_row(completion, row);
    offer_row(completion, &options_help_row);
    if (completion->version)
        offer(completion, "--version", "", "print the version and end");
}

static bool is_file(const char *argument)
{
    static const char *const files[] = {"FILE", "OUT", "IN", "PATH", "PREFIX", "ELF[@LOAD]"};
    const size_t length = strcspn(argument, " ");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strlen(files[i]) == length && memcmp(files[i], argument, length) == 0)
            return true;
    return false;
}

/* Whether the list of words, up to its end, has the word. */
static bool has_word(const char *list, const char *end, const char *word)
{
    for (const char *at = list; at < end; at++) {
        const size_t size = strcspn(at, ",");
        if (strlen(word) == size && memcmp(at, word, size) == 0)
            return true;
        at += size;
    }
    return false;
}

/* The argument of an option; value is its begin in the completed word. */
static void complete_value(struct completion *completion, const struct option_row *row,
                           const char *value)
{
    char word[OPTION_WORD_BYTES], before[512];
    const char *words = row->argument, *last = value;
    if (options_is_list(row) && strrchr(value, ','))
        last = strrchr(value, ',') + 1;
    bool file = is_file(words);
    options_word(&words, word); /* the name */
    for (const char *rest = words; options_word(&rest, word);) {
        /* "virtual:replay=FILE" */
        char *end = word + strlen(word);
        while (end > word && isupper((unsigned char)end[-1]))
            end--;
        if (*end && end > word && strncmp(word, last, (size_t)(end - word)) == 0) {
            last += end - word;
            file = true;
        }
    }
    begin(completion, file ? "files" : "words", last);
    if ((size_t)(last - completion->word) >= sizeof before)
        return;
    snprintf(before, sizeof before, "%.*s", (int)(last - completion->word), completion->word);
    while (options_word(&words, word)) {
        word[strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] = '\0';
        if (!options_is_list(row) || !has_word(value, last, word))
            offer(completion, before, word, "");
    }
}

/* The words that the first operand can be: "status|start [NAME]". */
static void offer_operands(const struct completion *completion, const char *operands)
{
    char word[OPTION_WORD_BYTES];
    const size_t all = strcspn(operands, " ");
    for (size_t at = 0; at < all;) {
        const size_t size = strcspn(operands + at, "| ");
        snprintf(word, sizeof word, "%.*s", (int)size, operands + at);
        if (!islower((unsigned char)word[0]))
            return;
        offer(completion, word, "", "");
        at += size + (operands[at + size] == '|');
    }
}

static void complete_operand(const struct completion *completion, int number)
{
    static const char *const names[] = {"FILE", "CAPTURE", "IN", "A B"};
    const char *operands = completion->operands;
    const bool program = strstr(operands, "PROGRAM");
    bool files = program;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        files = files || strstr(operands, names[i]);
    begin(completion,
          program && number == 0 ? "command"
          : files                ? "files"
                                 : "words",
          completion->word);
    if (number == 0) {
        offer_commands(completion, completion->group);
        offer_operands(completion, operands);
    }
}

/* --- the words before ------------------------------------------------------------------------- */

/* The row of a long option, name up to its end or '='; it may be shortened. NULL: unknown. */
static const struct option_row *long_row(const struct option_row *rows, const char *name)
{
    const struct option_row *found = NULL;
    const size_t length = strcspn(name, "=");
    for (; rows && rows->kind != OPTION_END; rows++) {
        if (strncmp(rows->name, name, length) != 0)
            continue;
        if (rows->name[length] == '\0')
            return rows;
        found = rows;
    }
    return found;
}

/* The row of the option of "-xyz" whose argument is the next word; NULL: none. */
static const struct option_row *open_letter(const struct option_row *rows, const char *letters)
{
    for (; *letters; letters++)
        for (const struct option_row *row = rows; row && row->kind != OPTION_END; row++)
            if (row->letter == *letters && row->argument)
                return letters[1] ? NULL : row;
    return NULL;
}

/* Whether options end at the first operand. */
static bool ends_at_operand(const struct option_row *rows)
{
    while (rows && rows->kind != OPTION_END)
        rows++;
    return rows && rows->letter == '+';
}

/* Completes words[count - 1]; words[0] is the name of the command. */
static void complete(struct completion *completion, int count, char **words)
{
    const struct option_row *open = NULL; /* the next word is its argument */
    bool ended = false;
    int operands = 0;
    for (int i = 1; i + 1 < count; i++) {
        const char *word = words[i];
        if (open) {
            open = NULL;
        } else if (ended || word[0] != '-' || !word[1]) {
            operands++;
            ended = ended || ends_at_operand(completion->rows);
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else if (word[1] != '-') {
            open = open_letter(completion->rows, word + 1);
        } else if (!strchr(word, '=')) {
            open = long_row(completion->rows, word + 2);
            open = open && open->argument && open->kind != OPTION_OPTIONAL ? open : NULL;
        }
    }
    const char *word = completion->word;
    const char *equals = strchr(word, '=');
    const struct option_row *row = NULL;
    if (!open && !ended && strncmp(word, "--", 2) == 0 && equals)
        row = long_row(completion->rows, word + 2);
    if (open || (row && row->argument)) {
        complete_value(completion, open ? open : row, open ? word : equals + 1);
    } else if (!ended && word[0] == '-') {
        begin(completion, "words", word);
        offer_options(completion);
    } else {
        complete_operand(completion, operands);
    }
}

/* --- programs --------------------------------------------------------------------------------- */

/* bustapd is another program, with options of its own. */
static const struct option_row daemon_rows[] = {
    {OPTION_FILE, 'c', "config", "FILE", "configuration", 0, NULL},
    {OPTION_FILE, 0, "socket", "PATH", "control socket, instead of the configuration's", 0, NULL},
    {OPTION_FLAG, 0, "check", NULL, "read the configuration, report its errors, and end", 0, NULL},
    {OPTION_FLAG, 'f', "foreground", NULL, "accepted; bustapd always stays in the foreground", 0,
     NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static const struct command *find(const struct command *const *list, const char *name)
{
    for (; list && *list; list++)
        if (strcmp((*list)->name, name) == 0)
            return *list;
    return NULL;
}

void completion_print(const struct command *const *commands, int count, char **words, FILE *out)
{
    if (count < 2)
        return;
    const char *slash = strrchr(words[0], '/');
    const char *program = slash ? slash + 1 : words[0];
    struct completion completion = {
        .group = commands, .operands = "", .version = true, .word = words[count - 1], .out = out};
    const struct command *command = NULL;
    if (strcmp(program, "bustapd") == 0) {
        completion.group = NULL;
        completion.rows = daemon_rows;
    } else if (strcmp(program, "b2a") == 0) {
        command = find(commands, "dump");
    }
    /* commands and subcommands before the word */
    const struct command *const *group = command ? NULL : completion.group;
    for (const struct command *next; count > 2 && (next = find(group, words[1]));
         words++, count--) {
        command = next;
        group = command->group;
    }
    if (command) {
        completion.rows = command->options;
        completion.group = command->group;
        completion.operands = command->operands;
        completion.version = false;
    }
    complete(&completion, count, words);
}

/* --- scripts ---------------------------------------------------------------------------------- */

const char *const *completion_script(const char *shell)
{
    static const char *const bash[] = {
#include "tools/common/completion.bash.h"
        NULL};
    static const char *const zsh[] = {
#include "tools/common/completion.zsh.h"
        NULL};
    static const char *const fish[] = {
#include "tools/common/completion.fish.h"
        NULL};
    return strcmp(shell, "bash") == 0   ? bash
           : strcmp(shell, "zsh") == 0  ? zsh
           : strcmp(shell, "fish") == 0 ? fish
                                        : NULL;
}
