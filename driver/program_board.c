#define _GNU_SOURCE /* pipe2 */
#include "driver/program_board.h"

#include "driver/program_stderr.h"
#include "formats/base/clock.h"
#include "formats/base/program_start.h"
#include "formats/base/program_words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS   2000000 /* interval of checks for the program's end */
#define REASON_MS 2000    /* wait for its end where the reason is to be reported */
#define INPUT_MS  500     /* wait after its input was closed, before SIGTERM */
#define TERM_MS   2000    /* after SIGTERM, before SIGKILL */

struct program_board {
    struct stream stream;
    char name[160];
    char program[64]; /* its file's name */
    pid_t process;
    int input, output;               /* the program's; -1: closed */
    struct program_stderr *messages; /* NULL once the reason is known */
    bool ended;                      /* the program, which stays a zombie until program_close() */
    bool reaped;                     /* it is not: its number may be another's */
    bool killed;                     /* by signal `status` */
    int status;
    char reason[PROGRAM_STDERR_LINE];
};

static struct program_board *board_of(struct stream *stream)
{
    return (struct program_board *)stream;
}

static void close_one(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* --- the program's end ------------------------------------------------------------------------ */

/* Waits up to timeout_ms for the program's end. Returns whether it has ended. Does not reap it, so
 * that its process group keeps its number. */
static bool wait_for_end(struct program_board *board, int timeout_ms)
{
    const struct timespec pause = {0, POLL_NS};
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    while (!board->ended) {
        siginfo_t end = {.si_pid = 0};
        int result = waitid(P_PID, (id_t)board->process, &end, WEXITED | WNOHANG | WNOWAIT);
        /* where SIGCHLD is ignored, the status is lost */
        board->reaped = result < 0 && errno != EINTR;
        board->ended = board->reaped || end.si_pid != 0;
        board->killed = end.si_pid != 0 && end.si_code != CLD_EXITED;
        board->status = end.si_pid != 0 ? end.si_status : 0;
        if (board->ended || clock_monotonic_ms() >= deadline)
            break;
        nanosleep(&pause, NULL);
    }
    return board->ended;
}

static void find_reason(struct program_board *board)
{
    if (!board->messages)
        return;
    program_stderr_end(board->messages, board->reason);
    program_stderr_free(board->messages);
    board->messages = NULL;
}

/* The error for a program that has ended. */
static int fail_ended(struct program_board *board, int code, struct bt_error *error)
{
    char end[64] = "";
    find_reason(board);
    snprintf(end, sizeof end,
             board->killed ? "was killed by signal %d" : "ended with exit status %d",
             board->status);
    return bt_fail(error, code, "the program %s %s%s%s", board->program, end,
                   board->reason[0] ? ": " : "", board->reason);
}

/* The error for a pipe that the program has closed; waits for the program's end. */
static int fail_closed(struct program_board *board, const char *stream, int wait_ms,
                       struct bt_error *error)
{
    if (wait_for_end(board, wait_ms))
        return fail_ended(board, BT_CLOSED, error);
    return bt_fail(error, BT_CLOSED, "the program %s has closed its standard %s", board->program,
                   stream);
}

/* --- the stream ------------------------------------------------------------------------------- */

/* Waits until descriptor is ready. False: time-out. */
static bool wait_ready(int descriptor, short events, int timeout_ms)
{
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    struct pollfd polled = {.fd = descriptor, .events = events};
    for (;;) {
        int64_t left = timeout_ms < 0 ? -1 : deadline - clock_monotonic_ms();
        int result = poll(&polled, 1, timeout_ms >= 0 && left < 0 ? 0 : (int)left);
        if (result >= 0 || errno != EINTR)
            return result != 0;
    }
}

static long program_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                         struct bt_error *error)
{
    struct program_board *board = board_of(stream);
    if (board->output < 0 || !wait_ready(board->output, POLLIN, timeout_ms))
        return board->output < 0 ? fail_closed(board, "output", REASON_MS, error)
                                 : bt_fail(error, BT_TIMEOUT, "board %s sent nothing for %d ms",
                                           board->name, timeout_ms);
    ssize_t size = read(board->output, bytes, capacity);
    if (size > 0)
        return (long)size;
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return bt_fail(error, BT_TIMEOUT, "board %s sent nothing", board->name);
    close_one(&board->output);
    return fail_closed(board, "output", REASON_MS, error);
}

/* write() without SIGPIPE, also where that is not ignored. */
static ssize_t write_quietly(int descriptor, const uint8_t *bytes, size_t size)
{
    const struct timespec now = {0, 0};
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t written = write(descriptor, bytes, size);
    int failure = errno;
    if (written < 0 && failure == EPIPE && !sigismember(&pending, SIGPIPE))
        (void)sigtimedwait(&pipe_signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return written;
}

static int program_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                         struct bt_error *error)
{
    struct program_board *board = board_of(stream);
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    const int wait_ms = board->input < 0 ? 0 : REASON_MS; /* for its end: once */
    while (size > 0 && board->input >= 0) {
        ssize_t written = write_quietly(board->input, bytes, size);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN || errno == EINTR) {
            int64_t left = timeout_ms < 0 ? -1 : deadline - clock_monotonic_ms();
            if (!wait_ready(board->input, POLLOUT, timeout_ms >= 0 && left < 0 ? 0 : (int)left))
                return bt_fail(error, BT_TIMEOUT, "board %s accepted no command for %d ms",
                               board->name, timeout_ms);
        } else {
            close_one(&board->input);
        }
    }
    return size == 0 ? 0 : fail_closed(board, "input", wait_ms, error);
}

static const char *program_name(struct stream *stream)
{
    return board_of(stream)->name;
}

static int program_diagnose(struct stream *stream, struct bt_error *error)
{
    struct program_board *board = board_of(stream);
    close_one(&board->input);
    if (!wait_for_end(board, REASON_MS) || board->status == 0)
        return 0;
    return fail_ended(board, BT_DEVICE, error);
}

/* Ends the program and its process group. */
static void end_group(struct program_board *board)
{
    if (!wait_for_end(board, INPUT_MS)) {
        kill(-board->process, SIGTERM);
        (void)wait_for_end(board, TERM_MS);
    }
    if (board->reaped)
        return;
    kill(-board->process, SIGKILL);
    if (wait_for_end(board, TERM_MS))
        (void)waitpid(board->process, NULL, 0); /* returns at once */
}

static void program_close(struct stream *stream)
{
    struct program_board *board = board_of(stream);
    close_one(&board->input);
    close_one(&board->output);
    if (board->process > 0)
        end_group(board);
    program_stderr_free(board->messages);
    free(board);
}

static const struct stream_operations operations = {.backpressure = true,
                                                    .program = true,
                                                    .read = program_read,
                                                    .write = program_write,
                                                    .name = program_name,
                                                    .diagnose = program_diagnose,
                                                    .close = program_close};

/* --- opening ---------------------------------------------------------------------------------- */

int program_board_check(const char *command, struct bt_error *error)
{
    struct program_words words;
    return program_words_split(&words, command, error);
}

/* Starts the program between three pipes. Returns an errno. */
static int start(struct program_board *board, const struct program_words *words)
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int result = 0;
    for (int i = 0; i < 3 && result == 0; i++)
        result = pipe2(pipes[i], O_CLOEXEC) == 0 ? 0 : errno;
    const int streams[3] = {pipes[0][0], pipes[1][1], pipes[2][1]};
    if (result == 0)
        result = program_start(&board->process, words->words, NULL, streams);
    board->process = result == 0 ? board->process : 0;
    close_one(&pipes[0][0]);
    close_one(&pipes[1][1]);
    close_one(&pipes[2][1]);
    board->input = pipes[0][1];
    board->output = pipes[1][0];
    if (result == 0 && (fcntl(board->input, F_SETFL, O_NONBLOCK) < 0 ||
                        fcntl(board->output, F_SETFL, O_NONBLOCK) < 0))
        result = errno;
    if (result != 0)
        close_one(&pipes[2][0]);
    else if (!(board->messages = program_stderr_new(pipes[2][0])))
        result = ENOMEM;
    return result;
}

int program_board_open(struct stream **stream, const char *command, const char *name,
                       struct bt_error *error)
{
    struct program_words words;
    int result = program_words_split(&words, command, error);
    if (result < 0)
        return result;
    struct bt_error missing;
    if (program_words_find(&words, &missing) < 0)
        return bt_fail(error, BT_IO, "%s", missing.message);
    struct program_board *board = calloc(1, sizeof *board);
    if (!board)
        return bt_fail(error, BT_MEMORY, "no memory for a board");
    board->stream.operations = &operations;
    board->input = board->output = -1;
    const char *slash = strrchr(words.words[0], '/');
    snprintf(board->name, sizeof board->name, "%s", name);
    snprintf(board->program, sizeof board->program, "%s", slash ? slash + 1 : words.words[0]);
    errno = start(board, &words);
    if (errno != 0) {
        result = bt_fail_errno(error, "the program %.200s cannot be run", words.words[0]);
        program_close(&board->stream);
        return result;
    }
    *stream = &board->stream;
    return 0;
}
