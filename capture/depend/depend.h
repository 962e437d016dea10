/*
 * Finds data dependences: the front end reports each memory reference of a program, in order, with
 * calls, returns and loops; the engine counts which static reference depends on which.
 *
 * The algorithm is that of the Dependence Tracing specification (T. Bai, 2008), for bytes, with
 * write after read, write after write and loops added: doc/dependences.md. Time is its pseudo time:
 * the number of references so far, of all threads. A dependence is reported only if a reference of
 * a DETAIL function lies between source and sink, or the sink is one (frozen times differ).
 *
 * Not for several host threads at once.
 */
#ifndef CAPTURE_DEPEND_DEPEND_H
#define CAPTURE_DEPEND_DEPEND_H

#include "capture/depend/depend_state.h"

/* NULL and *error without memory. depend_free() accepts NULL. */
struct depend *depend_new(const struct depend_settings *settings, struct bt_error *error);
void depend_free(struct depend *depend);

/* The thread with the front end's number, which begins if it is new. NULL: no memory; the engine
 * has stopped. Limits are checked here: call it again after at most DEPEND_STRETCH references. */
#define DEPEND_STRETCH (UINT64_C(1) << 32)
struct depend_thread *depend_thread(struct depend *depend, uint32_t number);

/* A reference of `size` bytes (1 to 64) by a site, a static reference of this thread: a front end
 * keeps one struct for each, initialized by depend_site_init(). */
static inline void depend_read(struct depend *depend, struct depend_thread *thread,
                               struct depend_site *site, uint64_t address, unsigned size);
static inline void depend_write(struct depend *depend, struct depend_thread *thread,
                                struct depend_site *site, uint64_t address, unsigned size);

/* is_detail: the site is in a DETAIL function. */
void depend_site_init(struct depend_site *site, uint32_t place, bool is_detail);

/*
 * A string instruction with rep: `count` references to adjacent elements of `size` bytes, from the
 * lowest address on. All have the time of the last one, and do not depend on one another.
 * depend_copy() reads and writes each element in turn (movs), upwards or downwards; if the areas
 * overlap, each element is a reference of its own.
 */
void depend_read_range(struct depend *depend, struct depend_thread *thread,
                       struct depend_site *site, uint64_t address, unsigned size, uint64_t count);
void depend_write_range(struct depend *depend, struct depend_thread *thread,
                        struct depend_site *site, uint64_t address, unsigned size, uint64_t count);
void depend_copy(struct depend *depend, struct depend_thread *thread, struct depend_site *from,
                 struct depend_site *to, uint64_t source, uint64_t target, unsigned size,
                 uint64_t count, bool is_downwards);

/* Memory is given back: its bytes have no last writer and reader any more. */
void depend_forget(struct depend *depend, uint64_t address, uint64_t size);

/* Memory has moved with its contents, for example by realloc(): its bytes keep their last writers
 * and readers. Both addresses are multiples of SHADOW_GRANULE; the size is rounded up to one. The
 * areas do not overlap. */
void depend_move(struct depend *depend, uint64_t from, uint64_t to, uint64_t size);

/* The range of the thread's stack, which may grow. Calls and returns in it forget what is below
 * them; on other stacks (of signal handlers, coroutines) nothing is forgotten. */
void depend_set_stack(struct depend_thread *thread, uint64_t begin, uint64_t end);
bool depend_is_on_stack(const struct depend_thread *thread, uint64_t address);

/* A call has written its return address at `slot`; a return has read it there. A return ends all
 * calls below it (longjmp, exceptions), with their loops. */
void depend_call(struct depend *depend, struct depend_thread *thread, uint64_t slot);
void depend_return(struct depend *depend, struct depend_thread *thread, uint64_t slot);

/* The number of calls of the thread that have not returned; and that only the first `calls` of them
 * remain: the others were left without a return (longjmp). */
size_t depend_calls(const struct depend_thread *thread);
void depend_leave_calls(struct depend *depend, struct depend_thread *thread, size_t calls);

/* Loops of the thread's current call, outermost first. Numbers are the front end's, small. */
unsigned depend_loops(const struct depend_thread *thread);
uint32_t depend_loop_at(const struct depend_thread *thread, unsigned depth);

/* A loop begins, with its first iteration, inside of the current ones; the innermost begins another
 * iteration; the innermost ends. test: the instructions that an iteration begins with, up to where
 * the loop may end; 0: it ends elsewhere. An iteration of so many is none, unless it is the first.
 */
void depend_loop_begin(struct depend *depend, struct depend_thread *thread, uint32_t loop,
                       uint32_t test);
static inline void depend_loop_iterate(struct depend *depend, struct depend_thread *thread);
void depend_loop_end(struct depend *depend, struct depend_thread *thread);

/* The thread makes a system call. */
void depend_system_call(struct depend *depend, const struct depend_thread *thread);

/* Adds executed instructions of the thread. */
static inline void depend_execute(struct depend_thread *thread, uint64_t instructions);

/* Ends all loops of all threads: before the results are read at the end. */
void depend_settle(struct depend *depend);

/* Ends the counting: nothing found so far is lost. */
void depend_stop(struct depend *depend, enum depend_end end);
enum depend_end depend_end(const struct depend *depend);

/* Results. Pairs are in the order in which they were first found. Valid until the next call that
 * changes the engine. */
uint64_t depend_time(const struct depend *depend);   /* number of references */
uint64_t depend_writes(const struct depend *depend); /* of these, writes */
size_t depend_pair_count(const struct depend *depend);
const struct depend_pair *depend_pair(const struct depend *depend, size_t number);
const struct depend_context *depend_context(const struct depend *depend, uint32_t number);
struct depend_loop depend_loop(const struct depend *depend, uint32_t loop);
size_t depend_bytes(const struct depend *depend);

#include "capture/depend/depend_inline.h"

#endif
