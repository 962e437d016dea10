/* Replacement policies other than LRU and FIFO, whose state is the order of the lines
 * (line_store.h): doc/cache-model.md, "Replacement". */
#ifndef TOOLS_CACHE_MODEL_REPLACEMENT_H
#define TOOLS_CACHE_MODEL_REPLACEMENT_H

#include "tools/cache/model/hierarchy.h"

/* The instruction that caused the references that are simulated now. */
struct reference_origin {
    bool known;           /* the processor has made a fetch */
    uint32_t instruction; /* address of its last one */
};

struct replacement;

/* "lru", "fifo", ...; the last is NULL. */
extern const char *const replacement_names[CACHE_REPLACEMENTS + 1];

/* Finds a policy by its name. 0, or BT_USAGE with the names that there are. */
int replacement_find(enum cache_replacement *replacement, const char *name, struct bt_error *error);

/* ways is not 0; cache: the cache's number, for the seed. NULL: out of memory. */
struct replacement *replacement_new(enum cache_replacement policy, uint32_t sets, uint32_t ways,
                                    uint64_t seed, uint64_t cache);
void replacement_free(struct replacement *replacement);

/* Where the signatures of SHiP come from, and where its fills are counted by what signs them; none
 * is owned. Without this call regions sign all, uncounted. */
void replacement_connect(struct replacement *replacement, const struct reference_origin *origin,
                         uint64_t *by_instruction, uint64_t *by_region);

/* A line is used. slot: way slot % ways of set slot / ways. */
void replacement_use(struct replacement *replacement, size_t slot);

/* The way to evict from a full set. Call once for each eviction. */
uint32_t replacement_victim(struct replacement *replacement, uint32_t set);

/* A line is filled into a slot. address: of its first byte. */
void replacement_fill(struct replacement *replacement, size_t slot, uint32_t address);

#endif
