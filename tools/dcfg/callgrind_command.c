#include "tools/common/commands.h"

#include "tools/common/callgrind_file.h"
#include "tools/dcfg/annotation.h"
#include "tools/dcfg/graph_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LINES_MAX 1000u /* maximum number of lines of a block that are listed separately */

struct callgrind_settings {
    const char *process;
    struct graph_code_files files;
};

static const struct option_row callgrind_options[] = {
    GRAPH_CODE_IMAGE_ROW(struct callgrind_settings, files),
    {OPTION_TEXT, 0, "process", "ID", VIEW_PROCESS_HELP,
     offsetof(struct callgrind_settings, process), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* The profile being written. Names are numbered, and written in full at their first use. */
struct callgrind_writer {
    const struct view *view;
    const struct dcfg_process *process;
    const struct call_graph *calls;
    struct annotation *annotation; /* of the function being written */
    bool *image_named;             /* by image: the name is written */
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
    names_of_block(file->view->names, file->calls->functions[function].entry, &location);
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

/* A block without code: divides its instructions among its lines, in proportion to their bytes. */
static void put_lines(struct callgrind_writer *file, uint32_t block, uint32_t *source)
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

/* The location of an address in the image of a block. */
static void locate(const struct callgrind_writer *file, uint32_t block, uint64_t address,
                   struct code_location *location)
{
    const uint32_t image = dcfg_image_of_block(file->process, block);
    names_at(file->view->names, image, address - file->process->images[image].load_address,
             location);
}

static bool is_conditional(enum dcfg_edge_type type)
{
    return type == DCFG_EDGE_CONDITIONAL_BRANCH || type == DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH ||
           type == DCFG_EDGE_INDIRECT_CONDITIONAL_BRANCH;
}

/* A jump is a line with count and target, and one with the jump's own position. */
static void put_jump(struct callgrind_writer *file, const struct annotation_jump *jump,
                     uint32_t *source)
{
    const struct dcfg_edges *edges = &file->process->edges;
    const uint32_t block = file->annotation->rows[jump->from].block;
    const uint32_t target = dcfg_find_block(file->process, edges->targets[jump->edge]);
    struct code_location from;
    struct code_location to;
    locate(file, block,
           dcfg_block_address(file->process, block) + file->process->blocks[block].last_instruction,
           &from);
    names_of_block(file->view->names, target, &to);
    if (jump->count == 0)
        return;
    go_to(file, &from, source);
    if (source_number(&to) != *source)
        put_source(file, "jfi", &to);
    if (is_conditional(edges->types[jump->edge]))
        fprintf(file->out, "jcnd=%" PRIu64 "/%" PRIu64, jump->count,
                file->view->profile.executions[block]);
    else
        fprintf(file->out, "jump=%" PRIu64, jump->count);
    fprintf(file->out, " 0x%" PRIx64 " %" PRIu32 "\n0x%" PRIx64 " %" PRIu32 "\n", to.address,
            to.line, from.address, from.line);
}

/* The rows of the annotated function, each block with its jumps after it. */
static void put_rows(struct callgrind_writer *file, uint32_t *source)
{
    const struct annotation *annotation = file->annotation;
    uint32_t jump = 0;
    for (uint32_t r = 0; r < annotation->row_count; r++) {
        const struct annotation_row *row = &annotation->rows[r];
        struct code_location location;
        if (row->kind == ANNOTATION_BLOCK) {
            put_lines(file, row->block, source);
        } else if (row->kind == ANNOTATION_INSTRUCTION && row->instructions > 0) {
            locate(file, row->block, row->address, &location);
            go_to(file, &location, source);
            fprintf(file->out, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", row->address,
                    location.line, row->instructions);
        }
        for (; jump < annotation->jump_count && annotation->jumps[jump].from == r; jump++)
            put_jump(file, &annotation->jumps[jump], source);
    }
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
    names_of_block(file->view->names, file->calls->functions[call->callee].entry, &entry);
    go_to(file, &from, source);
    put_image(file, "cob", other_image);
    put_source(file, "cfi", &entry);
    put_function(file, "cfn", call->callee);
    fprintf(file->out, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n", call->count, to.address,
            to.line);
    fprintf(file->out, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", from.address, from.line,
            call->cost);
}

static int put_function_costs(struct callgrind_writer *file, uint32_t function,
                              struct bt_error *error)
{
    const struct call_graph *calls = file->calls;
    struct code_location entry;
    if (annotation_of(file->annotation, function, error) < 0)
        return error->code;
    names_of_block(file->view->names, calls->functions[function].entry, &entry);
    uint32_t source = source_number(&entry);
    putc('\n', file->out);
    put_image(file, "ob", dcfg_image_of_block(file->process, calls->functions[function].entry));
    put_source(file, "fl", &entry);
    put_function(file, "fn", function);
    put_rows(file, &source);
    for (uint32_t i = calls->first_call[function]; i < calls->first_call[function + 1]; i++)
        put_call(file, &calls->calls[i], &source);
    return 0;
}

static int put_profile(struct callgrind_writer *file, struct bt_error *error)
{
    const struct dcfg_process *process = file->process;
    const char *command = process->image_count > 0
                              ? dcfg_file_name(file->view->graph, process->images[0].file_name_id)
                              : NULL;
    const struct callgrind_head head = {.process = process->id,
                                        .command = command ? command : "???",
                                        .chunks = view_has_chunks(file->view),
                                        .totals = {file->view->profile.total}};
    int result = 0;
    callgrind_put_head(&head, file->out);
    for (uint32_t f = 0; f < file->calls->function_count && result == 0 && !ferror(file->out); f++)
        result = put_function_costs(file, f, error);
    if (result == 0)
        callgrind_put_totals(&head, file->out);
    return result;
}

static int print_profile(const struct view *view, struct annotation *annotation,
                         struct bt_error *error)
{
    struct callgrind_writer file = {.view = view,
                                    .process = view->process,
                                    .calls = &annotation->graph->calls,
                                    .annotation = annotation,
                                    .out = stdout};
    file.image_named = calloc((size_t)view->process->image_count + 1, sizeof(bool));
    file.file_named = calloc((size_t)view->graph->file_name_count + 2, sizeof(bool));
    file.function_named = calloc((size_t)file.calls->function_count + 1, sizeof(bool));
    int result = file.image_named && file.file_named && file.function_named
                     ? put_profile(&file, error)
                     : bt_fail(error, BT_MEMORY, "no memory for the names of %" PRIu32 " functions",
                               file.calls->function_count);
    free(file.image_named);
    free(file.file_named);
    free(file.function_named);
    return result;
}

static int callgrind(const struct view *view, const void *settings, struct bt_error *error)
{
    const struct callgrind_settings *callgrind = settings;
    struct annotate_graph graph;
    struct annotation annotation = {.graph = NULL};
    int result =
        annotate_graph_make(&graph, view, callgrind->files.at, callgrind->files.count, error);
    if (result == 0)
        result = annotation_make(&annotation, &graph, DISASSEMBLE_INTEL, false, error);
    if (result == 0)
        result = print_profile(view, &annotation, error);
    if (result == 0)
        annotation_put_notes(&annotation, stderr);
    annotation_clear(&annotation);
    annotate_graph_clear(&graph);
    return result;
}

static int callgrind_main(struct invocation *call)
{
    struct callgrind_settings settings = {0};
    return view_one_main(call, &settings, &settings.process, callgrind);
}

const struct command dcfg_callgrind_command = {
    .name = "callgrind",
    .operands = "FILE",
    .summary = "print a profile for KCachegrind and callgrind_annotate",
    .details = "Prints a graph as a profile in Callgrind's format: each instruction with its "
               "executions, jumps, and calls. The code is read from the files that the graph "
               "names; a block without code is divided among its source lines. A graph has no call "
               "stacks, so the inclusive cost "
               "of a function is divided among its callers in proportion to their calls.",
    .options = callgrind_options,
    .run = callgrind_main,
    .group = NULL};
