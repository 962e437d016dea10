#define _GNU_SOURCE /* getopt_long */
/*
 * bustapd: captures from a configuration file, in the foreground, for a supervisor to run.
 * bustapd(8).
 */
#include "capture/control_protocol.h"
#include "formats/base/clock.h"
#include "formats/base/standard_streams.h"
#include "host/control.h"
#include "host/service.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define CONFIGURATION_DEFAULT "/etc/bustap/bustapd.conf"
#define CLIENT_TURN_MS        60000

struct arguments {
    const char *configuration;
    const char *socket; /* NULL: the configuration's, or the default */
    bool check;
    bool done; /* --help, --version: nothing is left to do */
};

struct bustapd {
    struct journal journal;
    struct config *config;
    struct service *service;
    struct control *control;
    int signals;
    int wake;
    bool stopping;
    int watchdog_ms; /* between notices to the supervisor; -1: it wants none */
    int64_t next_notice_ms;
    char told[160]; /* the summary the supervisor knows */
};

static void print_usage(FILE *stream)
{
    fputs("usage: bustapd [-c FILE] [--socket PATH] [--check]\n"
          "  -c, --config FILE   configuration (" CONFIGURATION_DEFAULT ")\n"
          "      --socket PATH   control socket, instead of the configuration's\n"
          "      --check         read the configuration, say what is wrong with it, and end\n"
          "  -f, --foreground    accepted; bustapd always stays in the foreground\n"
          "  -h, --help\n"
          "      --version\n",
          stream);
}

/* 0 or BT_USAGE. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"socket", required_argument, NULL, 's'},
                                            {"check", no_argument, NULL, 'k'},
                                            {"foreground", no_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'V'},
                                            {NULL, 0, NULL, 0}};
    *arguments = (struct arguments){.configuration = CONFIGURATION_DEFAULT};
    for (int c; (c = getopt_long(argc, argv, "c:fh", options, NULL)) != -1;) {
        switch (c) {
        case 'c':
            arguments->configuration = optarg;
            break;
        case 's':
            arguments->socket = optarg;
            break;
        case 'k':
            arguments->check = true;
            break;
        case 'f':
            break;
        case 'h':
            print_usage(stdout);
            arguments->done = true;
            return 0;
        case 'V':
            puts("bustapd " BUSTAP_VERSION);
            arguments->done = true;
            return 0;
        default:
            fputs("see 'bustapd --help'\n", stderr);
            return BT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "bustapd: there is nothing to do with '%s'\nsee 'bustapd --help'\n",
                argv[optind]);
        return BT_USAGE;
    }
    return 0;
}

/* Signals come as events; threads made later inherit that they are blocked. */
static int catch_signals(struct bustapd *daemon, struct bt_error *error)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    /* a file-size limit is told by the write that meets it */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 ||
        (daemon->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)) < 0)
        return bt_fail_errno(error, "cannot receive signals");
    return 0;
}

static int open_daemon(struct bustapd *daemon, const char *socket, struct bt_error *error)
{
    uint64_t watchdog_us;
    int result = catch_signals(daemon, error);
    if (result < 0)
        return result;
    daemon->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (daemon->wake < 0)
        return bt_fail_errno(error, "cannot make an event descriptor");
    /* the socket first: a second daemon must not touch the boards of the one that runs */
    daemon->control = control_new(socket, CLIENT_TURN_MS, error);
    if (!daemon->control)
        return error->code;
    daemon->service = service_new(daemon->config, &daemon->journal, daemon->wake, error);
    if (!daemon->service)
        return error->code;
    daemon->watchdog_ms =
        sd_watchdog_enabled(0, &watchdog_us) > 0 ? (int)(watchdog_us / 2000) + 1 : -1;
    journal_write(&daemon->journal, JOURNAL_INFO, "ready: %zu capture%s, control socket %s",
                  daemon->config->count, daemon->config->count == 1 ? "" : "s", socket);
    sd_notify(0, "READY=1");
    return 0;
}

static void close_daemon(struct bustapd *daemon)
{
    service_free(daemon->service);
    control_free(daemon->control);
    config_free(daemon->config);
    if (daemon->wake >= 0)
        close(daemon->wake);
    if (daemon->signals >= 0)
        close(daemon->signals);
}

static void take_signals(struct bustapd *daemon)
{
    struct signalfd_siginfo info;
    while (read(daemon->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP) {
            service_rotate_all(daemon->service);
        } else if (!daemon->stopping) {
            daemon->stopping = true;
            sd_notify(0, "STOPPING=1");
            service_stop_all(daemon->service);
        }
    }
}

static void answer_requests(struct bustapd *daemon)
{
    static const char no_memory[] = "{\"ok\":false,\"error\":\"bustapd has no memory left\"}";
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        struct control_request request;
        struct service_answer answer = {NULL, 0};
        if (!control_request(daemon->control, i, &request))
            continue;
        int result =
            service_answer(daemon->service, request.line, request.size, request.begun, &answer);
        if (result > 0)
            control_answer(daemon->control, i, answer.text, answer.size);
        else if (result < 0)
            control_answer(daemon->control, i, no_memory, sizeof no_memory - 1);
        free(answer.text);
    }
}

/* Tells the supervisor that the loop goes round, and how the captures are. */
static void notify_supervisor(struct bustapd *daemon)
{
    char summary[sizeof daemon->told];
    int64_t now = clock_monotonic_ms();
    if (daemon->watchdog_ms >= 0 && now >= daemon->next_notice_ms) {
        sd_notify(0, "WATCHDOG=1");
        daemon->next_notice_ms = now + daemon->watchdog_ms;
    }
    service_summary(daemon->service, summary, sizeof summary);
    if (strcmp(summary, daemon->told) != 0) {
        memcpy(daemon->told, summary, sizeof summary);
        sd_notifyf(0, "STATUS=%s", summary);
    }
}

/* Until a signal says stop and every capture has. */
static int serve(struct bustapd *daemon, struct bt_error *error)
{
    while (!(daemon->stopping && service_is_quiet(daemon->service))) {
        struct pollfd polls[2 + CONTROL_POLLS] = {{.fd = daemon->signals, .events = POLLIN},
                                                  {.fd = daemon->wake, .events = POLLIN}};
        int timeout_ms = daemon->watchdog_ms;
        size_t count = 2 + control_polls(daemon->control, polls + 2, &timeout_ms);
        uint64_t woken;
        if (poll(polls, (nfds_t)count, timeout_ms) < 0 && errno != EINTR)
            return bt_fail_errno(error, "cannot wait for clients");
        if (read(daemon->wake, &woken, sizeof woken) < 0 && errno != EAGAIN)
            return bt_fail_errno(error, "cannot read an event");
        take_signals(daemon);
        control_step(daemon->control);
        answer_requests(daemon);
        notify_supervisor(daemon);
    }
    return 0;
}

static int run(const struct arguments *arguments, struct bustapd *daemon, struct bt_error *error)
{
    const char *socket = arguments->socket;
    int result = config_read(&daemon->config, arguments->configuration, error);
    if (result < 0)
        return result;
    if (arguments->check) {
        result = config_check_boards(daemon->config, arguments->configuration, error);
        if (result < 0)
            return result;
        printf("%s: %zu captures, no mistakes\n", arguments->configuration, daemon->config->count);
        return 0;
    }
    if (!socket)
        socket = daemon->config->socket[0] ? daemon->config->socket : CONTROL_SOCKET_DEFAULT;
    result = open_daemon(daemon, socket, error);
    return result < 0 ? result : serve(daemon, error);
}

int main(int argc, char **argv)
{
    struct bustapd daemon = {.signals = -1, .wake = -1, .watchdog_ms = -1};
    struct arguments arguments;
    struct bt_error error = {0};
    if (standard_streams_keep() < 0)
        return bt_exit_status(BT_IO);
    int result = parse_arguments(argc, argv, &arguments);
    if (result == 0 && !arguments.done) {
        daemon.journal = journal_standard_error();
        result = run(&arguments, &daemon, &error);
        if (result < 0)
            journal_write(&daemon.journal, JOURNAL_ERROR, "%s", error.message);
        close_daemon(&daemon);
        if (result == 0 && !arguments.check)
            journal_write(&daemon.journal, JOURNAL_INFO, "stopped");
    }
    return bt_exit_status(result);
}
