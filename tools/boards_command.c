#include "tools/common/commands.h"

#include "driver/boards.h"
#include "driver/session.h"
#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/common/progress.h"

#include <inttypes.h>
#include <stdlib.h>

#define SELF_TEST_FRAMES 20000u
#define MEBIBYTE         1048576.0

struct boards_settings {
    bool json;
    const char *self_test;
};

static const struct option_row boards_options[] = {
    OPTION_JSON_ROW(struct boards_settings, json),
    {OPTION_TEXT, 0, "self-test", "SPEC ftdi virtual:smp= virtual:replay=FILE program:FILE",
     "measure the link of this board with a test pattern",
     offsetof(struct boards_settings, self_test), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Virtual boards, which can be used wherever a board is named. */
static const struct board_listing virtual_boards[] = {
    {"virtual:smp=N", "N processors that run a workload; also seed=S, requests=N, rate=max|real|N, "
                      "clock=HZ, queue=FRAMES, link=BYTES"},
    {"virtual:replay=FILE", "a trace put back on the bus; also loop, requests=N, rate=max|real|N, "
                            "clock=HZ, queue=FRAMES, link=BYTES"},
    {"program:COMMAND", "a program that speaks the wire protocol on standard input and output"}};

#define VIRTUAL_BOARDS (sizeof virtual_boards / sizeof virtual_boards[0])

static void json_listings(struct json_put *json, const char *key,
                          const struct board_listing *listings, size_t count)
{
    json_array(json, key);
    for (size_t i = 0; i < count; i++) {
        json_put_object(json);
        json_text(json, "specification", listings[i].specification);
        json_text(json, "description", listings[i].description);
        json_put_object_end(json);
    }
    json_put_array_end(json);
}

static void print_listings(const struct board_listing *listings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%-24s %s\n", PRINTABLE(listings[i].specification),
               PRINTABLE(listings[i].description));
}

static int list_json(const struct board_listing *listings, size_t count)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return command_no_memory();
    json_listings(json, "boards", listings, count);
    json_listings(json, "virtual", virtual_boards, VIRTUAL_BOARDS);
    json_report_end(json);
    return 0;
}

static int list_boards(bool as_json)
{
    struct board_listing *listings = NULL;
    struct bt_error error;
    size_t count = 0;
    int status = 0;
    /* virtual boards do not need USB */
    if (boards_list(&listings, &count, &error) < 0)
        status = command_failure(&error);
    if (as_json) {
        int printed = list_json(listings, count);
        status = printed ? printed : status;
    } else {
        print_listings(listings, count);
        if (count == 0)
            puts("No board is plugged in.");
        puts("\nVirtual boards:");
        print_listings(virtual_boards, VIRTUAL_BOARDS);
    }
    free(listings);
    return status;
}

static int print_test(const struct wire_identity *identity,
                      const struct session_test_result *result, bool as_json)
{
    double seconds = result->seconds > 0 ? result->seconds : 1e-9;
    double rate = (double)result->bytes / seconds;
    bool good = result->bad_bytes == 0 && result->missing_frames == 0;
    if (!as_json) {
        printf("%s serial %s: %" PRIu64 " frames, %" PRIu64 " bytes in %.3f s: %.1f MiB/s, %" PRIu64
               " wrong bytes, %" PRIu64 " frames missing\n",
               PRINTABLE(identity->name), PRINTABLE(identity->serial), result->frames,
               result->bytes, seconds, rate / MEBIBYTE, result->bad_bytes, result->missing_frames);
        return good ? 0 : STATUS_DATA;
    }
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return command_no_memory();
    json_text(json, "name", identity->name);
    json_text(json, "serial", identity->serial);
    json_count(json, "frames", result->frames);
    json_count(json, "bytes", result->bytes);
    json_count(json, "bad_bytes", result->bad_bytes);
    json_count(json, "missing_frames", result->missing_frames);
    json_count(json, "bytes_per_s", (uint64_t)rate);
    json_bool(json, "good", good);
    json_report_end(json);
    return good ? 0 : STATUS_DATA;
}

static void show(void *argument, uint64_t done, uint64_t total)
{
    progress_show(argument, "self-test", done, total);
}

static int self_test(const char *specification, bool as_json)
{
    struct stream *stream;
    struct bt_error error;
    struct session_test_result result;
    if (boards_open(&stream, specification, &error) < 0)
        return command_failure(&error);
    struct session *session = session_new(stream, &error);
    if (!session)
        return command_failure(&error);
    struct progress progress;
    progress_begin(&progress, true);
    session_watch_test(session, show, &progress);
    int code = session_self_test(session, SELF_TEST_FRAMES, &result, &error);
    progress_clear(&progress);
    int status = code < 0 ? command_failure(&error)
                          : print_test(session_identity(session), &result, as_json);
    session_free(session);
    return status;
}

static int boards_main(struct invocation *call)
{
    struct boards_settings settings = {false, NULL};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count > 0)
        return command_usage(call, "unexpected '%.60s'", call->arguments[0]);
    return settings.self_test ? self_test(settings.self_test, settings.json)
                              : list_boards(settings.json);
}

const struct command boards_command = {
    .name = "boards",
    .operands = "",
    .summary = "list connected boards and the kinds of virtual boards",
    .details = "Lists boards as --board takes them: FTDI chips that may be a board, with "
               "FTDI's ids or others. 'bustap doctor' reports problems with them.",
    .options = boards_options,
    .run = boards_main,
    .group = NULL};
