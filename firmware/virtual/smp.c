#include "firmware/virtual/smp.h"

#include "firmware/virtual/random.h"
#include "firmware/virtual/smp_machine.h"

#include <stdlib.h>

/* Limit in ticks by which a processor may run ahead of the slowest: switching at each tick would
 * cost more than the precision is worth. */
#define AHEAD 8u

/* One ring through all nodes, in random order: Sattolo's shuffle. */
static void make_chain(struct smp *smp, uint32_t *own)
{
    uint32_t order[SMP_CHAIN_NODES];
    for (uint32_t i = 0; i < SMP_CHAIN_NODES; i++)
        order[i] = i;
    for (uint32_t i = SMP_CHAIN_NODES - 1; i > 0; i--) {
        uint32_t other = virtual_random_below(&smp->random, i);
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < SMP_CHAIN_NODES; i++)
        own[(SMP_CHAIN + i * SMP_CHAIN_STRIDE) / 4] = SMP_CHAIN + order[i] * SMP_CHAIN_STRIDE;
}

static void start(struct smp *smp, unsigned number)
{
    struct smp_processor *processor = &smp->processors[number];
    processor->number = (uint8_t)number;
    processor->time = 100 + number;
    processor->next_interrupt = 10000 + virtual_random_below(&smp->random, 10000);
    processor->next_event = 20000 + virtual_random_below(&smp->random, 40000);
    processor->pc = smp->program.start;
    processor->fetched_line = UINT32_MAX;
    processor->registers[SMP_R_PRIVATE] = SMP_PRIVATE_ADDRESS + number * SMP_PRIVATE_BYTES;
    processor->registers[SMP_R_SHARED] = SMP_SHARED_ADDRESS;
    processor->registers[SMP_R_RANDOM] = (uint32_t)virtual_random(&smp->random);
    processor->registers[SMP_R_SELF] = number + 1;
    make_chain(smp, smp->own[number]);
}

struct smp *smp_new(unsigned processors, uint64_t seed)
{
    struct smp *smp = calloc(1, sizeof *smp);
    if (!smp)
        return NULL;
    /* Never 0, a fixed point of xorshift. */
    smp->random = seed * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(0x5851f42d4c957f2d);
    if (smp->random == 0)
        smp->random = 1;
    smp->count = processors;
    smp_program_make(&smp->program, &smp->random);
    for (unsigned i = 0; i < processors; i++)
        start(smp, i);
    return smp;
}

void smp_free(struct smp *smp)
{
    free(smp);
}

/* Runs the processor with the earliest time until it overtakes the next. */
static void turn(struct smp *smp)
{
    struct smp_processor *earliest = &smp->processors[0];
    uint64_t limit = UINT64_MAX - AHEAD;
    for (unsigned i = 1; i < smp->count; i++) {
        struct smp_processor *other = &smp->processors[i];
        if (other->time < earliest->time) {
            limit = earliest->time;
            earliest = other;
        } else if (other->time < limit) {
            limit = other->time;
        }
    }
    smp_run(smp, earliest, limit + AHEAD);
}

size_t smp_fill(struct smp *smp, struct bus_phase *phases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while (smp->pending == 0)
            turn(smp);
        phases[i] = smp->phases[smp->first];
        smp->first = (smp->first + 1) % SMP_PENDING;
        smp->pending--;
    }
    return count;
}
