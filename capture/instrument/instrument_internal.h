/* What the runtime's files share. */
#ifndef CAPTURE_INSTRUMENT_INSTRUMENT_INTERNAL_H
#define CAPTURE_INSTRUMENT_INSTRUMENT_INTERNAL_H

#include "capture/depend/depend.h"
#include "capture/instrument/instrument_places.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/single_threaded.h>

/* A small cache of the sites of a thread, by what hooks name them. */
#define SITES 4096u

struct cached_site {
    const char *file;
    uint64_t key; /* line and sketch_p, or an address of code */
    struct depend_site site;
};

/* A thread that refers to memory. */
struct traced {
    bool is_inside;               /* the runtime's own calls and signal handlers are not counted */
    bool is_locked;               /* it holds the lock */
    unsigned inner_forks;         /* calls of fork() by signal handlers during a hook */
    volatile sig_atomic_t ending; /* signal that ends the program after this hook; 0: none */
    struct depend_thread *thread; /* NULL: no reference yet */
    struct cached_site *sites;
};

/* A loop as its hooks name it. */
struct traced_loop {
    uint32_t place;
    const char *function;
    int number;
};

#define INSTRUMENT_PATH_BYTES 4096u

struct instrument_options {
    enum dependences_by by;
    enum dependences_level level;
    unsigned kinds;
    char trace[INSTRUMENT_PATH_BYTES], output[INSTRUMENT_PATH_BYTES];
};

/* One for the program, protected by its lock. */
struct instrument {
    pthread_mutex_t lock;
    bool counts; /* begun, and has not ended */
    struct depend *depend;
    struct instrument_places places;
    struct traced_loop *loops;
    size_t loop_count, loop_capacity;
    struct hash_index by_loop;
    uint32_t threads;
    uint64_t next_check; /* time at which the limits are looked at */
    uint64_t skipped;    /* references of signal handlers during a hook, and of unusual addresses */
    bool out_of_memory;
    struct instrument_options options;
    FILE *out, *trace;
    int descriptor; /* behind `out` */
    long process;
};

extern struct instrument instrument;
extern __thread struct traced instrument_self __attribute__((tls_model("initial-exec")));

/* Rare cases of the two below. The first is false if the thread cannot be counted. */
bool instrument_begin_thread(struct traced *self);
void instrument_check(struct traced *self);

/* Writes the report and dies of the signal, whose action is the default one again. */
void instrument_die(int number);

void instrument_end_calls(struct traced *self, uint64_t slot);

/* Ends calls that have ended without a hook (longjmp, exceptions): their return addresses are not
 * above that of a hook. frame: of the hook. */
static inline void instrument_unwind(struct traced *self, const void *frame)
{
    const size_t frames = self->thread->frame_count;
    const uint64_t slot = (uint64_t)(uintptr_t)frame + sizeof(uint64_t);
    if (frames > 0 && self->thread->frames[frames - 1].slot <= slot)
        instrument_end_calls(self, slot);
}

static inline void instrument_leave(struct traced *self)
{
    if (depend_time(instrument.depend) >= instrument.next_check && self->thread)
        instrument_check(self);
    if (self->is_locked)
        pthread_mutex_unlock(&instrument.lock);
    self->is_inside = false;
    if (self->ending)
        instrument_die(self->ending);
}

/* Begins a change of the engine by this thread. NULL: nothing is counted now. */
static inline struct traced *instrument_enter(void)
{
    struct traced *self = &instrument_self;
    if (!__atomic_load_n(&instrument.counts, __ATOMIC_RELAXED) || self->is_inside)
        return NULL;
    self->is_inside = true;
    self->is_locked = !__libc_single_threaded;
    if (self->is_locked)
        pthread_mutex_lock(&instrument.lock);
    if (instrument.counts && (self->thread || instrument_begin_thread(self)))
        return self;
    instrument_leave(self);
    return NULL;
}

/* A reference of any size by code whose line is not known. frame: of the hook. */
void instrument_refer_by_code(uint64_t address, uint64_t size, bool is_write, uint64_t code,
                              const void *frame);

/* A call has begun with its return address at a slot, or has returned. */
void instrument_call(uint64_t slot);
void instrument_return(uint64_t slot);

/* Memory is given back. */
void instrument_forget(uint64_t address, uint64_t size);

/* Memory has moved with its contents: depend_move(). */
void instrument_move(uint64_t from, uint64_t to, uint64_t size);

/* Reads $BUSTAP_DEPEND_OPTIONS and $BUSTAP_DEPEND_OUTPUT. */
void instrument_options_read(struct instrument_options *options);

/* Opens what must be open before the program runs: a trace, a stream without a file. */
void instrument_output_begin(void);
void instrument_trace_found(void *context, const struct depend_found *found);
void instrument_trace_function(bool is_entry, const char *file, const char *function);

/* Writes the report; ended says how the program ends. */
void instrument_output_write(const char *ended);

/* The program ends: the first call writes the report. */
void instrument_finish(const char *ended);

/* Makes the program's ends known to instrument_finish(). */
void instrument_endings_begin(void);

/* Says a sentence on standard error. */
void instrument_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
