/* Prefetchers: doc/cache-model.md, "Prefetchers". */
#include "tools/cache/model/hierarchy_internal.h"
#include "tools/cache/model/line_bits.h"

#include <stdlib.h>

#define STRIDES      256u
#define STRIDE_SURE  2u
#define STRIDE_MOST  3u
#define REGION_SHIFT 12u /* of strides without instructions */
#define STREAMS      16u
#define WINDOW       16 /* lines between two references of a stream */
#define FOLLOWED     4096u
#define FOLLOWERS    4u
#define GOLDEN       0x9e3779b1u

struct stride {
    bool there;
    uint32_t key, last, step; /* step: a difference of addresses, modulo 2^32 */
    unsigned confidence;
};

struct stream {
    bool there;
    int64_t last; /* line number */
    int direction, count;
    uint64_t used;
};

/* The lines that missed after a line, the latest first. */
struct followed {
    bool there;
    uint32_t line;
    unsigned count;
    uint32_t followers[FOLLOWERS];
};

struct prefetcher {
    uint64_t time;             /* demand references so far */
    struct line_bits pending;  /* the lines prefetched and not used yet */
    struct line_bits earlier;  /* those of them prefetched before counting began */
    struct line_values issued; /* uint64_t: when; only with a latency */
    struct stride strides[STRIDES];
    struct stream streams[STREAMS];
    struct followed followed[FOLLOWED];
    bool has_last; /* markov: a line missed before */
    uint32_t last;
};

struct prefetcher *prefetcher_new(const struct cache *cache)
{
    struct prefetcher *made = calloc(1, sizeof *made);
    if (!made || line_bits_make(&made->pending, cache->lines.line_shift) < 0 ||
        line_bits_make(&made->earlier, cache->lines.line_shift) < 0) {
        prefetcher_free(made);
        return NULL;
    }
    made->issued.value_bytes = sizeof(uint64_t);
    return made;
}

void prefetcher_free(struct prefetcher *prefetcher)
{
    if (!prefetcher)
        return;
    line_bits_clear(&prefetcher->pending);
    line_bits_clear(&prefetcher->earlier);
    line_values_clear(&prefetcher->issued);
    free(prefetcher);
}

/* Whether a prefetch of a line was so recent that it has not arrived. */
static bool is_late(const struct cache *cache, uint32_t line)
{
    const uint32_t latency = cache->settings->prefetch_latency;
    const struct prefetcher *prefetcher = cache->prefetcher;
    const uint64_t *issued = latency > 0 ? line_values_find(&prefetcher->issued, line) : NULL;
    return issued && prefetcher->time - *issued <= latency;
}

bool prefetcher_demand(struct cache *cache, uint32_t address, bool hit, bool used)
{
    struct prefetcher *prefetcher = cache->prefetcher;
    const uint32_t line = address >> cache->lines.line_shift;
    prefetcher->time++;
    if ((hit && used) || !line_bits_get(&prefetcher->pending, line))
        return false;
    if (line_bits_get(&prefetcher->earlier, line))
        line_bits_reset(&prefetcher->earlier, line);
    else if (!hit)
        cache->counters.prefetch_useless++;
    else if (is_late(cache, line))
        cache->counters.prefetch_late++;
    else
        cache->counters.prefetch_covered++;
    line_bits_reset(&prefetcher->pending, line);
    if (cache->settings->prefetch_latency > 0)
        line_values_remove(&prefetcher->issued, line);
    return hit;
}

/* Notes a prefetch of a line. */
static void note_issued(struct cache *cache, uint32_t line)
{
    struct prefetcher *prefetcher = cache->prefetcher;
    const int lost = line_bits_set(&prefetcher->pending, line); /* an earlier prefetch */
    const bool timed = cache->settings->prefetch_latency > 0;
    uint64_t *issued = timed ? line_values_add(&prefetcher->issued, line) : NULL;
    if (lost < 0 || (timed && !issued)) {
        cache->hierarchy->no_memory = true;
        return;
    }
    cache->counters.prefetch_useless += lost && !line_bits_get(&prefetcher->earlier, line);
    line_bits_reset(&prefetcher->earlier, line);
    if (issued)
        *issued = prefetcher->time;
}

/* Prefetches the line of an address because of a reference. */
static void issue(struct cache *cache, const struct cache_reference *reference, uint32_t address)
{
    uint32_t page = cache->settings->prefetch_page;
    uint32_t line = cache_line_address(cache, address);
    if ((page > 0 && address / page != reference->address / page) ||
        line == cache_line_address(cache, reference->address) ||
        line_store_find(&cache->lines, line) != LINE_NONE)
        return;
    note_issued(cache, line >> cache->lines.line_shift);
    struct cache_reference next = {.address = line,
                                   .bytes = cache->settings->line,
                                   .kind = reference->kind,
                                   .prefetch = true,
                                   .cause_address = line,
                                   .cause_bytes = cache->settings->line};
    cache_refer_part(cache, &next);
}

/* Prefetches `degree` addresses, `distance` steps away. */
static void issue_steps(struct cache *cache, const struct cache_reference *reference, uint32_t step)
{
    const struct cache_settings *settings = cache->settings;
    for (uint32_t k = 0; k < settings->prefetch_degree; k++)
        issue(cache, reference, reference->address + step * (settings->prefetch_distance + k));
}

static void train_stride(struct cache *cache, const struct cache_reference *reference)
{
    const struct reference_origin *origin = &cache->hierarchy->origin;
    bool known = origin->known && reference->kind != REFERENCE_FETCH;
    uint32_t key = known ? origin->instruction : reference->address >> REGION_SHIFT;
    struct stride *stride = &cache->prefetcher->strides[key * GOLDEN >> 24];
    if (!stride->there || stride->key != key) {
        *stride = (struct stride){.there = true, .key = key, .last = reference->address};
        return;
    }
    uint32_t step = reference->address - stride->last;
    stride->last = reference->address;
    if (step == 0)
        return;
    if (step == stride->step)
        stride->confidence += stride->confidence < STRIDE_MOST;
    else if (stride->confidence > 0)
        stride->confidence--;
    else
        stride->step = step;
    if (stride->confidence < STRIDE_SURE)
        return;
    bool down = stride->step >> 31 != 0;
    uint32_t length = down ? 0 - stride->step : stride->step;
    length = length < cache->settings->line ? cache->settings->line : length;
    issue_steps(cache, reference, down ? 0 - length : length);
}

/* The stream within whose window a line is, or the least recently used one, reset. */
static struct stream *find_stream(struct prefetcher *prefetcher, int64_t line)
{
    struct stream *oldest = prefetcher->streams;
    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *stream = &prefetcher->streams[i];
        int64_t away = line - stream->last;
        if (stream->there && away >= -WINDOW && away <= WINDOW)
            return stream;
        if (stream->used < oldest->used)
            oldest = stream;
    }
    *oldest = (struct stream){.there = true, .last = line};
    return oldest;
}

static void train_stream(struct cache *cache, const struct cache_reference *reference)
{
    int64_t line = reference->address >> cache->lines.line_shift;
    struct stream *stream = find_stream(cache->prefetcher, line);
    stream->used = cache->prefetcher->time;
    if (line == stream->last)
        return;
    int direction = line > stream->last ? 1 : -1;
    stream->count = direction == stream->direction ? stream->count + 1 : 1;
    stream->direction = direction;
    stream->last = line;
    if (stream->count >= 2)
        issue_steps(cache, reference,
                    direction > 0 ? cache->settings->line : 0 - cache->settings->line);
}

static struct followed *followed_at(struct prefetcher *prefetcher, uint32_t line)
{
    return &prefetcher->followed[line * GOLDEN >> 20];
}

/* Makes a line the latest follower of another. */
static void follow(struct followed *entry, uint32_t line, uint32_t follower)
{
    if (!entry->there || entry->line != line)
        *entry = (struct followed){.there = true, .line = line};
    unsigned at = 0;
    while (at < entry->count && entry->followers[at] != follower)
        at++;
    if (at == entry->count && at < FOLLOWERS)
        entry->count++;
    for (at = at < FOLLOWERS ? at : FOLLOWERS - 1; at > 0; at--)
        entry->followers[at] = entry->followers[at - 1];
    entry->followers[0] = follower;
}

static void train_markov(struct cache *cache, const struct cache_reference *reference)
{
    struct prefetcher *prefetcher = cache->prefetcher;
    unsigned shift = cache->lines.line_shift;
    uint32_t line = reference->address >> shift;
    if (prefetcher->has_last)
        follow(followed_at(prefetcher, prefetcher->last), prefetcher->last, line);
    prefetcher->has_last = true;
    prefetcher->last = line;
    const struct followed entry = *followed_at(prefetcher, line);
    for (unsigned i = 0; entry.there && entry.line == line && i < entry.count &&
                         i < cache->settings->prefetch_degree;
         i++)
        issue(cache, reference, entry.followers[i] << shift);
}

void prefetcher_train(struct cache *cache, const struct cache_reference *reference, bool fresh)
{
    enum cache_prefetcher kind = cache->settings->prefetcher;
    if (kind == CACHE_STRIDE)
        train_stride(cache, reference);
    else if (kind == CACHE_NEXT_LINE && fresh)
        issue_steps(cache, reference, cache->settings->line);
    else if (kind == CACHE_STREAM && fresh)
        train_stream(cache, reference);
    else if (kind == CACHE_MARKOV && fresh)
        train_markov(cache, reference);
}

void prefetcher_end(struct cache *cache)
{
    const struct line_bits *pending = &cache->prefetcher->pending;
    for (uint64_t line = 0; line_bits_next(pending, &line); line++)
        cache->counters.prefetch_useless +=
            !line_bits_get(&cache->prefetcher->earlier, (uint32_t)line) &&
            line_store_find(&cache->lines, (uint32_t)line << cache->lines.line_shift) == LINE_NONE;
}

void prefetcher_forget(struct cache *cache)
{
    struct prefetcher *prefetcher = cache->prefetcher;
    for (uint64_t line = 0; line_bits_next(&prefetcher->pending, &line); line++)
        if (line_bits_set(&prefetcher->earlier, (uint32_t)line) < 0)
            cache->hierarchy->no_memory = true;
}
