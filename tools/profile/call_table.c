#include "tools/profile/call_table.h"

#include "formats/base/grow.h"

void call_table_clear(struct call_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->calls[i]);
    free(table->calls);
    hash_index_clear(&table->by_ends);
    *table = (struct call_table){.calls = NULL};
}

static struct profile_call *add(struct call_table *table, uint32_t hash, struct profile_block *site,
                                uint32_t callee)
{
    struct profile_call **grown =
        grow_array(table->calls, &table->capacity, table->count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    table->calls = grown;
    if (hash_index_reserve(&table->by_ends, 1) != 0)
        return NULL;
    struct profile_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    (void)hash_index_add(&table->by_ends, hash, (uint32_t)table->count);
    *call = (struct profile_call){.site = site, .callee = callee, .next = site->calls};
    table->calls[table->count++] = call;
    site->latest = site->calls = call;
    return call;
}

struct profile_call *call_table_get(struct call_table *table, struct profile_block *site,
                                    uint32_t callee)
{
    if (site->latest && site->latest->callee == callee)
        return site->latest;
    const uint32_t hash = hash_pair((uintptr_t)site, callee);
    struct hash_search search = hash_search(&table->by_ends, hash);
    while (hash_search_next(&search)) {
        struct profile_call *call = table->calls[search.number];
        if (call->site == site && call->callee == callee)
            return site->latest = call;
    }
    return add(table, hash, site, callee);
}
