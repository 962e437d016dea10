/* A capture of records that are a tick apart, written as they come. */
#ifndef TESTS_E2E_STEP_RECORD_FILE_H
#define TESTS_E2E_STEP_RECORD_FILE_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stdbool.h>

struct record_file;

/* A capture file, or records of 12 bytes and nothing else (raw). NULL and *error on failure. */
struct record_file *record_file_new(const char *path, bool raw, struct bt_error *error);

/* Appends a record; its time is written over. 0 or a negative code. */
int record_file_put(struct record_file *file, struct record record, struct bt_error *error);

/* Writes what is left, and that above_4gib more requests could not be records. 0 or a negative
 * code; record_file_free is still to be called. */
int record_file_close(struct record_file *file, uint64_t above_4gib, struct bt_error *error);
void record_file_free(struct record_file *file);

#endif
