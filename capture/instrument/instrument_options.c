#include "capture/instrument/instrument_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BLANKS " \t\n"

void instrument_say(const char *format, ...)
{
    char text[600] = "bustap: ";
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text + 8, sizeof text - 9, format, arguments);
    va_end(arguments);
    if (size < 0)
        return;
    if ((size_t)size > sizeof text - 10)
        size = sizeof text - 10;
    text[8 + size] = '\n';
    ssize_t written = write(STDERR_FILENO, text, (size_t)size + 9);
    (void)written; /* there is nowhere to report it */
}

static const char *by_name(unsigned number)
{
    return dependences_by_name((enum dependences_by)number);
}

static const char *level_name(unsigned number)
{
    return dependences_level_name((enum dependences_level)number);
}

static const char *kind_name(unsigned number)
{
    return dependence_kind_name((enum dependence_kind)number);
}

/* The number of a word among the names below count; or -1, after a message. */
static int choose(const char *option, const char *word, const char *(*name)(unsigned number),
                  unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcasecmp(name(i), word) == 0)
            return (int)i;
    instrument_say("BUSTAP_DEPEND_OPTIONS: %s: \"%.40s\" is unknown", option, word);
    return -1;
}

static void take_kinds(struct instrument_options *options, char *list)
{
    unsigned kinds = 0;
    char *rest;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const int kind = choose("--kinds", word, kind_name, DEPENDENCE_KINDS);
        if (kind < 0)
            return;
        kinds |= 1u << kind;
    }
    if (kinds)
        options->kinds = kinds;
}

/* false: there is no such option. */
static bool take(struct instrument_options *options, const char *name, char *value)
{
    int number;
    if (strcmp(name, "--by") == 0) {
        if ((number = choose(name, value, by_name, DEPENDENCES_BYS)) >= 0)
            options->by = (enum dependences_by)number;
    } else if (strcmp(name, "--level") == 0) {
        if ((number = choose(name, value, level_name, DEPENDENCES_LEVELS)) >= 0)
            options->level = (enum dependences_level)number;
    } else if (strcmp(name, "--kinds") == 0) {
        take_kinds(options, value);
    } else if (strcmp(name, "--trace") == 0) {
        snprintf(options->trace, sizeof options->trace, "%s", value);
    } else {
        return false;
    }
    return true;
}

static void take_all(struct instrument_options *options, char *text)
{
    char *rest, none[] = "";
    for (char *name = strtok_r(text, BLANKS, &rest); name; name = strtok_r(NULL, BLANKS, &rest)) {
        char *value = strchr(name, '=');
        if (value)
            *value++ = '\0';
        else
            value = strtok_r(NULL, BLANKS, &rest);
        if (!take(options, name, value ? value : none))
            instrument_say("BUSTAP_DEPEND_OPTIONS: \"%.40s\" is not --by, --kinds, --level or "
                           "--trace",
                           name);
    }
}

void instrument_options_read(struct instrument_options *options)
{
    static char copy[4096];
    options->by = DEPENDENCES_BY_LINE;
    options->level = DEPENDENCES_LEVEL_FUNCTION;
    options->kinds = (1u << DEPENDENCE_KINDS) - 1;
    const char *words = getenv("BUSTAP_DEPEND_OPTIONS"), *output = getenv("BUSTAP_DEPEND_OUTPUT");
    snprintf(copy, sizeof copy, "%s", words ? words : "");
    take_all(options, copy);
    if (output && *output)
        snprintf(options->output, sizeof options->output, "%s", output);
    else
        snprintf(options->output, sizeof options->output, "depend.%ld", (long)getpid());
}
