/* Graphs for the commands: read with progress, and the one process that a command is about. */
#ifndef TOOLS_DCFG_GRAPH_FILE_H
#define TOOLS_DCFG_GRAPH_FILE_H

#include "formats/dcfg/dcfg_reader.h"

/*
 * Reads the graph in the file path ("-": standard input), sealed, with progress on a terminal. NULL
 * and *error as dcfg_read.
 */
struct dcfg *graph_file_read(const char *path, struct bt_error *error);

/* The same with settings of its own; NULL: the standard ones. */
struct dcfg *graph_file_read_with(const char *path, const struct dcfg_reader_settings *settings,
                                  struct bt_error *error);

/*
 * The process with the id that text says; text NULL: the only one. NULL and *error (BT_USAGE, or
 * BT_DATA where there is none at all). The path is for messages.
 */
struct dcfg_process *graph_file_process(const struct dcfg *graph, const char *path,
                                        const char *text, struct bt_error *error);

#endif
