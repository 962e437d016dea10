/*
 * Reads control-flow graphs (DCFG 1.00 section 2): all that the specification allows. Columns and
 * keys in any order, integers as numbers or strings, unknown keys and columns, optional sections
 * that are missing, any ids, several processes. There is never a tree of the file in memory.
 */
#ifndef FORMATS_DCFG_DCFG_READER_H
#define FORMATS_DCFG_DCFG_READER_H

#include "formats/dcfg/dcfg.h"
#include "formats/text/json_pull.h"
#include "formats/text/text_reader.h"

struct dcfg_reader_settings {
    struct json_pull_settings
        json; /* limits of the text; strict: the letter of JSON and the tables */
    struct dcfg_limits graph;
    bool any_version; /* also major versions behind 1, which promise nothing */
};

struct dcfg_reader_settings dcfg_reader_settings_default(void);

/*
 * The graph in the file path ("-": standard input), plain or compressed, sealed; or NULL and
 * *error: BT_DATA with the path in the document where it is not what it should be, BT_IO, or
 * BT_MEMORY (none, or a limit). settings may be NULL.
 */
struct dcfg *dcfg_read(const char *path, const struct dcfg_reader_settings *settings,
                       struct bt_error *error);

/* The same from a reader, which stays the caller's: text from memory, or with progress. */
struct dcfg *dcfg_read_text(struct text_reader *reader, const struct dcfg_reader_settings *settings,
                            struct bt_error *error);

#endif
