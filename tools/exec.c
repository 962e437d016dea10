#include "tools/exec.h"

#include "capture/exec/bus_source.h"
#include "capture/exec/exec_source.h"
#include "capture/status_json.h"
#include "driver/virtual_board.h"
#include "tools/capture_options.h"
#include "tools/exec_attend.h"
#include "tools/exec_program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* --- options --------------------------------------------------------------------------------- */

static int take_from(void *settings, const char *argument, struct bt_error *error)
{
    struct exec_symbol *from = &((struct exec_settings *)settings)->from;
    exec_symbol_clear(from);
    return exec_symbol_parse(from, argument, error);
}

static int take_until(void *settings, const char *argument, struct bt_error *error)
{
    struct exec_symbol *until = &((struct exec_settings *)settings)->until;
    exec_symbol_clear(until);
    return exec_symbol_parse(until, argument, error);
}

static int take_packing(void *settings, const char *argument, struct bt_error *error)
{
    int choice = capture_option_choose(argument, "plain", "delta", error);
    if (choice < 0)
        return choice;
    ((struct exec_settings *)settings)->session.packing = choice == 0 ? WIRE_PLAIN : WIRE_DELTA;
    return 0;
}

#define OPTION(member) offsetof(struct exec_settings, member)

static const struct option_row exec_rows[] = {
    {OPTION_CALL, 'o', "output", "PREFIX",
     "files are PREFIX_00001_20261120T224500Z.byu.gz; the program's name unless given", 0,
     capture_option_output},
    {OPTION_COUNT, 0, "limit", "N", "capture N instructions, and no more", OPTION(limit), NULL},
    {OPTION_COUNT, 0, "skip", "N", "leave the first N instructions out", OPTION(skip), NULL},
    {OPTION_CALL, 0, "from", "PLACE",
     "begin at FUNCTION, FUNCTION+0xOFFSET or 0xADDRESS; --skip counts from there", 0, take_from},
    {OPTION_CALL, 0, "until", "PLACE", "end where the program comes there", 0, take_until},
    {OPTION_FLAG, 0, "exit", NULL, "end the program, too, where the capture ends", OPTION(ends),
     NULL},
    {OPTION_FLAG, 0, "only-fetch", NULL, "instructions alone", OPTION(only_fetch), NULL},
    {OPTION_FLAG, 0, "only-data", NULL, "reads and writes alone", OPTION(only_data), NULL},
    {OPTION_FLAG, 0, "board", NULL, "put all on the bus of a virtual board, and capture from that",
     OPTION(board), NULL},
    {OPTION_CALL, 0, "packing", "FORM",
     "records on the link from the board: plain, or delta (the default)", 0, take_packing},
    {OPTION_CALL, 'r', "rotate", "RULE",
     "begin a new file: size=64M, time=10m, every=1h; may repeat", 0, capture_option_rotate},
    {OPTION_NUMBER, 'k', "keep", "N", "keep the last N files, remove older ones",
     OPTION(capture.keep), NULL},
    {OPTION_NUMBER, 0, "workers", "N", "compression threads; one for each processor unless given",
     OPTION(capture.workers), NULL},
    {OPTION_CALL, 0, "queue", "SIZE", "records that may wait for compression; 64M unless given", 0,
     capture_option_queue},
    {OPTION_CALL, 0, "engine", "NAME",
     "compress with records, isa-l or zlib; records is the fastest", 0, capture_option_engine},
    {OPTION_CALL, 0, "level", "N", "compression level: zlib 1 to 9, isa-l 0 to 3; 0 alone: none", 0,
     capture_option_level},
    {OPTION_CALL, 0, "disk-full", "WHAT",
     "with a full disk: end (the default), or wait: lose, count, and go on with room", 0,
     capture_option_disk_full},
    {OPTION_TEXT, 0, "modules", "FILE",
     "write down the files that code was from, as 'bustap dcfg build --image' takes them",
     OPTION(modules), NULL},
    {OPTION_TEXT, 0, "summary", "FILE", "write the summary as one JSON object, too",
     OPTION(summary), NULL},
    {OPTION_FLAG, 'q', "quiet", NULL, "no live line, no summary", OPTION(quiet), NULL},
    {OPTION_END, '+', NULL, NULL, NULL, 0, NULL}};

/* --- running --------------------------------------------------------------------------------- */

/* One call. */
struct run {
    struct exec_settings *settings;
    char path[EXEC_PROGRAM_BYTES];
    struct record_ring *ring;
    struct exec_child child;
    struct capture *capture;
    sigset_t mask; /* before */
    bool watches;  /* somebody at a terminal sees nothing of the program there */
};

/* Files have it as the board's name. */
static void describe(struct capture_info *info, const struct exec_settings *settings)
{
    size_t at = 0;
    for (const char *const *argument = settings->arguments; *argument; argument++) {
        int more = snprintf(info->board + at, sizeof info->board - at, "%s%s", at > 0 ? " " : "",
                            *argument);
        at += more > 0 ? (size_t)more : 0;
        if (at >= sizeof info->board)
            break;
    }
    strcpy(info->bus, CAPTURE_BUS_PROGRAM);
    if (settings->only_fetch || settings->only_data)
        strcpy(info->filter, settings->only_fetch ? "type=FETCH" : "type=MEMREAD|MEMWRITE");
}

/* Firmware and driver between the program and the capture, as with a real bus. */
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

static int begin_capture(struct run *run, struct bt_error *error)
{
    struct capture_info info = {.clock_hz = 0};
    describe(&info, run->settings);
    struct source *source = exec_source_new(run->ring, &info, error);
    if (source && run->settings->board)
        source = through_board(source, run->settings, error);
    if (!source)
        return error->code;
    run->capture = capture_new(&run->settings->capture, source, error);
    return run->capture ? 0 : error->code;
}

/* The program has its own. */
static void let_go_of_streams(struct run *run)
{
    run->watches = !isatty(STDOUT_FILENO);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close(null);
}

/* Everything that can fail for reasons that the user can mend: nothing of the program has run. */
static int begin(struct run *run, struct bt_error *error)
{
    int result = exec_program_find(run->path, run->settings->arguments[0], error);
    if (result < 0)
        return result;
    run->ring = record_ring_new(error);
    if (!run->ring)
        return BT_MEMORY;
    result = exec_child_new(&run->child, run->path, run->settings, run->ring, &run->mask, error);
    if (result < 0)
        return result;
    result = begin_capture(run, error);
    if (result < 0) {
        exec_child_abandon(&run->child);
        return result;
    }
    let_go_of_streams(run);
    exec_child_go(&run->child);
    return 0;
}

static void write_summary(const char *path, const struct capture_status *status)
{
    struct bt_error error;
    char *text = status_json_text(status, &error);
    FILE *file = text ? fopen(path, "w") : NULL;
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0)
        fprintf(stderr, "bustap: cannot write the summary to %s\n", path);
    free(text);
}

/* What became of the capture. Its status, if it were a command's. */
static int conclude(struct run *run)
{
    struct capture_status *status = calloc(1, sizeof *status);
    if (!status)
        return STATUS_IO;
    capture_get_status(run->capture, status);
    int result = status_json_complete(status) ? 0 : STATUS_DATA;
    if (status->error.code && command_failure(&status->error) > result)
        result = bt_exit_status(status->error.code);
    if (!run->settings->quiet)
        capture_report_summary(status);
    if (run->settings->summary)
        write_summary(run->settings->summary, status);
    free(status);
    return result;
}

/* The program's status, or ours where the program has nothing to complain of. */
static int attend(struct run *run)
{
    struct capture_report report;
    capture_report_begin(&report, run->settings->quiet || !run->watches);
    int wait_status = exec_attend(&run->child, run->capture, &report);
    record_ring_end(run->ring);
    while (!capture_wait(run->capture, 100))
        capture_report_live(&report, run->capture);
    capture_report_clear(&report);
    capture_report_notes(&report, run->capture);
    int status = conclude(run);
    capture_free(run->capture);
    run->capture = NULL;
    int program = exec_end_as(wait_status);
    return program != 0 ? program : status;
}

static int run_program(struct exec_settings *settings)
{
    struct run *run = calloc(1, sizeof *run);
    struct bt_error error;
    sigset_t all;
    int status;
    if (!run)
        return STATUS_IO;
    run->settings = settings;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &run->mask);
    if (begin(run, &error) < 0) {
        status = command_failure(&error);
        status = status < STATUS_USAGE ? STATUS_USAGE : status;
    } else {
        status = attend(run);
    }
    sigprocmask(SIG_SETMASK, &run->mask, NULL);
    record_ring_free(run->ring);
    free(run);
    return status;
}

/* Without -o: the last part of the program's name, in the current folder. */
static int choose_prefix(struct capture_settings *capture, const char *program,
                         struct bt_error *error)
{
    const char *slash = strrchr(program, '/');
    return capture->prefix[0] ? 0
                              : capture_option_output(capture, slash ? slash + 1 : program, error);
}

static int exec_main(struct invocation *call)
{
    struct exec_settings *settings = calloc(1, sizeof *settings);
    struct bt_error error;
    int status;
    if (!settings)
        return bt_exit_status(BT_MEMORY);
    settings->capture = capture_settings_default();
    settings->session = session_settings_default();
    settings->environment = (const char *const *)environ;
    if (!command_options(call, settings, &status))
        goto out;
    settings->arguments = (const char *const *)call->arguments;
    if (call->count == 0)
        status = command_usage(call, "PROGRAM is missing");
    else if (settings->only_fetch && settings->only_data)
        status = command_usage(call, "--only-fetch and --only-data exclude each other");
    else if (choose_prefix(&settings->capture, call->arguments[0], &error) < 0)
        status = command_usage(call, "%s", error.message);
    else
        status = run_program(settings);
out:
    exec_symbol_clear(&settings->from);
    exec_symbol_clear(&settings->until);
    free(settings);
    return status;
}

const struct command exec_command = {
    "exec",
    "[--] PROGRAM [ARGUMENT...]",
    "run a program, and capture its references",
    "Runs a program of x86-64 Linux and captures what it fetches, reads and writes, instruction "
    "by\n"
    "instruction: processors are its threads, ticks its instructions. The program's streams, exit\n"
    "status and signals are its own. Without -- options end where PROGRAM begins.",
    exec_rows,
    exec_main,
    NULL};
