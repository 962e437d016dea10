/* Lines of source files that a graph names. */
#ifndef TOOLS_DCFG_SOURCE_TEXT_H
#define TOOLS_DCFG_SOURCE_TEXT_H

#include "formats/dcfg/dcfg.h"

struct source_text;

/* Of a sealed graph, which must outlive it. NULL and *error without memory. */
struct source_text *source_text_new(const struct dcfg *graph, struct bt_error *error);
void source_text_free(struct source_text *source);

/*
 * A line, from 1 on, of a file (an index of graph->file_names), which is read when it is first
 * asked for: without blanks at its ends, tabs as blanks, control characters as '?'. NULL: there is
 * no such line, or the file cannot be read, is larger than 64 MiB or is not a regular file, or 1
 * GiB of other files was read.
 */
const char *source_text_line(struct source_text *source, uint32_t file, uint32_t line);

#endif
