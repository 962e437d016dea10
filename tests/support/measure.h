/* What something cost: time on the wall, on the processors, and where. For benchmarks. */
#ifndef TESTS_SUPPORT_MEASURE_H
#define TESTS_SUPPORT_MEASURE_H

#include <stddef.h>

struct measure {
    double wall;         /* seconds */
    double cpu;          /* of this process, all threads */
    double cpu_children; /* of processes that were started and have ended */
};

/* Begin, do it, end: the differences are then in *measure. */
void measure_begin(struct measure *measure);
void measure_end(struct measure *measure);

/* Memory of this process now. */
size_t measure_resident_bytes(void);

#define MEASURE_THREADS 32

/* Processor time of the threads of this process, seen while they lived. */
struct measure_threads {
    int count;
    struct {
        long id;
        char name[32];
        double cpu; /* seconds */
    } threads[MEASURE_THREADS];
};

/* Looks at the threads that live; call now and then, and shortly before they end. */
void measure_threads(struct measure_threads *threads);

#endif
