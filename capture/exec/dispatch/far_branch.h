/*
 * Far returns, jumps and calls within the 64-bit user code segment: Intel SDM, volume 2, RET, IRET,
 * JMP and CALL. All others are refused or fault.
 */
#ifndef CAPTURE_EXEC_DISPATCH_FAR_BRANCH_H
#define CAPTURE_EXEC_DISPATCH_FAR_BRANCH_H

#include "capture/exec/translate/decode.h"

#define FAR_BRANCH_BYTES 40u /* maximum that one reads: five times 8 bytes */

enum far_branch_result {
    FAR_BRANCH_DONE,
    FAR_BRANCH_FAULT,  /* a general protection fault with the error code */
    FAR_BRANCH_REFUSED /* another code or stack segment */
};

struct far_branch {
    uint64_t rip, rsp, flags; /* before the instruction on input, after it on output */
    uint8_t pushed[2 * 8];    /* of calls: to be written at the new rsp */
    unsigned pushed_bytes;    /* number of bytes in `pushed` */
    uint64_t error;
};

/* Whether an instruction is a far branch. Its first access covers all that it reads. */
bool far_branch_is(const struct decode_instruction *instruction);

/* Executes the branch; `read` has the bytes of its first access. */
enum far_branch_result far_branch_do(const struct decode_instruction *instruction,
                                     const uint8_t *read, struct far_branch *branch);

#endif
