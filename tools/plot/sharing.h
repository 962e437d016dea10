/*
 * Which lines of memory which processors use: how many any two of them have in common, and how many
 * lines have how many users. A reference that crosses lines is one of each of them.
 */
#ifndef TOOLS_PLOT_SHARING_H
#define TOOLS_PLOT_SHARING_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/record/batch.h"
#include "formats/record/filter.h"

#define SHARING_PROCESSORS 256u
#define SHARING_LINE_MIN   4u
#define SHARING_LINE_MAX   (1u << 20)

struct sharing;

struct sharing_settings {
    uint32_t line;               /* bytes, a power of 2 from SHARING_LINE_MIN to SHARING_LINE_MAX */
    uint64_t memory_max;         /* bytes: some 16 to 48 for each line and processor that uses it */
    const struct filter *filter; /* NULL: none; must live on */
};

/* Lines with the same number of users. */
struct NAMED_FIELDS sharing_users {
    uint64_t lines;
    uint64_t written;    /* of those: by anyone */
    uint64_t references; /* to them */
};

struct sharing_counts {
    uint64_t requests;   /* that were references to memory, */
    uint64_t references; /* which are so many of lines */
    uint64_t filtered;   /* requests that did not pass the filter */
    uint64_t dropped;    /* requests that are no reference: I/O, replies, special cycles, unknown */
    unsigned processors; /* that used a line: */
    uint8_t processor[SHARING_PROCESSORS]; /* their ids, ascending */
    /* both [a * processors + b], by place in processor[]: */
    uint64_t *lines;      /* that both used; those that a used where a = b */
    uint64_t *referenced; /* references of a to lines that b used as well */
    struct sharing_users users[SHARING_PROCESSORS + 1]; /* by number of users; [0] is empty */
};

/* NULL and *error (BT_MEMORY). */
struct sharing *sharing_new(const struct sharing_settings *settings, struct bt_error *error);
void sharing_free(struct sharing *sharing);

/* Counts the records' references. 0 or BT_MEMORY: the lines do not fit the memory allowed. */
int sharing_put(struct sharing *sharing, const struct record *records, size_t count,
                struct bt_error *error);

/* Sums up, once and at the end: NULL and *error without memory. Valid until sharing_free. */
const struct sharing_counts *sharing_finish(struct sharing *sharing, struct bt_error *error);

#endif
