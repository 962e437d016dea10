#define _GNU_SOURCE /* syscall */
#include "capture/exec/kernel/process_thread.h"

#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

#define NS_PER_S       1000000000L
#define SYSTEM_CALL    2 /* size of the instruction, in bytes */
#define REALTIME_LIMIT 1 /* s: check again, because the clock may have been set */

/* --- the queue ---------------------------------------------------------------------------------
 */

static void put_in(struct process_thread *thread)
{
    struct process_thread **at = &thread->process->threads->waiting;
    while (*at)
        at = &(*at)->next_waiting;
    *at = thread;
    thread->next_waiting = NULL;
    thread->state = PROCESS_WAITING;
}

static void take_out(struct process_thread *thread)
{
    struct process_thread **at = &thread->process->threads->waiting;
    while (*at != thread)
        at = &(*at)->next_waiting;
    *at = thread->next_waiting;
}

void process_futex_end(struct process_thread *thread, int64_t result)
{
    take_out(thread);
    thread->state = PROCESS_READY;
    if (result == EXEC_SYSTEM_CALL_AGAIN) {
        thread->thread->rip -= SYSTEM_CALL;
        thread->thread->registers[DECODE_RAX] = SYS_futex;
    } else {
        thread->thread->registers[DECODE_RAX] = (uint64_t)result;
    }
}

/* Whether a waiter shares a bit; 0: whether it waits for a lock. */
static bool is_meant(const struct process_thread *thread, uint64_t address, uint32_t bits)
{
    return thread->wait.address == address &&
           (bits ? (thread->wait.bits & bits) != 0 : thread->wait.bits == 0);
}

static unsigned wake(struct process *process, uint64_t address, unsigned count, uint32_t bits)
{
    struct process_threads *threads = process->threads;
    struct process_thread *next;
    unsigned woken = 0;
    for (struct process_thread *at = threads->waiting; at && woken < count; at = next) {
        next = at->next_waiting;
        if (!is_meant(at, address, bits))
            continue;
        process_futex_end(at, 0);
        woken++;
    }
    if (threads->kernel_waits && woken < count && bits) {
        const long more =
            syscall(SYS_futex, address, FUTEX_WAKE_BITSET,
                    count - woken < INT_MAX ? count - woken : INT_MAX, NULL, NULL, bits);
        woken += more > 0 ? (unsigned)more : 0;
    }
    return woken;
}

unsigned process_futex_wake(struct process *process, uint64_t address, unsigned count)
{
    return wake(process, address, count, FUTEX_BITSET_MATCH_ANY);
}

/* --- times -------------------------------------------------------------------------------------
 */

static struct timespec sum(struct timespec a, struct timespec b)
{
    a.tv_sec += b.tv_sec;
    a.tv_nsec += b.tv_nsec;
    if (a.tv_nsec >= NS_PER_S) {
        a.tv_nsec -= NS_PER_S;
        a.tv_sec++;
    }
    return a;
}

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static struct timespec time_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now;
}

/* The timeout of a call that has one; -errno: it is invalid. */
static int64_t read_time(struct process *process, const struct system_call *call,
                         struct process_wait *wait, bool relative)
{
    wait->timed = call->arguments[3] != 0;
    if (!wait->timed)
        return 0;
    if (program_read(process->space, &wait->until, call->arguments[3], sizeof wait->until) != 0)
        return -EFAULT;
    if (wait->until.tv_sec < 0 || wait->until.tv_nsec < 0 || wait->until.tv_nsec >= NS_PER_S)
        return -EINVAL;
    if (relative)
        wait->until = sum(time_of(wait->clock), wait->until);
    return 0;
}

/* On CLOCK_MONOTONIC. */
static struct timespec end_of(const struct process_wait *wait, struct timespec now)
{
    if (wait->clock == CLOCK_MONOTONIC)
        return wait->until;
    const struct timespec look = {.tv_sec = now.tv_sec + REALTIME_LIMIT, .tv_nsec = now.tv_nsec};
    struct timespec real = time_of(wait->clock), end = now;
    real.tv_sec = wait->until.tv_sec - real.tv_sec;
    real.tv_nsec = wait->until.tv_nsec - real.tv_nsec;
    if (real.tv_nsec < 0) {
        real.tv_nsec += NS_PER_S;
        real.tv_sec--;
    }
    if (real.tv_sec >= 0)
        end = real.tv_sec < REALTIME_LIMIT ? sum(now, real) : look;
    return is_before(end, look) ? end : look;
}

bool process_futex_expire(struct process *process, struct timespec *next)
{
    bool timed = false;
    struct process_thread *next_at;
    for (struct process_thread *at = process->threads->waiting; at; at = next_at) {
        next_at = at->next_waiting;
        if (at->thread->interrupt) {
            process_futex_end(at, at->wait.timed || !signals_restart(at->signals)
                                      ? -EINTR
                                      : EXEC_SYSTEM_CALL_AGAIN);
            continue;
        }
        if (!at->wait.timed)
            continue;
        if (!is_before(time_of(at->wait.clock), at->wait.until)) {
            process_futex_end(at, -ETIMEDOUT);
            continue;
        }
        const struct timespec end = end_of(&at->wait, time_of(CLOCK_MONOTONIC));
        if (!timed || is_before(end, *next))
            *next = end;
        timed = true;
    }
    return timed;
}

/* --- the calls ---------------------------------------------------------------------------------
 */

static bool read_word(struct process *process, uint64_t address, uint32_t *word)
{
    return program_read(process->space, word, address, sizeof *word) == 0;
}

static int64_t wait_for(struct process *process, const struct system_call *call, uint32_t bits,
                        bool relative)
{
    struct process_thread *self = process_thread_self(process);
    struct process_wait wait = {
        .address = call->arguments[0],
        .bits = bits,
        .clock = call->arguments[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC};
    uint32_t word;
    int64_t result = bits ? read_time(process, call, &wait, relative) : -EINVAL;
    if (result < 0)
        return result;
    if (!read_word(process, wait.address, &word))
        return -EFAULT;
    if (word != (uint32_t)call->arguments[2])
        return -EAGAIN;
    self->wait = wait;
    put_in(self);
    return 0;
}

static int64_t requeue(struct process *process, const struct system_call *call, bool compares)
{
    const uint64_t from = call->arguments[0], to = call->arguments[4];
    unsigned count = (unsigned)call->arguments[3];
    uint32_t word;
    if ((int)call->arguments[2] < 0 || (int)call->arguments[3] < 0)
        return -EINVAL;
    if (!read_word(process, from, &word))
        return -EFAULT;
    if (compares && word != (uint32_t)call->arguments[5])
        return -EAGAIN;
    int64_t done = process_futex_wake(process, from, (unsigned)call->arguments[2]);
    struct process_thread *next;
    const struct process_thread *last = process->threads->waiting;
    while (last && last->next_waiting)
        last = last->next_waiting;
    bool more = last != NULL;
    for (struct process_thread *at = process->threads->waiting; more && count > 0; at = next) {
        more = at != last;
        next = at->next_waiting;
        if (!is_meant(at, from, FUTEX_BITSET_MATCH_ANY))
            continue;
        take_out(at); /* to the end of the queue: it starts waiting there */
        at->wait.address = to;
        put_in(at);
        count--;
        done++;
    }
    return done;
}

static bool compare(unsigned how, int32_t old, int32_t with)
{
    switch (how) {
    case FUTEX_OP_CMP_EQ:
        return old == with;
    case FUTEX_OP_CMP_NE:
        return old != with;
    case FUTEX_OP_CMP_LT:
        return old < with;
    case FUTEX_OP_CMP_LE:
        return old <= with;
    case FUTEX_OP_CMP_GT:
        return old > with;
    default:
        return old >= with;
    }
}

static uint32_t operate(unsigned how, uint32_t old, uint32_t with)
{
    switch (how) {
    case FUTEX_OP_SET:
        return with;
    case FUTEX_OP_ADD:
        return old + with;
    case FUTEX_OP_OR:
        return old | with;
    case FUTEX_OP_ANDN:
        return old & ~with;
    default:
        return old ^ with;
    }
}

static int64_t wake_op(struct process *process, const struct system_call *call)
{
    const uint32_t what = (uint32_t)call->arguments[5];
    const uint64_t second = call->arguments[4];
    const unsigned how = what >> 28 & 15, comparison = what >> 24 & 15;
    int32_t with = (int32_t)(what << 8) >> 20;
    uint32_t old;
    if ((how & 7) > FUTEX_OP_XOR || comparison > FUTEX_OP_CMP_GE)
        return -ENOSYS;
    if (how & FUTEX_OP_OPARG_SHIFT)
        with = (int32_t)(1u << (with & 31));
    if (!read_word(process, second, &old))
        return -EFAULT;
    const uint32_t next = operate(how & 7, old, (uint32_t)with);
    if (program_write(process->space, second, &next, sizeof next) != 0)
        return -EFAULT;
    int64_t done = process_futex_wake(process, call->arguments[0], (unsigned)call->arguments[2]);
    if (compare(comparison, (int32_t)old, (int32_t)(what << 20) >> 20))
        done += process_futex_wake(process, second, (unsigned)call->arguments[3]);
    return done;
}

/* --- priority-inheritance locks ----------------------------------------------------------------
 */

static bool is_alive(const struct process *process, uint32_t number)
{
    const struct process_thread *at = process->threads->all;
    while (at && (at->ended || at->number != (int)number))
        at = at->next;
    return at != NULL;
}

static int64_t lock(struct process *process, const struct system_call *call, bool waits)
{
    struct process_thread *self = process_thread_self(process);
    struct process_wait wait = {.address = call->arguments[0],
                                .clock = (call->arguments[1] & 127) == FUTEX_LOCK_PI ||
                                                 (call->arguments[1] & FUTEX_CLOCK_REALTIME)
                                             ? CLOCK_REALTIME
                                             : CLOCK_MONOTONIC};
    uint32_t word;
    int64_t result = waits ? read_time(process, call, &wait, false) : 0;
    if (result < 0)
        return result;
    if (!read_word(process, wait.address, &word))
        return -EFAULT;
    const uint32_t owner = word & FUTEX_TID_MASK;
    if (owner == (uint32_t)self->number)
        return -EDEADLK;
    if (owner != 0 && !(word & FUTEX_OWNER_DIED) && !is_alive(process, owner))
        return -ESRCH;
    const bool is_free = owner == 0 || (word & FUTEX_OWNER_DIED);
    if (!is_free && !waits)
        return -EAGAIN;
    const uint32_t next = is_free
                              ? (word & (FUTEX_WAITERS | FUTEX_OWNER_DIED)) | (uint32_t)self->number
                              : word | FUTEX_WAITERS;
    if (program_write(process->space, wait.address, &next, sizeof next) != 0)
        return -EFAULT;
    if (is_free)
        return 0;
    self->wait = wait;
    put_in(self);
    return 0;
}

static int64_t unlock(struct process *process, uint64_t address)
{
    const struct process_thread *self = process_thread_self(process);
    struct process_thread *heir = process->threads->waiting;
    uint32_t word, next = 0;
    if (!read_word(process, address, &word))
        return -EFAULT;
    if ((word & FUTEX_TID_MASK) != (uint32_t)self->number)
        return -EPERM;
    while (heir && !is_meant(heir, address, 0))
        heir = heir->next_waiting;
    if (heir)
        next = (uint32_t)heir->number;
    for (const struct process_thread *at = heir ? heir->next_waiting : NULL; at;
         at = at->next_waiting)
        if (is_meant(at, address, 0))
            next |= FUTEX_WAITERS;
    if (program_write(process->space, address, &next, sizeof next) != 0)
        return -EFAULT;
    if (heir)
        process_futex_end(heir, 0);
    return 0;
}

static int64_t operation(struct process *process, const struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    const unsigned count = (int)arguments[2] > 0 ? (unsigned)arguments[2] : 1;
    switch (arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return wait_for(process, call, FUTEX_BITSET_MATCH_ANY, true);
    case FUTEX_WAIT_BITSET:
        return wait_for(process, call, (uint32_t)arguments[5], false);
    case FUTEX_WAKE:
        return process_futex_wake(process, arguments[0], count);
    case FUTEX_WAKE_BITSET:
        return arguments[5] ? (int64_t)wake(process, arguments[0], count, (uint32_t)arguments[5])
                            : -EINVAL;
    case FUTEX_REQUEUE:
        return requeue(process, call, false);
    case FUTEX_CMP_REQUEUE:
        return requeue(process, call, true);
    case FUTEX_WAKE_OP:
        return wake_op(process, call);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return lock(process, call, true);
    case FUTEX_TRYLOCK_PI:
        return lock(process, call, false);
    case FUTEX_UNLOCK_PI:
        return unlock(process, arguments[0]);
    default: /* condition variables of old libraries, with PI locks */
        return -ENOSYS;
    }
}

bool process_futex_is_shared(struct process *process, const struct system_call *call)
{
    struct space_mapping mapping;
    return !(call->arguments[1] & FUTEX_PRIVATE_FLAG) &&
           space_find(process->space, call->arguments[0], &mapping) &&
           (mapping.flags & SPACE_SHARED);
}

bool process_futex_call(struct process *process, struct system_call *call)
{
    if (process_futex_is_shared(process, call))
        return false;
    call->result = call->arguments[0] % sizeof(uint32_t) ? -EINVAL : operation(process, call);
    return true;
}
