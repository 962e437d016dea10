#include "capture/depend/depend_internal.h"

#include "formats/base/grow.h"

#include <string.h>

#define LIST_STEPS 8u /* pairs of a list that are compared before the index is searched */

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
        (depend->tracks_reads && shadow_init(&depend->reads[0], bits, error) < 0) ||
        (settings->found && shadow_init(&depend->frozen_writers, bits, error) < 0)) {
        depend_free(depend);
        return NULL;
    }
    depend->read_levels = depend->tracks_reads ? 1 : 0;
    return depend;
}

static void clear_shadows(struct depend *depend)
{
    shadow_clear(&depend->writers);
    shadow_clear(&depend->frozen_writers);
    for (unsigned level = 0; level < DEPEND_READS; level++)
        shadow_clear(&depend->reads[level]);
    depend->read_levels = 0;
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
                                          .pairs = {DEPEND_NONE, DEPEND_NONE, DEPEND_NONE}};
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

/* The innermost loop of the thread that had begun before a time; NULL: none. Loops begin in
 * order. */
static const struct depend_active *loop_since(const struct depend_thread *thread, uint64_t time)
{
    unsigned low = 0, high = thread->active_count;
    if (high && thread->active[high - 1].begun < time)
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

static struct attribution attribute(const struct depend *depend, const struct depend_thread *thread,
                                    shadow_entry source)
{
    struct attribution found = {.loop = DEPEND_NONE, .distance = 0};
    const uint64_t time = shadow_time(source);
    if (depend->thread_count > 1 &&
        depend->contexts[shadow_context(source)].thread != thread->number)
        return found;
    const struct depend_active *active = loop_since(thread, time);
    if (!active)
        return found;
    found.loop = active->loop;
    found.carried = time <= active->iteration_begun;
    if (found.carried && time > active->previous_begun)
        found.distance = 1;
    else if (found.carried)
        found.distance = loop_history_distance(&active->history, time, &found.at_least);
    return found;
}

static bool is_pair(const struct depend_pair *pair, uint32_t source,
                    const struct attribution *where)
{
    return pair->source == source && pair->loop == where->loop && pair->carried == where->carried;
}

static uint32_t hash_of(enum depend_kind kind, uint32_t sink, uint32_t source,
                        const struct attribution *where)
{
    return hash_pair((uint64_t)sink << 32 | source,
                     (uint64_t)where->loop << 3 | (uint64_t)kind << 1 | where->carried);
}

/* Moves a pair to the front of its list. */
static void move_to_front(struct depend *depend, uint32_t *first, uint32_t before, uint32_t number)
{
    depend->pairs[before].next = depend->pairs[number].next;
    depend->pairs[number].next = *first;
    *first = number;
}

/* The pair, if the index is searched; DEPEND_NONE: there is none. */
static uint32_t search_pair(const struct depend *depend, enum depend_kind kind, uint32_t sink,
                            uint32_t source, const struct attribution *where)
{
    struct hash_search search = hash_search(&depend->by_pair, hash_of(kind, sink, source, where));
    while (hash_search_next(&search)) {
        const struct depend_pair *pair = &depend->pairs[search.number];
        if (pair->sink == sink && pair->kind == kind && is_pair(pair, source, where))
            return search.number;
    }
    return DEPEND_NONE;
}

/* Adds a pair at the front of its list. DEPEND_NONE: the engine has stopped. */
static uint32_t add_pair(struct depend *depend, enum depend_kind kind, uint32_t sink,
                         uint32_t source, const struct attribution *where)
{
    const uint32_t number = (uint32_t)depend->pair_count;
    struct depend_pair *larger =
        number < HASH_INDEX_NUMBER_MAX
            ? grow_array(depend->pairs, &depend->pair_capacity, (size_t)number + 1, sizeof *larger)
            : NULL;
    if (larger)
        depend->pairs = larger;
    if (!larger ||
        hash_index_add(&depend->by_pair, hash_of(kind, sink, source, where), number) < 0) {
        depend_stop(depend, DEPEND_MEMORY);
        return DEPEND_NONE;
    }
    uint32_t *first = &depend->contexts[sink].pairs[kind];
    larger[number] = (struct depend_pair){.kind = (uint8_t)kind,
                                          .carried = where->carried,
                                          .sink = sink,
                                          .source = source,
                                          .loop = where->loop,
                                          .least = where->carried ? UINT64_MAX : 0,
                                          .next = *first};
    *first = number;
    depend->pair_count++;
    return number;
}

/* The pair's number; a few steps in the list of the sink find most. */
static uint32_t find_pair(struct depend *depend, enum depend_kind kind, uint32_t sink,
                          uint32_t source, const struct attribution *where)
{
    uint32_t *first = &depend->contexts[sink].pairs[kind];
    uint32_t before = DEPEND_NONE;
    unsigned steps = 0;
    for (uint32_t at = *first; at != DEPEND_NONE; at = depend->pairs[at].next) {
        if (is_pair(&depend->pairs[at], source, where)) {
            if (before != DEPEND_NONE)
                move_to_front(depend, first, before, at);
            return at;
        }
        if (++steps == LIST_STEPS) {
            const uint32_t found = search_pair(depend, kind, sink, source, where);
            if (found != DEPEND_NONE)
                return found;
            break;
        }
        before = at;
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
                  uint32_t sink, shadow_entry source, uint64_t address, uint64_t times)
{
    /* the frozen times differ if a reference of a DETAIL function came after the source */
    const uint64_t time = shadow_time(source);
    if (!sink || time == depend->time || (time >= depend->detail_time && !depend->settings.every))
        return;
    const struct attribution where = attribute(depend, thread, source);
    const uint32_t number = find_pair(depend, kind, sink, shadow_context(source), &where);
    if (number == DEPEND_NONE)
        return;
    struct depend_pair *pair = &depend->pairs[number];
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
        report(depend, pair, source, address);
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
    size_t bytes = shadow_bytes(&depend->writers) + shadow_bytes(&depend->frozen_writers);
    for (unsigned level = 0; level < depend->read_levels; level++)
        bytes += shadow_bytes(&depend->reads[level]);
    return bytes + depend->context_capacity * sizeof *depend->contexts +
           depend->pair_capacity * sizeof *depend->pairs + hash_index_bytes(&depend->by_context) +
           hash_index_bytes(&depend->by_pair);
}
