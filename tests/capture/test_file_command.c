/* Commands for complete files: their order, environment, failures, and what is left at the end. */
#define _DEFAULT_SOURCE /* usleep */
#include "capture/file_command.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORTS_BYTES 4000u

struct command_fixture {
    char folder[FOLDER_PATH_BYTES];
    char script[FOLDER_PATH_BYTES + 20];
    char reports[REPORTS_BYTES]; /* a line each */
    struct file_command *command;
};

static void take_report(void *context, const char *sentence)
{
    struct command_fixture *s = context;
    size_t used = strlen(s->reports);
    snprintf(s->reports + used, sizeof s->reports - used, "%s\n", sentence);
}

/* Makes a shell script of body, and a command that runs it with arguments. */
static void begin(struct command_fixture *s, const char *body, const char *arguments)
{
    char text[FILE_COMMAND_BYTES];
    struct bt_error error = {0};
    *s = (struct command_fixture){.command = NULL};
    folder_make(s->folder);
    snprintf(s->script, sizeof s->script, "%s/script", s->folder);
    FILE *file = fopen(s->script, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "#!/bin/sh\ncd %s\n%s\n", s->folder, body);
    fclose(file);
    chmod(s->script, 0700);
    snprintf(text, sizeof text, " %s  %s ", s->script, arguments);
    CU_ASSERT_EQUAL(file_command_check(text, &error), 0);
    const struct file_command_settings settings = {
        .command = text, .report = take_report, .context = s};
    s->command = file_command_new(&settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->command);
}

static void put(const struct command_fixture *s, const char *path, uint64_t records)
{
    const struct file_command_file file = {.path = path,
                                           .prefix_bytes = strcspn(path, "_"),
                                           .records = records,
                                           .lost = 7,
                                           .reason = "rotated"};
    file_command_put(s->command, &file);
}

static void await_all(const struct command_fixture *s)
{
    for (int i = 0; i < 60 && !file_command_wait(s->command, 1000); i++)
        continue;
    CU_ASSERT(file_command_wait(s->command, 0));
}

/* Compares a file that the script has written. */
static void wrote(const struct command_fixture *s, const char *name, const char *wanted)
{
    char path[FOLDER_PATH_BYTES + 40];
    char text[2000] = "";
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    if (strcmp(text, wanted) != 0)
        printf("\n    got: %s", text);
}

static void finish(struct command_fixture *s)
{
    file_command_free(s->command);
    s->command = NULL;
}

static void test_order(void)
{
    struct command_fixture s;
    setenv("BUSTAP_LOST", "of the caller", 1);
    begin(&s,
          "echo \"$*|$BUSTAP_FILE|$BUSTAP_PREFIX|$BUSTAP_RECORDS|$BUSTAP_LOST|$BUSTAP_REASON\" "
          ">>out",
          "-9\tx");
    unsetenv("BUSTAP_LOST");
    put(&s, "p q_1", 5);
    put(&s, "r_2", UINT64_MAX);
    put(&s, "$(false);_3", 0);
    await_all(&s);
    wrote(&s, "out",
          "-9 x p q_1|p q_1|p q|5|7|rotated\n"
          "-9 x r_2|r_2|r|18446744073709551615|7|rotated\n"
          "-9 x $(false);_3|$(false);_3|$(false);|0|7|rotated\n");
    const struct file_command_counts counts = file_command_counts(s.command);
    CU_ASSERT_EQUAL(counts.run, 3);
    CU_ASSERT_EQUAL(counts.failed + counts.skipped + counts.waiting, 0);
    finish(&s);
    CU_ASSERT_STRING_EQUAL(s.reports, "");
    folder_remove(s.folder);
}

/* Streams, descriptors, signals, process group and priority of the command. */
static void test_surroundings(void)
{
    struct command_fixture s;
    sigset_t all;
    sigset_t before;
    int leaked = dup(STDERR_FILENO);
    int high = fcntl(leaked, F_DUPFD, 100);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    signal(SIGPIPE, SIG_IGN);
    begin(&s,
          "wc -c >out\n"
          "[ -e /proc/self/fd/100 ] && echo leaked >>out\n"
          "[ /proc/self/fd/1 -ef /proc/self/fd/2 ] || echo output >>out\n"
          "[ \"$(cut -d ' ' -f 5 /proc/$$/stat)\" = $$ ] || echo group >>out\n"
          "while read -r name mask; do\n" /* without a child: dash blocks signals to start one */
          "case $name in SigBlk:|SigIgn:) echo \"$name ${mask#?????????}\" >>out;; esac\n"
          "done </proc/$$/status\n"
          "nice >>out",
          "");
    put(&s, "x_1", 1);
    await_all(&s);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    wrote(&s, "out", "0\nSigBlk: 0000000\nSigIgn: 0000000\n19\n");
    finish(&s);
    close(leaked);
    close(high);
    folder_remove(s.folder);
}

static void test_failures(void)
{
    struct command_fixture s;
    char wanted[REPORTS_BYTES];
    begin(&s, "exit \"$BUSTAP_RECORDS\"", "");
    for (uint64_t i = 0; i < 10; i++)
        put(&s, "x_1", i % 3);
    await_all(&s);
    const struct file_command_counts counts = file_command_counts(s.command);
    CU_ASSERT_EQUAL(counts.run, 10);
    CU_ASSERT_EQUAL(counts.failed, 6);
    finish(&s);
    snprintf(wanted, sizeof wanted,
             "the command %.60s ended with exit status 1; its file is x_1; later failures are only "
             "counted\nthe command %.60s failed for 6 of 10 files\n",
             s.script, s.script);
    CU_ASSERT_STRING_EQUAL(s.reports, wanted);
    folder_remove(s.folder);
}

static void test_killed_and_missing(void)
{
    struct command_fixture s;
    begin(&s, "rm script; kill -KILL $$", "");
    put(&s, "x_1", 1);
    await_all(&s);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.reports, "was killed by signal 9; its file is x_1;"));
    finish(&s);
    folder_remove(s.folder);
    begin(&s, "", "");
    unlink(s.script);
    put(&s, "x_1", 1);
    await_all(&s);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.reports, "cannot be run: No such file or directory"));
    finish(&s);
    folder_remove(s.folder);
}

/* A command that hangs blocks neither the caller nor the end. */
static void test_hangs(void)
{
    struct command_fixture s;
    char path[FOLDER_PATH_BYTES + 20];
    begin(&s, "echo $$ >pid; mv pid process; exec sleep 1000", "");
    for (unsigned i = 0; i < FILE_COMMAND_WAITING_MAX + 10; i++)
        put(&s, i == 1 ? "next_1" : "x_1", 1);
    snprintf(path, sizeof path, "%s/process", s.folder);
    for (int i = 0; i < 20000 && access(path, F_OK) != 0; i++)
        usleep(1000);
    CU_ASSERT(!file_command_wait(s.command, 10));
    const struct file_command_counts counts = file_command_counts(s.command);
    CU_ASSERT_EQUAL(counts.waiting, FILE_COMMAND_WAITING_MAX);
    CU_ASSERT_EQUAL(counts.skipped, 10);
    finish(&s);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.reports, "is too slow: it is not run for x_1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(s.reports, "still runs for x_1, and is left alone"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(s.reports, "was not run for 4105 files, from this one on: next_1\n"));
    FILE *file = fopen(path, "r");
    int process = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fscanf(file, "%d", &process), 1);
    fclose(file);
    CU_ASSERT_EQUAL(kill(process, SIGKILL), 0); /* it was left alone */
    folder_remove(s.folder);
}

/* SIGCHLD is ignored, as by some callers: the end is seen, its status is not. */
static void test_ignored_signal(void)
{
    struct command_fixture s;
    signal(SIGCHLD, SIG_IGN);
    begin(&s, "exit 1", "");
    put(&s, "x_1", 1);
    await_all(&s);
    signal(SIGCHLD, SIG_DFL);
    CU_ASSERT_EQUAL(file_command_counts(s.command).run, 1);
    finish(&s);
    folder_remove(s.folder);
}

static void refused(const char *command, const char *sentence)
{
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(file_command_check(command, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, sentence));
}

static void test_check(void)
{
    char text[FILE_COMMAND_BYTES + 1] = "";
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(file_command_check("sh -c x", &error), 0);
    CU_ASSERT_EQUAL(file_command_check("/bin/sh", &error), 0);
    refused("", "the command is empty");
    refused(" \t ", "the command is empty");
    refused("/etc/passwd", "/etc/passwd is not an executable program");
    refused("/", "/ is not an executable program");
    refused("no-such-program x", "there is no program no-such-program in the folders of PATH");
    memset(text, 'x', sizeof text - 1);
    refused(text, "the command is too long: at most 1023 bytes");
    const struct file_command_settings settings = {.command = " ", .report = take_report};
    CU_ASSERT_PTR_NULL(file_command_new(&settings, &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    file_command_free(NULL);
}

static const struct test_case cases[] = {
    {"order and environment", test_order}, {"streams, signals, priority", test_surroundings},
    {"failures", test_failures},           {"killed, or missing", test_killed_and_missing},
    {"a command that hangs", test_hangs},  {"SIGCHLD is ignored", test_ignored_signal},
    {"what is refused", test_check},       {NULL, NULL}};
TEST_SUITE(file_command, cases)
