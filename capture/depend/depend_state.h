/*
 * The types of depend.h, and the part of the engine's state that its inline functions use. Include
 * depend.h.
 */
#ifndef CAPTURE_DEPEND_DEPEND_STATE_H
#define CAPTURE_DEPEND_DEPEND_STATE_H

#include "capture/depend/depend_readers.h"
#include "capture/depend/loop_history.h"
#include "capture/depend/shadow.h"
#include "formats/base/hash_index.h"
#include "formats/base/named_fields.h"

enum depend_kind { DEPEND_RAW, DEPEND_WAR, DEPEND_WAW, DEPEND_KINDS };

#define DEPEND_NONE UINT32_MAX /* no loop, no place */

/* Why an engine has stopped counting. */
enum depend_end {
    DEPEND_COUNTS,   /* it has not */
    DEPEND_MEMORY,   /* out of memory, or depend_settings.memory is used up */
    DEPEND_CONTEXTS, /* more than SHADOW_CONTEXT_MAX contexts */
    DEPEND_TIME      /* more than SHADOW_TIME_MAX references */
};

/* A context: a static reference as one thread executes it, on behalf of a top-level place. */
struct depend_context {
    uint32_t place;                /* the front end's number */
    uint32_t top;                  /* place of the thread's latest reference in a DETAIL function;
                                      DEPEND_NONE: none so far */
    uint32_t thread;               /* the front end's number */
    uint32_t latest[DEPEND_KINDS]; /* private: pair that was counted last; DEPEND_NONE: none */
};

/* Dependences of one context on another, in one loop. */
struct depend_pair {
    uint64_t key; /* private: source, carried and loop, which most searches compare */
    uint64_t count;
    uint64_t sum, least, greatest; /* of carried ones: distances in iterations */
    uint32_t sink;                 /* context */
    uint32_t source;               /* context */
    uint32_t loop; /* the front end's number; DEPEND_NONE: outside of loops, or of different
                      threads */
    uint8_t kind;  /* enum depend_kind */
    bool carried;  /* by an earlier iteration of the loop */
    bool at_least; /* some distances may be greater than counted */
};

/* A dependence as it is found, for the specification's output_dependence(). */
struct NAMED_FIELDS depend_found {
    const struct depend_pair *pair;
    const struct depend_context *sink, *source;
    uint64_t sink_time, source_time;     /* pseudo times */
    uint64_t sink_frozen, source_frozen; /* frozen times */
};

struct depend_loop {
    uint64_t invocations, iterations;
    uint64_t instructions; /* executed in the loop, calls included; recursion counts once */
    uint64_t system_calls; /* made in the loop, calls included */
};

struct NAMED_FIELDS depend_settings {
    unsigned kinds;        /* bits 1 << enum depend_kind */
    unsigned address_bits; /* of the program's addresses: 32 to SHADOW_ADDRESS_BITS */
    bool every;            /* access level: also dependences with equal frozen times */
    uint64_t memory;       /* maximum in bytes; 0: no limit */
    /* Receives each read after write; NULL: none. Only with it frozen times are kept. */
    void (*found)(void *context, const struct depend_found *found);
    void *context;
};

/* --- private -----------------------------------------------------------------------------------
 */

struct depend_site {
    uint32_t place;
    uint32_t top;     /* of the context */
    uint32_t context; /* the latest; 0: none yet */
    bool is_detail;
};

/* A loop that a thread executes. */
struct depend_active {
    uint32_t loop;
    bool is_outermost;               /* of the loop's recursive activations */
    uint64_t begun;                  /* time when the loop began */
    uint64_t iteration_begun;        /* time when its current iteration began */
    uint64_t previous_begun;         /* and the one before; UINT64_MAX: there is none */
    uint64_t instructions;           /* of the thread, when the loop began, */
    uint64_t iteration_instructions; /* and when its current iteration began */
    uint32_t test;                   /* depend_loop_begin() */
    struct loop_history history;
};

/* A call that has not returned. */
struct depend_frame {
    uint64_t slot;  /* address of the return address */
    unsigned loops; /* number of active loops at the call */
};

struct depend_thread {
    uint32_t number;
    uint32_t top;                    /* top-level place */
    uint64_t stack_begin, stack_end; /* range of the stack */
    uint64_t low;                    /* lowest accessed byte of the stack */
    uint64_t instructions;           /* executed */
    struct depend_active *active;    /* outermost first; of all calls */
    unsigned active_count, base;     /* base: loops before it are the callers' */
    size_t active_capacity;
    struct depend_frame *frames;
    size_t frame_count, frame_capacity;
    uint32_t *activations; /* by loop: how many are in `active` */
    size_t activation_capacity;
};

struct depend {
    bool counts;       /* false: it has ended */
    bool tracks_reads; /* write after read is wanted */
    bool is_raw_only;
    bool reads_plainly; /* read after write is wanted, write after read is not */
    uint64_t time, writes;
    uint64_t detail_time; /* time of the latest reference of a DETAIL function; 0: none */
    uint64_t frozen;      /* number of references of DETAIL functions; only with found() */
    struct shadow writers;
    struct shadow frozen_writers; /* the frozen times of writes; only with found() */
    struct depend_readers readers;
    struct depend_settings settings;
    enum depend_end end;
    struct depend_context *contexts; /* from 1 */
    size_t context_count, context_capacity;
    struct hash_index by_context;
    struct depend_pair *pairs;
    size_t pair_count, pair_capacity;
    struct hash_index by_pair;
    struct depend_loop *loops;
    size_t loop_count, loop_capacity;
    struct depend_thread **threads;
    size_t thread_count, thread_capacity;
};

#endif
