/*
 * The runtime of instrumented programs: hooks become calls of the engine. One lock, which a program
 * with one thread does not take.
 */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "capture/instrument/depend_hooks.h"
#include "capture/instrument/instrument_internal.h"
#include "formats/base/grow.h"

#include <string.h>
#include <unistd.h>

#define CHECK_REFERENCES (UINT64_C(1) << 30) /* between two looks at the limits */
#define PIECE            64u                 /* bytes of one reference of the engine */

struct instrument instrument = {.lock = PTHREAD_MUTEX_INITIALIZER};
__thread struct traced instrument_self __attribute__((tls_model("initial-exec")));

static pthread_key_t at_thread_end;

/* --- threads -----------------------------------------------------------------------------------
 */

/* The stack of a thread that has ended may become that of another one. */
static void end_thread(void *unused)
{
    (void)unused;
    struct traced *self = instrument_enter();
    if (!self)
        return;
    depend_forget(instrument.depend, self->thread->stack_begin,
                  self->thread->stack_end - self->thread->stack_begin);
    instrument_leave(self);
}

static void find_stack(struct depend_thread *thread)
{
    pthread_attr_t attributes;
    void *begin;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &begin, &size) == 0)
        depend_set_stack(thread, (uint64_t)(uintptr_t)begin, (uint64_t)(uintptr_t)begin + size);
    pthread_attr_destroy(&attributes);
}

bool instrument_begin_thread(struct traced *self)
{
    self->thread = depend_thread(instrument.depend, instrument.threads);
    self->sites = calloc(SITES, sizeof *self->sites);
    if (!self->thread || !self->sites) {
        instrument.counts = false;
        instrument.out_of_memory = true;
        return false;
    }
    instrument.threads++;
    find_stack(self->thread);
    pthread_setspecific(at_thread_end, self);
    return true;
}

void instrument_end_calls(struct traced *self, uint64_t slot)
{
    if (depend_is_on_stack(self->thread, slot))
        depend_return(instrument.depend, self->thread, slot);
}

void instrument_check(struct traced *self)
{
    depend_thread(instrument.depend, self->thread->number);
    instrument.next_check = depend_time(instrument.depend) + CHECK_REFERENCES;
}

/* A reference by a signal handler, during a hook. */
static void skip(void)
{
    if (instrument_self.is_inside)
        __atomic_fetch_add(&instrument.skipped, 1, __ATOMIC_RELAXED);
}

/* --- references --------------------------------------------------------------------------------
 */

static struct depend_site *new_site(struct cached_site *cached, const char *file, uint64_t key,
                                    uint32_t place, bool is_sketch)
{
    if (place == DEPENDENCES_NONE) {
        instrument.out_of_memory = true;
        return NULL;
    }
    cached->file = file;
    cached->key = key;
    depend_site_init(&cached->site, place, !is_sketch);
    return &cached->site;
}

static struct cached_site *cached_site(struct traced *self, const char *file, uint64_t key)
{
    return &self->sites[hash_number((uint64_t)(uintptr_t)file + key) % SITES];
}

static void refer_in_pieces(struct traced *self, struct depend_site *site, uint64_t address,
                            uint64_t size, bool is_write)
{
    if (address >> SHADOW_ADDRESS_BITS || size > (UINT64_C(1) << SHADOW_ADDRESS_BITS) - address) {
        __atomic_fetch_add(&instrument.skipped, 1, __ATOMIC_RELAXED);
        return;
    }
    while (size > 0) {
        const unsigned piece = size < PIECE ? (unsigned)size : PIECE;
        if (is_write)
            depend_write(instrument.depend, self->thread, site, address, piece);
        else
            depend_read(instrument.depend, self->thread, site, address, piece);
        address += piece;
        size -= piece;
    }
}

static inline void refer(struct traced *self, struct depend_site *site, uint64_t address,
                         uint64_t size, bool is_write)
{
    if (size - 1 >= PIECE || address >> SHADOW_ADDRESS_BITS)
        refer_in_pieces(self, site, address, size, is_write);
    else if (is_write)
        depend_write(instrument.depend, self->thread, site, address, (unsigned)size);
    else
        depend_read(instrument.depend, self->thread, site, address, (unsigned)size);
}

__attribute__((always_inline)) static inline void refer_by_line(uint64_t address, uint64_t size,
                                                                bool is_write, const char *file,
                                                                int line, bool is_sketch)
{
    struct traced *self = instrument_enter();
    if (!self) {
        skip();
        return;
    }
    instrument_unwind(self, __builtin_frame_address(0));
    const uint64_t key = (uint64_t)(unsigned)line << 1 | is_sketch;
    struct cached_site *cached = cached_site(self, file, key);
    struct depend_site *site = &cached->site;
    if (cached->file != file || cached->key != key || !file)
        site = new_site(cached, file, key, instrument_places_line(&instrument.places, file, line),
                        is_sketch);
    if (site)
        refer(self, site, address, size, is_write);
    instrument_leave(self);
}

void instrument_refer_by_code(uint64_t address, uint64_t size, bool is_write, uint64_t code,
                              const void *frame)
{
    struct traced *self = instrument_enter();
    if (!self) {
        skip();
        return;
    }
    instrument_unwind(self, frame);
    struct cached_site *cached = cached_site(self, NULL, code);
    struct depend_site *site = &cached->site;
    if (cached->file || cached->key != code || code == 0)
        site =
            new_site(cached, NULL, code, instrument_places_code(&instrument.places, code), false);
    if (site)
        refer(self, site, address, size, is_write);
    instrument_leave(self);
}

void _bop_prof_rec_write_n(unsigned long addr, unsigned long size, int sketch_p, char *file_name,
                           int line)
{
    refer_by_line(addr, size, true, file_name, line, sketch_p);
}

void _bop_prof_rec_read_n(unsigned long addr, unsigned long size, int sketch_p, char *file_name,
                          int line)
{
    refer_by_line(addr, size, false, file_name, line, sketch_p);
}

void _bop_prof_rec_copy_n(unsigned long to, unsigned long from, unsigned long size, int sketch_p,
                          char *file_name, int line)
{
    refer_by_line(from, size, false, file_name, line, sketch_p);
    refer_by_line(to, size, true, file_name, line, sketch_p);
}

void _bop_prof_rec_write(unsigned long addr, int sketch_p, char *file_name, int line)
{
    refer_by_line(addr, 1, true, file_name, line, sketch_p);
}

void _bop_prof_rec_read(unsigned long addr, int sketch_p, char *file_name, int line)
{
    refer_by_line(addr, 1, false, file_name, line, sketch_p);
}

void instrument_forget(uint64_t address, uint64_t size)
{
    struct traced *self = size > 0 && !(address >> SHADOW_ADDRESS_BITS) ? instrument_enter() : NULL;
    if (!self)
        return;
    depend_forget(instrument.depend, address, size);
    instrument_leave(self);
}

void instrument_move(uint64_t from, uint64_t to, uint64_t size)
{
    const uint64_t end = (from > to ? from : to) + size;
    struct traced *self =
        from > 0 && size > 0 && !(end >> SHADOW_ADDRESS_BITS) ? instrument_enter() : NULL;
    if (!self)
        return;
    depend_move(instrument.depend, from, to, size);
    instrument_leave(self);
}

/* --- functions ---------------------------------------------------------------------------------
 */

void bop_instm_func_entry(char *file_name, char *func_name)
{
    struct traced *self = instrument.trace ? instrument_enter() : NULL;
    if (!self)
        return;
    instrument_trace_function(true, file_name, func_name);
    instrument_leave(self);
}

void bop_instm_func_exit(char *func_name)
{
    struct traced *self = instrument.trace ? instrument_enter() : NULL;
    if (!self)
        return;
    instrument_trace_function(false, NULL, func_name);
    instrument_leave(self);
}

/* On other stacks (of signal handlers, coroutines) nothing is known of the order of addresses. */
void instrument_call(uint64_t slot)
{
    struct traced *self = instrument_enter();
    if (!self)
        return;
    if (depend_is_on_stack(self->thread, slot))
        depend_call(instrument.depend, self->thread, slot);
    instrument_leave(self);
}

void instrument_return(uint64_t slot)
{
    struct traced *self = instrument_enter();
    if (!self)
        return;
    if (depend_is_on_stack(self->thread, slot))
        depend_return(instrument.depend, self->thread, slot);
    instrument_leave(self);
}

/* The return address is above the saved frame pointer. */
void bop_instm_frame_entry(void *frame)
{
    instrument_call((uint64_t)(uintptr_t)frame + sizeof(uint64_t));
}

void bop_instm_frame_exit(void *frame)
{
    instrument_return((uint64_t)(uintptr_t)frame + sizeof(uint64_t));
}

/* --- loops -------------------------------------------------------------------------------------
 */

/* The number of a loop, which is added if it is new. DEPEND_NONE: no memory. */
static uint32_t find_new_loop(const char *file, int line, const char *function, int number)
{
    const uint32_t place = instrument_places_line(&instrument.places, file, line);
    const uint32_t hash = hash_pair(place, (uint64_t)(unsigned)number);
    struct hash_search search = hash_search(&instrument.by_loop, hash);
    while (hash_search_next(&search)) {
        const struct traced_loop *loop = &instrument.loops[search.number];
        if (loop->place == place && loop->number == number &&
            (loop->function == function || strcmp(loop->function, function) == 0))
            return search.number;
    }
    struct traced_loop *larger = grow_array(instrument.loops, &instrument.loop_capacity,
                                            instrument.loop_count + 1, sizeof *larger);
    if (larger)
        instrument.loops = larger;
    if (!larger || place == DEPENDENCES_NONE ||
        hash_index_add(&instrument.by_loop, hash, (uint32_t)instrument.loop_count) < 0) {
        instrument.out_of_memory = true;
        return DEPEND_NONE;
    }
    larger[instrument.loop_count] = (struct traced_loop){place, function, number};
    return (uint32_t)instrument.loop_count++;
}

/* The same for loops that were found before. */
static uint32_t find_loop(const char *file, int line, const char *function, int number)
{
    static struct {
        const char *file, *function;
        int line, number;
        uint32_t loop;
    } cache[256];
    const unsigned slot = hash_pair((uint64_t)(uintptr_t)function, (unsigned)number) % 256;
    if (cache[slot].file == file && cache[slot].function == function && cache[slot].line == line &&
        cache[slot].number == number)
        return cache[slot].loop;
    const uint32_t loop = find_new_loop(file, line, function, number);
    if (loop != DEPEND_NONE) {
        cache[slot].file = file;
        cache[slot].function = function;
        cache[slot].line = line;
        cache[slot].number = number;
        cache[slot].loop = loop;
    }
    return loop;
}

/* Ends calls that have ended without a hook, and loops of the current call from a depth on. frame:
 * of the hook. */
static void end_deeper(struct traced *self, const void *frame, int depth)
{
    instrument_unwind(self, frame);
    while (depend_loops(self->thread) > (unsigned)(depth < 0 ? 0 : depth))
        depend_loop_end(instrument.depend, self->thread);
}

void bop_instm_loop_begin(char *file_name, int line, char *func_name, int number, int depth)
{
    struct traced *self = instrument_enter();
    if (!self)
        return;
    const uint32_t loop = find_loop(file_name, line, func_name ? func_name : "", number);
    end_deeper(self, __builtin_frame_address(0), depth);
    if (loop != DEPEND_NONE)
        depend_loop_begin(instrument.depend, self->thread, loop, 0);
    instrument_leave(self);
}

void bop_instm_loop_iterate(int number, int depth)
{
    struct traced *self = instrument_enter();
    if (!self)
        return;
    end_deeper(self, __builtin_frame_address(0), depth + 1);
    const unsigned loops = depend_loops(self->thread);
    if (loops > 0 && loops == (unsigned)depth + 1 &&
        instrument.loops[depend_loop_at(self->thread, loops - 1)].number == number)
        depend_loop_iterate(instrument.depend, self->thread);
    instrument_leave(self);
}

void bop_instm_loop_end(int number, int depth)
{
    (void)number;
    struct traced *self = instrument_enter();
    if (!self)
        return;
    end_deeper(self, __builtin_frame_address(0), depth);
    instrument_leave(self);
}

/* --- begin -------------------------------------------------------------------------------------
 */

/* A child of fork() is not traced, as under `bustap depend`. fork() is like a hook: a signal that
 * ends the program waits for its end. A signal handler that calls it during a hook may have the
 * lock already. */
static void before_fork(void)
{
    struct traced *self = &instrument_self;
    if (self->is_inside) {
        self->inner_forks++;
    } else {
        self->is_inside = self->is_locked = true;
        pthread_mutex_lock(&instrument.lock);
    }
    if (instrument.trace)
        fflush(instrument.trace); /* the child would write what is left, too */
}

static void after_fork(void)
{
    struct traced *self = &instrument_self;
    if (self->inner_forks > 0)
        self->inner_forks--;
    else
        instrument_leave(self);
}

static void in_child(void)
{
    instrument.counts = false;
    after_fork();
}

__attribute__((constructor(101))) static void begin(void)
{
    struct bt_error error;
    instrument_self.is_inside = true;
    instrument_options_read(&instrument.options);
    instrument_output_begin();
    const struct depend_settings settings = {
        .kinds = instrument.options.kinds,
        .address_bits = SHADOW_ADDRESS_BITS,
        .every = instrument.options.level == DEPENDENCES_LEVEL_ACCESS,
        .found = instrument.trace ? instrument_trace_found : NULL};
    instrument.depend = depend_new(&settings, &error);
    instrument.process = getpid();
    if (!instrument.depend || !instrument.out ||
        pthread_key_create(&at_thread_end, end_thread) != 0 ||
        pthread_atfork(before_fork, after_fork, in_child) != 0) {
        instrument_say("no memory: dependences are not counted");
    } else {
        instrument_endings_begin();
        instrument.next_check = CHECK_REFERENCES;
        instrument.counts = true;
    }
    instrument_self.is_inside = false;
}
