/* Reads graphs for the commands, with progress, and selects a process. */
#ifndef TOOLS_DCFG_GRAPH_FILE_H
#define TOOLS_DCFG_GRAPH_FILE_H

#include "formats/dcfg/dcfg_reader.h"

/* Reads the graph in the file path ("-": standard input), with progress on a terminal; the graph is
 * sealed. NULL and *error as dcfg_read. */
struct dcfg *graph_file_read(const char *path, struct bt_error *error);

/* The same with given settings; NULL: the defaults. */
struct dcfg *graph_file_read_with(const char *path, const struct dcfg_reader_settings *settings,
                                  struct bt_error *error);

/* The process whose id is text; text NULL: the only process. NULL and *error: BT_USAGE, or BT_DATA
 * for a graph without processes. path is for messages. */
struct dcfg_process *graph_file_process(const struct dcfg *graph, const char *path,
                                        const char *text, struct bt_error *error);

#endif
