#include "tools/common/commands.h"

#include "driver/boards.h"
#include "tools/common/json_report.h"
#include "tools/doctor/capture_tally.h"
#include "tools/doctor/checks.h"
#include "tools/input/record_input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEGABYTES_USUAL 32u
#define MEGABYTES_MAX   1000000u

struct doctor_settings {
    bool json;
    bool no_self_test;
    uint32_t megabytes;
    struct record_input_settings input;
};

static const struct option_row doctor_options[] = {
    {OPTION_NUMBER, 0, "self-test-size", "MB", "size of the test pattern in MB (default: 32)",
     offsetof(struct doctor_settings, megabytes), NULL},
    {OPTION_FLAG, 0, "no-self-test", NULL, "identify the board but do not measure its link",
     offsetof(struct doctor_settings, no_self_test), NULL},
    RECORD_INPUT_OPTIONS(struct doctor_settings, input),
    MODULE_OPTIONS(struct doctor_settings, input.modules),
    OPTION_JSON_ROW(struct doctor_settings, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Opens a board and checks its link. */
static void try_link(struct findings *findings, const char *specification,
                     const struct doctor_settings *settings)
{
    struct stream *stream;
    struct bt_error error = {0};
    if (boards_open(&stream, specification, &error) < 0)
        findings_add(findings, FINDING_PROBLEM, "open", "", "%s", error.message);
    else
        check_link(findings, stream, settings->no_self_test ? 0 : settings->megabytes);
}

/* Checks the boards on USB. options: the parsed specification `named`; both NULL: all boards. */
static void examine_usb(struct findings *findings, const struct ftdi_options *options,
                        const char *named, const struct doctor_settings *settings)
{
    struct ftdi_diagnoses found;
    struct bt_error error = {0};
    char channel = options ? options->channel : 'A';
    if (ftdi_diagnosis_list(&found, options, "", &error) < 0) {
        findings_subject(findings, "machine", "");
        findings_add(findings, FINDING_PROBLEM, "usb",
                     "check that the kernel has a USB driver and that /dev/bus/usb exists", "%s",
                     error.message);
        return;
    }
    check_machine(findings, &found, "");
    for (size_t i = 0; i < found.count; i++) {
        /* the user's specification of a single board may contain more, such as the channel */
        const char *specification =
            named && found.count == 1 ? named : found.boards[i].specification;
        if (check_board(findings, &found, i, channel, ""))
            try_link(findings, specification, settings);
    }
    ftdi_diagnoses_free(&found);
}

static int print_json(const struct findings *findings)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return command_no_memory();
    json_count(json, "problems", findings->problems);
    json_count(json, "warnings", findings->warnings);
    json_array(json, "findings");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->all[i];
        json_put_object(json);
        json_text(json, "subject", finding->subject);
        json_text(json, "check", finding->check);
        json_text(json, "level", findings_level_name(finding->level));
        json_text(json, "finding", finding->text);
        json_text(json, "advice", finding->advice);
        json_put_object_end(json);
    }
    json_put_array_end(json);
    json_report_end(json);
    return findings->incomplete ? command_no_memory() : STATUS_GOOD;
}

static void print_summary(const struct findings *findings)
{
    if (findings->problems == 0 && findings->warnings == 0)
        puts("All is well.");
    else
        printf("%zu problem%s, %zu warning%s.\n", findings->problems,
               findings->problems == 1 ? "" : "s", findings->warnings,
               findings->warnings == 1 ? "" : "s");
}

/* Prints what is not printed yet and frees the findings. Returns the exit status. */
static int report(struct findings *findings, const struct doctor_settings *settings)
{
    int status = STATUS_GOOD;
    if (settings->json)
        status = print_json(findings);
    else
        print_summary(findings);
    if (status == STATUS_GOOD && findings->problems > 0)
        status = STATUS_DATA;
    findings_free(findings);
    return status;
}

/* Checks a board whose specification is valid, or all connected boards if board is NULL. */
static int examine(const char *board, const struct doctor_settings *settings)
{
    struct findings findings = {.out = settings->json ? NULL : stdout};
    struct ftdi_options options;
    if (board && strncmp(board, "ftdi", 4) == 0) {
        (void)ftdi_options_parse(&options, board[4] ? board + 5 : "", NULL);
        examine_usb(&findings, &options, board, settings);
    } else if (board) {
        findings_subject(&findings, board, "");
        try_link(&findings, board, settings);
    } else {
        examine_usb(&findings, NULL, NULL, settings);
    }
    return report(&findings, settings);
}

/* --- captures --- */

static int read_captures(struct capture_tally *tally, int count, char **paths,
                         const struct record_input_settings *settings, struct bt_error *error)
{
    struct record_input *input;
    const struct batch *batch;
    int more = 0;
    int result = record_input_open(&input, count, paths, settings, error);
    if (result < 0)
        return result;
    while (result == 0 && (more = record_input_next(input, &batch, error)) > 0)
        result = capture_tally_put(tally, batch, error);
    record_input_close(input);
    result = result == 0 ? more : result;
    return result == 0 ? capture_tally_end(tally, error) : result;
}

/* Checks the captures, as one, for errors of the probe. */
static int examine_captures(int count, char **paths, struct doctor_settings *settings)
{
    struct findings findings = {.out = settings->json ? NULL : stdout};
    struct input_report input;
    struct bt_error error;
    struct capture_tally *tally = calloc(1, sizeof *tally);
    if (!tally)
        return command_no_memory();
    input_report_begin(&input, true);
    settings->input.report = &input;
    int result = read_captures(tally, count, paths, &settings->input, &error);
    if (result != 0)
        input_report_error(&input, &error);
    input_report_end(&input);
    int status = input.status;
    if (result == 0) {
        char description[40] = "";
        if (count > 1)
            snprintf(description, sizeof description, "and %d more", count - 1);
        findings_subject(&findings, record_input_name(paths[0]), description);
        check_capture(&findings, tally);
        int found = report(&findings, settings);
        status = found > status ? found : status;
    }
    capture_tally_clear(tally);
    free(tally);
    return status;
}

/* Whether the operand is a capture: a file, and no board's specification. */
static bool is_capture(const char *operand)
{
    return boards_check(operand, NULL) < 0 &&
           (strcmp(operand, "-") == 0 || access(operand, F_OK) == 0);
}

static int doctor_main(struct invocation *call)
{
    struct doctor_settings settings = {.megabytes = MEGABYTES_USUAL,
                                       .input = {.count = UINT64_MAX}};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (input_trace_check(&settings.input.trace, &error) < 0)
        return command_usage(call, "%s", error.message);
    if (call->count > 0 && is_capture(call->arguments[0]))
        return examine_captures(call->count, call->arguments, &settings);
    if (call->count > 1)
        return command_usage(call, "unexpected '%.60s'", call->arguments[1]);
    if (settings.megabytes == 0 || settings.megabytes > MEGABYTES_MAX)
        return command_usage(call, "--self-test-size takes 1 to %u", MEGABYTES_MAX);
    const char *board = call->count == 1 ? call->arguments[0] : NULL;
    if (board && boards_check(board, &error) < 0)
        return command_usage(call, "%s; nor is there a file of this name", error.message);
    return examine(board, &settings);
}

const struct command doctor_command = {
    .name = "doctor",
    .operands = "[BOARD | CAPTURE...]",
    .summary = "diagnose boards, links and probes",
    .details = "Examines one board, named as --board takes it, or all connected boards: USB, "
               "udev rules, permission, drivers, port, EEPROM, protocol. Measures the link "
               "with a test pattern. A board in use is left alone. With captures, examines their "
               "records for errors of the probe: lines that never toggle, bits that flip, "
               "impossible types, sizes and processors.",
    .options = doctor_options,
    .run = doctor_main,
    .group = NULL,
    .reads_captures = true};
