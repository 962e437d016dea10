#define _GNU_SOURCE /* SOCK_NONBLOCK, usleep */
#include "capture/control_protocol.h"
#include "host/control.h"
#include "tests/suites.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TURN_MS    200
#define PATIENT_MS 600000 /* longer than needed on any slow machine */

struct control_fixture {
    char folder[FOLDER_PATH_BYTES];
    char path[108]; /* maximum length of a socket's path */
    struct control *control;
    struct bt_error error;
};

static void fixture_open(struct control_fixture *fixture, int turn_ms)
{
    memset(fixture, 0, sizeof *fixture);
    folder_make(fixture->folder);
    snprintf(fixture->path, sizeof fixture->path, "%.100s/socket", fixture->folder);
    fixture->control = control_new(fixture->path, turn_ms, &fixture->error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fixture->control);
}

static void fixture_close(struct control_fixture *fixture)
{
    control_free(fixture->control);
    CU_ASSERT_NOT_EQUAL(access(fixture->path, F_OK), 0);
    CU_ASSERT_EQUAL(rmdir(fixture->folder), 0); /* no files remain, not even the lock */
}

static int connect_to(const struct control_fixture *fixture)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, fixture->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Answers every pending request with its own text in brackets. */
static unsigned echo(struct control_fixture *fixture)
{
    unsigned answered = 0;
    struct control_request request;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        while (control_request(fixture->control, i, &request)) {
            char text[CONTROL_LINE_BYTES_MAX + 2];
            text[0] = '[';
            memcpy(text + 1, request.line, request.size);
            text[request.size + 1] = ']';
            control_answer(fixture->control, i, text, request.size + 2);
            answered++;
            if (!control_request(fixture->control, i, &request))
                break;
        }
    return answered;
}

/* One turn of the daemon's loop. */
static unsigned turn(struct control_fixture *fixture, int timeout_ms)
{
    struct pollfd polls[CONTROL_POLLS];
    size_t count = control_polls(fixture->control, polls, &timeout_ms);
    CU_ASSERT_TRUE(count <= CONTROL_POLLS);
    poll(polls, (nfds_t)count, timeout_ms);
    control_step(fixture->control);
    return echo(fixture);
}

/* The answer to the client: -1 nothing yet, 0 disconnected. */
static ssize_t hear(int fd, char *text, size_t size)
{
    ssize_t got = recv(fd, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return got < 0 && errno == ECONNRESET ? 0 : got;
}

static void test_talk(void)
{
    struct control_fixture fixture;
    char text[200];
    fixture_open(&fixture, PATIENT_MS);
    int fd = connect_to(&fixture);
    say(fd, "one\ntwo\nthr");
    CU_ASSERT_EQUAL(turn(&fixture, 1000), 2);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[one]\n[two]\n");
    /* a pending request does not wait for the next event */
    struct pollfd polls[CONTROL_POLLS];
    say(fd, "ee\n");
    int timeout_ms = 1000;
    control_polls(fixture.control, polls, &timeout_ms);
    CU_ASSERT_TRUE(timeout_ms > 0);
    control_step(fixture.control);
    timeout_ms = 1000;
    control_polls(fixture.control, polls, &timeout_ms);
    CU_ASSERT_EQUAL(timeout_ms, 0);
    CU_ASSERT_EQUAL(turn(&fixture, 1000), 1);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[three]\n");
    struct stat status;
    CU_ASSERT_EQUAL(stat(fixture.path, &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 0777, 0660);
    close(fd);
    fixture_close(&fixture);
}

static void test_half_closed(void)
{
    struct control_fixture fixture;
    char text[200];
    fixture_open(&fixture, PATIENT_MS);
    int fd = connect_to(&fixture);
    say(fd, "one\nlast");
    shutdown(fd, SHUT_WR);
    unsigned answered = 0;
    for (int i = 0; i < 6; i++)
        answered += turn(&fixture, 50);
    CU_ASSERT_EQUAL(answered, 2);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[one]\n[last]\n");
    CU_ASSERT_EQUAL(hear(fd, text, sizeof text), 0);
    close(fd);
    fixture_close(&fixture);
}

static void test_too_long(void)
{
    struct control_fixture fixture;
    static char line[CONTROL_LINE_BYTES_MAX + 1];
    char text[200];
    memset(line, 'x', sizeof line);
    fixture_open(&fixture, PATIENT_MS);
    int fd = connect_to(&fixture);
    size_t sent = 0;
    for (int i = 0; i < 100; i++) {
        ssize_t put = 0;
        if (sent < sizeof line)
            put = send(fd, line + sent, sizeof line - sent, MSG_NOSIGNAL);
        sent += put > 0 ? (size_t)put : 0;
        CU_ASSERT_EQUAL(turn(&fixture, 10), 0);
    }
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "{\"ok\":false,\"error\":\"the request is too long\"}\n");
    close(fd);

    /* the longest that is allowed */
    line[CONTROL_LINE_BYTES_MAX - 1] = '\n';
    fd = connect_to(&fixture);
    unsigned answered = 0;
    sent = 0;
    for (int i = 0; i < 100 && !answered; i++) {
        if (sent < CONTROL_LINE_BYTES_MAX) {
            ssize_t put = send(fd, line + sent, CONTROL_LINE_BYTES_MAX - sent, MSG_NOSIGNAL);
            sent += put > 0 ? (size_t)put : 0;
        }
        answered += turn(&fixture, 10);
    }
    CU_ASSERT_EQUAL(answered, 1);
    close(fd);
    fixture_close(&fixture);
}

/* A client that never reads answers is no longer read, and is finally disconnected. */
static void test_slow(void)
{
    struct control_fixture fixture;
    static char line[30000];
    char text[200];
    memset(line, 'y', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    fixture_open(&fixture, TURN_MS);
    int slow = connect_to(&fixture);
    size_t sent = 0;
    for (int i = 0; i < 200; i++) {
        ssize_t put =
            send(slow, line + sent % sizeof line, sizeof line - sent % sizeof line, MSG_NOSIGNAL);
        sent += put > 0 ? (size_t)put : 0;
        turn(&fixture, 0);
    }
    CU_ASSERT_TRUE(sent < 100 * sizeof line); /* it was stopped */
    int other = connect_to(&fixture);
    say(other, "hello\n");
    CU_ASSERT_EQUAL(turn(&fixture, 1000), 1);
    CU_ASSERT_TRUE(hear(other, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[hello]\n");
    usleep(1000 * (TURN_MS + 20));
    turn(&fixture, 1000);
    while (recv(slow, line, sizeof line, 0) > 0)
        continue;
    CU_ASSERT_EQUAL(hear(slow, text, sizeof text), 0);
    close(slow);
    close(other);
    fixture_close(&fixture);
}

static void test_many(void)
{
    struct control_fixture fixture;
    char text[200];
    int fds[CONTROL_CLIENTS + 1];
    fixture_open(&fixture, PATIENT_MS);
    for (size_t i = 0; i <= CONTROL_CLIENTS; i++) {
        fds[i] = connect_to(&fixture);
        turn(&fixture, 1000);
    }
    CU_ASSERT_TRUE(hear(fds[CONTROL_CLIENTS], text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(
        text, "{\"ok\":false,\"error\":\"bustapd has too many clients; try again\"}\n");
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        say(fds[i], "x\n");
    CU_ASSERT_EQUAL(turn(&fixture, 1000), CONTROL_CLIENTS);
    close(fds[0]); /* there is room again */
    turn(&fixture, 1000);
    int fd = connect_to(&fixture);
    say(fd, "y\n");
    unsigned answered = 0;
    for (int i = 0; i < 3; i++)
        answered += turn(&fixture, 50);
    CU_ASSERT_EQUAL(answered, 1);
    close(fd);
    for (size_t i = 1; i <= CONTROL_CLIENTS; i++)
        close(fds[i]);
    fixture_close(&fixture);
}

/* Neither slow requests, blank lines nor partly read answers extend a client's time. */
static void test_trickle(void)
{
    static char line[20000];
    static const char *const trickles[] = {" ", "\n", " \t\r\n", "x", NULL};
    struct control_fixture fixture;
    char text[200];
    memset(line, 'y', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    for (const char *const *trickle = trickles; *trickle; trickle++) {
        int fds[CONTROL_CLIENTS];
        bool closed[CONTROL_CLIENTS] = {false};
        size_t left = CONTROL_CLIENTS;
        fixture_open(&fixture, TURN_MS);
        for (size_t i = 0; i < CONTROL_CLIENTS; i++)
            fds[i] = connect_to(&fixture);
        for (int round = 0; round < 1000 && left > 0; round++) {
            for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
                if (closed[i])
                    continue;
                (void)send(fds[i], *trickle, strlen(*trickle), MSG_NOSIGNAL);
                closed[i] = hear(fds[i], text, sizeof text) == 0;
                left -= closed[i];
            }
            turn(&fixture, TURN_MS / 10);
            usleep(1000 * TURN_MS / 10);
        }
        CU_ASSERT_EQUAL(left, 0);
        for (size_t i = 0; i < CONTROL_CLIENTS; i++)
            close(fds[i]);
        fixture_close(&fixture);
    }
}

/* The time limit applies to a whole answer, not to each part of it. */
static void test_sip(void)
{
    static char answer[4 << 20];
    struct control_fixture fixture;
    struct control_request request;
    fixture_open(&fixture, TURN_MS);
    int fd = connect_to(&fixture);
    say(fd, "x\n");
    control_step(fixture.control); /* accepts it */
    for (int i = 0; i < 1000 && !control_request(fixture.control, 0, &request); i++)
        control_step(fixture.control);
    CU_ASSERT_TRUE_FATAL(control_request(fixture.control, 0, &request));
    memset(answer, 'z', sizeof answer);
    control_answer(fixture.control, 0, answer, sizeof answer);
    size_t taken = 0;
    ssize_t got = -1;
    while (got != 0 && taken < sizeof answer) {
        turn(&fixture, 0);
        got = recv(fd, answer, 60000, 0); /* enough for more to come */
        taken += got > 0 ? (size_t)got : 0;
        usleep(1000 * TURN_MS / 10);
    }
    CU_ASSERT_EQUAL(got, 0);
    CU_ASSERT_TRUE(taken < sizeof answer);
    close(fd);
    fixture_close(&fixture);
}

static void test_one_daemon(void)
{
    struct control_fixture fixture;
    struct bt_error error = {0};
    char sentence[300];
    fixture_open(&fixture, PATIENT_MS);
    CU_ASSERT_PTR_NULL(control_new(fixture.path, PATIENT_MS, &error));
    CU_ASSERT_EQUAL(error.code, BT_BUSY);
    snprintf(sentence, sizeof sentence,
             "another bustapd, process %ld, listens on %s; stop it, or use --socket",
             (long)getpid(), fixture.path);
    CU_ASSERT_STRING_EQUAL(error.message, sentence);
    CU_ASSERT_EQUAL(access(fixture.path, F_OK), 0); /* the refused daemon removed nothing */
    fixture_close(&fixture);
}

/* Without free descriptors, a client that cannot be accepted must not keep the daemon awake. */
static void test_no_descriptors(void)
{
    struct control_fixture fixture;
    struct rlimit limit;
    struct rlimit few;
    char text[200];
    fixture_open(&fixture, PATIENT_MS);
    int fd = connect_to(&fixture); /* takes the lowest free descriptor */
    say(fd, "hello\n");
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = (rlim_t)fd + 1;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct pollfd polls[CONTROL_POLLS] = {{.fd = 0}};
    int timeout_ms = 0;
    /* if the pause has ended by now, the next one is checked */
    for (int i = 0; i < 100 && polls[0].fd != -1; i++) {
        CU_ASSERT_EQUAL(turn(&fixture, 0), 0);
        timeout_ms = -1;
        CU_ASSERT_EQUAL(control_polls(fixture.control, polls, &timeout_ms), 1);
    }
    CU_ASSERT_EQUAL(polls[0].fd, -1);
    CU_ASSERT_TRUE(timeout_ms > 0 && timeout_ms <= 100);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    unsigned answered = 0;
    for (int i = 0; i < 20 && !answered; i++)
        answered += turn(&fixture, 1000);
    CU_ASSERT_EQUAL(answered, 1);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[hello]\n");
    close(fd);
    fixture_close(&fixture);
}

/* Makes a socket, as another service does. */
static int foreign_socket(const struct control_fixture *fixture, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, fixture->path);
    int fd = socket(AF_UNIX, type, 0);
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* The daemon does not start, and the file with its socket's name is unchanged. */
static void refused(struct control_fixture *fixture, int code, const char *words)
{
    struct stat before, after;
    CU_ASSERT_EQUAL(lstat(fixture->path, &before), 0);
    fixture->control = control_new(fixture->path, PATIENT_MS, &fixture->error);
    CU_ASSERT_PTR_NULL(fixture->control);
    CU_ASSERT_EQUAL(fixture->error.code, code);
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture->error.message, words));
    CU_ASSERT(lstat(fixture->path, &after) == 0 && after.st_ino == before.st_ino);
    CU_ASSERT_EQUAL(before.st_mode, after.st_mode);
}

static void put_lock(const struct control_fixture *fixture)
{
    char name[2 * FOLDER_PATH_BYTES];
    snprintf(name, sizeof name, "%s/.socket.lock", fixture->folder);
    FILE *file = fopen(name, "w");
    fputs("bustap lock, process 4194304   \n", file);
    fclose(file);
}

/* Files of a killed daemon are replaced. */
static void test_stale_socket(void)
{
    struct control_fixture fixture;
    fixture_open(&fixture, PATIENT_MS);
    control_free(fixture.control);
    close(foreign_socket(&fixture, SOCK_STREAM));
    put_lock(&fixture);
    fixture.control = control_new(fixture.path, PATIENT_MS, &fixture.error);
    CU_ASSERT_PTR_NOT_NULL(fixture.control);
    fixture_close(&fixture);
}

/* Other files are not replaced, even if a daemon's lock remained. */
static void test_others_sockets(void)
{
    for (int locked = 0; locked < 2; locked++) {
        struct control_fixture fixture;
        fixture_open(&fixture, PATIENT_MS);
        control_free(fixture.control);
        int file = open(fixture.path, O_CREAT | O_WRONLY, 0600);
        close(file);
        if (locked)
            put_lock(&fixture);
        refused(&fixture, BT_IO, "exists and is not a socket");
        unlink(fixture.path);
        for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
            if (locked)
                put_lock(&fixture);
            int live = foreign_socket(&fixture, type);
            if (type == SOCK_STREAM)
                CU_ASSERT_EQUAL(listen(live, 1), 0);
            refused(&fixture, BT_BUSY, "another service listens on");
            close(live);
            unlink(fixture.path);
        }
        close(foreign_socket(&fixture, SOCK_STREAM));
        if (!locked)
            refused(&fixture, BT_IO, "is not a socket of bustapd");
        unlink(fixture.path);
        fixture.control = NULL;
        fixture_close(&fixture);
    }
}

/* A service that has taken the daemon's place meanwhile keeps its socket. */
static void test_replaced(void)
{
    struct control_fixture fixture;
    fixture_open(&fixture, PATIENT_MS);
    unlink(fixture.path);
    int other = foreign_socket(&fixture, SOCK_STREAM);
    control_free(fixture.control);
    CU_ASSERT_EQUAL(access(fixture.path, F_OK), 0);
    close(other);
    unlink(fixture.path);
    CU_ASSERT_EQUAL(rmdir(fixture.folder), 0);
}

static const struct test_case cases[] = {{"requests and answers", test_talk},
                                         {"a half-closed connection", test_half_closed},
                                         {"a line too long", test_too_long},
                                         {"a client that does not read", test_slow},
                                         {"too many clients", test_many},
                                         {"a slow request", test_trickle},
                                         {"an answer read in pieces", test_sip},
                                         {"one daemon per socket", test_one_daemon},
                                         {"no descriptors left", test_no_descriptors},
                                         {"a stale socket", test_stale_socket},
                                         {"sockets of other services", test_others_sockets},
                                         {"a replaced socket", test_replaced},
                                         {NULL, NULL}};
TEST_SUITE(control, cases)
