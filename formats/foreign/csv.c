#include "formats/foreign/csv.h"

#include "formats/foreign/foreign_text.h"
#include "formats/record/record_text.h"

#include <string.h>

#define COLUMNS_MAX     (FOREIGN_ITEM_BYTES_MAX + 1) /* of the longest heading */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

enum csv_column {
    COLUMN_NONE,
    COLUMN_INDEX,
    COLUMN_TICK,
    COLUMN_ADDRESS,
    COLUMN_TYPE,
    COLUMN_SIZE,
    COLUMN_ATTRIBUTE,
    COLUMN_PROCESSOR,
    COLUMN_TIME,
    COLUMNS
};

static const char *const names[COLUMNS] = {"",     "index",     "tick",      "address", "type",
                                           "size", "attribute", "processor", "time"};

struct csv_reader {
    bool headed; /* the heading is read */
    uint8_t columns[COLUMNS_MAX];
    unsigned count;
    bool has[COLUMNS];
    uint8_t duplicate; /* a duplicate column, or COLUMN_NONE */
};

/* --- reading --- */

static uint8_t find_column(const struct foreign_line *field)
{
    for (uint8_t column = 1; column < COLUMNS; column++)
        if (foreign_line_is(field, names[column]))
            return column;
    return COLUMN_NONE;
}

/* False if address or type is missing. */
static bool take_heading(struct csv_reader *csv, struct foreign_line line)
{
    struct foreign_line field;
    csv->headed = true;
    if (line.end - line.at >= 3 && memcmp(line.at, BYTE_ORDER_MARK, 3) == 0)
        line.at += 3; /* a byte order mark, as spreadsheets write it */
    while (csv->count < COLUMNS_MAX && foreign_line_field(&line, ',', &field)) {
        uint8_t column = find_column(&field);
        if (csv->has[column])
            csv->duplicate = column;
        csv->columns[csv->count++] = column;
        csv->has[column] = column != COLUMN_NONE;
    }
    return csv->has[COLUMN_ADDRESS] && csv->has[COLUMN_TYPE];
}

bool csv_is_header(const uint8_t *line, size_t size)
{
    struct csv_reader csv = {.count = 0};
    return take_heading(&csv, (struct foreign_line){.at = line, .end = line + size});
}

/* A type's name as bustap writes it, or a number. */
static bool take_type(struct foreign_line *field, uint8_t *type)
{
    uint64_t number;
    for (unsigned ordinal = 0; ordinal < REQUEST_TYPES; ordinal++) {
        *type = request_type_at(ordinal);
        if (foreign_line_is(field, request_type_name(*type)))
            return true;
    }
    if (!foreign_line_number(field, &number) || field->at < field->end || number > UINT8_MAX)
        return false;
    *type = (uint8_t)number;
    return true;
}

/* Stores a number in the column's field. */
static bool take_number(struct foreign_item *item, enum csv_column column, uint64_t number)
{
    struct foreign_reference *reference = &item->references[0];
    switch (column) {
    case COLUMN_INDEX:
        item->index = number;
        return true;
    case COLUMN_TICK:
        item->tick = number;
        return true;
    case COLUMN_ADDRESS:
        reference->address = number;
        return true;
    case COLUMN_SIZE:
        reference->size = number;
        return true;
    case COLUMN_ATTRIBUTE:
        reference->attribute = (uint8_t)number;
        return number <= UINT8_MAX;
    case COLUMN_PROCESSOR:
        reference->processor = number;
        return true;
    default:
        item->time = number;
        return true;
    }
}

static bool take_field(struct foreign_item *item, enum csv_column column,
                       struct foreign_line *field)
{
    uint64_t number;
    if (column == COLUMN_NONE)
        return true;
    if (column == COLUMN_TYPE)
        return take_type(field, &item->references[0].type);
    return foreign_line_number(field, &number) && field->at == field->end &&
           take_number(item, column, number);
}

static enum foreign_time timed(const struct csv_reader *csv)
{
    if (csv->has[COLUMN_TIME])
        return csv->has[COLUMN_TICK] ? FOREIGN_TIME_TICK : FOREIGN_TIME_SINCE;
    return csv->has[COLUMN_TICK] ? FOREIGN_TICK : FOREIGN_TIMELESS;
}

static int decode_heading(struct csv_reader *csv, struct foreign_line line, struct bt_error *error)
{
    if (!take_heading(csv, line))
        return bt_fail(
            error, BT_DATA,
            "the heading lacks address or type: columns, separated by commas, are index, "
            "tick, address, type, size, attribute, processor and time");
    if (csv->duplicate != COLUMN_NONE)
        return bt_fail(error, BT_DATA, "duplicate column %s in the heading", names[csv->duplicate]);
    return 0;
}

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    struct csv_reader *csv = state;
    struct foreign_line line = {.at = bytes, .end = bytes + size};
    struct foreign_line field;
    (void)last;
    if (!csv->headed)
        return decode_heading(csv, line, error);
    if (size == 0)
        return 0;
    if (!csv->has[COLUMN_ADDRESS] || !csv->has[COLUMN_TYPE] || csv->duplicate != COLUMN_NONE)
        return 0; /* reported with the heading */
    item->references[0] = (struct foreign_reference){.attribute = ATTRIBUTE_WRITE_BACK};
    for (unsigned i = 0; i < csv->count; i++) {
        if (!foreign_line_field(&line, ',', &field))
            return bt_fail(error, BT_DATA, "it has %u fields, the heading has %u", i, csv->count);
        if (!take_field(item, (enum csv_column)csv->columns[i], &field))
            return bt_fail(error, BT_DATA, "field %u is not a valid %s", i + 1,
                           names[csv->columns[i]]);
    }
    if (foreign_line_field(&line, ',', &field))
        return bt_fail(error, BT_DATA, "it has more fields than the heading, which has %u",
                       csv->count);
    item->has_index = csv->has[COLUMN_INDEX];
    item->timed = timed(csv);
    item->count = 1;
    return 0;
}

const struct foreign_decoder csv_decoder = {
    .lines = true, .timed = true, .state_bytes = sizeof(struct csv_reader), .decode = decode};

/* --- writing --- */

static int begin(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error)
{
    const char *heading = record_text_header(RECORD_TEXT_CSV);
    (void)state;
    (void)options;
    (void)writer;
    (void)error;
    *filled = strlen(heading);
    memcpy(out, heading, *filled);
    return 0;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    (void)state;
    (void)error;
    loss->written += run->count;
    return out +
           record_text_put(RECORD_TEXT_CSV, out, run->records, run->count, run->index, run->tick);
}

const struct foreign_encoder csv_encoder = {
    .record_bytes = RECORD_TEXT_MAX_BYTES, .head_bytes = 128, .begin = begin, .encode = encode};
