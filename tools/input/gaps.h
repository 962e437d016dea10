/* Reports of gaps: times in which the board was disconnected or silent. */
#ifndef TOOLS_INPUT_GAPS_H
#define TOOLS_INPUT_GAPS_H

#include "tools/common/json_report.h"
#include "tools/input/trace_check.h"

#define GAPS_LENGTH_BYTES   24u
#define GAPS_SENTENCE_BYTES 160u

/* "250 ms", "3.2 s", "1.5 h"; text has room for GAPS_LENGTH_BYTES. Returns text. */
char *gaps_length(char *text, uint64_t milliseconds);

/* "gap of 3.2 s at tick 500 (12 requests lost, counted)", or why losses are not counted; text has
 * room for GAPS_SENTENCE_BYTES. Returns text. */
char *gaps_sentence(char *text, const struct trace_gap *gap);

/* Prints an indented line for each gap of a file; dated: with its date and time. */
void gaps_print(const struct trace_file *file, const char *indentation, bool dated);

/* "gaps": 2, "gap_s": 3.250, "uncounted_gaps": 0, "chosen_gaps": 0, "gap_places": [...] for all of
 * count files. */
void gaps_json(struct json_put *json, const struct trace_file *files, size_t count);

#endif
