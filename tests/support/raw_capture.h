/* A capture made of records that are there already, for benchmarks and tests of what reads both. */
#ifndef TESTS_SUPPORT_RAW_CAPTURE_H
#define TESTS_SUPPORT_RAW_CAPTURE_H

#include "formats/record/record.h"

#include <stddef.h>

/* Writes count records as a raw file. 0, or -1. */
int raw_file_write(const char *path, const struct record *records, size_t count);

/*
 * Makes a capture with that prefix, one file, of the raw file's records, as the pipeline writes any
 * capture. Its path goes to capture (size bytes). 0, or -1.
 */
int raw_capture_write(const char *raw, const char *prefix, char *capture, size_t size);

#endif
