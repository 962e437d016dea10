#include "tools/doctor/findings.h"
#include "formats/base/printable.h"

#include <stdarg.h>
#include <stdlib.h>

const char *findings_level_name(enum finding_level level)
{
    static const char *const names[] = {"ok", "warning", "problem"};
    return names[level];
}

void findings_subject(struct findings *findings, const char *name, const char *description)
{
    findings->subject = name;
    if (findings->out)
        fprintf(findings->out, "%s%s%s\n", PRINTABLE(name), *description ? ": " : "",
                PRINTABLE(description));
}

static struct finding *append(struct findings *findings)
{
    if (findings->count == findings->capacity) {
        size_t capacity = findings->capacity ? findings->capacity * 2 : 32;
        struct finding *grown = realloc(findings->all, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        findings->all = grown;
        findings->capacity = capacity;
    }
    return &findings->all[findings->count++];
}

void findings_add(struct findings *findings, enum finding_level level, const char *check,
                  const char *advice, const char *format, ...)
{
    struct finding alone;
    struct finding *finding = append(findings);
    if (!finding) {
        findings->incomplete = true;
        finding = &alone; /* counted and printed nevertheless */
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    snprintf(finding->subject, sizeof finding->subject, "%s", findings->subject);
    snprintf(finding->advice, sizeof finding->advice, "%s", advice);
    finding->check = check;
    finding->level = level;
    findings->warnings += level == FINDING_WARNING;
    findings->problems += level == FINDING_PROBLEM;
    if (!findings->out)
        return;
    fprintf(findings->out, "  %-8s %s: %s%s%s\n", findings_level_name(level), check,
            PRINTABLE(finding->text), *advice ? "; " : "", PRINTABLE(advice));
    fflush(findings->out); /* the next check may take seconds */
}

void findings_free(struct findings *findings)
{
    free(findings->all);
}
