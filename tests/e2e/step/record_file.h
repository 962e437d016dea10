/* A capture whose records are one tick apart, written as they arrive. */
#ifndef TESTS_E2E_STEP_RECORD_FILE_H
#define TESTS_E2E_STEP_RECORD_FILE_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stdbool.h>

struct record_file;

/* Makes a capture file, or a raw file of 12-byte records. Returns NULL and sets *error on
 * failure. */
struct record_file *record_file_new(const char *path, bool raw, struct bt_error *error);

/* Appends a record; overwrites its time. Returns 0 or a negative code. */
int record_file_put(struct record_file *file, struct record record, struct bt_error *error);

/* Writes the rest, and the number of requests above 4 GiB, which have no records. Returns 0 or a
 * negative code; call record_file_free afterwards. */
int record_file_close(struct record_file *file, uint64_t above_4gib, struct bt_error *error);
void record_file_free(struct record_file *file);

#endif
