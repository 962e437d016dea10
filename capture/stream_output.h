/*
 * A capture on standard output, as one stream: its files follow one another, and none is renamed.
 * The pipe's reader cannot hold up the end of the capture.
 */
#ifndef CAPTURE_STREAM_OUTPUT_H
#define CAPTURE_STREAM_OUTPUT_H

#include "capture/capture.h"

#define STREAM_OUTPUT_NAME "standard output"

/* Whether the prefix names standard output: "-". */
bool stream_output_is_named(const char *prefix);

/*
 * A capture_write_function (formats/capture/capture_writer.h); context is the struct capture. Waits
 * for a pipe's reader, but once the capture is to stop for at most 5 s without progress: then -1
 * with ETIMEDOUT.
 */
int stream_output_write(void *context, int file, const void *bytes, size_t size, size_t *done);

/* Whether the reader of a pipe has closed it; false for other files. */
bool stream_output_is_closed(int file);

#endif
