/* Wall-clock and processor time of an operation, by thread. For benchmarks. */
#ifndef TESTS_SUPPORT_MEASURE_H
#define TESTS_SUPPORT_MEASURE_H

#include <stddef.h>

struct measure {
    double wall;         /* seconds */
    double cpu;          /* seconds, of this process, all threads */
    double cpu_children; /* seconds, of child processes that have ended */
};

/* Call begin, do the operation, call end: *measure is then the difference. */
void measure_begin(struct measure *measure);
void measure_end(struct measure *measure);

/* Memory used by this process. */
size_t measure_resident_bytes(void);

#define MEASURE_THREADS 32

/* Processor time of this process' threads, sampled while they live. */
struct measure_threads {
    int count;
    struct {
        long id;
        char name[32];
        double cpu; /* seconds */
    } threads[MEASURE_THREADS];
};

/* Samples the living threads; call it now and then, and shortly before they end. */
void measure_threads(struct measure_threads *threads);

#endif
