/*
 * Deflate for the references of executed programs, as 12-byte records: standard streams that every
 * gzip program reads. Programs return to the same code, and then make the same records except for
 * the addresses of data. So at a jump, the last execution of its target is looked up; from there on
 * five records at a time are compared with those after the earlier target, and differences, mostly
 * a byte or two of an address, are sent between long matches, all at the same distance. Code
 * without an earlier execution is sent record by record, as matches of records with the same kind
 * and nearly the same address.
 *
 * deflate_records.h is for buses: caches leave few such repetitions.
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

/* For tests: disables the processor's wide registers, which changes speed only, not the streams. */
void deflate_program_narrow(struct deflate_program *deflater);

/*
 * Compresses size bytes, records of 12 bytes (a partial record at the end is allowed), into one raw
 * deflate stream; capacity >= deflate_bound(size). Returns the stream's bytes. The result depends
 * only on the input, not on earlier calls.
 */
size_t deflate_program_encode(struct deflate_program *deflater, const uint8_t *in, size_t size,
                              uint8_t *out, size_t capacity);

#endif
