/*
 * Not-taken versions: execute a mispredicted path, which changes registers only.
 *
 * A block is a list of instructions. Instructions without memory operands run natively, adjacent
 * ones together. For an instruction with a memory operand, the bytes that it reads are copied to
 * the thread's scratch area, 0 for loads that would fault, and the instruction runs with the
 * scratch area as its operand. Instructions with implicit memory operands (push, movs, ret, ...)
 * are emulated in C. The processor therefore never uses an address of the program, which may be
 * invalid on this path.
 */
#ifndef CAPTURE_EXEC_ARIA_NOT_TAKEN_H
#define CAPTURE_EXEC_ARIA_NOT_TAKEN_H

#include "capture/exec/aria/aria.h"

#define NOT_TAKEN_LIMIT 4096u /* default limit of a call, in instructions */
#define NOT_TAKEN_REPETITIONS                                                                      \
    4096u /* maximum number of repetitions of a string instruction per step */

struct not_taken;

struct not_taken *not_taken_new(struct aria *aria, struct bt_error *error);
void not_taken_free(struct not_taken *not_taken);

/* Executes from the thread's rip: aria_execute() with ARIA_NOT_TAKEN. */
int not_taken_execute(struct not_taken *not_taken, uint64_t limit, struct aria_step *step,
                      struct bt_error *error);

/* Removes the blocks that overlap [begin, end). */
void not_taken_invalidate(struct not_taken *not_taken, uint64_t begin, uint64_t end);

#endif
