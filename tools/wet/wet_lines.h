/*
 * Lines of the comprehensive text in compact form: the dependences of a port, and the values of an
 * instruction. A replay yields them by time, the text has them by instruction. Lines that continue
 * the line before in a regular way are only counted.
 */
#ifndef TOOLS_WET_WET_LINES_H
#define TOOLS_WET_WET_LINES_H

#include "formats/base/error.h"
#include "formats/wet/wet_bytes.h"
#include "formats/wet/wet_labels.h"

/* The dependences of a port. Must be zeroed before first use. */
struct wet_lines {
    struct wet_bytes bytes;
    uint64_t count;  /* of lines */
    uint64_t run;    /* regular lines after the bytes */
    uint64_t reader; /* of the last line, plus 1 */
    uint64_t writer, stride;
    uint32_t id;
};

/* Appends the lines of a range of writers. Readers must not descend. 0 or BT_MEMORY. */
int wet_lines_put(struct wet_lines *lines, uint64_t reader, const struct wet_writers *writers);
void wet_lines_clear(struct wet_lines *lines);

/* Lines of consecutive readers with the same id, whose writers have a constant distance; or (step
 * 0) lines of one reader whose writers are consecutive instances. */
struct wet_line_group {
    uint64_t reader, writer, stride;
    uint64_t count;
    uint32_t id;
    uint8_t step; /* of the reader */
};

struct wet_lines_cursor {
    const struct wet_lines *lines;
    struct wet_cursor from;
    uint64_t reader, writer, stride;
    uint32_t id;
    bool has_run; /* a run was read: a single line follows */
    bool is_at_end;
};

void wet_lines_begin(struct wet_lines_cursor *cursor, const struct wet_lines *lines);
/* False at the end. Groups are not empty. */
bool wet_lines_next(struct wet_lines_cursor *cursor, struct wet_line_group *group);

/* The values of an instruction. Must be zeroed before first use. */
struct wet_value_lines {
    struct wet_bytes bytes;
    uint64_t count, run;
    uint64_t instance; /* of the last line, plus 1 */
    uint64_t value, stride;
    bool is_unordered; /* instances do not ascend */
};

/* Appends the value of an instance, the lowest byte first; all values of an instruction have the
 * same size. 0 or BT_MEMORY. */
int wet_value_lines_put(struct wet_value_lines *lines, uint64_t instance, const uint8_t *value,
                        unsigned size);
void wet_value_lines_clear(struct wet_value_lines *lines);

/* Brings the instances in ascending order, each once; for values of at most 8 bytes. 0 or
 * BT_MEMORY. */
int wet_value_lines_sort(struct wet_value_lines *lines, unsigned size);

struct wet_values_cursor {
    const struct wet_value_lines *lines;
    struct wet_cursor from;
    uint64_t instance, value, stride, run;
    unsigned size;
    bool has_run;
    const uint8_t *bytes; /* of the value read last */
    uint8_t small[8];
};

void wet_values_cursor_begin(struct wet_values_cursor *cursor, const struct wet_value_lines *lines,
                             unsigned size);
/* The next instance; its value is cursor->bytes. False at the end. */
bool wet_values_cursor_next(struct wet_values_cursor *cursor, uint64_t *instance);

#endif
