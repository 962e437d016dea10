/*
 * What all readers of foreign formats share: the file, decompressed; lines or pieces of bytes, one
 * item after the other, each of which a format's decoder turns into references; and those as
 * batches of records.
 */
#ifndef FORMATS_FOREIGN_FOREIGN_SOURCE_H
#define FORMATS_FOREIGN_FOREIGN_SOURCE_H

#include "formats/base/named_fields.h"
#include "formats/foreign/foreign_options.h"
#include "formats/record/source.h"

#include <stddef.h>

#define FOREIGN_ITEM_BYTES_MAX 4096u /* no line or piece is longer */
#define FOREIGN_REFERENCES_MAX 8u    /* that one item can be */

/* A request as foreign formats know it: wider than a record. */
struct NAMED_FIELDS foreign_reference {
    uint64_t address;
    uint64_t size;
    uint8_t type;
    uint64_t processor;
    uint8_t attribute;
};

enum foreign_time {
    FOREIGN_TIMELESS,
    FOREIGN_TIME_SINCE, /* time: since the record before */
    FOREIGN_TICK,       /* tick: absolute */
    FOREIGN_TIME_TICK   /* both */
};

/* One item, decoded. When decode is called all is 0 but references and clock_hz. */
struct NAMED_FIELDS foreign_item {
    size_t used;    /* pieces: bytes of it; 0: more are needed */
    unsigned count; /* of references; 0: the item is none */
    bool left_out;  /* it is something that a record cannot say, and counts as that */
    bool has_index; /* index is the first reference's place in the trace */
    enum foreign_time timed;
    uint64_t time;
    uint64_t tick; /* of the first reference; the others have the same */
    uint64_t index;
    struct foreign_reference references[FOREIGN_REFERENCES_MAX];
    uint64_t clock_hz; /* of the trace; a decoder that learns it sets it */
};

struct NAMED_FIELDS foreign_decoder {
    bool lines;           /* items are lines, else pieces of bytes */
    bool timed;           /* a file without times lacks something, which is told */
    const char *left_out; /* what items that are left out are: "escape and flush records" */
    size_t state_bytes;   /* of what a decoder remembers; zeroed at the beginning */

    /* NULL, or readies the state. */
    void (*begin)(void *state, const struct foreign_options *options);

    /*
     * Turns a line (without its end) or the next piece of a file into an item. A piece may use less
     * than the size bytes that are there; with last no more will come, and what is left and is no
     * whole piece is damage. 0, or BT_DATA and a sentence (what and where the file is, is put in
     * front): the line, or item->used bytes, are then skipped; of pieces, 0 is all that is left.
     */
    int (*decode)(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error);

    /* NULL, or called once at the file's end: 0, or BT_DATA where something is missing. */
    int (*finish)(void *state, struct bt_error *error);
};

/* Reads path, "-" for standard input. 0 or a negative bt_code. */
int foreign_source_open(struct source **source, const struct foreign_decoder *decoder,
                        const char *path, const struct foreign_options *options,
                        struct bt_error *error);

/* Reads bytes that stay the caller's and must outlive the source. */
int foreign_source_open_memory(struct source **source, const struct foreign_decoder *decoder,
                               const void *bytes, size_t size,
                               const struct foreign_options *options, struct bt_error *error);

/* Whether a source is one of these; how far it has read its file, and the file's size. */
bool foreign_source_is(const struct source *source);
uint64_t foreign_source_offset(const struct source *source);
uint64_t foreign_source_size(const struct source *source);

#endif
