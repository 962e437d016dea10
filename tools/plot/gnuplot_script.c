#include "tools/plot/gnuplot_script.h"

#include "formats/base/utf8.h"
#include "formats/text/text_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS    "\xe2\x80\xa6"
#define REPLACEMENT "\xef\xbf\xbd"

struct gnuplot_script {
    struct text_writer *writer;
    struct bt_error failure;
};

struct gnuplot_script *gnuplot_script_new(struct bt_error *error)
{
    struct gnuplot_script *script = calloc(1, sizeof *script);
    if (!script) {
        bt_fail(error, BT_MEMORY, "no memory for a figure");
        return NULL;
    }
    script->writer = text_writer_new_memory(error);
    if (!script->writer) {
        free(script);
        return NULL;
    }
    return script;
}

void gnuplot_script_free(struct gnuplot_script *script)
{
    if (!script)
        return;
    text_writer_free(script->writer);
    free(script);
}

void gnuplot_script_put(struct gnuplot_script *script, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0 || size >= (int)sizeof text)
        bt_fail(&script->failure, BT_IO, "a line of a figure is too long");
    else
        text_writer_put(script->writer, text, (size_t)size, &script->failure);
}

void gnuplot_script_number(struct gnuplot_script *script, double number)
{
    if (isfinite(number))
        gnuplot_script_put(script, " %.12g", number);
    else
        gnuplot_script_put(script, " NaN");
}

/* Number of octets of the character at text; 1 if it is not UTF-8. */
static size_t character_size(const char *text, const char *end)
{
    size_t size = (unsigned char)*text < 0x80 ? 1 : utf8_length(text, end);
    return size > 0 ? size : 1;
}

static size_t characters(const char *text)
{
    const char *end = text + strlen(text);
    size_t count = 0;
    for (; text < end; text += character_size(text, end))
        count++;
    return count;
}

static void put_octets(struct gnuplot_script *script, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        gnuplot_script_put(script, "\\%03o", (unsigned)(unsigned char)text[i]);
}

static void put_character(struct gnuplot_script *script, const char *text, size_t size,
                          bool in_format)
{
    if (in_format && *text == '%')
        put_octets(script, text, size);
    unsigned char first = (unsigned char)*text;
    /* a digit here would continue the octal number before it */
    bool plain = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == ' ';
    if (plain)
        gnuplot_script_put(script, "%c", first);
    else if (size == 1 && (first < ' ' || first >= 0x7f))
        put_octets(script, REPLACEMENT, strlen(REPLACEMENT));
    else
        put_octets(script, text, size);
}

static void quote(struct gnuplot_script *script, const char *text, size_t most, bool in_format)
{
    text = text ? text : "";
    const char *end = text + strlen(text);
    size_t count = characters(text);
    bool cut = most > 0 && count > most;
    size_t head = cut ? most / 2 : count;        /* before the ellipsis */
    size_t tail = cut ? most - most / 2 - 1 : 0; /* after the ellipsis */
    gnuplot_script_put(script, "\"");
    for (size_t at = 0; text < end; at++) {
        size_t size = character_size(text, end);
        if (at < head || at >= count - tail)
            put_character(script, text, size, in_format);
        else if (at == head)
            put_octets(script, ELLIPSIS, strlen(ELLIPSIS));
        text += size;
    }
    gnuplot_script_put(script, "\"");
}

void gnuplot_script_quote(struct gnuplot_script *script, const char *text, size_t most)
{
    quote(script, text, most, false);
}

void gnuplot_script_quote_format(struct gnuplot_script *script, const char *text, size_t most)
{
    quote(script, text, most, true);
}

int gnuplot_script_text(struct gnuplot_script *script, const char **text, size_t *size,
                        struct bt_error *error)
{
    if (script->failure.code < 0) {
        if (error)
            *error = script->failure;
        return script->failure.code;
    }
    *text = text_writer_memory(script->writer, size);
    return 0;
}
