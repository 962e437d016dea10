/* Captures made of existing records, for benchmarks and tests of readers of both. */
#ifndef TESTS_SUPPORT_RAW_CAPTURE_H
#define TESTS_SUPPORT_RAW_CAPTURE_H

#include "formats/record/record.h"

#include <stddef.h>

/* Writes count records as a raw file. Returns 0, or -1. */
int raw_file_write(const char *path, const struct record *records, size_t count);

/*
 * Makes a capture of one file with that prefix from the raw file's records, as the pipeline writes
 * it. Its path goes to capture (size bytes). Returns 0, or -1.
 */
int raw_capture_write(const char *raw, const char *prefix, char *capture, size_t size);

#endif
