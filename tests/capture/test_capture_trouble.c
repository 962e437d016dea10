/* Captures with failures: full disks, kills, prefixes in use, folders without permission. */
#define _DEFAULT_SOURCE /* mallinfo2, kill, RLIMIT_FSIZE as Linux has them */
#include "tests/capture/capture_fixture.h"

#include "formats/base/file_lock.h"
#include "tests/suites.h"
#include "tests/support/full_disk.h"
#include "tests/support/random.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct capture *start(struct capture_fixture *s, struct bt_error *error)
{
    memset(error, 0, sizeof *error);
    return capture_new(&s->settings, scripted_source_new(&s->script, NULL), error);
}

static size_t count_files(const struct capture_fixture *s, const char *ending)
{
    struct folder_list list = folder_list(s->folder, ending);
    size_t count = list.count;
    folder_list_free(&list);
    return count;
}

/* A running capture that has written all records of its source. */
static struct capture *go_quiet(struct capture_fixture *s, uint64_t records)
{
    struct bt_error error;
    struct capture_status status;
    s->script.total = records;
    s->script.lingers = true;
    s->settings.flush_ns = 1000000;
    s->settings.names = true;
    struct capture *capture = start(s, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    do {
        capture_wait(capture, 1);
        capture_get_status(capture, &status);
    } while (status.running && status.records < records);
    return capture;
}

static struct capture *start_quiet(struct capture_fixture *s, uint64_t records)
{
    set_up(s);
    return go_quiet(s, records);
}

/* --- full disks ------------------------------------------------------------------------------ */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void run_full(struct capture_fixture *s, rlim_t bytes)
{
    struct bt_error error;
    struct capture_status status;
    limit_files(bytes);
    struct capture *capture = start(s, &error);
    if (!capture) {
        limit_files(RLIM_INFINITY);
        CU_ASSERT(bytes < 1024);
        CU_ASSERT_EQUAL(error.code, BT_IO);
        CU_ASSERT_EQUAL(count_files(s, ""), 0);
        return;
    }
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &status);
    capture_free(capture);
    limit_files(RLIM_INFINITY);
    bool closed = count_files(s, ".part") == 0;
    capture_check(&s->check, s->folder, closed ? ".byu.gz" : "", &s->script, !closed);
    CU_ASSERT_STRING_EQUAL(s->check.problem, "");
    if (s->check.problem[0])
        printf("\n  seed %llu: %s\n", (unsigned long long)s->script.seed, s->check.problem);
    CU_ASSERT(s->check.largest_file <= bytes);
    CU_ASSERT_EQUAL(status.records, s->check.records);
    if (status.end != CAPTURE_END_DISK) {
        CU_ASSERT_FALSE(status.failed);
        return;
    }
    CU_ASSERT(status.failed);
    CU_ASSERT_PTR_NOT_NULL(strstr(status.error.message, s->folder));
    CU_ASSERT_PTR_NOT_NULL(strstr(status.error.message, "File too large"));
    if (closed) {
        CU_ASSERT_EQUAL(s->check.closing.end, CAPTURE_END_DISK);
        CU_ASSERT(s->check.closing.capture_lost[LOSS_DISK] > 0);
        CU_ASSERT_EQUAL(status.lost[LOSS_DISK], s->check.closing.capture_lost[LOSS_DISK]);
        CU_ASSERT_PTR_NOT_NULL(strstr(s->check.closing.message, "requests from tick"));
    }
}

static void test_full_disk(void)
{
    uint64_t random = 4711;
    for (int i = 0; i < 300; i++) {
        struct capture_fixture s;
        set_up(&s);
        s.script.seed = random_next(&random) | 1;
        s.script.lost_percent = 10;
        s.script.after_stop = 2000;
        s.settings.block_records = (uint32_t)(1 + random_below(&random, 2000));
        s.settings.rotate_bytes =
            random_below(&random, 2) ? 0 : 8192 + random_below(&random, 60000);
        s.script.total = s.settings.block_records * 100;
        run_full(&s, i < 20 ? 50 * (rlim_t)i : random_below(&random, 60000));
        folder_remove(s.folder);
    }
}

/* --- a full disk with space again ------------------------------------------------------------- */

static void wait_for_loss(struct capture *capture, uint64_t at_least)
{
    struct capture_status status;
    do {
        capture_wait(capture, 1);
        capture_get_status(capture, &status);
    } while (status.running && status.lost[LOSS_DISK] < at_least);
    CU_ASSERT(status.running);
}

static void check_note(struct capture *capture, const char *text)
{
    char note[CAPTURE_NOTE_BYTES] = "";
    do { /* skips those about the losses themselves */
        CU_ASSERT_FATAL(capture_take_note(capture, note, sizeof note));
    } while (strncmp(note, "losses ", 7) == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(note, text));
}

/* Each request is in the files or in a loss at its place, and the capture ends as requested. */
static void check_survived(struct capture_fixture *s, uint64_t lost)
{
    capture_check(&s->check, s->folder, ".byu.gz", &s->script, false);
    CU_ASSERT_STRING_EQUAL(s->check.problem, "");
    CU_ASSERT_EQUAL(s->check.closing.end, CAPTURE_END_SOURCE);
    CU_ASSERT_EQUAL(s->check.closing.capture_lost[LOSS_DISK], lost);
    CU_ASSERT_EQUAL(s->check.closing.end_index, s->script.total);
    CU_ASSERT_EQUAL(count_files(s, ".part"), 0);
}

/* Returns a capture that has lost requests because the disk is full. */
static struct capture *start_on_full_disk(struct capture_fixture *s, uint64_t rotate_bytes,
                                          size_t room, long pause_ns)
{
    struct bt_error error;
    set_up(s);
    s->settings.wait_for_room = true;
    s->settings.block_records = 500;
    s->settings.rotate_bytes = rotate_bytes;
    s->script.lost_percent = 10;
    s->script.pause_ns = pause_ns;
    full_disk_begin(16384 + room); /* the lock file with its reserve takes 16 KiB first */
    struct capture *capture = start(s, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    wait_for_loss(capture, 5000);
    return capture;
}

static void run_full_for_a_while(uint64_t rotate_bytes, size_t room)
{
    const long pause_ns = 8000000; /* longer than the time to the next attempt */
    struct capture_fixture s;
    struct capture *capture = start_on_full_disk(&s, rotate_bytes, room, pause_ns);
    full_disk_end();
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &s.status);
    CU_ASSERT_FALSE(s.status.failed);
    check_note(capture, "requests are lost until there is room");
    check_note(capture, "there is room on the disk again");
    capture_free(capture);
    CU_ASSERT(s.script.total > s.status.lost[LOSS_DISK]);
    check_survived(&s, s.status.lost[LOSS_DISK]);
    CU_ASSERT_EQUAL(s.check.lost.count[LOSS_DISK], s.status.lost[LOSS_DISK]);
    folder_remove(s.folder);
}

static void test_room_again(void)
{
    run_full_for_a_while(0, 40000);
    run_full_for_a_while(16384, 60000);
    run_full_for_a_while(16384, 16384);
}

/* Stopped while the disk is full: the last file records the loss, and the capture does not fail. */
static void end_while_full(uint64_t rotate_bytes, size_t room)
{
    struct capture_fixture s;
    struct capture *capture = start_on_full_disk(&s, rotate_bytes, room, 1000000);
    capture_stop(capture);
    CU_ASSERT(capture_wait(capture, -1));
    full_disk_end();
    capture_get_status(capture, &s.status);
    capture_free(capture);
    CU_ASSERT_FALSE(s.status.failed);
    CU_ASSERT_EQUAL(count_files(&s, ".part"), 0);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    const struct capture_totals *closing = &s.check.closing;
    uint64_t accounted = closing->capture_records;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        accounted += closing->capture_lost[stage];
    CU_ASSERT_EQUAL(closing->end, CAPTURE_END_STOPPED);
    CU_ASSERT_EQUAL(closing->capture_records, s.check.records);
    CU_ASSERT_EQUAL(closing->capture_lost[LOSS_DISK], s.status.lost[LOSS_DISK]);
    CU_ASSERT_EQUAL(accounted + closing->after_stop, closing->source.accepted);
    CU_ASSERT_PTR_NOT_NULL(strstr(closing->message, "the disk was full"));
    folder_remove(s.folder);
}

static void test_ended_while_full(void)
{
    end_while_full(0, 40000);
    end_while_full(16384, 60000);
    end_while_full(16384, 16384);
    end_while_full(0, 2000);
}

/* No room for the header of a new file: the open file continues. */
static void test_no_room_for_a_file(void)
{
    struct capture_fixture s;
    struct capture_status status;
    char note[CAPTURE_NOTE_BYTES];
    set_up(&s);
    s.settings.wait_for_room = true;
    struct capture *capture = go_quiet(&s, 1000);
    full_disk_begin(0);
    capture_rotate(capture);
    while (!capture_take_note(capture, note, sizeof note) && !capture_wait(capture, 1))
        continue;
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "requests are lost until there is room"));
    full_disk_end();
    capture_stop(capture);
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &status);
    capture_free(capture);
    CU_ASSERT_FALSE(status.failed);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.files, 1);
    CU_ASSERT_EQUAL(s.check.records, 1000);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_STOPPED);
    CU_ASSERT_EQUAL(count_files(&s, ".part"), 0);
    folder_remove(s.folder);
}

/* Room for a part of a rotation, and no reserve: whatever fails, the open file continues. */
static void rotate_into(size_t room)
{
    struct capture_fixture s;
    struct capture_status status;
    char text[CAPTURE_NOTE_BYTES];
    set_up(&s);
    s.settings.wait_for_room = true;
    struct capture *capture = go_quiet(&s, 1000);
    snprintf(text, sizeof text, "%s/.t.lock", s.folder);
    CU_ASSERT_EQUAL(truncate(text, FILE_LOCK_BYTES), 0);
    full_disk_begin(room);
    capture_rotate(capture);
    do {
        capture_wait(capture, 1);
        capture_get_status(capture, &status);
    } while (status.running && status.files == 0 && !capture_take_note(capture, text, sizeof text));
    full_disk_end();
    CU_ASSERT(status.running);
    CU_ASSERT_EQUAL(access(status.file, F_OK), 0);
    capture_stop(capture);
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &status);
    capture_free(capture);
    CU_ASSERT_FALSE(status.failed);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.records, 1000);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_STOPPED);
    CU_ASSERT_EQUAL(count_files(&s, ".part"), 0);
    folder_remove(s.folder);
}

static void test_no_room_to_rotate(void)
{
    for (size_t room = 0; room <= 1200; room += 60)
        rotate_into(room);
}

/* --- files changed by others ------------------------------------------------------------------ */

/* Creates a folder with the name of a file. */
static void obstruct(const char *path)
{
    char name[sizeof((struct capture_status *)NULL)->file];
    snprintf(name, sizeof name, "%s", path);
    size_t size = strlen(name);
    if (size > 5 && strcmp(name + size - 5, ".part") == 0)
        name[size - 5] = '\0';
    else
        unlink(name);
    CU_ASSERT_EQUAL(mkdir(name, 0777), 0);
}

static void check_failed(struct capture_fixture *s, struct capture *capture, const char *why)
{
    struct capture_status status;
    CU_ASSERT(capture_wait(capture, -1));
    capture_get_status(capture, &status);
    capture_free(capture);
    CU_ASSERT(status.failed);
    CU_ASSERT_EQUAL(status.end, CAPTURE_END_DISK);
    CU_ASSERT_EQUAL(bt_exit_status(status.error.code), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(status.error.message, why));
    CU_ASSERT_PTR_NOT_NULL(strstr(status.error.message, s->folder));
    CU_ASSERT_EQUAL(count_files(s, ".lock"), 0);
}

/* The name of the last file is taken: it remains a part file, complete. */
static void test_last_name_taken(void)
{
    struct capture_fixture s;
    struct capture_status status;
    struct capture *capture = start_quiet(&s, 1000);
    capture_get_status(capture, &status);
    obstruct(status.file);
    capture_stop(capture);
    check_failed(&s, capture, "cannot rename");
    capture_check(&s.check, s.folder, ".part", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.records, 1000);
    folder_remove(s.folder);
}

/* The name of an earlier file is taken: the capture ends, and its last file gives the reason. */
static void test_earlier_name_taken(void)
{
    struct capture_fixture s;
    struct capture_status status;
    struct capture *capture = start_quiet(&s, 1000);
    capture_get_status(capture, &status);
    char first[sizeof status.file];
    snprintf(first, sizeof first, "%s", status.file);
    obstruct(first);
    capture_rotate(capture);
    check_failed(&s, capture, "cannot rename");
    CU_ASSERT_EQUAL(access(first, F_OK), 0);
    first[strlen(first) - strlen(".part")] = '\0';
    CU_ASSERT_EQUAL(rmdir(first), 0);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_EQUAL(s.check.files, 1);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_DISK);
    CU_ASSERT(s.check.closing.final);
    CU_ASSERT_EQUAL(s.check.closing.capture_records, 1000);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.check.closing.message, "cannot rename"));
    folder_remove(s.folder);
}

/* A folder in place of a file that leaves the ring stays, and the capture continues. */
static void test_ring_stuck(void)
{
    struct capture_fixture s;
    struct bt_error error;
    char name[sizeof((struct capture_status *)NULL)->file];
    set_up(&s);
    s.script.total = 10;
    s.script.lingers = true;
    s.settings.keep = 1;
    s.settings.names = true;
    struct capture *capture = start(&s, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    capture_rotate(capture);
    while (!capture_take_name(capture, name, sizeof name))
        CU_ASSERT_FALSE_FATAL(capture_wait(capture, 1));
    obstruct(name);
    capture_rotate(capture);
    capture_stop(capture);
    CU_ASSERT(capture_wait(capture, -1));
    struct capture_status status;
    capture_get_status(capture, &status);
    CU_ASSERT_FALSE(status.failed);
    capture_free(capture);
    CU_ASSERT_EQUAL(rmdir(name), 0);
    CU_ASSERT_EQUAL(count_files(&s, ".byu.gz"), 1);
    folder_remove(s.folder);
}

/* A file without room for its closing member in a rotation: the next file reports it. */
static void test_no_room_to_close(void)
{
    struct capture_fixture s;
    struct capture_status status;
    struct stat part;
    struct capture *capture = start_quiet(&s, 5000);
    capture_get_status(capture, &status);
    CU_ASSERT_EQUAL(stat(status.file, &part), 0);
    limit_files((rlim_t)part.st_size + 1);
    capture_rotate(capture);
    check_failed(&s, capture, "File too large");
    limit_files(RLIM_INFINITY);
    CU_ASSERT_EQUAL(access(status.file, F_OK), 0);
    capture_check(&s.check, s.folder, ".part", &s.script, true);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.records, 5000);
    capture_check(&s.check, s.folder, ".byu.gz", &s.script, false);
    CU_ASSERT_EQUAL(s.check.files, 1);
    CU_ASSERT_EQUAL(s.check.closing.end, CAPTURE_END_DISK);
    CU_ASSERT_EQUAL(s.check.closing.capture_records, 5000);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.check.closing.message, s.folder));
    folder_remove(s.folder);
}

/* --- kill -9 --------------------------------------------------------------------------------- */

static void run_until_killed(struct capture_fixture *s)
{
    struct bt_error error;
    struct capture *capture = start(s, &error);
    if (capture)
        capture_wait(capture, -1);
    _exit(3);
}

static void rename_parts(const struct capture_fixture *s)
{
    struct folder_list list = folder_list(s->folder, ".part");
    for (size_t i = 0; i < list.count; i++) {
        char from[600];
        char to[600];
        snprintf(from, sizeof from, "%s/%s", s->folder, list.names[i]);
        snprintf(to, sizeof to, "%s", from);
        to[strlen(to) - strlen(".part")] = '\0';
        rename(from, to);
    }
    folder_list_free(&list);
}

static void wait_us(long us)
{
    struct timespec time = {.tv_nsec = us * 1000};
    nanosleep(&time, NULL);
}

/* Sets up an endless capture, and kills it after it has completed some files. */
static void run_and_kill(struct capture_fixture *s, uint64_t *random, size_t files)
{
    set_up(s);
    s->script.seed = random_next(random) | 1;
    s->script.lost_percent = 5;
    s->script.total = UINT64_MAX / 4;
    s->settings.rotate_bytes = 20000;
    pid_t child = fork();
    if (child == 0)
        run_until_killed(s);
    while (count_files(s, ".byu.gz") < files)
        wait_us(500);
    wait_us((long)random_below(random, 5000));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_kill(void)
{
    uint64_t random = 99;
    for (int i = 0; i < 30; i++) {
        struct capture_fixture s;
        run_and_kill(&s, &random, 3);
        size_t parts = count_files(&s, ".part");
        CU_ASSERT(parts >= 1);
        /* the prefix is free, and files of the killed capture are kept */
        struct capture_fixture again = s;
        struct bt_error error;
        again.script.total = 10;
        again.settings.append = true;
        struct capture *capture = start(&again, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
        capture_free(capture);
        CU_ASSERT_EQUAL(count_files(&s, ".part"), parts);
        struct folder_list list = folder_list(s.folder, "");
        folder_list_free(&list);
        folder_remove(s.folder);
    }
}

static void test_kill_content(void)
{
    uint64_t random = 5;
    for (int i = 0; i < 30; i++) {
        struct capture_fixture s;
        run_and_kill(&s, &random, 2);
        rename_parts(&s);
        capture_check(&s.check, s.folder, ".byu.gz", &s.script, true);
        CU_ASSERT_STRING_EQUAL(s.check.problem, "");
        CU_ASSERT(s.check.records > 0);
        folder_remove(s.folder);
    }
}

/* --- prefixes -------------------------------------------------------------------------------- */

static void test_two_captures(void)
{
    struct capture_fixture s;
    struct bt_error error;
    char expected[32];
    set_up(&s);
    s.script.lingers = true;
    struct capture *first = start(&s, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    unsigned starts = 0;
    s.script.starts = &starts;
    CU_ASSERT_PTR_NULL(start(&s, &error));
    CU_ASSERT_EQUAL(starts, 0); /* the board is left alone */
    s.script.starts = NULL;
    CU_ASSERT_EQUAL(error.code, BT_BUSY);
    snprintf(expected, sizeof expected, "process %ld ", (long)getpid());
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, expected));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, s.settings.prefix));
    /* another prefix in the same folder is another capture */
    struct capture_fixture other = s;
    strcat(other.settings.prefix, "2");
    struct capture *second = start(&other, &error);
    CU_ASSERT_PTR_NOT_NULL(second);
    capture_free(second);
    capture_stop(first);
    CU_ASSERT(capture_wait(first, -1));
    CU_ASSERT_EQUAL(count_files(&s, ".lock"), 0);
    /* the prefix is free as soon as the capture has ended; its files are only continued on
     * request */
    CU_ASSERT_PTR_NULL(start(&s, &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/t_00001_"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "--append"));
    CU_ASSERT_EQUAL(count_files(&s, ".lock"), 0);
    /* within the same second, new names are used */
    s.settings.append = true;
    second = start(&s, &error);
    CU_ASSERT_PTR_NOT_NULL(second);
    capture_free(second);
    capture_free(first);
    CU_ASSERT_EQUAL(count_files(&s, ".byu.gz"), 3);
    CU_ASSERT_EQUAL(count_files(&s, ""), 3);
    folder_remove(s.folder);
}

static void test_folders(void)
{
    struct capture_fixture s;
    struct bt_error error;
    set_up(&s);
    snprintf(s.settings.prefix, sizeof s.settings.prefix, "%s/a/b//c/t", s.folder);
    s.script.total = 10;
    struct capture *capture = start(&s, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    capture_free(capture);
    char deep[FOLDER_PATH_BYTES + 16];
    snprintf(deep, sizeof deep, "%s/a/b/c", s.folder);
    capture_check(&s.check, deep, ".byu.gz", &s.script, false);
    CU_ASSERT_STRING_EQUAL(s.check.problem, "");
    CU_ASSERT_EQUAL(s.check.files, 1);
    /* a file where a folder is needed */
    snprintf(deep, sizeof deep, "%s/file", s.folder);
    fclose(fopen(deep, "w"));
    snprintf(s.settings.prefix, sizeof s.settings.prefix, "%s/file/t", s.folder);
    CU_ASSERT_PTR_NULL(start(&s, &error));
    CU_ASSERT_EQUAL(error.code, BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, deep));
    /* a folder without write permission */
    snprintf(s.settings.prefix, sizeof s.settings.prefix, "/proc/t");
    CU_ASSERT_PTR_NULL(start(&s, &error));
    CU_ASSERT_EQUAL(error.code, BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/proc"));
    folder_remove(s.folder);
}

static void test_bad_settings(void)
{
    struct capture_fixture s;
    struct bt_error error;
    set_up(&s);
    struct capture_fixture bad = s;
    bad.settings.prefix[0] = '\0';
    CU_ASSERT_PTR_NULL(start(&bad, &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    bad = s;
    bad.settings.rotate_bytes = 100;
    CU_ASSERT_PTR_NULL(start(&bad, &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    bad = s;
    bad.settings.level = 77;
    CU_ASSERT_PTR_NULL(start(&bad, &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    bad = s;
    memset(bad.settings.prefix, 'x', sizeof bad.settings.prefix - 1);
    CU_ASSERT_PTR_NULL(start(&bad, &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    CU_ASSERT_EQUAL(count_files(&s, ""), 0);
    folder_remove(s.folder);
}

/* --- memory ---------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__)
#define COUNTS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS_MEMORY 0
#endif
#endif
#ifndef COUNTS_MEMORY
#define COUNTS_MEMORY 1
#endif

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void check_memory(struct capture_fixture *s)
{
    struct bt_error error;
    size_t before = allocated();
    struct capture *capture = start(s, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
    size_t most = 0;
    for (bool ended = false; !ended;) {
        ended = capture_wait(capture, 5);
        size_t now = allocated() - before;
        most = now > most ? now : most;
    }
    capture_free(capture);
    CU_ASSERT(most <= capture_memory(&s->settings));
    CU_ASSERT(most >= capture_memory(&s->settings) / 4);
}

static void test_memory(void)
{
    if (!COUNTS_MEMORY)
        return;
    for (int i = 0; i < 12; i++) {
        struct capture_fixture s;
        set_up(&s);
        s.script.total = 500000;
        s.settings.workers = 1u + (unsigned)i % 4;
        s.settings.engine = i % 2 ? RECORD_ENGINE_BEST : RECORD_ENGINE_ZLIB;
        s.settings.level = i % 2 && record_engine_exists(RECORD_ENGINE_ISAL) ? 3 : 1;
        s.settings.rotate_bytes = i % 3 ? 0 : 100000;
        s.settings.keep = i % 3 ? 0 : 2;
        s.settings.queue_bytes = i < 6 ? 0 : (size_t)1 << (10 + i);
        check_memory(&s);
        folder_remove(s.folder);
    }
}

/* A source that does not start leaves no files. */
static void test_no_start(void)
{
    struct capture_fixture s;
    struct bt_error error = {0};
    unsigned starts = 0;
    bool closed = false;
    set_up(&s);
    s.script.start = BT_DEVICE;
    s.script.starts = &starts;
    CU_ASSERT_PTR_NULL(capture_new(&s.settings, scripted_source_new(&s.script, &closed), &error));
    CU_ASSERT_EQUAL(error.code, BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(error.message, "the script does not start");
    CU_ASSERT_EQUAL(starts, 1);
    CU_ASSERT(closed);
    CU_ASSERT_EQUAL(count_files(&s, ""), 0);
    folder_remove(s.folder);
}

static const struct test_case cases[] = {
    {"a full disk", test_full_disk},
    {"space again", test_room_again},
    {"ended while the disk is full", test_ended_while_full},
    {"no room for a file", test_no_room_for_a_file},
    {"room for a part of a rotation", test_no_room_to_rotate},
    {"the last file's name is taken", test_last_name_taken},
    {"an earlier file's name is taken", test_earlier_name_taken},
    {"a file that does not leave the ring", test_ring_stuck},
    {"no room to close a file in a rotation", test_no_room_to_close},
    {"kill -9, and the prefix is free", test_kill},
    {"kill -9, and all whole blocks are present", test_kill_content},
    {"two captures with one prefix", test_two_captures},
    {"a source that does not start", test_no_start},
    {"folders that are missing, or not writable", test_folders},
    {"invalid settings", test_bad_settings},
    {"memory is bounded as capture_memory says", test_memory},
    {NULL, NULL}};
TEST_SUITE(capture_trouble, cases)
