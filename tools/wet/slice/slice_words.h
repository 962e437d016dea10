/* Words for what a slice is made of. */
#ifndef TOOLS_WET_SLICE_SLICE_WORDS_H
#define TOOLS_WET_SLICE_SLICE_WORDS_H

#include "tools/wet/slice/slice_facts.h"

#define SLICE_REGISTER_BYTES 8u
#define SLICE_DIGITS_BYTES   (2 * SLICE_VALUE_BYTES + 3)

/* What a dependence is about: "control", "memory", "flags", "rax", "xmm3" (as wide as it is read),
 * "x87-0" (the physical register), "c0-c3", "k1"; "" of the criterion. Either constant, or in text.
 */
const char *slice_link_name(const struct wet_trace *trace, const struct slice_link *link,
                            char text[SLICE_REGISTER_BYTES]);

/* "0x1f", or "" if there is no value (NULL, or of size 0). In text. */
const char *slice_value_text(const struct slice_value *value, char text[SLICE_DIGITS_BYTES]);

/* The value of the latest of a row's last instances that has one. NULL: none has. */
const struct slice_value *slice_row_value(const struct slice_rows *rows,
                                          const struct slice_row *row, const uint64_t *last,
                                          const struct slice_values *values);

#endif
