#include "driver/program_stderr.h"

#include "formats/base/printable.h"
#include "formats/base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLD_MS    200 /* a program that ends soon after a line most likely gave its reason */
#define CUT        " ... "
#define HEAD_BYTES 200u
#define TAIL_BYTES (PROGRAM_STDERR_LINE - HEAD_BYTES - sizeof CUT)

/* A line, or the beginning and end of a longer one. */
struct reason {
    char head[HEAD_BYTES];
    char tail[TAIL_BYTES]; /* a ring of what comes after the head */
    size_t size;           /* of the whole line */
    bool has_text;
};

struct program_stderr {
    int descriptor;
    int wake[2]; /* closing wake[1] ends the thread once nothing is left to read */
    pthread_t thread;
    bool running;

    /* The thread's until it has ended. */
    char piece[PROGRAM_STDERR_LINE]; /* the incomplete end of a line */
    size_t size;
    char held[PROGRAM_STDERR_LINE]; /* the last piece */
    bool holds;                     /* it is not passed on yet */
    struct reason line, last;       /* the line of `piece`; the last one with text */
    unsigned long left_out;
};

/* Writes a line to our standard error if that does not block: a pipe that is writable has room for
 * PIPE_BUF bytes. */
static bool write_line(const char *text)
{
    char bytes[PROGRAM_STDERR_LINE + 1];
    struct pollfd writable = {.fd = STDERR_FILENO, .events = POLLOUT};
    int size = snprintf(bytes, sizeof bytes, "%s\n", text);
    return poll(&writable, 1, 0) == 1 && (writable.revents & POLLOUT) &&
           write(STDERR_FILENO, bytes, (size_t)size) == size;
}

static void pass_on(struct program_stderr *self)
{
    char note[80];
    if (!self->holds)
        return;
    self->holds = false;
    if (self->left_out > 0) {
        snprintf(note, sizeof note, "(%lu lines of a board's program are left out)",
                 self->left_out);
        if (!write_line(note)) {
            self->left_out++;
            return;
        }
        self->left_out = 0;
    }
    if (!write_line(self->held))
        self->left_out++;
}

static void end_piece(struct program_stderr *self)
{
    self->piece[self->size] = '\0';
    self->size = 0;
    if (self->piece[strspn(self->piece, " \t\r")] == '\0')
        return;
    self->line.has_text = true;
    pass_on(self);
    strcpy(self->held, printable_make(self->piece));
    self->holds = true;
}

/* Blank lines are ignored: the last line with text is the likely reason. */
static void end_line(struct program_stderr *self)
{
    end_piece(self);
    if (self->line.has_text)
        self->last = self->line;
    self->line.size = 0;
    self->line.has_text = false;
}

static void take_byte(struct program_stderr *self, char byte)
{
    struct reason *line = &self->line;
    if (line->size < HEAD_BYTES)
        line->head[line->size] = byte;
    else
        line->tail[(line->size - HEAD_BYTES) % TAIL_BYTES] = byte;
    line->size++;
    self->piece[self->size++] = byte;
    if (self->size == sizeof self->piece - 1)
        end_piece(self);
}

static void take(struct program_stderr *self, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n')
            end_line(self);
        else
            take_byte(self, bytes[i] ? bytes[i] : '?');
    }
}

static void write_reason(const struct reason *line, char text[PROGRAM_STDERR_LINE])
{
    const size_t head = line->size < HEAD_BYTES ? line->size : HEAD_BYTES;
    const size_t rest = line->size - head, tail = rest < TAIL_BYTES ? rest : TAIL_BYTES;
    int size = snprintf(text, PROGRAM_STDERR_LINE, "%.*s%s", (int)head, line->head,
                        rest > tail ? CUT : "");
    for (size_t i = rest - tail; i < rest; i++)
        text[size++] = line->tail[i % TAIL_BYTES];
    text[size] = '\0';
    printable_make(text);
}

/* Reads what a pipe can hold; a child of the program may write without end. False at the end. */
static bool drain(struct program_stderr *self)
{
    char bytes[65536];
    ssize_t size = read(self->descriptor, bytes, sizeof bytes);
    if (size > 0)
        take(self, bytes, (size_t)size);
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

static void *run(void *context)
{
    struct program_stderr *self = context;
    thread_set_name("board's stderr");
    for (bool more = true; more;) {
        struct pollfd polled[2] = {{.fd = self->descriptor, .events = POLLIN},
                                   {.fd = self->wake[0], .events = POLLIN}};
        int ready = poll(polled, 2, self->holds ? HOLD_MS : -1);
        if (ready == 0)
            pass_on(self);
        if (ready > 0)
            more = drain(self) && !polled[1].revents; /* once woken, the pipe has been drained */
    }
    end_line(self);
    return NULL;
}

struct program_stderr *program_stderr_new(int descriptor)
{
    struct program_stderr *self = calloc(1, sizeof *self);
    if (!self) {
        close(descriptor);
        return NULL;
    }
    self->descriptor = descriptor;
    self->wake[0] = self->wake[1] = -1;
    if (fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 && pipe(self->wake) == 0 &&
        fcntl(self->wake[0], F_SETFD, FD_CLOEXEC) == 0 &&
        fcntl(self->wake[1], F_SETFD, FD_CLOEXEC) == 0 &&
        thread_start_without_signals(&self->thread, run, self) == 0) {
        self->running = true;
        return self;
    }
    program_stderr_free(self);
    return NULL;
}

static void end_thread(struct program_stderr *self)
{
    if (!self->running)
        return;
    close(self->wake[1]);
    self->wake[1] = -1;
    pthread_join(self->thread, NULL);
    self->running = false;
}

void program_stderr_end(struct program_stderr *self, char line[PROGRAM_STDERR_LINE])
{
    end_thread(self);
    write_reason(&self->last, line);
    self->holds = false;
}

void program_stderr_free(struct program_stderr *self)
{
    if (!self)
        return;
    end_thread(self);
    pass_on(self);
    for (int i = 0; i < 2; i++)
        if (self->wake[i] >= 0)
            close(self->wake[i]);
    close(self->descriptor);
    free(self);
}
