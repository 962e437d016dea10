#include "formats/base/thread.h"

#include <sys/prctl.h>

void thread_set_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name);
}
