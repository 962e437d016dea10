#define _GNU_SOURCE /* pthread_timedjoin_np */
#include "host/packer.h"

#include "capture/file_list.h"
#include "capture/pack/pack_replace.h"
#include "formats/base/clock.h"
#include "formats/base/thread.h"
#include "host/pack_candidates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#define SECOND_NS   1000000000ll
#define HELD_MS     100              /* interval of checks whether the daemon is idle */
#define SCAN_MIN_NS SECOND_NS        /* between looks at the files, */
#define SCAN_MAX_NS (60 * SECOND_NS) /* at most */
#define LEAVE_NS    (SECOND_NS / 2)  /* time for the thread to end */
#define ROOM        2u               /* free space that is needed, in sizes of the file */

/* A capture. The thread does not use the configuration, which may be freed before it ends. */
struct target {
    char name[CONFIG_NAME_BYTES];
    char prefix[sizeof((struct capture_settings *)NULL)->prefix];
    int64_t after_ns; /* CONFIG_PACK_NEVER: off */
    int level;
    pthread_mutex_t files; /* a holder names or removes files of the capture */
    struct runner *runner; /* not after packer.stopping */
    struct pack_list list; /* the thread's */
    struct pack_passed passed;
    char reported[sizeof((struct bt_error *)NULL)->message]; /* the failure that the log has */
    struct packer_report report;                             /* under packer.lock */
};

struct packer {
    const struct journal *journal; /* not after stopping */
    size_t count;
    struct target *targets;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of the reports and stopping */
    pthread_cond_t changed;
    bool stopping;
    struct target *busy;             /* the thread's: whose file is being packed */
    struct pack_candidate candidate; /* the thread's, too large for a stack */
};

static void set_state(struct packer *packer, struct target *target, enum packer_state state)
{
    pthread_mutex_lock(&packer->lock);
    target->report.state = state;
    pthread_mutex_unlock(&packer->lock);
}

/* Waits with the lock; ends early if the packer is stopped. */
static void wait_for(struct packer *packer, int64_t nanoseconds)
{
    const int64_t until = clock_monotonic_ns() + nanoseconds;
    const struct timespec time = {(time_t)(until / SECOND_NS), (long)(until % SECOND_NS)};
    int result = 0;
    while (!packer->stopping && result == 0)
        result = pthread_cond_timedwait(&packer->changed, &packer->lock, &time);
}

/* Whether no capture needs the machine more. With the lock, not when stopping. */
static bool is_idle(const struct packer *packer)
{
    for (size_t i = 0; i < packer->count; i++)
        if (runner_has_backlog(packer->targets[i].runner))
            return false;
    return true;
}

/* Waits until the captures have no backlog. False: the packer is stopped. */
static bool go_on(void *context, const char *path, uint64_t done, uint64_t total)
{
    struct packer *packer = context;
    struct packer_report *report = &packer->busy->report;
    (void)path, (void)done, (void)total;
    pthread_mutex_lock(&packer->lock);
    while (!packer->stopping && !is_idle(packer)) {
        report->state = PACKER_HELD;
        wait_for(packer, HELD_MS * (SECOND_NS / 1000));
    }
    report->state = PACKER_BUSY;
    const bool on = !packer->stopping;
    pthread_mutex_unlock(&packer->lock);
    return on;
}

static void hold(void *context, bool held)
{
    struct packer *packer = context;
    if (held)
        pthread_mutex_lock(&packer->busy->files);
    else
        pthread_mutex_unlock(&packer->busy->files);
}

/* Counts and reports a failure: in the log once for each reason. */
static void fail(struct packer *packer, struct target *target, const struct bt_error *error)
{
    pthread_mutex_lock(&packer->lock);
    target->report.error = *error;
    if (!packer->stopping && !bt_same_reason(target->reported, error->message)) {
        memcpy(target->reported, error->message, sizeof target->reported);
        journal_write(packer->journal, JOURNAL_WARNING,
                      "capture %s: packing: %s; later failures for this reason are not reported",
                      target->name, error->message);
    }
    pthread_mutex_unlock(&packer->lock);
}

/* Counts and reports a packed file. */
static void succeed(struct packer *packer, struct target *target, const struct pack_counts *counts)
{
    const struct pack_candidate *candidate = &packer->candidate;
    struct packer_report *report = &target->report;
    pthread_mutex_lock(&packer->lock);
    report->files++;
    report->bytes_before += counts->bytes_before;
    report->bytes += counts->bytes;
    report->error = (struct bt_error){.code = 0};
    target->reported[0] = '\0';
    if (!packer->stopping) {
        runner_file_moved(target->runner, candidate->path, candidate->packed);
        journal_write(packer->journal, JOURNAL_INFO,
                      "capture %s: packed %s: %" PRIu64 " of %" PRIu64 " bytes", target->name,
                      candidate->packed, counts->bytes, counts->bytes_before);
    }
    pthread_mutex_unlock(&packer->lock);
}

/* A failure that a later attempt may not have. */
static bool may_pass(int code)
{
    return code == BT_FULL || code == BT_MEMORY || code == BT_CLOSED || code == BT_BUSY;
}

/* Deals with what became of the candidate. */
static void conclude(struct packer *packer, struct target *target, int outcome,
                     const struct pack_counts *counts, struct bt_error *error)
{
    const struct pack_candidate *candidate = &packer->candidate;
    struct bt_error no_list;
    if (outcome == PACK_DONE)
        succeed(packer, target, counts);
    else if (outcome < 0 && outcome != BT_CLOSED && outcome != BT_BUSY)
        fail(packer, target, error);
    pthread_mutex_lock(&packer->lock);
    target->report.stays += outcome == PACK_STAYS;
    target->report.failed += outcome < 0 && !may_pass(outcome);
    target->report.file[0] = '\0';
    pthread_mutex_unlock(&packer->lock);
    if (outcome != PACK_GONE && !may_pass(outcome) &&
        pack_passed_add(&target->passed, outcome == PACK_DONE ? candidate->packed : candidate->path,
                        target->level, &no_list) < 0)
        fail(packer, target, &no_list);
}

/* Whether the disk has room for the candidate's packed form, and leaves some to the captures. */
static bool has_room(const struct pack_candidate *candidate)
{
    struct statvfs disk;
    return statvfs(candidate->path, &disk) != 0 ||
           (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM * candidate->bytes;
}

/* Whether the commands of all files of the list have ended. */
static bool may_pack(struct packer *packer, struct target *target)
{
    /* a file is named and passed to its command under this lock: those of the list were */
    pthread_mutex_lock(&target->files);
    pthread_mutex_unlock(&target->files);
    pthread_mutex_lock(&packer->lock);
    const bool ended = !packer->stopping && runner_commands_left(target->runner) == 0;
    pthread_mutex_unlock(&packer->lock);
    return ended;
}

/* Whether another process captures to the prefix. */
static bool is_foreign(struct packer *packer, struct target *target)
{
    pthread_mutex_lock(&packer->lock);
    const bool own = packer->stopping || runner_has_capture(target->runner);
    pthread_mutex_unlock(&packer->lock);
    return !own && file_list_is_held(packer->candidate.path);
}

/* Packs the candidate. An outcome or a negative code; BT_CLOSED and BT_BUSY are no failures. */
static int pack(struct packer *packer, struct target *target, struct pack_counts *counts,
                struct bt_error *error)
{
    const struct pack_candidate *candidate = &packer->candidate;
    const struct pack_replace_settings settings = {
        .pack = {.level = target->level, .threads = 0, .go_on = go_on, .context = packer},
        .replaces = candidate->left,
        .hold = hold};
    packer->busy = target;
    if (!go_on(packer, candidate->path, 0, 0))
        return BT_CLOSED;
    if (is_foreign(packer, target))
        return BT_BUSY;
    if (!has_room(candidate))
        return bt_fail(error, BT_FULL, "the disk of %s has no room for twice its %" PRIu64 " bytes",
                       candidate->path, candidate->bytes);
    return pack_replace(candidate->path, candidate->packed, &settings, counts, error);
}

static bool is_stopping(struct packer *packer)
{
    pthread_mutex_lock(&packer->lock);
    const bool stopping = packer->stopping;
    pthread_mutex_unlock(&packer->lock);
    return stopping;
}

/* Packs what is old enough of a capture. Lowers *due_ns (CLOCK_REALTIME) to the time of the next
 * file. */
static void visit(struct packer *packer, struct target *target, int64_t *due_ns)
{
    struct bt_error error;
    enum packer_state state = PACKER_WAITING;
    int more = pack_list_read(&target->list, target->prefix, &target->passed, &error);
    if (more < 0)
        fail(packer, target, &error);
    else if (target->list.count > 0 && !may_pack(packer, target))
        state = PACKER_HELD;
    while (state == PACKER_WAITING && more >= 0 && !is_stopping(packer)) {
        struct pack_counts counts = {.records = 0};
        more = pack_list_next(&target->list, target->prefix, &target->passed, target->level,
                              target->after_ns, clock_realtime_ns(), &packer->candidate, due_ns,
                              &error);
        if (more == 0)
            break;
        if (more == 1) {
            pthread_mutex_lock(&packer->lock);
            memcpy(target->report.file, packer->candidate.path, sizeof target->report.file);
            pthread_mutex_unlock(&packer->lock);
            more = pack(packer, target, &counts, &error);
        }
        conclude(packer, target, more, &counts, &error);
        if (more < 0 && may_pass(more))
            state = PACKER_HELD;
        else
            more = 0;
    }
    pack_list_free(&target->list);
    set_state(packer, target, state);
}

static void *run(void *argument)
{
    struct packer *packer = argument;
    struct bt_error error;
    thread_set_name("packer");
    thread_run_idle();
    for (size_t i = 0; i < packer->count; i++) {
        struct target *target = &packer->targets[i];
        if (target->after_ns != CONFIG_PACK_NEVER &&
            file_list_clear_parts(target->prefix, &error) < 0)
            fail(packer, target, &error);
    }
    while (!is_stopping(packer)) {
        int64_t due_ns = INT64_MAX;
        for (size_t i = 0; i < packer->count; i++)
            if (packer->targets[i].after_ns != CONFIG_PACK_NEVER)
                visit(packer, &packer->targets[i], &due_ns);
        /* files that become complete meanwhile are not due earlier */
        for (size_t i = 0; i < packer->count; i++) {
            const int64_t after_ns = packer->targets[i].after_ns;
            if (after_ns != CONFIG_PACK_NEVER && due_ns > clock_realtime_ns() + after_ns)
                due_ns = clock_realtime_ns() + after_ns;
        }
        int64_t wait_ns = due_ns - clock_realtime_ns();
        wait_ns = wait_ns < SCAN_MIN_NS ? SCAN_MIN_NS : wait_ns;
        pthread_mutex_lock(&packer->lock);
        wait_for(packer, wait_ns < SCAN_MAX_NS ? wait_ns : SCAN_MAX_NS);
        pthread_mutex_unlock(&packer->lock);
    }
    return NULL;
}

struct packer *packer_new(const struct config *config, const struct journal *journal,
                          struct bt_error *error)
{
    struct packer *packer = calloc(1, sizeof *packer);
    if (packer)
        packer->targets = calloc(config->count + 1, sizeof *packer->targets);
    if (!packer || !packer->targets) {
        free(packer);
        bt_fail(error, BT_MEMORY, "no memory to pack the files of %zu captures", config->count);
        return NULL;
    }
    packer->journal = journal;
    packer->count = config->count;
    pthread_mutex_init(&packer->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&packer->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    for (size_t i = 0; i < packer->count; i++) {
        const struct config_capture *capture = &config->captures[i];
        struct target *target = &packer->targets[i];
        memcpy(target->name, capture->name, sizeof target->name);
        memcpy(target->prefix, capture->settings.prefix, sizeof target->prefix);
        target->after_ns = capture->pack_after_ns;
        target->level = capture->pack_level;
        if (target->after_ns != CONFIG_PACK_NEVER)
            target->report.state = PACKER_WAITING;
        pthread_mutex_init(&target->files, NULL);
    }
    return packer;
}

pthread_mutex_t *packer_files_lock(struct packer *packer, size_t capture)
{
    return &packer->targets[capture].files;
}

int packer_start(struct packer *packer, struct runner *const *runners, struct bt_error *error)
{
    bool wanted = false;
    for (size_t i = 0; i < packer->count; i++) {
        packer->targets[i].runner = runners[i];
        wanted = wanted || packer->targets[i].after_ns != CONFIG_PACK_NEVER;
    }
    if (!wanted)
        return 0;
    packer->started = thread_start_without_signals(&packer->thread, run, packer) == 0;
    return packer->started ? 0 : bt_fail(error, BT_MEMORY, "cannot start a thread to pack files");
}

void packer_stop(struct packer *packer)
{
    pthread_mutex_lock(&packer->lock);
    packer->stopping = true;
    pthread_cond_broadcast(&packer->changed);
    pthread_mutex_unlock(&packer->lock);
}

/* Whether the thread ends in time. */
static bool join(struct packer *packer)
{
    struct timespec until;
    if (!packer->started)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LEAVE_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    return pthread_timedjoin_np(packer->thread, NULL, &until) == 0;
}

void packer_free(struct packer *packer)
{
    if (!packer)
        return;
    packer_stop(packer);
    if (!join(packer))
        return; /* it uses this memory */
    for (size_t i = 0; i < packer->count; i++) {
        pack_list_free(&packer->targets[i].list);
        pack_passed_free(&packer->targets[i].passed);
        pthread_mutex_destroy(&packer->targets[i].files);
    }
    pthread_cond_destroy(&packer->changed);
    pthread_mutex_destroy(&packer->lock);
    free(packer->targets);
    free(packer);
}

void packer_get_report(struct packer *packer, size_t capture, struct packer_report *report)
{
    pthread_mutex_lock(&packer->lock);
    *report = packer->targets[capture].report;
    pthread_mutex_unlock(&packer->lock);
}

const char *packer_state_name(enum packer_state state)
{
    static const char *const names[PACKER_STATES] = {"off", "waiting", "packing", "held"};
    return names[state];
}
