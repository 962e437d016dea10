#include "tools/common/commands.h"

#include "formats/base/power.h"
#include "formats/base/quantity.h"
#include "tools/common/words.h"
#include "tools/input/record_input.h"
#include "tools/plot/plot_study.h"
#include "tools/plot/sharing.h"
#include "tools/plot/time_bins.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_DEFAULT    64u
#define MEMORY_DEFAULT  (UINT64_C(2) << 30)
#define TITLE_BYTES     256u
#define LINE_WORD_BYTES 32u /* a size in a list */

struct plot_settings {
    const char *of, *output;
    struct figure_options figure;
    bool csv, json;
    uint32_t bins;
    struct plot_study_settings study;
    struct record_input_settings input;
};

static int take_address(struct plot_settings *plot, uint32_t *address, const char *argument,
                        struct bt_error *error)
{
    uint64_t number;
    if (quantity_count(&number, argument, NULL) < 0 || number > UINT32_MAX)
        return bt_fail(error, BT_USAGE, "'%.40s' is not an address, a number up to 0xffffffff",
                       argument);
    *address = (uint32_t)number;
    plot->study.whole = true;
    return 0;
}

static int take_from(void *settings, const char *argument, struct bt_error *error)
{
    struct plot_settings *plot = settings;
    return take_address(plot, &plot->study.from, argument, error);
}

static int take_to(void *settings, const char *argument, struct bt_error *error)
{
    struct plot_settings *plot = settings;
    return take_address(plot, &plot->study.to, argument, error);
}

static int take_line(void *settings, const char *argument, struct bt_error *error)
{
    struct plot_study_settings *study = &((struct plot_settings *)settings)->study;
    uint64_t size;
    if (quantity_bytes(&size, argument, error) < 0)
        return BT_USAGE;
    if (size < SHARING_LINE_MIN || size > SHARING_LINE_MAX || !power_is(size))
        return bt_fail(error, BT_USAGE, "a line has a power of two of bytes, %u to %u",
                       SHARING_LINE_MIN, SHARING_LINE_MAX);
    if (study->line_count == PLOT_LINES_MAX)
        return bt_fail(error, BT_USAGE, "at most %u sizes of lines fit a picture", PLOT_LINES_MAX);
    study->lines[study->line_count++] = (uint32_t)size;
    return 0;
}

/* A list with commas. */
static int take_lines(void *settings, const char *argument, struct bt_error *error)
{
    const char *rest = argument;
    int result;
    do {
        char word[LINE_WORD_BYTES];
        rest = words_next(rest, word, sizeof word);
        if (!rest)
            return bt_fail(error, BT_USAGE, "'%.40s' is not a list of sizes", argument);
        result = take_line(settings, word, error);
    } while (result == 0 && *rest);
    return result;
}

static const struct option_row plot_options[] = {
    {OPTION_TEXT, 0, "of", "WHAT addresses mix sharing",
     "addresses (over time, the default), mix (of requests) or sharing",
     offsetof(struct plot_settings, of), NULL},
    {OPTION_TEXT, 'o', "output", "OUT",
     "picture to write, .svg, .png or .pdf; - is standard output",
     offsetof(struct plot_settings, output), NULL},
    {OPTION_FLAG, 0, "csv", NULL, "print the data of the picture as comma separated values",
     offsetof(struct plot_settings, csv), NULL},
    {OPTION_FLAG, 0, "json", NULL, "print the data of the picture as one JSON object",
     offsetof(struct plot_settings, json), NULL},
    {OPTION_CALL, 0, "from-address", "N", "addresses: lowest address on the axis", 0, take_from},
    {OPTION_CALL, 0, "to-address", "N", "addresses: highest address on the axis", 0, take_to},
    {OPTION_CALL, 'l', "line", "LIST",
     "sharing: line sizes in bytes: 64 (the default), or several: 64,4K", 0, take_lines},
    {OPTION_NUMBER, 0, "bins", "N", "divide the time into at most N bins (default: 500; mix 200)",
     offsetof(struct plot_settings, bins), NULL},
    FIGURE_OPTIONS(struct plot_settings, figure),
    {OPTION_BYTES, 0, "max-memory", "SIZE", "sharing: memory limit of the lines (default: 2G)",
     offsetof(struct plot_settings, study.memory), NULL},
    RECORD_INPUT_OPTIONS(struct plot_settings, input),
    MODULE_OPTIONS(struct plot_settings, input.modules),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static const struct plot_study *const studies[] = {&plot_study_addresses, &plot_study_mix,
                                                   &plot_study_sharing, NULL};

/* The names of the capture files, without folders. */
static void make_title(char title[TITLE_BYTES], const struct invocation *call)
{
    const char *path = call->count > 0 ? call->arguments[0] : "-";
    const char *slash = strrchr(path, '/');
    if (slash && slash[1])
        path = slash + 1;
    if (strcmp(path, "-") == 0)
        path = "standard input";
    if (call->count > 1)
        snprintf(title, TITLE_BYTES, "%.200s and %d more", path, call->count - 1);
    else
        snprintf(title, TITLE_BYTES, "%.250s", path);
}

/* Passes a tick to the study: the axis of time reaches to it. */
static int extend(const struct plot_study *study, void *state, uint64_t tick,
                  const struct capture_info *info, struct bt_error *error)
{
    const struct batch nothing = {.first_tick = tick, .last_tick = tick};
    return study->put(state, &nothing, info, error);
}

/* Passes a batch of selected records to the study, with the time that it was selected from. */
static int put_selected(const struct plot_study *study, void *state, struct record_input *input,
                        const struct batch *batch, struct bt_error *error)
{
    const struct capture_info *info = record_input_info(input);
    const struct record_input_span span = record_input_span(input);
    struct batch within = *batch;
    if (loss_total(&within.lost) > 0) {
        if (within.lost.first_tick < span.first)
            within.lost.first_tick = span.first;
        if (within.lost.last_tick > span.end)
            within.lost.last_tick = span.end;
    }
    int result = extend(study, state, span.first, info, error);
    if (result == 0)
        result = study->put(state, &within, info, error);
    return result == 0 ? extend(study, state, span.last, info, error) : result;
}

/* Passes all records of the captures to the study. */
static int feed(const struct plot_study *study, void *state, struct record_input *input,
                const struct record_input_settings *settings, struct bt_error *error)
{
    const bool part = settings->filter || settings->time.given;
    const struct batch *batch;
    int result;
    while ((result = record_input_next(input, &batch, error)) == 1) {
        result = part ? put_selected(study, state, input, batch, error)
                      : study->put(state, batch, record_input_info(input), error);
        if (result < 0)
            return result;
    }
    return result;
}

static int run(const struct plot_study *study, const struct plot_settings *settings,
               const struct invocation *call)
{
    struct record_input *input = NULL;
    struct bt_error error = {0};
    void *state = study->begin(&settings->study, &error);
    int result = state ? 0 : error.code;
    struct record_input_settings reading = settings->input;
    reading.gap_note = "the omitted records take no time in the picture";
    if (result == 0)
        result = record_input_open(&input, call->count, call->arguments, &reading, &error);
    if (result == 0)
        result = feed(study, state, input, &reading, &error);
    int status = record_input_close(input);
    if (result == 0)
        result = study->finish(state, &error);
    study->free(state);
    if (result < 0 && result != BT_CLOSED) /* ignored: the reader has closed the pipe */
        return command_failure(&error);
    return status;
}

/* Checks the combination of options. Returns why it is impossible, or NULL. */
static const char *find_mistake(const struct plot_settings *settings)
{
    if (!settings->output && !settings->csv && !settings->json)
        return "-o OUT is missing, or --csv or --json";
    if (settings->csv && settings->json)
        return "--csv and --json exclude each other";
    if (settings->output && strcmp(settings->output, "-") == 0 && (settings->csv || settings->json))
        return "standard output takes one of picture and data";
    if (settings->figure.log != FIGURE_LOG_SUITABLE && strcmp(settings->of, "addresses") == 0)
        return "--log is for curves and bars: addresses and time are linear";
    if (settings->bins != 0 && (settings->bins < TIME_BINS_MIN || settings->bins > TIME_BINS_MAX))
        return "--bins is a number from 2 to 8192";
    if (settings->study.from > settings->study.to)
        return "--from-address is above --to-address";
    return NULL;
}

static int plot_main(struct invocation *call)
{
    struct plot_settings settings = {.of = "addresses",
                                     .study = {.to = UINT32_MAX, .memory = MEMORY_DEFAULT},
                                     .input = {.quiet_output = true, .count = UINT64_MAX}};
    struct figure_output output;
    struct bt_error error;
    char title[TITLE_BYTES];
    int status;
    size_t of = 0;
    if (!command_options(call, &settings, &status))
        return status;
    while (studies[of] && strcmp(studies[of]->name, settings.of) != 0)
        of++;
    if (!studies[of])
        return command_wrong_word(call, "of", settings.of);
    const char *mistake = find_mistake(&settings);
    if (mistake)
        return command_usage(call, "%s", mistake);
    settings.figure.filter = settings.input.filter;
    if (settings.output) {
        if (figure_output_prepare(&output, settings.output, &settings.figure, call->count,
                                  call->arguments, &error) < 0)
            return command_failure(&error);
        settings.study.output = &output;
    }
    make_title(title, call);
    settings.study.title = title;
    settings.study.bins = settings.bins;
    settings.study.input = &settings.input;
    settings.study.width = settings.figure.width ? settings.figure.width : FIGURE_WIDTH;
    settings.study.height = settings.figure.height ? settings.figure.height : FIGURE_HEIGHT;
    settings.study.form = settings.csv ? PLOT_CSV : settings.json ? PLOT_JSON : PLOT_NO_DATA;
    if (settings.study.line_count == 0)
        settings.study.lines[settings.study.line_count++] = LINE_DEFAULT;
    return run(studies[of], &settings, call);
}

const struct command plot_command = {
    .name = "plot",
    .operands = "[FILE...]",
    .summary = "draw traces: addresses over time, mix of requests, sharing",
    .details = "Draws a picture of captures and other traces, or prints its data: the "
               "addresses used over time, requests by type over time, or the lines of memory "
               "that processors share. The files of a capture may be given in any order. "
               "Without FILE, or if it is -, standard input is read. gnuplot draws the "
               "pictures.",
    .options = plot_options,
    .run = plot_main,
    .group = NULL,
    .reads_captures = true};
