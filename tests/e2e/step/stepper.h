/*
 * Runs a program one instruction at a time, with all its threads, and tells of each instruction
 * that was executed: ptrace(2) on x86-64, programs of 32 and 64 bits.
 *
 * An iteration of a repeated string instruction is an execution of it, since the processor stops
 * behind each; where it repeats nothing (RCX is 0) that is one too. A system call is executed once
 * it has returned, or when the thread or the program ends in it; one that the kernel starts anew is
 * executed again. An instruction that faults is not executed. Instructions at 4 GiB and above (the
 * kernel's vDSO) are only counted: no record has room for their addresses.
 *
 * Programs must not stop themselves, not use breakpoints or SIGTRAP, nor write their own code.
 * Their children are let go.
 */
#ifndef TESTS_E2E_STEP_STEPPER_H
#define TESTS_E2E_STEP_STEPPER_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "tests/e2e/step/code.h"
#include "tests/e2e/step/counts.h"

#include <stdbool.h>

#define STEPPER_THREADS 256u /* a processor id is an octet */

struct NAMED_FIELDS step {
    uint32_t address;
    uint8_t size;   /* bytes */
    uint8_t thread; /* by appearance; the first is 0 */
};

/* Takes a step. 0, or a negative bt_code to end with. */
typedef int step_taker(void *context, const struct step *step, struct bt_error *error);

struct stepper_totals {
    uint64_t instructions; /* of all threads, below 4 GiB */
    uint64_t outside;      /* at 4 GiB and above */
    uint64_t signals;      /* delivered */
    uint64_t by_kind[CODE_KINDS];
    uint64_t by_thread[STEPPER_THREADS];
    unsigned threads;
    int status; /* what wait(2) said of the program's end */
};

/*
 * Runs arguments[0] (found as execvp(3) does) to its end. counts is all zero, and cleared by the
 * caller. 0; BT_USAGE (no such program, or not one for this), BT_DEVICE (single-stepping is not
 * possible here), BT_DATA (the processor did what code.h does not know) or what taker said; the
 * program is killed then.
 */
int stepper_run(char **arguments, struct counts *counts, step_taker *taker, void *context,
                struct stepper_totals *totals, struct bt_error *error);

#endif
