#include "tools/profile/profile_callgrind.h"

#include "tools/common/callgrind_file.h"
#include "tools/profile/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define UNKNOWN "???"

/* The file being written. */
struct callgrind_writer {
    const struct profile_report *report;
    FILE *out;
    const struct profile_block **blocks; /* sorted by function, then by address */
    size_t count;
    bool *functions_named, *modules_named, *sources_named;
    uint32_t source; /* source file of the current cost lines */
};

/* --- names ------------------------------------------------------------------------------------ */

/* Numbers in the file are one more than ours, because readers ignore number 0. */
static void put_module(struct callgrind_writer *file, const char *key, const struct module *module)
{
    uint32_t number = functions_module_number(file->report->functions, module);
    callgrind_put_name(key, number + 1, module ? module->path : UNKNOWN,
                       &file->modules_named[number], file->out);
}

static void put_source(struct callgrind_writer *file, const char *key,
                       const struct function_line *line)
{
    callgrind_put_name(key, line->number + 1, line->file ? line->file : UNKNOWN,
                       &file->sources_named[line->number], file->out);
}

static void put_function(struct callgrind_writer *file, const char *key, uint32_t number)
{
    const struct function *function = functions_get(file->report->functions, number);
    callgrind_put_name(key, number + 1, function->name, &file->functions_named[number], file->out);
}

/* --- costs ------------------------------------------------------------------------------------ */

/* Switches to another source file if necessary. */
static void go_to(struct callgrind_writer *file, const struct function_line *line)
{
    if (line->number != file->source)
        put_source(file, "fi", line);
    file->source = line->number;
}

static void put_costs(const struct callgrind_writer *file, uint64_t address, uint32_t line,
                      const struct profile_row *row)
{
    fprintf(file->out, "0x%" PRIx64 " %" PRIu32 " %" PRIu64, address, line, row->instructions);
    if (file->report->data)
        fprintf(file->out, " %" PRIu64 " %" PRIu64, row->reads, row->writes);
    putc('\n', file->out);
}

static void put_call(struct callgrind_writer *file, const struct profile_call *call,
                     uint64_t address, const struct function_line *line)
{
    struct functions *functions = file->report->functions;
    const struct function *callee = functions_get(functions, call->callee);
    struct function_line entry = functions_line(functions, callee->module, callee->start);
    go_to(file, line);
    put_module(file, "cob", callee->module);
    put_source(file, "cfi", &entry);
    put_function(file, "cfn", call->callee);
    fprintf(file->out, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n", call->count,
            callee->start - functions_bias(functions, callee->module), entry.line);
    put_costs(file, address, line->line, &(struct profile_row){.instructions = call->cost});
}

static void put_block(struct callgrind_writer *file, const struct profile_block *block)
{
    struct functions *functions = file->report->functions;
    uint64_t bias = functions_bias(functions, block->module);
    struct function_line line = {.file = NULL, .line = 0, .number = 0};
    uint64_t address = block->address;
    for (unsigned i = 0; i < block->instruction_count; i++) {
        struct profile_row row = profile_instruction_row(block, i);
        address = block->instructions[i].address;
        line = functions_line(functions, block->module, address);
        go_to(file, &line);
        put_costs(file, address - bias, line.line, &row);
    }
    for (const struct profile_call *call = block->calls; call; call = call->next)
        put_call(file, call, address - bias, &line);
}

static void put_blocks(struct callgrind_writer *file)
{
    struct functions *functions = file->report->functions;
    uint32_t number = FUNCTION_NONE;
    for (size_t i = 0; i < file->count && !ferror(file->out); i++) {
        const struct profile_block *block = file->blocks[i];
        if (block->function != number) {
            const struct function *function = functions_get(functions, block->function);
            struct function_line entry =
                functions_line(functions, function->module, function->start);
            number = block->function;
            putc('\n', file->out);
            put_module(file, "ob", function->module);
            put_source(file, "fl", &entry);
            put_function(file, "fn", number);
            file->source = entry.number;
        }
        put_block(file, block);
    }
}

/* --- all together ----------------------------------------------------------------------------- */

static int compare_blocks(const void *left, const void *right)
{
    const struct profile_block *a = *(const struct profile_block *const *)left;
    const struct profile_block *b = *(const struct profile_block *const *)right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->instruction_count < b->instruction_count
               ? -1
               : a->instruction_count > b->instruction_count;
}

/* Reads the lines of the modules of all blocks but stubs, and sums up their costs. */
static int collect(struct callgrind_writer *file, struct callgrind_head *head)
{
    const struct profile_report *report = file->report;
    size_t count = 0;
    for (unsigned t = 0; t < profiler_threads(report->profiler); t++)
        count += profiler_thread(report->profiler, t)->block_count;
    file->blocks = malloc((count + 1) * sizeof *file->blocks);
    if (!file->blocks)
        return BT_MEMORY;
    for (unsigned t = 0; t < profiler_threads(report->profiler); t++)
        for (const struct profile_block *block = profiler_thread(report->profiler, t)->blocks;
             block; block = block->next) {
            if (block->function == FUNCTION_NONE)
                continue;
            for (unsigned i = 0; i < block->instruction_count; i++) {
                struct profile_row row = profile_instruction_row(block, i);
                head->totals[0] += row.instructions;
                head->totals[1] += row.reads;
                head->totals[2] += row.writes;
            }
            functions_line(report->functions, block->module, block->address);
            file->blocks[file->count++] = block;
        }
    qsort(file->blocks, file->count, sizeof *file->blocks, compare_blocks);
    return 0;
}

int profile_callgrind_write(const struct profile_report *report, FILE *out, struct bt_error *error)
{
    struct callgrind_writer file = {.report = report, .out = out};
    struct callgrind_head head = {
        .process = (uint64_t)getpid(), .command = report->program, .data = report->data};
    int result = collect(&file, &head);
    file.functions_named = calloc((size_t)functions_count(report->functions) + 1, sizeof(bool));
    file.modules_named = calloc((size_t)functions_modules(report->functions) + 2, sizeof(bool));
    file.sources_named = calloc((size_t)functions_sources(report->functions) + 2, sizeof(bool));
    if (!file.functions_named || !file.modules_named || !file.sources_named)
        result = BT_MEMORY;
    if (result == 0) {
        callgrind_put_head(&head, out);
        put_blocks(&file);
        callgrind_put_totals(&head, out);
    }
    free(file.blocks);
    free(file.functions_named);
    free(file.modules_named);
    free(file.sources_named);
    return result < 0 ? bt_fail(error, result, "no memory for a profile in callgrind's format") : 0;
}
