#include "capture/instrument/instrument_internal.h"
#include "formats/dependences/dependences_options.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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

static int take_trace(void *field, const char *argument, struct bt_error *error)
{
    (void)error;
    snprintf(field, INSTRUMENT_PATH_BYTES, "%s", argument);
    return 0;
}

#define OPTION(member) offsetof(struct instrument_options, member)

static const struct {
    const char *name;
    size_t offset;
    int (*take)(void *field, const char *argument, struct bt_error *error);
} rows[] = {{"--by", OPTION(by), dependences_take_by},
            {"--kinds", OPTION(kinds), dependences_take_kinds},
            {"--level", OPTION(level), dependences_take_level},
            {"--trace", OPTION(trace), take_trace}};

static void take(struct instrument_options *options, const char *name, const char *argument)
{
    struct bt_error error;
    size_t row = 0;
    while (row < sizeof rows / sizeof rows[0] && strcmp(rows[row].name, name) != 0)
        row++;
    if (row == sizeof rows / sizeof rows[0])
        instrument_say("BUSTAP_DEPEND_OPTIONS: \"%.40s\" is not --by, --kinds, --level or "
                       "--trace",
                       name);
    else if (rows[row].take((char *)options + rows[row].offset, argument, &error) < 0)
        instrument_say("BUSTAP_DEPEND_OPTIONS: %s: %s", name, error.message);
}

static void take_all(struct instrument_options *options, char *text)
{
    char *rest;
    for (char *name = strtok_r(text, BLANKS, &rest); name; name = strtok_r(NULL, BLANKS, &rest)) {
        char *value = strchr(name, '=');
        if (value)
            *value++ = '\0';
        else
            value = strtok_r(NULL, BLANKS, &rest);
        take(options, name, value ? value : "");
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
