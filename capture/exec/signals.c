#define _GNU_SOURCE /* syscall, all signals */
#include "capture/exec/signals.h"

#include "capture/exec/decode.h"
#include "capture/exec/enter.h"
#include "capture/exec/program_memory.h"
#include "capture/exec/signal_frame.h"
#include "capture/exec/trap.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNALS   64
#define MASK_SIZE 8
#define RED_ZONE  128

#define BIT(number) ((uint64_t)1 << ((number)-1))
#define OURS        (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP))
#define UNBLOCKABLE (BIT(SIGKILL) | BIT(SIGSTOP))
#define STOPPING    (BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))
#define HARMLESS    (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))

/* What timers and files of the program still send when it has ended, and its acquaintances. */
#define OUTLIVING                                                                                  \
    (BIT(SIGALRM) | BIT(SIGVTALRM) | BIT(SIGPROF) | BIT(SIGIO) | BIT(SIGUSR1) | BIT(SIGUSR2))
#define REAL_TIME    32
#define OF_LIBRARIES 2 /* the first real-time ones */

#define DEFAULT     0 /* handlers */
#define IGNORE      1
#define RESTORER    0x04000000u
#define AUTO_DISARM 0x80000000u
#define STACK_MIN   2048

/* As the kernel has it. */
struct action {
    uint64_t handler, flags, restorer, mask;
};

/* What all threads share. */
struct actions {
    struct action now[SIGNALS + 1];
    struct action before[SIGNALS + 1]; /* the kernel's, when we came */
    unsigned others;                   /* threads beside the first */
    volatile bool tick_sent;           /* ever */
};

struct signals {
    struct space *space;
    struct exec_thread *thread;
    struct actions *actions;
    bool is_first; /* the actions go with it */
    int host; /* the thread of ours that has them, by its number for the kernel; 0: all there are */
    void (*noted)(void *context);
    void *noted_context;
    uint64_t mask, mask_before;
    uint64_t suspend_mask; /* holds in the handler of what ended rt_sigsuspend */
    bool suspended;
    struct signal_stack stack;
    uint64_t fault_address, trap, error; /* of the last fault: all frames tell it */
    bool pending;
    uint8_t information[SIGNAL_INFORMATION_BYTES]; /* of it */
    uint64_t shown; /* in system calls: what the kernel's mask is the program's for; else 0 */
    uint64_t held;  /* of OURS: sent, and not delivered yet */
    uint8_t held_information[SIGSEGV + 1][SIGNAL_INFORMATION_BYTES];
};

/* --- the kernel's part -------------------------------------------------------------------------
 */

static void set_kernel_mask(uint64_t mask)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_SIZE);
}

/* Nothing is noted from here until the program's mask holds again. */
static void block_all(void)
{
    set_kernel_mask(~(uint64_t)0);
}

/* What was sent to the process; the kernel lets only its first thread keep who sent it. */
static void send_to_process(const uint8_t *information)
{
    siginfo_t sent;
    memcpy(&sent, information, sizeof sent);
    if (syscall(SYS_rt_sigqueueinfo, getpid(), sent.si_signo, &sent) != 0)
        kill(getpid(), sent.si_signo);
}

/* Those of OURS that are held wait in the kernel again, which knows their order. All are blocked.
 */
static void give_back(struct signals *signals, uint64_t which)
{
    bool alone = __atomic_load_n(&signals->actions->others, __ATOMIC_RELAXED) == 0;
    for (which &= signals->held; which; which &= which - 1) {
        int number = __builtin_ctzll(which) + 1;
        siginfo_t sent;
        memcpy(&sent, signals->held_information[number], sizeof sent);
        signals->held &= ~BIT(number);
        if (alone && sent.si_code != SI_TKILL)
            send_to_process(signals->held_information[number]);
        else
            syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, &sent);
    }
}

static void use_mask(struct signals *signals)
{
    signals->shown = 0;
    if (!signals->pending && (signals->held & ~signals->mask)) {
        block_all();
        give_back(signals, ~signals->mask);
    }
    set_kernel_mask(signals->pending ? ~OURS : signals->mask & ~OURS);
}

/* In system calls the kernel may have the program's whole mask, and what waits after it; but other
 * threads end those that wait with SIGTRAP. */
static void show(struct signals *signals, uint64_t mask)
{
    bool alone = __atomic_load_n(&signals->actions->others, __ATOMIC_RELAXED) == 0;
    block_all();
    signals->shown = alone ? ~(uint64_t)0 : ~BIT(SIGTRAP);
    give_back(signals, signals->shown);
    set_kernel_mask(signals->pending ? ~OURS : mask & signals->shown);
}

bool signals_hides(const struct signals *signals)
{
    return (signals->mask & OURS) != 0;
}

void signals_show(struct signals *signals)
{
    if (signals_hides(signals))
        show(signals, signals->mask);
}

void signals_hide(struct signals *signals)
{
    if (signals->shown)
        use_mask(signals);
}

static bool ends_program(int number)
{
    return !(BIT(number) & (STOPPING | HARMLESS));
}

/* What the kernel is to do for an action of the program. */
static void set_kernel_action(int number, const struct action *wanted)
{
    struct action action = {.handler = wanted->handler, .flags = wanted->flags};
    if (BIT(number) & (OURS | UNBLOCKABLE))
        return;
    if (wanted->handler > IGNORE || (wanted->handler == DEFAULT && ends_program(number)))
        action.handler = (uint64_t)(uintptr_t)exec_signal_entry;
    action.flags &= SA_NOCLDSTOP | SA_NOCLDWAIT | SA_RESTART;
    action.flags |= SA_SIGINFO | SA_ONSTACK | RESTORER;
    action.restorer = (uint64_t)(uintptr_t)exec_signal_return;
    action.mask = ~(uint64_t)0;
    syscall(SYS_rt_sigaction, number, &action, NULL, MASK_SIZE);
}

struct signals *signals_new(struct space *space, struct exec_thread *thread, struct bt_error *error)
{
    struct signals *signals = calloc(1, sizeof *signals);
    if (!signals || !(signals->actions = calloc(1, sizeof *signals->actions))) {
        bt_fail(error, BT_MEMORY, "no memory for a program's signals");
        free(signals);
        return NULL;
    }
    signals->space = space;
    signals->thread = thread;
    signals->is_first = true;
    signals->stack.flags = SS_DISABLE;
    return signals;
}

struct signals *signals_new_thread(const struct signals *parent, struct exec_thread *thread)
{
    struct signals *signals = calloc(1, sizeof *signals);
    if (!signals)
        return NULL;
    signals->space = parent->space;
    signals->thread = thread;
    signals->actions = parent->actions;
    __atomic_fetch_add(&signals->actions->others, 1, __ATOMIC_RELAXED);
    signals->mask = parent->mask;
    signals->fault_address = parent->fault_address;
    signals->trap = parent->trap;
    signals->error = parent->error;
    signals->stack.flags = SS_DISABLE;
    return signals;
}

void signals_free(struct signals *signals)
{
    if (signals && signals->is_first)
        free(signals->actions);
    else if (signals)
        __atomic_fetch_sub(&signals->actions->others, 1, __ATOMIC_RELAXED);
    free(signals);
}

void signals_begin(struct signals *signals)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &signals->mask_before, MASK_SIZE);
    signals->mask = signals->mask_before;
    for (int number = 1; number <= SIGNALS; number++) {
        struct action *before = &signals->actions->before[number];
        syscall(SYS_rt_sigaction, number, NULL, before, MASK_SIZE);
        if (before->handler == IGNORE)
            signals->actions->now[number].handler = IGNORE;
        set_kernel_action(number, &signals->actions->now[number]);
    }
    use_mask(signals);
}

void signals_end(struct signals *signals)
{
    const struct action ignore = {.handler = IGNORE};
    block_all();
    for (int number = 1; number <= SIGNALS; number++) {
        const struct action *before = &signals->actions->before[number];
        if (before->handler == DEFAULT && (number >= REAL_TIME || (BIT(number) & OUTLIVING)))
            before = &ignore;
        if (!(BIT(number) & (OURS | UNBLOCKABLE)))
            syscall(SYS_rt_sigaction, number, before, NULL, MASK_SIZE);
    }
    set_kernel_mask(signals->mask_before);
}

void signals_take_back(const struct signals *signals)
{
    for (int number = REAL_TIME; number < REAL_TIME + OF_LIBRARIES; number++)
        set_kernel_action(number, &signals->actions->now[number]);
}

/* Where so many signals of the user wait as may (RLIMIT_SIGPENDING), the kernel sends them without
 * what comes with them. */
static bool is_tick(const struct signals *signals, int number, const siginfo_t *information)
{
    if (number != SIGTRAP)
        return false;
    if (information->si_code == SI_USER && information->si_pid == 0)
        return signals->actions->tick_sent;
    return information->si_code == SI_QUEUE && information->si_pid == getpid() &&
           information->si_value.sival_ptr == signals->actions;
}

void signals_tick(struct signals *signals, int thread)
{
    siginfo_t information = {.si_signo = SIGTRAP, .si_code = SI_QUEUE};
    information.si_pid = getpid();
    information.si_value.sival_ptr = signals->actions;
    signals->actions->tick_sent = true;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, SIGTRAP, &information);
}

void signals_move(struct signals *signals, int host, void (*noted)(void *context), void *context)
{
    signals->noted = noted;
    signals->noted_context = context;
    signals->host = host;
}

void signals_pass_on(int thread)
{
    const uint64_t all = ~(uint64_t)0;
    const struct timespec now = {0, 0};
    uint8_t information[SIGNAL_INFORMATION_BYTES];
    long number;
    while ((number = syscall(SYS_rt_sigtimedwait, &all, information, &now, MASK_SIZE)) > 0)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, information);
}

void signals_block_others(void)
{
    set_kernel_mask(~OURS);
}

bool signals_restart(const struct signals *signals)
{
    siginfo_t information;
    if (!signals->pending)
        return true;
    memcpy(&information, signals->information, sizeof information);
    const struct action *action = &signals->actions->now[information.si_signo];
    return action->handler <= IGNORE || (action->flags & SA_RESTART);
}

/* What comes to another thread of ours than the one that has them: it is for that. */
static bool forward(const struct signals *signals, int number, const void *information)
{
    if (!signals->host || syscall(SYS_gettid) == signals->host)
        return false;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), signals->host, number, information);
    return true;
}

/* The thread stops before its next instruction, wherever that is executed. */
static void stop_thread(struct signals *signals)
{
    signals->thread->interrupt = 1;
    if (signals->noted)
        signals->noted(signals->noted_context);
}

bool signals_note(void *context, int number, void *information, void *interrupted)
{
    struct signals *signals = context;
    ucontext_t *place = interrupted;
    uint64_t waiting = ~OURS;
    if (is_tick(signals, number, information))
        return true;
    if (forward(signals, number, information))
        return false;
    uint64_t mask = signals->suspended ? signals->suspend_mask : signals->mask;
    bool blocked = mask & ~signals->shown & BIT(number);
    if ((BIT(number) & OURS) && (blocked || signals->pending)) {
        if (!(signals->held & BIT(number)))
            memcpy(signals->held_information[number], information, SIGNAL_INFORMATION_BYTES);
        signals->held |= BIT(number);
        if (!blocked)
            stop_thread(signals);
        return !blocked;
    }
    signals->pending = true;
    memcpy(signals->information, information, SIGNAL_INFORMATION_BYTES);
    memcpy(&place->uc_sigmask, &waiting, sizeof waiting);
    stop_thread(signals);
    return true;
}

/* --- delivery ----------------------------------------------------------------------------------
 */

static bool is_on_stack(const struct signals *signals)
{
    uint64_t rsp = signals->thread->registers[DECODE_RSP];
    return !(signals->stack.flags & AUTO_DISARM) && rsp > signals->stack.address &&
           rsp - signals->stack.address <= signals->stack.size;
}

static int force(struct signals *signals, struct signal_delivery *delivery);

/* To its handler. 0, or the signal that ends the program. */
static int push(struct signals *signals, struct signal_delivery *delivery)
{
    int number = delivery->number;
    struct action *action = &signals->actions->now[number];
    uint64_t mask = signals->suspended ? signals->suspend_mask : signals->mask;
    signals->suspended = false;
    delivery->handler = action->handler;
    delivery->restorer = action->restorer;
    delivery->mask = signals->mask;
    delivery->stack = signals->stack;
    delivery->fault_address = signals->fault_address;
    delivery->trap = signals->trap;
    delivery->error = signals->error;
    delivery->top = signals->thread->registers[DECODE_RSP] - RED_ZONE;
    if ((action->flags & SA_ONSTACK) && signals->stack.size > 0 && !is_on_stack(signals))
        delivery->top = signals->stack.address + signals->stack.size;
    if (!(action->flags & RESTORER) ||
        signal_frame_push(signals->space, signals->thread, delivery) != 0) {
        struct signal_delivery no_stack = {.number = SIGSEGV};
        siginfo_t information = {.si_signo = SIGSEGV, .si_code = SI_KERNEL};
        memcpy(no_stack.information, &information, sizeof no_stack.information);
        return number == SIGSEGV ? SIGSEGV : force(signals, &no_stack);
    }
    if (signals->stack.flags & AUTO_DISARM)
        signals->stack = (struct signal_stack){.flags = SS_DISABLE};
    signals->mask = mask | action->mask | (action->flags & SA_NODEFER ? 0 : BIT(number));
    signals->mask &= ~UNBLOCKABLE;
    if (action->flags & SA_RESETHAND) {
        action->handler = DEFAULT;
        set_kernel_action(number, action);
    }
    return 0;
}

/* What cannot wait: blocked or ignored it ends the program. */
static int force(struct signals *signals, struct signal_delivery *delivery)
{
    int number = delivery->number;
    if ((signals->mask & BIT(number)) || signals->actions->now[number].handler <= IGNORE)
        return number;
    return push(signals, delivery);
}

/* The next that waits: its number, or 0. */
static int take(struct signals *signals, uint8_t *information)
{
    siginfo_t noted;
    if (!signals->pending)
        return 0;
    signals->pending = false;
    memcpy(information, signals->information, SIGNAL_INFORMATION_BYTES);
    memcpy(&noted, information, sizeof noted);
    return noted.si_signo;
}

int signals_deliver(struct signals *signals)
{
    struct signal_delivery delivery = {0};
    int ends = 0;
    block_all();
    signals->thread->interrupt = 0;
    delivery.number = take(signals, delivery.information);
    uint64_t handler = delivery.number ? signals->actions->now[delivery.number].handler : IGNORE;
    if (handler > IGNORE)
        ends = push(signals, &delivery);
    else if (handler == DEFAULT && ends_program(delivery.number))
        ends = delivery.number;
    else if (handler == DEFAULT && (BIT(delivery.number) & STOPPING))
        kill(getpid(), SIGSTOP);
    signals->suspended = false;
    use_mask(signals);
    return ends;
}

int signals_raise(struct signals *signals, const struct executor_stop *stop)
{
    struct signal_delivery delivery = {.number = stop->signal};
    siginfo_t information = {.si_signo = stop->signal, .si_code = stop->code};
    information.si_addr = (void *)(uintptr_t)stop->fault_address;
    memcpy(delivery.information, &information, sizeof delivery.information);
    if (stop->trap != 0 || stop->signal == SIGFPE) { /* else the processor has said nothing */
        signals->trap = stop->trap;
        signals->error = stop->error;
    }
    if (stop->trap == TRAP_PAGE_FAULT)
        signals->fault_address = stop->fault_address;
    block_all();
    int ends = force(signals, &delivery);
    use_mask(signals);
    return ends;
}

int signals_return(struct signals *signals)
{
    uint64_t mask;
    struct signal_stack stack;
    if (signal_frame_pop(signals->space, signals->thread, &mask, &stack) != 0) {
        const struct executor_stop stop = {.signal = SIGSEGV, .code = SI_KERNEL};
        return signals_raise(signals, &stop);
    }
    block_all();
    signals->mask = mask & ~UNBLOCKABLE;
    if (!is_on_stack(signals))
        signals->stack = stack;
    use_mask(signals);
    return 0;
}

/* --- system calls ------------------------------------------------------------------------------
 */

static int64_t set_action(struct signals *signals, const uint64_t *arguments)
{
    uint64_t number = (uint32_t)arguments[0];
    struct action action;
    if (arguments[3] != MASK_SIZE || number < 1 || number > SIGNALS ||
        ((BIT(number) & UNBLOCKABLE) && arguments[1]))
        return -EINVAL;
    if (arguments[1] && program_read(signals->space, &action, arguments[1], sizeof action) != 0)
        return -EFAULT;
    const struct action old = signals->actions->now[number];
    if (arguments[1]) {
        action.mask &= ~UNBLOCKABLE;
        signals->actions->now[number] = action;
        set_kernel_action((int)number, &action);
        if (action.handler == IGNORE)
            signals->held &= ~BIT(number);
    }
    return arguments[2] ? program_write(signals->space, arguments[2], &old, sizeof old) : 0;
}

/* Nothing is noted in between: what was noted before has to be delivered first. */
static int64_t set_mask(struct signals *signals, const uint64_t *arguments)
{
    uint64_t set = 0, old = signals->mask;
    int64_t result = 0;
    if (arguments[3] != MASK_SIZE)
        return -EINVAL;
    if (arguments[1] && program_read(signals->space, &set, arguments[1], sizeof set) != 0)
        return -EFAULT;
    block_all();
    if (signals->thread->interrupt)
        result = EXEC_SYSTEM_CALL_AGAIN;
    else if (!arguments[1])
        result = 0;
    else if ((uint32_t)arguments[0] == SIG_BLOCK)
        signals->mask |= set & ~UNBLOCKABLE;
    else if ((uint32_t)arguments[0] == SIG_UNBLOCK)
        signals->mask &= ~set;
    else if ((uint32_t)arguments[0] == SIG_SETMASK)
        signals->mask = set & ~UNBLOCKABLE;
    else
        result = -EINVAL;
    use_mask(signals);
    if (result == 0 && arguments[2])
        result = program_write(signals->space, arguments[2], &old, sizeof old);
    return result;
}

static int64_t suspend(struct signals *signals, const struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    uint64_t set;
    if (arguments[1] != MASK_SIZE)
        return -EINVAL;
    if (program_read(signals->space, &set, arguments[0], sizeof set) != 0)
        return -EFAULT;
    signals->suspend_mask = set & ~UNBLOCKABLE;
    system_call_leave(call);
    signals->suspended = true;
    show(signals, ~(uint64_t)0);
    uint64_t kernels = signals->suspend_mask & signals->shown;
    const uint64_t passed[6] = {(uint64_t)(uintptr_t)&kernels, MASK_SIZE};
    int64_t result = exec_system_call(&signals->thread->interrupt, SYS_rt_sigsuspend, passed);
    use_mask(signals);
    system_call_come_back(call);
    if (result == EXEC_SYSTEM_CALL_AGAIN)
        signals->suspended = false;
    return result;
}

/* The argument that is a mask, or its address and size. */
static unsigned mask_argument(uint64_t number)
{
    switch (number) {
    case SYS_ppoll:
        return 3;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return 4;
    case SYS_pselect6:
        return 5;
    default:
        return 0;
    }
}

void signals_open_wait(const struct signals *signals, struct system_call *call,
                       struct signals_wait *wait)
{
    unsigned number = mask_argument(call->number);
    uint64_t *argument = &call->arguments[number], address = *argument;
    if (number == 0 || address == 0)
        return;
    if (call->number == SYS_pselect6) {
        if (program_read(signals->space, wait->set, address, sizeof wait->set) != 0)
            return;
        address = wait->set[0];
        wait->set[0] = (uint64_t)(uintptr_t)&wait->mask;
    }
    if (address == 0 || program_read(signals->space, &wait->mask, address, sizeof wait->mask) != 0)
        return;
    wait->mask &= ~BIT(SIGTRAP);
    *argument = call->number == SYS_pselect6 ? (uint64_t)(uintptr_t)wait->set
                                             : (uint64_t)(uintptr_t)&wait->mask;
}

static int64_t set_stack(struct signals *signals, const uint64_t *arguments)
{
    struct signal_stack stack, old = signals->stack;
    if (arguments[0] && program_read(signals->space, &stack, arguments[0], sizeof stack) != 0)
        return -EFAULT;
    old.flags &= AUTO_DISARM;
    if (old.size == 0)
        old.flags |= SS_DISABLE;
    else if (is_on_stack(signals))
        old.flags |= SS_ONSTACK;
    if (arguments[0]) {
        uint32_t mode = stack.flags & ~AUTO_DISARM;
        if (old.flags & SS_ONSTACK)
            return -EPERM;
        if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
            return -EINVAL;
        if (mode == SS_DISABLE)
            stack.address = stack.size = 0;
        else if (stack.size < STACK_MIN)
            return -ENOMEM;
        signals->stack = stack;
    }
    return arguments[1] ? program_write(signals->space, arguments[1], &old, sizeof old) : 0;
}

void signals_system_call(struct signals *signals, struct system_call *call)
{
    switch (call->number) {
    case SYS_rt_sigaction:
        call->result = set_action(signals, call->arguments);
        break;
    case SYS_rt_sigprocmask:
        call->result = set_mask(signals, call->arguments);
        break;
    case SYS_rt_sigsuspend:
        call->result = suspend(signals, call);
        break;
    case SYS_sigaltstack:
        call->result = set_stack(signals, call->arguments);
        break;
    default:
        call->result = -ENOSYS;
    }
}

/* --- children and other programs ---------------------------------------------------------------
 */

struct kept {
    struct signals signals;
    struct actions actions;
};

void *signals_keep(const struct signals *signals)
{
    struct kept *kept = malloc(sizeof *kept);
    if (kept)
        *kept = (struct kept){*signals, *signals->actions};
    return kept;
}

void signals_go_back(struct signals *signals, const void *pointer)
{
    const struct kept *kept = pointer;
    const bool tick_sent = signals->actions->tick_sent; /* by others, meanwhile */
    *signals->actions = kept->actions;
    signals->actions->tick_sent = tick_sent;
    *signals = kept->signals;
}

void signals_leave(struct signals *signals)
{
    siginfo_t information;
    block_all();
    memcpy(&information, signals->information, sizeof information);
    if (signals->pending && information.si_code != SI_TKILL)
        send_to_process(signals->information);
    signals->pending = false;
    set_kernel_mask(~OURS);
}

void signals_forked(struct signals *signals)
{
    signals_move(signals, 0, NULL, NULL);
    signals->pending = false;
    signals->held = 0;
    signals->thread->interrupt = 0;
    signals->actions->others = 0;
}

void signals_block(void)
{
    block_all();
}

bool signals_hold(struct signals *signals)
{
    block_all();
    return !signals->thread->interrupt;
}

void signals_clear(struct signals *signals)
{
    const struct action none = {.handler = DEFAULT};
    for (int number = 1; number <= SIGNALS; number++)
        if (signals->actions->now[number].handler > IGNORE) {
            signals->actions->now[number] = none;
            set_kernel_action(number, &none);
        }
}

void signals_retire(struct signals *signals)
{
    const struct action ignore = {.handler = IGNORE};
    for (int number = 1; number <= SIGSEGV; number++)
        if ((BIT(number) & OURS) && signals->actions->now[number].handler == IGNORE)
            syscall(SYS_rt_sigaction, number, &ignore, NULL, MASK_SIZE);
    give_back(signals, ~(uint64_t)0);
    set_kernel_mask(signals->pending ? ~OURS : signals->mask);
}

void signals_resume(struct signals *signals)
{
    use_mask(signals);
}

_Noreturn void signals_die(int number)
{
    const struct action action = {.handler = DEFAULT};
    uint64_t mask = BIT(number);
    syscall(SYS_rt_sigaction, number, &action, NULL, MASK_SIZE);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, MASK_SIZE);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    _exit(128 + number);
}
