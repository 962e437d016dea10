/* The expected records of a piece of code: single-steps it on the processor itself. */
#ifndef TESTS_SUPPORT_EXEC_ORACLE_H
#define TESTS_SUPPORT_EXEC_ORACLE_H

#include "formats/record/record.h"
#include "tests/support/native_run.h"

/*
 * Steps from machine->rip to an int3 (which has no record) or a fault. Writes at most `room`
 * records, and returns their number.
 */
size_t exec_oracle_run(struct machine *machine, struct record *records, size_t room,
                       struct native_end *end);

#endif
