/* Puts the references of a program into a ring, as messages (exec_messages.h). */
#ifndef CAPTURE_PROGRAM_EXEC_SENDER_H
#define CAPTURE_PROGRAM_EXEC_SENDER_H

#include "capture/exec/trace/trace_expand.h"
#include "capture/program/exec_messages.h"
#include "capture/program/message_ring.h"

/* One ring's producer. */
struct exec_sender {
    struct message_ring *ring; /* NULL: no ring yet */
    message_ring_taken_function *taken;
    const void *context; /* passed to taken() */
    unsigned flushes;    /* code cache flushes up to the last block description */
    uint32_t described;  /* number of blocks described since */
};

/* Marks of the records to be put. There is one to begin a part, and a fetch for an event. */
struct exec_marks {
    bool begins_part; /* with the first record */
    bool has_events;  /* records, not entries: their attributes may have events */
    uint8_t event;    /* entries, not records: enum record_event of the first fetch */
};

/* Puts records. 0, or BT_CLOSED: the consumer is gone. */
int exec_sender_records(struct exec_sender *sender, const struct record *records, size_t count,
                        const struct exec_marks *marks);

/* Puts `count` entries of complete executions, of the expander's current thread, and the
 * descriptions of the cache's new blocks. The same results. */
int exec_sender_entries(struct exec_sender *sender, const struct trace_expander *expander,
                        const uint32_t *entries, size_t count, const struct exec_marks *marks);

#endif
