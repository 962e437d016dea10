/* What `bustap doctor` found: each finding is printed as it is made, and kept. */
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
    char text[480];   /* what was found */
    char advice[480]; /* what to do; empty: nothing */
};

struct findings {
    FILE *out; /* each finding as it is made, for people; NULL: nowhere */
    const char *subject;
    struct finding *all;
    size_t count, capacity;
    size_t warnings, problems;
    bool incomplete; /* findings are missing for want of memory */
};

/* Sets the subject of the findings that follow: its name, which must outlive them, and a
 * description for people. */
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
