/* Filters that a board can do whole, and whether records pass them. */
#ifndef TESTS_SUPPORT_FILTER_CLAUSES_H
#define TESTS_SUPPORT_FILTER_CLAUSES_H

#include <stdbool.h>
#include <stdint.h>

/* How many of them `passes` judges otherwise, as neither the host's expression nor the board's
 * filter may; prints these. */
unsigned filter_clauses_wrong(bool (*passes)(const char *text, uint8_t type, uint8_t processor,
                                             uint32_t address));

#endif
