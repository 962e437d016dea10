#include "tools/common/commands.h"

#include "capture/control_protocol.h"
#include "formats/base/printable.h"
#include "formats/base/suggestion.h"
#include "formats/text/json_pull.h"
#include "tools/common/control_client.h"
#include "tools/common/json_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct ctl_settings {
    const char *socket;
    bool json;
};

static const struct option_row ctl_options[] = {
    {OPTION_TEXT, 0, "socket", "PATH", "bustapd's socket (default: " CONTROL_SOCKET_DEFAULT ")",
     offsetof(struct ctl_settings, socket), NULL},
    {OPTION_FLAG, 0, "json", NULL, "print the answer unchanged: one JSON object",
     offsetof(struct ctl_settings, json), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static const char *const ctl_commands[] = {"status", "start", "stop", "rotate", "snapshot", NULL};

static bool is_command(const char *word)
{
    for (const char *const *c = ctl_commands; *c; c++)
        if (strcmp(*c, word) == 0)
            return true;
    return false;
}

/* --- reading an answer ----------------------------------------------------------------------- */

#define PATH_BYTES 256u
#define TEXT_BYTES 4400u /* more than the longest path or error */

/* An answer's fields of a capture; zero if missing. */
struct answer_row {
    char name[TEXT_BYTES], state[TEXT_BYTES], output[TEXT_BYTES];
    char error[TEXT_BYTES];    /* why it waits or ended early */
    char absent[TEXT_BYTES];   /* why its board is missing */
    char snapshot[TEXT_BYTES]; /* the file of the last one */
    uint64_t records, lost, files;
    uint64_t matches, windows, outside;                /* of its trigger */
    char packer[TEXT_BYTES], packer_error[TEXT_BYTES]; /* state; the last failure */
    uint64_t packed, saved;                            /* files, bytes */
    double rate;
};

struct answer {
    FILE *table; /* receives a row for each capture */
    bool files;  /* of snapshots instead */
    bool good;
    char error[TEXT_BYTES];
    uint64_t lines_dropped;
    struct answer_row row; /* the capture being read */
};

enum field_kind { FIELD_TEXT, FIELD_COUNT, FIELD_REAL };

static const struct {
    const char *path;
    enum field_kind kind;
    size_t offset;
} fields[] = {
    {"error", FIELD_TEXT, offsetof(struct answer, error)},
    {"log_lines_dropped", FIELD_COUNT, offsetof(struct answer, lines_dropped)},
    {"captures[].name", FIELD_TEXT, offsetof(struct answer, row.name)},
    {"captures[].state", FIELD_TEXT, offsetof(struct answer, row.state)},
    {"captures[].output", FIELD_TEXT, offsetof(struct answer, row.output)},
    {"captures[].error", FIELD_TEXT, offsetof(struct answer, row.error)},
    {"captures[].status.absent", FIELD_TEXT, offsetof(struct answer, row.absent)},
    {"captures[].status.records", FIELD_COUNT, offsetof(struct answer, row.records)},
    {"captures[].status.lost.total", FIELD_COUNT, offsetof(struct answer, row.lost)},
    {"captures[].status.files", FIELD_COUNT, offsetof(struct answer, row.files)},
    {"captures[].status.trigger.matches", FIELD_COUNT, offsetof(struct answer, row.matches)},
    {"captures[].status.trigger.windows", FIELD_COUNT, offsetof(struct answer, row.windows)},
    {"captures[].status.trigger.outside", FIELD_COUNT, offsetof(struct answer, row.outside)},
    {"captures[].status.trigger.snapshot_file", FIELD_TEXT, offsetof(struct answer, row.snapshot)},
    {"captures[].packed.state", FIELD_TEXT, offsetof(struct answer, row.packer)},
    {"captures[].packed.error", FIELD_TEXT, offsetof(struct answer, row.packer_error)},
    {"captures[].packed.files", FIELD_COUNT, offsetof(struct answer, row.packed)},
    {"captures[].packed.saved_bytes", FIELD_COUNT, offsetof(struct answer, row.saved)},
    {"captures[].status.records_per_s", FIELD_REAL, offsetof(struct answer, row.rate)},
};

static void print_row(const struct answer_row *row, FILE *out)
{
    const char *why = *row->error ? row->error : row->absent;
    fprintf(out, "%-16s %-9s %14" PRIu64 " %10" PRIu64 " %7.2f %6" PRIu64 "  %s%s%s\n",
            PRINTABLE(row->name), PRINTABLE(row->state), row->records, row->lost, row->rate / 1e6,
            row->files, PRINTABLE(row->output), *why ? ": " : "", PRINTABLE(why));
    if (row->matches || row->windows || row->outside)
        fprintf(out,
                "  trigger: %" PRIu64 " matches, %" PRIu64 " windows, %" PRIu64
                " records outside\n",
                row->matches, row->windows, row->outside);
    if (*row->packer)
        fprintf(out, "  packer: %s, %" PRIu64 " files packed, %" PRIu64 " bytes saved%s%s\n",
                PRINTABLE(row->packer), row->packed, row->saved, *row->packer_error ? ": " : "",
                PRINTABLE(row->packer_error));
}

/* The path of the member being read, without the number of the capture. */
static const char *path_at(const struct json_pull *pull, char path[PATH_BYTES])
{
    json_pull_path(pull, path, PATH_BYTES);
    char *number = strchr(path, '[');
    const char *end = strchr(path, ']');
    if (number && end)
        memmove(number + 1, end, strlen(end) + 1);
    return path;
}

/* Reads a text or number of an answer. */
static int read_field(struct json_pull *pull, const char *path, struct answer *answer)
{
    struct json_pull_text text;
    int kind = json_pull_kind(pull);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        void *field = (char *)answer + fields[i].offset;
        if (kind != (fields[i].kind == FIELD_TEXT ? JSON_PULL_STRING : JSON_PULL_NUMBER) ||
            strcmp(path, fields[i].path) != 0)
            continue;
        if (fields[i].kind == FIELD_COUNT)
            return json_pull_integer(pull, field);
        if (fields[i].kind == FIELD_REAL)
            return json_pull_number(pull, field);
        int result = json_pull_string(pull, &text);
        if (result == 0)
            snprintf(field, TEXT_BYTES, "%.*s", (int)text.size, text.text);
        return result;
    }
    if (kind == JSON_PULL_TRUE && strcmp(path, "ok") == 0)
        answer->good = true;
    return json_pull_skip(pull);
}

/* Skips the next value, nested as deep as json_pull allows. */
static int read_value(struct json_pull *pull, struct answer *answer)
{
    struct json_pull_text key;
    char path[PATH_BYTES];
    int kind = json_pull_kind(pull);
    path_at(pull, path);
    if (kind != JSON_PULL_ARRAY && kind != JSON_PULL_OBJECT)
        return kind < 0 ? kind : read_field(pull, path, answer);
    bool object = kind == JSON_PULL_OBJECT;
    bool capture = object && strcmp(path, "captures[]") == 0;
    if (capture)
        memset(&answer->row, 0, sizeof answer->row);
    else if (!object && !answer->files && strcmp(path, "captures") == 0)
        fprintf(answer->table, "%-16s %-9s %14s %10s %7s %6s  %s\n", "NAME", "STATE", "RECORDS",
                "LOST", "M/s", "FILES", "OUTPUT");
    int result = object ? json_pull_object(pull) : json_pull_array(pull);
    while (result >= 0 &&
           (result = object ? json_pull_key(pull, &key) : json_pull_element(pull)) > 0)
        result = read_value(pull, answer);
    if (capture && result == 0 && answer->files && answer->row.snapshot[0])
        fprintf(answer->table, "%s\n", PRINTABLE(answer->row.snapshot));
    else if (capture && result == 0 && !answer->files)
        print_row(&answer->row, answer->table);
    return result;
}

static int read_answer(const char *text, struct answer *answer, struct bt_error *error)
{
    struct text_reader *reader =
        text_reader_from_memory(text, strlen(text), "bustapd's answer", error);
    struct json_pull *pull = reader ? json_pull_new(reader, NULL, error) : NULL;
    int result = pull ? read_value(pull, answer) : BT_MEMORY;
    if (result == 0)
        result = json_pull_end(pull);
    json_pull_free(pull);
    text_reader_close(reader);
    return result;
}

/* Prints an answer; files: the names of snapshots. Returns the exit status. */
static int print_answer(char *text, bool as_json, bool files)
{
    struct answer answer = {.files = files};
    struct bt_error error;
    char *table = NULL;
    size_t size;
    answer.table = open_memstream(&table, &size);
    if (!answer.table)
        return command_no_memory();
    int result = read_answer(text, &answer, &error);
    fclose(answer.table);
    if (result < 0)
        fprintf(stderr, "bustap: bustapd's answer cannot be understood: %s\n",
                PRINTABLE(error.message));
    else if (as_json)
        puts(printable_make(text));
    else
        fputs(table, stdout);
    free(table);
    if (result < 0)
        return STATUS_IO;
    if (!as_json && !files && answer.lines_dropped > 0)
        printf("%" PRIu64 " lines of the log were dropped: its reader stalled\n",
               answer.lines_dropped);
    if (!answer.good)
        fprintf(stderr, "bustap: %s\n",
                *answer.error ? PRINTABLE(answer.error) : "bustapd refused");
    return answer.good ? 0 : STATUS_IO;
}

/* --- asking ---------------------------------------------------------------------------------- */

/* One line: {"command":"status","capture":"NAME"}. NULL: no memory; else free it. */
static char *make_request(const char *command, const char *name)
{
    struct json_put *json = json_put_new_memory();
    if (!json)
        return NULL;
    json_put_object(json);
    json_text(json, "command", command);
    if (name)
        json_text(json, "capture", name);
    json_put_object_end(json);
    json_put_line(json);
    return json_put_take(json, NULL);
}

static int unknown_word(const struct invocation *call)
{
    struct bt_error error;
    const char *word = call->arguments[0];
    bt_fail(&error, BT_USAGE, "'%.40s' is none of status, start, stop, rotate, snapshot", word);
    suggestion_add(&error, suggestion_among(word, ctl_commands));
    return command_usage(call, "%s", error.message);
}

static int ctl_main(struct invocation *call)
{
    struct ctl_settings settings = {CONTROL_SOCKET_DEFAULT, false};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count == 0)
        return command_usage(call, "status, start, stop, rotate or snapshot is missing");
    if (!is_command(call->arguments[0]))
        return unknown_word(call);
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
        status = print_answer(answer, settings.json, strcmp(call->arguments[0], "snapshot") == 0);
    free(answer);
    free(request);
    return status;
}

const struct command ctl_command = {
    .name = "ctl",
    .operands = "status|start|stop|rotate|snapshot [NAME]",
    .summary = "control bustapd, the daemon",
    .details = "Prints the status of bustapd's captures, or starts, stops or rotates one or "
               "all of them; snapshot saves the records that a capture's ring holds, and prints "
               "the file's name.",
    .options = ctl_options,
    .run = ctl_main,
    .group = NULL};
