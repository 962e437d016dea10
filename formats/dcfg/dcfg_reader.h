/*
 * Reads control-flow graphs (DCFG 1.00 section 2) in every form that the specification allows:
 * columns and keys in any order, integers as numbers or strings, unknown keys and columns, missing
 * optional sections, any ids, several processes. It does not build a tree of the file in memory.
 */
#ifndef FORMATS_DCFG_DCFG_READER_H
#define FORMATS_DCFG_DCFG_READER_H

#include "formats/dcfg/dcfg.h"
#include "formats/text/json_pull.h"
#include "formats/text/text_reader.h"

struct dcfg_reader_settings {
    struct json_pull_settings json; /* limits of the text; strict: exact JSON and tables */
    struct dcfg_limits graph;
    bool any_version; /* also major versions above 1, without guarantee */
};

struct dcfg_reader_settings dcfg_reader_settings_default(void);

/*
 * Reads a graph from reader, which the caller owns, and seals it. NULL and *error on failure:
 * BT_DATA with the path in the document, BT_IO, or BT_MEMORY (none, or a limit). settings may be
 * NULL.
 */
struct dcfg *dcfg_read(struct text_reader *reader, const struct dcfg_reader_settings *settings,
                       struct bt_error *error);

#endif
