/*
 * Runs a program one instruction at a time, with all its threads, and reports each executed
 * instruction: ptrace(2) on x86-64, programs of 32 and 64 bits.
 *
 * Each iteration of a repeated string instruction counts as an execution, because the processor
 * stops after each; so does one without iterations (RCX is 0). A system call is executed when it
 * has returned, or when the thread or the program ends in it; one that the kernel restarts is
 * executed again. An instruction that faults is not executed. Instructions at 4 GiB and above (the
 * kernel's vDSO) are only counted: records cannot hold their addresses.
 *
 * Programs must not stop themselves, use breakpoints or SIGTRAP, or write their own code. Their
 * children are not traced.
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
    uint8_t thread; /* in order of appearance; the first is 0 */
};

/* Receives a step. Returns 0, or a negative bt_code to end the run. */
typedef int step_taker(void *context, const struct step *step, struct bt_error *error);

struct stepper_totals {
    uint64_t instructions; /* of all threads, below 4 GiB */
    uint64_t outside;      /* at 4 GiB and above */
    uint64_t signals;      /* number of signals delivered */
    uint64_t by_kind[CODE_KINDS];
    uint64_t by_thread[STEPPER_THREADS];
    unsigned threads;
    int status; /* the program's status as of wait(2) */
};

/*
 * Runs arguments[0] (found as by execvp(3)) to its end. counts is zeroed before, and cleared by
 * the caller. Returns 0; BT_USAGE (no such program, or an unsupported one), BT_DEVICE
 * (single-stepping is not possible here), BT_DATA (the processor contradicts code.h) or the result
 * of taker; in the last three cases the program is killed.
 */
int stepper_run(char **arguments, struct counts *counts, step_taker *taker, void *context,
                struct stepper_totals *totals, struct bt_error *error);

#endif
