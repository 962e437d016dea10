/* What a conversion loses, known from the formats before it begins. */
#ifndef TOOLS_CONVERT_LIMITS_H
#define TOOLS_CONVERT_LIMITS_H

#include "formats/foreign/trace_format.h"
#include "formats/record/batch.h"
#include "formats/record/capture_info.h"
#include "tools/input/record_input.h"

#include <stdio.h>

/* What traces hold, by their formats: enum trace_format_content. from: the format of all of them;
 * NULL: as detected. */
unsigned convert_limits_held(const char *from, const struct input_paths *paths);

/*
 * Prints a line for each part of the input that the format cannot hold. held is the result of
 * convert_limits_held(), first the input's first batch, info its header or NULL.
 */
void convert_limits_print(const struct trace_format *format, const struct foreign_options *options,
                          unsigned held, const struct batch *first, const struct capture_info *info,
                          FILE *out);

/* Prints a table of what each format holds. */
void convert_limits_table(FILE *out);

#endif
