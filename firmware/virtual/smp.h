/*
 * A shared-memory multiprocessor that really runs a program, for its bus requests: processors with
 * caches of their own, kept coherent by snooping (MESI), on one bus.
 */
#ifndef FIRMWARE_VIRTUAL_SMP_H
#define FIRMWARE_VIRTUAL_SMP_H

#include "firmware/bus.h"

#define SMP_PROCESSORS_MAX 8u

struct smp;

/* processors: 1 to SMP_PROCESSORS_MAX. The same seed gives the same requests. NULL: no memory. */
struct smp *smp_new(unsigned processors, uint64_t seed);
void smp_free(struct smp *smp);

/* The next count phases on its bus; it never ends. Ticks are 3 apart at least. Returns count. */
size_t smp_fill(struct smp *smp, struct bus_phase *phases, size_t count);

#endif
