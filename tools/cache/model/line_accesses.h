/*
 * Who accesses the lines that processors contend for: by bytes, processor and instruction.
 * doc/cache-model.md, "Accesses of lines".
 */
#ifndef TOOLS_CACHE_MODEL_LINE_ACCESSES_H
#define TOOLS_CACHE_MODEL_LINE_ACCESSES_H

#include "formats/base/error.h"
#include "formats/record/reference.h"

#include <stddef.h>
#include <stdint.h>

#define LINE_ACCESSES_MAX (1u << 20) /* default limit of kinds of accesses */

/* Coherence counters of one line, summed over all agents. */
struct cache_line_counters {
    uint32_t address; /* address of the line's first byte */
    uint64_t invalidations;
    uint64_t interventions;
    uint64_t upgrades;
    uint64_t write_backs;  /* snoop write-backs */
    uint64_t true_sharing; /* misses in the agents, with classify */
    uint64_t false_sharing;
};

/* The accesses of one processor to the same bytes by the same instruction. */
struct line_access {
    uint32_t line;        /* address of the line's first byte */
    uint32_t offset;      /* of the first byte accessed, in the line */
    uint32_t bytes;       /* 1 at least */
    uint32_t instruction; /* address of the processor's last fetch; 0: not known */
    uint32_t processor;
    uint32_t known; /* 1: the last fetch was of one instruction, of at most 15 bytes */
    uint64_t references[REFERENCE_KINDS];
    uint64_t traffic;      /* invalidations, interventions and upgrades that they caused */
    uint64_t true_sharing; /* misses of the line that they caused, with classify */
    uint64_t false_sharing;
};

struct line_accesses;
struct line_values;

/* A map of struct cache_line_counters has the lines that processors contend for; it must outlive
 * the accesses. line_shift: logarithm of the lines' size. Keeps at most `most` kinds of accesses.
 * NULL: out of memory. */
struct line_accesses *line_accesses_new(const struct line_values *lines, unsigned line_shift,
                                        size_t most);
void line_accesses_free(struct line_accesses *accesses);

/* Invalidations, interventions and upgrades of a line. */
static inline uint64_t cache_line_traffic(const struct cache_line_counters *line)
{
    return line->invalidations + line->interventions + line->upgrades;
}

/* Records have been simulated that caused no traffic, each within one line. 0 or BT_MEMORY. */
int line_accesses_put(struct line_accesses *accesses, const struct record *records, size_t count);

/* A record is simulated now, part by part: it may be a fetch. */
void line_accesses_record(struct line_accesses *accesses, const struct record *record);

/* Before and after the simulation of each part of its reference, which lies in one line. end
 * returns 0 or BT_MEMORY. */
void line_accesses_begin(struct line_accesses *accesses, uint32_t address);
int line_accesses_end(struct line_accesses *accesses, const struct record *record, uint32_t address,
                      uint32_t bytes);

/* Forgets all counts, but not the last fetches. The counters of the lines are zero then. */
void line_accesses_reset(struct line_accesses *accesses);

/* Copies the counts, in ascending order of lines. The caller frees *rows. 0 or BT_MEMORY. */
int line_accesses_take(const struct line_accesses *accesses, struct line_access **rows,
                       size_t *count, struct bt_error *error);

/* The accesses of a line are counted at the latest from this traffic of the line on; 1 as long as
 * the limit was not reached. */
uint64_t line_accesses_least(const struct line_accesses *accesses);

/* Compares the lines, then all that tells two kinds of accesses apart; as for qsort. */
int line_access_compare(const void *a, const void *b);

#endif
