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
    DEPEND_CARRY_REDUCTION, /* a sum, minimum or similar, whose order does not matter */
    DEPEND_CARRY_NONE       /* of a value that each iteration computes or has for itself:
                               inductions, scalars of the stack */
};

/* Takes a value that a loop carries in registers: it makes the loop a reduction, or serial. */
typedef int depend_value_function(void *to, bool is_reduction, const char *reason,
                                  struct bt_error *error);

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
