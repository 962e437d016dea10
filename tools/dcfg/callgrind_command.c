#include "tools/common/commands.h"

#include "tools/common/callgrind_file.h"
#include "tools/dcfg/graph/call_graph.h"
#include "tools/dcfg/view_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LINES_MAX 1000u /* maximum number of lines of a block that are listed separately */

struct callgrind_settings {
    const char *process;
};

static const struct option_row callgrind_options[] = {
    {OPTION_TEXT, 0, "process", "ID", VIEW_PROCESS_HELP,
     offsetof(struct callgrind_settings, process), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* The profile being written. Names are numbered, and written in full at their first use. */
struct callgrind_writer {
    const struct view *view;
    const struct dcfg_process *process;
    struct call_graph calls;
    bool *image_named;    /* by image: the name is written */
    bool *file_named;     /* by number of the file name in the graph: the name is written */
    bool *function_named; /* by function: the name is written */
    FILE *out;
};

/* --- names ----------------------------------------------------------------------------------- */

static void put_image(struct callgrind_writer *file, const char *key, uint32_t image)
{
    const char *name = dcfg_file_name(file->view->graph, file->process->images[image].file_name_id);
    callgrind_put_name(key, image + 1, name ? name : "???", &file->image_named[image], file->out);
}

/* Unknown sources are file 1. */
static uint32_t source_number(const struct code_location *location)
{
    return location->file ? location->file_number + 2 : 1;
}

static void put_source(struct callgrind_writer *file, const char *key,
                       const struct code_location *location)
{
    uint32_t number = source_number(location);
    callgrind_put_name(key, number, location->file ? location->file : "???",
                       &file->file_named[number], file->out);
}

static void put_function(struct callgrind_writer *file, const char *key, uint32_t function)
{
    struct code_location location;
    char address[24];
    names_of_block(file->view->names, file->calls.functions[function].entry, &location);
    snprintf(address, sizeof address, "0x%" PRIx64, location.address);
    callgrind_put_name(key, function + 1, location.symbol ? location.symbol : address,
                       &file->function_named[function], file->out);
}

/* --- costs ----------------------------------------------------------------------------------- */

/* Writes the source file of the following costs if it changes. */
static void go_to(struct callgrind_writer *file, const struct code_location *location,
                  uint32_t *source)
{
    if (source_number(location) != *source)
        put_source(file, "fi", location);
    *source = source_number(location);
}

/* Divides a block's instructions among its lines, in proportion to their bytes. */
static void put_block(struct callgrind_writer *file, uint32_t block, uint32_t *source)
{
    const struct dcfg_block *row = &file->process->blocks[block];
    uint32_t image = dcfg_image_of_block(file->process, block);
    uint64_t count = file->view->profile.executions[block];
    uint64_t left = file->view->profile.instructions[block];
    uint64_t end = row->offset + row->size;
    uint64_t at = row->offset;
    uint64_t charged = 0; /* instructions of the previous lines */
    unsigned lines = 0;
    do {
        struct code_location location;
        names_at(file->view->names, image, at, &location);
        uint64_t next =
            location.line_end < end && ++lines < BLOCK_LINES_MAX ? location.line_end : end;
        uint64_t passed = next > row->offset ? next - row->offset : 0;
        uint64_t up_to = row->size > 0 ? row->instructions * passed / row->size : 0;
        uint64_t cost = next < end ? (up_to - charged) * count : left;
        charged = up_to;
        if (cost > left)
            cost = left;
        left -= cost;
        if (cost > 0) {
            go_to(file, &location, source);
            fprintf(file->out, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", location.address,
                    location.line, cost);
        }
        at = next;
    } while (at < end);
}

static void put_call(struct callgrind_writer *file, const struct graph_call *call, uint32_t *source)
{
    const struct dcfg_block *row = &file->process->blocks[call->source];
    uint32_t image = dcfg_image_of_block(file->process, call->source);
    uint32_t other_image = dcfg_image_of_block(file->process, call->target);
    struct code_location from;
    struct code_location to;
    struct code_location entry;
    names_at(file->view->names, image, row->offset + row->last_instruction, &from);
    names_of_block(file->view->names, call->target, &to);
    names_of_block(file->view->names, file->calls.functions[call->callee].entry, &entry);
    go_to(file, &from, source);
    put_image(file, "cob", other_image);
    put_source(file, "cfi", &entry);
    put_function(file, "cfn", call->callee);
    fprintf(file->out, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n", call->count, to.address,
            to.line);
    fprintf(file->out, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", from.address, from.line,
            call->cost);
}

static void put_function_costs(struct callgrind_writer *file, uint32_t function)
{
    const struct call_graph *calls = &file->calls;
    struct code_location entry;
    names_of_block(file->view->names, calls->functions[function].entry, &entry);
    uint32_t source = source_number(&entry);
    putc('\n', file->out);
    put_image(file, "ob", dcfg_image_of_block(file->process, calls->functions[function].entry));
    put_source(file, "fl", &entry);
    put_function(file, "fn", function);
    for (uint32_t i = calls->first_block[function]; i < calls->first_block[function + 1]; i++)
        put_block(file, calls->blocks[i], &source);
    for (uint32_t i = calls->first_call[function]; i < calls->first_call[function + 1]; i++)
        put_call(file, &calls->calls[i], &source);
}

static void put_profile(struct callgrind_writer *file)
{
    const struct dcfg_process *process = file->process;
    const char *command = process->image_count > 0
                              ? dcfg_file_name(file->view->graph, process->images[0].file_name_id)
                              : NULL;
    const struct callgrind_head head = {.process = process->id,
                                        .command = command ? command : "???",
                                        .totals = {file->view->profile.total}};
    callgrind_put_head(&head, file->out);
    for (uint32_t f = 0; f < file->calls.function_count && !ferror(file->out); f++)
        put_function_costs(file, f);
    callgrind_put_totals(&head, file->out);
}

static int print_profile(const struct view *view, struct bt_error *error)
{
    struct callgrind_writer file = {.view = view, .process = view->process, .out = stdout};
    if (call_graph_make(&file.calls, &view->profile, view->names, error) < 0)
        return error->code;
    file.image_named = calloc((size_t)view->process->image_count + 1, sizeof(bool));
    file.file_named = calloc((size_t)view->graph->file_name_count + 2, sizeof(bool));
    file.function_named = calloc((size_t)file.calls.function_count + 1, sizeof(bool));
    int result = file.image_named && file.file_named && file.function_named
                     ? 0
                     : bt_fail(error, BT_MEMORY, "no memory for the names of %" PRIu32 " functions",
                               file.calls.function_count);
    if (result == 0)
        put_profile(&file);
    free(file.image_named);
    free(file.file_named);
    free(file.function_named);
    call_graph_clear(&file.calls);
    return result;
}

static int callgrind_main(struct invocation *call)
{
    struct callgrind_settings settings = {0};
    struct bt_error error = {0};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, "one graph is needed");
    struct view view;
    int result = view_open(&view, call->arguments[0], settings.process, &error);
    if (result == 0)
        result = print_profile(&view, &error);
    view_close(&view);
    return result < 0 ? command_failure(&error) : STATUS_GOOD;
}

const struct command dcfg_callgrind_command = {
    .name = "callgrind",
    .operands = "FILE",
    .summary = "print a profile for KCachegrind and callgrind_annotate",
    .details = "Prints a graph as a profile in Callgrind's format: instructions by function, "
               "line and address, and calls. A graph has no call stacks, so the inclusive cost "
               "of a function is divided among its callers in proportion to their calls.",
    .options = callgrind_options,
    .run = callgrind_main,
    .group = NULL};
