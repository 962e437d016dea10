#include "formats/dependences/dependences_rules.h"

#include "formats/base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name, *text;
} rules[DEPENDENCES_RULES] = {
    [DEPENDENCES_RULE_FORMAT] = {"format", "syntax, columns and keys are those of the format"},
    [DEPENDENCES_RULE_VERSION] = {"version", "the version of the format is known"},
    [DEPENDENCES_RULE_TOTALS] = {"totals", "totals agree with one another and with the rows"},
    [DEPENDENCES_RULE_PLACE] = {"place", "places exist; a line has a file, an offset a module"},
    [DEPENDENCES_RULE_LOOP] = {"loop", "loops exist, have a head, and iterate at each entry"},
    [DEPENDENCES_RULE_VERDICT] = {"verdict", "a verdict agrees with what the loop carries"},
    [DEPENDENCES_RULE_TWICE] = {"twice", "no place, head of a loop, or row occurs twice"},
    [DEPENDENCES_RULE_KIND] = {"kind", "a kind is RAW, WAR or WAW, and was traced"},
    [DEPENDENCES_RULE_COUNT] = {"count", "a count is at least 1"},
    [DEPENDENCES_RULE_ORDER] = {"order", "rows are sorted by falling count"},
    [DEPENDENCES_RULE_CARRIED] = {"carried", "a carried row has a loop, and only it has distances"},
    [DEPENDENCES_RULE_DISTANCE] = {"distance",
                                   "1 <= least <= mean <= greatest, mean = sum / count"},
    [DEPENDENCES_RULE_THREAD] = {"thread", "sink and source in a loop are of one thread"},
    [DEPENDENCES_RULE_LEAVE] = {"leave", "a function is left at most as often as entered"},
    [DEPENDENCES_RULE_TIME] = {"time", "a source is before its sink, sinks are in order"},
    [DEPENDENCES_RULE_FROZEN] = {"frozen", "frozen time never falls, nor overtakes pseudo time"},
    [DEPENDENCES_RULE_TOP] = {"top", "at frozen time 0 there is no top-level place"},
};

struct dependences_failures {
    uint64_t total;
    size_t kept, room;
    struct dependences_failure failures[];
};

const char *dependences_rule_name(enum dependences_rule rule)
{
    return rules[rule].name;
}

const char *dependences_rule_text(enum dependences_rule rule)
{
    return rules[rule].text;
}

struct dependences_failures *dependences_failures_new(size_t kept, struct bt_error *error)
{
    struct dependences_failures *failures = NULL;
    if (kept < SIZE_MAX / sizeof failures->failures[0] / 2)
        failures = calloc(1, sizeof *failures + kept * sizeof failures->failures[0]);
    if (failures)
        failures->room = kept;
    else
        bt_fail(error, BT_MEMORY, "no memory for %zu failures", kept);
    return failures;
}

void dependences_failures_free(struct dependences_failures *failures)
{
    free(failures);
}

void dependences_failures_add(struct dependences_failures *failures, enum dependences_rule rule,
                              const char *where, const char *format, ...)
{
    failures->total++;
    if (failures->kept == failures->room)
        return;
    struct dependences_failure *failure = &failures->failures[failures->kept++];
    va_list arguments;
    failure->rule = rule;
    snprintf(failure->where, sizeof failure->where, "%s", where);
    va_start(arguments, format);
    vsnprintf(failure->message, sizeof failure->message, format, arguments);
    va_end(arguments);
    printable_make(failure->message);
}

uint64_t dependences_failures_total(const struct dependences_failures *failures)
{
    return failures->total;
}

const struct dependences_failure *
dependences_failures_kept(const struct dependences_failures *failures, size_t *kept)
{
    *kept = failures->kept;
    return failures->failures;
}
