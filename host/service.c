#include "host/service.h"

#include "capture/control_protocol.h"
#include "capture/status_json.h"
#include "formats/base/clock.h"
#include "formats/text/json_members.h"
#include "host/control_command.h"
#include "host/hotplug.h"
#include "host/packer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct service {
    size_t count;
    struct runner **runners;
    struct hotplug *hotplug;
    struct packer *packer;
    bool closing;                /* nothing is started any more */
    struct runner_report report; /* space for one, too large for a stack */
    struct packer_report packed; /* the same */
    int64_t started_ns;          /* monotonic */
    const struct journal *journal;
};

struct service *service_new(const struct config *config, const struct journal *journal, int wake,
                            struct bt_error *error)
{
    struct service *service = calloc(1, sizeof *service);
    if (service)
        service->runners = calloc(config->count + 1, sizeof *service->runners);
    if (!service || !service->runners) {
        bt_fail(error, BT_MEMORY, "no memory for %zu captures", config->count);
        service_free(service);
        return NULL;
    }
    service->started_ns = clock_monotonic_ns();
    service->journal = journal;
    service->packer = packer_new(config, journal, error);
    for (size_t i = 0; service->packer && i < config->count; i++) {
        service->runners[i] = runner_new(&config->captures[i], journal,
                                         packer_files_lock(service->packer, i), wake, error);
        if (!service->runners[i])
            break;
        service->count++;
    }
    if (service->packer && service->count == config->count)
        service->hotplug = hotplug_new(service->runners, service->count, error);
    if (!service->hotplug || packer_start(service->packer, service->runners, error) < 0) {
        service_free(service);
        return NULL;
    }
    return service;
}

void service_free(struct service *service)
{
    if (!service)
        return;
    hotplug_free(service->hotplug);
    service_stop_all(service); /* all at once, then wait for each */
    packer_free(service->packer);
    for (size_t i = 0; i < service->count; i++)
        runner_free(service->runners[i]);
    free(service->runners);
    free(service);
}

void service_rotate_all(struct service *service)
{
    for (size_t i = 0; i < service->count; i++)
        runner_rotate(service->runners[i]);
}

void service_stop_all(struct service *service)
{
    service->closing = true;
    if (service->packer)
        packer_stop(service->packer);
    for (size_t i = 0; i < service->count; i++)
        runner_stop(service->runners[i]);
}

bool service_flush(struct service *service, int limit_ms)
{
    const int64_t until = clock_monotonic_ms() + limit_ms;
    bool all = true;
    for (size_t i = 0; i < service->count; i++)
        (void)runner_flush(service->runners[i], 0); /* all at once, then wait for each */
    for (size_t i = 0; i < service->count; i++)
        all &= runner_flush(service->runners[i], until);
    return all;
}

bool service_is_quiet(struct service *service)
{
    for (size_t i = 0; i < service->count; i++) {
        enum runner_state state = runner_state(service->runners[i]);
        if (state != RUNNER_STOPPED && state != RUNNER_FINISHED && state != RUNNER_WAITING)
            return false;
    }
    return true;
}

uint64_t service_commands_left(struct service *service)
{
    uint64_t left = 0;
    for (size_t i = 0; i < service->count; i++)
        left += runner_commands_left(service->runners[i]);
    return left;
}

void service_summary(struct service *service, char *text, size_t size)
{
    unsigned counts[RUNNER_STATES] = {0};
    for (size_t i = 0; i < service->count; i++)
        counts[runner_state(service->runners[i])]++;
    snprintf(text, size, "%zu capture%s", service->count, service->count == 1 ? "" : "s");
    const char *separator = ": ";
    for (int i = 0; i < RUNNER_STATES; i++) {
        size_t used = strlen(text);
        if (counts[i] == 0)
            continue;
        snprintf(text + used, size - used, "%s%u %s", separator, counts[i],
                 runner_state_name((enum runner_state)i));
        separator = ", ";
    }
}

/* --- answers ---------------------------------------------------------------------------------- */

/* What was packed; null if nothing is to be. */
static void put_packed(struct json_put *json, const struct config_capture *settings,
                       const struct packer_report *report)
{
    if (report->state == PACKER_OFF) {
        json_text_or_null(json, "packed", "");
        return;
    }
    json_object(json, "packed");
    json_text(json, "state", packer_state_name(report->state));
    json_count(json, "level", (uint64_t)settings->pack_level);
    json_seconds(json, "after_s", (double)settings->pack_after_ns / 1e9);
    json_count(json, "files", report->files);
    json_count(json, "bytes_before", report->bytes_before);
    json_count(json, "bytes", report->bytes);
    json_count(json, "saved_bytes",
               report->bytes_before > report->bytes ? report->bytes_before - report->bytes : 0);
    json_count(json, "stays", report->stays);
    json_count(json, "failed", report->failed);
    json_text_or_null(json, "file", report->file);
    json_text_or_null(json, "error", report->error.code ? report->error.message : "");
    json_put_object_end(json);
}

static void put_capture(struct json_put *json, const struct config_capture *settings,
                        const struct runner_report *report, const struct packer_report *packed)
{
    json_put_object(json);
    json_text(json, "name", settings->name);
    json_text(json, "board", settings->board);
    json_text(json, "output", settings->settings.prefix);
    json_text(json, "state", runner_state_name(report->state));
    json_count(json, "starts", report->starts);
    json_seconds(json, "gap_s", (double)report->gap_ns / 1e9);
    json_text(json, "error", report->error.message);
    json_put_key(json, "status");
    if (report->has_status)
        status_json_put(json, &report->status);
    else
        json_put_null(json);
    put_packed(json, settings, packed);
    json_put_object_end(json);
}

static bool is_selected(const struct runner *runner, const struct control_command *command)
{
    return command->capture[0] == '\0' ||
           strcmp(command->capture, runner_settings(runner)->name) == 0;
}

static void put_captures(struct service *service, struct json_put *json,
                         const struct control_command *command)
{
    json_text(json, "version", BUSTAP_VERSION);
    json_count(json, "pid", (uint64_t)getpid());
    json_seconds(json, "uptime_s", (double)(clock_monotonic_ns() - service->started_ns) / 1e9);
    json_count(json, "log_lines_dropped", journal_dropped(service->journal));
    json_array(json, "captures");
    for (size_t i = 0; i < service->count; i++) {
        struct runner *runner = service->runners[i];
        if (!is_selected(runner, command))
            continue;
        runner_report(runner, &service->report);
        if (command->code == COMMAND_SNAPSHOT && service->report.snapshot == 0)
            continue;
        packer_get_report(service->packer, i, &service->packed);
        put_capture(json, runner_settings(runner), &service->report, &service->packed);
    }
    json_put_array_end(json);
}

/* command is NULL if the request was invalid. */
static int make_answer(struct service *service, const struct control_command *command,
                       const struct bt_error *error, struct service_answer *answer)
{
    struct json_put *json = json_put_new_memory();
    if (!json)
        return BT_MEMORY;
    json_put_object(json);
    json_bool(json, "ok", error->code == 0);
    if (error->code)
        json_text(json, "error", error->message);
    if (command)
        put_captures(service, json, command);
    json_put_object_end(json);
    answer->text = json_put_take(json, &answer->size);
    if (answer->text && answer->size < CONTROL_ANSWER_BYTES_MAX)
        return 1;
    free(answer->text);
    *answer = (struct service_answer){NULL, 0};
    return BT_MEMORY;
}

/* --- requests --------------------------------------------------------------------------------- */

/* Executes a request for one capture. 0, or BT_USAGE if it does not fit the capture. */
static int act(struct runner *runner, enum command_code code, struct bt_error *error)
{
    switch (code) {
    case COMMAND_START:
        runner_start(runner);
        return 0;
    case COMMAND_STOP:
        runner_stop(runner);
        return 0;
    case COMMAND_ROTATE:
        return runner_rotate(runner) ? 0
                                     : bt_fail(error, BT_USAGE, "capture %s does not run",
                                               runner_settings(runner)->name);
    case COMMAND_SNAPSHOT:
        return runner_snapshot(runner, error);
    default:
        return 0;
    }
}

/* Executes a request, without waiting for the runners. */
static int execute(struct service *service, const struct control_command *command,
                   struct bt_error *error)
{
    size_t selected = 0;
    size_t done = 0;
    if (service->closing && command->code == COMMAND_START)
        return bt_fail(error, BT_BUSY, "bustapd is being stopped");
    for (size_t i = 0; i < service->count; i++) {
        struct runner *runner = service->runners[i];
        if (!is_selected(runner, command))
            continue;
        selected++;
        int result = act(runner, command->code, error);
        if (result < 0 && command->capture[0])
            return result;
        done += result == 0;
    }
    error->code = 0; /* "all" is about the captures that it fits */
    if (selected == 0 && command->capture[0])
        return bt_fail(error, BT_USAGE, "the configuration has no capture %s", command->capture);
    if (done == 0 && command->code == COMMAND_SNAPSHOT)
        return bt_fail(
            error, BT_USAGE,
            "no capture that runs keeps records for a snapshot: set ring in its section");
    return 0;
}

/* Whether a command is in progress: a stop and a snapshot until the files are complete, a start
 * until the board answered. */
static bool is_under_way(struct service *service, const struct control_command *command)
{
    for (size_t i = 0; i < service->count; i++) {
        if (!is_selected(service->runners[i], command))
            continue;
        enum runner_state state = runner_state(service->runners[i]);
        if (state == RUNNER_STOPPING &&
            (command->code == COMMAND_STOP || command->code == COMMAND_START))
            return true;
        if (state == RUNNER_STARTING && command->code == COMMAND_START)
            return true;
        if (command->code == COMMAND_SNAPSHOT && runner_snapshot_pending(service->runners[i]))
            return true;
    }
    return false;
}

/* Reports what a command wanted and a capture did not do: it has not started, or its snapshot is
 * not complete. */
static void look_for_failure(const struct config_capture *capture,
                             const struct runner_report *report,
                             const struct control_command *command, struct bt_error *error)
{
    bool snapshot = command->code == COMMAND_SNAPSHOT;
    if (command->code == COMMAND_START && report->error.code && report->state != RUNNER_RUNNING)
        bt_fail(error, report->error.code, "capture %s: %s", capture->name, report->error.message);
    else if (snapshot && report->snapshot > report->status.snapshots)
        bt_fail(error, BT_TIMEOUT,
                "the snapshot of capture %s is part of a window that is still open; its file "
                "follows",
                capture->name);
    else if (snapshot && report->snapshot == 0 && command->capture[0])
        bt_fail(error, BT_BUSY, "capture %s has ended meanwhile", command->capture);
}

/* The first failure of the command. */
static void look_for_failures(struct service *service, const struct control_command *command,
                              struct bt_error *error)
{
    for (size_t i = 0; i < service->count && error->code == 0; i++) {
        struct runner *runner = service->runners[i];
        if (!is_selected(runner, command))
            continue;
        runner_report(runner, &service->report);
        look_for_failure(runner_settings(runner), &service->report, command, error);
    }
}

int service_answer(struct service *service, const char *line, size_t size, bool *begun,
                   struct service_answer *answer)
{
    struct control_command command;
    struct bt_error error = {0};
    if (control_command_parse(&command, line, size, &error) < 0)
        return make_answer(service, NULL, &error, answer);
    if (!*begun && execute(service, &command, &error) < 0)
        return make_answer(service, NULL, &error, answer);
    *begun = true;
    if (is_under_way(service, &command))
        return 0;
    look_for_failures(service, &command, &error);
    return make_answer(service, &command, &error, answer);
}
