/*
 * Sharing of lines between processors: the number of lines that each pair of processors has in
 * common, and the number of lines with each number of users. A reference that crosses lines counts
 * once for each of them.
 */
#ifndef TOOLS_PLOT_SHARING_H
#define TOOLS_PLOT_SHARING_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/record/batch.h"
#include "formats/record/expression.h"

#define SHARING_PROCESSORS 256u
#define SHARING_LINE_MIN   4u
#define SHARING_LINE_MAX   (1u << 20)

struct sharing;

struct sharing_settings {
    uint32_t line; /* in bytes, a power of 2 from SHARING_LINE_MIN to SHARING_LINE_MAX */
    uint64_t
        memory_max; /* in bytes; each line takes some 16 to 48 for each processor that uses it */
};

/* Lines with the same number of users. */
struct NAMED_FIELDS sharing_users {
    uint64_t lines;
    uint64_t written;    /* lines written by any of the users */
    uint64_t references; /* references to these lines */
};

struct sharing_counts {
    uint64_t requests;   /* requests that are memory references */
    uint64_t references; /* references to lines by these requests */
    uint64_t dropped;    /* requests that are not memory references: I/O, replies, special cycles,
                            unknown */
    unsigned processors; /* processors that use a line */
    uint8_t processor[SHARING_PROCESSORS]; /* their ids, ascending */
    /* matrices, [a * processors + b], a and b being indexes of processor[] */
    uint64_t *lines;      /* lines that both use; for a = b, that a uses */
    uint64_t *referenced; /* references by a to lines that b also uses */
    struct sharing_users users[SHARING_PROCESSORS + 1]; /* by number of users; [0] is unused */
};

/* NULL and *error (BT_MEMORY). */
struct sharing *sharing_new(const struct sharing_settings *settings, struct bt_error *error);
void sharing_free(struct sharing *sharing);

/* Counts the records' references. 0, or BT_MEMORY if the lines exceed memory_max. */
int sharing_put(struct sharing *sharing, const struct batch *batch, struct bt_error *error);

/* Sums up the counts; call once, at the end. Valid until sharing_free. NULL and *error without
 * memory. */
const struct sharing_counts *sharing_finish(struct sharing *sharing, struct bt_error *error);

#endif
