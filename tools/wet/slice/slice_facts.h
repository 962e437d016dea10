/*
 * What a second pass over a trace finds out about instances that are in a slice: their values, and
 * the dependences between them.
 */
#ifndef TOOLS_WET_SLICE_SLICE_FACTS_H
#define TOOLS_WET_SLICE_SLICE_FACTS_H

#include "tools/wet/slice/slice_rows.h"

#define SLICE_VALUE_BYTES 64u

/* The value of an instance. */
struct slice_value {
    struct wet_instance instance;     /* key */
    uint64_t number;                  /* instructions executed before it */
    uint8_t size;                     /* 0: it has none */
    uint8_t bytes[SLICE_VALUE_BYTES]; /* the lowest first */
};

/* Zeroed is empty. */
struct slice_values {
    struct hash_index index;
    struct slice_value *values;
    size_t count, capacity;
};

void slice_values_clear(struct slice_values *values);

/* Adds an instance whose value is wanted. 0 or BT_MEMORY. */
int slice_values_want(struct slice_values *values, struct wet_instance instance);
/* NULL: it was not wanted. */
struct slice_value *slice_values_find(const struct slice_values *values,
                                      struct wet_instance instance);

/* Reads the values of the wanted instances. 0, BT_MEMORY or BT_DATA. */
int slice_values_read(struct slice_values *values, struct wet_trace *trace, struct bt_error *error);

/* Dependences between two rows. */
struct slice_edge {
    uint32_t from, to; /* rows: `from` depends on `to` */
    uint8_t kind;      /* enum slice_kind */
    uint64_t count;
};

/* Zeroed is empty. */
struct slice_edges {
    struct hash_index index;
    struct slice_edge *edges; /* after reading: by from, to, kind */
    size_t count, capacity;
};

void slice_edges_clear(struct slice_edges *edges);

/* Counts the dependences between the members of a slice. forms: NULL, or plain ones; data: without
 * control. 0, BT_MEMORY or BT_DATA. */
int slice_edges_read(struct slice_edges *edges, struct wet_trace *trace,
                     const struct slice_rows *rows, const struct slice_set *members,
                     const struct slice_form *forms, bool data, struct bt_error *error);

#endif
