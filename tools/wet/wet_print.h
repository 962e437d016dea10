/*
 * Prints a WET file as comprehensive text (formats/wet/wet_text.h).
 */
#ifndef TOOLS_WET_WET_PRINT_H
#define TOOLS_WET_WET_PRINT_H

#include "formats/base/named_fields.h"
#include "formats/text/text_writer.h"
#include "tools/wet/replay/wet_replay.h"

#define WET_PRINT_MEMORY ((size_t)256 << 20)

struct NAMED_FIELDS wet_print_settings {
    /* For lines in memory, in bytes. If they need more, the file is replayed several times, each
     * time for other instructions; those of one instruction are always in memory. */
    size_t memory;
    /* Called between chunks with an offset in the file. May be NULL. */
    void (*progress)(void *context, uint64_t done);
    void *context;
};

/* What was printed. */
struct wet_printed {
    uint64_t instructions, passes;
    struct bt_error damage; /* code BT_DATA: the trace is damaged, and ends before that for us */
};

/* Prints the trace. 0; or BT_MEMORY, BT_IO, or an error of text_writer_put(). A trace that is
 * damaged is printed up to there. */
int wet_print(struct wet_trace *trace, struct text_writer *out,
              const struct wet_print_settings *settings, struct wet_printed *printed,
              struct bt_error *error);

#endif
