/*
 * The slow, obvious twin of capture/depend: a structure for each byte, every iteration's time in an
 * array, and the specification's frozen times as they are written there. Memory is an array of
 * bytes, so addresses are small.
 */
#ifndef TESTS_SUPPORT_DEPENDENCE_TWIN_H
#define TESTS_SUPPORT_DEPENDENCE_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TWIN_NONE UINT32_MAX

struct twin_row {
    unsigned kind; /* 0 read after write, 1 write after read, 2 write after write */
    uint32_t sink, sink_top, sink_thread;
    uint32_t source, source_top, source_thread;
    uint32_t loop; /* TWIN_NONE: none */
    bool carried;
    uint64_t count, least, greatest, sum;
};

struct dependence_twin;

/* For addresses from base to base + bytes. every: access level. */
struct dependence_twin *twin_new(uint64_t base, size_t bytes, bool every);
void twin_free(struct dependence_twin *twin);

/* Threads are numbers below 8. */
void twin_reference(struct dependence_twin *twin, uint32_t thread, uint32_t place, bool is_detail,
                    bool is_write, uint64_t address, unsigned size);
/* rep: `count` elements that all have the time of the last one. source and target: 0: not read, not
 * written. */
void twin_range(struct dependence_twin *twin, uint32_t thread, uint32_t place, bool is_detail,
                uint64_t source, uint64_t target, unsigned size, uint64_t count, bool is_downwards);
void twin_forget(struct dependence_twin *twin, uint64_t address, uint64_t size);
void twin_move(struct dependence_twin *twin, uint64_t from, uint64_t to, uint64_t size);
void twin_set_stack(struct dependence_twin *twin, uint32_t thread, uint64_t begin, uint64_t end);
void twin_call(struct dependence_twin *twin, uint32_t thread, uint64_t slot);
void twin_return(struct dependence_twin *twin, uint32_t thread, uint64_t slot);
void twin_loop_begin(struct dependence_twin *twin, uint32_t thread, uint32_t loop);
void twin_loop_iterate(struct dependence_twin *twin, uint32_t thread);
void twin_loop_end(struct dependence_twin *twin, uint32_t thread);

/* Sorted by their keys. */
const struct twin_row *twin_rows(struct dependence_twin *twin, size_t *count);
int twin_compare(const void *a, const void *b);

/* Times of the latest reference. */
uint64_t twin_time(const struct dependence_twin *twin);
uint64_t twin_frozen(const struct dependence_twin *twin);

#endif
