/* A filter as an expression, for reports. */
#ifndef FORMATS_RECORD_FILTER_WORDS_H
#define FORMATS_RECORD_FILTER_WORDS_H

#include "formats/record/filter.h"

#define FILTER_WORDS_BYTES 480u

/* Writes an expression of doc/filter.md that means the filter; "" if it passes everything. Returns
 * out. */
char *filter_words(char out[FILTER_WORDS_BYTES], const struct filter *filter);

#endif
