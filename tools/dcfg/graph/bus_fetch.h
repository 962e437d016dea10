/*
 * From the chunks of code that a bus transferred to the instructions that were executed, with the
 * images of the programs. The bus is that of a processor that fetches anew behind every branch it
 * takes, as one does without an instruction cache; what a cache had already is on no bus.
 *
 * The rule. Chunks at successive addresses are a run. A run begins with the chunk that a taken
 * branch goes to and has at least all that is executed up to the next taken branch; chunks behind
 * that were prefetched. So a run is explained by a walk from where it is entered, along successive
 * instructions, to an instruction that may go to the chunk that the next run begins with:
 *
 *   - a conditional branch, jump or call with its target there; conditional branches with other
 *     targets are not taken; an unconditional one with its target in a later chunk of the run goes
 *     on there;
 *   - a return, if what called it is known, to behind that; else to anywhere there;
 *   - an indirect jump or call, to anywhere there; a system call likewise, or it goes on behind
 *     itself, as where the system is in no image;
 *   - a REP instruction is executed once: how often it repeats, no fetch tells.
 *
 * Of such instructions up to the first that must go elsewhere, the first is taken in the last chunk
 * that has one, not counting the chunks that are mostly prefetched in certain runs. If it is the
 * only one, no conditional branch before it could have gone on in a later chunk of the same run,
 * and there is one way to be where the run begins, then this is certain. All else is assumed, and
 * counted: what lies behind the first branch that may have left, runs entered at an unknown place
 * of their first chunk (where each place that explains the run is tried, one that is a multiple of
 * 16 preferred), and runs behind which no branch leads to the next one, as with an interrupt. Where
 * all places that a run may be entered at end in the same way, the next one is certain again.
 *
 * What is in no image stays as it is: a fetch is an instruction.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_FETCH_H
#define TOOLS_DCFG_GRAPH_BUS_FETCH_H

#include "formats/record/sink.h"
#include "tools/symbols/image.h"

/* In the attribute of an instruction that is not certain. */
#define BUS_FETCH_ASSUMED 0x80u

struct bus_fetch_counts {
    uint64_t chunks;       /* fetches */
    uint64_t instructions; /* made of them */
    uint64_t assumed;      /* of those, not certain */
    uint64_t runs;         /* of chunks */
    uint64_t ambiguous;    /* of those, explained in more than one way, or in none */
    uint64_t unused;       /* chunks of which nothing was executed: prefetched */
    uint64_t undecided;    /* chunks in runs that nothing explains */
    uint64_t outside;      /* chunks in no image, which are instructions themselves */
};

struct bus_fetch;

/* The images and the sink outlive it. NULL and *error without memory. */
struct bus_fetch *bus_fetch_new(const struct images *images, struct sink *to,
                                struct bt_error *error);
void bus_fetch_free(struct bus_fetch *bus);

/*
 * Takes the fetches of a batch; other requests are passed over. The sink gets instructions as
 * fetches of their own, with the time field of the chunk that each begins in; holes are passed on.
 * 0, or what the sink says.
 */
int bus_fetch_put(struct bus_fetch *bus, const struct batch *batch, struct bt_error *error);

/* Ends the stream: passes on what waited for the next run. 0, or what the sink says. */
int bus_fetch_end(struct bus_fetch *bus, struct bt_error *error);

struct bus_fetch_counts bus_fetch_counts(const struct bus_fetch *bus);

#endif
