#define _GNU_SOURCE /* posix_openpt */
#include "tools/common/progress.h"

#include "tests/suites.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_MS 20000

/* A terminal in place of standard error. */
struct progress_terminal {
    int master, saved;
    char text[4096]; /* what it has shown */
    size_t size;
};

static void terminal_begin(struct progress_terminal *terminal)
{
    memset(terminal, 0, sizeof *terminal);
    terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CU_ASSERT_FATAL(terminal->master >= 0 && grantpt(terminal->master) == 0 &&
                    unlockpt(terminal->master) == 0);
    int slave = open(ptsname(terminal->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CU_ASSERT_FATAL(slave >= 0);
    fflush(stderr);
    terminal->saved = dup(STDERR_FILENO);
    dup2(slave, STDERR_FILENO);
    close(slave);
}

static void terminal_end(struct progress_terminal *terminal)
{
    fflush(stderr);
    dup2(terminal->saved, STDERR_FILENO);
    close(terminal->saved);
    close(terminal->master);
}

/* Reads until the terminal has shown the text. */
static bool shows(struct progress_terminal *terminal, const char *text)
{
    struct pollfd readable = {.fd = terminal->master, .events = POLLIN};
    while (!strstr(terminal->text, text)) {
        if (poll(&readable, 1, LIMIT_MS) != 1)
            return false;
        ssize_t got = read(terminal->master, terminal->text + terminal->size,
                           sizeof terminal->text - 1 - terminal->size);
        if (got <= 0)
            return false;
        terminal->size += (size_t)got;
    }
    return true;
}

/* A step without a known length shows its seconds by itself, and is cleared. */
static void test_step(void)
{
    struct progress_terminal terminal;
    struct progress progress;
    terminal_begin(&terminal);
    progress_begin(&progress, true);
    progress_step(&progress, "sort\033ing");
    bool shown = shows(&terminal, "\r\033[Ksort?ing: 1 s") && shows(&terminal, "ing: 2 s");
    progress_clear(&progress);
    fputs("cleared", stderr);
    bool cleared = shows(&terminal, " s\r\033[Kcleared");
    progress_step(&progress, "printing"); /* the job is old: at once */
    bool again = shows(&terminal, "printing: 0 s");
    progress_show(&progress, "file", 1, 2);
    again = again && shows(&terminal, "file:  50 %");
    progress_clear(&progress);
    terminal_end(&terminal);
    CU_ASSERT_TRUE(shown);
    CU_ASSERT_TRUE(cleared);
    CU_ASSERT_TRUE(again);
}

/* A short job shows nothing, and one whose output is no terminal starts no thread. */
static void test_short(void)
{
    struct progress_terminal terminal;
    struct progress progress;
    terminal_begin(&terminal);
    progress_begin(&progress, true);
    progress_step(&progress, "sorting");
    progress_clear(&progress);
    fputs("end", stderr);
    bool ended = shows(&terminal, "end");
    terminal_end(&terminal);
    CU_ASSERT_TRUE(ended);
    CU_ASSERT_STRING_EQUAL(terminal.text, "end");
    progress = (struct progress){.wanted = false};
    progress_step(&progress, "sorting");
    CU_ASSERT_PTR_NULL(progress.clock);
    progress_clear(&progress);
}

static const struct test_case cases[] = {
    {"steps", test_step}, {"short jobs", test_short}, {NULL, NULL}};
TEST_SUITE(progress, cases)
