#define _GNU_SOURCE /* si_code's values */
#include "capture/exec/trap.h"

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
    return (struct executor_stop){.reason = EXECUTOR_FAULT,
                                  .signal = SIGSEGV,
                                  .code = SEGV_MAPERR,
                                  .fault_address = address,
                                  .trap = TRAP_PAGE_FAULT,
                                  .error = error};
}
