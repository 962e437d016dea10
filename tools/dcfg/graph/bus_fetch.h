/*
 * Converts the chunks of code that a bus transferred to the instructions that were executed, with
 * the images of the programs, for each processor by a decoder of its own (bus_decode.h).
 *
 * A REP instruction is executed once: fetches do not show how often it repeats. A fetch that is in
 * no image stays as it is and counts as an instruction.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_FETCH_H
#define TOOLS_DCFG_GRAPH_BUS_FETCH_H

#include "formats/record/sink.h"
#include "tools/common/fetch_noise.h"
#include "tools/dcfg/graph/bus_code.h"
#include "tools/dcfg/graph/bus_evidence.h"
#include "tools/dcfg/graph/bus_model.h"

/* In the attribute of an instruction that is not certain. */
#define BUS_FETCH_ASSUMED 0x80u

struct bus_fetch_counts {
    uint64_t chunks;       /* fetches */
    uint64_t repeated;     /* of them, equal to the processor's previous one */
    uint64_t prefetched;   /* of them, fetched and not executed */
    uint64_t noise;        /* of them, taken for another chunk */
    uint64_t unexplained;  /* of them, by no execution that continues the one before */
    uint64_t outside;      /* of them, in no image */
    uint64_t instructions; /* made of them */
    uint64_t assumed;      /* of those, not certain */
    uint64_t noise_bits[FETCH_NOISE_BITS]; /* how often each address bit was wrong */
};

struct bus_fetch;

/* The code, the evidence and the sink must outlive it; the model is copied. NULL and *error without
 * memory. */
struct bus_fetch *bus_fetch_new(const struct bus_model *model, struct bus_code *code,
                                struct bus_evidence *evidence, struct sink *to,
                                struct bt_error *error);
void bus_fetch_free(struct bus_fetch *bus);

/* Before the first fetch: no instruction is certain. */
void bus_fetch_doubt(struct bus_fetch *bus);

/*
 * Takes the fetches of a batch; other requests are skipped. The sink gets each instruction as a
 * fetch with the time field of the chunk that completed it; holes are passed on. 0, BT_MEMORY, or
 * the sink's error.
 */
int bus_fetch_put(struct bus_fetch *bus, const struct batch *batch, struct bt_error *error);

/* Ends the stream. 0 or the sink's error. */
int bus_fetch_end(struct bus_fetch *bus, struct bt_error *error);

struct bus_fetch_counts bus_fetch_counts(const struct bus_fetch *bus);

/* Whether a fetch has the form of a chunk: an aligned power of two, from BUS_CHUNK_MIN to
 * BUS_CHUNK_MAX bytes. */
static inline bool bus_fetch_is_chunk(const struct record *record)
{
    return record->size >= BUS_CHUNK_MIN && record->size <= BUS_CHUNK_MAX &&
           (record->size & (record->size - 1)) == 0 && (record->address & (record->size - 1u)) == 0;
}

#endif
