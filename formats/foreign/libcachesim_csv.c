#include "formats/foreign/libcachesim_csv.h"

#include "formats/base/digits.h"
#include "formats/foreign/foreign_text.h"
#include "formats/foreign/objects.h"

#include <string.h>

#define COLUMNS_MAX (FOREIGN_ITEM_BYTES_MAX + 1) /* of the longest heading */

enum object_column {
    COLUMN_NONE,
    COLUMN_TIME,
    COLUMN_OBJECT,
    COLUMN_SIZE,
    COLUMN_OPERATION,
    COLUMNS
};

struct libcachesim_reader {
    struct objects objects;
    bool headed;
    bool unusable; /* no column has objects, or one is a duplicate: reported with the heading */
    unsigned duplicate; /* the duplicate column's number, from 1; 0: none */
    uint8_t columns[COLUMNS_MAX];
    unsigned count;
};

/* --- reading --- */

static const struct {
    const char *name;
    enum object_column column;
} headings[] = {
    {"time", COLUMN_TIME},           {"clock_time", COLUMN_TIME},  {"real_time", COLUMN_TIME},
    {"timestamp", COLUMN_TIME},      {"object", COLUMN_OBJECT},    {"object_id", COLUMN_OBJECT},
    {"obj_id", COLUMN_OBJECT},       {"obj", COLUMN_OBJECT},       {"id", COLUMN_OBJECT},
    {"size", COLUMN_SIZE},           {"object_size", COLUMN_SIZE}, {"obj_size", COLUMN_SIZE},
    {"operation", COLUMN_OPERATION}, {"op", COLUMN_OPERATION}};

/* False if no column has objects. */
static bool take_heading(struct libcachesim_reader *csv, struct foreign_line line)
{
    struct foreign_line field;
    bool has[COLUMNS] = {false};
    while (csv->count < COLUMNS_MAX && foreign_line_field(&line, ',', &field)) {
        enum object_column column = COLUMN_NONE;
        for (size_t i = 0; i < sizeof headings / sizeof *headings && !column; i++)
            if (foreign_line_is(&field, headings[i].name))
                column = headings[i].column;
        csv->columns[csv->count++] = (uint8_t)column;
        if (has[column] && !csv->duplicate)
            csv->duplicate = csv->count;
        has[column] = column != COLUMN_NONE;
    }
    return has[COLUMN_OBJECT];
}

bool libcachesim_csv_is_header(const uint8_t *line, size_t size)
{
    struct libcachesim_reader csv = {.count = 0};
    return take_heading(&csv, (struct foreign_line){.at = line, .end = line + size});
}

static void begin_reading(void *state, const struct foreign_options *options)
{
    struct libcachesim_reader *csv = state;
    objects_begin(&csv->objects, options);
}

/* Without a heading: time, object, size, operation; further columns are ignored. */
static void assume_heading(struct libcachesim_reader *csv, struct foreign_line line)
{
    struct foreign_line field;
    while (csv->count < COLUMNS_MAX && foreign_line_field(&line, ',', &field)) {
        csv->columns[csv->count] = csv->count < COLUMN_OPERATION ? (uint8_t)(csv->count + 1) : 0;
        csv->count++;
    }
    csv->unusable = csv->count < COLUMN_OBJECT;
}

/* libCacheSim's operations that write; others read. */
static uint8_t type_of(const struct foreign_line *operation)
{
    static const char *const writes[] = {"write",  "set",     "add",    "cas",  "replace",
                                         "append", "prepend", "update", "incr", "decr"};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        if (foreign_line_is(operation, writes[i]))
            return REQUEST_MEMWRITE;
    return foreign_line_is(operation, "get") ? REQUEST_FETCH : REQUEST_MEMREAD;
}

/* An integer; of a time, the digits after a point are dropped. */
static bool take_number(struct foreign_line *field, bool fraction, uint64_t *number)
{
    if (!foreign_line_number(field, number))
        return false;
    if (fraction && foreign_line_expect(field, '.'))
        while (field->at < field->end && *field->at >= '0' && *field->at <= '9')
            field->at++;
    return field->at == field->end;
}

static int refuse_heading(const struct libcachesim_reader *csv, struct bt_error *error)
{
    if (csv->duplicate)
        return bt_fail(error, BT_DATA, "column %u of the heading is a duplicate", csv->duplicate);
    return bt_fail(error, BT_DATA, "the heading lacks the object");
}

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    struct libcachesim_reader *csv = state;
    struct foreign_line line = {.at = bytes, .end = bytes + size};
    struct foreign_line field;
    uint64_t values[COLUMN_OPERATION + 1] = {0};
    uint8_t type = REQUEST_MEMREAD;
    (void)last;
    if (size == 0 || csv->unusable)
        return 0;
    if (!csv->headed) {
        csv->headed = true;
        if (bytes[0] < '0' || bytes[0] > '9') {
            csv->unusable = !take_heading(csv, line) || csv->duplicate;
            return csv->unusable ? refuse_heading(csv, error) : 0;
        }
        assume_heading(csv, line);
        if (csv->unusable)
            return bt_fail(error, BT_DATA, "it lacks a time and an object");
    }
    bool timed = false;
    values[COLUMN_SIZE] = objects_size(&csv->objects);
    for (unsigned i = 0; i < csv->count; i++) {
        enum object_column column = (enum object_column)csv->columns[i];
        if (!foreign_line_field(&line, ',', &field))
            return bt_fail(error, BT_DATA, "it has %u fields; %u are required", i, csv->count);
        timed = timed || column == COLUMN_TIME;
        if (column == COLUMN_OPERATION)
            type = type_of(&field);
        else if (column != COLUMN_NONE &&
                 !take_number(&field, column == COLUMN_TIME, &values[column]))
            return bt_fail(error, BT_DATA, "field %u is not a number", i + 1);
    }
    if (foreign_line_field(&line, ',', &field))
        return bt_fail(error, BT_DATA, "it has more fields than the first line, which has %u",
                       csv->count);
    objects_reference(&csv->objects, item, values[COLUMN_TIME], values[COLUMN_OBJECT],
                      values[COLUMN_SIZE], type);
    if (!timed)
        item->timed = FOREIGN_TIMELESS;
    return 0;
}

const struct foreign_decoder libcachesim_csv_decoder = {.lines = true,
                                                        .timed = true,
                                                        .state_bytes =
                                                            sizeof(struct libcachesim_reader),
                                                        .begin = begin_reading,
                                                        .decode = decode};

/* --- writing --- */

#define LINE_BYTES 64u /* "18446744073709551615,4294967295,2147483648,write\n" */
#define HEADING    "time,object,size,operation\n"

static int begin(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error)
{
    (void)writer;
    (void)error;
    objects_begin(state, options);
    memcpy(out, HEADING, sizeof HEADING - 1);
    *filled = sizeof HEADING - 1;
    return 0;
}

static char *put_line(char *out, uint64_t time, uint32_t object, uint32_t size,
                      const char *operation)
{
    out = digits_put_decimal(out, time);
    *out++ = ',';
    out = digits_put_decimal(out, object);
    *out++ = ',';
    out = digits_put_decimal(out, size);
    size_t length = strlen(operation);
    memcpy(out, operation, length);
    return out + length;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    static const char *const operations[] = {[REQUEST_FETCH] = ",get\n",
                                             [REQUEST_MEMREAD] = ",read\n",
                                             [REQUEST_MEMREADINV] = ",read\n",
                                             [REQUEST_MEMWRITE] = ",write\n"};
    const struct objects *objects = state;
    uint64_t tick = run->tick;
    (void)error;
    for (size_t i = 0; i < run->count; i++) {
        const struct record *record = &run->records[i];
        tick += i > 0 ? record->time : 0;
        if (foreign_leaves_out(record->type, loss))
            continue;
        uint64_t time = objects_time(objects, tick);
        uint32_t object = objects_first(objects, record);
        for (uint32_t left = objects_count(objects, record); left > 0; left--) {
            out = put_line(out, time, object, objects_size(objects), operations[record->type]);
            object = object < objects_last(objects) ? object + 1 : 0;
        }
        loss->count[FOREIGN_INVALIDATE] += record->type == REQUEST_MEMREADINV;
        loss->written++;
    }
    return out;
}

const struct foreign_encoder libcachesim_csv_encoder = {.state_bytes = sizeof(struct objects),
                                                        .record_bytes =
                                                            OBJECTS_OF_ONE_MAX * LINE_BYTES,
                                                        .head_bytes = sizeof HEADING,
                                                        .begin = begin,
                                                        .encode = encode};
