/* Random captures of several files, with all that blocks can hold, and their contents one record at
 * a time: for tests that compare what becomes of them with a slow twin. */
#ifndef TESTS_SUPPORT_RANDOM_CAPTURE_H
#define TESTS_SUPPORT_RANDOM_CAPTURE_H

#include "formats/record/batch.h"

#define RANDOM_CAPTURE_FILES 3
#define TRACE_ITEMS_MAX      4096u

/* A record, with what is before it; or what is in a block without records. */
struct trace_item {
    bool is_record;
    struct record record; /* without marks */
    uint64_t index, tick;
    struct loss lost;
    struct gap gap;
    uint8_t event;
};

struct trace_items {
    struct trace_item items[TRACE_ITEMS_MAX];
    size_t count;
    struct loss after; /* after the last item, in the closing member only */
};

/*
 * Writes the files PREFIX_1.byu.gz and so on, at most RANDOM_CAPTURE_FILES, of versions 1 and 2 in
 * turns, and fills *items.
 * Captures of equal start have one clock. program: chosen gaps and events. Returns the number of
 * files; aborts if they cannot be written.
 */
int random_capture_write(struct trace_items *items, const char *prefix, uint64_t seed,
                         bool program);

/* Reads a capture of one file. */
void trace_items_read(struct trace_items *items, const char *path);

/* Adds what is in items without records to the next record, as a reader meets it; the rest becomes
 * `after`. Items without records vanish. */
void trace_items_join(struct trace_items *items);

/* Whether joined items are the same; prints the first difference. */
bool trace_items_equal(const struct trace_items *got, const struct trace_items *wanted);

#endif
