/* A small valid graph and its trace, as texts, for tests that change one place in them. */
#ifndef TESTS_TOOLS_DCFG_GRAPH_CHECK_FIXTURE_H
#define TESTS_TOOLS_DCFG_GRAPH_CHECK_FIXTURE_H

#include "formats/text/text_writer.h"
#include "tools/dcfg/graph/check.h"

extern const char check_fixture_graph[];
extern const char check_fixture_trace[];

/*
 * The text with " for ', and with the first occurrence of `find` (NULL: none) replaced. The caller
 * frees it. Ends the program if `find` does not occur.
 */
char *check_fixture_text(const char *text, const char *find, const char *replace);

/* Checks texts as `bustap dcfg check` does; the trace may be NULL. Ends the program if memory is
 * exhausted. Free with check_free. */
struct check *check_fixture_run(const char *graph, const char *trace);

/* Like check_fixture_run, for texts without a terminating zero. */
struct check *check_fixture_run_sized(const char *graph, size_t graph_size, const char *trace,
                                      size_t trace_size);

/* Whether a graph and its trace, as our writers write them, are valid; prints failures to standard
 * error. */
bool check_fixture_good(const struct dcfg *graph, const struct text_writer *trace);

#endif
