/* The findings of `bustap doctor`: printed at once and kept for the report. */
#ifndef TOOLS_DOCTOR_FINDINGS_H
#define TOOLS_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum finding_level { FINDING_OK, FINDING_WARNING, FINDING_PROBLEM };

struct finding {
    char subject[128]; /* "machine", or a board's specification */
    const char *check; /* one word: "permission" */
    enum finding_level level;
    char text[1000];  /* what was found */
    char advice[480]; /* what to do; empty: nothing */
};

struct findings {
    FILE *out; /* receives each finding at once, as text; NULL: none */
    const char *subject;
    struct finding *all;
    size_t count, capacity;
    size_t warnings, problems;
    bool incomplete; /* memory was insufficient for some findings */
};

/* Sets the subject of the following findings: its name, which must outlive them, and a description
 * for the text output. */
void findings_subject(struct findings *findings, const char *name, const char *description);

/* Adds a finding, with advice ("" for none) and a text from a printf format. check is a constant.
 */
void findings_add(struct findings *findings, enum finding_level level, const char *check,
                  const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

void findings_free(struct findings *findings);

/* "ok", "warning", "problem" */
const char *findings_level_name(enum finding_level level);

#endif
