/*
 * Members of a WET file: gzip members that carry their own size, so that a reader hops over them,
 * and that a file which was cut off is valid up to its last whole member. Specified in
 * doc/wet-file.md, "Members".
 */
#ifndef FORMATS_WET_WET_MEMBERS_H
#define FORMATS_WET_WET_MEMBERS_H

#include "formats/deflate/deflate.h"
#include "formats/wet/wet_bytes.h"

#define WET_MEMBER_HEADER_BYTES 80u                 /* of the gzip header with its extra field */
#define WET_MEMBER_CONTENT_MAX  (UINT32_C(1) << 30) /* bytes, before compression */

enum wet_member_kind {
    WET_MEMBER_HEADER = 1,
    WET_MEMBER_CHUNK,
    WET_MEMBER_CLOSING,
    WET_MEMBER_CODE /* what the chunk after it needs: wet_code.h */
};

struct wet_member {
    enum wet_member_kind kind;
    uint32_t member_bytes;  /* the whole member: header, deflate stream, trailer */
    uint32_t content_bytes; /* before compression */
    uint64_t first;         /* number of instructions executed before the member's first one */
    uint64_t instructions;  /* executed in it */
};

/*
 * Appends a member with this content, at most WET_MEMBER_CONTENT_MAX bytes. kind, first and
 * instructions are the caller's; the sizes are filled in. 0, BT_MEMORY, BT_USAGE: the content is
 * too large, or another error of deflate_encode().
 */
int wet_member_put(struct wet_member *member, struct deflate_encoder *encoder,
                   const struct wet_bytes *content, struct wet_bytes *to, struct bt_error *error);

/* Whether the first bytes are those of a member: false for other files, also if fewer bytes than a
 * header are available. */
bool wet_member_begins(const uint8_t *bytes, size_t size);

/*
 * Reads the header of the member at bytes, of which `size` are available. 1; 0 if more are needed
 * (never more than WET_MEMBER_HEADER_BYTES); BT_DATA: no member begins here.
 */
int wet_member_get(struct wet_member *member, const uint8_t *bytes, size_t size,
                   struct bt_error *error);

/* Replaces *content by the content of the whole member at bytes. 0, BT_MEMORY, or BT_DATA: the
 * member is damaged. */
int wet_member_content(const struct wet_member *member, struct deflate_decoder *decoder,
                       const uint8_t *bytes, struct wet_bytes *content, struct bt_error *error);

#endif
