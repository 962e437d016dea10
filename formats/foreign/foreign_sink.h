/*
 * What all writers of foreign formats share: the file, compressed where its name says so; the
 * choice of a processor; runs of records, which a format's encoder turns into bytes.
 */
#ifndef FORMATS_FOREIGN_FOREIGN_SINK_H
#define FORMATS_FOREIGN_FOREIGN_SINK_H

#include "formats/base/named_fields.h"
#include "formats/foreign/foreign_loss.h"
#include "formats/foreign/foreign_options.h"
#include "formats/record/sink.h"
#include "formats/text/text_writer.h"

#include <stddef.h>

/* Records that follow one another: tick is that of records[0], the others add their times. */
struct NAMED_FIELDS foreign_run {
    const struct record *records;
    size_t count;
    uint64_t index;
    uint64_t tick;
};

struct NAMED_FIELDS foreign_encoder {
    size_t state_bytes;  /* of what an encoder remembers; zeroed at the beginning */
    size_t record_bytes; /* the most that one record becomes, spilling included */
    size_t head_bytes;   /* the most that begin and each call of finish write */
    bool times_between;  /* its times are since the request before alone, 32 bits */

    /* NULL, or readies the state and writes what stands in front at out (head_bytes of room),
     * *filled says how much. 0 or a negative bt_code. */
    int (*begin)(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error);

    /* Writes a run at out (record_bytes for each of its records), and counts what it cannot hold;
     * loss->taken and FOREIGN_LOSS_MARK are counted already. Returns the end of what it wrote; NULL
     * and *error on failure. */
    char *(*encode)(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error);

    /* NULL, or writes what stands behind all records. 0 or a negative bt_code. */
    int (*finish)(void *state, struct text_writer *writer, struct foreign_loss *loss,
                  struct bt_error *error);

    /* NULL, or frees what the state holds. */
    void (*release)(void *state);
};

/* Begins path, "-" for standard output; loss may be NULL, and must outlive the sink. */
int foreign_sink_new(struct sink **sink, const struct foreign_encoder *encoder, const char *path,
                     const struct foreign_options *options, struct foreign_loss *loss,
                     struct bt_error *error);

/* The same into a writer, which becomes the sink's. */
int foreign_sink_new_into(struct sink **sink, const struct foreign_encoder *encoder,
                          struct text_writer *writer, const struct foreign_options *options,
                          struct foreign_loss *loss, struct bt_error *error);

/* Ends a sink of these without completing it: what was written is removed. NULL is allowed. */
void foreign_sink_discard(struct sink *sink);

#endif
