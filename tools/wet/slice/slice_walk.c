#include "tools/wet/slice/slice_walk.h"

#include "formats/base/grow.h"
#include "formats/base/thread.h"
#include "tools/wet/slice/slice_live.h"
#include "tools/wet/slice/slice_pass.h"

#include <pthread.h>
#include <string.h>

#define NUMBER_NONE UINT64_MAX
#define WAYS        4u /* patterns of a block */

struct walk_thread {
    struct slice_live live;
    struct slice_live *aside; /* by depth of handlers: what is needed after the handler's end */
    size_t aside_count, aside_capacity;
};

/* The page of an instruction's needed instances that the walk is in. */
struct walk_cursor {
    uint64_t number; /* NUMBER_NONE: none */
    uint32_t page;   /* SLICE_PAGE_NONE: nothing is needed there */
    bool is_watched; /* the blocks with the instruction are watched */
    uint64_t needed; /* number of needed instances */
};

/* What the last execution of a block did that was not as the one before it: the same needs have the
 * same effect. */
struct pattern {
    uint64_t needed;  /* positions whose instances were needed */
    uint64_t members; /* positions that joined the slice */
    uint64_t repeats; /* executions that did the same, and are not counted by id yet */
    bool is_known;
};

/* A chunk that is passed forwards, while the walk is in the one after it. */
struct stage {
    struct slice_pass pass;
    struct slice_labels *labels;
    struct slice_record record;
    uint64_t *starts; /* by id: instances before the chunk */
    size_t chunk;
    struct slice_state *state; /* at its begin */
    bool is_running;           /* in a thread of its own */
    pthread_t thread;
    int result; /* of the pass */
    struct bt_error error;
};

struct walk {
    struct wet_trace *trace;
    const struct slice_settings *settings;
    struct slice_result *result;
    bool has_links; /* distances are wanted */
    uint32_t depth;
    struct slice_code code;
    struct stage stages[2];
    struct stage *at;           /* that of the chunk that the walk is in */
    struct slice_state *states; /* by chunk: at its begin */

    /* what is needed */
    struct walk_thread **threads;
    size_t thread_count, thread_capacity;
    struct walk_cursor *cursors; /* by id */
    uint64_t *watched;           /* by block: positions that may have needed instances */
    struct pattern *patterns;    /* by block, WAYS of each; NULL: not used */
    uint64_t *before, *after;    /* of patterns: needed bytes, as slice_code.touched */
    struct slice_set needs;
    uint64_t needed; /* number of instances */
    struct slice_map links;

    /* registers that saves carry, if dependences are plain */
    const struct slice_form *forms;        /* by id; NULL: all dependences */
    uint32_t *carries;                     /* by id: number of registers that its instances carry */
    uint64_t carried;                      /* their number */
    struct slice_set saves[WET_REGISTERS]; /* instances that carry, or have carried, it */
    struct slice_map save_links[WET_REGISTERS]; /* the same, with who needs it, if wanted */

    /* place in the chunk */
    uint32_t thread;
    size_t event, control, top;
};

/* --- threads -----------------------------------------------------------------------------------
 */

static void clear_aside(struct walk_thread *thread)
{
    while (thread->aside_count > 0)
        slice_live_clear(&thread->aside[--thread->aside_count]);
}

static void clear_threads(struct walk *walk)
{
    for (size_t i = 0; i < walk->thread_count; i++) {
        if (!walk->threads[i])
            continue;
        slice_live_clear(&walk->threads[i]->live);
        clear_aside(walk->threads[i]);
        free(walk->threads[i]->aside);
        free(walk->threads[i]);
    }
    free(walk->threads);
}

/* NULL: no memory. */
static struct walk_thread *thread_of(struct walk *walk, uint32_t number)
{
    const size_t before = walk->thread_capacity;
    struct walk_thread **larger =
        grow_array(walk->threads, &walk->thread_capacity, (size_t)number + 1, sizeof *larger);
    if (!larger)
        return NULL;
    walk->threads = larger;
    memset(larger + before, 0, (walk->thread_capacity - before) * sizeof *larger);
    if (!larger[number])
        larger[number] = calloc(1, sizeof *larger[number]);
    if (number >= walk->thread_count)
        walk->thread_count = (size_t)number + 1;
    return larger[number];
}

/* Whether nothing more can join the slice. */
static bool is_done(const struct walk *walk)
{
    bool done = walk->needed == 0 && walk->carried == 0;
    for (size_t i = 0; i < walk->thread_count && done; i++) {
        const struct walk_thread *thread = walk->threads[i];
        if (!thread)
            continue;
        done = thread->live.registers == 0;
        for (size_t a = 0; a < thread->aside_count && done; a++)
            done = thread->aside[a].registers == 0;
    }
    return done;
}

/* --- needed instances --------------------------------------------------------------------------
 */

static void watch(struct walk *walk, uint32_t id)
{
    const struct slice_code *code = &walk->code;
    walk->cursors[id].is_watched = true;
    for (uint32_t i = code->first_block[id]; i < code->first_block[id + 1]; i++)
        walk->watched[code->blocks_of[i]] |= UINT64_C(1) << code->positions[i];
}

/* Watches the blocks that have needed instances, and no others. */
static void watch_anew(struct walk *walk)
{
    memset(walk->watched, 0, walk->trace->file.code.block_count * sizeof *walk->watched);
    for (uint32_t id = 1; id < walk->trace->file.code.instruction_count; id++) {
        walk->cursors[id].is_watched = false;
        if (walk->cursors[id].needed > 0 || (walk->forms && walk->carries[id] > 0))
            watch(walk, id);
    }
}

/* The page of an instance, which may be new. SLICE_PAGE_NONE: no memory. */
static uint32_t page_of(struct walk *walk, uint32_t id, uint64_t number)
{
    struct walk_cursor *cursor = &walk->cursors[id];
    uint32_t page = slice_set_find(&walk->needs, id, number);
    if (page == SLICE_PAGE_NONE)
        page = slice_set_insert(&walk->needs, id, number);
    if (cursor->number == number)
        cursor->page = page;
    return page;
}

static inline int need_instance(struct walk *walk, uint32_t id, uint64_t instance)
{
    struct walk_cursor *cursor = &walk->cursors[id];
    const uint64_t number = instance >> SLICE_PAGE_BITS;
    uint32_t page = cursor->number == number ? cursor->page : SLICE_PAGE_NONE;
    if (page == SLICE_PAGE_NONE && (page = page_of(walk, id, number)) == SLICE_PAGE_NONE)
        return BT_MEMORY;
    if (slice_page_set(&walk->needs.pages[page], instance)) {
        cursor->needed++;
        walk->needed++;
        if (!cursor->is_watched)
            watch(walk, id);
    }
    return 0;
}

/* Needs instances; link: of each, but for the instance. */
static int need(struct walk *walk, const struct wet_writers *writers, const struct slice_link *link)
{
    int result = 0;
    for (uint64_t i = 0; i < writers->count && result == 0; i++) {
        result = need_instance(walk, writers->id, writers->first + i);
        if (result == 0 && walk->has_links) {
            struct slice_link one = *link;
            one.instance = (struct wet_instance){.id = writers->id, .instance = writers->first + i};
            result = slice_map_put(&walk->links, &one);
        }
    }
    return result;
}

static void leave_page(struct walk *walk, struct walk_cursor *cursor, uint32_t id, uint64_t number)
{
    if (cursor->page != SLICE_PAGE_NONE)
        slice_set_remove(&walk->needs, cursor->page);
    cursor->number = number;
    cursor->page = slice_set_find(&walk->needs, id, number);
}

/* Whether the instance is needed; then it no longer is. */
static inline bool take(struct walk *walk, uint32_t id, uint64_t instance)
{
    struct walk_cursor *cursor = &walk->cursors[id];
    const uint64_t number = instance >> SLICE_PAGE_BITS;
    if (cursor->number != number)
        leave_page(walk, cursor, id, number);
    if (cursor->page == SLICE_PAGE_NONE)
        return false;
    struct slice_page *page = &walk->needs.pages[cursor->page];
    if (!slice_page_has(page, instance))
        return false;
    page->bits[(instance & (SLICE_PAGE - 1)) / 64] &= ~(UINT64_C(1) << (instance & 63));
    cursor->needed--;
    walk->needed--;
    return true;
}

/* --- instructions ------------------------------------------------------------------------------
 */

/* An execution of an instruction. */
struct execution {
    uint32_t id;
    uint64_t instance;
    uint8_t top, top_after; /* of x87's stack */
    struct slice_live *live;
    bool is_needed;                     /* is known to be needed */
    bool has_memory;                    /* what wrote the memory that it reads is needed already */
    const struct wet_instance *control; /* what decided about it; NULL: need not be considered */
};

static bool is_target(const struct walk *walk, const struct execution *one)
{
    const struct slice_settings *settings = walk->settings;
    return (settings->target_ids && settings->target_ids[one->id]) ||
           (settings->targets && slice_set_has(settings->targets, one->id, one->instance));
}

/* Adds a member to what is kept of all. */
static int keep(struct walk *walk, const struct execution *one, struct slice_link *link)
{
    struct slice_result *result = walk->result;
    int code = 0;
    link->instance = (struct wet_instance){.id = one->id, .instance = one->instance};
    if (walk->settings->keeps_members)
        code = slice_set_add(&result->members, one->id, one->instance);
    if (code >= 0 && walk->settings->keeps_links)
        code = slice_map_put(&result->links, link);
    if (walk->has_links && link->distance < result->target.distance && is_target(walk, one)) {
        result->target = *link;
        walk->depth = link->distance; /* others that are farther away are of no interest */
    }
    return code < 0 ? code : 0;
}

/* The range number i of the writers in a segment. */
static struct wet_writers writers_of(const struct walk *walk, const struct slice_segment *segment,
                                     uint32_t i, uint64_t instance)
{
    const uint64_t *counts = walk->at->pass.counts;
    if (!segment->id)
        return slice_segment_range(walk->at->labels, segment, i, instance, counts);
    return (struct wet_writers){
        .id = segment->id, .first = slice_segment_writer(segment, instance, counts), .count = 1};
}

/* 0 or BT_DATA: there are no such instances. */
static int check_writers(const struct walk *walk, const struct wet_writers *writers)
{
    const uint64_t most = walk->at->pass.counts[writers->id];
    return writers->count > most || writers->first > most - writers->count ? BT_DATA : 0;
}

/* Needs the writers of a memory port. */
static inline int need_label(struct walk *walk, const struct execution *one, uint32_t port,
                             struct slice_link *link)
{
    const uint64_t *counts = walk->at->pass.counts;
    const struct slice_segment *segment = slice_labels_find(walk->at->labels, port, one->instance);
    int result = 0;
    if (!segment)
        return 0;
    if (segment->id && walk->forms && slice_form_hides(walk->forms, one->id, segment->id))
        return 0;
    if (segment->id && !link) {
        const uint64_t writer = slice_segment_writer(segment, one->instance, counts);
        return writer < counts[segment->id] ? need_instance(walk, segment->id, writer) : BT_DATA;
    }
    const uint32_t ranges = segment->id ? 1 : segment->count;
    for (uint32_t i = 0; i < ranges && result == 0; i++) {
        const struct wet_writers writers = writers_of(walk, segment, i, one->instance);
        if (walk->forms && slice_form_hides(walk->forms, one->id, writers.id))
            continue;
        result = check_writers(walk, &writers);
        if (result == 0)
            result = need(walk, &writers, link);
    }
    return result;
}

static inline int need_memory(struct walk *walk, const struct execution *one,
                              struct slice_link *link)
{
    const uint32_t port = walk->trace->first_port[one->id];
    int result = 0;
    for (unsigned i = 0; i < walk->code.operations[one->id].memory_ports && result == 0; i++)
        result = need_label(walk, one, port + i, link);
    return result;
}

/* What a member of the slice depends on is needed. link: of those, NULL: distances are not
 * wanted. */
static inline int need_ports(struct walk *walk, const struct execution *one,
                             struct slice_link *link)
{
    const struct slice_operation *operation = &walk->code.operations[one->id];
    const struct slice_part *parts = walk->code.parts + operation->first + operation->definitions;
    int result = 0;
    for (unsigned i = 0; i < operation->reads && result == 0; i++) {
        const unsigned reg = slice_part_register(&parts[i], one->top);
        if (walk->forms && reg == DECODE_RSP)
            continue;
        if (link) {
            result = slice_live_need(one->live, reg, parts[i].bytes, link);
        } else {
            one->live->bytes[reg] |= parts[i].bytes;
            one->live->registers |= slice_register_bit(reg);
        }
    }
    if (link)
        link->kind = SLICE_MEMORY;
    if (result == 0 && !one->has_memory)
        result = need_memory(walk, one, link);
    if (result < 0 || !one->control || !one->control->id)
        return result;
    if (!link)
        return need_instance(walk, one->control->id, one->control->instance);
    link->kind = SLICE_CONTROL;
    const struct wet_writers branch = {
        .id = one->control->id, .first = one->control->instance, .count = 1};
    return need(walk, &branch, link);
}

/* Adds a member. link: how it is reached, if distances are wanted. */
static inline int join(struct walk *walk, const struct execution *one, struct slice_link *link)
{
    struct slice_result *result = walk->result;
    if (result->counts[one->id]++ == 0)
        result->last[one->id] = one->instance;
    result->instances++;
    if (!walk->has_links && !walk->settings->keeps_members)
        return need_ports(walk, one, NULL);
    const int code = keep(walk, one, link);
    if (code < 0 || !walk->has_links)
        return code < 0 ? code : need_ports(walk, one, NULL);
    if (link->distance >= walk->depth)
        return 0;
    struct slice_link further = {.distance = link->distance + 1,
                                 .kind = SLICE_REGISTER,
                                 .next = {.id = one->id, .instance = one->instance}};
    return need_ports(walk, one, &further);
}

/* --- saved registers ---------------------------------------------------------------------------
 */

/* The save whose register a restore restores. 1: there is one; 0; or BT_DATA. */
static int find_save(const struct walk *walk, const struct execution *one,
                     struct wet_instance *save)
{
    const struct slice_form *form = &walk->forms[one->id];
    struct wet_writers few[2];
    const struct slice_segment *segment =
        slice_labels_find(walk->at->labels, walk->trace->first_port[one->id], one->instance);
    const uint32_t ranges = !segment ? 0 : segment->id ? 1 : segment->count;
    uint32_t kept = 0;
    int result = 0;
    for (uint32_t i = 0; i < ranges && result == 0; i++) {
        const struct wet_writers writers = writers_of(walk, segment, i, one->instance);
        result = check_writers(walk, &writers);
        if (kept < 2 && (form->restores != SLICE_FORM_STATE ||
                         walk->forms[writers.id].saves == SLICE_FORM_STATE))
            few[kept++] = writers; /* two are too many */
    }
    return result < 0 ? result : slice_form_pair(walk->forms, one->id, few, kept, save);
}

/* A register that a restore defines is needed of its save instead. 1; 0: it has none; or a negative
 * code. */
static int carry(struct walk *walk, const struct execution *one, unsigned reg, uint64_t bytes)
{
    struct slice_link link = {.distance = UINT32_MAX};
    struct wet_instance save;
    int result = find_save(walk, one, &save);
    if (result <= 0)
        return result;
    slice_live_define(one->live, reg, bytes, walk->has_links ? &link : NULL);
    link.instance = save;
    result = slice_set_add(&walk->saves[reg], save.id, save.instance);
    if (result > 0) {
        walk->carried++;
        if (walk->carries[save.id]++ == 0 && !walk->cursors[save.id].is_watched)
            watch(walk, save.id);
    }
    if (result >= 0 && walk->has_links)
        result = slice_map_put(&walk->save_links[reg], &link);
    return result < 0 ? result : 1;
}

/* What a save has saved is needed, if a restore has restored it. */
static int need_saved(struct walk *walk, const struct execution *one)
{
    const struct slice_operation *operation = &walk->code.operations[one->id];
    const struct slice_part *parts = walk->code.parts + operation->first + operation->definitions;
    int result = 0;
    for (unsigned i = 0; i < operation->reads && result == 0; i++) {
        const unsigned reg = parts[i].is_x87 ? WET_X87 : parts[i].reg;
        const struct wet_instance save = {.id = one->id, .instance = one->instance};
        if (!slice_form_has(walk->forms[one->id].saves, reg) ||
            !slice_set_has(&walk->saves[reg], one->id, one->instance))
            continue;
        walk->carries[one->id]--;
        walk->carried--;
        result =
            slice_live_need(one->live, reg, parts[i].bytes,
                            walk->has_links ? slice_map_find(&walk->save_links[reg], save) : NULL);
    }
    return result;
}

/* Whether the need of a register that an instruction defines ends there or moves to a save: 1; 0;
 * or a negative code. */
static inline int pass_by(struct walk *walk, const struct execution *one, unsigned reg,
                          uint64_t bytes)
{
    const struct slice_form *form = &walk->forms[one->id];
    if (form->is_frame && reg == DECODE_RBP) {
        slice_live_define(one->live, reg, bytes, NULL);
        return 1;
    }
    return slice_form_has(form->restores, reg) ? carry(walk, one, reg, bytes) : 0;
}

/* --- members -----------------------------------------------------------------------------------
 */

/* Ends the needs that the execution's definitions satisfy. 1: there were some; 0 or a negative
 * code. */
static inline int define(struct walk *walk, const struct execution *one, struct slice_link *best)
{
    const struct slice_operation *operation = &walk->code.operations[one->id];
    const struct slice_part *parts = walk->code.parts + operation->first;
    int outcome = -1, found = 0;
    for (unsigned i = 0; i < operation->definitions; i++) {
        const unsigned reg = slice_part_register(&parts[i], one->top_after);
        if (!(one->live->bytes[reg] & parts[i].bytes))
            continue;
        const int passed = walk->forms ? pass_by(walk, one, reg, parts[i].bytes) : 0;
        if (passed < 0)
            return passed;
        if (passed)
            continue;
        if (parts[i].is_conditional && outcome < 0) {
            outcome = slice_labels_outcome(walk->at->labels, one->id,
                                           one->instance - walk->at->starts[one->id]);
            if (outcome < 0)
                return outcome;
        }
        if (!parts[i].is_conditional || outcome)
            found |=
                slice_live_define(one->live, reg, parts[i].bytes, walk->has_links ? best : NULL);
    }
    return found;
}

/* 1: the instruction is a member of the slice; 0 or a negative code. */
static inline int undo_instruction(struct walk *walk, struct execution *one)
{
    struct slice_link best = {.distance = UINT32_MAX};
    int found = define(walk, one, &best);
    if (found >= 0 && walk->forms && walk->carries[one->id] > 0) {
        const int result = need_saved(walk, one);
        found = result < 0 ? result : found;
    }
    if (found < 0)
        return found;
    if (one->is_needed ||
        (walk->cursors[one->id].needed > 0 && take(walk, one->id, one->instance))) {
        found = 1;
        one->is_needed = true;
        if (walk->has_links) {
            const struct slice_link *link = slice_map_find(
                &walk->links, (struct wet_instance){.id = one->id, .instance = one->instance});
            if (link && link->distance <= best.distance)
                best = *link;
        }
    }
    if (!found)
        return 0;
    const int result = join(walk, one, &best);
    return result < 0 ? result : 1;
}

/* The tops before each instruction of a block, and after the last one. */
static void find_tops(const struct walk *walk, const uint32_t *ids, uint32_t count, uint8_t top,
                      uint8_t *tops)
{
    tops[0] = top;
    for (uint32_t i = 0; i < count; i++) {
        const struct wet_flow *flow = &walk->trace->flows.flows[ids[i]];
        top = flow->resets_x87 ? 0 : (uint8_t)((top - flow->x87_pushes) & 7);
        tops[i + 1] = top;
    }
}

/*
 * Undoes the instructions of a block, of which some may be in the slice. done: the lowest position
 * for which *needed says whether the instance is needed, perhaps the number of instructions; those
 * after it have needed what wrote memory. *needed becomes that of all, *members the positions that
 * joined.
 */
static int undo_instructions(struct walk *walk, const struct slice_block *block,
                             const uint32_t *ids, uint32_t count, const uint8_t *tops,
                             uint32_t done, uint64_t *needed, uint64_t *members)
{
    const struct slice_section *sections = walk->code.sections + block->first_section;
    const struct wet_instance *controls =
        walk->settings->data ? NULL : walk->at->record.controls + walk->control;
    unsigned section = block->section_count - 1u;
    bool is_decided = false; /* the section's branch is needed already */
    struct execution one = {.live = &walk->threads[walk->thread]->live};
    for (uint32_t i = count; i-- > 0;) {
        one.id = ids[i];
        while (sections[section].position > i) {
            section--;
            is_decided = false;
        }
        one.is_needed = i >= done && *needed >> i & 1;
        if (!(one.live->registers & walk->code.operations[one.id].defines) && !one.is_needed &&
            walk->cursors[one.id].needed == 0 && !(walk->forms && walk->carries[one.id] > 0))
            continue;
        one.instance = walk->at->pass.counts[one.id] - 1;
        one.top = tops[i];
        one.top_after = tops[i + 1];
        one.has_memory = i > done;
        one.control = controls && !is_decided ? &controls[section] : NULL;
        const int result = undo_instruction(walk, &one);
        if (result < 0)
            return result;
        *members |= (uint64_t)result << i;
        *needed |= (uint64_t)one.is_needed << i;
        is_decided |= result > 0 && !walk->has_links;
    }
    return 0;
}

/* --- patterns ----------------------------------------------------------------------------------
 */

/* Counts the repetitions of a pattern by id. */
static void count_repeats(struct walk *walk, uint32_t number, struct pattern *pattern)
{
    const uint32_t *ids = wet_code_ids(&walk->trace->file.code, number);
    for (uint64_t left = pattern->members; left; left &= left - 1)
        walk->result->counts[ids[__builtin_ctzll(left)]] += pattern->repeats;
    pattern->repeats = 0;
}

/* Which of a block's patterns the needed bytes are looked for in. */
static unsigned way_of(const struct slice_code *code, const struct slice_block *block,
                       const struct slice_live *live)
{
    const uint8_t *touched = code->touched + block->first_touched;
    uint64_t mixed = 0;
    for (unsigned i = 0; i < block->touched_count; i++)
        mixed = (mixed ^ live->bytes[touched[i]]) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(mixed >> 60) % WAYS;
}

static bool is_repeated(const struct walk *walk, const struct slice_block *block,
                        const struct pattern *pattern, const uint64_t *before,
                        const struct slice_live *live)
{
    const uint8_t *touched = walk->code.touched + block->first_touched;
    bool same = pattern->is_known;
    for (unsigned i = 0; i < block->touched_count && same; i++)
        same = live->bytes[touched[i]] == before[i];
    return same;
}

static void set_live(struct slice_live *live, unsigned reg, uint64_t bytes)
{
    live->bytes[reg] = bytes;
    if (bytes)
        live->registers |= slice_register_bit(reg);
    else
        live->registers &= ~slice_register_bit(reg);
}

/*
 * Does what the pattern says of memory and needed instances, from the last position on, as long as
 * the needed instances are the pattern's. *done: the position where they are not, -1: none;
 * *needed: those from there on.
 */
static int repeat_positions(struct walk *walk, const struct slice_block *block, uint32_t number,
                            const struct pattern *pattern, int *done, uint64_t *needed)
{
    const uint32_t *ids = wet_code_ids(&walk->trace->file.code, number);
    const uint64_t reads = pattern->members & block->memory;
    uint64_t below = UINT64_MAX;
    for (;;) {
        /* what is watched may increase: an instruction may read what one before it wrote */
        const uint64_t left = (reads | walk->watched[number] | pattern->needed) & below;
        if (!left)
            break;
        const int position = 63 - __builtin_clzll(left);
        const uint64_t bit = UINT64_C(1) << position;
        const struct execution one = {.id = ids[position],
                                      .instance = walk->at->pass.counts[ids[position]] - 1};
        below = bit - 1;
        if (walk->cursors[one.id].needed > 0 && take(walk, one.id, one.instance))
            *needed |= bit;
        if ((*needed ^ pattern->needed) & bit) {
            *done = position;
            return 0;
        }
        const int result = reads & bit ? need_memory(walk, &one, NULL) : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

/* The rest of what a repeated pattern does. */
static int repeat_registers(struct walk *walk, const struct slice_block *block,
                            struct pattern *pattern, const uint64_t *after, struct slice_live *live)
{
    const struct slice_section *sections = walk->code.sections + block->first_section;
    uint64_t members = pattern->members;
    int result = 0;
    for (unsigned i = 0; i < block->touched_count; i++)
        set_live(live, walk->code.touched[block->first_touched + i], after[i]);
    for (unsigned i = block->section_count; !walk->settings->data && i-- > 0 && result == 0;) {
        const struct wet_instance *control = &walk->at->record.controls[walk->control + i];
        if (members >> sections[i].position && control->id)
            result = need_instance(walk, control->id, control->instance);
        members &= (UINT64_C(1) << sections[i].position) - 1;
    }
    pattern->repeats++;
    walk->result->instances += (uint64_t)__builtin_popcountll(pattern->members);
    return result;
}

/* Undoes a regular block: as the last time, if what is needed is the same. */
static int undo_regular(struct walk *walk, const struct slice_block *block, uint32_t number,
                        const uint8_t *tops)
{
    const struct wet_code *code = &walk->trace->file.code;
    struct slice_live *live = &walk->threads[walk->thread]->live;
    const unsigned way = way_of(&walk->code, block, live);
    const size_t at = (size_t)block->first_touched * WAYS + (size_t)way * block->touched_count;
    struct pattern *pattern = &walk->patterns[(size_t)number * WAYS + way];
    uint64_t *before = walk->before + at, *after = walk->after + at;
    const uint32_t count = code->blocks[number].count;
    const uint8_t *touched = walk->code.touched + block->first_touched;
    uint64_t needed = 0;
    int done = -1, result = 0;
    if (is_repeated(walk, block, pattern, before, live)) {
        result = repeat_positions(walk, block, number, pattern, &done, &needed);
        if (result < 0 || done < 0)
            return result < 0 ? result : repeat_registers(walk, block, pattern, after, live);
    }
    count_repeats(walk, number, pattern);
    for (unsigned i = 0; i < block->touched_count; i++)
        before[i] = live->bytes[touched[i]];
    *pattern = (struct pattern){.is_known = true, .needed = needed};
    result =
        undo_instructions(walk, block, wet_code_ids(code, number), count, tops,
                          done < 0 ? count : (uint32_t)done, &pattern->needed, &pattern->members);
    for (unsigned i = 0; i < block->touched_count; i++)
        after[i] = live->bytes[touched[i]];
    return result;
}

static int undo_block(struct walk *walk, uint32_t number)
{
    const struct wet_code *code = &walk->trace->file.code;
    const struct slice_block *block = &walk->code.blocks[number];
    const uint32_t *ids = wet_code_ids(code, number), count = code->blocks[number].count;
    static const uint8_t no_tops[WET_BLOCK_IDS + 1];
    uint8_t tops[WET_BLOCK_IDS + 1];
    uint64_t needed = 0, members = 0;
    int result;
    if (!walk->settings->data)
        walk->control -= block->section_count;
    if (block->has_x87)
        find_tops(walk, ids, count, walk->at->record.tops[--walk->top], tops);
    if (!(walk->threads[walk->thread]->live.registers & block->defines) && !walk->watched[number])
        result = 0;
    else if (walk->patterns && block->is_regular)
        result = undo_regular(walk, block, number, no_tops);
    else
        result = undo_instructions(walk, block, ids, count, block->has_x87 ? tops : no_tops, count,
                                   &needed, &members);
    for (uint32_t i = 0; i < count; i++)
        walk->at->pass.counts[ids[i]]--;
    return result;
}

/* --- events ------------------------------------------------------------------------------------
 */

/* A new thread has the registers of the one that made it, but for those that the call defines. */
static int undo_clone(struct walk *walk, const struct slice_event *event)
{
    static const uint8_t defined[] = {DECODE_RAX, DECODE_RCX, DECODE_R11, DECODE_RSP};
    struct slice_link best = {.distance = UINT32_MAX};
    struct walk_thread *child = thread_of(walk, (uint32_t)event->number);
    struct walk_thread *parent = walk->threads[walk->thread];
    bool found = false;
    int result = 0;
    if (!child)
        return BT_MEMORY;
    for (size_t i = 0; i < sizeof defined; i++)
        found |= slice_live_define(&child->live, WET_GENERAL + defined[i], UINT64_MAX,
                                   walk->has_links ? &best : NULL);
    if (found && event->last.id) {
        const struct wet_writers call = {
            .id = event->last.id, .first = event->last.instance, .count = 1};
        result = need(walk, &call, &best);
    }
    if (result < 0 || child == parent)
        return result;
    return slice_live_merge(&parent->live, &child->live);
}

/* A handler begins with some registers set; the others are those of what it interrupted, which
 * also are needed after its end. */
static int undo_signal(struct walk *walk, const struct slice_event *event)
{
    static const uint8_t set[] = {DECODE_RAX, DECODE_RDI, DECODE_RSI, DECODE_RDX, DECODE_RSP};
    struct walk_thread *thread = walk->threads[walk->thread];
    for (size_t i = 0; i < sizeof set; i++)
        slice_live_define(&thread->live, WET_GENERAL + set[i], UINT64_MAX, NULL);
    if (thread->aside_count < event->number)
        return 0;
    return slice_live_merge(&thread->live, &thread->aside[event->number - 1]);
}

static int undo_return(struct walk *walk, const struct slice_event *event)
{
    struct walk_thread *thread = walk->threads[walk->thread];
    if (event->number == 0)
        return 0;
    struct slice_live *larger =
        grow_array(thread->aside, &thread->aside_capacity, (size_t)event->number, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    thread->aside = larger;
    while (thread->aside_count < event->number)
        larger[thread->aside_count++] = (struct slice_live){.registers = 0};
    return slice_live_merge(&larger[event->number - 1], &thread->live);
}

/* Nothing is known of registers before a gap. */
static void undo_gap(struct walk *walk)
{
    for (size_t i = 0; i < walk->thread_count; i++) {
        if (!walk->threads[i])
            continue;
        slice_live_clear(&walk->threads[i]->live);
        clear_aside(walk->threads[i]);
    }
}

static int undo_event(struct walk *walk, enum wet_event kind)
{
    const struct slice_event *event = &walk->at->record.events[--walk->event];
    switch (kind) {
    case WET_EVENT_SWITCH:
        walk->thread = event->thread;
        return thread_of(walk, walk->thread) ? 0 : BT_MEMORY;
    case WET_EVENT_CLONE:
        return undo_clone(walk, event);
    case WET_EVENT_SIGNAL:
        return undo_signal(walk, event);
    case WET_EVENT_RETURN:
        return undo_return(walk, event);
    case WET_EVENT_GAP:
        undo_gap(walk);
        return 0;
    default:
        return 0;
    }
}

/* --- chunks ------------------------------------------------------------------------------------
 */

static int walk_chunk(struct walk *walk)
{
    const struct slice_record *record = &walk->at->record;
    int result = 0;
    walk->thread = record->thread;
    walk->event = record->event_count;
    walk->control = record->control_count;
    walk->top = record->top_count;
    watch_anew(walk);
    if (!thread_of(walk, walk->thread))
        return BT_MEMORY;
    for (size_t i = record->entry_count; i-- > 0 && result == 0;) {
        const uint32_t number = record->entries[i];
        result = number >= WET_FIRST_BLOCK ? undo_block(walk, number - WET_FIRST_BLOCK + 1)
                                           : undo_event(walk, (enum wet_event)number);
    }
    return result;
}

/* Adds a chunk's executions to counts, or takes them away. */
static void count_chunk(const struct walk *walk, size_t chunk, bool adds, uint64_t *counts)
{
    const struct wet_code *code = &walk->trace->file.code;
    const struct wet_place *place = &walk->trace->file.places[chunk];
    for (size_t i = 0; i < place->execution_count; i++) {
        const struct wet_execution *execution = &place->executions[i];
        const uint32_t *ids = wet_code_ids(code, execution->block);
        for (uint32_t k = 0; k < code->blocks[execution->block].count; k++)
            counts[ids[k]] += adds ? execution->count : 0 - execution->count;
    }
}

/* The number of the chunk with the latest instance of the criterion. */
static size_t last_chunk(struct walk *walk, const struct slice_criterion *criterion)
{
    const struct wet_file *file = &walk->trace->file;
    uint64_t *counts = walk->stages[0].starts; /* by id, before the chunk */
    size_t last = 0;
    if (criterion->is_fault || criterion->is_end)
        return file->place_count - 1;
    for (size_t chunk = 0; chunk < file->place_count; chunk++) {
        for (size_t i = 0; i < criterion->count; i++)
            if (criterion->instances[i].instance >= counts[criterion->instances[i].id])
                last = chunk;
        count_chunk(walk, chunk, true, counts);
    }
    memset(counts, 0, file->code.instruction_count * sizeof *counts);
    return last;
}

/* --- the criterion -----------------------------------------------------------------------------
 */

void slice_criterion_clear(struct slice_criterion *criterion)
{
    free(criterion->instances);
    *criterion = (struct slice_criterion){.instances = NULL};
}

int slice_criterion_add(struct slice_criterion *criterion, uint32_t id, uint64_t instance)
{
    struct wet_instance *larger = grow_array(criterion->instances, &criterion->capacity,
                                             criterion->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    criterion->instances = larger;
    larger[criterion->count++] = (struct wet_instance){.id = id, .instance = instance};
    return 0;
}

/* What decides that the faulting instruction is executed. */
static struct wet_instance fault_control(struct walk *walk, struct slice_thread *thread)
{
    const struct wet_trace *trace = walk->trace;
    const struct wet_graph *graph = &trace->graph;
    const uint64_t address = trace->file.closing.fault.address;
    uint32_t node = WET_NODE_NONE;
    bool begins = false;
    for (uint32_t id = 1; id < trace->file.code.instruction_count; id++)
        if (trace->file.code.instructions[id].address == address) {
            wet_calls_arrive(&thread->calls, graph, &trace->file.code, id);
            node = graph->node_of[id];
            begins = graph->begins_node[id];
            return wet_calls_decided(&thread->calls, graph, node, begins);
        }
    for (size_t i = 0; i < graph->function_count && node == WET_NODE_NONE; i++) {
        const struct code_walk *code = &graph->functions[i].walk;
        const uint32_t found = code_walk_find(code, address);
        if (found != DIGRAPH_NONE) {
            node = graph->functions[i].first + found;
            begins = code->nodes[found].start == address;
        }
    }
    return wet_calls_decided(&thread->calls, graph, node, begins);
}

static bool port_is_hidden(const struct walk *walk, const struct data_flow_part *port)
{
    return walk->forms && port->kind == DATA_FLOW_GENERAL && port->number == DECODE_RSP;
}

/* The faulting instruction is not recorded: what it reads is needed at its thread's end. */
static int need_fault(struct walk *walk)
{
    const struct wet_closing *closing = &walk->trace->file.closing;
    const struct slice_state *state = &walk->at->pass.state;
    struct decode_instruction decoded;
    struct data_flow flow;
    struct walk_thread *thread = thread_of(walk, closing->thread);
    struct slice_link link = {.distance = 1, .kind = SLICE_CONTROL};
    int result = thread ? 0 : BT_MEMORY;
    if (closing->thread >= state->count || !state->threads[closing->thread])
        return result;
    struct slice_thread *at_end = state->threads[closing->thread];
    decode(&decoded, closing->fault.bytes, closing->fault.size, closing->fault.address);
    data_flow_of(&flow, &decoded);
    for (unsigned i = 0; i < flow.port_count && result == 0; i++)
        if (flow.ports[i].kind != DATA_FLOW_MEMORY && !port_is_hidden(walk, &flow.ports[i]))
            result = slice_live_need(&thread->live, wet_register_of(&flow.ports[i], at_end->top),
                                     flow.ports[i].bytes, walk->has_links ? &link : NULL);
    if (result < 0 || walk->settings->data)
        return result;
    const struct wet_instance decided = fault_control(walk, at_end);
    const struct wet_writers branch = {.id = decided.id, .first = decided.instance, .count = 1};
    return decided.id ? need(walk, &branch, &link) : 0;
}

static int need_end(struct walk *walk)
{
    const struct wet_file *file = &walk->trace->file;
    const struct slice_state *state = &walk->at->pass.state;
    const struct slice_link link = {.kind = SLICE_CRITERION};
    const uint32_t number = file->is_closed ? file->closing.thread : walk->at->pass.thread;
    if (number >= state->count || !state->threads[number] || !state->threads[number]->last.id)
        return 0;
    walk->result->criterion = state->threads[number]->last;
    const struct wet_writers last = {.id = state->threads[number]->last.id,
                                     .first = state->threads[number]->last.instance,
                                     .count = 1};
    return need(walk, &last, &link);
}

/* At the end of the criterion's chunk. */
static int begin(struct walk *walk, const struct slice_criterion *criterion)
{
    const struct slice_link link = {.kind = SLICE_CRITERION};
    int result = 0;
    if (criterion->is_fault)
        return walk->depth > 0 ? need_fault(walk) : 0;
    if (criterion->is_end)
        return need_end(walk);
    for (size_t i = 0; i < criterion->count && result == 0; i++) {
        const struct wet_writers one = {.id = criterion->instances[i].id,
                                        .first = criterion->instances[i].instance,
                                        .count = 1};
        result = need(walk, &one, &link);
    }
    return result;
}

/* --- all ---------------------------------------------------------------------------------------
 */

static void show(const struct walk *walk, uint64_t done, uint64_t total)
{
    if (walk->settings->progress)
        walk->settings->progress(walk->settings->context, done, total);
}

/* Finds the states at the begins of the chunks up to one. */
static int find_states(struct walk *walk, size_t last, struct bt_error *error)
{
    int result = 0;
    for (size_t chunk = 0; chunk <= last && result == 0; chunk++) {
        if (slice_pass_save(&walk->stages[0].pass, &walk->states[chunk]) < 0)
            return bt_fail(error, BT_MEMORY, "no memory for the states of the program");
        show(walk, chunk, 3 * (last + 1));
        if (chunk < last)
            result = slice_pass_chunk(&walk->stages[0].pass, chunk, NULL, error);
    }
    return result;
}

static void *run_stage(void *context)
{
    struct stage *stage = context;
    slice_pass_restore(&stage->pass, stage->state);
    stage->result = slice_pass_chunk(&stage->pass, stage->chunk, &stage->record, &stage->error);
    return NULL;
}

static void *run_thread(void *context)
{
    thread_set_name("slice-pass");
    return run_stage(context);
}

/* Passes a chunk in a thread of its own if possible. The stage's counts are those at its begin. */
static void start(struct walk *walk, struct stage *stage, size_t chunk)
{
    stage->chunk = chunk;
    stage->state = &walk->states[chunk];
    memcpy(stage->starts, stage->pass.counts,
           walk->trace->file.code.instruction_count * sizeof *stage->starts);
    stage->is_running = pthread_create(&stage->thread, NULL, run_thread, stage) == 0;
    if (!stage->is_running)
        run_stage(stage);
}

static void await(struct stage *stage)
{
    if (stage->is_running)
        pthread_join(stage->thread, NULL);
    stage->is_running = false;
}

/* Starts the pass of the chunk before that of the current stage. */
static void start_before(struct walk *walk, struct stage *next)
{
    const size_t ids = walk->trace->file.code.instruction_count, chunk = walk->at->chunk - 1;
    memcpy(next->pass.counts, walk->at->starts, ids * sizeof *next->pass.counts);
    count_chunk(walk, chunk, false, next->pass.counts);
    start(walk, next, chunk);
}

/* Walks back through the chunk of the current stage, which is passed. */
static int walk_stage(struct walk *walk, const struct slice_criterion *criterion, size_t last,
                      struct bt_error *error)
{
    const size_t chunk = walk->at->chunk;
    int result = chunk == last ? begin(walk, criterion) : 0;
    if (result == 0)
        result = walk_chunk(walk);
    if (result < 0)
        return bt_fail(error, result, "chunk %zu: %s", chunk + 1,
                       result == BT_MEMORY ? "no memory for the slice: limit it with --depth"
                                           : "it is damaged: labels contradict themselves");
    show(walk, last + 1 + 2 * (last + 1 - chunk), 3 * (last + 1));
    return 0;
}

static int walk_back(struct walk *walk, const struct slice_criterion *criterion, size_t last,
                     struct bt_error *error)
{
    const size_t ids = walk->trace->file.code.instruction_count;
    struct stage *next = &walk->stages[0];
    int result = 0;
    memset(next->pass.counts, 0, ids * sizeof *next->pass.counts);
    for (size_t chunk = 0; chunk < last; chunk++)
        count_chunk(walk, chunk, true, next->pass.counts);
    start(walk, next, last);
    for (size_t left = last + 1; left > 0 && result == 0; left--) {
        walk->at = next;
        next = next == &walk->stages[0] ? &walk->stages[1] : &walk->stages[0];
        await(walk->at);
        if (walk->at->result < 0) {
            *error = walk->at->error;
            return walk->at->result;
        }
        if (left > 1)
            start_before(walk, next);
        result = walk_stage(walk, criterion, last, error);
        if (is_done(walk))
            break;
    }
    await(next);
    return result;
}

static int allocate_stage(struct walk *walk, struct stage *stage)
{
    const size_t ids = walk->trace->file.code.instruction_count;
    stage->labels = slice_labels_new(walk->trace);
    stage->starts = calloc(ids + 1, sizeof *stage->starts);
    if (!stage->labels || !stage->starts)
        return BT_MEMORY;
    return slice_pass_init(&stage->pass, walk->trace, &walk->code, stage->labels,
                           !walk->settings->data);
}

/* What a block with saves and restores does also depends on what they are about. */
static void note_irregular(struct walk *walk, uint32_t number)
{
    const struct wet_code *code = &walk->trace->file.code;
    const uint32_t *ids = wet_code_ids(code, number);
    for (uint32_t i = 0; i < code->blocks[number].count; i++)
        if (walk->forms[ids[i]].saves != SLICE_FORM_NONE ||
            walk->forms[ids[i]].restores != SLICE_FORM_NONE)
            walk->code.blocks[number].is_regular = false;
}

static int allocate(struct walk *walk)
{
    const struct wet_file *file = &walk->trace->file;
    const size_t ids = file->code.instruction_count;
    walk->states = calloc(file->place_count + 1, sizeof *walk->states);
    walk->cursors = malloc((ids + 1) * sizeof *walk->cursors);
    walk->watched = calloc(file->code.block_count + 1, sizeof *walk->watched);
    if (!walk->states || !walk->cursors || !walk->watched ||
        slice_code_make(&walk->code, walk->trace) < 0)
        return BT_MEMORY;
    walk->forms = walk->settings->forms;
    walk->carries = calloc(ids + 1, sizeof *walk->carries);
    if (!walk->carries)
        return BT_MEMORY;
    for (uint32_t i = 1; walk->forms && i < file->code.block_count; i++)
        note_irregular(walk, i);
    if (!walk->has_links && !walk->settings->keeps_members) {
        walk->patterns = calloc((file->code.block_count + 1) * WAYS, sizeof *walk->patterns);
        walk->before = malloc((walk->code.touched_count + 1) * WAYS * sizeof *walk->before);
        walk->after = malloc((walk->code.touched_count + 1) * WAYS * sizeof *walk->after);
        if (!walk->patterns || !walk->before || !walk->after)
            return BT_MEMORY;
    }
    for (size_t id = 0; id < ids; id++)
        walk->cursors[id] = (struct walk_cursor){.number = NUMBER_NONE, .page = SLICE_PAGE_NONE};
    return allocate_stage(walk, &walk->stages[0]) < 0 || allocate_stage(walk, &walk->stages[1]) < 0
               ? BT_MEMORY
               : 0;
}

static void clear(struct walk *walk)
{
    for (size_t i = 0; walk->states && i < walk->trace->file.place_count; i++)
        slice_state_clear(&walk->states[i]);
    free(walk->states);
    for (unsigned i = 0; i < 2; i++) {
        slice_pass_clear(&walk->stages[i].pass);
        slice_record_clear(&walk->stages[i].record);
        slice_labels_free(walk->stages[i].labels);
        free(walk->stages[i].starts);
    }
    slice_code_clear(&walk->code);
    clear_threads(walk);
    slice_set_clear(&walk->needs);
    slice_map_clear(&walk->links);
    for (unsigned reg = 0; reg < WET_REGISTERS; reg++) {
        slice_set_clear(&walk->saves[reg]);
        slice_map_clear(&walk->save_links[reg]);
    }
    free(walk->carries);
    free(walk->cursors);
    free(walk->watched);
    free(walk->patterns);
    free(walk->before);
    free(walk->after);
}

int slice_result_init(struct slice_result *result, const struct wet_trace *trace)
{
    const size_t ids = trace->file.code.instruction_count;
    *result = (struct slice_result){.counts = calloc(ids + 1, sizeof *result->counts),
                                    .last = calloc(ids + 1, sizeof *result->last),
                                    .target = {.distance = UINT32_MAX}};
    slice_set_init(&result->members);
    return result->counts && result->last ? 0 : BT_MEMORY;
}

void slice_result_clear(struct slice_result *result)
{
    free(result->counts);
    free(result->last);
    slice_set_clear(&result->members);
    slice_map_clear(&result->links);
    *result = (struct slice_result){.counts = NULL};
}

int slice_backward(struct wet_trace *trace, const struct slice_criterion *criterion,
                   const struct slice_settings *settings, struct slice_result *result,
                   struct bt_error *error)
{
    struct walk walk = {.trace = trace,
                        .settings = settings,
                        .result = result,
                        .depth = settings->depth,
                        .has_links = settings->depth != SLICE_DEPTH_ALL || settings->keeps_links ||
                                     settings->targets || settings->target_ids};
    int code;
    slice_set_init(&walk.needs);
    for (unsigned reg = 0; reg < WET_REGISTERS; reg++)
        slice_set_init(&walk.saves[reg]);
    if (slice_result_init(result, trace) < 0 || allocate(&walk) < 0) {
        code = bt_fail(error, BT_MEMORY, "no memory for the slice");
    } else if (trace->file.place_count == 0) {
        code = 0;
    } else {
        const size_t last = last_chunk(&walk, criterion);
        code = find_states(&walk, last, error);
        if (code == 0)
            code = walk_back(&walk, criterion, last, error);
        for (uint32_t i = 1; walk.patterns && i < trace->file.code.block_count; i++)
            for (unsigned way = 0; way < WAYS; way++)
                count_repeats(&walk, i, &walk.patterns[(size_t)i * WAYS + way]);
    }
    clear(&walk);
    return code;
}
