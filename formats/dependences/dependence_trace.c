#include "formats/dependences/dependence_trace.h"

#include "formats/base/digits.h"
#include "formats/base/utf8.h"

#include <inttypes.h>
#include <string.h>

/* The number of octets from text on that have to be escaped; 0: none, and *pass octets are kept. */
static size_t escaped(const char *text, const char *end, size_t *pass)
{
    const unsigned char octet = (unsigned char)*text;
    *pass = 1;
    if (octet < 0x80)
        return octet <= ' ' || octet == 0x7f || octet == '\\';
    *pass = utf8_length(text, end);
    if (*pass == 0)
        return 1;
    return octet == 0xc2 && (unsigned char)text[1] < 0xa0 ? 2 : 0; /* C1 control characters */
}

/* Writes the token of a name at `at`; returns its end. */
static char *put_name(char *at, const char *name)
{
    const char *end = name + strnlen(name, DEPENDENCES_NAME_BYTES - 1);
    const bool is_mark = strcmp(name, "?") == 0; /* the name of what is unknown */
    while (name < end) {
        size_t pass;
        size_t count = is_mark ? 1 : escaped(name, end, &pass);
        for (size_t i = 0; i < count; i++)
            at += sprintf(at, "\\%03o", (unsigned char)name[i]);
        if (count == 0) {
            memcpy(at, name, pass);
            at += pass;
            count = pass;
        }
        name += count;
    }
    *at = 0;
    return at;
}

const char *dependence_trace_name(const char *name, char token[DEPENDENCE_TOKEN_BYTES])
{
    if (name && *name)
        put_name(token, name);
    else
        strcpy(token, "?");
    return token;
}

const char *dependence_trace_place(const struct dependence_place *place,
                                   char token[DEPENDENCE_TOKEN_BYTES])
{
    char name[DEPENDENCES_NAME_BYTES];
    if (place && place->file && *place->file) {
        char *at = put_name(token, place->file);
        sprintf(at, ":%" PRIu32, place->line);
        return token;
    }
    if (place && place->module && *place->module && place->offset != DEPENDENCES_UNKNOWN)
        /* shorter, so that the offset is not cut off */
        snprintf(name, sizeof name, "%.*s+0x%" PRIx64, (int)sizeof name - 20, place->module,
                 place->offset);
    else if (place && place->address != DEPENDENCES_UNKNOWN)
        snprintf(name, sizeof name, "0x%" PRIx64, place->address);
    else
        return strcpy(token, "?:0");
    strcpy(put_name(token, name), ":0");
    return token;
}

/* Puts a blank and a number; returns the end. */
static char *put_number(char *at, uint64_t number)
{
    *at++ = ' ';
    return digits_put_decimal(at, number);
}

void dependence_trace_put(const struct dependence_event *event, FILE *out)
{
    if (event->kind == DEPENDENCE_ENTER) {
        fprintf(out, "enter %s %s\n", event->file, event->function);
        return;
    }
    if (event->kind == DEPENDENCE_LEAVE) {
        fprintf(out, "leave %s\n", event->function);
        return;
    }
    char numbers[4 * (DIGITS_DECIMAL_MAX + 1) + 16];
    char *at = put_number(numbers, event->pseudo_sink);
    at = put_number(at, event->pseudo_source);
    at = put_number(at, event->frozen_sink);
    at = put_number(at, event->frozen_source);
    *at++ = '\n';
    fputs("dep ", out);
    fputs(event->sink, out);
    putc(' ', out);
    fputs(event->source, out);
    putc(' ', out);
    fputs(event->top_sink, out);
    putc(' ', out);
    fputs(event->top_source, out);
    fwrite(numbers, 1, (size_t)(at - numbers), out);
}
