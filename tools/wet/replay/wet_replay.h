/*
 * Replays a WET file: the executed instructions in order, and whom each port of each one depends
 * on. Register and control dependences are computed again from the sequence of blocks; those of
 * memory are read. Rules: doc/wet.md.
 */
#ifndef TOOLS_WET_REPLAY_WET_REPLAY_H
#define TOOLS_WET_REPLAY_WET_REPLAY_H

#include "formats/wet/wet_file.h"
#include "formats/wet/wet_labels.h"
#include "tools/wet/replay/wet_calls.h"
#include "tools/wet/replay/wet_plans.h"

/* What a replay finds out. */
enum wet_wanted {
    WET_WANTS_CONTROL = 1,   /* wet_step.control */
    WET_WANTS_MEMORY = 2,    /* writers of memory ports */
    WET_WANTS_REGISTERS = 4, /* writers of the other data ports */
    WET_WANTS_VALUES = 8     /* of a file that has them */
};

/* An executed instruction. Valid during the call only. */
struct wet_step {
    uint32_t thread, id;
    uint64_t instance;
    uint64_t number; /* instructions executed before it */
    uint32_t frame;  /* depth of the call stack */
    bool defines;    /* its conditional definitions took place */
    struct wet_instance control;
    const struct wet_writers *writers; /* those of the data ports, port after port */
    uint32_t port_count;               /* of data ports */
    const uint32_t *ends; /* by data port: the end of its writers, which begin at the end before */
    const uint8_t *value; /* NULL: none, or not wanted; of system calls: NULL, see result() */
};

struct wet_replay_operations {
    /* An instruction was executed. NULL: not wanted, and a replay without values is much faster. */
    int (*step)(void *context, const struct wet_step *step);
    /* A system call has returned: its value, 8 bytes. NULL: not wanted. */
    int (*result)(void *context, uint32_t thread, struct wet_instance call, uint64_t value);
    /* Follows a signal's begin (or its end), a gap, a switch between threads. NULL: not wanted. */
    int (*event)(void *context, uint32_t thread, enum wet_event event, uint64_t argument);
};

/* A file and what follows from its code. */
struct wet_trace {
    struct wet_file file;
    struct wet_flows flows;
    struct wet_graph graph;
    struct wet_plans plans;
    uint32_t *first_port; /* by id: number of its first memory port among all; the last: their
                             number */
};

/* Opens a file ("-": standard input). 0 or a negative code; close it in either case. */
int wet_trace_open(struct wet_trace *trace, const char *path, struct bt_error *error);
void wet_trace_close(struct wet_trace *trace);

/* The same of chunks in memory: wet_file_borrow(). */
int wet_trace_borrow(struct wet_trace *trace, const struct wet_code *code, struct wet_place *places,
                     size_t count, struct bt_error *error);

struct wet_replay;

/* At the start of the file. The trace is the caller's. NULL and *error without memory. */
struct wet_replay *wet_replay_new(struct wet_trace *trace, unsigned wanted,
                                  const struct wet_replay_operations *operations, void *context,
                                  struct bt_error *error);
void wet_replay_free(struct wet_replay *replay);

/* Replays the next chunk. 1; 0: there is none; BT_MEMORY, BT_DATA, or the negative result of an
 * operation. */
int wet_replay_next(struct wet_replay *replay, struct bt_error *error);

/* Replays all chunks that follow. 0 or a negative code. */
int wet_replay_all(struct wet_replay *replay, struct bt_error *error);

/* Instructions replayed so far. */
uint64_t wet_replay_instructions(const struct wet_replay *replay);

/* Visits each instance that a later instruction may depend on through registers or control, some
 * more than once; the current instruction's may be missing in its own step. */
typedef void wet_replay_visit(void *context, struct wet_instance instance);
void wet_replay_live(const struct wet_replay *replay, wet_replay_visit *function, void *context);

/*
 * A copy of the state between two chunks, without what values need: a replay that continues from it
 * later, perhaps with other wishes (not values) and operations. NULL and *error without memory.
 */
struct wet_replay *wet_replay_copy(const struct wet_replay *replay, unsigned wanted,
                                   const struct wet_replay_operations *operations, void *context,
                                   struct bt_error *error);

/* The same, to continue with the first chunk of another trace, whose code begins with that of the
 * replay's trace. The replay's trace may be closed already. */
struct wet_replay *wet_replay_continue(const struct wet_replay *replay, struct wet_trace *trace,
                                       unsigned wanted,
                                       const struct wet_replay_operations *operations,
                                       void *context, struct bt_error *error);

#endif
