#include "tools/profile/profiler.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"
#include "tools/profile/call_stack.h"
#include "tools/profile/call_table.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ALIGNMENT 64u
#define BLOCK_BYTES                                                                                \
    ((sizeof(struct profile_block) + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT)

/* The ways a block can end. */
enum { ENDING_FLOW, ENDING_CALL, ENDING_RETURN, ENDING_STUB };

#define SEARCH_STUBS 2u /* minimum length of a chain of stubs that leads to the dynamic loader */

struct profiled_thread {
    struct profile_thread counts;
    struct call_stack stack;
    struct call_table calls;
    struct profile_block *last, *tail;
    struct profile_block *site;   /* block that called through the current stubs */
    uint64_t site_return;         /* its return address; 0: it jumped */
    unsigned stubs;               /* number of stubs passed */
    struct profile_block **known; /* by number, since the last flush of the code cache */
    size_t known_count;
    unsigned flushes;
    struct profile_block **blocks; /* all blocks, in order of first execution */
    size_t block_capacity;
    struct hash_index by_address;
};

struct profiler {
    struct functions *functions;
    struct profiled_thread **threads;
    size_t count, capacity;
    struct record *records; /* TRACE_EXPAND_RECORDS_MIN, for expanded entries */
    bool stopped;
};

struct profiler *profiler_new(struct functions *functions, struct bt_error *error)
{
    struct profiler *profiler = calloc(1, sizeof *profiler);
    if (profiler) {
        profiler->functions = functions;
        profiler->records = calloc(TRACE_EXPAND_RECORDS_MIN, sizeof *profiler->records);
        if (profiler->records)
            return profiler;
    }
    profiler_free(profiler);
    bt_fail(error, BT_MEMORY, "no memory for a profile");
    return NULL;
}

static void thread_free(struct profiled_thread *thread)
{
    if (!thread)
        return;
    for (size_t i = 0; i < thread->counts.block_count; i++) {
        struct profile_block *block = thread->blocks[i];
        free(block->instructions);
        free(block->more);
        free(block);
    }
    call_stack_clear(&thread->stack);
    call_table_clear(&thread->calls);
    free(thread->counts.inclusive);
    free(thread->known);
    free(thread->blocks);
    hash_index_clear(&thread->by_address);
    free(thread);
}

void profiler_free(struct profiler *profiler)
{
    if (!profiler)
        return;
    for (size_t i = 0; i < profiler->count; i++)
        thread_free(profiler->threads[i]);
    free(profiler->threads);
    free(profiler->records);
    free(profiler);
}

static struct profiled_thread *thread_of(struct profiler *profiler, unsigned number)
{
    for (size_t i = 0; i < profiler->count; i++)
        if (profiler->threads[i]->counts.number == number)
            return profiler->threads[i];
    struct profiled_thread **larger =
        grow_array(profiler->threads, &profiler->capacity, profiler->count + 1, sizeof *larger);
    struct profiled_thread *thread = calloc(1, sizeof *thread);
    if (larger)
        profiler->threads = larger;
    if (!larger || !thread) {
        free(thread);
        return NULL;
    }
    call_stack_init(&thread->stack, &thread->counts);
    thread->counts.number = number;
    return larger[profiler->count++] = thread;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* A block as executed, before it is known whether it is new. */
struct execution {
    const struct block *block;
    unsigned records, instructions; /* number of its records and instructions */
    uint8_t ending;
};

/* Whether a block has the same instructions; code may have changed. */
static bool is_same(const struct profile_block *block, const struct execution *execution,
                    const struct module *module)
{
    unsigned at = 0;
    if (block->address != execution->block->address || block->ending != execution->ending ||
        block->instruction_count != execution->instructions || block->module != module)
        return false;
    for (unsigned i = 0; i < execution->records; i++) {
        const struct record *record = &execution->block->records[i];
        if (record->type != REQUEST_FETCH)
            continue;
        if (record->address != block->instructions[at].address ||
            record->size != block->instructions[at].size)
            return false;
        at++;
    }
    return true;
}

/* Fills in instructions and references from the records of one execution. */
static void describe(struct profile_block *block, const struct execution *execution)
{
    struct profile_instruction *instruction = NULL;
    for (unsigned i = 0; i < execution->records; i++) {
        const struct record *record = &execution->block->records[i];
        if (record->type == REQUEST_FETCH) {
            instruction = instruction ? instruction + 1 : block->instructions;
            *instruction = (struct profile_instruction){
                .address = record->address, .size = record->size, .reads = 0, .writes = 0};
            block->end = (uint64_t)record->address + record->size;
        } else if (instruction && record->type == REQUEST_MEMWRITE) {
            instruction->writes++;
        } else if (instruction) {
            instruction->reads++;
        }
    }
}

/* Reserves memory for one more block of a thread. */
static bool reserve_block(struct profiled_thread *thread)
{
    struct profile_block **larger = grow_array(thread->blocks, &thread->block_capacity,
                                               thread->counts.block_count + 1, sizeof *larger);
    if (larger)
        thread->blocks = larger;
    return larger && hash_index_reserve(&thread->by_address, 1) == 0;
}

static struct profile_block *make_block(struct profiler *profiler, struct profiled_thread *thread,
                                        const struct execution *execution,
                                        const struct module *module)
{
    /* members used at each execution share a cache line */
    struct profile_block *block = aligned_alloc(BLOCK_ALIGNMENT, BLOCK_BYTES);
    if (!block)
        return NULL;
    memset(block, 0, sizeof *block);
    size_t count = execution->instructions;
    const struct profile_block *last = thread->last;
    block->instructions = calloc(count + 1, sizeof *block->instructions);
    block->more = execution->block->special_count ? calloc(count + 1, sizeof *block->more) : NULL;
    block->address = execution->block->address;
    block->instruction_count = (uint16_t)count;
    block->module = module;
    block->ending = execution->ending;
    block->slots =
        (uint8_t)(execution->block->slots <= UINT8_MAX && !block->more ? execution->block->slots
                                                                       : 0);
    block->function =
        functions_is_stub(profiler->functions, block->address)
            ? FUNCTION_NONE
            : functions_at(profiler->functions, block->address,
                           last && (last->ending == ENDING_CALL || last->ending == ENDING_STUB),
                           last ? last->function : FUNCTION_NONE);
    if (!block->instructions || (execution->block->special_count && !block->more)) {
        free(block->instructions);
        free(block->more);
        free(block);
        return NULL;
    }
    if (block->function == FUNCTION_NONE)
        block->ending = ENDING_STUB;
    describe(block, execution);
    return block;
}

/* The executed block, new if necessary. */
static struct profile_block *find_block(struct profiler *profiler, struct profiled_thread *thread,
                                        struct execution *execution)
{
    const struct module *module = functions_module(profiler->functions, execution->block->address);
    if (functions_is_stub(profiler->functions, execution->block->address))
        execution->ending = ENDING_STUB;
    const uint32_t hash = hash_number(execution->block->address);
    struct hash_search search = hash_search(&thread->by_address, hash);
    while (hash_search_next(&search))
        if (is_same(thread->blocks[search.number], execution, module))
            return thread->blocks[search.number];
    if (!reserve_block(thread))
        return NULL;
    struct profile_block *block = make_block(profiler, thread, execution, module);
    if (!block)
        return NULL;
    hash_index_add(&thread->by_address, hash, (uint32_t)thread->counts.block_count);
    thread->blocks[thread->counts.block_count] = block;
    if (thread->tail)
        thread->tail->next = block;
    else
        thread->counts.blocks = block;
    thread->tail = block;
    thread->counts.block_count++;
    return block;
}

static uint8_t ending_of(const struct block *block)
{
    switch (block->ending) {
    case DECODE_CALL:
    case DECODE_CALL_INDIRECT:
        return ENDING_CALL;
    case DECODE_RETURN:
        return ENDING_RETURN;
    default:
        return ENDING_FLOW;
    }
}

/* The block with a number, stored in `known`. */
static struct profile_block *learn(struct profiler *profiler, struct profiled_thread *thread,
                                   const struct code_cache *cache, uint32_t number)
{
    const struct block *block = code_cache_block(cache, number);
    if (number >= thread->known_count) {
        size_t count = (size_t)number + number / 2 + 1024;
        struct profile_block **larger = realloc(thread->known, count * sizeof *larger);
        if (!larger)
            return NULL;
        memset(larger + thread->known_count, 0, (count - thread->known_count) * sizeof *larger);
        thread->known = larger;
        thread->known_count = count;
    }
    struct execution execution = {.block = block,
                                  .records = block->record_count,
                                  .instructions = block->instructions,
                                  .ending = ending_of(block)};
    return thread->known[number] = find_block(profiler, thread, &execution);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* return_address 0: a jump that counts as a call. */
static int enter(struct profiled_thread *thread, struct profile_block *site,
                 const struct profile_block *to, uint64_t return_address, bool search)
{
    struct call_frame frame = {.since = thread->counts.instructions,
                               .return_address = return_address,
                               .function = to->function,
                               .search = search};
    if (site) {
        frame.call = call_table_get(&thread->calls, site, to->function);
        if (!frame.call)
            return BT_MEMORY;
        frame.call->count++;
    }
    return call_stack_push(&thread->stack, &frame);
}

/* Handles a change of function that is neither call nor return. */
static int land(struct profiler *profiler, struct profiled_thread *thread,
                const struct profile_block *to)
{
    struct call_stack *stack = &thread->stack;
    const struct call_frame top = stack->frames[stack->depth - 1];
    uint64_t now = thread->counts.instructions;
    bool entry = functions_get(profiler->functions, to->function)->start == to->address;
    if (top.search && top.function == thread->last->function) {
        call_stack_pop_to(stack, stack->depth - 1, now);
        return enter(thread, top.call->site, to, top.return_address, false);
    }
    if (!call_stack_resume(stack, to->function, entry, now))
        return enter(thread, thread->last, to, 0, false);
    if (!entry)
        return 0;
    /* functions that tail-call each other in a cycle: the function begins anew, at the jump's
     * source */
    struct profile_call *call = call_table_get(&thread->calls, thread->last, to->function);
    if (call)
        call->count++;
    return call ? 0 : BT_MEMORY;
}

/* Handles a jump into a stub or between stubs. */
static void pass_stub(struct profiled_thread *thread, const struct profile_block *stub)
{
    struct profile_block *last = thread->last;
    if (last->ending != ENDING_STUB) {
        thread->site = last;
        thread->site_return = last->ending == ENDING_CALL ? last->end : 0;
        thread->stubs = 0;
    }
    if (!thread->site)
        return;
    thread->stubs++;
    thread->site->stub_instructions += stub->instruction_count;
    for (unsigned i = 0; i < stub->instruction_count; i++) {
        thread->site->stub_references.reads += stub->instructions[i].reads;
        thread->site->stub_references.writes += stub->instructions[i].writes;
    }
}

/*
 * Handles the step from the thread's last block to one that does not simply follow in its function.
 */
static int arrive(struct profiler *profiler, struct profiled_thread *thread,
                  const struct profile_block *to)
{
    struct profile_block *last = thread->last;
    if (to->ending == ENDING_STUB) {
        if (last)
            pass_stub(thread, to);
        return 0;
    }
    if (!last || thread->stack.depth == 0)
        return enter(thread, NULL, to, 0, false);
    switch (last->ending) {
    case ENDING_CALL:
        return enter(thread, last, to, last->end, false);
    case ENDING_STUB:
        if (!thread->site)
            return enter(thread, NULL, to, 0, false);
        if (thread->site_return)
            return enter(thread, thread->site, to, thread->site_return,
                         thread->stubs >= SEARCH_STUBS);
        thread->last = thread->site;
        if (thread->stubs >= SEARCH_STUBS)
            return enter(thread, thread->site, to, 0, true);
        return land(profiler, thread, to);
    case ENDING_RETURN:
        if (call_stack_return(&thread->stack, to->address, thread->counts.instructions) ||
            to->function == last->function)
            return 0;
        call_stack_end_jumps(&thread->stack, thread->counts.instructions);
        return land(profiler, thread, to);
    default:
        return land(profiler, thread, to);
    }
}

/* --- execution -------------------------------------------------------------------------------- */

static int count_references(void *context, struct record *records, size_t count)
{
    struct profile_references *references = context;
    for (size_t i = 0; i < count; i++) {
        references->reads += records[i].type != REQUEST_MEMWRITE;
        references->writes += records[i].type == REQUEST_MEMWRITE;
    }
    return 0;
}

/* Counts the references of a block whose number depends on the entries. */
static int count_more(struct profiler *profiler, const struct trace_expander *expander,
                      struct profile_block *known, const struct block *block,
                      const uint32_t *entries, unsigned specials)
{
    struct trace_expander own = *expander;
    own.take = NULL;
    own.records = profiler->records;
    own.capacity = TRACE_EXPAND_RECORDS_MIN;
    own.count = 0;
    own.put = count_references;
    unsigned instruction = 0, record = 0;
    int result = 0;
    for (unsigned i = 0; i < specials && result == 0; i++) {
        for (; record < block->specials[i].record; record++)
            instruction += block->records[record].type == REQUEST_FETCH;
        own.context = &known->more[instruction > 0 ? instruction - 1 : 0];
        result = trace_special(&own, &block->specials[i], entries);
        if (result == 0)
            result = trace_expander_flush(&own);
    }
    return result;
}

static int execute(struct profiler *profiler, struct profiled_thread *thread,
                   struct profile_block *block)
{
    const struct profile_block *last = thread->last;
    if (!last || last->ending != ENDING_FLOW || block->function != last->function) {
        int result = arrive(profiler, thread, block);
        if (result < 0)
            return result;
    }
    block->count++;
    thread->counts.instructions += block->instruction_count;
    thread->last = block;
    return 0;
}

/* Expands a block with a variable number of entries: returns their number, or a negative code. */
static int expand_block(struct profiler *profiler, struct trace_expander *expander,
                        struct profile_block *known, const uint32_t *entries)
{
    const struct block *block = code_cache_block(expander->cache, *entries);
    if (known->more) {
        int result = count_more(profiler, expander, known, block, entries, block->special_count);
        if (result < 0)
            return result;
    }
    return block->slots;
}

/* Fast path for common calls and returns; returns false for all others. */
static inline bool is_usual(struct profiled_thread *thread, const struct profile_block *last,
                            const struct profile_block *block, uint64_t now)
{
    if (last->ending == ENDING_RETURN)
        return call_stack_return_usual(&thread->stack, block->address, now);
    if (last->ending != ENDING_CALL || !last->latest || last->latest->callee != block->function)
        return false;
    return call_stack_push_usual(&thread->stack, last->latest, last->end, now);
}

/*
 * Counts blocks that are known already, as long as each step is a common one. Returns the first
 * entry after them. one: each block has a single entry, as with fetches only; the position of the
 * next entry then does not depend on the current one, which avoids a stall.
 */
static inline const uint32_t *run_on(struct profiled_thread *thread, const uint32_t *entries,
                                     const uint32_t *end, bool one)
{
    struct profile_block *last = thread->last;
    struct profile_block *const *known = thread->known;
    const size_t known_count = thread->known_count;
    uint64_t now = thread->counts.instructions;
    while (last && entries < end && *entries < known_count) {
        struct profile_block *block = known[*entries];
        if (!block || (one ? block->slots != 1 : block->slots == 0))
            break;
        if ((last->ending != ENDING_FLOW || last->function != block->function) &&
            !is_usual(thread, last, block, now))
            break;
        block->count++;
        now += block->instruction_count;
        entries += one ? 1 : block->slots;
        last = block;
    }
    thread->counts.instructions = now;
    thread->last = last;
    return entries;
}

static int take_whole(struct profiler *profiler, struct profiled_thread *thread,
                      struct trace_expander *expander, const uint32_t *entries, size_t count)
{
    const uint32_t *end = entries + count;
    for (;;) {
        entries = run_on(thread, entries, end, true);
        entries = run_on(thread, entries, end, false);
        if (entries == end)
            return 0;
        struct profile_block *block =
            *entries < thread->known_count ? thread->known[*entries] : NULL;
        if (!block && !(block = learn(profiler, thread, expander->cache, *entries)))
            return BT_MEMORY;
        int slots = block->slots;
        if (slots == 0 && (slots = expand_block(profiler, expander, block, entries)) < 0)
            return slots;
        int result = execute(profiler, thread, block);
        if (result < 0)
            return result;
        entries += slots;
    }
}

static int take_part(struct profiler *profiler, struct profiled_thread *thread,
                     struct trace_expander *expander, const struct block *block,
                     const uint32_t *entries, unsigned instructions)
{
    unsigned records = block->record_count, specials = block->special_count;
    if (instructions < block->pc_map_count) {
        records = block->pc_map[instructions].records;
        specials = block->pc_map[instructions].specials;
    }
    struct execution execution = {
        .block = block,
        .records = records,
        .instructions = instructions < block->instructions ? instructions : block->instructions,
        .ending = instructions < block->pc_map_count ? (uint8_t)ENDING_FLOW : ending_of(block)};
    if (execution.instructions == 0)
        return 0;
    struct profile_block *known = find_block(profiler, thread, &execution);
    if (!known)
        return BT_MEMORY;
    if (known->more) {
        int result = count_more(profiler, expander, known, block, entries, specials);
        if (result < 0)
            return result;
    }
    return execute(profiler, thread, known);
}

int profiler_take(struct profiler *profiler, struct trace_expander *expander,
                  const uint32_t *entries, size_t count, const struct block *part,
                  unsigned instructions)
{
    if (profiler->stopped)
        return 0;
    struct profiled_thread *thread = thread_of(profiler, expander->processor);
    if (!thread)
        return BT_MEMORY;
    if (thread->flushes != code_cache_flushes(expander->cache)) { /* numbers begin anew */
        memset(thread->known, 0, thread->known_count * sizeof(struct profile_block *));
        thread->flushes = code_cache_flushes(expander->cache);
    }
    uint64_t before = thread->counts.instructions;
    int result = take_whole(profiler, thread, expander, entries, count);
    if (result == 0 && part)
        result = take_part(profiler, thread, expander, part, entries + count, instructions);
    expander->instructions += thread->counts.instructions - before;
    return result;
}

void profiler_stop(struct profiler *profiler)
{
    profiler->stopped = true;
}

void profiler_settle(struct profiler *profiler)
{
    for (size_t i = 0; i < profiler->count; i++) {
        struct profiled_thread *thread = profiler->threads[i];
        call_stack_settle(&thread->stack, thread->counts.instructions);
    }
}

unsigned profiler_threads(const struct profiler *profiler)
{
    return (unsigned)profiler->count;
}

const struct profile_thread *profiler_thread(const struct profiler *profiler, unsigned number)
{
    return &profiler->threads[number]->counts;
}
