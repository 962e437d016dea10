/* A gnuplot script, built in memory. Errors are kept and reported at the end. */
#ifndef TOOLS_PLOT_GNUPLOT_SCRIPT_H
#define TOOLS_PLOT_GNUPLOT_SCRIPT_H

#include "formats/base/error.h"

#include <stddef.h>

struct gnuplot_script;

/* NULL and *error without memory. */
struct gnuplot_script *gnuplot_script_new(struct bt_error *error);
void gnuplot_script_free(struct gnuplot_script *script);

/* Appends formatted text. */
void gnuplot_script_put(struct gnuplot_script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a number; NaN if it is not finite. */
void gnuplot_script_number(struct gnuplot_script *script, double number);

/*
 * Appends a quoted text of at most `most` characters (0: all); the middle of a longer one is
 * replaced by "…". All characters but letters and spaces are escaped, so that gnuplot interprets
 * none. Control characters and invalid UTF-8 become U+FFFD. NULL is the empty text.
 */
void gnuplot_script_quote(struct gnuplot_script *script, const char *text, size_t most);

/* The same for texts that gnuplot uses as a printf format: labels of ticks. */
void gnuplot_script_quote_format(struct gnuplot_script *script, const char *text, size_t most);

/* The whole script; *text is valid until the next call. 0 or the first error. */
int gnuplot_script_text(struct gnuplot_script *script, const char **text, size_t *size,
                        struct bt_error *error);

#endif
