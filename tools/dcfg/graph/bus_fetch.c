#include "tools/dcfg/graph/bus_fetch.h"

#include "tools/dcfg/graph/bus_walk.h"

#include <stdlib.h>
#include <string.h>

#define PROCESSORS 256u
#define OUTPUT     4096u

/* a fetch at most this many bytes past the end of an image was prefetched */
#define PREFETCHED 128u

/* chunks after a taken branch; higher numbers count as this one */
#define AHEAD_MAX 7u

/* A processor, and its current run. */
struct bus_follower {
    struct bus_run run; /* chunk 0: none */
    uint32_t times[BUS_RUN_CHUNKS];
    struct record last; /* record of the last chunk */
    uint64_t entry;     /* address at which the run is entered */
    bool entry_known;
    bool entry_sure;
    struct bus_stack stack;
    uint32_t ahead[AHEAD_MAX + 1]; /* certain runs, by number of prefetched chunks */
};

struct bus_fetch {
    struct sink *to;
    struct bus_fetch_counts counts;
    struct bus_decoder decoder;
    struct bus_follower *followers[PROCESSORS]; /* NULL: processor not seen yet */
    struct bus_walk walks[2];                   /* the best walk, and the one being tried */
    struct record output[OUTPUT];
    size_t output_count;
    bool hole; /* a hole precedes the next record */
};

struct bus_fetch *bus_fetch_new(const struct images *images, struct sink *to,
                                struct bt_error *error)
{
    struct bus_fetch *bus = calloc(1, sizeof *bus);
    if (!bus) {
        bt_fail(error, BT_MEMORY, "no memory to follow the fetches of a bus");
        return NULL;
    }
    bus->decoder.images = images;
    bus->to = to;
    return bus;
}

void bus_fetch_free(struct bus_fetch *bus)
{
    for (unsigned p = 0; bus && p < PROCESSORS; p++)
        free(bus->followers[p]);
    free(bus);
}

struct bus_fetch_counts bus_fetch_counts(const struct bus_fetch *bus)
{
    return bus->counts;
}

/* --- output --- */

static int flush(struct bus_fetch *bus, struct bt_error *error)
{
    const struct batch batch = {.records = bus->output,
                                .count = bus->output_count,
                                .gap = {.milliseconds = bus->hole ? 1 : 0}};
    bus->output_count = 0;
    bus->hole = false;
    return sink_put(bus->to, &batch, error);
}

static int put(struct bus_fetch *bus, const struct record *record, struct bt_error *error)
{
    bus->output[bus->output_count++] = *record;
    bus->counts.instructions++;
    bus->counts.assumed += (record->attribute & BUS_FETCH_ASSUMED) != 0;
    return bus->output_count == OUTPUT ? flush(bus, error) : 0;
}

/* Puts the instructions of an explanation, the first `sure` of which are certain. */
static int put_walk(struct bus_fetch *bus, struct bus_follower *follower,
                    const struct bus_walk *walk, size_t sure, struct bt_error *error)
{
    const struct bus_run *run = &follower->run;
    uint64_t used = run->start;
    uint32_t unused = (uint32_t)((run->end - run->start) / run->chunk);
    int result = 0;
    for (size_t i = 0; i < walk->count && result == 0; i++) {
        const struct bus_instruction *instruction = &walk->instructions[i];
        uint64_t end = (uint64_t)instruction->address + instruction->size;
        struct record record = follower->last;
        record.address = instruction->address;
        record.size = instruction->size;
        record.attribute =
            (uint8_t)((record.attribute & ~BUS_FETCH_ASSUMED) | (i < sure ? 0 : BUS_FETCH_ASSUMED));
        record.time = follower->times[(instruction->address - run->start) / run->chunk];
        result = put(bus, &record, error);
        for (uint64_t chunk = instruction->address / run->chunk * run->chunk; chunk < end;
             chunk += run->chunk)
            if (chunk >= used) {
                used = chunk + run->chunk;
                unused--;
            }
    }
    bus->counts.unused += unused;
    if (sure == walk->count && walk->count > 0)
        follower->ahead[unused < AHEAD_MAX ? unused : AHEAD_MAX]++;
    return result;
}

/* The usual number of prefetched chunks. */
static uint32_t usual_ahead(const struct bus_follower *follower)
{
    uint32_t most = 0;
    for (uint32_t n = 1; n <= AHEAD_MAX; n++)
        if (follower->ahead[n] > follower->ahead[most])
            most = n;
    return most;
}

/* --- the end of a run --- */

/* Address and stack after the run. */
static void go_on(struct bus_follower *follower, const struct bus_walk *walk, bool sure,
                  bool stack_sure)
{
    follower->entry = walk->next;
    follower->entry_known = walk->next_known;
    follower->entry_sure = walk->next_known && sure;
    follower->stack = walk->stack;
    if (!stack_sure)
        follower->stack.sure = follower->stack.depth;
}

static void lose_way(struct bus_follower *follower)
{
    follower->entry_known = follower->entry_sure = false;
    follower->stack.sure = follower->stack.depth;
}

/*
 * Tries each entry address in the run's first chunk. Returns the number of addresses that explain
 * the run; the best walk is walks[0]. *agreed: all explanations end alike, and are otherwise
 * certain.
 */
static unsigned try_entries(struct bus_fetch *bus, const struct bus_follower *follower,
                            const struct bus_next *next, bool *agreed)
{
    const struct bus_run *run = &follower->run;
    struct bus_walk *best = &bus->walks[0];
    struct bus_walk *tried = &bus->walks[1];
    unsigned found = 0;
    bool doubted = false;
    uint64_t best_rank = 0;
    *agreed = true;
    for (uint64_t entry = run->start; entry < run->start + run->chunk; entry++) {
        bus_walk(tried, &bus->decoder, run, next, entry, &follower->stack);
        if (tried->options == 0) {
            doubted |= tried->possible;
            continue;
        }
        uint64_t rank = follower->entry_known && entry == follower->entry ? 3
                        : entry % 16 == 0                                 ? 2
                                                                          : 1;
        *agreed &=
            tried->options == 1 && tried->next_known && tried->next_sure &&
            (found == 0 || (tried->next == best->next && tried->stack.depth == best->stack.depth));
        found++;
        if (rank <= best_rank)
            continue;
        best_rank = rank;
        memcpy(best, tried, offsetof(struct bus_walk, instructions));
        memcpy(best->instructions, tried->instructions, tried->count * sizeof *best->instructions);
    }
    *agreed &= !doubted;
    return found == 1 && doubted ? 2 : found;
}

/* Explains the run and puts the executed instructions. */
static int end_run(struct bus_fetch *bus, struct bus_follower *follower,
                   const struct bus_next *next, struct bt_error *error)
{
    struct bus_run *run = &follower->run;
    struct bus_walk *walk = &bus->walks[0];
    uint64_t chunks = run->chunk ? (run->end - run->start) / run->chunk : 0;
    bool agreed;
    size_t sure = 0;
    if (chunks == 0)
        return 0;
    bus->counts.runs++;
    run->ahead = usual_ahead(follower);
    if (follower->entry_sure) {
        bus_walk(walk, &bus->decoder, run, next, follower->entry, &follower->stack);
        bus->counts.ambiguous += walk->options != 1;
        if (walk->options > 0) {
            sure = walk->options == 1 ? walk->count : walk->sure;
            go_on(follower, walk, walk->options == 1 && walk->next_sure, walk->options == 1);
        } else {
            lose_way(follower);
        }
    } else {
        unsigned found = try_entries(bus, follower, next, &agreed);
        bus->counts.ambiguous += found != 1 || walk->options != 1;
        if (found == 0) {
            bus->counts.undecided += chunks;
            lose_way(follower);
            return 0;
        }
        bool certain = found == 1 && !next->follows;
        sure = !certain ? 0 : walk->options == 1 ? walk->count : walk->sure;
        go_on(follower, walk, agreed, certain && walk->options == 1);
    }
    return put_walk(bus, follower, walk, sure, error);
}

/* --- chunks --- */

static bool has_code(const struct images *images, uint64_t address, uint32_t size)
{
    size_t length;
    return images_code(images, address, &length) ||
           images_code(images, address + size - 1, &length);
}

static bool goes_on(const struct bus_fetch *bus, const struct bus_run *run,
                    const struct record *record)
{
    return run->chunk > 0 && run->chunk == record->size && run->end == record->address &&
           (has_code(bus->decoder.images, record->address, record->size) ||
            has_code(bus->decoder.images, run->end - PREFETCHED, PREFETCHED));
}

static bool is_chunk(const struct record *record)
{
    return (record->size == 8 || record->size == 16 || record->size == 32) &&
           record->address % record->size == 0;
}

static void begin_run(struct bus_follower *follower, const struct record *record)
{
    follower->run = (struct bus_run){.start = record->address,
                                     .end = (uint64_t)record->address + record->size,
                                     .chunk = record->size};
    follower->times[0] = record->time;
    follower->last = *record;
}

/* The run has its maximum length: explains all but its last two chunks. */
static int shorten_run(struct bus_fetch *bus, struct bus_follower *follower, struct bt_error *error)
{
    struct bus_run *run = &follower->run;
    const struct bus_next next = {.address = run->end, .size = run->chunk, .follows = true};
    int result = end_run(bus, follower, &next, error);
    uint64_t start = run->end - run->chunk;
    if (follower->entry_known && follower->entry < start) /* an instruction spans both parts */
        start = follower->entry / run->chunk * run->chunk;
    if (start < run->start)
        start = run->start;
    size_t skipped = (size_t)((start - run->start) / run->chunk);
    if (skipped > 0)
        memmove(follower->times, follower->times + skipped,
                (BUS_RUN_CHUNKS - skipped) * sizeof *follower->times);
    run->start = start;
    return result;
}

static int take(struct bus_fetch *bus, const struct record *record, struct bt_error *error)
{
    struct bus_follower *follower = bus->followers[record->processor];
    bool code = is_chunk(record) && has_code(bus->decoder.images, record->address, record->size);
    int result = 0;
    struct bus_run *run = &follower->run;
    bus->counts.chunks++;
    if (goes_on(bus, run, record)) {
        size_t count = (size_t)((run->end - run->start) / run->chunk);
        if (count == BUS_RUN_CHUNKS) {
            result = shorten_run(bus, follower, error);
            count = (size_t)((run->end - run->start) / run->chunk);
        }
        if (count < BUS_RUN_CHUNKS) {
            follower->times[count] = record->time;
            run->end += run->chunk;
            follower->last = *record;
            return result;
        }
    }
    const struct bus_next next = {.address = record->address, .size = record->size};
    if (result == 0)
        result = end_run(bus, follower, &next, error);
    if (code) {
        begin_run(follower, record);
        return result;
    }
    run->chunk = 0;
    follower->entry_known = follower->entry_sure = false;
    bus->counts.outside++;
    return result == 0 ? put(bus, record, error) : result;
}

/* Ends all runs, because the following records are unknown. */
static int forget(struct bus_fetch *bus, struct bt_error *error)
{
    const struct bus_next nothing = {.size = 0};
    int result = 0;
    for (unsigned p = 0; p < PROCESSORS && result == 0; p++) {
        struct bus_follower *follower = bus->followers[p];
        if (!follower)
            continue;
        result = end_run(bus, follower, &nothing, error);
        follower->run.chunk = 0;
        follower->entry_known = follower->entry_sure = false;
        follower->stack.depth = follower->stack.sure = 0;
    }
    return result == 0 ? flush(bus, error) : result;
}

int bus_fetch_put(struct bus_fetch *bus, const struct batch *batch, struct bt_error *error)
{
    int result = 0;
    if (batch_has_loss_or_gap(batch)) {
        result = forget(bus, error);
        bus->hole = true;
    }
    for (size_t i = 0; i < batch->count && result == 0; i++) {
        const struct record *record = &batch->records[i];
        struct bus_follower **follower = &bus->followers[record->processor];
        if (record->type != REQUEST_FETCH)
            continue;
        if (!*follower)
            *follower = calloc(1, sizeof **follower);
        result = *follower ? take(bus, record, error)
                           : bt_fail(error, BT_MEMORY, "no memory to follow a processor");
    }
    return result;
}

int bus_fetch_end(struct bus_fetch *bus, struct bt_error *error)
{
    return forget(bus, error);
}
