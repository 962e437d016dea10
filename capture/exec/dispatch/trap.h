/*
 * Exceptions of the processor, named as in Intel's SDM, volume 3A, and the signals that the kernel
 * raises for them. Signal frames contain both.
 */
#ifndef CAPTURE_EXEC_DISPATCH_TRAP_H
#define CAPTURE_EXEC_DISPATCH_TRAP_H

#include "capture/exec/dispatch/executor.h"

/* Vectors: section 6.3, table 6-1. */
#define TRAP_DEBUG              1u
#define TRAP_BREAKPOINT         3u
#define TRAP_OVERFLOW           4u
#define TRAP_INVALID_OPCODE     6u
#define TRAP_GENERAL_PROTECTION 13u
#define TRAP_PAGE_FAULT         14u

/* The error code of a page fault: section 4.7, figure 4-12. */
#define TRAP_PAGE_PROTECTION 0x01u /* P: the page is present */
#define TRAP_PAGE_WRITE      0x02u /* W/R: set for a write, clear for a read */
#define TRAP_PAGE_USER       0x04u /* U/S: by the program, not its kernel */
#define TRAP_PAGE_FETCH      0x10u /* I/D: as an instruction */

#define TRAP_USER_READ  TRAP_PAGE_USER
#define TRAP_USER_FETCH (TRAP_PAGE_USER | TRAP_PAGE_FETCH)

/* The error code of a general protection fault of a segment is its selector:
 * section 6.13, figure 6-7. */
#define TRAP_SELECTOR(selector) ((selector) & ~(uint64_t)3)
#define TRAP_GATE(vector)       (8 * (uint64_t)(vector) + 2) /* in the interrupt table */

/* In the flags register: volume 1, section 3.4.3. */
#define TRAP_FLAG             0x100u /* each instruction is followed by a debug exception */
#define TRAP_FLAG_NESTED_TASK 0x4000u
#define TRAP_FLAG_RESUME      0x10000u /* set in the flags saved at faults */

/* The stop of a run at a general protection fault. */
struct executor_stop trap_protection(uint64_t error);

/* The stop after a single-step trap, before the instruction at rip. */
struct executor_stop trap_step(uint64_t rip);

/* The stop at a page fault. The code is SEGV_MAPERR; the caller corrects it if a page is mapped. */
struct executor_stop trap_page_fault(uint64_t address, uint64_t error);

#endif
