/* The parts of the virtual multiprocessor, for its own files. */
#ifndef FIRMWARE_VIRTUAL_SMP_MACHINE_H
#define FIRMWARE_VIRTUAL_SMP_MACHINE_H

#include "firmware/virtual/smp.h"
#include "firmware/virtual/smp_cache.h"
#include "firmware/virtual/smp_program.h"
#include "formats/record/record.h"

#define SMP_PENDING 1024u /* made phases that are not yet fetched: a power of two */
/* Phases made at a time; one instruction may add a cache full of write backs. */
#define SMP_FILL_MAX   256u
#define SMP_CALL_DEPTH 4u

struct smp_processor {
    uint64_t time; /* tick of its next instruction */
    uint64_t next_interrupt;
    uint64_t next_event;
    uint32_t pc;           /* ordinal of the next instruction */
    uint32_t fetched_line; /* the line of text that contains it */
    uint32_t registers[SMP_REGISTERS];
    uint32_t returns[SMP_CALL_DEPTH];
    uint32_t depth;
    uint32_t traced_branches; /* branches still to report */
    uint32_t deferred_reply;  /* address of the awaited reply; 0: none */
    uint8_t number;           /* agent id */
    uint8_t transaction;      /* of its last request, 4 bits */
    struct smp_cache data;
    struct smp_cache code;
};

struct smp {
    unsigned count;
    struct smp_processor processors[SMP_PROCESSORS_MAX];
    uint64_t random;
    uint64_t bus_free;       /* tick from which the next request may begin */
    uint32_t open_page[4];   /* of each bank of memory */
    uint32_t first, pending; /* ring of phases */
    struct bus_phase phases[SMP_PENDING];
    struct smp_program program;
    uint32_t shared[SMP_SHARED_BYTES / 4];
    uint32_t own[SMP_PROCESSORS_MAX][SMP_PRIVATE_BYTES / 4];
};

/* One request on the bus, as soon as the bus is free. Returns its tick. */
uint64_t smp_request(struct smp *smp, struct smp_processor *processor, enum request_type type,
                     uint32_t address, uint8_t size, uint8_t attribute);

/* Loads through the caches: returns the word, and makes the necessary requests. */
uint32_t smp_load(struct smp *smp, struct smp_processor *processor, uint32_t address);
void smp_store(struct smp *smp, struct smp_processor *processor, uint32_t address, uint32_t value);

/* Ensures that the line of text at address is in the instruction cache. */
void smp_fetch(struct smp *smp, struct smp_processor *processor, uint32_t address);

/* Writes back modified lines and empties both caches. */
void smp_write_back(struct smp *smp, struct smp_processor *processor);

/* Runs a processor until its time exceeds limit, SMP_FILL_MAX phases are pending, or it must wait
 * for a deferred reply. */
void smp_run(struct smp *smp, struct smp_processor *processor, uint64_t limit);

#endif
