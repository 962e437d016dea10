/*
 * The capture file: gzip members that carry their own index, or members of the same shape with
 * another coding (version 2). doc/capture-file.md is the specification.
 *
 * This file handles members in memory. formats/capture/trace_reader.h reads files,
 * formats/capture/capture_writer.h writes them.
 */
#ifndef FORMATS_CAPTURE_CAPTURE_FILE_H
#define FORMATS_CAPTURE_CAPTURE_FILE_H

#include "formats/base/error.h"
#include "formats/capture/record_codec.h"
#include "formats/record/capture_info.h"

#define CAPTURE_MEMBER_RECORDS_MAX (1u << 20)  /* a reader's bound: 12 MiB of records */
#define CAPTURE_MEMBER_BYTES_MAX   (16u << 20) /* of a whole member */
#define CAPTURE_BLOCK_RECORDS      87381u      /* a writer's default: just under 1 MiB */
#define CAPTURE_PREAMBLE_BYTES                                                                     \
    24u /* gzip header, XLEN, subfield header, kind: enough to identify a member */
#define CAPTURE_MEMBER_HEADER_MAX 1024u /* no member's gzip header is longer */

enum capture_member_kind {
    CAPTURE_MEMBER_HEADER = 1,
    CAPTURE_MEMBER_DATA = 2,
    CAPTURE_MEMBER_CLOSING = 3
};

/* The contents of a member's extra field. */
struct capture_member {
    enum capture_member_kind kind;
    uint8_t version; /* of the format: CAPTURE_VERSION_GZIP or CAPTURE_VERSION_CODED */
    uint8_t codec;   /* of a data member's records; what a newer bustap wrote may be unknown */
    uint8_t level;   /* as the file says; 0: not known */
    uint32_t header_bytes; /* gzip header with its extra field */
    uint32_t member_bytes; /* the whole member: header, content, trailer */
    union {
        struct capture_info info; /* CAPTURE_MEMBER_HEADER */
        struct batch batch; /* CAPTURE_MEMBER_DATA; records is NULL, parts is 1 and events true if
                               the member may have some */
        struct capture_totals totals; /* CAPTURE_MEMBER_CLOSING */
    };
};

/* The most bytes a data member of count records can have, in any version. */
size_t capture_data_member_bound(size_t count);

/* Write a whole member; capacity at least CAPTURE_MEMBER_HEADER_MAX, or capture_data_member_bound.
 * Return the bytes written. The versions are info->version, `version`, and the encoder's: one file
 * has one version. */
size_t capture_put_header_member(uint8_t *out, const struct capture_info *info);
size_t capture_put_closing_member(uint8_t *out, const struct capture_totals *totals,
                                  unsigned version);
int capture_put_data_member(struct record_encoder *encoder, const struct batch *batch, uint8_t *out,
                            size_t capacity, size_t *size, struct bt_error *error);

/* Rewrites position, loss and gap of the data member at bytes from batch; the records and their
 * count stay. */
void capture_restate_data_member(uint8_t *bytes, const struct batch *batch);

/*
 * Reads the gzip header of the member at bytes, with size bytes available. Returns 1; 0 if more
 * bytes are needed (never more than CAPTURE_MEMBER_HEADER_MAX); BT_DATA if no bustap member starts
 * here.
 */
int capture_get_member(struct capture_member *member, const uint8_t *bytes, size_t size,
                       struct bt_error *error);

/*
 * Sets *stream and *size to the bytes of the member that its header's CRC-32C covers. Returns that
 * CRC.
 */
uint32_t capture_member_crc(const struct capture_member *member, const uint8_t *bytes,
                            const uint8_t **stream, size_t *size);

/*
 * Checks a whole member (all member_bytes of it at bytes) and decompresses the records of a data
 * member into records, which has room for member->batch.count; other kinds have none. 0, BT_DATA,
 * BT_MEMORY, or BT_NEWER: the member is whole, but coded in a way of later versions.
 */
int capture_get_records(struct record_decoder *decoder, const struct capture_member *member,
                        const uint8_t *bytes, struct record *records, struct bt_error *error);

/* Whether executions can stand for the member's records: it is coded by blocks, and has no marks of
 * parts or events, which divide batches. */
bool capture_has_executions(const struct capture_member *member);

/* As capture_get_records, of such a member, to executions; empty on failure. */
int capture_get_executions(struct record_decoder *decoder, const struct capture_member *member,
                           const uint8_t *bytes, struct block_executions *executions,
                           struct bt_error *error);

#endif
