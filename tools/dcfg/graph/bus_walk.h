/* Explains one run of chunks (bus_fetch.h) by a walk through its instructions to the next run. */
#ifndef TOOLS_DCFG_GRAPH_BUS_WALK_H
#define TOOLS_DCFG_GRAPH_BUS_WALK_H

#include "formats/base/named_fields.h"
#include "tools/symbols/image.h"

#define BUS_RUN_CHUNKS   64u
#define BUS_CHUNK_MAX    32u
#define BUS_RUN_BYTES    (BUS_RUN_CHUNKS * BUS_CHUNK_MAX)
#define BUS_STACK_DEPTH  48u
#define BUS_DECODE_SLOTS 16384u

/* Return addresses, the last one on top. Lost entries are at the bottom and not stored. */
struct bus_stack {
    uint32_t addresses[BUS_STACK_DEPTH];
    uint32_t depth;
    uint32_t sure; /* entries from here up are certain */
};

struct bus_run {
    uint64_t start; /* address */
    uint64_t end;   /* end of its last chunk */
    uint32_t chunk; /* bytes of a chunk */
    uint32_t ahead; /* number of chunks at the end that were probably prefetched */
};

/* The first chunk of the next run; size 0: unknown. */
struct bus_next {
    uint64_t address;
    uint32_t size;
    bool follows; /* it continues this run, which was split because of its length */
};

struct NAMED_FIELDS bus_instruction {
    uint32_t address;
    uint8_t size;
};

struct bus_walk {
    size_t count;     /* executed instructions */
    size_t sure;      /* instructions common to all explanations */
    unsigned options; /* lower bound of the number of explanations; 0: none */
    bool possible;    /* an explanation exists or may exist */
    uint64_t next;    /* address at which the next run is entered */
    bool next_known;
    bool next_sure;                                     /* according to this explanation */
    struct bus_stack stack;                             /* after the run */
    struct bus_instruction instructions[BUS_RUN_BYTES]; /* from the first one on */
};

/* Cache of decoded instructions. Zero-initialised: empty. */
struct bus_decoder {
    const struct images *images;
    struct {
        struct image_instruction instruction; /* size 0: none */
        uint64_t address;                     /* plus 1; 0: empty slot */
    } slots[BUS_DECODE_SLOTS];
};

/* Fills *walk with the explanation of a run that is entered at an address with that stack. */
void bus_walk(struct bus_walk *walk, struct bus_decoder *decoder, const struct bus_run *run,
              const struct bus_next *next, uint64_t entry, const struct bus_stack *stack);

#endif
