/* Numbers as people write them: sizes, durations, counts. */
#ifndef FORMATS_BASE_QUANTITY_H
#define FORMATS_BASE_QUANTITY_H

#include "formats/base/error.h"

#include <stdint.h>

/* "123", "64K", "1.5M", "1G", "2T": powers of 1024, with an optional "B" or "iB". In bytes; "1.1M"
 * is no whole number of them. 0 or BT_USAGE. */
int quantity_bytes(uint64_t *bytes, const char *text, struct bt_error *error);

/* "90", "1.5s", "250ms", "20us", "10m", "1h", "2d": nanoseconds; a bare number is seconds. 0 or
 * BT_USAGE. */
int quantity_duration(int64_t *nanoseconds, const char *text, struct bt_error *error);

/* "1000", "5k", "2.5M", "1G": powers of 1000; also 0x numbers. "2.5" is no count. 0 or BT_USAGE. */
int quantity_count(uint64_t *count, const char *text, struct bt_error *error);

/* "1,234,567"; text has room for QUANTITY_TEXT_BYTES. Returns text. */
#define QUANTITY_TEXT_BYTES 28u
char *quantity_text(char *text, uint64_t number);

#endif
