/* Explains one run of chunks (bus_fetch.h): a walk through its instructions to the next run. */
#ifndef TOOLS_DCFG_GRAPH_BUS_WALK_H
#define TOOLS_DCFG_GRAPH_BUS_WALK_H

#include "formats/base/named_fields.h"
#include "tools/symbols/image.h"

#define BUS_RUN_CHUNKS   64u
#define BUS_CHUNK_MAX    32u
#define BUS_RUN_BYTES    (BUS_RUN_CHUNKS * BUS_CHUNK_MAX)
#define BUS_STACK_DEPTH  48u
#define BUS_DECODE_SLOTS 16384u

/* Where calls go on, the last one on top. What was lost below is not there. */
struct bus_stack {
    uint32_t addresses[BUS_STACK_DEPTH];
    uint32_t depth;
    uint32_t sure; /* those from here up are certain */
};

struct bus_run {
    uint64_t start; /* address */
    uint64_t end;   /* behind its last chunk */
    uint32_t chunk; /* bytes of one */
    uint32_t ahead; /* so many at the end were probably prefetched */
};

/* The chunk that the next run begins with; size 0: none is known. */
struct bus_next {
    uint64_t address;
    uint32_t size;
    bool follows; /* it goes on where the run ends, which is only too long to be kept */
};

struct NAMED_FIELDS bus_instruction {
    uint32_t address;
    uint8_t size;
};

struct bus_walk {
    size_t count;     /* those executed */
    size_t sure;      /* those that every explanation has */
    unsigned options; /* explanations, at least; 0: there is none */
    bool possible;    /* there is one, or may be */
    uint64_t next;    /* where the next run is entered, */
    bool next_known;
    bool next_sure;                                     /* by this explanation */
    struct bus_stack stack;                             /* then */
    struct bus_instruction instructions[BUS_RUN_BYTES]; /* instructions, from the first on */
};

/* Instructions that were decoded already. Zeroed is empty. */
struct bus_decoder {
    const struct images *images;
    struct {
        struct image_instruction instruction; /* size 0: none */
        uint64_t address;                     /* plus 1; 0: an empty slot */
    } slots[BUS_DECODE_SLOTS];
};

/* Fills *walk with the explanation of a run that is entered at an address with that stack. */
void bus_walk(struct bus_walk *walk, struct bus_decoder *decoder, const struct bus_run *run,
              const struct bus_next *next, uint64_t entry, const struct bus_stack *stack);

#endif
