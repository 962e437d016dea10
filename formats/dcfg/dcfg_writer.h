/*
 * Writes control-flow graphs (DCFG 1.00 section 2) so that every reader people have takes them, of
 * which most are narrower than the specification: the six top-level keys and no others; all special
 * nodes, under the ids 1, 2 and 3, all edge types under those of enum dcfg_edge_type; basic blocks'
 * ids from 4 on, 4 for the first one executed (they are numbered anew where they are not so),
 * blocks by address; columns in the specification's order, all rows in full; a file name for every
 * image.
 */
#ifndef FORMATS_DCFG_DCFG_WRITER_H
#define FORMATS_DCFG_DCFG_WRITER_H

#include "formats/dcfg/dcfg.h"
#include "formats/text/text_writer.h"

struct dcfg_writer_settings {
    bool several_processes; /* which many readers do not expect */
};

/*
 * Writes the sealed graph to writer, which the caller finishes. settings may be NULL. BT_USAGE
 * where it is outside of what readers take: several processes, a block at offset 0 of its image
 * (which they take for none). Else 0, BT_MEMORY, or as text_writer_put().
 */
int dcfg_write_text(const struct dcfg *graph, struct text_writer *writer,
                    const struct dcfg_writer_settings *settings, struct bt_error *error);

/* The same into a file, which appears when it is complete; compressed as its name says. */
int dcfg_write(const struct dcfg *graph, const char *path,
               const struct dcfg_writer_settings *settings, struct bt_error *error);

#endif
