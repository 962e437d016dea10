/*
 * A shared-memory multiprocessor that executes a program, for its bus requests: processors with
 * private caches, kept coherent by snooping (MESI), on one bus.
 */
#ifndef FIRMWARE_VIRTUAL_SMP_H
#define FIRMWARE_VIRTUAL_SMP_H

#include "firmware/bus.h"

#define SMP_PROCESSORS_MAX 8u

struct smp;

/* processors: 1 to SMP_PROCESSORS_MAX. The same seed gives the same requests. NULL: no memory. */
struct smp *smp_new(unsigned processors, uint64_t seed);
void smp_free(struct smp *smp);

/* The next count phases on its bus, which never ends. Ticks differ by at least 3. Returns count. */
size_t smp_fill(struct smp *smp, struct bus_phase *phases, size_t count);

#endif
