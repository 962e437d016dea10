/*
 * Deflate for 12-byte records: the same streams that zlib writes and every gzip program reads,
 * found in a way that knows what the bytes are. Where a general compressor tries every byte
 * position, this one asks three questions a record:
 *
 *   was there a record with the same address but for its lowest byte, and the same rest?
 *   ... with the same address but for its lowest byte, and the same kind, at another time?
 *   ... with the same kind and time, at another address?
 *
 * and writes one match and a few literals. Codes come from a sample of the block. What it gains
 * over the fastest general compressor, in speed and in size, is in doc/benchmarks.md.
 */
#ifndef FORMATS_DEFLATE_DEFLATE_RECORDS_H
#define FORMATS_DEFLATE_DEFLATE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

struct deflate_records;

/* A compressor of fixed size (about 50 KiB), or NULL (no memory). Free with deflate_records_free.
 */
struct deflate_records *deflate_records_new(void);
void deflate_records_free(struct deflate_records *deflater);

/*
 * Compresses size bytes, records of 12 bytes (a part record at the end is allowed), into one raw
 * deflate stream; capacity >= deflate_bound(size). Returns the stream's bytes. The result depends
 * on the input alone, not on what was compressed before.
 */
size_t deflate_records_encode(struct deflate_records *deflater, const uint8_t *in, size_t size,
                              uint8_t *out, size_t capacity);

#endif
