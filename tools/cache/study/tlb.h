/* Translation look-aside buffers of two levels: doc/cache-model.md, "Translation". */
#ifndef TOOLS_CACHE_STUDY_TLB_H
#define TOOLS_CACHE_STUDY_TLB_H

#include "formats/base/error.h"
#include "formats/record/sink.h"
#include "tools/cache/study/phases.h"

#include <stdbool.h>
#include <stdint.h>

#define TLB_RANGES_MAX 64u

enum tlb_pages { TLB_4K, TLB_2M, TLB_1G, TLB_PAGES };
enum tlb_buffer { TLB_INSTRUCTION, TLB_DATA, TLB_SECOND, TLB_BUFFERS }; /* level 1, 1, 2 */

/* The entries of one buffer for one page size. */
struct tlb_array {
    uint32_t entries; /* entries / ways is a power of two */
    uint32_t ways;    /* 0: fully associative */
};

/* Addresses low to high, both included, are in pages of this size. */
struct tlb_range {
    uint32_t low, high;
    enum tlb_pages pages;
};

struct tlb_settings {
    struct tlb_array arrays[TLB_BUFFERS][TLB_PAGES];
    enum tlb_pages pages;                    /* of addresses outside the ranges */
    struct tlb_range ranges[TLB_RANGES_MAX]; /* the first that contains an address counts */
    unsigned range_count;
    uint32_t second_latency, walk_latency; /* in cycles; 0: not given */
};

/* Buffers of a current processor, and pages of 4 KiB. */
struct tlb_settings tlb_settings_default(void);

/* "4K", "2M" or "1G". */
const char *tlb_pages_name(enum tlb_pages pages);

/* Counters of one buffer for one page size, over all processors. */
struct tlb_counters {
    uint64_t references, misses;
};

struct tlb;

/* 0, BT_USAGE or BT_MEMORY. *settings is copied. */
int tlb_new(struct tlb **tlb, const struct tlb_settings *settings, struct bt_error *error);

/* Does not count the references of this first part of the trace; before the first record. */
void tlb_warm(struct tlb *tlb, const struct extent *warm);
/* Takes the clock of the trace, as phases_clock. */
int tlb_clock(struct tlb *tlb, uint64_t clock_hz, struct bt_error *error);

/* The sink for the records. The TLB owns it; it is not closed. */
struct sink *tlb_sink(struct tlb *tlb);

const struct tlb_settings *tlb_settings_of(const struct tlb *tlb);
struct tlb_counters tlb_counters_of(const struct tlb *tlb, enum tlb_buffer buffer,
                                    enum tlb_pages pages);

/* tlb may be NULL. */
void tlb_free(struct tlb *tlb);

#endif
