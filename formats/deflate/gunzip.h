/*
 * Decompresses gzip members (RFC 1952) as a stream: the input comes and the output goes in pieces
 * of any size. By ISA-L if the build found it, else by zlib.
 */
#ifndef FORMATS_DEFLATE_GUNZIP_H
#define FORMATS_DEFLATE_GUNZIP_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct gunzip;

/* For a first member. NULL and *error on failure. */
struct gunzip *gunzip_new(struct bt_error *error);
void gunzip_free(struct gunzip *gunzip);

/* Begins another member, after the end of one or an error. */
void gunzip_begin_member(struct gunzip *gunzip);

/* What is left of the input and of the room for output. */
struct gunzip_buffers {
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t out_size;
};

/*
 * Decompresses until the input is used up, the room is filled or the member ends, and moves the
 * buffers forward. 1: the member has ended, its checksum and length are right, and `in` is the byte
 * after it; 0: it continues; BT_DATA: it is damaged; BT_MEMORY.
 */
int gunzip_some(struct gunzip *gunzip, struct gunzip_buffers *buffers);

#endif
