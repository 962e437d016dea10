/* References whose addresses are not in the entries as they are. */
#include "tools/depend/feed_internal.h"

const struct block *feed_block_of(const struct execution *execution)
{
    return execution->part ? execution->part
                           : code_cache_block(execution->expander->cache, *execution->entries);
}

static void refer(struct execution *execution, struct depend_site *site, bool is_write,
                  uint32_t address, unsigned size)
{
    address = feed_known(execution, address);
    if (is_write)
        depend_write(execution->feed->depend, execution->to, site, address, size);
    else
        depend_read(execution->feed->depend, execution->to, site, address, size);
}

void feed_refer_through_fs(struct execution *execution, struct feed_operation *operation)
{
    refer(execution, &operation->site, operation->kind == FEED_WRITE_THROUGH_FS,
          feed_address(execution, operation) + (uint32_t)execution->expander->fs_base,
          operation->size);
}

/* rep movs: each element is read, then written. */
static void copy(struct execution *execution, struct feed_operation *operation,
                 const uint32_t lowest[2], unsigned size, uint32_t times, bool is_downwards)
{
    depend_copy(execution->feed->depend, execution->to, &operation[0].site, &operation[1].site,
                lowest[0], lowest[1], size, times, is_downwards);
}

/* A string instruction with a repeat prefix. Entries: count and pointers before, count and first
 * pointer after it. */
static void repeat(struct execution *execution, struct feed_operation *operation,
                   const struct special *special)
{
    struct depend_feed *feed = execution->feed;
    const uint32_t *entries = execution->entries + special->slot;
    const uint32_t *after = entries + 1 + special->accesses;
    const uint32_t times = entries[0] - after[0];
    const bool is_downwards = trace_goes_backwards(special, entries);
    uint32_t lowest[2] = {0, 0};
    if (times == 0)
        return;
    for (unsigned a = 0; a < special->accesses; a++) {
        lowest[a] =
            entries[1 + a] + (special->access[a].fs ? (uint32_t)execution->expander->fs_base : 0);
        if (is_downwards)
            lowest[a] -= (times - 1) * special->access[a].size;
        lowest[a] = feed_known(execution, lowest[a]);
    }
    if (special->accesses == 2 && special->access[1].write) {
        copy(execution, operation, lowest, special->access[0].size, times, is_downwards);
        return;
    }
    for (unsigned a = 0; a < special->accesses; a++) {
        const struct decode_access *access = &special->access[a];
        struct depend_site *site = &operation[a].site;
        if (access->write)
            depend_write_range(feed->depend, execution->to, site, lowest[a], access->size, times);
        else
            depend_read_range(feed->depend, execution->to, site, lowest[a], access->size, times);
    }
}

struct special_references {
    struct execution *execution;
    struct feed_operation *operation;
};

static int put_special(void *context, struct record *records, size_t count)
{
    const struct special_references *references = context;
    for (size_t i = 0; i < count; i++) {
        const bool is_write = records[i].type == REQUEST_MEMWRITE;
        refer(references->execution, &references->operation[is_write].site, is_write,
              records[i].address, records[i].size);
    }
    return 0;
}

int feed_refer_special(struct execution *execution, struct feed_operation *operation)
{
    const struct special *special = &feed_block_of(execution)->specials[operation->slot];
    if (special->access[0].form == DECODE_REPEATED) {
        repeat(execution, operation, special);
        return 0;
    }
    struct special_references references = {.execution = execution, .operation = operation};
    struct trace_expander own = *execution->expander;
    own.take = NULL;
    own.records = execution->feed->records;
    own.capacity = TRACE_EXPAND_RECORDS_MIN;
    own.count = 0;
    own.put = put_special;
    own.context = &references;
    const int result = trace_special(&own, special, execution->entries);
    return result == 0 ? trace_expander_flush(&own) : result;
}
