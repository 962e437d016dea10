/* An expression after parsing. Private to formats/record/expression*.c. */
#ifndef FORMATS_RECORD_EXPRESSION_INTERNAL_H
#define FORMATS_RECORD_EXPRESSION_INTERNAL_H

#include "formats/record/expression.h"

enum expression_field {
    FIELD_TYPE,
    FIELD_PROCESSOR,
    FIELD_ADDRESS,
    FIELD_SIZE,
    FIELD_ATTRIBUTE,
    FIELD_TIME,
    FIELD_INDEX
};

/* An interval of times whose ends may be in nanoseconds. */
struct NAMED_FIELDS expression_times {
    uint64_t low, high;
    bool low_ns, high_ns;       /* else ticks */
    bool above_low, below_high; /* that end is excluded */
    bool moment;                /* low is high: the tick that is current then */
};

enum expression_kind { EXPRESSION_AND, EXPRESSION_OR, EXPRESSION_TEST };

#define EXPRESSION_RANGES 6u /* so many are faster than a search */

/*
 * Negations are in the tests: `not (a and b)` is `not a or not b`. The tests of a conjunction or
 * disjunction are of different fields or masks: several of one field are one set.
 */
struct expression_node {
    enum expression_kind kind;
    struct expression_node *children; /* at least one, unless a test */
    struct expression_node *next;     /* of the same parent */

    /* A test. */
    enum expression_field field;
    uint64_t mask;              /* applied to the field's value first */
    struct interval_set values; /* that match */
    bool on_clock;              /* values follow from `times` and the clock */
    bool negated;               /* values are all but `times` */
    struct expression_times *times;
    size_t times_count, times_capacity;

    /* By expression_prepare: for fields of 8 bits whether each value matches, without a mask; and
     * the values that match as ranges, if comparisons with them are faster (else none). */
    uint8_t matches[256];
    unsigned range_count;
    struct expression_range {
        uint32_t low, span; /* matches: value - low <= span, in 32 bits */
    } ranges[EXPRESSION_RANGES];
};

struct expression {
    struct expression_node *root; /* NULL: every record matches */
    bool in_seconds;              /* some times are */
    bool on_clock;                /* it has times */
    bool has_indices;             /* it has tests of the index */
    char warning[200];            /* "": none */
};

/* The highest value that a field can have. */
uint64_t expression_highest(enum expression_field field);

void expression_node_free(struct expression_node *node);

/*
 * Adds a child, which it owns from now on, also on failure. A test of the same field as another
 * child is joined with it. 0 or BT_MEMORY.
 */
int expression_node_add(struct expression_node *parent, struct expression_node *child);

/* expression_select.c: compiles the tests, once their values are known. */
void expression_prepare(struct expression_node *node);

#endif
