/*
 * Far returns, jumps and calls that stay in the code segment that programs have: Intel SDM, volume
 * 2, RET, IRET, JMP and CALL. All others end the program, or are faults.
 */
#ifndef CAPTURE_EXEC_DISPATCH_FAR_BRANCH_H
#define CAPTURE_EXEC_DISPATCH_FAR_BRANCH_H

#include "capture/exec/translate/decode.h"

#define FAR_BRANCH_BYTES 40u /* of what one reads at most: five of 8 bytes */

enum far_branch_result {
    FAR_BRANCH_DONE,
    FAR_BRANCH_FAULT,  /* a general protection fault with the error code */
    FAR_BRANCH_REFUSED /* it goes elsewhere, or loads another stack segment */
};

struct far_branch {
    uint64_t rip, rsp, flags; /* before, with rip at the instruction; and after it */
    uint8_t pushed[2 * 8];    /* of calls: goes to the new rsp, */
    unsigned pushed_bytes;    /* so many */
    uint64_t error;
};

/* Whether an instruction is one. Its first access is what it reads, all at once. */
bool far_branch_is(const struct decode_instruction *instruction);

/* With what it has read. */
enum far_branch_result far_branch_do(const struct decode_instruction *instruction,
                                     const uint8_t *read, struct far_branch *branch);

#endif
