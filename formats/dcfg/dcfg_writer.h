/*
 * Writes control-flow graphs (DCFG 1.00 section 2) in a form that all known readers accept, most of
 * which accept less than the specification allows: the six top-level keys and no others; all
 * special nodes, with the ids 1, 2 and 3, all edge types with those of enum dcfg_edge_type; basic
 * blocks' ids from 4 on, 4 for the first one executed (others are renumbered), blocks by address;
 * columns in the specification's order, all rows complete; a file name for every image.
 */
#ifndef FORMATS_DCFG_DCFG_WRITER_H
#define FORMATS_DCFG_DCFG_WRITER_H

#include "formats/dcfg/dcfg.h"
#include "formats/text/text_writer.h"

struct dcfg_writer_settings {
    bool several_processes; /* many readers do not support them */
};

/*
 * Writes the sealed graph to writer, which the caller finishes. settings may be NULL. BT_USAGE for
 * a graph that readers do not accept: several processes, a block at offset 0 of its image (which
 * they treat as missing). Else 0, BT_MEMORY, or as text_writer_put().
 */
int dcfg_write_text(const struct dcfg *graph, struct text_writer *writer,
                    const struct dcfg_writer_settings *settings, struct bt_error *error);

/* The same into a file, which gets its name when it is complete; compressed according to its
 * name. */
int dcfg_write(const struct dcfg *graph, const char *path,
               const struct dcfg_writer_settings *settings, struct bt_error *error);

#endif
