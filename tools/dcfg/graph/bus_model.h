/* What is known of a bus and of the processor that fetches code over it. */
#ifndef TOOLS_DCFG_GRAPH_BUS_MODEL_H
#define TOOLS_DCFG_GRAPH_BUS_MODEL_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define BUS_CHUNK_MIN     4u
#define BUS_CHUNK_MAX     32u
#define BUS_AHEAD_MAX     8u
#define BUS_AHEAD_UNKNOWN 255u /* only without images */

enum bus_refetch {
    BUS_REFETCH_NONE, /* a chunk is fetched again only after a taken branch */
    BUS_REFETCH_SOME, /* a chunk may be fetched again as long as it is executed */
    BUS_REFETCH_EACH  /* each instruction fetches all chunks that it is in */
};

struct bus_model {
    uint32_t chunk;  /* size of a fetch in bytes, a power of two */
    uint8_t refetch; /* enum bus_refetch */
    uint8_t ahead;   /* largest number of chunks prefetched, or BUS_AHEAD_UNKNOWN */
    bool noise;      /* address bits of some fetches are wrong */
};

/*
 * Reads "chunk=8,refetch,ahead=1,noise": `refetch` alone is refetch=each; what is not mentioned is
 * absent, a chunk that is not mentioned 0. 0 or BT_USAGE.
 */
int bus_model_parse(struct bus_model *model, const char *text, struct bt_error *error);

/* The model in the form that bus_model_parse reads. Returns text. */
#define BUS_MODEL_TEXT_BYTES 64u
char *bus_model_text(char text[BUS_MODEL_TEXT_BYTES], const struct bus_model *model);

#endif
