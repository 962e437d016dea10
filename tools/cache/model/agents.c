#include "tools/cache/model/agents_internal.h"

#include "tools/cache/model/plain_internal.h"
#include "tools/cache/model/requests_internal.h"

#include <stdlib.h>
#include <string.h>

#define MATCH_WORDS AGENTS_MATCH
#define JOINT_ALIGN (AGENTS_WORDS * sizeof(uint32_t))

int agents_join(struct hierarchy *hierarchy)
{
    struct joint_sets *joint = &hierarchy->joint;
    const uint32_t sets = line_store_sets(&hierarchy->agents[0]->lines);
    size_t words = 0;
    for (unsigned i = 0; i < hierarchy->agent_count; i++)
        words += hierarchy->agents[i]->lines.ways;
    words = (words + AGENTS_WORDS - 1) / AGENTS_WORDS * AGENTS_WORDS;
    uint32_t *entries = aligned_alloc(JOINT_ALIGN, sets * words * sizeof *entries);
    uint16_t *word_agent = calloc(words, sizeof *word_agent);
    if (!entries || !word_agent) {
        free(entries);
        free(word_agent);
        return -1;
    }
    memset(entries, 0, sets * words * sizeof *entries);
    uint32_t offset = 0;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        struct cache *agent = hierarchy->agents[i];
        struct line_store *lines = &agent->lines;
        for (uint32_t set = 0; set < sets; set++)
            memcpy(entries + set * words + offset, line_store_narrow_set(lines, set),
                   lines->ways * sizeof *entries);
        for (uint32_t way = 0; way < lines->ways; way++)
            word_agent[offset + way] = (uint16_t)i;
        if (!lines->narrow_shared)
            free(lines->narrow);
        lines->narrow = entries + offset;
        lines->narrow_stride = words;
        lines->narrow_shared = true;
        agent->joint_offset = offset;
        offset += lines->ways;
    }
    free(joint->entries);
    free(joint->word_agent);
    *joint = (struct joint_sets){entries, words, word_agent};
    return 0;
}

void agents_free(struct hierarchy *hierarchy)
{
    free(hierarchy->joint.entries);
    free(hierarchy->joint.word_agent);
}

/* A reference to an agent. */
struct agent_reference {
    struct hierarchy *hierarchy;
    struct cache *agent;
    uint32_t *joint; /* the sets of all agents */
    uint32_t line;   /* address of the line */
    enum reference_kind kind;
    bool owns;
    bool whole; /* a write that covers the line */
};

static uint64_t match(const struct agent_reference *reference, size_t from)
{
    return agents_match(reference->joint, reference->hierarchy->joint.words, from, reference->line);
}

/* Whether an agent holds the line beyond the first words. */
NARROW_INLINE bool is_elsewhere(const struct agent_reference *reference)
{
    uint64_t found = 0;
    for (size_t from = MATCH_WORDS; from < reference->hierarchy->joint.words; from += MATCH_WORDS)
        found |= match(reference, from);
    return found;
}

static enum line_state state_of(uint32_t entry)
{
    return (enum line_state)((entry & ENTRY_STATE) >> ENTRY_STATE_SHIFT);
}

static bool is_owner(enum line_state state)
{
    return state == LINE_MODIFIED || state == LINE_OWNED;
}

static bool is_supplier(const struct hierarchy *hierarchy, enum line_state state)
{
    return is_owner(state) || (hierarchy->settings.coherence == CACHE_MESIF &&
                               (state == LINE_EXCLUSIVE || state == LINE_FORWARD));
}

/* Counts an event of the line, later. */
static inline void log_event(const struct agent_reference *reference, enum line_event event)
{
    struct line_events *events = &reference->hierarchy->events;
    if (events->count == LINE_EVENTS)
        agents_count_events(reference->hierarchy);
    events->events[events->count++] = reference->line | event;
}

void agents_count_events(struct hierarchy *hierarchy)
{
    struct line_events *events = &hierarchy->events;
    for (unsigned i = 0; i < events->count; i++) {
        const uint32_t event = events->events[i];
        struct cache_line_counters *line = hierarchy_line(hierarchy, event & ~NARROW_FLAGS);
        switch ((enum line_event)(event & NARROW_FLAGS)) {
        case LINE_INVALIDATION:
            line->invalidations++;
            break;
        case LINE_INTERVENTION:
            line->interventions++;
            break;
        case LINE_UPGRADE:
            line->upgrades++;
            break;
        case LINE_WRITE_BACK:
            line->write_backs++;
            break;
        }
    }
    events->count = 0;
}

static void supply(const struct agent_reference *reference, struct cache *other,
                   enum line_state state)
{
    const bool clean = !is_owner(state);
    struct cache_counters *counters = &other->counters;
    counters->interventions++;
    counters->clean_interventions += clean;
    *(clean ? &counters->clean_intervention_bytes : &counters->intervention_bytes) +=
        other->settings->line;
    reference->agent->counters.received++;
    log_event(reference, LINE_INTERVENTION);
}

/* The other agent of the processor has the line that this one reads. */
static void share_with_sibling(const struct agent_reference *reference, struct cache *sibling,
                               uint32_t *entry)
{
    const bool dirty = *entry & ENTRY_DIRTY;
    const enum line_state alone =
        reference->hierarchy->settings.coherence == CACHE_MSI ? LINE_SHARED : LINE_EXCLUSIVE;
    const enum line_state state = state_of(*entry) == LINE_MODIFIED ? alone : LINE_OWNED;
    *entry = reference->line | ENTRY_VALID | (uint32_t)state << ENTRY_STATE_SHIFT;
    if (dirty)
        requests_write_back(sibling, reference->line);
}

/* An agent of another processor has the line. supplied: one before has supplied it. Returns whether
 * this one does. */
static bool share(const struct agent_reference *reference, struct cache *other, uint32_t *entry,
                  bool supplied)
{
    struct hierarchy *hierarchy = reference->hierarchy;
    const enum line_state state = state_of(*entry);
    const bool dirty = *entry & ENTRY_DIRTY;
    const bool stays = is_owner(state) && hierarchy->settings.coherence == CACHE_MOESI;
    const bool supplies = !supplied && is_supplier(hierarchy, state);
    if (supplies)
        supply(reference, other, state);
    *entry = reference->line | ENTRY_VALID | (stays && dirty ? ENTRY_DIRTY : 0) |
             (uint32_t)(stays ? LINE_OWNED : LINE_SHARED) << ENTRY_STATE_SHIFT;
    if (is_owner(state) && dirty && !stays) {
        other->counters.snoop_write_backs++;
        log_event(reference, LINE_WRITE_BACK);
        requests_write_back(other, reference->line);
    }
    return supplies;
}

/* A read misses in the agent. copies: the match of the first words. *state becomes that of its new
 * line. Returns whether another agent supplies it. */
__attribute__((noinline)) static bool read_from_others(const struct agent_reference *reference,
                                                       uint64_t copies, enum line_state *state)
{
    const struct hierarchy *hierarchy = reference->hierarchy;
    bool others = false;
    bool forwarded = false;
    bool supplied = false;
    for (size_t from = 0; from < hierarchy->joint.words; from += MATCH_WORDS)
        for (uint64_t found = from ? match(reference, from) : copies; found; found &= found - 1) {
            const size_t word = from + (unsigned)__builtin_ctzll(found);
            struct cache *other = hierarchy->agents[hierarchy->joint.word_agent[word]];
            uint32_t *entry = reference->joint + word;
            if (other->processor != reference->agent->processor) {
                others = true;
                supplied |= share(reference, other, entry, supplied);
            } else if (is_owner(state_of(*entry))) {
                share_with_sibling(reference, other, entry);
            } else {
                forwarded = state_of(*entry) == LINE_FORWARD;
            }
        }
    const enum cache_coherence protocol = hierarchy->settings.coherence;
    const enum line_state shared =
        protocol == CACHE_MESIF && !forwarded ? LINE_FORWARD : LINE_SHARED;
    *state = !others && protocol != CACHE_MSI ? LINE_EXCLUSIVE : shared;
    return supplied;
}

/* Invalidates the line in all other agents. copies: as for read_from_others. intervene: one of them
 * may supply it. Returns whether one does. */
__attribute__((noinline)) static bool take_from_others(const struct agent_reference *reference,
                                                       uint64_t copies, bool intervene)
{
    const struct hierarchy *hierarchy = reference->hierarchy;
    bool supplied = false;
    for (size_t from = 0; from < hierarchy->joint.words; from += MATCH_WORDS)
        for (uint64_t found = from ? match(reference, from) : copies; found; found &= found - 1) {
            const uint32_t word = (uint32_t)from + (unsigned)__builtin_ctzll(found);
            struct cache *other = hierarchy->agents[hierarchy->joint.word_agent[word]];
            if (other == reference->agent)
                continue;
            const enum line_state state = state_of(reference->joint[word]);
            if (other->lines.optimum)
                optimum_lose(other->lines.optimum, reference->line);
            narrow_remove(reference->joint + other->joint_offset, other->lines.ways,
                          word - other->joint_offset);
            if (other->processor == reference->agent->processor)
                continue;
            other->counters.invalidations++;
            log_event(reference, LINE_INVALIDATION);
            if (intervene && !supplied && is_supplier(hierarchy, state)) {
                supplied = true;
                supply(reference, other, state);
            }
        }
    return supplied;
}

/* Counts a miss whose line another agent supplies. replaced: the entry that it takes the place of.
 */
static void miss_supplied(struct cache *agent, enum reference_kind kind, uint32_t replaced)
{
    agent->counters.references[kind]++;
    agent->counters.misses[kind]++;
    agent->counters.line_misses[kind]++;
    if (replaced & ENTRY_DIRTY)
        requests_write_back(agent, replaced & ~NARROW_FLAGS);
}

/* Counts any other miss, and queues its requests. */
static void miss_below(const struct agent_reference *reference, uint32_t replaced)
{
    struct cache *agent = reference->agent;
    struct request_queue *queue = &reference->hierarchy->queues[1];
    const bool dirty = (replaced & ENTRY_DIRTY) != 0;
    agent->moves[(reference->kind + reference->whole) * MOVE_PLACES + MOVE_MISS + dirty]++;
    queue->count =
        request_below(queue->requests, queue->count, agent, reference->line,
                      reference->kind == REFERENCE_FETCH ? REFERENCE_FETCH : REFERENCE_READ,
                      !reference->whole, replaced, dirty);
}

/* A miss in the agent. elsewhere: other agents hold the line. */
NARROW_INLINE void miss(const struct agent_reference *reference, uint32_t *set, uint64_t copies,
                        bool elsewhere)
{
    struct cache *agent = reference->agent;
    const enum reference_kind kind = reference->kind;
    const uint32_t ways = agent->lines.ways;
    const bool exclusive = reference->hierarchy->settings.coherence != CACHE_MSI;
    enum line_state state = reference->owns ? LINE_MODIFIED
                            : exclusive     ? LINE_EXCLUSIVE
                                            : LINE_SHARED;
    bool supplied = false;
    if (agent->optimum)
        refer_optimum(agent, reference->line, kind);
    if (elsewhere) {
        supplied = reference->owns ? take_from_others(reference, copies, !reference->whole)
                                   : read_from_others(reference, copies, &state);
    }
    const uint32_t replaced = set[ways - 1];
    narrow_raise(set, ways, ways - 1,
                 reference->line | ENTRY_VALID | (uint32_t)state << ENTRY_STATE_SHIFT |
                     (reference->owns ? ENTRY_DIRTY : 0));
    if (agent->optimum)
        cache_sample_miss(agent, reference->line);
    if (supplied)
        miss_supplied(agent, kind, replaced);
    else
        miss_below(reference, replaced);
}

/* A write, or MEMREADINV, hits a line that the agent does not own alone. */
__attribute__((noinline)) static void upgrade(const struct agent_reference *reference,
                                              uint64_t copies, uint32_t way)
{
    struct cache *agent = reference->agent;
    uint32_t *set = reference->joint + agent->joint_offset;
    if (state_of(set[way]) != LINE_EXCLUSIVE) {
        agent->counters.upgrades++;
        log_event(reference, LINE_UPGRADE);
    }
    take_from_others(reference, copies, false);
    if (agent->optimum)
        refer_optimum(agent, reference->line, reference->kind);
    agent->counters.references[reference->kind]++;
    narrow_raise(set, agent->lines.ways, way,
                 reference->line | ENTRY_VALID | ENTRY_MODIFIED | ENTRY_DIRTY);
}

bool agents_refer(struct cache *agent, uint32_t *set, const struct agents_found *found,
                  uint32_t line, unsigned what, bool owns)
{
    struct hierarchy *hierarchy = agent->hierarchy;
    const bool whole = what == MOVE_WHOLE;
    const struct agent_reference reference = {.hierarchy = hierarchy,
                                              .agent = agent,
                                              .joint = set - agent->joint_offset,
                                              .line = line,
                                              .kind = whole ? REFERENCE_WRITE
                                                            : (enum reference_kind)what,
                                              .owns = owns,
                                              .whole = whole};
    const bool many = hierarchy->joint.words > MATCH_WORDS;
    const uint64_t copies = many ? match(&reference, 0) : found->copies;
    const uint32_t way = (uint32_t)__builtin_ctzll(found->own | 1ull << 63);
    if (found->own && (!owns || (set[way] & ENTRY_STATE) == ENTRY_MODIFIED)) {
        if (agent->optimum)
            refer_optimum(agent, line, reference.kind);
        narrow_raise(set, agent->lines.ways, way, set[way] | (owns ? ENTRY_DIRTY : 0));
        agent->counters.references[reference.kind]++;
        return true;
    }
    const bool elsewhere = many ? copies || is_elsewhere(&reference) : found->elsewhere;
    if (hierarchy->accesses && (found->own || elsewhere))
        return false;
    if (found->own)
        upgrade(&reference, copies, way);
    else
        miss(&reference, set, copies, elsewhere);
    return true;
}
