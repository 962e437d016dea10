#include "tools/exec/exec_report.h"

#include "capture/signal_guard.h"

#include <signal.h>
#include <stddef.h>

static void end_at_once(void *context, int number)
{
    (void)context;
    signal_guard_die(number);
}

void exec_report_begin(const struct process_end *end)
{
    const struct signal_guard_rules rules = {
        .wake = -1, .stopped = end->ending == PROCESS_KILLED, .end = end_at_once, .context = NULL};
    struct bt_error unheard; /* without its thread the signals stay blocked */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!end->is_child)
        (void)signal_guard_new(&rules, &unheard); /* until the process ends */
}
