/* The text of a gnuplot script, collected in memory. Failures are kept and told at the end. */
#ifndef TOOLS_PLOT_GNUPLOT_SCRIPT_H
#define TOOLS_PLOT_GNUPLOT_SCRIPT_H

#include "formats/base/error.h"

#include <stddef.h>

struct gnuplot_script;

/* NULL and *error without memory. */
struct gnuplot_script *gnuplot_script_new(struct bt_error *error);
void gnuplot_script_free(struct gnuplot_script *script);

/* Appends, as printf does. */
void gnuplot_script_put(struct gnuplot_script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a number, NaN for what is none. */
void gnuplot_script_number(struct gnuplot_script *script, double number);

/*
 * Appends a text in quotes, at most `most` characters of it (0: all), the middle of a longer one
 * replaced by "…". Whatever is no letter or space is written by its number, so that nothing
 * in it means anything to gnuplot; control characters and what is not UTF-8 become U+FFFD. NULL is
 * the empty text.
 */
void gnuplot_script_quote(struct gnuplot_script *script, const char *text, size_t most);

/* The same where gnuplot takes a text for a format of printf: labels of ticks. */
void gnuplot_script_quote_format(struct gnuplot_script *script, const char *text, size_t most);

/* The whole script; *text is valid until the next call. 0 or the first failure. */
int gnuplot_script_text(struct gnuplot_script *script, const char **text, size_t *size,
                        struct bt_error *error);

#endif
