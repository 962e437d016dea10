/*
 * What a graph that was built from a bus knows of the fetches: the member BUSTAP_BUS of the file.
 * DCFG 1.00 does not define it, and readers skip unknown members (section 1.2.4). doc/dcfg.md
 * describes it.
 */
#ifndef FORMATS_DCFG_DCFG_BUS_H
#define FORMATS_DCFG_DCFG_BUS_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define DCFG_BUS_TAG         "BUSTAP_BUS"
#define DCFG_BUS_MODEL_BYTES 64u
#define DCFG_BUS_BITS        32u /* of an address */

/* Numbers of fetches; dcfg_bus_count_name() has their names in the file. */
enum dcfg_bus_count {
    DCFG_BUS_FETCHES,
    DCFG_BUS_REPEATED,           /* equal to the processor's previous one */
    DCFG_BUS_PREFETCHED,         /* not executed */
    DCFG_BUS_NOISE,              /* with wrong address bits */
    DCFG_BUS_UNEXPLAINED,        /* no execution leads to them */
    DCFG_BUS_OUTSIDE,            /* in no image */
    DCFG_BUS_SAMPLE,             /* examined to find the model */
    DCFG_BUS_SAMPLE_UNEXPLAINED, /* of them; null in the file if blocks consist of chunks */
    DCFG_BUS_COUNTS
};

const char *dcfg_bus_count_name(enum dcfg_bus_count count);

/* What the executions of a basic block rest on. The executions that are neither certain nor
 * unexplained are assumed. */
struct dcfg_bus_block {
    uint64_t certain;     /* executions that every explanation of the fetches has */
    uint64_t unexplained; /* executions of fetches that nothing explains */
    uint64_t fetches;     /* of the chunks that hold the block */
    uint32_t id;          /* of the block */
};

struct dcfg_bus {
    bool chunks;                      /* blocks consist of chunks, not of instructions */
    bool found;                       /* the model was found in the capture, not given */
    char model[DCFG_BUS_MODEL_BYTES]; /* as `bustap dcfg build --bus` reads it */
    uint64_t counts[DCFG_BUS_COUNTS];
    uint64_t noise_bits[DCFG_BUS_BITS]; /* how often each address bit was wrong */
    struct dcfg_bus_block *blocks;      /* of the graph's first process, in any order */
    uint32_t block_count;
};

struct dcfg;
struct json_pull;
struct json_put;

/* Gives the graph, sealed or not, a copy of *bus without its blocks. 0 or BT_MEMORY. */
int dcfg_set_bus(struct dcfg *graph, const struct dcfg_bus *bus, struct bt_error *error);

/* Adds a block's row to the graph's bus, which it must have. 0, BT_MEMORY, or
 * BT_DATA (too many). */
int dcfg_add_bus_block(struct dcfg *graph, const struct dcfg_bus_block *block,
                       struct bt_error *error);

/* Reads the member's value into a graph that has no bus. Only a strict reader requires all parts. 0
 * or a negative code; the pull's error says where. */
int dcfg_bus_read(struct dcfg *graph, struct json_pull *pull);

/* Writes the member's value. new_id returns the id of a block in the file. */
void dcfg_bus_write(const struct dcfg_bus *bus, struct json_put *put,
                    uint32_t (*new_id)(const void *context, uint32_t id), const void *context);

#endif
