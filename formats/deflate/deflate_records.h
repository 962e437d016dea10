/*
 * Deflate for 12-byte records: standard streams that every gzip program reads. A general compressor
 * searches at every byte position; this one makes at most three searches a record:
 *
 *   a record with the same address except for its lowest byte, and the same other fields
 *   one with the same address except for its lowest byte, and the same kind, at another time
 *   one with the same kind and time, at another address
 *
 * and writes one match and a few literals. The codes come from a sample of the block.
 * doc/benchmarks.md compares it with the fastest general compressors.
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
 * Compresses size bytes, records of 12 bytes (a partial record at the end is allowed), into one raw
 * deflate stream; capacity >= deflate_bound(size). Returns the stream's bytes. The result depends
 * only on the input, not on earlier calls.
 */
size_t deflate_records_encode(struct deflate_records *deflater, const uint8_t *in, size_t size,
                              uint8_t *out, size_t capacity);

#endif
