#include "tests/support/dependence_twin.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 8u
#define LOOPS   64u /* active ones of a thread */
#define FRAMES  64u

#define TWIN_READS 8u /* maximum of a byte: older ones are forgotten */

struct access {
    bool is_there;
    uint32_t place, top, thread;
    uint64_t time, frozen;
};

/* Reads of a byte since its last write by one thread, the latest first. */
struct reads {
    struct access reads[TWIN_READS + 1];
    unsigned count;
};

struct twin_loop {
    uint32_t loop;
    uint64_t *begun; /* time before each iteration */
    size_t iterations;
};

struct twin_thread {
    uint32_t top;
    uint64_t stack_begin, stack_end;
    struct twin_loop loops[LOOPS];
    unsigned loop_count;
    struct {
        uint64_t slot;
        unsigned loops;
    } frames[FRAMES];
    unsigned frame_count;
};

struct dependence_twin {
    uint64_t base;
    size_t bytes;
    bool every;
    struct access *writers;
    struct reads *readers;
    uint64_t time, frozen;
    struct twin_thread threads[THREADS];
    struct twin_row *rows;
    size_t row_count;
};

struct dependence_twin *twin_new(uint64_t base, size_t bytes, bool every)
{
    struct dependence_twin *twin = calloc(1, sizeof *twin);
    twin->base = base;
    twin->bytes = bytes;
    twin->every = every;
    twin->writers = calloc(bytes, sizeof *twin->writers);
    twin->readers = calloc(bytes, sizeof *twin->readers);
    for (unsigned i = 0; i < THREADS; i++)
        twin->threads[i].top = TWIN_NONE;
    return twin;
}

void twin_free(struct dependence_twin *twin)
{
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned n = 0; n < LOOPS; n++)
            free(twin->threads[i].loops[n].begun);
    free(twin->writers);
    free(twin->readers);
    free(twin->rows);
    free(twin);
}

/* --- rows --------------------------------------------------------------------------------------
 */

static int compare_keys(const struct twin_row *a, const struct twin_row *b)
{
    const uint64_t left[] = {a->kind,          a->sink,   a->sink_top,
                             a->sink_thread,   a->source, a->source_top,
                             a->source_thread, a->loop,   a->carried};
    const uint64_t right[] = {b->kind,          b->sink,   b->sink_top,
                              b->sink_thread,   b->source, b->source_top,
                              b->source_thread, b->loop,   b->carried};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

int twin_compare(const void *a, const void *b)
{
    return compare_keys(a, b);
}

static void add_row(struct dependence_twin *twin, const struct twin_row *key, uint64_t distance)
{
    size_t at = 0;
    while (at < twin->row_count && compare_keys(&twin->rows[at], key) != 0)
        at++;
    if (at == twin->row_count) {
        twin->rows = realloc(twin->rows, (at + 1) * sizeof *twin->rows);
        twin->rows[twin->row_count++] = *key;
        twin->rows[at].least = distance;
    }
    struct twin_row *row = &twin->rows[at];
    row->count++;
    row->sum += distance;
    if (distance < row->least)
        row->least = distance;
    if (distance > row->greatest)
        row->greatest = distance;
}

const struct twin_row *twin_rows(struct dependence_twin *twin, size_t *count)
{
    if (twin->row_count)
        qsort(twin->rows, twin->row_count, sizeof *twin->rows, twin_compare);
    *count = twin->row_count;
    return twin->rows;
}

/* --- references --------------------------------------------------------------------------------
 */

/* The iteration that a time belongs to, from the last one back. */
static size_t iteration_of(const struct twin_loop *loop, uint64_t time)
{
    size_t iteration = loop->iterations - 1;
    while (loop->begun[iteration] >= time)
        iteration--;
    return iteration;
}

static void depends(struct dependence_twin *twin, unsigned kind, uint32_t thread, uint32_t place,
                    const struct access *source)
{
    const struct twin_thread *self = &twin->threads[thread];
    struct twin_row row = {.kind = kind,
                           .sink = place,
                           .sink_top = self->top,
                           .sink_thread = thread,
                           .source = source->place,
                           .source_top = source->top,
                           .source_thread = source->thread,
                           .loop = TWIN_NONE};
    uint64_t distance = 0;
    if (source->time == twin->time || (source->frozen == twin->frozen && !twin->every))
        return;
    for (unsigned i = self->loop_count; i-- > 0 && source->thread == thread;) {
        const struct twin_loop *loop = &self->loops[i];
        if (source->time <= loop->begun[0])
            continue;
        row.loop = loop->loop;
        distance = loop->iterations - 1 - iteration_of(loop, source->time);
        row.carried = distance > 0;
        break;
    }
    add_row(twin, &row, distance);
}

/* Whether an equal access is before one in an array: each source counts once. */
static bool is_repeated(const struct access *const *sources, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (sources[i]->time == sources[count]->time)
            return true;
    return false;
}

/* Whether a loop of the thread, or an iteration, has begun between two times. */
static bool has_begun(const struct twin_thread *self, uint64_t earlier, uint64_t later)
{
    for (unsigned i = 0; i < self->loop_count; i++) {
        const struct twin_loop *loop = &self->loops[i];
        const uint64_t begun[] = {loop->begun[0], loop->begun[loop->iterations - 1]};
        for (unsigned k = 0; k < 2; k++)
            if (earlier <= begun[k] && begun[k] < later)
                return true;
    }
    return false;
}

/* Keeps only the latest of the reads that no loop tells apart. */
static void reduce(const struct dependence_twin *twin, struct reads *reads)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < reads->count; i++) {
        const struct access *read = &reads->reads[i];
        if (kept == 0 ||
            has_begun(&twin->threads[read->thread], read->time, reads->reads[kept - 1].time))
            reads->reads[kept++] = *read;
    }
    reads->count = kept < TWIN_READS ? kept : TWIN_READS;
}

static void add_read(const struct dependence_twin *twin, struct reads *reads,
                     const struct access *read)
{
    if (reads->count > 0 && reads->reads[0].thread != read->thread)
        reads->count = 0;
    memmove(reads->reads + 1, reads->reads, reads->count * sizeof *read);
    reads->reads[0] = *read;
    reads->count++;
    reduce(twin, reads);
}

static void find(struct dependence_twin *twin, unsigned kind, uint32_t thread, uint32_t place,
                 size_t at, unsigned size)
{
    const struct access *sources[64 * TWIN_READS + 1];
    unsigned count = 0;
    for (unsigned i = 0; i < size; i++) {
        struct reads *reads = &twin->readers[at + i];
        if (kind == 1)
            reduce(twin, reads);
        else if (!twin->writers[at + i].is_there)
            continue;
        for (unsigned k = 0; k < (kind == 1 ? reads->count : 1); k++) {
            sources[count] = kind == 1 ? &reads->reads[k] : &twin->writers[at + i];
            count += !is_repeated(sources, count);
        }
    }
    for (unsigned i = 0; i < count; i++)
        depends(twin, kind, thread, place, sources[i]);
}

static void begin(struct dependence_twin *twin, uint32_t thread, uint32_t place, bool is_detail,
                  uint64_t references)
{
    twin->time += references;
    if (is_detail) {
        twin->frozen += references;
        twin->threads[thread].top = place;
    }
}

static void refer(struct dependence_twin *twin, uint32_t thread, uint32_t place, bool is_write,
                  uint64_t address, unsigned size)
{
    const size_t at = (size_t)(address - twin->base);
    if (is_write) {
        find(twin, 1, thread, place, at, size);
        find(twin, 2, thread, place, at, size);
    } else {
        find(twin, 0, thread, place, at, size);
    }
    const struct access own = {true,   place,      twin->threads[thread].top,
                               thread, twin->time, twin->frozen};
    for (unsigned i = 0; i < size; i++) {
        if (is_write) {
            twin->writers[at + i] = own;
            twin->readers[at + i].count = 0;
        } else {
            add_read(twin, &twin->readers[at + i], &own);
        }
    }
}

void twin_reference(struct dependence_twin *twin, uint32_t thread, uint32_t place, bool is_detail,
                    bool is_write, uint64_t address, unsigned size)
{
    begin(twin, thread, place, is_detail, 1);
    refer(twin, thread, place, is_write, address, size);
}

void twin_range(struct dependence_twin *twin, uint32_t thread, uint32_t place, bool is_detail,
                uint64_t source, uint64_t target, unsigned size, uint64_t count, bool is_downwards)
{
    const uint64_t bytes = size * count;
    const bool overlaps = source && target && source < target + bytes && target < source + bytes;
    if (count > 0 && !overlaps)
        begin(twin, thread, place, is_detail, count * ((source != 0) + (target != 0)));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = (is_downwards ? count - 1 - i : i) * size;
        if (source && overlaps)
            begin(twin, thread, place, is_detail, 1);
        if (source)
            refer(twin, thread, place, false, source + at, size);
        if (target && overlaps)
            begin(twin, thread, place, is_detail, 1);
        if (target)
            refer(twin, thread, place, true, target + at, size);
    }
}

void twin_forget(struct dependence_twin *twin, uint64_t address, uint64_t size)
{
    const size_t at = (size_t)(address - twin->base);
    memset(twin->writers + at, 0, (size_t)size * sizeof *twin->writers);
    memset(twin->readers + at, 0, (size_t)size * sizeof *twin->readers);
}

void twin_move(struct dependence_twin *twin, uint64_t from, uint64_t to, uint64_t size)
{
    const size_t source = (size_t)(from - twin->base), target = (size_t)(to - twin->base);
    memcpy(twin->writers + target, twin->writers + source, size * sizeof *twin->writers);
    memcpy(twin->readers + target, twin->readers + source, size * sizeof *twin->readers);
    twin_forget(twin, from, size);
}

/* --- calls and loops ---------------------------------------------------------------------------
 */

void twin_set_stack(struct dependence_twin *twin, uint32_t thread, uint64_t begin, uint64_t end)
{
    twin->threads[thread].stack_begin = begin;
    twin->threads[thread].stack_end = end;
}

/* Ends the calls whose return addresses are at most this high. */
static void end_calls(struct twin_thread *self, uint64_t slot)
{
    while (self->frame_count > 0 && self->frames[self->frame_count - 1].slot <= slot)
        self->loop_count = self->frames[--self->frame_count].loops;
}

void twin_call(struct dependence_twin *twin, uint32_t thread, uint64_t slot)
{
    struct twin_thread *self = &twin->threads[thread];
    end_calls(self, slot);
    self->frames[self->frame_count].slot = slot;
    self->frames[self->frame_count++].loops = self->loop_count;
    twin_forget(twin, self->stack_begin, slot - self->stack_begin);
}

void twin_return(struct dependence_twin *twin, uint32_t thread, uint64_t slot)
{
    struct twin_thread *self = &twin->threads[thread];
    end_calls(self, slot);
    twin_forget(twin, self->stack_begin, slot + 8 - self->stack_begin);
}

void twin_loop_begin(struct dependence_twin *twin, uint32_t thread, uint32_t loop)
{
    struct twin_thread *self = &twin->threads[thread];
    struct twin_loop *begun = &self->loops[self->loop_count++];
    begun->loop = loop;
    begun->iterations = 0;
    twin_loop_iterate(twin, thread);
}

void twin_loop_iterate(struct dependence_twin *twin, uint32_t thread)
{
    struct twin_thread *self = &twin->threads[thread];
    struct twin_loop *loop = &self->loops[self->loop_count - 1];
    loop->begun = realloc(loop->begun, (loop->iterations + 1) * sizeof *loop->begun);
    loop->begun[loop->iterations++] = twin->time;
}

void twin_loop_end(struct dependence_twin *twin, uint32_t thread)
{
    twin->threads[thread].loop_count--;
}

uint64_t twin_time(const struct dependence_twin *twin)
{
    return twin->time;
}

uint64_t twin_frozen(const struct dependence_twin *twin)
{
    return twin->frozen;
}
