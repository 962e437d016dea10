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

#define HOLD_MS 200 /* a program that ends soon after a line most likely gave its reason */

struct program_stderr {
    int descriptor;
    int wake[2]; /* closing wake[1] ends the thread once nothing is left to read */
    pthread_t thread;
    bool running;

    /* The thread's until it has ended. */
    char line[PROGRAM_STDERR_LINE]; /* not complete yet */
    size_t size;
    char last[PROGRAM_STDERR_LINE];
    bool held; /* last is not passed on yet */
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
    if (!self->held)
        return;
    self->held = false;
    if (self->left_out > 0) {
        snprintf(note, sizeof note, "(%lu lines of a board's program are left out)",
                 self->left_out);
        if (!write_line(note)) {
            self->left_out++;
            return;
        }
        self->left_out = 0;
    }
    if (!write_line(self->last))
        self->left_out++;
}

/* Blank lines are ignored: the last line with text is the likely reason. */
static void end_line(struct program_stderr *self)
{
    self->line[self->size] = '\0';
    self->size = 0;
    if (self->line[strspn(self->line, " \t\r")] == '\0')
        return;
    pass_on(self);
    strcpy(self->last, printable_make(self->line));
    self->held = true;
}

static void take(struct program_stderr *self, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\n' && self->size < sizeof self->line - 1)
            self->line[self->size++] = bytes[i] ? bytes[i] : '?';
        if (bytes[i] == '\n' || self->size == sizeof self->line - 1)
            end_line(self);
    }
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
        int ready = poll(polled, 2, self->held ? HOLD_MS : -1);
        if (ready == 0)
            pass_on(self);
        if (ready > 0)
            more = drain(self) && !polled[1].revents; /* once woken, the pipe has been drained */
    }
    if (self->size > 0)
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
    strcpy(line, self->last);
    self->held = false;
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
