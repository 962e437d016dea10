#include "tools/exec/exec_outputs.h"

#include "capture/program/bus_source.h"
#include "capture/program/exec_source.h"
#include "capture/status_json.h"
#include "driver/virtual_board.h"
#include "formats/base/printable.h"
#include "tools/common/command.h"
#include "tools/symbols/inlined.h"

#include <stdlib.h>
#include <string.h>

/* --- beginning ---------------------------------------------------------------------------------
 */

/* PREFIX for the first process, PREFIX-pN for the others; with --split-threads, -tN follows. */
static int name_capture(char *prefix, size_t size, const struct exec_outputs *outputs,
                        const struct exec_user *user, struct bt_error *error)
{
    char process[24] = "", thread[24] = "";
    if (user->process > 0)
        snprintf(process, sizeof process, "-p%u", (unsigned)user->process);
    if (outputs->settings->each)
        snprintf(thread, sizeof thread, "-t%u", (unsigned)user->thread);
    int bytes =
        snprintf(prefix, size, "%s%s%s", outputs->settings->capture.prefix, process, thread);
    return bytes > 0 && (size_t)bytes < size ? 0
                                             : bt_fail(error, BT_USAGE, "the prefix is too long");
}

/* Fills the header: the board's name is the command line. */
static void describe(struct capture_info *info, const struct exec_settings *settings,
                     const struct exec_user *user)
{
    _Static_assert(sizeof info->board >= sizeof user->command, "a command fits");
    strcpy(info->board, user->command);
    strcpy(info->bus, CAPTURE_BUS_PROGRAM);
    const char *type = settings->only_fetch  ? "type=FETCH"
                       : settings->only_data ? "type=MEMREAD|MEMWRITE"
                                             : "";
    const char *filter = settings->filter ? settings->filter : "";
    const char *code = settings->code ? settings->code : "";
    snprintf(info->filter, sizeof info->filter, "%s%s%s%s%s%s", type,
             *type && *filter ? " and " : "", filter, *code && (*type || *filter) ? ", " : "",
             *code ? "code " : "", code);
}

/* Sends the program's records through firmware and driver, as with a real bus. */
static struct source *through_board(struct source *references, struct exec_settings *settings,
                                    struct bt_error *error)
{
    struct virtual_board_settings *board = calloc(1, sizeof *board);
    struct stream *stream = NULL;
    struct session *session = NULL;
    if (!board) {
        source_close(references);
        bt_fail(error, BT_MEMORY, "no memory for a board");
        return NULL;
    }
    board->bus.source = bus_source_new(references, error);
    if (board->bus.source && virtual_board_open(&stream, board, "virtual:program", error) == 0)
        session = session_new(stream, error);
    free(board);
    if (!session)
        return NULL;
    settings->session.reconnect_ns = 0;
    session_prepare(session, &settings->session);
    return session_source(session);
}

int exec_outputs_open(struct exec_outputs *outputs, int lane, struct bt_error *error)
{
    struct exec_settings *settings = outputs->settings;
    struct exec_user *user = &outputs->users[lane];
    struct capture_info info = {.clock_hz = 0};
    struct capture_settings *capture = malloc(sizeof *capture);
    if (!capture || !exec_lanes_used(outputs->lanes, lane, user)) {
        free(capture);
        return bt_fail(error, BT_MEMORY, "no memory for a capture");
    }
    *capture = settings->capture;
    describe(&info, settings, user);
    if (name_capture(capture->prefix, sizeof capture->prefix, outputs, user, error) == 0) {
        struct source *source =
            exec_source_new(exec_lanes_ring(outputs->lanes, lane), &info, error);
        if (source && settings->board)
            source = through_board(source, settings, error);
        if (source)
            outputs->captures[lane] = capture_new(capture, source, error);
    }
    free(capture);
    return outputs->captures[lane] ? 0 : error->code;
}

/* --- ending ------------------------------------------------------------------------------------
 */

static void count_status(struct exec_outputs *outputs, int status)
{
    if (status > outputs->status)
        outputs->status = status;
}

static void write_summary(struct exec_outputs *outputs, const struct capture_status *status)
{
    struct bt_error error;
    char *text = status_json_text(status, &error);
    if (text && (fprintf(outputs->summary, "%s\n", text) < 0 || fflush(outputs->summary) != 0))
        bt_fail_errno(&error, "cannot write %s", outputs->settings->summary);
    else if (text)
        error.code = 0;
    if (error.code)
        count_status(outputs, capture_report_failure(&outputs->report, &error));
    free(text);
}

static void conclude(struct exec_outputs *outputs, int lane)
{
    const struct exec_user *user = &outputs->users[lane];
    struct capture_status status;
    capture_report_clear(&outputs->report);
    capture_report_notes(&outputs->report, outputs->captures[lane]);
    capture_get_status(outputs->captures[lane], &status);
    status.quantum = outputs->settings->quantum;
    status.switches = exec_lanes_switches(outputs->lanes, lane);
    count_status(outputs, status_json_complete(&status) ? 0 : STATUS_DATA);
    if (status.error.code)
        count_status(outputs, capture_report_failure(&outputs->report, &status.error));
    outputs->records += status.records;
    outputs->seen += status.source.seen;
    const bool several = outputs->settings->follow || outputs->settings->each || user->process > 0;
    if (!outputs->settings->quiet && several)
        capture_report_say(&outputs->report, "process %u, thread %u: %s", (unsigned)user->process,
                           (unsigned)user->thread, user->command);
    if (!outputs->settings->quiet)
        capture_report_summary(&outputs->report, &status);
    if (outputs->summary)
        write_summary(outputs, &status);
    capture_free(outputs->captures[lane]);
    outputs->captures[lane] = NULL;
}

/* A function that was not executed may be inlined into others. */
static void say_inlined(struct exec_outputs *outputs, const char *place, const char *path)
{
    char function[256], caller[256];
    snprintf(function, sizeof function, "%.*s", (int)strcspn(place, "+"), place);
    if (inlined_into(path, function, caller, sizeof caller))
        capture_report_say(&outputs->report, "%s is inlined into %s", function, caller);
}

void exec_outputs_report_empty(struct exec_outputs *outputs)
{
    const struct exec_settings *settings = outputs->settings;
    const struct trigger_settings *trigger = &settings->capture.trigger;
    const bool snapshots = trigger_selects(trigger) && !trigger->trigger[0];
    if (outputs->records > 0 || outputs->status != 0 || snapshots)
        return;
    const char *reason = trigger->trigger[0] ? ": no record matched the trigger"
                         : settings->filter  ? ": no record matched the filter"
                                             : "";
    if (outputs->seen == 0) /* the program never reached the place, as its process has said */
        capture_report_say(&outputs->report, "the capture is empty");
    else if (settings->code)
        capture_report_say(&outputs->report,
                           "the capture is empty: the program executed no instruction of %s%s",
                           settings->code, settings->filter ? " that matches the filter" : "");
    else
        capture_report_say(&outputs->report, "the capture is empty%s", reason);
    const struct region_options *region = &settings->region;
    const char *const places[] = {settings->code, region->from, region->calls};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i])
            say_inlined(outputs, places[i], outputs->path);
    count_status(outputs, STATUS_DATA);
}

/* Called only after the lane's user has ended: a user whose capture has failed continues and needs
 * the closed ring. */
static void release(struct exec_outputs *outputs, int lane)
{
    outputs->users[lane].alive.number = 0;
    exec_lanes_release(outputs->lanes, lane);
}

void exec_outputs_end_process(struct exec_outputs *outputs, pid_t process)
{
    struct exec_user user;
    for (int lane = 0; lane < (int)EXEC_LANES; lane++)
        if (exec_lanes_used(outputs->lanes, lane, &user) && !user.held &&
            user.alive.number == process)
            message_ring_end(exec_lanes_ring(outputs->lanes, lane));
}

void exec_outputs_stop(struct exec_outputs *outputs)
{
    for (int lane = 0; lane < (int)EXEC_LANES; lane++)
        if (outputs->captures[lane])
            capture_stop(outputs->captures[lane]);
}

void exec_outputs_abandon(struct exec_outputs *outputs)
{
    for (int lane = 0; lane < (int)EXEC_LANES; lane++) {
        capture_free(outputs->captures[lane]);
        outputs->captures[lane] = NULL;
    }
}

/* The program has replaced itself: its captures have two names or more. */
static void say_replaced(struct exec_outputs *outputs, const struct exec_user *user)
{
    char prefix[sizeof outputs->settings->capture.prefix];
    struct bt_error ignored;
    if (user->process > 0 && user->thread == 0 && !outputs->settings->follow &&
        name_capture(prefix, sizeof prefix, outputs, user, &ignored) == 0)
        capture_report_say(&outputs->report,
                           "the program executes %s in its place, which is captured in %s",
                           PRINTABLE(user->command), PRINTABLE(prefix));
}

static void begin_new(struct exec_outputs *outputs, int lane)
{
    struct bt_error error = {0};
    if (exec_outputs_open(outputs, lane, &error) == 0) {
        say_replaced(outputs, &outputs->users[lane]);
        return;
    }
    count_status(outputs, capture_report_failure(&outputs->report, &error));
    message_ring_close(
        exec_lanes_ring(outputs->lanes, lane)); /* its process continues uncaptured */
}

static void say_notes(struct exec_outputs *outputs)
{
    char note[EXEC_NOTE_BYTES];
    while (exec_lanes_take_note(outputs->lanes, note))
        capture_report_say(&outputs->report, "%s", note);
}

bool exec_outputs_look(struct exec_outputs *outputs)
{
    struct exec_user user;
    bool any = false;
    say_notes(outputs);
    for (int lane = 0; lane < (int)EXEC_LANES; lane++) {
        if (!exec_lanes_used(outputs->lanes, lane, &user))
            continue;
        bool is_new =
            !outputs->captures[lane] && outputs->users[lane].alive.number != user.alive.number;
        if (is_new)
            begin_new(outputs, lane);
        struct message_ring *ring = exec_lanes_ring(outputs->lanes, lane);
        if (!exec_lanes_alive(outputs->lanes, lane, &user))
            message_ring_end(ring);
        if (outputs->captures[lane]) /* the first capture starts before its process exists */
            outputs->users[lane].alive = user.alive;
        if (outputs->captures[lane] && capture_wait(outputs->captures[lane], 0))
            conclude(outputs, lane);
        if (!outputs->captures[lane] && message_ring_has_ended(ring))
            release(outputs, lane);
        any = any || outputs->captures[lane];
    }
    return any;
}
