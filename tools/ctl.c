#include "tools/commands.h"

#include "capture/control_protocol.h"
#include "formats/base/printable.h"
#include "formats/json_pull.h"
#include "tools/control_client.h"
#include "tools/json.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

struct ctl_settings {
    const char *socket;
    bool json;
};

static const struct option_row ctl_options[] = {
    {OPTION_TEXT, 0, "socket", "PATH", "bustapd's socket; " CONTROL_SOCKET_DEFAULT " unless given",
     offsetof(struct ctl_settings, socket), NULL},
    {OPTION_FLAG, 0, "json", NULL, "print the answer as it comes: one JSON object",
     offsetof(struct ctl_settings, json), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static const char *const ctl_commands[] = {"status", "start", "stop", "rotate", NULL};

static bool is_command(const char *word)
{
    for (const char *const *c = ctl_commands; *c; c++)
        if (strcmp(*c, word) == 0)
            return true;
    return false;
}

/* --- what an answer holds -------------------------------------------------------------------- */

static const char *text_at(yajl_val value, const char *key)
{
    const char *path[] = {key, NULL};
    const char *text = YAJL_GET_STRING(yajl_tree_get(value, path, yajl_t_string));
    return text ? text : "";
}

/* A number as it was written, "0" where there is none. */
static const char *number_at(yajl_val value, const char *first, const char *second,
                             const char *third)
{
    const char *path[] = {first, second, third, NULL};
    yajl_val found = yajl_tree_get(value, path, yajl_t_number);
    return found ? YAJL_GET_NUMBER(found) : "0";
}

/* Why a capture waits, ended early, or cannot hear its board just now; empty where all is well. */
static const char *why(yajl_val capture)
{
    const char *path[] = {"status", "absent", NULL};
    const char *error = text_at(capture, "error");
    const char *absent = YAJL_GET_STRING(yajl_tree_get(capture, path, yajl_t_string));
    return !*error && absent ? absent : error;
}

static void print_capture(yajl_val capture)
{
    const char *error = why(capture);
    double rate = strtod(number_at(capture, "status", "records_per_s", NULL), NULL);
    printf("%-16s %-9s %14s %10s %7.2f %6s  %s%s%s\n", PRINTABLE(text_at(capture, "name")),
           PRINTABLE(text_at(capture, "state")), number_at(capture, "status", "records", NULL),
           number_at(capture, "status", "lost", "total"), rate / 1e6,
           number_at(capture, "status", "files", NULL), PRINTABLE(text_at(capture, "output")),
           *error ? ": " : "", PRINTABLE(error));
}

static void print_captures(yajl_val answer)
{
    const char *path[] = {"captures", NULL};
    yajl_val captures = yajl_tree_get(answer, path, yajl_t_array);
    if (!captures)
        return;
    printf("%-16s %-9s %14s %10s %7s %6s  %s\n", "NAME", "STATE", "RECORDS", "LOST", "M/s", "FILES",
           "OUTPUT");
    for (size_t i = 0; i < captures->u.array.len; i++)
        print_capture(captures->u.array.values[i]);
    const char *dropped = number_at(answer, "log_lines_dropped", NULL, NULL);
    if (strcmp(dropped, "0") != 0)
        printf("%s lines of the log were dropped: nobody read it\n", dropped);
}

/* Whether an answer is JSON in which no object has a key twice. */
static bool is_answer(const char *text, struct bt_error *error)
{
    struct text_reader *reader =
        text_reader_from_memory(text, strlen(text), "bustapd's answer", error);
    struct json_pull *pull = reader ? json_pull_new(reader, NULL, error) : NULL;
    bool good = pull && json_pull_skip(pull) == 0 && json_pull_end(pull) == 0;
    json_pull_free(pull);
    text_reader_close(reader);
    return good;
}

/* Prints an answer. Returns the exit status. */
static int print_answer(char *text, bool as_json)
{
    struct bt_error error;
    const char *path[] = {"ok", NULL};
    if (!is_answer(text, &error)) {
        fprintf(stderr, "bustap: bustapd's answer cannot be understood: %s\n",
                PRINTABLE(error.message));
        return STATUS_IO;
    }
    yajl_val answer = yajl_tree_parse(text, NULL, 0);
    if (!answer) {
        fputs("bustap: no memory for bustapd's answer\n", stderr);
        return STATUS_IO;
    }
    bool good = YAJL_IS_TRUE(yajl_tree_get(answer, path, yajl_t_true));
    if (as_json)
        puts(printable_make(text));
    else
        print_captures(answer);
    const char *refusal = text_at(answer, "error");
    if (!good)
        fprintf(stderr, "bustap: %s\n", *refusal ? PRINTABLE(refusal) : "bustapd refused");
    yajl_tree_free(answer);
    return good ? 0 : STATUS_IO;
}

/* --- asking ---------------------------------------------------------------------------------- */

/* One line: {"command":"status","capture":"NAME"}. NULL: no memory; else free it. */
static char *make_request(const char *command, const char *name)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    const unsigned char *text;
    size_t size;
    char *line = NULL;
    if (!json)
        return NULL;
    yajl_gen_map_open(json);
    json_text(json, "command", command);
    if (name)
        json_text(json, "capture", name);
    yajl_gen_map_close(json);
    if (yajl_gen_get_buf(json, &text, &size) == yajl_gen_status_ok)
        line = malloc(size + 2);
    if (line) {
        memcpy(line, text, size);
        memcpy(line + size, "\n", 2);
    }
    yajl_gen_free(json);
    return line;
}

static int ctl_main(struct invocation *call)
{
    struct ctl_settings settings = {CONTROL_SOCKET_DEFAULT, false};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count == 0)
        return command_usage(call, "status, start, stop or rotate is missing");
    if (!is_command(call->arguments[0]))
        return command_usage(call, "'%.40s' is none of status, start, stop, rotate",
                             call->arguments[0]);
    if (call->count > 2)
        return command_usage(call, "unexpected '%.60s'", call->arguments[2]);
    if (call->count == 2 && !*call->arguments[1])
        return command_usage(call, "the capture's name is empty; 'all' means every one");
    char *answer = NULL;
    char *request = make_request(call->arguments[0], call->count > 1 ? call->arguments[1] : NULL);
    if (!request)
        return command_no_memory();
    if (control_client_ask(settings.socket, request, &answer, &error) < 0)
        status = command_failure(&error);
    else
        status = print_answer(answer, settings.json);
    free(answer);
    free(request);
    return status;
}

const struct command ctl_command = {.name = "ctl",
                                    .operands = "status|start|stop|rotate [NAME]",
                                    .summary = "speak to bustapd, the daemon",
                                    .details = "Asks bustapd for the status of its captures, or "
                                               "starts, stops or rotates one of them or all.",
                                    .options = ctl_options,
                                    .run = ctl_main,
                                    .group = NULL};
