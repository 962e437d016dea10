#define _GNU_SOURCE /* memfd_create, MAP_ANONYMOUS, F_DUPFD_CLOEXEC */
#include "capture/program/exec_lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PAGE           4096u
#define NOTES          32u
#define NOTE_TRIES     1000 /* one a millisecond */
#define MILLISECOND_NS 1000000

#define TAKER                                                                                      \
    EXEC_LANES /* offset of the taker's lock; a user locks the byte of its lane's number */

enum state { FREE, CLAIMED, USED };

struct shared_lane {
    _Atomic uint32_t state;
    struct exec_user user;
    _Atomic uint64_t switches;
};

struct shared_note {
    _Atomic uint32_t state;
    char text[EXEC_NOTE_BYTES];
};

/* The shared memory; the rings follow it. */
struct shared {
    struct exec_orders orders;
    _Atomic uint32_t processes, missed;
    struct shared_lane lanes[EXEC_LANES];
    struct shared_note notes[NOTES];
};

struct exec_lanes {
    int descriptor;
    struct alive taker; /* valid in the process that made the lanes and its children */
    struct shared *shared;
};

/* --- detecting that a process has ended ---
 *
 * Each process locks a byte of the descriptor's file, which the kernel unlocks when the process
 * ends. Process IDs are not valid in another PID namespace. */

static bool set_lock(const struct exec_lanes *lanes, unsigned byte, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return lanes->descriptor >= 0 && fcntl(lanes->descriptor, F_SETLK, &lock) == 0;
}

static bool is_locked(const struct exec_lanes *lanes, unsigned byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(lanes->descriptor, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool exec_lanes_alive(const struct exec_lanes *lanes, int lane, const struct exec_user *user)
{
    return user->held ? is_locked(lanes, (unsigned)lane) : alive_still(&user->alive);
}

bool exec_lanes_taken(const void *context)
{
    const struct exec_lanes *lanes = context;
    return lanes->descriptor >= 0 ? is_locked(lanes, TAKER) : alive_still(&lanes->taker);
}

/* --- the lanes --- */

static size_t round_up(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static size_t all_bytes(void)
{
    return round_up(sizeof(struct shared)) + EXEC_LANES * round_up(message_ring_bytes());
}

/* descriptor < 0: memory shared with children only. */
static struct exec_lanes *map(int descriptor, struct bt_error *error)
{
    int flags = MAP_SHARED | MAP_NORESERVE | (descriptor < 0 ? MAP_ANONYMOUS : 0);
    struct exec_lanes *lanes = calloc(1, sizeof *lanes);
    void *memory = mmap(NULL, all_bytes(), PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (!lanes || memory == MAP_FAILED) {
        bt_fail_errno(error, "no memory for a program's records");
        free(lanes);
        return NULL;
    }
    lanes->descriptor = descriptor;
    lanes->shared = memory;
    return lanes;
}

struct exec_lanes *exec_lanes_join(int descriptor, struct bt_error *error)
{
    return map(descriptor, error);
}

/* Makes memory that another program can inherit. RLIMIT_FSIZE also limits a memfd, so it is raised
 * meanwhile; -1 with errno. */
static int make_descriptor(void)
{
    struct rlimit before, most;
    int descriptor = memfd_create("bustap", MFD_CLOEXEC);
    getrlimit(RLIMIT_FSIZE, &before);
    most = (struct rlimit){before.rlim_max, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &most);
    const bool made = descriptor >= 0 && ftruncate(descriptor, (off_t)all_bytes()) == 0;
    const int why = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    if (!made && descriptor >= 0)
        close(descriptor);
    errno = why;
    return made ? descriptor : -1;
}

struct exec_lanes *exec_lanes_new(const struct exec_orders *orders, struct bt_error *error)
{
    const int descriptor = make_descriptor();
    if (descriptor < 0 && (orders->follow || errno != EFBIG)) {
        bt_fail_errno(error, "no memory for the records of programs that are followed");
        return NULL;
    }
    struct exec_lanes *lanes = map(descriptor, error);
    if (!lanes) {
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    lanes->shared->orders = *orders;
    lanes->taker = alive_process(getpid());
    set_lock(lanes, TAKER, F_WRLCK);
    for (int i = 0; i < (int)EXEC_LANES; i++)
        message_ring_at(exec_lanes_ring(lanes, i), &lanes->taker);
    return lanes;
}

bool exec_lanes_are_inherited(const struct exec_lanes *lanes)
{
    return lanes->descriptor >= 0;
}

void exec_lanes_free(struct exec_lanes *lanes)
{
    if (!lanes)
        return;
    munmap(lanes->shared, all_bytes());
    if (lanes->descriptor >= 0)
        close(lanes->descriptor);
    free(lanes);
}

const struct exec_orders *exec_lanes_orders(const struct exec_lanes *lanes)
{
    return &lanes->shared->orders;
}

int exec_lanes_keep(struct exec_lanes *lanes, int lowest, struct bt_error *error)
{
    int own = lanes->descriptor;
    int kept = own == lowest ? own : fcntl(own, F_DUPFD_CLOEXEC, lowest);
    if (kept < 0)
        return bt_fail_errno(error, "cannot move the descriptor for followed programs");
    if (own != kept)
        close(own);
    fcntl(kept, F_SETFD, FD_CLOEXEC);
    return lanes->descriptor = kept;
}

uint32_t exec_lanes_count_process(struct exec_lanes *lanes)
{
    return atomic_fetch_add(&lanes->shared->processes, 1);
}

void exec_lanes_miss(struct exec_lanes *lanes)
{
    atomic_fetch_add(&lanes->shared->missed, 1);
}

uint32_t exec_lanes_missed(const struct exec_lanes *lanes)
{
    return atomic_load(&lanes->shared->missed);
}

static struct shared_note *free_note(struct exec_lanes *lanes)
{
    for (unsigned i = 0; i < NOTES; i++) {
        uint32_t expected = FREE;
        if (atomic_compare_exchange_strong(&lanes->shared->notes[i].state, &expected, CLAIMED))
            return &lanes->shared->notes[i];
    }
    return NULL;
}

void exec_lanes_note(struct exec_lanes *lanes, const char *format, ...)
{
    const struct timespec moment = {0, MILLISECOND_NS};
    struct shared_note *note = free_note(lanes);
    va_list arguments;
    for (int i = 0; !note && i < NOTE_TRIES; i++) {
        nanosleep(&moment, NULL);
        note = free_note(lanes);
    }
    if (!note)
        return;
    va_start(arguments, format);
    vsnprintf(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
    atomic_store(&note->state, USED);
}

bool exec_lanes_take_note(struct exec_lanes *lanes, char *note)
{
    for (unsigned i = 0; i < NOTES; i++) {
        struct shared_note *at = &lanes->shared->notes[i];
        if (atomic_load(&at->state) != USED)
            continue;
        memcpy(note, at->text, EXEC_NOTE_BYTES);
        note[EXEC_NOTE_BYTES - 1] = '\0';
        atomic_store(&at->state, FREE);
        return true;
    }
    return false;
}

int exec_lanes_claim(struct exec_lanes *lanes, const struct exec_user *user, bool holds)
{
    for (int i = 0; i < (int)EXEC_LANES; i++) {
        struct shared_lane *lane = &lanes->shared->lanes[i];
        uint32_t expected = FREE;
        if (!atomic_compare_exchange_strong(&lane->state, &expected, CLAIMED))
            continue;
        lane->user = *user;
        lane->user.held = holds && set_lock(lanes, (unsigned)i, F_WRLCK);
        atomic_store(&lane->switches, 0);
        atomic_store(&lane->state, USED);
        return i;
    }
    return -1;
}

void exec_lanes_set_process(struct exec_lanes *lanes, int lane, pid_t process)
{
    lanes->shared->lanes[lane].user.alive = alive_process(process);
}

struct message_ring *exec_lanes_ring(struct exec_lanes *lanes, int lane)
{
    uint8_t *first = (uint8_t *)lanes->shared + round_up(sizeof(struct shared));
    return (struct message_ring *)(void *)(first + (size_t)lane * round_up(message_ring_bytes()));
}

bool exec_lanes_used(struct exec_lanes *lanes, int lane, struct exec_user *user)
{
    const struct shared_lane *at = &lanes->shared->lanes[lane];
    if (atomic_load(&at->state) != USED)
        return false;
    *user = at->user;
    return true;
}

bool exec_lanes_any_over(struct exec_lanes *lanes, uint32_t process)
{
    struct exec_user user;
    for (int lane = 0; lane < (int)EXEC_LANES; lane++)
        if (exec_lanes_used(lanes, lane, &user) &&
            (message_ring_has_ended(exec_lanes_ring(lanes, lane)) ||
             (user.process != process && !exec_lanes_alive(lanes, lane, &user))))
            return true;
    return false;
}

void exec_lanes_end(struct exec_lanes *lanes, struct message_ring *ring)
{
    for (int lane = 0; lane < (int)EXEC_LANES; lane++)
        if (exec_lanes_ring(lanes, lane) == ring) {
            message_ring_end(ring);
            set_lock(lanes, (unsigned)lane, F_UNLCK);
        }
}

void exec_lanes_end_process(struct exec_lanes *lanes, uint32_t process)
{
    struct exec_user user;
    for (int lane = 0; lane < (int)EXEC_LANES; lane++)
        if (exec_lanes_used(lanes, lane, &user) && user.process == process) {
            message_ring_end(exec_lanes_ring(lanes, lane));
            set_lock(lanes, (unsigned)lane, F_UNLCK);
        }
}

void exec_lanes_set_switches(struct exec_lanes *lanes, uint32_t process, uint64_t switches)
{
    for (int i = 0; i < (int)EXEC_LANES; i++) {
        struct shared_lane *lane = &lanes->shared->lanes[i];
        if (atomic_load(&lane->state) == USED && lane->user.process == process)
            atomic_store(&lane->switches, switches);
    }
}

uint64_t exec_lanes_switches(const struct exec_lanes *lanes, int lane)
{
    return atomic_load(&lanes->shared->lanes[lane].switches);
}

void exec_lanes_release(struct exec_lanes *lanes, int lane)
{
    message_ring_at(exec_lanes_ring(lanes, lane), &lanes->taker);
    atomic_store(&lanes->shared->lanes[lane].state, FREE);
}
