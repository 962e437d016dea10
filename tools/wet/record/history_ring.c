#include "tools/wet/record/history_ring.h"

#include "formats/base/grow.h"
#include "formats/wet/wet_history.h"
#include "tools/wet/replay/wet_replay.h"

#define CONTINUES (WET_WANTS_CONTROL | WET_WANTS_REGISTERS) /* what the state of a replay needs */

struct history_ring {
    uint64_t dependences;
    size_t limit, bytes;       /* of the chunks */
    struct wet_chunk **chunks; /* the oldest first */
    struct wet_place *places;
    size_t count, chunk_capacity, place_capacity;
    uint64_t instructions;
    struct wet_replay *base; /* the state before the oldest chunk; NULL: that of the start */
};

struct history_ring *history_ring_new(uint64_t dependences, size_t bytes, struct bt_error *error)
{
    struct history_ring *ring = calloc(1, sizeof *ring);
    if (!ring) {
        bt_fail(error, BT_MEMORY, "no memory for a history");
        return NULL;
    }
    ring->dependences = dependences;
    ring->limit = bytes ? bytes : HISTORY_RING_BYTES;
    return ring;
}

static size_t chunk_bytes(const struct wet_chunk *chunk)
{
    size_t bytes = sizeof *chunk;
    for (unsigned i = 0; i < WET_STREAMS; i++)
        bytes += chunk->streams[i].size;
    return bytes;
}

/* Frees the first chunks. */
static void forget(struct history_ring *ring, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ring->bytes -= chunk_bytes(ring->chunks[i]) +
                       ring->places[i].execution_count * sizeof(struct wet_execution);
        wet_chunk_clear(ring->chunks[i]);
        free(ring->chunks[i]);
        free(ring->places[i].executions);
    }
    for (size_t i = count; i < ring->count; i++) {
        ring->chunks[i - count] = ring->chunks[i];
        ring->places[i - count] = ring->places[i];
    }
    ring->count -= count;
}

void history_ring_free(struct history_ring *ring)
{
    if (!ring)
        return;
    forget(ring, ring->count);
    wet_replay_free(ring->base);
    free(ring->chunks);
    free(ring->places);
    free(ring);
}

/* --- chunks ------------------------------------------------------------------------------------
 */

/* A replay of the trace from the oldest chunk on, which looks at no instruction. */
static struct wet_replay *begin(const struct history_ring *ring, struct wet_trace *trace,
                                struct bt_error *error)
{
    static const struct wet_replay_operations nothing = {.step = NULL};
    return ring->base ? wet_replay_continue(ring->base, trace, CONTINUES, &nothing, NULL, error)
                      : wet_replay_new(trace, CONTINUES, &nothing, NULL, error);
}

/* Replays the older half of the chunks, and forgets them. */
static int advance(struct history_ring *ring, const struct wet_code *code, struct bt_error *error)
{
    struct wet_trace trace;
    const size_t count = ring->count / 2;
    int result = wet_trace_borrow(&trace, code, ring->places, count, error);
    struct wet_replay *replay = result == 0 ? begin(ring, &trace, error) : NULL;
    if (replay) {
        result = wet_replay_all(replay, error);
        wet_replay_free(ring->base);
        ring->base = replay;
        forget(ring, count);
    } else {
        result = error->code;
    }
    wet_trace_close(&trace);
    return result;
}

static struct wet_chunk *copy_chunk(const struct wet_chunk *chunk)
{
    struct wet_chunk *copy = calloc(1, sizeof *copy);
    if (copy && wet_chunk_copy(copy, chunk) < 0) {
        wet_chunk_clear(copy);
        free(copy);
        copy = NULL;
    }
    return copy;
}

/* Makes room for one more chunk. */
static int reserve(struct history_ring *ring)
{
    struct wet_chunk **chunks = grow_array(ring->chunks, &ring->chunk_capacity, ring->count + 1,
                                           sizeof(struct wet_chunk *));
    if (!chunks)
        return BT_MEMORY;
    ring->chunks = chunks;
    struct wet_place *places =
        grow_array(ring->places, &ring->place_capacity, ring->count + 1, sizeof *places);
    if (!places)
        return BT_MEMORY;
    ring->places = places;
    return 0;
}

int history_ring_put(struct history_ring *ring, struct wet_code *code,
                     const struct wet_chunk *chunk, uint64_t instructions, struct bt_error *error)
{
    struct wet_place place = {.first = ring->instructions,
                              .instructions = instructions,
                              .block_count = code->block_count,
                              .instruction_count = code->instruction_count};
    struct wet_chunk *copy = reserve(ring) == 0 ? copy_chunk(chunk) : NULL;
    if (!copy || wet_code_take_executions(code, &place.executions, &place.execution_count) < 0) {
        if (copy)
            wet_chunk_clear(copy);
        free(copy);
        return bt_fail(error, BT_MEMORY, "no memory for the history");
    }
    place.chunk = copy;
    ring->chunks[ring->count] = copy;
    ring->places[ring->count++] = place;
    ring->instructions += instructions;
    ring->bytes += chunk_bytes(copy) + place.execution_count * sizeof(struct wet_execution);
    return ring->bytes > ring->limit && ring->count > 1 ? advance(ring, code, error) : 0;
}

/* --- printing ----------------------------------------------------------------------------------
 */

struct dependence {
    struct wet_instance reader, writer;
};

/* The last dependences: a ring. */
struct last {
    struct dependence *dependences;
    uint64_t count, limit; /* all so far; of the ring */
    size_t capacity;
    uint64_t before;
};

static int keep(struct last *last, struct wet_instance reader, uint32_t id, uint64_t instance)
{
    const size_t at = (size_t)(last->count++ % last->limit);
    if (at >= last->capacity) {
        struct dependence *larger =
            grow_array(last->dependences, &last->capacity, at + 1, sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        last->dependences = larger;
    }
    last->dependences[at] =
        (struct dependence){.reader = reader, .writer = {.id = id, .instance = instance}};
    return 0;
}

static int keep_step(void *context, const struct wet_step *step)
{
    struct last *last = context;
    const struct wet_instance reader = {.id = step->id, .instance = step->instance};
    int result =
        step->control.id ? keep(last, reader, step->control.id, step->control.instance) : 0;
    uint32_t begin = 0;
    for (unsigned i = 0; i < step->port_count; begin = step->ends[i++]) {
        last->before += step->ends[i] == begin;
        for (uint32_t k = begin; k < step->ends[i] && result == 0; k++)
            for (uint64_t n = 0; n < step->writers[k].count && result == 0; n++)
                result = keep(last, reader, step->writers[k].id, step->writers[k].first + n);
    }
    return result;
}

/* Collects the dependences of all chunks from one on. */
static int collect(const struct history_ring *ring, struct wet_trace *trace, size_t first,
                   struct last *last, struct bt_error *error)
{
    static const struct wet_replay_operations operations = {.step = keep_step};
    struct wet_replay *passing = begin(ring, trace, error), *replay = NULL;
    int result = passing ? 1 : error->code;
    for (size_t i = 0; i < first && result > 0; i++)
        result = wet_replay_next(passing, error);
    if (result > 0) {
        replay = wet_replay_copy(passing, CONTINUES | WET_WANTS_MEMORY, &operations, last, error);
        result = replay ? wet_replay_all(replay, error) : error->code;
    }
    wet_replay_free(passing);
    wet_replay_free(replay);
    return result;
}

/* The first of the last chunks with so many instructions. */
static size_t find_first(const struct history_ring *ring, uint64_t instructions)
{
    size_t first = ring->count;
    uint64_t found = 0;
    while (first > 0 && found < instructions)
        found += ring->places[--first].instructions;
    return first;
}

static struct wet_history_place place_of(const struct wet_code *code, struct wet_instance instance)
{
    return (struct wet_history_place){.address = code->instructions[instance.id].address,
                                      .instance = instance.instance};
}

static int print_lines(const struct last *last, const struct wet_code *code, FILE *out)
{
    const uint64_t count = last->count < last->limit ? last->count : last->limit;
    for (uint64_t i = last->count - count; i < last->count; i++) {
        const struct dependence *one = &last->dependences[i % last->limit];
        char line[WET_HISTORY_BYTES];
        const struct wet_history_line put = {.reader = place_of(code, one->reader),
                                             .writer = place_of(code, one->writer)};
        const char *end = wet_history_put(line, &put);
        if (fwrite(line, 1, (size_t)(end - line), out) != (size_t)(end - line))
            return BT_IO;
    }
    return 0;
}

int history_ring_print(struct history_ring *ring, const struct wet_code *code, FILE *out,
                       struct history_ring_totals *totals, struct bt_error *error)
{
    struct wet_trace trace;
    struct last last = {.limit = ring->dependences};
    size_t first = find_first(ring, ring->dependences);
    int result = wet_trace_borrow(&trace, code, ring->places, ring->count, error);
    if (result == 0)
        result = collect(ring, &trace, first, &last, error);
    while (result == 0 && last.count < last.limit && first > 0) { /* few dependences each */
        first /= 2;
        last.count = last.before = 0;
        result = collect(ring, &trace, first, &last, error);
    }
    if (result == 0 && print_lines(&last, code, out) < 0)
        result = bt_fail_errno(error, "cannot write the history");
    *totals = (struct history_ring_totals){
        .printed = last.count < last.limit ? last.count : last.limit, .before = last.before};
    free(last.dependences);
    wet_trace_close(&trace);
    return result;
}
