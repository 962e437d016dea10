/*
 * The common part of all writers of foreign formats: the file, compressed if its name says so; the
 * choice of a processor; runs of records, which a format's encoder converts to bytes.
 */
#ifndef FORMATS_FOREIGN_FOREIGN_SINK_H
#define FORMATS_FOREIGN_FOREIGN_SINK_H

#include "formats/base/named_fields.h"
#include "formats/foreign/foreign_loss.h"
#include "formats/foreign/foreign_options.h"
#include "formats/record/sink.h"
#include "formats/text/text_writer.h"

#include <stddef.h>

/* Consecutive records: tick is that of records[0], the others add their times. */
struct NAMED_FIELDS foreign_run {
    const struct record *records;
    size_t count;
    uint64_t index;
    uint64_t tick;
};

struct NAMED_FIELDS foreign_encoder {
    size_t state_bytes;  /* size of the encoder's state, zeroed at first */
    size_t record_bytes; /* largest output of one record, including bytes written past its end */
    size_t head_bytes;   /* largest output of begin, and of each call of finish */
    bool times_between;  /* its only times are those since the previous request, 32 bits */

    /* NULL, or initializes the state and writes the header to out (room for head_bytes); *filled is
     * its size. 0 or a negative bt_code. */
    int (*begin)(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error);

    /* Writes a run to out (record_bytes for each of its records), and counts data that the format
     * cannot hold; loss->taken and FOREIGN_LOSS_MARK are counted already. Returns the end of what
     * it wrote; NULL and *error on failure. */
    char *(*encode)(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error);

    /* NULL, or writes the trailer after all records. 0 or a negative bt_code. */
    int (*finish)(void *state, struct text_writer *writer, struct foreign_loss *loss,
                  struct bt_error *error);

    /* NULL, or frees memory that the state owns. */
    void (*release)(void *state);
};

/* Creates path, "-" for standard output; loss may be NULL, and must outlive the sink. */
int foreign_sink_new(struct sink **sink, const struct foreign_encoder *encoder, const char *path,
                     const struct foreign_options *options, struct foreign_loss *loss,
                     struct bt_error *error);

/* The same into a writer, which becomes the sink's. */
int foreign_sink_new_into(struct sink **sink, const struct foreign_encoder *encoder,
                          struct text_writer *writer, const struct foreign_options *options,
                          struct foreign_loss *loss, struct bt_error *error);

/* Closes a foreign sink and removes its unfinished file. NULL is allowed. */
void foreign_sink_discard(struct sink *sink);

#endif
