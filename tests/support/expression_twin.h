/* Random filter expressions with a slow, obvious evaluation: of one record and one test at a time,
 * without a parser. */
#ifndef TESTS_SUPPORT_EXPRESSION_TWIN_H
#define TESTS_SUPPORT_EXPRESSION_TWIN_H

#include "formats/record/expression.h"

#include <stdio.h>

#define EXPRESSION_TWIN_CLOCK UINT64_C(3000) /* ticks a second: most times are within a tick */

struct expression_twin;

/* Makes an expression of about `size` tests. without_places: no times and indices. */
struct expression_twin *expression_twin_new(uint64_t *random, unsigned size, bool without_places);
void expression_twin_free(struct expression_twin *twin);

/* Writes the text in one of the forms that mean the same. */
void expression_twin_put(const struct expression_twin *twin, uint64_t *random, FILE *out);

bool expression_twin_match(const struct expression_twin *twin, const struct record *record,
                           uint64_t index, uint64_t tick);

/* Symbols of the expressions: "low", "high" and "none", which has no addresses. */
extern const struct expression_symbols expression_twin_symbols;

/* A record near the values of these expressions. on_board: that a board can deliver. */
struct record expression_twin_record(uint64_t *random, bool on_board);

#endif
