/*
 * Reads DCFG-trace 1.00 (section 3) forward, in bounded memory, for traces of any length: process
 * by process, thread by thread, chunk by chunk; skipped parts are not decoded.
 *
 *     while ((result = dcfg_trace_reader_process(reader, &process)) > 0)
 *         while ((result = dcfg_trace_reader_thread(reader, &thread)) > 0)
 *             while ((result = dcfg_trace_reader_chunk(reader, &chunk)) > 0)
 *                 while ((result = dcfg_trace_reader_edges(reader, edges, capacity)) > 0)
 *                     ...
 *
 * Unknown tags and columns are skipped. Columns may be in any order in which data precedes its use:
 * PROCESS_ID, STRING_DICTIONARY and TRANSITION_TABLE before THREAD_DATA, and THREAD_ID before
 * TRACE_DATA. In strict JSON, the specification's rules about their order ("Ordering") and the
 * dictionary's keys (3.4) are enforced too, and no tag or column may be missing.
 */
#ifndef FORMATS_DCFG_DCFG_TRACE_READER_H
#define FORMATS_DCFG_DCFG_TRACE_READER_H

#include "formats/base/named_fields.h"
#include "formats/dcfg/transition_table.h"
#include "formats/text/json_pull.h"

struct dcfg_trace_reader;

struct dcfg_trace_reader_settings {
    struct json_pull_settings json;
    /* Limits: bytes of all keys and texts of the dictionaries, with about 100 for each entry; and
     * characters of a chunk's text. Their compiled form may take four times as much memory. */
    size_t dictionary_max, sequence_max;
    size_t table_max; /* bytes of memory for a process's table */
    bool any_version; /* also major versions above 1, without guarantee */
};

/* JSON's defaults; 256 MiB, 256 MiB, 1 GiB. */
struct dcfg_trace_reader_settings dcfg_trace_reader_settings_default(void);

struct NAMED_FIELDS dcfg_trace_chunk {
    uint64_t preceding;    /* PRECEDING_INSTR_COUNT */
    uint64_t instructions; /* INSTR_COUNT */
    uint64_t edges;        /* EDGE_COUNT */
    uint32_t first;        /* FIRST_EDGE_ID; undefined without edges */
};

/*
 * Reads from text, which the caller owns; settings may be NULL. *error must outlive the reader:
 * every function below that returns a negative bt_code fills it, with the file and the path in it,
 * and so do all further calls. NULL and *error without memory.
 */
struct dcfg_trace_reader *dcfg_trace_reader_new(struct text_reader *text,
                                                const struct dcfg_trace_reader_settings *settings,
                                                struct bt_error *error);
void dcfg_trace_reader_free(struct dcfg_trace_reader *reader);

/* Advances to the next process: 1, 0 at the end, which is then checked, or negative. */
int dcfg_trace_reader_process(struct dcfg_trace_reader *reader, uint64_t *process_id);

/* The transition table of the process, finished. */
const struct transition_table *dcfg_trace_reader_table(const struct dcfg_trace_reader *reader);

/* Advances to the next thread of the process: 1, 0 if none is left, or negative. */
int dcfg_trace_reader_thread(struct dcfg_trace_reader *reader, uint32_t *thread);

/* Advances to the next chunk of the thread: 1, 0 if none is left, or negative. */
int dcfg_trace_reader_chunk(struct dcfg_trace_reader *reader, struct dcfg_trace_chunk *chunk);

/* The next edges of the chunk: their number, 0 at the end, or negative. */
long dcfg_trace_reader_edges(struct dcfg_trace_reader *reader, uint32_t *edges, size_t capacity);

/* At the end of a chunk: number of unused characters of its sequence; 0 in a valid file. */
uint64_t dcfg_trace_reader_unused(const struct dcfg_trace_reader *reader);

/* The path in the document of what was read last, as json_pull_path. */
void dcfg_trace_reader_path(const struct dcfg_trace_reader *reader, char *path, size_t room);

#endif
