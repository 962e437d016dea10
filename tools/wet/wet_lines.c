#include "tools/wet/wet_lines.h"

#include "formats/base/bytes.h"
#include "formats/wet/wet_chunk.h"

/*
 * The bytes of dependences are, in turn: how many lines continue the one before (the next reader,
 * the same id, the same distance between writers as last), and a line that does not: the increase
 * of the reader, doubled, plus 1 for a range; the differences of id and writer; of a range the
 * number of instances less 1. The last run is not in the bytes. Values are stored likewise.
 */

/* No offset is added to NULL. */
static const uint8_t *end_of(const struct wet_bytes *bytes)
{
    return bytes->size > 0 ? bytes->bytes + bytes->size : bytes->bytes;
}

/* --- dependences ------------------------------------------------------------------------------ */

int wet_lines_put(struct wet_lines *lines, uint64_t reader, const struct wet_writers *writers)
{
    const uint64_t distance = writers->first - lines->writer;
    lines->count += writers->count;
    if (writers->count == 1 && reader == lines->reader && writers->id == lines->id &&
        distance == lines->stride) {
        lines->run++;
    } else {
        struct wet_bytes *to = &lines->bytes;
        wet_bytes_put(to, lines->run);
        wet_bytes_put(to, (reader + 1 - lines->reader) << 1 | (writers->count > 1));
        wet_bytes_put(to, wet_zigzag((uint64_t)writers->id - lines->id));
        wet_bytes_put(to, wet_zigzag(distance));
        if (writers->count > 1)
            wet_bytes_put(to, writers->count - 1);
        lines->run = 0;
        lines->stride = writers->id == lines->id ? distance : 1;
    }
    lines->reader = reader + 1;
    lines->writer = writers->first + writers->count - 1;
    lines->id = writers->id;
    return lines->bytes.out_of_memory ? BT_MEMORY : 0;
}

void wet_lines_clear(struct wet_lines *lines)
{
    free(lines->bytes.bytes);
    *lines = (struct wet_lines){.reader = 0};
}

void wet_lines_begin(struct wet_lines_cursor *cursor, const struct wet_lines *lines)
{
    const struct wet_bytes *bytes = &lines->bytes;
    *cursor = (struct wet_lines_cursor){.lines = lines,
                                        .from = {.at = bytes->bytes, .end = end_of(bytes)}};
}

/* Reads the length of a run. False: there is none, a single line follows. */
static bool next_run(struct wet_lines_cursor *cursor, struct wet_line_group *group)
{
    cursor->is_at_end = cursor->from.at == cursor->from.end;
    cursor->has_run = true;
    *group = (struct wet_line_group){.reader = cursor->reader,
                                     .writer = cursor->writer + cursor->stride,
                                     .stride = cursor->stride,
                                     .count = cursor->is_at_end ? cursor->lines->run
                                                                : wet_cursor_get(&cursor->from),
                                     .id = cursor->id,
                                     .step = 1};
    cursor->reader += group->count;
    cursor->writer += group->count * cursor->stride;
    return group->count > 0;
}

bool wet_lines_next(struct wet_lines_cursor *cursor, struct wet_line_group *group)
{
    if (!cursor->has_run && next_run(cursor, group))
        return true;
    if (cursor->is_at_end)
        return false;
    cursor->has_run = false;
    const uint64_t more = wet_cursor_get(&cursor->from);
    const uint64_t other = wet_unzigzag(wet_cursor_get(&cursor->from));
    const uint64_t distance = wet_unzigzag(wet_cursor_get(&cursor->from));
    *group = (struct wet_line_group){.reader = cursor->reader + (more >> 1) - 1,
                                     .writer = cursor->writer + distance,
                                     .stride = 1,
                                     .count = more & 1 ? wet_cursor_get(&cursor->from) + 1 : 1,
                                     .id = (uint32_t)(cursor->id + other)};
    cursor->reader = group->reader + 1;
    cursor->writer = group->writer + group->count - 1;
    cursor->stride = other == 0 ? distance : 1;
    cursor->id = group->id;
    return true;
}

/* --- values ----------------------------------------------------------------------------------- */

static uint64_t mask_of(unsigned size)
{
    return size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
}

static uint64_t small_value(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

int wet_value_lines_put(struct wet_value_lines *lines, uint64_t instance, const uint8_t *value,
                        unsigned size)
{
    struct wet_bytes *to = &lines->bytes;
    const uint64_t number = size <= 8 ? small_value(value, size) : 0;
    lines->is_unordered |= instance < lines->instance;
    lines->count++;
    if (size <= 8 && instance == lines->instance &&
        number == ((lines->value + lines->stride) & mask_of(size))) {
        lines->run++;
    } else {
        wet_bytes_put(to, lines->run);
        wet_bytes_put(to, wet_zigzag(instance - lines->instance));
        if (size <= 8)
            wet_bytes_put(to, wet_zigzag(number - lines->value));
        else
            wet_bytes_append(to, value, size);
        lines->run = 0;
        lines->stride = number - lines->value;
    }
    lines->instance = instance + 1;
    lines->value = number;
    return to->out_of_memory ? BT_MEMORY : 0;
}

void wet_value_lines_clear(struct wet_value_lines *lines)
{
    free(lines->bytes.bytes);
    *lines = (struct wet_value_lines){.run = 0};
}

void wet_values_cursor_begin(struct wet_values_cursor *cursor, const struct wet_value_lines *lines,
                             unsigned size)
{
    const struct wet_bytes *bytes = &lines->bytes;
    *cursor = (struct wet_values_cursor){
        .lines = lines, .from = {.at = bytes->bytes, .end = end_of(bytes)}, .size = size};
}

bool wet_values_cursor_next(struct wet_values_cursor *cursor, uint64_t *instance)
{
    const bool is_at_end = cursor->from.at == cursor->from.end;
    if (!cursor->has_run)
        cursor->run = is_at_end ? cursor->lines->run : wet_cursor_get(&cursor->from);
    cursor->has_run = true;
    if (cursor->run > 0) {
        cursor->run--;
        cursor->value = (cursor->value + cursor->stride) & mask_of(cursor->size);
    } else if (is_at_end) {
        return false;
    } else {
        cursor->has_run = false;
        cursor->instance += wet_unzigzag(wet_cursor_get(&cursor->from));
        if (cursor->size <= 8) {
            cursor->stride = wet_unzigzag(wet_cursor_get(&cursor->from));
            cursor->value += cursor->stride;
        } else {
            cursor->bytes = cursor->from.at;
            cursor->from.at += cursor->size;
        }
    }
    *instance = cursor->instance++;
    if (cursor->size <= 8) {
        bytes_put64(cursor->small, cursor->value);
        cursor->bytes = cursor->small;
    }
    return true;
}

/* --- order ------------------------------------------------------------------------------------ */

struct numbered_value {
    uint64_t instance, value;
};

static int compare_instances(const void *a, const void *b)
{
    const struct numbered_value *left = a, *right = b;
    return (left->instance > right->instance) - (left->instance < right->instance);
}

int wet_value_lines_sort(struct wet_value_lines *lines, unsigned size)
{
    struct wet_value_lines sorted = {.bytes = {.bytes = NULL}};
    struct wet_values_cursor cursor;
    struct numbered_value *all = malloc((size_t)(lines->count + 1) * sizeof *all);
    uint8_t bytes[8];
    size_t count = 0;
    int result = 0;
    if (!all)
        return BT_MEMORY;
    wet_values_cursor_begin(&cursor, lines, size);
    while (wet_values_cursor_next(&cursor, &all[count].instance))
        all[count++].value = cursor.value;
    qsort(all, count, sizeof *all, compare_instances);
    for (size_t i = 0; i < count && result == 0; i++) {
        if (i > 0 && all[i].instance == all[i - 1].instance)
            continue;
        bytes_put64(bytes, all[i].value);
        result = wet_value_lines_put(&sorted, all[i].instance, bytes, size);
    }
    free(all);
    wet_value_lines_clear(lines);
    *lines = sorted;
    return result;
}
