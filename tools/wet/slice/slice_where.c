#include "tools/wet/slice/slice_where.h"

#include "formats/base/edit_distance.h"
#include "formats/base/printable.h"
#include "formats/base/quantity.h"

#include "tools/wet/slice/slice_names.h"

#include <inttypes.h>
#include <string.h>

/* --- reading -----------------------------------------------------------------------------------
 */

static bool is_number(const char *text, const char *digits)
{
    return *text && text[strspn(text, digits)] == '\0';
}

static int take_instance(struct slice_where *where, const char *text, struct bt_error *error)
{
    if (!is_number(text, "0123456789") || strlen(text) > 19)
        return bt_fail(error, BT_USAGE, "an instance is a number from 0: '%.40s' is none",
                       PRINTABLE(text));
    where->has_instance = true;
    where->instance = strtoull(text, NULL, 10);
    return 0;
}

static int take_line(struct slice_where *where, const char *text, struct bt_error *error)
{
    if (!is_number(text, "0123456789") || strlen(text) > 9 || !strtoull(text, NULL, 10))
        return bt_fail(error, BT_USAGE, "a line is a number from 1: '%.40s' is none",
                       PRINTABLE(text));
    where->kind = SLICE_AT_LINE;
    where->line = (uint32_t)strtoull(text, NULL, 10);
    return 0;
}

/* Whether a text may be the name of a symbol. */
static bool is_name(const char *text)
{
    const char first = text[0];
    const bool begins =
        (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
    return begins && strcmp(text, "end") != 0 && strpbrk(text, " /\\#:") == NULL;
}

static int take_address(struct slice_where *where, const char *text, struct bt_error *error)
{
    const char *digits =
        strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0 ? text + 2 : text;
    if (!is_number(digits, "0123456789abcdefABCDEF") || strlen(digits) > 16) {
        where->kind = SLICE_AT_NAME;
        return is_name(text) ? 0
                             : bt_fail(error, BT_USAGE,
                                       "'%.80s' is not a place: give ADDRESS, FILE:LINE, the name "
                                       "of a function or a variable, or end, perhaps with "
                                       "#INSTANCE",
                                       PRINTABLE(text));
    }
    where->kind = SLICE_AT_ADDRESS;
    where->address = strtoull(digits, NULL, 16);
    return 0;
}

int slice_where_parse(struct slice_where *where, const char *text, struct bt_error *error)
{
    *where = (struct slice_where){.kind = SLICE_AT_END};
    if (strcmp(text, "end") == 0)
        return 0;
    const size_t size = strlen(text);
    if (size >= sizeof where->file)
        return bt_fail(error, BT_USAGE, "a place has at most %zu bytes", sizeof where->file - 1);
    memcpy(where->file, text, size + 1);
    char *hash = strrchr(where->file, '#');
    char *colon = strrchr(where->file, ':');
    int result = 0;
    if (hash && (!colon || hash > colon)) {
        *hash = '\0';
        result = take_instance(where, hash + 1, error);
    }
    if (result < 0)
        return result;
    if (!colon)
        return take_address(where, where->file, error);
    *colon = '\0';
    if (where->file[0] == '\0')
        return bt_fail(error, BT_USAGE, "FILE:LINE begins with the name of a file");
    return take_line(where, colon + 1, error);
}

/* --- what is near ------------------------------------------------------------------------------
 */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether a name is the path, or its end. */
static bool is_end_of(const char *name, const char *path)
{
    const size_t size = strlen(name), whole = strlen(path);
    return size <= whole && strcmp(path + whole - size, name) == 0 &&
           (size == whole || name[0] == '/' || path[whole - size - 1] == '/');
}

static bool is_in_file(const struct slice_where *where, const struct wet_trace *trace, uint32_t id)
{
    const struct wet_code *code = &trace->file.code;
    const uint32_t file = code->instructions[id].file;
    return file && is_end_of(where->file, code->files[file]);
}

static bool is_place(const struct slice_where *where, const struct wet_trace *trace, uint32_t id)
{
    const struct wet_instruction *instruction = &trace->file.code.instructions[id];
    if (where->kind == SLICE_AT_FUNCTION)
        return slice_names_has(trace, id, where);
    if (where->kind == SLICE_AT_VARIABLE)
        return slice_names_accesses(trace, id, where);
    if (where->kind == SLICE_AT_ADDRESS)
        return instruction->address == where->address;
    return where->kind == SLICE_AT_LINE && instruction->line == where->line &&
           is_in_file(where, trace, id);
}

static int fail_address(const struct slice_where *where, const struct wet_trace *trace,
                        struct bt_error *error)
{
    const struct wet_code *code = &trace->file.code;
    uint32_t before = 0, after = 0;
    char text[2][24] = {"none", "none"};
    for (uint32_t id = 1; id < code->instruction_count; id++) {
        const uint64_t address = code->instructions[id].address;
        if (address < where->address && (!before || address > code->instructions[before].address))
            before = id;
        if (address > where->address && (!after || address < code->instructions[after].address))
            after = id;
    }
    if (before)
        snprintf(text[0], sizeof text[0], "%" PRIx64, code->instructions[before].address);
    if (after)
        snprintf(text[1], sizeof text[1], "%" PRIx64, code->instructions[after].address);
    return bt_fail(error, BT_USAGE,
                   "no instruction at %" PRIx64
                   " was executed; the nearest that were: before it %s, after it %s",
                   where->address, text[0], text[1]);
}

/* Names the executed file whose name is most similar. */
static int fail_file(const struct slice_where *where, const struct wet_trace *trace,
                     struct bt_error *error)
{
    const struct wet_code *code = &trace->file.code;
    const char *wanted = base_name(where->file), *nearest = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 1; i < code->file_count; i++) {
        const char *name = base_name(code->files[i]);
        const size_t distance = edit_distance(wanted, name);
        if (distance < best) {
            best = distance;
            nearest = name;
        }
    }
    if (!nearest)
        return bt_fail(error, BT_USAGE,
                       "the trace has no source lines: compile with -g, or give an address");
    return bt_fail(error, BT_USAGE,
                   "no code of %.120s was executed; the most similar name of the trace's %zu is "
                   "%.120s",
                   PRINTABLE(where->file), code->file_count - 1, PRINTABLE(nearest));
}

static int fail_line(const struct slice_where *where, const struct wet_trace *trace,
                     struct bt_error *error)
{
    const struct wet_code *code = &trace->file.code;
    uint32_t before = 0, after = 0;
    char text[2][16] = {"none", "none"};
    bool is_file = false;
    for (uint32_t id = 1; id < code->instruction_count; id++) {
        const uint32_t line = code->instructions[id].line;
        if (!is_in_file(where, trace, id) || line == 0)
            continue;
        is_file = true;
        if (line < where->line && line > before)
            before = line;
        if (line > where->line && (!after || line < after))
            after = line;
    }
    if (!is_file)
        return fail_file(where, trace, error);
    if (before)
        snprintf(text[0], sizeof text[0], "%" PRIu32, before);
    if (after)
        snprintf(text[1], sizeof text[1], "%" PRIu32, after);
    return bt_fail(
        error, BT_USAGE,
        "no code of line %" PRIu32
        " of %.120s was executed; the nearest lines that were: before it %s, after it %s",
        where->line, PRINTABLE(where->file), text[0], text[1]);
}

static int fail_instance(const struct slice_where *where, uint64_t most, struct bt_error *error)
{
    return bt_fail(error, BT_USAGE, "there is no instance %" PRIu64 ": the last one is %" PRIu64,
                   where->instance, most - 1);
}

/* --- finding -----------------------------------------------------------------------------------
 */

uint64_t *slice_where_counts(const struct wet_trace *trace)
{
    const struct wet_file *file = &trace->file;
    uint64_t *counts = calloc(file->code.instruction_count + 1, sizeof *counts);
    for (size_t chunk = 0; counts && chunk < file->place_count; chunk++)
        for (size_t i = 0; i < file->places[chunk].execution_count; i++) {
            const struct wet_execution *execution = &file->places[chunk].executions[i];
            const uint32_t *ids = wet_code_ids(&file->code, execution->block);
            for (uint32_t k = 0; k < file->code.blocks[execution->block].count; k++)
                counts[ids[k]] += execution->count;
        }
    return counts;
}

static int find_end(const struct wet_trace *trace, struct slice_criterion *criterion,
                    struct bt_error *error)
{
    const struct wet_file *file = &trace->file;
    const struct wet_place *last = file->places + file->place_count - 1;
    if (file->place_count == 0 || last->first + last->instructions == 0)
        return bt_fail(error, file->is_closed ? BT_USAGE : BT_DATA,
                       file->is_closed ? "the trace has no instructions"
                                       : "the trace was cut off before its first instruction");
    criterion->is_fault = file->is_closed && file->closing.has_fault;
    criterion->is_end = !criterion->is_fault;
    return 0;
}

/* Two files whose path ends as the user says. */
static int check_files(const struct slice_where *where, const struct wet_trace *trace,
                       const struct slice_criterion *criterion, struct bt_error *error)
{
    const struct wet_code *code = &trace->file.code;
    for (size_t i = 1; where->kind == SLICE_AT_LINE && i < criterion->count; i++) {
        const char *first = code->files[code->instructions[criterion->instances[0].id].file];
        const char *other = code->files[code->instructions[criterion->instances[i].id].file];
        if (strcmp(first, other) != 0)
            return bt_fail(
                error, BT_USAGE,
                "%.80s is the end of several paths, as %.120s and %.120s: give more of it",
                PRINTABLE(where->file), PRINTABLE(first), PRINTABLE(other));
    }
    return 0;
}

int slice_where_find(const struct slice_where *where, const struct wet_trace *trace,
                     const uint64_t *counts, struct slice_criterion *criterion,
                     struct bt_error *error)
{
    uint64_t most = 0;
    if (where->kind == SLICE_AT_END)
        return find_end(trace, criterion, error);
    /* the latest code at an address first */
    for (uint32_t id = (uint32_t)trace->file.code.instruction_count; id-- > 1;) {
        if (!is_place(where, trace, id) || counts[id] == 0)
            continue;
        if (counts[id] > most)
            most = counts[id];
        if (where->has_instance && where->instance >= counts[id])
            continue;
        if (slice_criterion_add(criterion, id,
                                where->has_instance ? where->instance : counts[id] - 1) < 0)
            return bt_fail(error, BT_MEMORY, "no memory for the places");
        if (where->kind == SLICE_AT_ADDRESS)
            return 0;
    }
    if (criterion->count > 0)
        return check_files(where, trace, criterion, error);
    if (most > 0)
        return fail_instance(where, most, error);
    return where->kind == SLICE_AT_ADDRESS ? fail_address(where, trace, error)
                                           : fail_line(where, trace, error);
}

void slice_where_mark(const struct slice_where *where, const struct wet_trace *trace, bool *ids)
{
    for (uint32_t id = 1; id < trace->file.code.instruction_count; id++)
        ids[id] = is_place(where, trace, id);
}
