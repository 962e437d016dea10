/* Boards that are programs: bytes both ways, every way in which a program can end, its standard
 * error, and what is left of it afterwards. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "driver/program_board.h"

#include "driver/program_stderr.h"
#include "formats/base/clock.h"
#include "tests/suites.h"
#include "tests/support/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 60000
#define NAME    "program:test"

/* A shell script as a board, and our standard error, which goes to a file. */
struct program_fixture {
    char folder[FOLDER_PATH_BYTES];
    char script[FOLDER_PATH_BYTES + 20];
    char told[FOLDER_PATH_BYTES + 20];
    int descriptors; /* open ones before */
    int error_before;
    struct stream *board;
    struct bt_error error;
};

static int count_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void begin(struct program_fixture *s, const char *body)
{
    char command[FOLDER_PATH_BYTES + 40];
    *s = (struct program_fixture){.board = NULL};
    folder_make(s->folder);
    snprintf(s->script, sizeof s->script, "%s/script", s->folder);
    snprintf(s->told, sizeof s->told, "%s/told", s->folder);
    FILE *file = fopen(s->script, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    fclose(file);
    chmod(s->script, 0700);
    s->error_before = dup(STDERR_FILENO);
    int told = open(s->told, O_RDWR | O_CREAT | O_APPEND, 0600);
    dup2(told, STDERR_FILENO);
    close(told);
    s->descriptors = count_descriptors();
    snprintf(command, sizeof command, "%s a  b", s->script);
    CU_ASSERT_EQUAL_FATAL(program_board_open(&s->board, command, NAME, &s->error), 0);
    CU_ASSERT_STRING_EQUAL(stream_name(s->board), NAME);
}

/* Closes the board, and compares what was passed on to our standard error. */
static void finish(struct program_fixture *s, const char *told)
{
    char text[1000] = "";
    stream_close(s->board);
    CU_ASSERT_EQUAL(count_descriptors(), s->descriptors);
    dup2(s->error_before, STDERR_FILENO);
    close(s->error_before);
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* no zombie */
    FILE *file = fopen(s->told, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    if (told)
        CU_ASSERT_STRING_EQUAL(text, told);
    folder_remove(s->folder);
}

static void say(struct program_fixture *s, const char *text)
{
    CU_ASSERT_EQUAL(stream_write(s->board, (const uint8_t *)text, strlen(text), WAIT_MS, &s->error),
                    0);
}

/* Reads until the stream has sent text. */
static void hear(struct program_fixture *s, const char *text)
{
    uint8_t bytes[100];
    size_t heard = 0;
    while (heard < strlen(text)) {
        long size = stream_read(s->board, bytes + heard, sizeof bytes - heard, WAIT_MS, &s->error);
        CU_ASSERT_FATAL(size > 0);
        heard += (size_t)size;
    }
    CU_ASSERT_EQUAL(heard, strlen(text));
    CU_ASSERT_EQUAL(memcmp(bytes, text, heard), 0);
}

/* The stream has ended, for this reason. */
static void hear_end(struct program_fixture *s, const char *reason)
{
    uint8_t byte;
    CU_ASSERT_EQUAL(stream_read(s->board, &byte, 1, WAIT_MS, &s->error), BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(s->error.message, reason);
    CU_ASSERT_EQUAL(stream_read(s->board, &byte, 1, WAIT_MS, &s->error), BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(s->error.message, reason);
}

static void test_bytes(void)
{
    struct program_fixture s;
    uint8_t byte;
    begin(&s, "echo \"$1$2$#\"; exec cat");
    hear(&s, "ab2\n");
    CU_ASSERT_EQUAL(stream_read(s.board, &byte, 1, 0, &s.error), BT_TIMEOUT);
    CU_ASSERT_EQUAL(stream_read(s.board, &byte, 1, 1, &s.error), BT_TIMEOUT);
    for (int i = 0; i < 100; i++) {
        say(&s, "there and back");
        hear(&s, "there and back");
    }
    CU_ASSERT_EQUAL(stream_diagnose(s.board, &s.error), 0);
    hear_end(&s, "the program script ended with exit status 0");
    finish(&s, "");
}

/* Descriptors, process group and signals of the program. */
static void test_surroundings(void)
{
    struct program_fixture s;
    int leaked = fcntl(STDIN_FILENO, F_DUPFD, 100);
    begin(
        &s,
        "[ ! -e /proc/self/fd/100 ] && [ \"$(cut -d ' ' -f 5 /proc/$$/stat)\" = $$ ] && echo good\n"
        "exec cat");
    hear(&s, "good\n");
    close(leaked);
    s.descriptors--;
    finish(&s, "");
}

static void test_ends(void)
{
    struct program_fixture s;
    begin(&s, "echo bytes; printf 'one\\ntwo \\033x\\n\\n  \\n' >&2; exit 3");
    hear(&s, "bytes\n");
    hear_end(&s, "the program script ended with exit status 3: two ?x");
    CU_ASSERT_EQUAL(stream_diagnose(s.board, &s.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(s.error.message, "the program script ended with exit status 3: two ?x");
    finish(&s, "one\n");
    begin(&s, "printf 'without its end' >&2; kill -KILL $$");
    hear_end(&s, "the program script was killed by signal 9: without its end");
    finish(&s, "");
    begin(&s, "echo good >&2");
    hear_end(&s, "the program script ended with exit status 0: good");
    CU_ASSERT_EQUAL(stream_diagnose(s.board, &s.error), 0);
    finish(&s, "");
}

/* A reason that comes with the end of the input. */
static void test_diagnosis(void)
{
    struct program_fixture s;
    begin(&s, "cat >/dev/null; echo the bus failed >&2; exit 4");
    CU_ASSERT_EQUAL(stream_diagnose(s.board, &s.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(s.error.message,
                           "the program script ended with exit status 4: the bus failed");
    finish(&s, "");
    begin(&s, "cat >/dev/null; echo good-bye >&2");
    CU_ASSERT_EQUAL(stream_diagnose(s.board, &s.error), 0);
    finish(&s, "good-bye\n");
}

/* A board that is closed ends: at the end of its input, at SIGTERM, or at SIGKILL. */
static void test_close(void)
{
    struct program_fixture s;
    begin(&s, "cat; echo end of input >&2");
    finish(&s, "end of input\n");
    begin(&s, "trap 'echo asked >&2; exit' TERM; echo .; while :; do :; done");
    hear(&s, ".\n");
    finish(&s, "asked\n");
    begin(&s, "trap '' TERM; echo .; while :; do sleep 1; done");
    hear(&s, ".\n");
    finish(&s, "");
}

/* Processes that a program leaves behind are ended with it. */
static void test_left_behind(void)
{
    struct program_fixture s;
    char text[20] = "";
    int status = 0;
    CU_ASSERT_EQUAL_FATAL(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    begin(&s, "sleep 1000 & echo $!; exec cat");
    for (size_t size = 0; !strchr(text, '\n') && size < sizeof text - 1;) {
        long more = stream_read(s.board, (uint8_t *)text + size, 1, WAIT_MS, &s.error);
        CU_ASSERT_FATAL(more > 0);
        size += (size_t)more;
    }
    pid_t left = (pid_t)atoi(text);
    CU_ASSERT_EQUAL(stream_diagnose(s.board, &s.error), 0);
    stream_close(s.board);
    s.board = NULL;
    int64_t deadline = clock_monotonic_ms() + WAIT_MS;
    while (waitpid(left, &status, WNOHANG) == 0 && clock_monotonic_ms() < deadline)
        usleep(1000);
    CU_ASSERT(WIFSIGNALED(status));
    CU_ASSERT_EQUAL(WTERMSIG(status), SIGKILL);
    finish(&s, "");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* A program that closes a pipe and continues; no signal ends this process, which does not ignore
 * SIGPIPE. */
static void test_closed_pipes(void)
{
    struct program_fixture s;
    signal(SIGPIPE, SIG_DFL);
    begin(&s, "exec >&-; exec sleep 1000");
    hear_end(&s, "the program script has closed its standard output");
    finish(&s, "");
    begin(&s, "exec <&-; echo .; exec sleep 1000");
    hear(&s, ".\n");
    CU_ASSERT_EQUAL(stream_write(s.board, (const uint8_t *)"x", 1, WAIT_MS, &s.error), BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(s.error.message, "the program script has closed its standard input");
    finish(&s, "");
    begin(&s, "exec <&-; exit 5");
    for (int written = 0; written == 0;)
        written = stream_write(s.board, (const uint8_t *)"x", 1, WAIT_MS, &s.error);
    CU_ASSERT_EQUAL(s.error.code, BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(s.error.message, "the program script ended with exit status 5");
    finish(&s, "");
}

static void test_full_pipe(void)
{
    struct program_fixture s;
    static const uint8_t bytes[1 << 20];
    begin(&s, "exec sleep 1000");
    CU_ASSERT_EQUAL(stream_write(s.board, bytes, sizeof bytes, 10, &s.error), BT_TIMEOUT);
    finish(&s, "");
}

/* Of a line that is too long for the reason, its beginning and its end. */
static void test_long_reasons(void)
{
    struct program_fixture s;
    char reason[PROGRAM_STDERR_LINE + 100];
    begin(&s, "printf '%s' begin >&2; head -c 200 /dev/zero | tr '\\0' x >&2; echo end >&2");
    snprintf(reason, sizeof reason, "the program script ended with exit status 0: begin%0200dend",
             0);
    for (char *digit = strchr(strchr(reason, '0') + 1, '0'); digit; digit = strchr(digit, '0'))
        *digit = 'x';
    hear_end(&s, reason);
    finish(&s, "");
    begin(&s, "printf '%s' begin >&2; head -c 1000 /dev/zero | tr '\\0' x >&2; echo end >&2");
    uint8_t byte;
    CU_ASSERT_EQUAL(stream_read(s.board, &byte, 1, WAIT_MS, &s.error), BT_CLOSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.error.message, "status 0: beginxxxx"));
    CU_ASSERT_PTR_NOT_NULL(strstr(s.error.message, "xxxx ... xxxx"));
    CU_ASSERT_STRING_EQUAL(s.error.message + strlen(s.error.message) - 7, "xxxxend");
    finish(&s, NULL);
}

/* Standard error flows, while neither the board nor our standard error is read; long lines
 * are divided. */
static void test_flood(void)
{
    struct program_fixture s;
    int pipe_ends[2];
    uint8_t byte;
    begin(&s, "yes 'a line' | head -n 100000 >&2; head -c 330 /dev/zero | tr '\\0' x >&2; echo .; "
              "exec cat");
    int file = dup(STDERR_FILENO);
    CU_ASSERT_EQUAL_FATAL(pipe(pipe_ends), 0);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[1]);
    hear(&s, ".\n");
    CU_ASSERT_EQUAL(stream_diagnose(s.board, &s.error), 0);
    stream_read(s.board, &byte, 1, WAIT_MS, &s.error);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.error.message, "ended with exit status 0: xxxx"));
    dup2(file, STDERR_FILENO);
    close(file);
    close(pipe_ends[0]);
    finish(&s, NULL);
}

/* SIGCHLD is ignored, as by some callers: the end is seen, its status is not. */
static void test_ignored_signal(void)
{
    struct program_fixture s;
    signal(SIGCHLD, SIG_IGN);
    begin(&s, "echo reason >&2; exit 1");
    hear_end(&s, "the program script ended with exit status 0: reason");
    finish(&s, "");
    signal(SIGCHLD, SIG_DFL);
}

static void test_cannot_start(void)
{
    struct stream *board;
    struct bt_error error = {0};
    int before = count_descriptors();
    char path[FOLDER_PATH_BYTES + 20], folder[FOLDER_PATH_BYTES];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/empty", folder);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs("#!/no/such/interpreter\n", file);
    fclose(file);
    chmod(path, 0700);
    CU_ASSERT_EQUAL(program_board_open(&board, path, NAME, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cannot be run: No such file or directory"));
    CU_ASSERT_EQUAL(program_board_open(&board, "no-such-program", NAME, &error), BT_IO);
    CU_ASSERT_EQUAL(program_board_open(&board, "", NAME, &error), BT_USAGE);
    CU_ASSERT_EQUAL(count_descriptors(), before);
    folder_remove(folder);
}

static const struct test_case cases[] = {{"bytes both ways", test_bytes},
                                         {"descriptors and group", test_surroundings},
                                         {"a program that ends", test_ends},
                                         {"a reason at the end of the input", test_diagnosis},
                                         {"boards that are closed", test_close},
                                         {"processes left behind", test_left_behind},
                                         {"pipes that are closed", test_closed_pipes},
                                         {"a full pipe", test_full_pipe},
                                         {"long reasons", test_long_reasons},
                                         {"a flood on standard error", test_flood},
                                         {"SIGCHLD is ignored", test_ignored_signal},
                                         {"a program that cannot start", test_cannot_start},
                                         {NULL, NULL}};
TEST_SUITE(program_board, cases)
