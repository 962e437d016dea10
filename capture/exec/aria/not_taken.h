/*
 * Not-taken versions: what a mispredicted path executes, with no effect but on registers.
 *
 * A block is a list of instructions. Those without memory run natively, as many at a time as there
 * are side by side. Of one with a memory operand the bytes that it reads are copied to the thread's
 * scratch area, with 0 for loads that would fault, and it runs with that as its operand, whatever
 * it does there. What finds memory by itself (push, movs, ret ...) is done here, in C. So no
 * address of the program, which may be anything here, is ever used by the processor.
 */
#ifndef CAPTURE_EXEC_ARIA_NOT_TAKEN_H
#define CAPTURE_EXEC_ARIA_NOT_TAKEN_H

#include "capture/exec/aria/aria.h"

#define NOT_TAKEN_LIMIT       4096u /* instructions of a call, where no limit is given */
#define NOT_TAKEN_REPETITIONS 4096u /* of a string instruction at a time */

struct not_taken;

struct not_taken *not_taken_new(struct aria *aria, struct bt_error *error);
void not_taken_free(struct not_taken *not_taken);

/* From the thread's rip on; ARIA_NOT_TAKEN of aria_execute(). */
int not_taken_execute(struct not_taken *not_taken, uint64_t limit, struct aria_step *step,
                      struct bt_error *error);

/* Forgets the blocks with a byte of [begin, end). */
void not_taken_invalidate(struct not_taken *not_taken, uint64_t begin, uint64_t end);

#endif
