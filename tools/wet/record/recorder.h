/*
 * Records what a program executes as chunks of a WET trace: the sequence of its blocks and events,
 * the writers of what its instructions read from memory, and the outcomes of conditional
 * instructions (doc/wet.md, doc/wet-file.md). It is fed with the trace entries of translated
 * blocks, and with what happens between them.
 *
 * Threads have numbers from 0 in the order in which they were made. A thread whose making was not
 * recorded has the next number when it first executes something, and no CLONE. Threads first run
 * in the order in which they were made.
 *
 * A string instruction with a repeat prefix that is interrupted, and continues after a handler or
 * a fixed fault, is one instance before and one after it.
 *
 * After the first error nothing more is recorded; the functions then do nothing.
 */
#ifndef TOOLS_WET_RECORD_RECORDER_H
#define TOOLS_WET_RECORD_RECORDER_H

#include "capture/depend/shadow.h"
#include "capture/exec/kernel/signals.h"
#include "capture/exec/kernel/system_call.h"
#include "capture/exec/trace/trace_expand.h"
#include "formats/wet/wet_file.h"
#include "formats/wet/wet_sequence.h"
#include "tools/wet/record/record_block.h"
#include "tools/wet/record/record_texts.h"

#define RECORDER_BLOCKS     (UINT64_C(1) << 20) /* default size of a chunk */
#define RECORDER_BYTES      ((size_t)64 << 20)  /* of streams, after which a chunk ends */
#define RECORDER_PROCESSORS 256u

/* Takes what was recorded. Both return 0 or a negative code with *error. */
struct record_sink {
    /* A chunk of so many instructions, and code, of which wet_code_put() gives what is new. */
    int (*put)(void *context, struct wet_code *code, const struct wet_chunk *chunk,
               uint64_t instructions, struct bt_error *error);
    /* The end of the recording; if it continues nevertheless, the next chunk replaces this. */
    int (*close)(void *context, const struct wet_closing *closing, struct bt_error *error);
    void *context;
};

struct recorder_settings {
    bool has_values;
    uint64_t chunk_blocks; /* 0: RECORDER_BLOCKS */
    size_t chunk_bytes;    /* 0: RECORDER_BYTES */
    struct record_sink sink;
    /* Reads the program's memory: process_read(). */
    int (*read)(void *context, void *bytes, uint64_t address, size_t size);
    /* Called before each put(): adds functions, files, lines and code that was not executed. May be
     * NULL. 0 or BT_MEMORY. */
    int (*describe)(void *context, struct wet_code *code);
    void *context; /* of both */
};

struct recorder;

/* The settings are copied. NULL and *error without memory. recorder_free() accepts NULL. */
struct recorder *recorder_new(const struct recorder_settings *settings, struct bt_error *error);
void recorder_free(struct recorder *recorder);

/* The callbacks process_operations.take, translated, gap, event and thread_ended. */
int recorder_take(struct recorder *recorder, struct trace_expander *expander,
                  const uint32_t *entries, size_t count, const struct block *part,
                  unsigned instructions);
void recorder_translated(struct recorder *recorder, const struct block *block);
void recorder_gap(struct recorder *recorder);
void recorder_thread_ended(struct recorder *recorder, unsigned processor);

/* The callback process_operations.called. stack: rsp. Not for calls of a child that shares the
 * program's memory. */
void recorder_called(struct recorder *recorder, unsigned processor, const struct system_call *call,
                     bool returned, uint64_t stack);

/* A signal is delivered to a handler. The frame, which the kernel has written, has no writer. */
void recorder_signal(struct recorder *recorder, unsigned processor, uint64_t frame);

/* Ends the current chunk, and the recording: fills in the numbers of *closing, and its thread by
 * the processor that was executed last. If recording continues the sink replaces the closing. */
void recorder_close(struct recorder *recorder, struct wet_closing *closing);

/* The number of the processor's thread; of the thread executed last, if the processor has none. */
uint32_t recorder_thread(const struct recorder *recorder, unsigned processor);

/* Why recording has stopped before the program; NULL: it has not. */
const struct bt_error *recorder_error(const struct recorder *recorder);

/* Numbers so far. */
struct recorder_totals {
    uint64_t instructions, blocks, unknown_calls;
    size_t threads;
};
struct recorder_totals recorder_totals(const struct recorder *recorder);

/* The code, to which the caller may add functions and files. */
struct wet_code *recorder_code(struct recorder *recorder);

#endif
