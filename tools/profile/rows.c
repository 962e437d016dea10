#include "tools/profile/rows.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

/* --- totals ----------------------------------------------------------------------------------- */

static struct profile_row *add(struct profile_rows *rows, const struct profile_row *row)
{
    struct profile_row *larger =
        grow_array(rows->rows, &rows->capacity, rows->count + 1, sizeof *larger);
    if (!larger)
        return NULL;
    rows->rows = larger;
    larger[rows->count] = *row;
    return &larger[rows->count++];
}

struct profile_row profile_instruction_row(const struct profile_block *block, unsigned number)
{
    const struct profile_instruction *instruction = &block->instructions[number];
    struct profile_row row = {.instructions = block->count,
                              .reads = block->count * instruction->reads,
                              .writes = block->count * instruction->writes,
                              .module = block->module,
                              .function = block->function};
    if (block->more) {
        row.reads += block->more[number].reads;
        row.writes += block->more[number].writes;
    }
    if (number + 1u == block->instruction_count) {
        row.instructions += block->stub_instructions;
        row.reads += block->stub_references.reads;
        row.writes += block->stub_references.writes;
    }
    return row;
}

static void add_sums(struct profile_row *to, const struct profile_row *row)
{
    to->instructions += row->instructions;
    to->inclusive += row->inclusive;
    to->count += row->count;
    to->reads += row->reads;
    to->writes += row->writes;
}

/* Puts all of a block into one row, including its instructions in stubs; stubs have no rows unless
 * they are listed separately. */
static struct profile_row block_row(const struct profile_block *block, bool stubs_apart)
{
    struct profile_row sum = {.module = block->module,
                              .function = block->function,
                              .block = block,
                              .count = block->count};
    for (unsigned i = 0; i < block->instruction_count; i++) {
        struct profile_row row = profile_instruction_row(block, i);
        add_sums(&sum, &row);
    }
    if (stubs_apart) {
        sum.instructions -= block->stub_instructions;
        sum.reads -= block->stub_references.reads;
        sum.writes -= block->stub_references.writes;
    }
    return sum;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Merges rows that compare equal. */
static void merge(struct profile_rows *rows, int (*compare)(const void *, const void *))
{
    size_t kept = 0;
    if (rows->count > 0)
        qsort(rows->rows, rows->count, sizeof *rows->rows, compare);
    for (size_t i = 0; i < rows->count; i++)
        if (kept > 0 && compare(&rows->rows[kept - 1], &rows->rows[i]) == 0)
            add_sums(&rows->rows[kept - 1], &rows->rows[i]);
        else
            rows->rows[kept++] = rows->rows[i];
    rows->count = kept;
}

static int by_pointer(const void *a, const void *b)
{
    return (uintptr_t)a < (uintptr_t)b ? -1 : (uintptr_t)a > (uintptr_t)b;
}

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_lines(const void *left, const void *right)
{
    const struct profile_row *a = left, *b = right;
    int order = by_number(a->thread, b->thread);
    if (order == 0)
        order = by_pointer(a->module, b->module);
    if (order == 0)
        order = by_pointer(a->file, b->file);
    if (order == 0)
        order = by_number(a->line, b->line);
    return order == 0 && !a->file ? by_number(a->function, b->function) : order;
}

static int compare_blocks(const void *left, const void *right)
{
    const struct profile_row *a = left, *b = right;
    int order = by_number(a->thread, b->thread);
    if (order == 0)
        order = by_pointer(a->module, b->module);
    if (order == 0)
        order = by_number(a->block->address, b->block->address);
    return order ? order : by_number(a->block->instruction_count, b->block->instruction_count);
}

static int compare_modules(const void *left, const void *right)
{
    const struct profile_row *a = left, *b = right;
    int order = by_number(a->thread, b->thread);
    return order ? order : by_pointer(a->module, b->module);
}

static int compare_functions(const void *left, const void *right)
{
    const struct profile_row *a = left, *b = right;
    int order = by_number(a->thread, b->thread);
    return order ? order : by_number(a->function, b->function);
}

/* --- the tables ------------------------------------------------------------------------------- */

static int add_lines(struct profile_rows *rows, struct functions *functions,
                     const struct profile_block *block, unsigned thread)
{
    for (unsigned i = 0; block->function != FUNCTION_NONE && i < block->instruction_count; i++) {
        struct profile_row row = profile_instruction_row(block, i);
        struct function_line line =
            functions_line(functions, block->module, block->instructions[i].address);
        struct profile_row *last = rows->count ? &rows->rows[rows->count - 1] : NULL;
        row.file = line.file;
        row.line = line.line;
        row.thread = thread;
        if (last && compare_lines(last, &row) == 0)
            add_sums(last, &row);
        else if (!add(rows, &row))
            return BT_MEMORY;
    }
    return 0;
}

/* Adds the calls of a block to the rows of the called functions. */
static int add_calls(struct profile_rows *rows, const struct functions *functions,
                     const struct profile_block *block, unsigned thread)
{
    for (const struct profile_call *call = block->calls; call; call = call->next) {
        struct profile_row row = {.count = call->count,
                                  .function = call->callee,
                                  .module = functions_get(functions, call->callee)->module,
                                  .thread = thread};
        if (!add(rows, &row))
            return BT_MEMORY;
    }
    return 0;
}

static int add_inclusive(struct profile_rows *rows, const struct functions *functions,
                         const struct profile_thread *thread, unsigned number)
{
    for (uint32_t i = 0; i < functions_count(functions) && i < thread->inclusive_count; i++) {
        struct profile_row row = {.inclusive = thread->inclusive[i],
                                  .function = i,
                                  .module = functions_get(functions, i)->module,
                                  .thread = number};
        if (row.inclusive > 0 && !add(rows, &row))
            return BT_MEMORY;
    }
    return 0;
}

static int add_block(struct profile_rows *rows, const struct profile_report *report,
                     enum profile_by by, const struct profile_block *block, unsigned thread)
{
    if (by == PROFILE_BY_LINE)
        return add_lines(rows, report->functions, block, thread);
    if (by != PROFILE_BY_BLOCK && block->function == FUNCTION_NONE)
        return 0;
    struct profile_row row = block_row(block, by == PROFILE_BY_BLOCK);
    row.thread = thread;
    if (by != PROFILE_BY_BLOCK)
        row.count = 0;
    if (!add(rows, &row))
        return BT_MEMORY;
    return by == PROFILE_BY_FUNCTION ? add_calls(rows, report->functions, block, thread) : 0;
}

/* The printing order. */
static int compare_shown(const void *left, const void *right)
{
    const struct profile_row *a = left, *b = right;
    if (a->instructions != b->instructions)
        return a->instructions > b->instructions ? -1 : 1;
    if (a->inclusive != b->inclusive)
        return a->inclusive > b->inclusive ? -1 : 1;
    if (a->block && b->block && a->block->address != b->block->address)
        return a->block->address < b->block->address ? -1 : 1;
    if (a->file && b->file && strcmp(a->file, b->file) != 0)
        return strcmp(a->file, b->file);
    if (a->line != b->line)
        return by_number(a->line, b->line);
    return a->function != b->function ? by_number(a->function, b->function)
                                      : by_number(a->thread, b->thread);
}

int profile_rows_make(struct profile_rows *rows, const struct profile_report *report,
                      enum profile_by by)
{
    static int (*const orders[])(const void *, const void *) = {compare_functions, compare_lines,
                                                                compare_blocks, compare_modules};
    *rows = (struct profile_rows){0};
    for (unsigned t = 0; t < profiler_threads(report->profiler); t++) {
        const struct profile_thread *thread = profiler_thread(report->profiler, t);
        unsigned number = report->threads ? thread->number : 0;
        int result = 0;
        for (const struct profile_block *block = thread->blocks; block && result == 0;
             block = block->next)
            result = add_block(rows, report, by, block, number);
        if (result == 0 && by == PROFILE_BY_FUNCTION)
            result = add_inclusive(rows, report->functions, thread, number);
        if (result < 0)
            return result;
    }
    merge(rows, orders[by]);
    if (rows->count > 0)
        qsort(rows->rows, rows->count, sizeof *rows->rows, compare_shown);
    return 0;
}
