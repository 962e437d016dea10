/*
 * What an engine has found, as dependences of formats/dependences: pairs become rows by
 * instruction, loops get verdicts (doc/dependences.md).
 */
#ifndef CAPTURE_DEPEND_DEPEND_REPORT_H
#define CAPTURE_DEPEND_DEPEND_REPORT_H

#include "capture/depend/depend.h"
#include "formats/dependences/dependences.h"

/* What a carried dependence means for the iterations of its loop. */
enum depend_carry {
    DEPEND_CARRY_REAL,
    DEPEND_CARRY_SERIAL,    /* of a value that each iteration needs, at whatever distance it was
                               computed here */
    DEPEND_CARRY_REDUCTION, /* a sum, minimum or similar, whose order does not matter */
    DEPEND_CARRY_NONE       /* of a value that each iteration computes or has for itself:
                               inductions, scalars of the stack */
};

/* What a value means for a loop that carries it. */
enum depend_value {
    DEPEND_VALUE_REDUCTION,
    DEPEND_VALUE_LAST, /* the last iteration's is used after the loop */
    DEPEND_VALUE_SERIAL
};

/* Takes a value that a loop carries in registers, or another reason for its verdict. */
typedef int depend_value_function(void *to, enum depend_value value, const char *reason,
                                  struct bt_error *error);

/* A place in words: a line, of a file other than `own` with its name; else what is known. */
void depend_report_describe(const struct dependence_place *place, const char *own, char *text,
                            size_t size);

/* What the front end knows. Members may be NULL but for place and head. */
struct NAMED_FIELDS depend_report {
    struct dependence_place (*place)(void *context, uint32_t place);
    uint32_t (*head)(void *context, uint32_t loop);  /* place of the loop's head */
    bool (*is_judged)(void *context, uint32_t loop); /* NULL: each loop gets a verdict */
    bool (*is_hidden)(void *context, const struct depend_pair *pair);
    enum depend_carry (*carry)(void *context, const struct depend_pair *pair);
    int (*values)(void *context, uint32_t loop, depend_value_function *add, void *to,
                  struct bt_error *error);
    void *context;
    uint64_t judged_from; /* loops with fewer instructions get no verdict */
};

/* Adds pairs and loops. 0 or BT_MEMORY. */
int depend_report_add(const struct depend_report *report, const struct depend *depend,
                      struct dependences *to, struct bt_error *error);

#endif
