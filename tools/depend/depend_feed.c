#include "tools/depend/feed_internal.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

int depend_feed_init(struct depend_feed *feed)
{
    feed->records = calloc(TRACE_EXPAND_RECORDS_MIN, sizeof *feed->records);
    return feed->records ? 0 : BT_MEMORY;
}

static void forget_blocks(struct feed_thread *thread)
{
    for (size_t i = 0; i < thread->block_count; i++)
        free(thread->blocks[i]);
    if (thread->block_count > 0)
        memset(thread->blocks, 0, thread->block_count * sizeof(struct feed_block *));
}

void depend_feed_clear(struct depend_feed *feed)
{
    for (size_t i = 0; i < feed->thread_count; i++) {
        forget_blocks(feed->threads[i]);
        free(feed->threads[i]->blocks);
        free(feed->threads[i]->callers);
        free(feed->threads[i]->entered);
        free(feed->threads[i]);
    }
    free(feed->threads);
    free(feed->records);
}

static struct feed_thread *thread_of(struct depend_feed *feed, unsigned number)
{
    for (size_t i = 0; i < feed->thread_count; i++)
        if (feed->threads[i]->number == number)
            return feed->threads[i];
    struct feed_thread **larger =
        grow_array(feed->threads, &feed->thread_capacity, feed->thread_count + 1, sizeof *larger);
    if (!larger)
        return NULL;
    feed->threads = larger;
    struct feed_thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->number = number;
    thread->chain = CHAIN_UNKNOWN;
    thread->origin.function = FUNCTION_NONE;
    return larger[feed->thread_count++] = thread;
}

/* --- loops -------------------------------------------------------------------------------------
 */

/* How many of the engine's loops, from the outermost on, are the chain's. */
static unsigned common_loops(const struct feed_flow *flow, const struct depend_thread *to,
                             uint32_t chain)
{
    unsigned common = depend_loops(to);
    while (flow->chains[chain].depth > common)
        chain = flow->chains[chain].outer;
    common = flow->chains[chain].depth;
    for (unsigned depth = common; depth > 0; depth--) {
        if (depend_loop_at(to, depth - 1) != flow->chains[chain].loop)
            common = depth - 1;
        chain = flow->chains[chain].outer;
    }
    return common;
}

static void begin_loops(struct execution *execution, uint32_t chain, unsigned common)
{
    const struct feed_chain *loops = &execution->feed->flow->chains[chain];
    if (loops->depth <= common)
        return;
    begin_loops(execution, loops->outer, common);
    depend_loop_begin(execution->feed->depend, execution->to, loops->loop,
                      execution->feed->flow->loops[loops->loop].test);
}

/* Whether the current loops are another function's, which continues after this one has ended: the
 * return from a signal handler is code of neither. */
static bool is_between(const struct execution *execution, uint32_t function)
{
    const struct depend_thread *to = execution->to;
    const unsigned loops = depend_loops(to);
    return loops > 0 &&
           execution->feed->flow->loops[depend_loop_at(to, loops - 1)].function != function;
}

/* A basic block of a function in these loops begins. */
static void enter_loops(struct execution *execution, uint32_t function, uint32_t chain,
                        bool is_head)
{
    struct depend *depend = execution->feed->depend;
    const struct feed_flow *flow = execution->feed->flow;
    if (chain == FEED_CHAIN_NONE && is_between(execution, function)) {
        execution->thread->chain = CHAIN_UNKNOWN;
        return;
    }
    if (execution->thread->chain != chain) {
        const unsigned common = common_loops(flow, execution->to, chain);
        while (depend_loops(execution->to) > common)
            depend_loop_end(depend, execution->to);
        begin_loops(execution, chain, common);
        execution->thread->chain = chain;
        is_head = is_head && common == flow->chains[chain].depth;
    }
    if (is_head)
        depend_loop_iterate(depend, execution->to);
}

/* --- blocks ------------------------------------------------------------------------------------
 */

static int execute_rare(struct execution *execution, const struct feed_block *block,
                        struct feed_operation *operation, unsigned *done)
{
    switch (operation->kind) {
    case FEED_SPECIAL:
        return feed_refer_special(execution, operation);
    case FEED_READ_THROUGH_FS:
    case FEED_WRITE_THROUGH_FS:
        feed_refer_through_fs(execution, operation);
        break;
    case FEED_LOOPS:
        depend_execute(execution->to, operation->instruction - *done);
        *done = operation->instruction;
        enter_loops(execution, block->function->number, operation->addend, operation->is_head);
        break;
    default:
        break;
    }
    return 0;
}

/* Executes the first operations and instructions. 0 or a negative code. */
static inline int execute_operations(struct execution *execution, struct feed_block *block,
                                     const struct feed_operation *end, unsigned instructions)
{
    struct depend *depend = execution->feed->depend;
    struct depend_thread *to = execution->to;
    unsigned done = 0;
    int result = 0;
    if (execution->thread->chain != block->chain)
        enter_loops(execution, block->function->number, block->chain, block->is_head);
    else if (block->is_head)
        depend_loop_iterate(depend, to);
    for (struct feed_operation *operation = block->operations; operation < end && result == 0;
         operation++) {
        if (operation->kind == FEED_READ)
            depend_read(depend, to, &operation->site, feed_address(execution, operation),
                        operation->size);
        else if (operation->kind == FEED_WRITE)
            depend_write(depend, to, &operation->site, feed_address(execution, operation),
                         operation->size);
        else
            result = execute_rare(execution, block, operation, &done);
    }
    depend_execute(to, instructions - done);
    return result;
}

/* For --trace: a block of a DETAIL function begins. */
static int note_entry(struct execution *execution, const struct feed_block *block)
{
    struct feed_thread *thread = execution->thread;
    const bool is_elsewhere =
        thread->is_called || thread->origin.function != block->origin.function;
    if (!is_elsewhere || !block->function->is_detail)
        return 0;
    thread->is_called = false;
    return block->begins_function ? feed_enter_function(execution, block) : 0;
}

/* Executes the block up to an operation and a number of instructions. 0 or a negative code. */
static inline int execute(struct execution *execution, struct feed_block *block,
                          const struct feed_operation *end, unsigned instructions)
{
    int result = execution->feed->entered ? note_entry(execution, block) : 0;
    if (result == 0)
        result = execute_operations(execution, block, end, instructions);
    execution->thread->origin = block->origin;
    return result;
}

static inline int execute_whole(struct execution *execution, struct feed_block *block)
{
    const int result = execute(execution, block, block->operations + block->operation_count,
                               block->instruction_count);
    return result == 0 && block->transfer ? feed_transfer(execution, block) : result;
}

static int execute_part(struct execution *execution, struct feed_block *block,
                        unsigned instructions)
{
    const struct feed_operation *end = block->operations;
    while (end < block->operations + block->operation_count && end->instruction < instructions)
        end++;
    const int result = execute(execution, block, end, instructions);
    execution->thread->origin.ending = FEED_FLOWS;
    return result;
}

/* Makes room for the block with a number. */
static int reserve_block(struct feed_thread *thread, uint32_t number)
{
    if (number < thread->block_count)
        return 0;
    const size_t count = (size_t)number + number / 2 + 1024;
    struct feed_block **larger = realloc(thread->blocks, count * sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    memset(larger + thread->block_count, 0, (count - thread->block_count) * sizeof *larger);
    thread->blocks = larger;
    thread->block_count = count;
    return 0;
}

static struct feed_block *make_block(struct execution *execution)
{
    const struct feed_calls calls = feed_calls_of(execution);
    return feed_block_new(feed_block_of(execution), execution->feed->flow, execution->feed->places,
                          &execution->thread->origin, &calls);
}

/* The block with a number, as the thread executes it now. NULL: no memory. */
static struct feed_block *find_block(struct execution *execution, uint32_t number)
{
    struct feed_thread *thread = execution->thread;
    const struct feed_calls calls = feed_calls_of(execution);
    if (reserve_block(thread, number) < 0)
        return NULL;
    struct feed_block *block = thread->blocks[number];
    if (!block)
        block = thread->blocks[number] = make_block(execution);
    if (!block || feed_block_arrive(execution->feed->flow, block->function, block->address,
                                    &thread->origin, &calls) < 0)
        return NULL;
    if (block->version != block->function->version) {
        free(block);
        block = thread->blocks[number] = make_block(execution);
    }
    return block;
}

static int take_whole(struct execution *execution, size_t count)
{
    const uint32_t *end = execution->entries + count;
    int result = 0;
    while (execution->entries < end && result == 0) {
        const uint32_t number = *execution->entries;
        struct feed_thread *thread = execution->thread;
        struct feed_block *block = number < thread->block_count ? thread->blocks[number] : NULL;
        if (!block || thread->origin.ending == FEED_JUMPS ||
            block->version != block->function->version) {
            block = find_block(execution, number);
            if (!block)
                return BT_MEMORY;
            feed_leave_calls(execution, block);
        }
        result = execute_whole(execution, block);
        execution->entries += block->slots;
    }
    return result;
}

/* A part of a block was executed, up to a fault or a signal. */
static int take_part(struct execution *execution, const struct block *part, unsigned instructions)
{
    const bool is_known = code_cache_block(execution->expander->cache, part->number) == part;
    execution->part = part;
    struct feed_block *block =
        is_known ? find_block(execution, part->number) : make_block(execution);
    int result = 0;
    if (!block)
        return BT_MEMORY;
    feed_leave_calls(execution, block);
    if (instructions >= block->instruction_count)
        result = execute_whole(execution, block);
    else if (instructions > 0)
        result = execute_part(execution, block, instructions);
    if (!is_known)
        free(block);
    return result;
}

int depend_feed_take(struct depend_feed *feed, struct trace_expander *expander,
                     const uint32_t *entries, size_t count, const struct block *part,
                     unsigned instructions)
{
    struct execution execution = {.feed = feed,
                                  .expander = expander,
                                  .thread = thread_of(feed, expander->processor),
                                  .to = depend_thread(feed->depend, expander->processor),
                                  .entries = entries};
    if (!execution.thread)
        return BT_MEMORY;
    if (!execution.to) /* the engine has stopped */
        return 0;
    if (execution.thread->flushes != code_cache_flushes(expander->cache)) {
        forget_blocks(execution.thread);
        execution.thread->flushes = code_cache_flushes(expander->cache);
    }
    const uint64_t references = depend_time(feed->depend), writes = depend_writes(feed->depend);
    const uint64_t before = execution.to->instructions;
    int result = take_whole(&execution, count);
    if (result == 0 && part)
        result = take_part(&execution, part, instructions);
    feed->references += depend_time(feed->depend) - references;
    feed->writes += depend_writes(feed->depend) - writes;
    feed->instructions += execution.to->instructions - before;
    expander->instructions += execution.to->instructions - before;
    return result;
}

/* --- the kernel --------------------------------------------------------------------------------
 */

int depend_feed_kernel_write(struct depend_feed *feed, unsigned processor, uint64_t address,
                             uint64_t size)
{
    struct feed_thread *thread = thread_of(feed, processor);
    struct depend_thread *to = depend_thread(feed->depend, processor);
    struct depend_site site;
    if (!thread)
        return BT_MEMORY;
    if (!to || thread->origin.function == FUNCTION_NONE || address >= UINT64_C(1) << 32)
        return 0;
    depend_site_init(&site, thread->origin.place,
                     feed->flow->by_number[thread->origin.function]->is_detail);
    depend_write_range(feed->depend, to, &site, feed_aliases_find(&feed->aliases, address), 1,
                       size);
    return 0;
}

void depend_feed_system_call(struct depend_feed *feed, unsigned processor)
{
    const struct depend_thread *to = depend_thread(feed->depend, processor);
    if (to)
        depend_system_call(feed->depend, to);
}

int depend_feed_signal(struct depend_feed *feed, unsigned processor, uint64_t stack)
{
    struct feed_thread *thread = thread_of(feed, processor);
    struct depend_thread *to = depend_thread(feed->depend, processor);
    if (!thread)
        return BT_MEMORY;
    if (!to)
        return 0;
    struct execution execution = {.feed = feed, .thread = thread, .to = to};
    feed_find_stack(&execution, stack);
    depend_call(feed->depend, to, stack);
    thread->chain = FEED_CHAIN_NONE;
    thread->is_called = true;
    thread->origin.ending = FEED_CALLS;
    return feed_note_caller(&execution, (struct feed_call){.function = thread->origin.function,
                                                           .address = thread->origin.jump});
}
