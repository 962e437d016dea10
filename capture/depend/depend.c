#include "capture/depend/depend.h"

#include "formats/base/grow.h"

#include <string.h>

#define NEAR_LOOPS 8u /* innermost ones, which are compared one by one */

struct depend *depend_new(const struct depend_settings *settings, struct bt_error *error)
{
    struct depend *depend = calloc(1, sizeof *depend);
    if (!depend) {
        bt_fail(error, BT_MEMORY, "no memory for dependences");
        return NULL;
    }
    depend->settings = *settings;
    depend->tracks_reads = settings->kinds >> DEPEND_WAR & 1;
    depend->is_raw_only = settings->kinds == 1u << DEPEND_RAW && !settings->found;
    depend->reads_plainly = !depend->tracks_reads && (settings->kinds >> DEPEND_RAW & 1);
    depend->counts = true;
    const unsigned bits = settings->address_bits;
    if (shadow_init(&depend->writers, bits, error) < 0 ||
        (depend->tracks_reads && shadow_init(&depend->readers.shadow, bits, error) < 0) ||
        (settings->found && shadow_init(&depend->frozen_writers, bits, error) < 0)) {
        depend_free(depend);
        return NULL;
    }
    return depend;
}

static void clear_shadows(struct depend *depend)
{
    shadow_clear(&depend->writers);
    shadow_clear(&depend->frozen_writers);
    depend_readers_clear(&depend->readers);
}

static void thread_free(struct depend_thread *thread)
{
    for (size_t i = 0; i < thread->active_capacity; i++)
        loop_history_clear(&thread->active[i].history);
    free(thread->active);
    free(thread->frames);
    free(thread->activations);
    free(thread);
}

void depend_free(struct depend *depend)
{
    if (!depend)
        return;
    clear_shadows(depend);
    for (size_t i = 0; i < depend->thread_count; i++)
        thread_free(depend->threads[i]);
    free(depend->threads);
    free(depend->contexts);
    hash_index_clear(&depend->by_context);
    free(depend->pairs);
    hash_index_clear(&depend->by_pair);
    free(depend->loops);
    free(depend);
}

void depend_stop(struct depend *depend, enum depend_end end)
{
    if (depend->end == DEPEND_COUNTS)
        depend->end = end;
    depend->counts = false;
    clear_shadows(depend); /* what was found needs the memory when it is reported */
}

/* Ends the counting before a limit is exceeded. */
static void check_limits(struct depend *depend)
{
    if (depend->counts && depend->settings.memory && depend_bytes(depend) > depend->settings.memory)
        depend_stop(depend, DEPEND_MEMORY);
    if (depend->counts && depend->time > SHADOW_TIME_MAX - DEPEND_STRETCH)
        depend_stop(depend, DEPEND_TIME);
}

struct depend_thread *depend_thread(struct depend *depend, uint32_t number)
{
    check_limits(depend);
    for (size_t i = 0; i < depend->thread_count; i++)
        if (depend->threads[i]->number == number)
            return depend->threads[i];
    struct depend_thread **larger = grow_array(depend->threads, &depend->thread_capacity,
                                               depend->thread_count + 1, sizeof *larger);
    struct depend_thread *thread = calloc(1, sizeof *thread);
    if (larger)
        depend->threads = larger;
    if (!larger || !thread) {
        free(thread);
        depend_stop(depend, DEPEND_MEMORY);
        return NULL;
    }
    thread->number = number;
    thread->top = DEPEND_NONE;
    return larger[depend->thread_count++] = thread;
}

void depend_site_init(struct depend_site *site, uint32_t place, bool is_detail)
{
    *site = (struct depend_site){.place = place, .top = DEPEND_NONE, .is_detail = is_detail};
}

/* --- contexts ----------------------------------------------------------------------------------
 */

static uint32_t find_context(const struct depend *depend, uint32_t hash,
                             const struct depend_context *wanted)
{
    struct hash_search search = hash_search(&depend->by_context, hash);
    while (hash_search_next(&search)) {
        const struct depend_context *context = &depend->contexts[search.number];
        if (context->place == wanted->place && context->top == wanted->top &&
            context->thread == wanted->thread)
            return search.number;
    }
    return 0;
}

/* Adds a context. 0: the engine has stopped. */
static uint32_t add_context(struct depend *depend, uint32_t hash,
                            const struct depend_context *context)
{
    const size_t number = depend->context_count ? depend->context_count : 1;
    if (number > SHADOW_CONTEXT_MAX) {
        depend_stop(depend, DEPEND_CONTEXTS);
        return 0;
    }
    struct depend_context *larger =
        grow_array(depend->contexts, &depend->context_capacity, number + 1, sizeof *larger);
    if (larger)
        depend->contexts = larger;
    if (!larger || hash_index_add(&depend->by_context, hash, (uint32_t)number) < 0) {
        depend_stop(depend, DEPEND_MEMORY);
        return 0;
    }
    larger[number] = *context;
    depend->context_count = number + 1;
    return (uint32_t)number;
}

uint32_t depend_make_context(struct depend *depend, struct depend_thread *thread,
                             struct depend_site *site)
{
    const struct depend_context wanted = {.place = site->place,
                                          .top = thread->top,
                                          .thread = thread->number,
                                          .latest = {DEPEND_NONE, DEPEND_NONE, DEPEND_NONE}};
    const uint32_t hash = hash_pair((uint64_t)wanted.place << 32 | wanted.top, wanted.thread);
    const uint32_t found = find_context(depend, hash, &wanted);
    site->top = thread->top;
    return site->context = found ? found : add_context(depend, hash, &wanted);
}

/* --- pairs -------------------------------------------------------------------------------------
 */

/* Where a dependence lies in the loops of its sink. */
struct attribution {
    uint32_t loop;
    bool carried, at_least;
    uint64_t distance;
};

/* The innermost loop of the thread that had begun before a time; NULL: none. Loops begin in order.
 */
static struct depend_active *loop_since(const struct depend_thread *thread, uint64_t time)
{
    unsigned low = 0, high = thread->active_count;
    for (unsigned i = 0; i < NEAR_LOOPS && high > 0; i++, high--)
        if (thread->active[high - 1].begun < time)
            return &thread->active[high - 1];
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (thread->active[middle].begun < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &thread->active[low - 1] : NULL;
}

static inline struct attribution attribute(const struct depend *depend,
                                           const struct depend_thread *thread, uint32_t source,
                                           uint64_t time)
{
    struct attribution found = {.loop = DEPEND_NONE, .distance = 0};
    if (depend->thread_count > 1 && depend->contexts[source].thread != thread->number)
        return found;
    struct depend_active *active = loop_since(thread, time);
    if (!active)
        return found;
    found.loop = active->loop;
    if (time > active->iteration_begun)
        return found;
    found.carried = true;
    found.distance = 1;
    if (time <= active->previous_begun)
        found.distance = loop_history_distance(&active->history, time, &found.at_least);
    return found;
}

static uint64_t key_of(uint32_t source, const struct attribution *where)
{
    return (uint64_t)source << 33 | (uint64_t)where->carried << 32 | where->loop;
}

static inline uint32_t hash_of(enum depend_kind kind, uint32_t sink, uint64_t key)
{
    return hash_number(key + UINT64_C(0xd6e8feb86659fd93) * (sink << 2 | kind));
}

/* Adds a pair. NULL: the engine has stopped. */
static struct depend_pair *add_pair(struct depend *depend, enum depend_kind kind, uint32_t sink,
                                    uint32_t source, const struct attribution *where)
{
    const uint32_t number = (uint32_t)depend->pair_count;
    const uint64_t key = key_of(source, where);
    struct depend_pair *larger =
        number < HASH_INDEX_NUMBER_MAX
            ? grow_array(depend->pairs, &depend->pair_capacity, (size_t)number + 1, sizeof *larger)
            : NULL;
    if (larger)
        depend->pairs = larger;
    if (!larger || hash_index_add(&depend->by_pair, hash_of(kind, sink, key), number) < 0) {
        depend_stop(depend, DEPEND_MEMORY);
        return NULL;
    }
    larger[number] = (struct depend_pair){.key = key,
                                          .kind = (uint8_t)kind,
                                          .carried = where->carried,
                                          .sink = sink,
                                          .source = source,
                                          .loop = where->loop,
                                          .least = where->carried ? UINT64_MAX : 0};
    depend->contexts[sink].latest[kind] = number;
    depend->pair_count++;
    return &larger[number];
}

/* The pair, which becomes the context's latest. NULL: the engine has stopped. */
static struct depend_pair *find_pair(struct depend *depend, enum depend_kind kind, uint32_t sink,
                                     uint32_t source, const struct attribution *where)
{
    const uint64_t key = key_of(source, where);
    const uint32_t latest = depend->contexts[sink].latest[kind];
    if (latest != DEPEND_NONE && depend->pairs[latest].key == key)
        return &depend->pairs[latest];
    struct hash_search search = hash_search(&depend->by_pair, hash_of(kind, sink, key));
    while (hash_search_next(&search)) {
        struct depend_pair *pair = &depend->pairs[search.number];
        if (pair->key == key && pair->sink == sink && pair->kind == kind) {
            depend->contexts[sink].latest[kind] = search.number;
            return pair;
        }
    }
    return add_pair(depend, kind, sink, source, where);
}

static void report(struct depend *depend, const struct depend_pair *pair, shadow_entry source,
                   uint64_t address)
{
    const struct depend_found found = {
        .pair = pair,
        .sink = &depend->contexts[pair->sink],
        .source = &depend->contexts[pair->source],
        .sink_time = depend->time,
        .source_time = shadow_time(source),
        .sink_frozen = depend->frozen,
        .source_frozen = shadow_time(shadow_byte(&depend->frozen_writers, address)),
    };
    depend->settings.found(depend->settings.context, &found);
}

void depend_count(struct depend *depend, struct depend_thread *thread, enum depend_kind kind,
                  uint32_t sink, shadow_entry entry, uint64_t address, uint64_t times)
{
    /* the frozen times differ if a reference of a DETAIL function came after the source */
    const uint64_t time = shadow_time(entry);
    if (time >= depend->detail_time && (!depend->settings.every || time == depend->time))
        return;
    const uint32_t source = shadow_context(entry);
    const struct attribution where = attribute(depend, thread, source, time);
    struct depend_pair *pair = find_pair(depend, kind, sink, source, &where);
    if (!pair)
        return;
    pair->count += times;
    if (where.carried) {
        pair->at_least |= where.at_least;
        pair->sum += where.distance * times;
        if (where.distance < pair->least)
            pair->least = where.distance;
        if (where.distance > pair->greatest)
            pair->greatest = where.distance;
    }
    if (kind == DEPEND_RAW && depend->settings.found)
        report(depend, pair, entry, address);
}

/* --- results -----------------------------------------------------------------------------------
 */

enum depend_end depend_end(const struct depend *depend)
{
    return depend->end;
}

uint64_t depend_time(const struct depend *depend)
{
    return depend->time;
}

uint64_t depend_writes(const struct depend *depend)
{
    return depend->writes;
}

size_t depend_pair_count(const struct depend *depend)
{
    return depend->pair_count;
}

const struct depend_pair *depend_pair(const struct depend *depend, size_t number)
{
    return &depend->pairs[number];
}

const struct depend_context *depend_context(const struct depend *depend, uint32_t number)
{
    return &depend->contexts[number];
}

struct depend_loop depend_loop(const struct depend *depend, uint32_t loop)
{
    return loop < depend->loop_count ? depend->loops[loop] : (struct depend_loop){.iterations = 0};
}

size_t depend_bytes(const struct depend *depend)
{
    return shadow_bytes(&depend->writers) + shadow_bytes(&depend->frozen_writers) +
           depend_readers_bytes(&depend->readers) +
           depend->context_capacity * sizeof *depend->contexts +
           depend->pair_capacity * sizeof *depend->pairs + hash_index_bytes(&depend->by_context) +
           hash_index_bytes(&depend->by_pair);
}
