#include "tools/rondo/run.h"

#include "formats/base/clock.h"
#include "formats/base/quantity.h"

#define PROGRESS_STEPS 0xffffu /* the clock is read once in this many steps plus one */
#define PROGRESS_NS    200000000

struct rondo_session {
    struct aria *aria;
    struct front_end *front_end;
    const struct rondo_run_settings *settings;
    struct wrong_path *wrong_path; /* NULL after an error */
    struct rondo_results *results;
    struct aria_state *state;
    struct aria_state *wrong_state;
    uint64_t steps;
    int64_t shown_ns;
    bool shown;
};

static struct branch branch_of(const struct aria_step *step)
{
    static const enum branch_kind kinds[] = {[ARIA_CONDITIONAL] = BRANCH_CONDITIONAL,
                                             [ARIA_JUMP] = BRANCH_JUMP,
                                             [ARIA_CALL] = BRANCH_CALL,
                                             [ARIA_RETURN] = BRANCH_RETURN,
                                             [ARIA_INDIRECT_JUMP] = BRANCH_INDIRECT_JUMP,
                                             [ARIA_INDIRECT_CALL] = BRANCH_INDIRECT_CALL};
    return (struct branch){.address = step->branch_address,
                           .next = step->next,
                           .target = step->target,
                           .kind = kinds[step->branch],
                           .taken = step->taken || step->branch != ARIA_CONDITIONAL};
}

/* --- the wrong path -------------------------------------------------------------------------- */

static void count_wrong(struct rondo_session *run, const struct aria_step *step)
{
    struct rondo_results *results = run->results;
    for (size_t i = 0; i < step->record_count; i++) {
        results->wrong_reads += step->records[i].type == REQUEST_MEMREAD;
        results->wrong_writes += step->records[i].type == REQUEST_MEMWRITE;
    }
    results->wrong_instructions += step->instructions;
    results->wrong_own_reads += step->own_reads;
    if (run->wrong_path &&
        wrong_path_put(run->wrong_path, step->records, step->record_count, &results->error) < 0)
        run->wrong_path = NULL;
}

/* The next address of the wrong path after a step. Returns false at its end, with the reason. */
static bool go_on(struct rondo_session *run, const struct aria_step *step,
                  enum rondo_ending *ending)
{
    *ending = step->reason == ARIA_SYSTEM_CALL ? RONDO_SYSTEM_CALL
              : step->reason == ARIA_SIGNAL    ? RONDO_SIGNAL
                                               : RONDO_DEPTH;
    if (step->reason != ARIA_BRANCH)
        return false;
    const struct branch branch = branch_of(step);
    run->wrong_state->rip = front_end_wrong(run->front_end, &branch);
    *ending = RONDO_NO_TARGET;
    return run->wrong_state->rip != 0;
}

static int follow(struct rondo_session *run, const struct branch *branch,
                  const struct front_end_answer *answer, struct bt_error *error)
{
    enum rondo_ending ending = RONDO_DEPTH;
    uint64_t left = run->settings->depth;
    int result = 0;
    if (answer->goes_on == 0) {
        run->results->waits++;
        return 0;
    }
    aria_state_assign(run->aria, run->wrong_state, run->state);
    run->wrong_state->rip = answer->goes_on;
    front_end_wrong_begin(run->front_end, branch, answer);
    if (run->wrong_path)
        wrong_path_begin(run->wrong_path, run->results->instructions);
    while (left > 0) {
        struct aria_step step;
        result = aria_execute(run->aria, run->wrong_state, ARIA_NOT_TAKEN, left, &step, error);
        if (result < 0)
            break;
        count_wrong(run, &step);
        left -= step.instructions < left ? step.instructions : left;
        if (!go_on(run, &step, &ending))
            break;
        if (left == 0)
            ending = RONDO_DEPTH;
    }
    front_end_wrong_end(run->front_end);
    run->results->wrong_paths++;
    run->results->wrong_ended[ending]++;
    return result;
}

/* --- the right path -------------------------------------------------------------------------- */

static void show(struct rondo_session *run)
{
    char text[QUANTITY_TEXT_BYTES];
    int64_t now = clock_monotonic_ns();
    if (now - run->shown_ns < PROGRESS_NS)
        return;
    if (run->shown_ns != 0) {
        fprintf(run->settings->progress, "\r\033[K%s million instructions",
                quantity_text(text, run->results->instructions / 1000000));
        fflush(run->settings->progress);
        run->shown = true;
    }
    run->shown_ns = now;
}

static void hide(struct rondo_session *run)
{
    if (run->shown)
        fputs("\r\033[K", run->settings->progress);
    run->shown = false;
}

/* Runs until the program ends or the limit is reached. */
static int look(struct rondo_session *run, struct bt_error *error)
{
    struct rondo_results *results = run->results;
    const uint64_t limit = run->settings->limit;
    int result = 0;
    while (result == 0 && (limit == 0 || results->instructions < limit)) {
        struct aria_step step;
        result = aria_execute(run->aria, run->state, ARIA_TAKEN,
                              limit ? limit - results->instructions : 0, &step, error);
        results->instructions += step.instructions;
        if (result < 0 || step.reason == ARIA_EXIT) {
            results->end = step.end;
            return result;
        }
        if (step.reason == ARIA_BRANCH) {
            const struct branch branch = branch_of(&step);
            struct front_end_answer answer = front_end_put(run->front_end, &branch);
            if (answer.wrong && run->settings->depth > 0)
                result = follow(run, &branch, &answer, error);
        }
        if (run->settings->progress && (++run->steps & PROGRESS_STEPS) == 0)
            show(run);
    }
    results->limited = result == 0;
    return result;
}

static int ignore(void *context, struct record *records, size_t count)
{
    (void)context;
    (void)records;
    (void)count;
    return 0;
}

/* Runs up to `count` instructions without predicting, 0: all. Returns true if the program has
 * ended. */
static int run_freely(struct rondo_session *run, uint64_t instructions, bool *ended,
                      struct bt_error *error)
{
    struct aria_step step;
    int result = aria_run(run->aria, run->state, instructions, ignore, NULL, &step, error);
    run->results->skipped += step.instructions;
    *ended = result < 0 || step.reason == ARIA_EXIT;
    if (*ended)
        run->results->end = step.end;
    return result;
}

static int run_all(struct rondo_session *run, struct bt_error *error)
{
    bool ended = false;
    int result = 0;
    if (run->settings->skip > 0)
        result = run_freely(run, run->settings->skip, &ended, error);
    if (result < 0 || ended)
        return result;
    result = look(run, error);
    hide(run);
    if (result < 0 || !run->results->limited)
        return result;
    const uint64_t skipped = run->results->skipped;
    result = run_freely(run, 0, &ended, error);
    run->results->skipped = skipped;
    return result;
}

int rondo_run(struct aria *aria, struct front_end *front_end,
              const struct rondo_run_settings *settings, struct rondo_results *results,
              struct bt_error *error)
{
    struct rondo_session run = {.aria = aria,
                                .front_end = front_end,
                                .settings = settings,
                                .wrong_path = settings->wrong_path,
                                .results = results};
    *results = (struct rondo_results){.error = {.code = 0}};
    results->end = (struct process_end){.ending = PROCESS_UNABLE, .value = 1};
    run.state = aria_initial(aria, error);
    run.wrong_state = run.state ? aria_state_copy(aria, run.state, error) : NULL;
    int result = run.wrong_state ? run_all(&run, error) : BT_MEMORY;
    aria_state_free(run.wrong_state);
    aria_state_free(run.state);
    return result;
}
