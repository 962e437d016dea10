/* Verdicts on files, as `bustap verify` reaches them. */
#ifndef TESTS_SUPPORT_TRACE_JUDGE_H
#define TESTS_SUPPORT_TRACE_JUDGE_H

#include "tools/input/trace_set.h"

/* Judges the captures in the files, with standard error silenced. *verdict is the last capture's,
 * except that complete means all; its `last` is NULL. Returns the number of captures; -1 if the
 * files cannot be read, or if a capture is complete with a reason or incomplete without one. */
int trace_judge(struct trace_verdict *verdict, char *const *paths, int count);

#endif
