#include "formats/base/thread.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

void thread_set_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name);
}

void thread_yield_precedence(int nice)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0); /* Linux: of the calling thread */
    if (now != -1 || errno == 0)
        (void)setpriority(PRIO_PROCESS, 0, now + nice);
}
