/*
 * The rules for files of dependences, and the violations that readers found.
 * doc/dependences-file.md explains each rule.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_RULES_H
#define FORMATS_DEPENDENCES_DEPENDENCES_RULES_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum dependences_rule {
    DEPENDENCES_RULE_FORMAT,
    DEPENDENCES_RULE_VERSION,
    DEPENDENCES_RULE_TOTALS,
    DEPENDENCES_RULE_PLACE,
    DEPENDENCES_RULE_LOOP,
    DEPENDENCES_RULE_VERDICT,
    DEPENDENCES_RULE_TWICE,
    DEPENDENCES_RULE_KIND,
    DEPENDENCES_RULE_COUNT,
    DEPENDENCES_RULE_ORDER,
    DEPENDENCES_RULE_CARRIED,
    DEPENDENCES_RULE_DISTANCE,
    DEPENDENCES_RULE_THREAD,
    DEPENDENCES_RULE_LEAVE,
    DEPENDENCES_RULE_TIME,
    DEPENDENCES_RULE_FROZEN,
    DEPENDENCES_RULE_TOP,
    DEPENDENCES_RULES
};

/* A rule's name in output, and its text. */
const char *dependences_rule_name(enum dependences_rule rule);
const char *dependences_rule_text(enum dependences_rule rule);

struct dependences_failure {
    enum dependences_rule rule;
    char where[64];    /* "line 12", "dependences[3]"; empty: the message names the location */
    char message[480]; /* no control characters */
};

struct dependences_failures;

/* Keeps the first `kept` failures and counts all. NULL and *error without memory.
 * dependences_failures_free() accepts NULL. */
struct dependences_failures *dependences_failures_new(size_t kept, struct bt_error *error);
void dependences_failures_free(struct dependences_failures *failures);

/* Adds a failure; the message is in printf's format. */
void dependences_failures_add(struct dependences_failures *failures, enum dependences_rule rule,
                              const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The total number of failures, and the ones kept. */
uint64_t dependences_failures_total(const struct dependences_failures *failures);
const struct dependences_failure *
dependences_failures_kept(const struct dependences_failures *failures, size_t *kept);

#endif
