/*
 * Finds the model of a bus from its fetches.
 *
 * With images, each model is tried on a sample: the right one explains all fetches but those that
 * noise changed, and every other one leaves 5 % or more unexplained. Of several that explain
 * equally much the strictest is chosen.
 *
 * Without images, prefetches are recognised by the length of runs of successive chunks: each run
 * has all of them. A processor that refetches is recognised by how many of the chunks are ever
 * fetched twice in succession, not counting prefetched ones. Noise is recognised by excursions
 * (tools/common/fetch_noise.h).
 *
 * A cache is recognised because it hides loops: without one, processors soon return to chunks that
 * they have just fetched.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_DETECT_H
#define TOOLS_DCFG_GRAPH_BUS_DETECT_H

#include "formats/base/error.h"
#include "formats/record/record.h"
#include "tools/dcfg/graph/bus_code.h"
#include "tools/dcfg/graph/bus_model.h"

#include <stddef.h>

#define BUS_DETECT_SAMPLE 32768u

enum bus_verdict {
    BUS_COUNTABLE, /* the fetches show all that is executed */
    BUS_CACHED,    /* they are fills of an instruction cache */
    BUS_OTHER_CODE /* they are not of this code */
};

/* Why no count is certain. */
enum bus_doubt {
    BUS_DOUBT_NONE,  /* counts may be certain */
    BUS_DOUBT_FEW,   /* too few fetches to exclude a cache */
    BUS_DOUBT_CACHE, /* they look like fills of a cache; the model was given */
    BUS_DOUBT_NOISE  /* wrong addresses are counted: keep_noise of fetch_stream.h */
};

struct bus_finding {
    struct bus_model model;
    uint8_t doubt;        /* enum bus_doubt */
    bool is_given;        /* the model was given, not found */
    bool few;             /* too few fetches to exclude a cache */
    uint8_t verdict;      /* enum bus_verdict */
    uint64_t sample;      /* number of fetches examined */
    uint64_t unexplained; /* of them, by the model */
    uint64_t noise;       /* of them, with wrong address bits according to the model */
    uint64_t in_code;     /* of them, in an image */
    uint32_t noise_mask;  /* without images: address bits that are often wrong */
};

/*
 * Finds the model of fetches that one processor made in succession, chunks of that many bytes. The
 * code may be NULL. 0 or BT_MEMORY.
 */
int bus_detect(struct bus_finding *finding, uint32_t chunk, struct bus_code *code,
               const struct record *fetches, size_t count, struct bt_error *error);

/* The sample under a given model, with the verdict. The code may be NULL. 0 or BT_MEMORY. */
int bus_examine(struct bus_finding *finding, const struct bus_model *model, struct bus_code *code,
                const struct record *fetches, size_t count, struct bt_error *error);

#endif
