/*
 * The fetches of a processor that executes a stream of instructions: the bus traffic of a program
 * whose execution is known. For tests of reconstruction from a bus.
 *
 * Chunks are aligned. Without `refetch`, bytes that were fetched since the last taken branch are
 * not fetched again; with it, each instruction, or one of two, fetches all of its chunks. Up to
 * `ahead` chunks after the last one needed are prefetched. A cache keeps chunks and is direct
 * mapped; only misses are on the bus. Noise changes one or two address bits of a fetch.
 */
#ifndef TESTS_SUPPORT_BUS_PROCESSOR_H
#define TESTS_SUPPORT_BUS_PROCESSOR_H

#include "formats/record/record.h"

#include <stdbool.h>
#include <stddef.h>

struct bus_processor_model {
    uint32_t chunk;         /* in bytes, a power of two */
    int refetch;            /* 0: never; 1: sometimes, at random; 2: each instruction */
    uint32_t ahead;         /* in chunks */
    uint32_t cache;         /* in bytes; 0: none */
    uint32_t noise_percent; /* percentage of the fetches */
};

struct bus_processor;

/* Returns NULL if memory is short. */
struct bus_processor *bus_processor_new(const struct bus_processor_model *model, uint64_t seed);
void bus_processor_free(struct bus_processor *processor);

/* Executes an instruction. Returns the number of fetches, written to fetches, which has room for
 * BUS_PROCESSOR_FETCHES; their times are 1. */
#define BUS_PROCESSOR_FETCHES 64u
size_t bus_processor_execute(struct bus_processor *processor, uint32_t address, uint8_t size,
                             struct record *fetches);

#endif
