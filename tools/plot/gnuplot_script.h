/* The text of a gnuplot script, collected in memory. Failures are kept and told at the end. */
#ifndef TOOLS_PLOT_GNUPLOT_SCRIPT_H
#define TOOLS_PLOT_GNUPLOT_SCRIPT_H

#include "formats/base/error.h"

#include <stddef.h>

struct script;

/* NULL and *error without memory. */
struct script *script_new(struct bt_error *error);
void script_free(struct script *script);

/* Appends, as printf does. */
void script_put(struct script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a number, NaN for what is none. */
void script_number(struct script *script, double number);

/*
 * Appends a text in quotes, at most `most` characters of it (0: all), the middle of a longer one
 * replaced by "…". Whatever is no letter or space is written by its number, so that nothing
 * in it means anything to gnuplot; control characters and what is not UTF-8 become U+FFFD. NULL is
 * the empty text.
 */
void script_quote(struct script *script, const char *text, size_t most);

/* The same where gnuplot takes a text for a format of printf: labels of ticks. */
void script_quote_format(struct script *script, const char *text, size_t most);

/* The whole script; *text is valid until the next call. 0 or the first failure. */
int script_text(struct script *script, const char **text, size_t *size, struct bt_error *error);

#endif
