/* What a piece of code does, instruction by instruction, on the processor itself: the records that
 * its execution has to give. */
#ifndef TESTS_SUPPORT_EXEC_ORACLE_H
#define TESTS_SUPPORT_EXEC_ORACLE_H

#include "formats/record/record.h"
#include "tests/support/native_run.h"

/*
 * Steps from machine->rip to an int3 (which is in no record) or a fault; writes at most `room`
 * records, and returns how many there are.
 */
size_t exec_oracle_run(struct machine *machine, struct record *records, size_t room,
                       struct native_end *end);

#endif
