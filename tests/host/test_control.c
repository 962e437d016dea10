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
#define PATIENT_MS 600000 /* longer than on any slow machine */

struct pc_map_entry {
    char folder[FOLDER_PATH_BYTES];
    char path[108]; /* a socket's cannot be longer */
    struct control *control;
    struct bt_error error;
};

static void place_open(struct pc_map_entry *place, int turn_ms)
{
    memset(place, 0, sizeof *place);
    folder_make(place->folder);
    snprintf(place->path, sizeof place->path, "%.100s/socket", place->folder);
    place->control = control_new(place->path, turn_ms, &place->error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(place->control);
}

static void place_close(struct pc_map_entry *place)
{
    control_free(place->control);
    CU_ASSERT_NOT_EQUAL(access(place->path, F_OK), 0);
    CU_ASSERT_EQUAL(rmdir(place->folder), 0); /* no files remain, not even the lock */
}

static int connect_to(const struct pc_map_entry *place)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, place->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Answers every pending request with its own text in brackets. */
static unsigned echo(struct pc_map_entry *place)
{
    unsigned answered = 0;
    struct control_request request;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        while (control_request(place->control, i, &request)) {
            char text[CONTROL_LINE_BYTES_MAX + 2];
            text[0] = '[';
            memcpy(text + 1, request.line, request.size);
            text[request.size + 1] = ']';
            control_answer(place->control, i, text, request.size + 2);
            answered++;
            if (!control_request(place->control, i, &request))
                break;
        }
    return answered;
}

/* One turn of the daemon's loop. */
static unsigned turn(struct pc_map_entry *place, int timeout_ms)
{
    struct pollfd polls[CONTROL_POLLS];
    size_t count = control_polls(place->control, polls, &timeout_ms);
    CU_ASSERT_TRUE(count <= CONTROL_POLLS);
    poll(polls, (nfds_t)count, timeout_ms);
    control_step(place->control);
    return echo(place);
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
    struct pc_map_entry place;
    char text[200];
    place_open(&place, PATIENT_MS);
    int fd = connect_to(&place);
    say(fd, "one\ntwo\nthr");
    CU_ASSERT_EQUAL(turn(&place, 1000), 2);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[one]\n[two]\n");
    /* a pending request does not wait for the next event */
    struct pollfd polls[CONTROL_POLLS];
    say(fd, "ee\n");
    int timeout_ms = 1000;
    control_polls(place.control, polls, &timeout_ms);
    CU_ASSERT_TRUE(timeout_ms > 0);
    control_step(place.control);
    timeout_ms = 1000;
    control_polls(place.control, polls, &timeout_ms);
    CU_ASSERT_EQUAL(timeout_ms, 0);
    CU_ASSERT_EQUAL(turn(&place, 1000), 1);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[three]\n");
    struct stat status;
    CU_ASSERT_EQUAL(stat(place.path, &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 0777, 0660);
    close(fd);
    place_close(&place);
}

static void test_half_closed(void)
{
    struct pc_map_entry place;
    char text[200];
    place_open(&place, PATIENT_MS);
    int fd = connect_to(&place);
    say(fd, "one\nlast");
    shutdown(fd, SHUT_WR);
    unsigned answered = 0;
    for (int i = 0; i < 6; i++)
        answered += turn(&place, 50);
    CU_ASSERT_EQUAL(answered, 2);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[one]\n[last]\n");
    CU_ASSERT_EQUAL(hear(fd, text, sizeof text), 0);
    close(fd);
    place_close(&place);
}

static void test_too_long(void)
{
    struct pc_map_entry place;
    static char line[CONTROL_LINE_BYTES_MAX + 1];
    char text[200];
    memset(line, 'x', sizeof line);
    place_open(&place, PATIENT_MS);
    int fd = connect_to(&place);
    size_t sent = 0;
    for (int i = 0; i < 100; i++) {
        ssize_t put = 0;
        if (sent < sizeof line)
            put = send(fd, line + sent, sizeof line - sent, MSG_NOSIGNAL);
        sent += put > 0 ? (size_t)put : 0;
        CU_ASSERT_EQUAL(turn(&place, 10), 0);
    }
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "{\"ok\":false,\"error\":\"the request is too long\"}\n");
    close(fd);

    /* the longest that is allowed */
    line[CONTROL_LINE_BYTES_MAX - 1] = '\n';
    fd = connect_to(&place);
    unsigned answered = 0;
    sent = 0;
    for (int i = 0; i < 100 && !answered; i++) {
        if (sent < CONTROL_LINE_BYTES_MAX) {
            ssize_t put = send(fd, line + sent, CONTROL_LINE_BYTES_MAX - sent, MSG_NOSIGNAL);
            sent += put > 0 ? (size_t)put : 0;
        }
        answered += turn(&place, 10);
    }
    CU_ASSERT_EQUAL(answered, 1);
    close(fd);
    place_close(&place);
}

/* A client that never reads answers is no longer read, and is finally disconnected. */
static void test_slow(void)
{
    struct pc_map_entry place;
    static char line[30000];
    char text[200];
    memset(line, 'y', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    place_open(&place, TURN_MS);
    int slow = connect_to(&place);
    size_t sent = 0;
    for (int i = 0; i < 200; i++) {
        ssize_t put =
            send(slow, line + sent % sizeof line, sizeof line - sent % sizeof line, MSG_NOSIGNAL);
        sent += put > 0 ? (size_t)put : 0;
        turn(&place, 0);
    }
    CU_ASSERT_TRUE(sent < 100 * sizeof line); /* it was stopped */
    int other = connect_to(&place);
    say(other, "hello\n");
    CU_ASSERT_EQUAL(turn(&place, 1000), 1);
    CU_ASSERT_TRUE(hear(other, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[hello]\n");
    usleep(1000 * (TURN_MS + 20));
    turn(&place, 1000);
    while (recv(slow, line, sizeof line, 0) > 0)
        continue;
    CU_ASSERT_EQUAL(hear(slow, text, sizeof text), 0);
    close(slow);
    close(other);
    place_close(&place);
}

static void test_many(void)
{
    struct pc_map_entry place;
    char text[200];
    int fds[CONTROL_CLIENTS + 1];
    place_open(&place, PATIENT_MS);
    for (size_t i = 0; i <= CONTROL_CLIENTS; i++) {
        fds[i] = connect_to(&place);
        turn(&place, 1000);
    }
    CU_ASSERT_TRUE(hear(fds[CONTROL_CLIENTS], text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(
        text, "{\"ok\":false,\"error\":\"bustapd has too many clients; try again\"}\n");
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        say(fds[i], "x\n");
    CU_ASSERT_EQUAL(turn(&place, 1000), CONTROL_CLIENTS);
    close(fds[0]); /* there is room again */
    turn(&place, 1000);
    int fd = connect_to(&place);
    say(fd, "y\n");
    unsigned answered = 0;
    for (int i = 0; i < 3; i++)
        answered += turn(&place, 50);
    CU_ASSERT_EQUAL(answered, 1);
    close(fd);
    for (size_t i = 1; i <= CONTROL_CLIENTS; i++)
        close(fds[i]);
    place_close(&place);
}

/* Neither slow requests, blank lines nor partly read answers extend a client's time. */
static void test_trickle(void)
{
    static char line[20000];
    static const char *const trickles[] = {" ", "\n", " \t\r\n", "x", NULL};
    struct pc_map_entry place;
    char text[200];
    memset(line, 'y', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    for (const char *const *trickle = trickles; *trickle; trickle++) {
        int fds[CONTROL_CLIENTS];
        bool gone[CONTROL_CLIENTS] = {false};
        size_t left = CONTROL_CLIENTS;
        place_open(&place, TURN_MS);
        for (size_t i = 0; i < CONTROL_CLIENTS; i++)
            fds[i] = connect_to(&place);
        for (int round = 0; round < 1000 && left > 0; round++) {
            for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
                if (gone[i])
                    continue;
                (void)send(fds[i], *trickle, strlen(*trickle), MSG_NOSIGNAL);
                gone[i] = hear(fds[i], text, sizeof text) == 0;
                left -= gone[i];
            }
            turn(&place, TURN_MS / 10);
            usleep(1000 * TURN_MS / 10);
        }
        CU_ASSERT_EQUAL(left, 0);
        for (size_t i = 0; i < CONTROL_CLIENTS; i++)
            close(fds[i]);
        place_close(&place);
    }
}

/* The time limit applies to a whole answer, not to each part of it. */
static void test_sip(void)
{
    static char answer[4 << 20];
    struct pc_map_entry place;
    struct control_request request;
    place_open(&place, TURN_MS);
    int fd = connect_to(&place);
    say(fd, "x\n");
    control_step(place.control); /* lets it in */
    for (int i = 0; i < 1000 && !control_request(place.control, 0, &request); i++)
        control_step(place.control);
    CU_ASSERT_TRUE_FATAL(control_request(place.control, 0, &request));
    memset(answer, 'z', sizeof answer);
    control_answer(place.control, 0, answer, sizeof answer);
    size_t taken = 0;
    ssize_t got = -1;
    while (got != 0 && taken < sizeof answer) {
        turn(&place, 0);
        got = recv(fd, answer, 60000, 0); /* enough for more to come */
        taken += got > 0 ? (size_t)got : 0;
        usleep(1000 * TURN_MS / 10);
    }
    CU_ASSERT_EQUAL(got, 0);
    CU_ASSERT_TRUE(taken < sizeof answer);
    close(fd);
    place_close(&place);
}

static void test_one_daemon(void)
{
    struct pc_map_entry place;
    struct bt_error error = {0};
    char sentence[300];
    place_open(&place, PATIENT_MS);
    CU_ASSERT_PTR_NULL(control_new(place.path, PATIENT_MS, &error));
    CU_ASSERT_EQUAL(error.code, BT_BUSY);
    snprintf(sentence, sizeof sentence,
             "another bustapd, process %ld, listens on %s; stop it, or use --socket",
             (long)getpid(), place.path);
    CU_ASSERT_STRING_EQUAL(error.message, sentence);
    CU_ASSERT_EQUAL(access(place.path, F_OK), 0); /* the refused one took nothing away */
    place_close(&place);
}

/* Without free descriptors, a client that cannot be accepted must not keep the daemon awake. */
static void test_no_descriptors(void)
{
    struct pc_map_entry place;
    struct rlimit limit;
    struct rlimit few;
    char text[200];
    place_open(&place, PATIENT_MS);
    int fd = connect_to(&place); /* has the lowest number that was free */
    say(fd, "hello\n");
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = (rlim_t)fd + 1;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct pollfd polls[CONTROL_POLLS] = {{.fd = 0}};
    int timeout_ms = 0;
    /* the pause may be over by the time that it is looked at: then the next one is */
    for (int i = 0; i < 100 && polls[0].fd != -1; i++) {
        CU_ASSERT_EQUAL(turn(&place, 0), 0);
        timeout_ms = -1;
        CU_ASSERT_EQUAL(control_polls(place.control, polls, &timeout_ms), 1);
    }
    CU_ASSERT_EQUAL(polls[0].fd, -1);
    CU_ASSERT_TRUE(timeout_ms > 0 && timeout_ms <= 100);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    unsigned answered = 0;
    for (int i = 0; i < 20 && !answered; i++)
        answered += turn(&place, 1000);
    CU_ASSERT_EQUAL(answered, 1);
    CU_ASSERT_TRUE(hear(fd, text, sizeof text) > 0);
    CU_ASSERT_STRING_EQUAL(text, "[hello]\n");
    close(fd);
    place_close(&place);
}

/* Makes a socket, as another service does. */
static int foreign_socket(const struct pc_map_entry *place, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, place->path);
    int fd = socket(AF_UNIX, type, 0);
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* The daemon does not start, and the file with its socket's name is unchanged. */
static void refused(struct pc_map_entry *place, int code, const char *words)
{
    struct stat before, after;
    CU_ASSERT_EQUAL(lstat(place->path, &before), 0);
    place->control = control_new(place->path, PATIENT_MS, &place->error);
    CU_ASSERT_PTR_NULL(place->control);
    CU_ASSERT_EQUAL(place->error.code, code);
    CU_ASSERT_PTR_NOT_NULL(strstr(place->error.message, words));
    CU_ASSERT(lstat(place->path, &after) == 0 && after.st_ino == before.st_ino);
    CU_ASSERT_EQUAL(before.st_mode, after.st_mode);
}

static void put_lock(const struct pc_map_entry *place)
{
    char name[2 * FOLDER_PATH_BYTES];
    snprintf(name, sizeof name, "%s/.socket.lock", place->folder);
    FILE *file = fopen(name, "w");
    fputs("bustap lock, process 4194304   \n", file);
    fclose(file);
}

/* Files of a killed daemon are replaced. */
static void test_stale_socket(void)
{
    struct pc_map_entry place;
    place_open(&place, PATIENT_MS);
    control_free(place.control);
    close(foreign_socket(&place, SOCK_STREAM));
    put_lock(&place);
    place.control = control_new(place.path, PATIENT_MS, &place.error);
    CU_ASSERT_PTR_NOT_NULL(place.control);
    place_close(&place);
}

/* Other files are not replaced, even if a daemon's lock remained. */
static void test_others_sockets(void)
{
    for (int locked = 0; locked < 2; locked++) {
        struct pc_map_entry place;
        place_open(&place, PATIENT_MS);
        control_free(place.control);
        int file = open(place.path, O_CREAT | O_WRONLY, 0600);
        close(file);
        if (locked)
            put_lock(&place);
        refused(&place, BT_IO, "exists and is not a socket");
        unlink(place.path);
        for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
            if (locked)
                put_lock(&place);
            int live = foreign_socket(&place, type);
            if (type == SOCK_STREAM)
                CU_ASSERT_EQUAL(listen(live, 1), 0);
            refused(&place, BT_BUSY, "another service listens on");
            close(live);
            unlink(place.path);
        }
        close(foreign_socket(&place, SOCK_STREAM));
        if (!locked)
            refused(&place, BT_IO, "is not a socket of bustapd");
        unlink(place.path);
        place.control = NULL;
        place_close(&place);
    }
}

/* A service that has taken the daemon's place meanwhile keeps its socket. */
static void test_replaced(void)
{
    struct pc_map_entry place;
    place_open(&place, PATIENT_MS);
    unlink(place.path);
    int other = foreign_socket(&place, SOCK_STREAM);
    control_free(place.control);
    CU_ASSERT_EQUAL(access(place.path, F_OK), 0);
    close(other);
    unlink(place.path);
    CU_ASSERT_EQUAL(rmdir(place.folder), 0);
}

static const struct test_case cases[] = {{"requests and answers", test_talk},
                                         {"a client that has said all", test_half_closed},
                                         {"a line too long", test_too_long},
                                         {"a client that does not listen", test_slow},
                                         {"more clients than there are places", test_many},
                                         {"a byte now and then", test_trickle},
                                         {"an answer taken in bits", test_sip},
                                         {"one daemon a socket", test_one_daemon},
                                         {"no descriptors left", test_no_descriptors},
                                         {"a stale socket", test_stale_socket},
                                         {"sockets of others", test_others_sockets},
                                         {"a socket that was replaced", test_replaced},
                                         {NULL, NULL}};
TEST_SUITE(control, cases)
