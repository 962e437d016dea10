/*
 * Converts the chunks of code that a bus transferred to the instructions that were executed, with
 * the images of the programs. The processor fetches again after every taken branch, as one without
 * an instruction cache does; code that hits in a cache is not on the bus.
 *
 * The rule. Chunks at successive addresses are a run. A run begins with the chunk of a taken
 * branch's target and has at least all code up to the next taken branch; later chunks were
 * prefetched. A run is explained by a walk from its entry, along successive instructions, to an
 * instruction that may lead to the first chunk of the next run:
 *
 *   - a conditional branch, jump or call with its target there; conditional branches with other
 *     targets are not taken; an unconditional one with its target in a later chunk of the run
 *     continues there;
 *   - a return, to the address after its call if the call is known; else to anywhere there;
 *   - an indirect jump or call, to anywhere there; a system call likewise, or it continues at the
 *     next instruction, as if the system is in no image;
 *   - a REP instruction is executed once: fetches do not show the number of its repetitions.
 *
 * Of such instructions, up to the first that must lead elsewhere, the walk ends at the first one in
 * the last chunk that has one, not counting the chunks that are mostly prefetched in certain runs.
 * The end is certain if it is the only one, no conditional branch before it could have continued in
 * a later chunk of the same run, and the run has one possible entry. All else is assumed, and
 * counted: instructions after the first branch that may have left the run, runs with an unknown
 * entry in their first chunk (each entry that explains the run is tried, multiples of 16 first),
 * and runs without a branch to the next one, as with an interrupt. If all possible entries of a run
 * lead to the same end, the next run is certain again.
 *
 * A chunk in no image stays one instruction.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_FETCH_H
#define TOOLS_DCFG_GRAPH_BUS_FETCH_H

#include "formats/record/sink.h"
#include "tools/symbols/image.h"

/* Bit of the attribute of an instruction that is not certain. */
#define BUS_FETCH_ASSUMED 0x80u

struct bus_fetch_counts {
    uint64_t chunks;       /* fetches */
    uint64_t instructions; /* instructions made of them */
    uint64_t assumed;      /* instructions that are not certain */
    uint64_t runs;         /* runs of chunks */
    uint64_t ambiguous;    /* runs with several explanations, or none */
    uint64_t unused;       /* chunks that were prefetched only */
    uint64_t undecided;    /* chunks in runs without explanation */
    uint64_t outside;      /* chunks in no image; each is one instruction */
};

struct bus_fetch;

/* The images and the sink must outlive it. NULL and *error without memory. */
struct bus_fetch *bus_fetch_new(const struct images *images, struct sink *to,
                                struct bt_error *error);
void bus_fetch_free(struct bus_fetch *bus);

/*
 * Takes the fetches of a batch and ignores other requests. The sink gets one fetch for each
 * instruction, with the time field of the chunk in which it begins; gaps are passed on. Returns 0
 * or the sink's error.
 */
int bus_fetch_put(struct bus_fetch *bus, const struct batch *batch, struct bt_error *error);

/* Ends the stream: passes on the last run. Returns 0 or the sink's error. */
int bus_fetch_end(struct bus_fetch *bus, struct bt_error *error);

struct bus_fetch_counts bus_fetch_counts(const struct bus_fetch *bus);

#endif
