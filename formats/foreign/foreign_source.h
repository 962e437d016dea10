/*
 * The common part of all readers of foreign formats: decompresses the file, splits it into items
 * (lines or pieces of bytes), each of which a format's decoder converts to references, and delivers
 * those as batches of records.
 */
#ifndef FORMATS_FOREIGN_FOREIGN_SOURCE_H
#define FORMATS_FOREIGN_FOREIGN_SOURCE_H

#include "formats/base/named_fields.h"
#include "formats/foreign/foreign_options.h"
#include "formats/record/source.h"

#include <stddef.h>

#define FOREIGN_ITEM_BYTES_MAX 4096u /* limit of a line or piece */
#define FOREIGN_REFERENCES_MAX 8u    /* limit of one item */

/* A request of a foreign format, with wider fields than a record. */
struct NAMED_FIELDS foreign_reference {
    uint64_t address;
    uint64_t size;
    uint8_t type;
    uint64_t processor;
    uint8_t attribute;
};

enum foreign_time {
    FOREIGN_TIMELESS,
    FOREIGN_TIME_SINCE, /* time: since the previous record */
    FOREIGN_TICK,       /* tick: absolute */
    FOREIGN_TIME_TICK   /* both */
};

/* One decoded item. Before decode, all fields are 0 except references and clock_hz. */
struct NAMED_FIELDS foreign_item {
    size_t used;    /* pieces: bytes consumed; 0: more bytes are needed */
    unsigned count; /* number of references; 0: the item has none */
    bool left_out;  /* a record cannot represent the item; it is counted */
    bool has_index; /* index is valid: the first reference's index in the trace */
    enum foreign_time timed;
    uint64_t time;
    uint64_t tick; /* of the first reference; the others have the same */
    uint64_t index;
    struct foreign_reference references[FOREIGN_REFERENCES_MAX];
    uint64_t clock_hz; /* of the trace; set by a decoder that reads it */
};

struct NAMED_FIELDS foreign_decoder {
    bool lines;           /* items are lines, else pieces of bytes */
    bool timed;           /* a file without times is reported */
    bool sizes_estimated; /* of fetches; see struct capture_info */
    const char *left_out; /* description of left-out items: "escape and flush records" */
    size_t state_bytes;   /* size of the decoder's state, zeroed at first */

    /* NULL, or initialises the state. */
    void (*begin)(void *state, const struct foreign_options *options);

    /*
     * Converts a line (without its end) or the next piece of a file to an item. A piece may use
     * fewer than the size available bytes; with `last` no more bytes follow, and an incomplete
     * piece is corrupt. 0, or BT_DATA and a sentence (the caller prefixes file and position): the
     * line, or item->used bytes, are then skipped; for pieces, 0 skips all remaining bytes.
     */
    int (*decode)(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error);

    /* NULL, or called once at the file's end: 0, or BT_DATA if data is missing. */
    int (*finish)(void *state, struct bt_error *error);
};

/* Reads path, "-" for standard input. 0 or a negative bt_code. */
int foreign_source_open(struct source **source, const struct foreign_decoder *decoder,
                        const char *path, const struct foreign_options *options,
                        struct bt_error *error);

/* For tests: reads bytes that the caller owns and that must outlive the source. */
int foreign_source_open_memory(struct source **source, const struct foreign_decoder *decoder,
                               const void *bytes, size_t size,
                               const struct foreign_options *options, struct bt_error *error);

/* Whether a source is a foreign source; the offset of its reader in the file, and the file's size.
 */
bool foreign_source_is(const struct source *source);
uint64_t foreign_source_offset(const struct source *source);
uint64_t foreign_source_size(const struct source *source);

#endif
