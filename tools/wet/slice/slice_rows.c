#define _GNU_SOURCE /* qsort_r */
#include "tools/wet/slice/slice_rows.h"

#include <string.h>

const char *slice_base_name(const struct wet_code *code, uint32_t file)
{
    if (file == 0)
        return NULL;
    const char *slash = strrchr(code->files[file], '/');
    return slash && slash[1] ? slash + 1 : code->files[file];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Unknown names are the last. */
static int compare_names(const char *a, const char *b)
{
    if (!a || !b)
        return (a == NULL) - (b == NULL);
    return a == b ? 0 : strcmp(a, b);
}

/* Whether two instructions are in one row: 0, or their order. */
static int compare_places(const struct wet_code *code, const struct wet_instruction *a,
                          const struct wet_instruction *b)
{
    const uint32_t lines[2] = {a->file ? a->line : 0, b->file ? b->line : 0};
    int order = compare_names(lines[0] ? code->files[a->file] : NULL,
                              lines[1] ? code->files[b->file] : NULL);
    if (order == 0)
        order = compare_numbers(lines[0], lines[1]);
    if (order != 0 || lines[0])
        return order;
    return compare_numbers(code->functions[a->function].start, code->functions[b->function].start);
}

/* The library of an instruction, counted from 1; 0: the program's own code. */
static uint32_t library_of(const struct wet_code *code, uint32_t id)
{
    return slice_module_is_own(code, id) ? 0 : slice_module_of(code, id) + 1;
}

static int compare_ids(const void *a, const void *b, void *context)
{
    const struct wet_code *code = context;
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int order = compare_numbers(library_of(code, left), library_of(code, right));
    if (order == 0)
        order = compare_places(code, &code->instructions[left], &code->instructions[right]);
    if (order == 0)
        order =
            compare_numbers(code->instructions[left].address, code->instructions[right].address);
    return order ? order : compare_numbers(left, right);
}

/* Whether an instruction belongs to the row of another one. */
static bool is_same_row(const struct wet_code *code, uint32_t row, uint32_t id, unsigned grouping)
{
    const uint32_t library = library_of(code, id);
    if (library != library_of(code, row))
        return false;
    if (library > 0 && grouping & SLICE_BY_LIBRARY)
        return true;
    return !(grouping & SLICE_BY_INSTRUCTION) &&
           compare_places(code, &code->instructions[row], &code->instructions[id]) == 0;
}

static void group(struct slice_rows *rows, const struct wet_code *code, const uint64_t *counts,
                  unsigned grouping)
{
    for (uint32_t i = 0; i < rows->id_count; i++) {
        const uint32_t id = rows->ids[i];
        struct slice_row *row = rows->count > 0 ? &rows->rows[rows->count - 1] : NULL;
        if (!row || !is_same_row(code, row->id, id, grouping)) {
            row = &rows->rows[rows->count++];
            *row = (struct slice_row){.id = id,
                                      .first = i,
                                      .is_library =
                                          grouping & SLICE_BY_LIBRARY && library_of(code, id) > 0};
        }
        row->count += counts[id];
        row->number++;
        rows->row_of[id] = (uint32_t)rows->count - 1;
    }
}

int slice_rows_make(struct slice_rows *rows, const struct wet_code *code, const uint64_t *counts,
                    unsigned grouping)
{
    size_t count = 0;
    for (uint32_t id = 1; id < code->instruction_count; id++)
        count += counts[id] > 0;
    *rows =
        (struct slice_rows){.rows = malloc((count + 1) * sizeof *rows->rows),
                            .ids = malloc((count + 1) * sizeof *rows->ids),
                            .row_of = malloc((code->instruction_count + 1) * sizeof *rows->row_of)};
    if (!rows->rows || !rows->ids || !rows->row_of)
        return BT_MEMORY;
    for (uint32_t id = 0; id < code->instruction_count; id++) {
        rows->row_of[id] = SLICE_ROW_NONE;
        if (id && counts[id] > 0)
            rows->ids[rows->id_count++] = id;
    }
    union {
        const struct wet_code *code;
        void *context;
    } argument = {.code = code};
    qsort_r(rows->ids, count, sizeof *rows->ids, compare_ids, argument.context);
    group(rows, code, counts, grouping);
    return 0;
}

void slice_rows_clear(struct slice_rows *rows)
{
    free(rows->rows);
    free(rows->ids);
    free(rows->row_of);
    *rows = (struct slice_rows){.rows = NULL};
}
