#include "tools/common/commands.h"

#include "formats/text/table.h"
#include "tools/common/json_report.h"
#include "tools/dcfg/fetched_code.h"
#include "tools/dcfg/graph/fetch_stream.h"
#include "tools/dcfg/view_command.h"
#include "tools/input/record_input.h"
#include "tools/symbols/image_times.h"

#include <stdlib.h>
#include <string.h>

#define PROCESSORS_TEXT 1024u

struct fetches_request {
    const char *sort;
    uint64_t top;
    bool chunks; /* a row for each chunk */
    bool csv, json;
    enum view_form form;
    struct record_input_settings input;
    struct images *images;
    uint64_t clock_hz; /* 0: unknown */
};

static int take_image(void *settings, const char *argument, struct bt_error *error)
{
    struct fetches_request *request = settings;
    if (!request->images) {
        request->images = images_new(error);
        if (request->images)
            images_allow_times(request->images);
    }
    const int result = request->images ? images_add(request->images, argument, error) : BT_MEMORY;
    return result < 0 ? result
                      : module_settings_take_image(&request->input.modules, argument, error);
}

static const struct option_row fetches_options[] = {
    {OPTION_CALL, 0, "image", "ELF[@LOAD]",
     "a program whose code was fetched, and its load address", 0, take_image},
    {OPTION_FLAG, 0, "chunks", NULL, "a row for each chunk, also with images",
     offsetof(struct fetches_request, chunks), NULL},
    {OPTION_TEXT, 0, "sort", "BY fetches bytes first addr",
     "sort key: fetches (the default), bytes, first or addr",
     offsetof(struct fetches_request, sort), NULL},
    {OPTION_COUNT, 0, "top", "N", "print only the first N", offsetof(struct fetches_request, top),
     NULL},
    RECORD_INPUT_OPTIONS(struct fetches_request, input),
    OPTION_CSV_ROW(struct fetches_request, csv),
    OPTION_JSON_ROW(struct fetches_request, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* --- order ----------------------------------------------------------------------------------- */

static int by_fetches(const void *left, const void *right)
{
    const struct fetched_row *a = left;
    const struct fetched_row *b = right;
    if (a->fetches != b->fetches)
        return a->fetches > b->fetches ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int by_bytes(const void *left, const void *right)
{
    const struct fetched_row *a = left;
    const struct fetched_row *b = right;
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : by_fetches(left, right);
}

static int by_first(const void *left, const void *right)
{
    const struct fetched_row *a = left;
    const struct fetched_row *b = right;
    return a->first != b->first ? (a->first < b->first ? -1 : 1) : by_fetches(left, right);
}

static const struct order {
    const char *name;
    int (*compare)(const void *left, const void *right); /* NULL: as they are, by address */
} orders[] = {{"fetches", by_fetches}, {"bytes", by_bytes}, {"first", by_first}, {"addr", NULL}};

#define ORDERS (sizeof orders / sizeof orders[0])

/* --- printing -------------------------------------------------------------------------------- */

struct listing {
    const struct fetched_row *rows;
    const struct images *images; /* may be NULL */
    uint64_t clock_hz;
    char processors[PROCESSORS_TEXT];
};

static const struct table_column columns[] = {
    {"FETCHES", "fetches", TABLE_COUNT},      {"CHUNKS", "chunks", TABLE_COUNT},
    {"BYTES", "bytes", TABLE_COUNT},          {"SIZE", "size", TABLE_COUNT},
    {"PROCESSORS", "processors", TABLE_TEXT}, {"FIRST TICK", "first_tick", TABLE_COUNT},
    {"LAST TICK", "last_tick", TABLE_COUNT},  {"FIRST S", "first_seconds", TABLE_REAL},
    {"LAST S", "last_seconds", TABLE_REAL},   {"ADDRESS", "address", TABLE_ADDRESS},
    {"FUNCTION", "function", TABLE_TEXT}};

/* "0-3 7" */
static const char *list_processors(char text[PROCESSORS_TEXT], const uint64_t processors[4])
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned first = 0, end; first < 256; first = end + 1) {
        for (end = first; end < 256 && processors[end >> 6] >> (end & 63) & 1; end++)
            ;
        if (end == first)
            continue;
        used +=
            (size_t)snprintf(text + used, PROCESSORS_TEXT - used, "%s%u", used ? " " : "", first);
        if (end > first + 1)
            used += (size_t)snprintf(text + used, PROCESSORS_TEXT - used, "-%u", end - 1);
    }
    return text;
}

/* How far the image of an address was moved, because another one shares its addresses. */
static uint64_t listing_moved(const struct listing *listing, uint64_t address)
{
    const uint32_t count = listing->images ? images_count(listing->images) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct image *image = images_get(listing->images, i);
        if (address - image->load_address < image->size)
            return image->load_address - image->memory_address;
    }
    return 0;
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    struct listing *listing = argument;
    const struct fetched_row *row = &listing->rows[number];
    bool clock = listing->clock_hz > 0;
    double hertz = clock ? (double)listing->clock_hz : 1;
    cells[0].number = row->fetches;
    cells[1].number = row->chunks;
    cells[2].number = row->bytes;
    cells[3].number = row->size;
    cells[4].text = list_processors(listing->processors, row->processors);
    cells[5].number = row->first;
    cells[6].number = row->last;
    cells[7] = (struct table_cell){.real = (double)row->first / hertz, .none = !clock};
    cells[8] = (struct table_cell){.real = (double)row->last / hertz, .none = !clock};
    cells[9].number = row->address - listing_moved(listing, row->address);
    cells[10] = (struct table_cell){.text = row->name, .none = !row->name};
}

static int print_rows(const struct fetches_request *request, struct fetched_row *rows, size_t count)
{
    struct listing listing = {
        .rows = rows, .images = request->images, .clock_hz = request->clock_hz};
    const struct table table = {.columns = columns,
                                .column_count = sizeof columns / sizeof columns[0],
                                .rows = request->top < count ? (size_t)request->top : count,
                                .row = fill_row,
                                .argument = &listing};
    if (request->form == VIEW_TEXT) {
        table_print(&table, stdout);
    } else if (request->form == VIEW_CSV) {
        table_print_csv(&table, stdout);
    } else {
        struct json_put *json = json_report_begin(stdout);
        if (!json)
            return BT_MEMORY;
        json_count(json, "rows", count);
        table_json(&table, "code", json);
        json_report_end(json);
    }
    return 0;
}

/* --- the work -------------------------------------------------------------------------------- */

static int read_fetches(struct fetched_code *code, struct fetches_request *request, int count,
                        char **paths, struct bt_error *error)
{
    struct record_input *input;
    const struct batch *batch;
    int more = 0;
    int result = record_input_open(&input, count, paths, &request->input, error);
    if (result < 0)
        return result;
    while (result == 0 && (more = record_input_next(input, &batch, error)) > 0) {
        result = fetches_place(request->images, batch, error);
        if (result == 0)
            result = fetched_code_put(code, batch, error);
    }
    const struct capture_info *info = record_input_info(input);
    request->clock_hz = info ? info->clock_hz : 0;
    record_input_close(input);
    return result == 0 ? more : result;
}

static int print_code(const struct fetches_request *request, const struct fetched_code *code,
                      struct bt_error *error)
{
    uint32_t images = request->images ? images_count(request->images) : 0;
    bool functions = images > 0 && !request->chunks;
    struct image_names *names = calloc(images + 1, sizeof *names);
    int result = names ? 0 : bt_fail(error, BT_MEMORY, "no memory for the names of the images");
    for (uint32_t i = 0; i < images && functions && result == 0; i++)
        result = image_names_read_routines(&names[i], images_get(request->images, i), error);
    if (result == 0) {
        size_t count = 0;
        size_t order = 0;
        struct fetched_row *rows = functions ? fetched_code_by_function(code, names, images, &count)
                                             : fetched_code_rows(code, &count);
        while (strcmp(orders[order].name, request->sort) != 0)
            order++;
        if (rows && count > 0 && orders[order].compare)
            qsort(rows, count, sizeof *rows, orders[order].compare);
        if (!rows || print_rows(request, rows, count) != 0)
            result = bt_fail(error, BT_MEMORY, "no memory for a list of %zu rows", count);
        free(rows);
    }
    for (uint32_t i = 0; i < images && names; i++)
        image_names_clear(&names[i]);
    free(names);
    return result;
}

static int run(struct fetches_request *request, int count, char **paths)
{
    struct bt_error error;
    struct input_report report;
    struct fetched_code *code = fetched_code_new(&error);
    input_report_begin(&report, true);
    request->input.report = &report;
    int result = code ? read_fetches(code, request, count, paths, &error) : BT_MEMORY;
    progress_clear(&report.progress);
    if (result == 0) {
        struct progress printing;
        progress_begin(&printing, false);
        progress_step(&printing, "printing");
        result = print_code(request, code, &error);
        progress_clear(&printing);
    }
    if (result != 0)
        input_report_error(&report, &error);
    fetched_code_free(code);
    input_report_end(&report);
    return report.status;
}

/* The exit status of a wrong command line, or STATUS_GOOD. */
static int check_request(struct invocation *call, struct fetches_request *request)
{
    struct bt_error error;
    size_t order = 0;
    if (call->count == 0)
        return command_usage(call, "CAPTURE is missing");
    if (input_trace_check(&request->input.trace, &error) < 0 ||
        view_choose_form(&request->form, request->csv, request->json, &error) < 0 ||
        (request->images && images_separate(request->images, &error) < 0))
        return command_usage(call, "%s", error.message);
    while (order < ORDERS && strcmp(orders[order].name, request->sort) != 0)
        order++;
    if (order == ORDERS)
        return command_wrong_word(call, "sort", request->sort);
    return STATUS_GOOD;
}

static int fetches_main(struct invocation *call)
{
    struct fetches_request request = {
        .sort = orders[0].name, .top = UINT64_MAX, .input = {.count = UINT64_MAX}};
    int status;
    if (command_options(call, &request, &status)) {
        status = check_request(call, &request);
        if (status == STATUS_GOOD)
            status = run(&request, call->count, call->arguments);
    }
    images_free(request.images);
    return status;
}

const struct command dcfg_fetches_command = {
    .name = "fetches",
    .operands = "CAPTURE...",
    .summary = "list the code that was fetched, when and by which processors",
    .details = "Lists the functions (with --image) or chunks of code that were fetched: the number "
               "of fetches, distinct chunks, bytes, processors, and the first and last time. "
               "For captures of which no graph can be built, such as fills of an instruction "
               "cache.",
    .options = fetches_options,
    .run = fetches_main,
    .group = NULL,
    .reads_captures = true};
