#include "tools/dcfg/graph/bus_visits.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"
#include "tools/common/fetch_noise.h"

#include <stdlib.h>

#define PROCESSORS     256u
#define OUTPUT         4096u
#define EXCURSIONS_MAX 4000000u
#define RECURS_MIN     8u /* an excursion of the program comes this often, */
#define RECURS_SHARE   4u /* and in 1 of this number of visits of the chunk before */

/* A chunk and where the processor went for one visit; before == seen: visits of the chunk. */
struct excursion {
    uint32_t before, seen;
    uint64_t count;
};

/* What one processor fetched last. */
struct visitor {
    struct record last;    /* visited */
    struct record pending; /* fetched after it; whether it is an error is not known yet */
    uint32_t ahead;        /* number of chunks after it that were prefetched */
    bool visited, waiting;
};

struct bus_visits {
    struct bus_model model;
    bool is_doubtful; /* nothing is certain */
    struct fetch_noise noise;
    struct bus_evidence *evidence;
    struct sink *to;
    struct bus_fetch_counts counts;
    struct visitor visitors[PROCESSORS];
    struct excursion *excursions;
    uint32_t excursion_count;
    size_t excursion_room;
    struct hash_index index;
    struct record output[OUTPUT];
    size_t output_count;
    bool hole; /* a hole precedes the next record */
};

struct bus_visits *bus_visits_new(const struct bus_model *model, uint32_t noise_mask,
                                  struct bus_evidence *evidence, struct sink *to,
                                  struct bt_error *error)
{
    struct bus_visits *visits = calloc(1, sizeof *visits);
    if (!visits) {
        bt_fail(error, BT_MEMORY, "no memory to follow the fetches of a bus");
        return NULL;
    }
    visits->model = *model;
    visits->noise = (struct fetch_noise){.chunk = model->chunk, .mask = noise_mask};
    visits->evidence = evidence;
    visits->to = to;
    return visits;
}

void bus_visits_free(struct bus_visits *visits)
{
    if (!visits)
        return;
    hash_index_clear(&visits->index);
    free(visits->excursions);
    free(visits);
}

struct bus_fetch_counts bus_visits_counts(const struct bus_visits *visits)
{
    return visits->counts;
}

static int flush(struct bus_visits *visits, struct bt_error *error)
{
    const struct batch batch = {.records = visits->output,
                                .count = visits->output_count,
                                .gap = {.milliseconds = visits->hole ? 1 : 0}};
    visits->output_count = 0;
    visits->hole = false;
    return sink_put(visits->to, &batch, error);
}

/* --- errors of the probe --- */

static uint64_t *find_count(const struct bus_visits *visits, uint32_t before, uint32_t seen)
{
    struct hash_search search = hash_search(&visits->index, hash_pair(before, seen));
    while (hash_search_next(&search)) {
        struct excursion *known = &visits->excursions[search.number];
        if (known->before == before && known->seen == seen)
            return &known->count;
    }
    return NULL;
}

/* Counts an excursion; returns how often it came, 0 without room for it. */
static uint64_t count_excursion(struct bus_visits *visits, uint32_t before, uint32_t seen)
{
    uint32_t hash = hash_pair(before, seen);
    uint64_t *count = find_count(visits, before, seen);
    if (count)
        return ++*count;
    struct excursion *grown = visits->excursion_count < EXCURSIONS_MAX
                                  ? grow_array(visits->excursions, &visits->excursion_room,
                                               (size_t)visits->excursion_count + 1, sizeof *grown)
                                  : NULL;
    if (!grown)
        return 0;
    visits->excursions = grown;
    if (hash_index_add(&visits->index, hash, visits->excursion_count) < 0)
        return 0;
    visits->excursions[visits->excursion_count++] =
        (struct excursion){.before = before, .seen = seen, .count = 1};
    return 1;
}

void bus_visits_doubt(struct bus_visits *visits)
{
    visits->is_doubtful = true;
}

/* Puts a visit: certain if a chunk is only fetched to be executed, and never with wrong bits. */
static int visit(struct bus_visits *visits, struct visitor *visitor, const struct record *fetch,
                 struct bt_error *error)
{
    visitor->last = *fetch;
    visitor->visited = true;
    visitor->ahead = 0;
    visits->output[visits->output_count++] = *fetch;
    visits->counts.instructions++;
    if (visits->model.noise)
        count_excursion(visits, fetch->address, fetch->address);
    if (visits->is_doubtful || visits->model.noise || visits->model.ahead > 0) {
        visits->counts.assumed++;
        if (bus_evidence_assumed(visits->evidence, fetch->address, error) != 0)
            return BT_MEMORY;
    }
    return visits->output_count == OUTPUT ? flush(visits, error) : 0;
}

/* Where the fetch is that came last, or before the pending one. */
static uint32_t position(const struct bus_visits *visits, const struct visitor *visitor)
{
    return visitor->last.address + visitor->ahead * visits->model.chunk;
}

/* Takes the fetch of the next chunk. Where chunks are prefetched, only as many as the model has are
 * not executed yet. */
static int advance(struct bus_visits *visits, struct visitor *visitor, const struct record *fetch,
                   struct bt_error *error)
{
    uint8_t ahead = visits->model.ahead == BUS_AHEAD_UNKNOWN ? 0 : visits->model.ahead;
    if (visitor->ahead < ahead) {
        visitor->ahead++;
        visits->counts.prefetched++;
        return 0;
    }
    struct record executed = *fetch;
    executed.address -= ahead * visits->model.chunk;
    int result = visit(visits, visitor, &executed, error);
    visitor->ahead = ahead;
    return result;
}

/* The address bits in which the pending fetch is wrong; 0: it is a visit. */
static uint32_t wrong_bits(struct bus_visits *visits, const struct visitor *visitor, uint32_t after)
{
    uint32_t before = visitor->last.address;
    uint32_t seen = visitor->pending.address;
    uint32_t wrong = fetch_noise_bits(&visits->noise, position(visits, visitor), seen, after);
    if (wrong == 0 && visitor->ahead > 0) /* the chunk came again */
        wrong = fetch_noise_bits(&visits->noise, before, seen, after);
    if (wrong == 0)
        return 0;
    uint64_t came = count_excursion(visits, before, seen);
    const uint64_t *all = find_count(visits, before, before);
    return all && came >= RECURS_MIN && came * RECURS_SHARE > *all ? 0 : wrong;
}

/* Drops the pending fetch, or replaces it by the chunk that it was fetched as. */
static int drop_pending(struct bus_visits *visits, struct visitor *visitor, uint32_t wrong,
                        uint32_t after, struct bt_error *error)
{
    struct record corrected = visitor->pending;
    uint32_t next = position(visits, visitor) + visits->model.chunk;
    visits->counts.noise++;
    for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
        visits->counts.noise_bits[bit] += wrong >> bit & 1;
    corrected.address ^= wrong;
    if (corrected.address == visitor->last.address)
        visitor->ahead = 0;
    return corrected.address == next && after == next + visits->model.chunk
               ? advance(visits, visitor, &corrected, error)
               : 0;
}

/* Decides on the pending fetch, after which `after` was fetched. */
static int settle(struct bus_visits *visits, struct visitor *visitor, uint32_t after,
                  struct bt_error *error)
{
    visitor->waiting = false;
    uint32_t wrong = wrong_bits(visits, visitor, after);
    return wrong == 0 ? visit(visits, visitor, &visitor->pending, error)
                      : drop_pending(visits, visitor, wrong, after, error);
}

/* --- fetches --- */

/* Takes a fetch that needs no other one to be understood. Returns 1 if it is none. */
static int take_known(struct bus_visits *visits, struct visitor *visitor,
                      const struct record *fetch, struct bt_error *error)
{
    if (!visitor->visited)
        return visit(visits, visitor, fetch, error);
    if (fetch->address == position(visits, visitor) + visits->model.chunk)
        return advance(visits, visitor, fetch, error);
    if (visits->model.refetch == BUS_REFETCH_NONE || fetch->address != visitor->last.address)
        return 1;
    visitor->ahead = 0;
    return 0;
}

static int take(struct bus_visits *visits, const struct record *fetch, struct bt_error *error)
{
    struct visitor *visitor = &visits->visitors[fetch->processor];
    uint32_t previous = visitor->waiting ? visitor->pending.address : position(visits, visitor);
    bool again = visitor->visited && fetch->address == previous;
    int result = 0;
    visits->counts.chunks++;
    visits->counts.repeated += again;
    if (bus_evidence_fetch(visits->evidence, fetch->address, error) != 0)
        return BT_MEMORY;
    if (visitor->waiting)
        result = settle(visits, visitor, fetch->address, error);
    if (result == 0)
        result = take_known(visits, visitor, fetch, error);
    if (result <= 0)
        return result;
    if (!visits->model.noise)
        return visit(visits, visitor, fetch, error);
    visitor->pending = *fetch;
    visitor->waiting = true;
    return 0;
}

/* Ends all visits, because what follows is unknown. */
static int break_all(struct bus_visits *visits, struct bt_error *error)
{
    int result = 0;
    for (unsigned p = 0; p < PROCESSORS && result == 0; p++) {
        struct visitor *visitor = &visits->visitors[p];
        if (visitor->waiting)
            result = visit(visits, visitor, &visitor->pending, error);
        visitor->waiting = visitor->visited = false;
    }
    return result == 0 ? flush(visits, error) : result;
}

int bus_visits_put(struct bus_visits *visits, const struct batch *batch, struct bt_error *error)
{
    int result = 0;
    if (batch_has_loss_or_gap(batch)) {
        result = break_all(visits, error);
        visits->hole = true;
    }
    for (size_t i = 0; i < batch->count && result == 0; i++)
        if (batch->records[i].type == REQUEST_FETCH)
            result = take(visits, &batch->records[i], error);
    return result;
}

int bus_visits_end(struct bus_visits *visits, struct bt_error *error)
{
    return break_all(visits, error);
}
