#include "tools/wet/wet_print.h"

#include "formats/base/bytes.h"
#include "formats/wet/wet_text.h"
#include "tools/wet/wet_lines.h"

#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)

/* Instructions low to high - 1 are collected in the current pass. Ports and values are numbered
 * from those of `low`. */
struct wet_print {
    struct wet_trace *trace;
    const struct wet_print_settings *settings;
    struct text_writer *out;
    char *buffer;
    size_t fill;

    uint32_t low, high;
    bool is_first;         /* the first pass */
    uint64_t *executed;    /* by id */
    uint64_t *first_lines; /* by id: number of its first port among all, the control ones too */
    struct wet_lines *lines;
    struct wet_value_lines *values;
    size_t used; /* bytes of memory for lines and values */
};

static uint32_t id_limit(const struct wet_print *print)
{
    return (uint32_t)print->trace->file.code.instruction_count;
}

/* --- collecting ------------------------------------------------------------------------------- */

static struct wet_lines *lines_of(const struct wet_print *print, uint32_t id)
{
    return print->lines + (print->first_lines[id] - print->first_lines[print->low]);
}

static int add_line(struct wet_print *print, struct wet_lines *lines, uint64_t reader,
                    const struct wet_writers *writers)
{
    const size_t before = lines->bytes.capacity;
    const int result = wet_lines_put(lines, reader, writers);
    print->used += lines->bytes.capacity - before;
    return result;
}

static int add_value(struct wet_print *print, uint32_t id, uint64_t instance, const uint8_t *value,
                     unsigned size)
{
    struct wet_value_lines *lines = &print->values[id - print->low];
    const size_t before = lines->bytes.capacity;
    const int result = wet_value_lines_put(lines, instance, value, size);
    print->used += lines->bytes.capacity - before;
    return result;
}

/* Frees what was collected of an instruction. */
static void drop(struct wet_print *print, uint32_t id)
{
    struct wet_lines *lines = lines_of(print, id);
    struct wet_value_lines *values = &print->values[id - print->low];
    const uint32_t ports = wet_flow_ports(&print->trace->flows.flows[id]);
    for (uint32_t i = 0; i < ports; i++) {
        print->used -= lines[i].bytes.capacity;
        wet_lines_clear(&lines[i]);
    }
    print->used -= values->bytes.capacity;
    wet_value_lines_clear(values);
}

/* Leaves instructions to a further pass, so that a part of the memory is free again. */
static void shrink(struct wet_print *print)
{
    const size_t wanted = print->settings->memory / 8 * 7;
    while (print->used > wanted && print->high - print->low > 1)
        drop(print, --print->high);
}

static int collect_step(void *context, const struct wet_step *step)
{
    struct wet_print *print = context;
    const struct wet_flow *flow = &print->trace->flows.flows[step->id];
    int result = 0;
    print->executed[step->id] += print->is_first;
    if (step->id < print->low || step->id >= print->high)
        return 0;
    struct wet_lines *lines = lines_of(print, step->id);
    const struct wet_writers control = {
        .id = step->control.id, .first = step->control.instance, .count = 1};
    if (control.id)
        result = add_line(print, lines, step->instance, &control);
    for (uint32_t port = 0, at = 0; port < flow->port_count; port++)
        for (; at < step->ends[port] && result == 0; at++)
            result = add_line(print, &lines[port + 1], step->instance, &step->writers[at]);
    if (step->value && flow->has_value && result == 0)
        result = add_value(print, step->id, step->instance, step->value, flow->value_size);
    if (print->used > print->settings->memory)
        shrink(print);
    return result;
}

static int collect_result(void *context, uint32_t thread, struct wet_instance call, uint64_t value)
{
    struct wet_print *print = context;
    const struct wet_flow *flow = &print->trace->flows.flows[call.id];
    uint8_t bytes[8];
    (void)thread;
    if (call.id < print->low || call.id >= print->high || flow->kind != DECODE_SYSTEM_CALL ||
        !flow->has_value || !print->trace->file.header.has_values)
        return 0;
    bytes_put64(bytes, value);
    return add_value(print, call.id, call.instance, bytes, sizeof bytes);
}

/* Chooses the instructions of a pass: as many as have room for a line each. */
static int begin_pass(struct wet_print *print, struct bt_error *error)
{
    const size_t limit = print->settings->memory / 2;
    const uint64_t before = print->first_lines[print->low];
    size_t bytes = 0;
    for (print->high = print->low; print->high < id_limit(print) && bytes <= limit; print->high++)
        bytes = (size_t)(print->first_lines[print->high + 1] - before) * sizeof *print->lines +
                (print->high + 1 - print->low) * sizeof *print->values;
    const size_t ports = (size_t)(print->first_lines[print->high] - before);
    print->lines = calloc(ports + 1, sizeof *print->lines);
    print->values = calloc(print->high - print->low + 1, sizeof *print->values);
    print->used = bytes;
    if (!print->lines || !print->values)
        return bt_fail(error, BT_MEMORY, "no memory to print the trace");
    return 0;
}

static void end_pass(struct wet_print *print)
{
    for (uint32_t id = print->low; print->lines && print->values && id < print->high; id++)
        drop(print, id);
    free(print->lines);
    free(print->values);
    print->lines = NULL;
    print->values = NULL;
}

/* Replays the file. BT_DATA: it is damaged from some place on. */
static int collect(struct wet_print *print, struct bt_error *error)
{
    static const struct wet_replay_operations operations = {.step = collect_step,
                                                            .result = collect_result};
    const struct wet_file *file = &print->trace->file;
    struct wet_replay *replay = wet_replay_new(
        print->trace, WET_WANTS_CONTROL | WET_WANTS_MEMORY | WET_WANTS_REGISTERS | WET_WANTS_VALUES,
        &operations, print, error);
    int result = replay ? 1 : error->code;
    for (size_t i = 0; result > 0; i++) {
        if (print->settings->progress && i < file->place_count)
            print->settings->progress(print->settings->context, file->places[i].offset);
        result = wet_replay_next(replay, error);
    }
    wet_replay_free(replay);
    return result;
}

/* --- printing --------------------------------------------------------------------------------- */

static int flush(struct wet_print *print, struct bt_error *error)
{
    const size_t fill = print->fill;
    print->fill = 0;
    return text_writer_put(print->out, print->buffer, fill, error);
}

/* Room for a line. NULL: an error. */
static inline char *room(struct wet_print *print, struct bt_error *error)
{
    if (BUFFER_BYTES - print->fill < WET_TEXT_BYTES && flush(print, error) < 0)
        return NULL;
    return print->buffer + print->fill;
}

static inline void filled(struct wet_print *print, const char *end)
{
    print->fill = (size_t)(end - print->buffer);
}

static int print_lines(struct wet_print *print, const struct wet_lines *lines,
                       struct bt_error *error)
{
    struct wet_lines_cursor cursor;
    struct wet_line_group group;
    char *out = room(print, error);
    if (!out)
        return error->code;
    filled(print, wet_text_put_size(out, lines->count));
    for (wet_lines_begin(&cursor, lines); wet_lines_next(&cursor, &group);)
        for (uint64_t i = 0; i < group.count; i++) {
            if (!(out = room(print, error)))
                return error->code;
            filled(print, wet_text_put_dependence(out, group.reader + i * group.step, group.id,
                                                  group.writer + i * group.stride));
        }
    return 0;
}

static int print_values(struct wet_print *print, uint32_t id, struct bt_error *error)
{
    const struct wet_flow *flow = &print->trace->flows.flows[id];
    struct wet_value_lines *lines = &print->values[id - print->low];
    struct wet_values_cursor cursor;
    uint64_t instance;
    char *out = room(print, error);
    if (!out)
        return error->code;
    if (!flow->has_value || !print->trace->file.header.has_values) {
        filled(print, wet_text_put_no_values(out));
        return 0;
    }
    const size_t before = lines->bytes.capacity;
    if (lines->is_unordered && wet_value_lines_sort(lines, flow->value_size) < 0)
        return bt_fail(error, BT_MEMORY, "no memory to print the trace");
    print->used += lines->bytes.capacity - before;
    filled(print, wet_text_put_values(out, lines->count));
    wet_values_cursor_begin(&cursor, lines, flow->value_size);
    while (wet_values_cursor_next(&cursor, &instance)) {
        if (!(out = room(print, error)))
            return error->code;
        filled(print, wet_text_put_value(out, instance, cursor.bytes, flow->value_size));
    }
    return 0;
}

/* The name without its folders. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int print_instruction(struct wet_print *print, uint32_t id, struct bt_error *error)
{
    const struct wet_code *code = &print->trace->file.code;
    const struct wet_instruction *instruction = &code->instructions[id];
    const uint32_t ports = wet_flow_ports(&print->trace->flows.flows[id]);
    const struct wet_text_instruction line = {.id = id,
                                              .ports = ports,
                                              .address = instruction->address,
                                              .file = base_name(code->files[instruction->file]),
                                              .function =
                                                  code->functions[instruction->function].name,
                                              .line = instruction->line};
    char *out = room(print, error);
    if (!out)
        return error->code;
    filled(print, wet_text_put_instruction(out, &line));
    int result = 0;
    for (uint32_t i = 0; i < ports && result == 0; i++)
        result = print_lines(print, &lines_of(print, id)[i], error);
    return result == 0 ? print_values(print, id, error) : result;
}

/* Prints N before the first instruction. */
static int print_count(struct wet_print *print, struct wet_printed *printed, struct bt_error *error)
{
    char *out = room(print, error);
    for (uint32_t id = 1; id < id_limit(print); id++)
        printed->instructions += print->executed[id] > 0;
    if (!out)
        return error->code;
    filled(print, wet_text_put_count(out, printed->instructions));
    return 0;
}

static int print_pass(struct wet_print *print, struct wet_printed *printed, struct bt_error *error)
{
    int result = begin_pass(print, error);
    if (result == 0)
        result = collect(print, error);
    if (result == BT_DATA) {
        printed->damage = *error;
        result = 0;
    }
    if (result == 0 && print->is_first)
        result = print_count(print, printed, error);
    print->is_first = false;
    printed->passes++;
    for (uint32_t id = print->low; id < print->high && result == 0; id++)
        if (print->executed[id] > 0)
            result = print_instruction(print, id, error);
    end_pass(print);
    print->low = print->high;
    return result;
}

static int allocate(struct wet_print *print, struct bt_error *error)
{
    const size_t ids = print->trace->file.code.instruction_count;
    uint64_t lines = 0;
    print->buffer = malloc(BUFFER_BYTES);
    print->executed = calloc(ids + 1, sizeof *print->executed);
    print->first_lines = malloc((ids + 1) * sizeof *print->first_lines);
    if (!print->buffer || !print->executed || !print->first_lines)
        return bt_fail(error, BT_MEMORY, "no memory to print the trace");
    for (size_t id = 0; id <= ids; id++) {
        print->first_lines[id] = lines;
        lines += id < ids ? wet_flow_ports(&print->trace->flows.flows[id]) : 0;
    }
    return 0;
}

int wet_print(struct wet_trace *trace, struct text_writer *out,
              const struct wet_print_settings *settings, struct wet_printed *printed,
              struct bt_error *error)
{
    struct wet_print print = {
        .trace = trace, .settings = settings, .out = out, .low = 1, .is_first = true};
    *printed = (struct wet_printed){.instructions = 0};
    int result = allocate(&print, error);
    do
        result = result == 0 ? print_pass(&print, printed, error) : result;
    while (result == 0 && print.low < id_limit(&print));
    if (result == 0)
        result = flush(&print, error);
    free(print.buffer);
    free(print.executed);
    free(print.first_lines);
    return result;
}
