/* A small graph and its trace that are right, as texts, for tests that break one thing in them. */
#ifndef TESTS_TOOLS_DCFG_GRAPH_CHECK_FIXTURE_H
#define TESTS_TOOLS_DCFG_GRAPH_CHECK_FIXTURE_H

#include "formats/text/text_writer.h"
#include "tools/dcfg/graph/check.h"

extern const char check_fixture_graph[];
extern const char check_fixture_trace[];

/*
 * The text with its ' made ", and the first place where it has `find` (not NULL) replaced; ends the
 * program if there is none. Free it.
 */
char *check_fixture_text(const char *text, const char *find, const char *replace);

/* Checks texts, the trace may be NULL; as strictly as `bustap dcfg check`. Ends the program without
 * memory. Free with check_free. */
struct check *check_fixture_run(const char *graph, const char *trace);

/* The same of texts that do not end with 0. */
struct check *check_fixture_run_sized(const char *graph, size_t graph_size, const char *trace,
                                      size_t trace_size);

/* Whether a graph and its trace, as our writers write them, break no rule; tells what they break on
 * standard error. */
bool check_fixture_good(const struct dcfg *graph, const struct text_writer *trace);

#endif
