#define _GNU_SOURCE /* si_code's values */
#include "capture/exec/dispatch/trap.h"

#include <signal.h>

struct executor_stop trap_protection(uint64_t error)
{
    return (struct executor_stop){.reason = EXECUTOR_FAULT,
                                  .signal = SIGSEGV,
                                  .code = SI_KERNEL,
                                  .trap = TRAP_GENERAL_PROTECTION,
                                  .error = error};
}

struct executor_stop trap_page_fault(uint64_t address, uint64_t error)
{
    if ((error & TRAP_PAGE_FETCH) &&
        address >> 47 != 0) /* kernel addresses: the same error code whether mapped or not */
        error |= TRAP_PAGE_PROTECTION;
    return (struct executor_stop){.reason = EXECUTOR_FAULT,
                                  .signal = SIGSEGV,
                                  .code = SEGV_MAPERR,
                                  .fault_address = address,
                                  .trap = TRAP_PAGE_FAULT,
                                  .error = error};
}

struct executor_stop trap_step(uint64_t rip)
{
    return (struct executor_stop){.reason = EXECUTOR_FAULT,
                                  .signal = SIGTRAP,
                                  .code = TRAP_TRACE,
                                  .fault_address = rip,
                                  .trap = TRAP_DEBUG};
}
