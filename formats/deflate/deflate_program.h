/*
 * Deflate for the references of executed programs, as 12-byte records: the same streams that zlib
 * writes and every gzip program reads. Programs come back to the same places, and then make the
 * same records but for the addresses of data. So where a program jumps to, the place where it was
 * there last is looked up; from there on five records at a time are compared with those behind
 * that place, and what differs, mostly a byte or two of an address, is sent between long matches,
 * all at that one distance. Where a program was not before, each record is sent as another one
 * with the same kind and nearly the same address.
 *
 * Other than deflate_records.h, which is for buses: caches leave little there that repeats.
 */
#ifndef FORMATS_DEFLATE_DEFLATE_PROGRAM_H
#define FORMATS_DEFLATE_DEFLATE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

struct deflate_program;

/* A compressor of fixed size (about 35 KiB), or NULL (no memory). Free with deflate_program_free.
 */
struct deflate_program *deflate_program_new(void);
void deflate_program_free(struct deflate_program *deflater);

/* From now on without the processor's wide registers: the same streams, more slowly. */
void deflate_program_narrow(struct deflate_program *deflater);

/*
 * Compresses size bytes, records of 12 bytes (a part record at the end is allowed), into one raw
 * deflate stream; capacity >= deflate_bound(size). Returns the stream's bytes. The result depends
 * on the input alone, not on what was compressed before.
 */
size_t deflate_program_encode(struct deflate_program *deflater, const uint8_t *in, size_t size,
                              uint8_t *out, size_t capacity);

#endif
