/* doc/cache-model.md, "The optimum": looks ahead through all that happens to a cache. */
#include "tests/support/slow_internal.h"

#include <stdlib.h>

#define NEVER    SIZE_MAX
#define NO_GROUP 64u

void slow_optimum_note(struct slow_cache *cache, struct slow_store *store, uint64_t number,
                       enum slow_happening happening, enum reference_kind kind)
{
    if (!cache->settings.optimum && !cache->settings.optimum_sample)
        return;
    if ((store->event_count & (store->event_count - 1)) == 0) {
        size_t room = store->event_count ? 2 * store->event_count : 1;
        store->events = realloc(store->events, room * sizeof *store->events);
        if (!store->events)
            abort();
    }
    store->events[store->event_count++] =
        (struct slow_event){.number = number,
                            .happening = happening,
                            .kind = kind,
                            .missed = slow_find(store, number) == NULL};
}

/* When the line that an event concerns is referenced next; NEVER, if it is lost or fetched anew
 * before, or at no time. */
static size_t next_use(const struct slow_store *store, size_t event)
{
    for (size_t i = event + 1; i < store->event_count; i++)
        if (store->events[i].number == store->events[event].number)
            return store->events[i].happening == SLOW_REFERENCE ? i : NEVER;
    return NEVER;
}

/* A line in the optimum's cache. */
struct kept {
    bool there;
    uint64_t number;
    size_t next;
};

/* The cache of a set, with a place for one line more than it has ways. */
struct kept_set {
    struct kept *lines;
    uint32_t ways, count;
};

static struct kept *find(struct kept_set *set, uint64_t number)
{
    for (uint32_t way = 0; way <= set->ways; way++)
        if (set->lines[way].there && set->lines[way].number == number)
            return set->lines + way;
    return NULL;
}

/* Takes the line whose next use is the latest out of the set, except one. */
static void evict(struct kept_set *set, const struct kept *except)
{
    struct kept *latest = NULL;
    for (uint32_t way = 0; way <= set->ways; way++) {
        struct kept *line = set->lines + way;
        if (line->there && line != except && (!latest || line->next > latest->next))
            latest = line;
    }
    latest->there = false;
    set->count--;
}

/* group: of the sample, in which the first 8 are counted, or NO_GROUP if all sets are. */
static void happen(struct slow_store *store, struct kept_set *set, size_t event, bool bypass,
                   unsigned group)
{
    const struct slow_event *now = store->events + event;
    struct kept *line = find(set, now->number);
    if (now->happening == SLOW_LOSS) {
        set->count -= line != NULL;
        if (line)
            line->there = false;
        return;
    }
    if (now->happening == SLOW_REFERENCE && now->missed && group != NO_GROUP)
        store->counters.sample_misses[group]++;
    if (now->happening == SLOW_REFERENCE && !line && (group < 8 || group == NO_GROUP)) {
        store->counters.optimum_misses[now->kind]++;
        if (group != NO_GROUP)
            store->counters.sample_optimum[group][now->kind]++;
    }
    for (uint32_t way = 0; !line; way++)
        if (!set->lines[way].there)
            line = set->lines + way;
    set->count += !line->there;
    *line = (struct kept){.there = true, .number = now->number, .next = next_use(store, event)};
    if (set->count > set->ways)
        evict(set, bypass ? NULL : line);
}

/* The groups of all sets. The caller frees them. */
static uint8_t *deal_groups(uint64_t sets)
{
    uint8_t *groups = slow_memory(sets, sizeof *groups);
    uint64_t state = 0;
    for (uint64_t set = 0; set < sets; set++)
        groups[set] = set % 64;
    for (uint64_t set = sets - 1; set >= 1; set--) {
        const uint64_t other = slow_random(&state) % (set + 1);
        const uint8_t moved = groups[set];
        groups[set] = groups[other];
        groups[other] = moved;
    }
    return groups;
}

static void run(const struct slow_cache *cache, struct slow_store *store)
{
    bool bypass = store->settings.no_write_allocate || cache->settings.honour_attributes ||
                  cache->settings.levels[store->level].inclusion == CACHE_EXCLUSIVE;
    bool all = cache->settings.optimum || store->sets < 64;
    uint8_t *groups = all ? NULL : deal_groups(store->sets);
    for (uint64_t number = 0; number < store->sets; number++) {
        unsigned group = all ? NO_GROUP : groups[number];
        struct kept_set set = {.ways = store->settings.ways};
        set.lines = slow_memory(set.ways + 1, sizeof *set.lines);
        for (size_t event = 0; event < store->event_count; event++)
            if (slow_set(store, store->events[event].number) == number)
                happen(store, &set, event, bypass, group);
        free(set.lines);
    }
    free(groups);
}

void slow_optimum_end(struct slow_cache *cache)
{
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned at = 0; at < cache->rows[level].count; at++)
            run(cache, cache->rows[level].stores[at]);
}
