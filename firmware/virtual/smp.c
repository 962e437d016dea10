#include "firmware/virtual/smp.h"

#include "firmware/virtual/random.h"
#include "firmware/virtual/smp_machine.h"

#include <stdlib.h>

/* A processor may run so many ticks ahead of the slowest: switching at each would cost more than it
 * tells. */
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
    /* Never 0, which xorshift does not leave. */
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

/* Lets the processor whose time is earliest run until it has overtaken the next. */
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

/* What processors have added under a lock and not yet noted on their own side: 9 each at most. */
static bool counters_consistent(const struct smp *smp)
{
    for (uint32_t n = 0; n < SMP_COUNTERS; n++) {
        uint32_t difference = smp->shared[(SMP_COUNTER(n) + SMP_COUNTER_VALUE) / 4];
        for (unsigned i = 0; i < smp->count; i++)
            difference -= smp->own[i][SMP_ADDED(n) / 4];
        if (difference > 9 * smp->count)
            return false;
    }
    return true;
}

static bool queues_consistent(const struct smp *smp)
{
    for (uint32_t n = 0; n < SMP_QUEUES; n++) {
        const uint32_t *queue = &smp->shared[SMP_QUEUE(n) / 4];
        uint32_t head = queue[SMP_QUEUE_HEAD / 4], tail = queue[SMP_QUEUE_TAIL / 4];
        uint32_t sum = queue[SMP_QUEUE_PUT_SUM / 4] - queue[SMP_QUEUE_TAKE_SUM / 4];
        if (queue[0])
            continue; /* somebody is at it */
        if (head - tail > SMP_QUEUE_LENGTH)
            return false;
        for (uint32_t i = tail; i != head; i++)
            sum -= queue[SMP_QUEUE_ITEMS / 4 + i % SMP_QUEUE_LENGTH];
        if (sum != 0)
            return false;
    }
    return true;
}

/* How many data caches hold a line, whoever owns it. */
static unsigned holders(const struct smp *smp, uint32_t address)
{
    unsigned count = 0;
    for (unsigned i = 0; i < smp->count; i++)
        for (unsigned way = 0; way < SMP_CACHE_WAYS; way++) {
            smp_line line =
                smp->processors[i].data.lines[address / SMP_LINE_BYTES % SMP_CACHE_SETS][way];
            count += smp_line_state(line) != SMP_INVALID && smp_line_address(line) == address;
        }
    return count;
}

static bool caches_consistent(const struct smp *smp)
{
    for (unsigned i = 0; i < smp->count; i++)
        for (unsigned set = 0; set < SMP_CACHE_SETS; set++)
            for (unsigned way = 0; way < SMP_CACHE_WAYS; way++) {
                smp_line line = smp->processors[i].data.lines[set][way];
                if (smp_line_state(line) >= SMP_EXCLUSIVE &&
                    holders(smp, smp_line_address(line)) != 1)
                    return false;
            }
    return true;
}

bool smp_consistent(const struct smp *smp)
{
    return counters_consistent(smp) && queues_consistent(smp) && caches_consistent(smp);
}
