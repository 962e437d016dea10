#define _GNU_SOURCE /* getopt_long */
/*
 * bustapd: captures from a configuration file, in the foreground, for a supervisor to run.
 * bustapd(8).
 */
#include "capture/control_protocol.h"
#include "capture/signal_guard.h"
#include "formats/base/clock.h"
#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"
#include "formats/base/suggestion.h"
#include "host/control.h"
#include "host/notices.h"
#include "host/service.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define CONFIGURATION_DEFAULT "/etc/bustap/bustapd.conf"
#define CLIENT_TURN_MS        60000
#define NOTICE_RETRY_MS       200
#define COMMANDS_MS           50   /* interval of checks whether commands have ended */
#define FLUSH_MS              2000 /* time limit for what is in memory, at an end without patience */
#define LAST_WORDS_MS         500  /* time for the log's reader to take the last lines */

struct arguments {
    const char *configuration;
    const char *socket; /* NULL: the configuration's, or the default */
    bool check;
    bool done; /* --help, --version: nothing else to do */
};

struct bustapd {
    struct journal journal;
    struct config *config;
    pthread_mutex_t mutex; /* held while `service` is set, or used by the guard's thread */
    struct service *service;
    struct control *control;
    struct signal_guard *signals;
    int wake;
    bool stopping;
    bool waiting;           /* for commands of complete files */
    int64_t commands_until; /* clock_monotonic_ms; when stopping: then they are left */
    int watchdog_ms;        /* interval of notices to the supervisor; -1: none */
    int64_t next_notice_ms;
    char status_sent[160]; /* the last notice about captures */
    bool ready_sent, stopping_sent;
};

static void print_usage(FILE *stream)
{
    fputs("usage: bustapd [-h | --version] [-c FILE] [--socket PATH] [--check]\n"
          "  -c, --config FILE   configuration (" CONFIGURATION_DEFAULT ")\n"
          "      --socket PATH   control socket, instead of the configuration's\n"
          "      --check         read the configuration, report its errors, and end\n"
          "  -f, --foreground    accepted; bustapd always stays in the foreground\n"
          "  -h, --help\n"
          "      --version\n",
          stream);
}

static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                        {"socket", required_argument, NULL, 's'},
                                        {"check", no_argument, NULL, 'k'},
                                        {"foreground", no_argument, NULL, 'f'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'V'},
                                        {NULL, 0, NULL, 0}};

/* Suggests an option for an unknown long one. */
static void suggest_option(struct bt_error *error, const char *unknown)
{
    char name[64];
    struct suggestion suggestion;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(unknown, "="), unknown);
    suggestion_begin(&suggestion, name);
    for (const struct option *option = options; option->name; option++)
        suggestion_try(&suggestion, option->name);
    if (suggestion.nearest) {
        snprintf(name, sizeof name, "--%s", suggestion.nearest);
        suggestion_add(error, name);
    }
}

/* answer is getopt_long's result, argument the last one it read. */
static int refuse_option(int answer, const char *argument)
{
    struct bt_error error;
    const char letter[] = {'-', (char)optopt, '\0'};
    bool one_letter = answer == '?' && optopt && strncmp(argument, "--", 2) != 0;
    bt_fail(&error, BT_USAGE, "%s '%.120s'",
            answer == ':' ? "an argument is missing after" : "unknown option",
            one_letter ? letter : argument);
    if (answer == '?' && !one_letter)
        suggest_option(&error, argument + 2);
    fprintf(stderr, "bustapd: %s\nsee 'bustapd --help'\n", printable_make(error.message));
    return error.code;
}

/* 0 or BT_USAGE. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    *arguments = (struct arguments){.configuration = CONFIGURATION_DEFAULT};
    opterr = 0; /* getopt prints arguments without escaping them */
    for (int c; (c = getopt_long(argc, argv, ":c:fh", options, NULL)) != -1;) {
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
            return refuse_option(c, argv[optind - 1]);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "bustapd: unexpected argument '%s'\nsee 'bustapd --help'\n",
                PRINTABLE(argv[optind]));
        return BT_USAGE;
    }
    return 0;
}

/* Runs in the guard's thread, so that a blocked main thread cannot delay it. */
static void end_at_once(void *context, int number)
{
    struct bustapd *daemon = context;
    pthread_mutex_lock(&daemon->mutex); /* until the end */
    bool flushed = daemon->service && service_flush(daemon->service, FLUSH_MS);
    journal_write(
        &daemon->journal, JOURNAL_ERROR, "%s; %s",
        number ? "ended at once by a second signal" : "did not stop in time; ending",
        flushed
            ? "all files are complete; requests that boards still held are missing"
            : "incomplete files have no closing member; 'bustap recover' makes complete copies");
    journal_flush(&daemon->journal, LAST_WORDS_MS); /* other threads still write */
    if (number)
        signal_guard_die(number);
    _exit(bt_exit_status(BT_IO));
}

/* Set up first: messages that never block, and signals. */
static int begin_daemon(struct bustapd *daemon, struct bt_error *error)
{
    int result = journal_open(&daemon->journal, error);
    if (result < 0)
        return result;
    daemon->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (daemon->wake < 0)
        return bt_fail_errno(error, "cannot make an event descriptor");
    const struct signal_guard_rules rules = {
        .wake = daemon->wake, .limit_ms = CONFIG_STOP_MS, .end = end_at_once, .context = daemon};
    daemon->signals = signal_guard_new(&rules, error);
    return daemon->signals ? 0 : error->code;
}

/* Returns the previous service. */
static struct service *exchange_service(struct bustapd *daemon, struct service *service)
{
    pthread_mutex_lock(&daemon->mutex);
    struct service *before = daemon->service;
    daemon->service = service;
    pthread_mutex_unlock(&daemon->mutex);
    return before;
}

static int open_daemon(struct bustapd *daemon, const char *socket, struct bt_error *error)
{
    uint64_t watchdog_us;
    /* the socket first: a second daemon must not touch the boards of the running one */
    daemon->control = control_new(socket, CLIENT_TURN_MS, error);
    if (!daemon->control)
        return error->code;
    struct service *service = service_new(daemon->config, &daemon->journal, daemon->wake, error);
    exchange_service(daemon, service);
    if (!service)
        return error->code;
    daemon->watchdog_ms =
        sd_watchdog_enabled(0, &watchdog_us) > 0 ? (int)(watchdog_us / 2000) + 1 : -1;
    journal_write(&daemon->journal, JOURNAL_INFO, "ready: %zu capture%s, control socket %s",
                  daemon->config->count, daemon->config->count == 1 ? "" : "s", socket);
    return 0;
}

static void close_daemon(struct bustapd *daemon)
{
    service_free(exchange_service(daemon, NULL));
    control_free(daemon->control);
    config_free(daemon->config);
}

/* Called last: until then the guard limits the duration of the end. */
static void end_daemon(struct bustapd *daemon)
{
    signal_guard_free(daemon->signals);
    if (daemon->wake >= 0)
        close(daemon->wake);
    journal_close(&daemon->journal, LAST_WORDS_MS);
}

static void handle_signals(struct bustapd *daemon)
{
    if (signal_guard_take(daemon->signals, SIGHUP))
        service_rotate_all(daemon->service);
    if (!daemon->stopping && signal_guard_stops(daemon->signals)) {
        daemon->stopping = true;
        daemon->commands_until = clock_monotonic_ms() + daemon->config->stop_ms / 4 * 3;
        daemon->stopping_sent = notices_send("STOPPING=1");
        service_stop_all(daemon->service);
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

/* Reports to the supervisor that the loop is alive, and the state of the captures. *timeout_ms is
 * lowered to the time of the next notice. */
static void notify_supervisor(struct bustapd *daemon, int *timeout_ms)
{
    char notice[sizeof daemon->status_sent];
    const size_t head = (size_t)sprintf(notice, "STATUS=");
    int64_t now = clock_monotonic_ms();
    if (!daemon->ready_sent)
        daemon->ready_sent = notices_send("READY=1");
    if (daemon->stopping && !daemon->stopping_sent)
        daemon->stopping_sent = notices_send("STOPPING=1");
    if (daemon->watchdog_ms >= 0 && now >= daemon->next_notice_ms) {
        notices_send("WATCHDOG=1");
        daemon->next_notice_ms = now + daemon->watchdog_ms;
    }
    service_summary(daemon->service, notice + head, sizeof notice - head);
    bool sent = strcmp(notice, daemon->status_sent) == 0 || notices_send(notice);
    if (sent)
        memcpy(daemon->status_sent, notice, sizeof notice);
    if (daemon->watchdog_ms >= 0)
        *timeout_ms = daemon->watchdog_ms;
    if ((!daemon->ready_sent || daemon->stopping != daemon->stopping_sent || !sent) &&
        (*timeout_ms < 0 || *timeout_ms > NOTICE_RETRY_MS))
        *timeout_ms = NOTICE_RETRY_MS;
}

/* Whether a signal has requested the end, every capture has stopped, and the commands of all files
 * have ended, or take too long. */
static bool is_over(struct bustapd *daemon)
{
    if (!daemon->stopping || !service_is_quiet(daemon->service))
        return false;
    uint64_t left = service_commands_left(daemon->service);
    if (left > 0 && !daemon->waiting)
        journal_write(&daemon->journal, JOURNAL_INFO, "waiting for exec-on-file: %llu left",
                      (unsigned long long)left);
    daemon->waiting = left > 0;
    return left == 0 || clock_monotonic_ms() >= daemon->commands_until;
}

/* Runs until everything is over. Only poll waits here. */
static int serve(struct bustapd *daemon, struct bt_error *error)
{
    while (!is_over(daemon)) {
        struct pollfd polls[1 + CONTROL_POLLS] = {{.fd = daemon->wake, .events = POLLIN}};
        int timeout_ms = -1;
        notify_supervisor(daemon, &timeout_ms);
        size_t count = 1 + control_polls(daemon->control, polls + 1, &timeout_ms);
        if (daemon->waiting && (timeout_ms < 0 || timeout_ms > COMMANDS_MS))
            timeout_ms = COMMANDS_MS;
        uint64_t woken;
        if (poll(polls, (nfds_t)count, timeout_ms) < 0 && errno != EINTR)
            return bt_fail_errno(error, "cannot wait for clients");
        if (read(daemon->wake, &woken, sizeof woken) < 0 && errno != EAGAIN)
            return bt_fail_errno(error, "cannot read an event");
        handle_signals(daemon);
        control_step(daemon->control);
        answer_requests(daemon);
    }
    return 0;
}

/* Prints a sentence about a capture. */
static void print_doubt(void *context, const char *sentence)
{
    const struct config_capture *capture = context;
    fprintf(stderr, "bustapd: capture %s: %s\n", capture->name, sentence);
}

/* --check: prints its result. */
static int check(const struct arguments *arguments, struct bt_error *error)
{
    const char *path = arguments->configuration;
    struct config *config;
    int result = config_read(&config, path, error);
    if (result == 0)
        result = config_check_machine(config, path, error);
    if (result == 0) {
        for (size_t i = 0; i < config->count; i++)
            config_report_doubts(&config->captures[i], print_doubt, &config->captures[i]);
        printf("%s: %zu capture%s, no errors\n", PRINTABLE(path), config->count,
               config->count == 1 ? "" : "s");
    } else {
        fprintf(stderr, "bustapd: %s\n", error->message);
    }
    config_free(config);
    return result;
}

static int run(const struct arguments *arguments, struct bustapd *daemon, struct bt_error *error)
{
    const char *socket = arguments->socket;
    int result = config_read(&daemon->config, arguments->configuration, error);
    if (result < 0)
        return result;
    signal_guard_limit(daemon->signals, daemon->config->stop_ms);
    if (signal_guard_stops(daemon->signals))
        return 0; /* nothing is set up yet */
    if (!socket)
        socket = daemon->config->socket[0] ? daemon->config->socket : CONTROL_SOCKET_DEFAULT;
    result = open_daemon(daemon, socket, error);
    return result < 0 ? result : serve(daemon, error);
}

static int run_daemon(const struct arguments *arguments)
{
    struct bustapd daemon = {.wake = -1, .watchdog_ms = -1};
    struct bt_error error = {0};
    pthread_mutex_init(&daemon.mutex, NULL);
    /* the failing write reports a limit of file sizes */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    int result = begin_daemon(&daemon, &error);
    if (result < 0)
        fprintf(stderr, "bustapd: %s\n", error.message);
    else
        result = run(arguments, &daemon, &error);
    if (result < 0)
        journal_write(&daemon.journal, JOURNAL_ERROR, "%s", error.message);
    close_daemon(&daemon);
    if (result == 0)
        journal_write(&daemon.journal, JOURNAL_INFO, "stopped");
    end_daemon(&daemon);
    return result;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct bt_error error = {0};
    sigset_t before;
    sigprocmask(SIG_BLOCK, NULL, &before);
    signal_guard_block(); /* later signals are handled by the daemon */
    if (standard_streams_keep() < 0)
        return bt_exit_status(BT_IO);
    int result = parse_arguments(argc, argv, &arguments);
    if (result == 0 && !arguments.done && !arguments.check)
        return bt_exit_status(run_daemon(&arguments));
    if (result == 0 && !arguments.done) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        result = check(&arguments, &error);
    }
    if (standard_streams_finish(&error) < 0 && result == 0) {
        fprintf(stderr, "bustapd: %s\n", error.message);
        result = error.code;
    }
    return bt_exit_status(result);
}
