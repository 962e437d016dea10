#include "tools/common/record_print.h"

#include <string.h>

/* Records formatted at a time: their longest text fits one reservation. */
#define PIECE_RECORDS (OUTPUT_RESERVE_MAX / RECORD_TEXT_MAX_BYTES)

int record_print_heading(const struct record_print *print, struct bt_error *error)
{
    const char *heading = print->raw ? "" : record_text_header(print->form);
    char *out = output_reserve(print->output, strlen(heading), error);
    if (!out)
        return error->code;
    memcpy(out, heading, strlen(heading));
    output_filled(print->output, strlen(heading));
    return 0;
}

/* Prints count successive records, the first one at tick. */
static int print_run(const struct record_print *print, const struct record *records, size_t count,
                     uint64_t index, uint64_t tick, struct bt_error *error)
{
    while (count > 0) {
        size_t some = count < PIECE_RECORDS ? count : PIECE_RECORDS;
        size_t size = some * RECORD_BYTES;
        char *out = output_reserve(print->output, some * RECORD_TEXT_MAX_BYTES, error);
        if (!out)
            return error->code;
        if (print->raw)
            records_put((uint8_t *)out, records, some);
        else
            size = record_text_put(print->form, out, records, some, index, tick);
        output_filled(print->output, size);
        count -= some;
        if (count == 0)
            break;
        tick += records_time(records + 1, some);
        records += some;
        index += some;
    }
    return 0;
}

static bool is_selected(const uint64_t *selected, size_t i)
{
    return selected[i / 64] >> i % 64 & 1;
}

int record_print_batch(const struct record_print *print, const struct batch *batch,
                       const uint64_t *selected, struct bt_error *error)
{
    uint64_t tick = batch->first_tick; /* of record i */
    size_t i = 0;
    if (!selected)
        return print_run(print, batch->records, batch->count, batch->first_index, tick, error);
    while (i < batch->count) {
        size_t end = i;
        while (end < batch->count && is_selected(selected, end))
            end++;
        int result =
            print_run(print, batch->records + i, end - i, batch->first_index + i, tick, error);
        if (result < 0)
            return result;
        do { /* records[end] is not selected */
            end++;
        } while (end < batch->count && !is_selected(selected, end));
        if (end < batch->count)
            tick += records_time(batch->records + i + 1, end - i);
        i = end;
    }
    return 0;
}
