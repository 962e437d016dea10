/* Counts of data that a format cannot hold, for a report at the end. */
#ifndef FORMATS_FOREIGN_FOREIGN_LOSS_H
#define FORMATS_FOREIGN_FOREIGN_LOSS_H

#include "formats/record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum foreign_reason {
    FOREIGN_IO,         /* requests left out: I/O, */
    FOREIGN_REPLY,      /* deferred replies, */
    FOREIGN_SPECIAL,    /* interrupts and special cycles, */
    FOREIGN_UNKNOWN,    /* types that byutr.h does not define, */
    FOREIGN_PROCESSOR,  /* of other processors than the one, */
    FOREIGN_NO_FETCH,   /* data before the first fetch, */
    FOREIGN_ADDRESS,    /* an address that means "none" */
    FOREIGN_INVALIDATE, /* requests changed: reads with intent to write turned into reads, */
    FOREIGN_BETWEEN,    /* times since the previous request saturated, */
    FOREIGN_TIME,       /* times changed, */
    FOREIGN_ATTRIBUTE,  /* attributes changed, */
    FOREIGN_LOSS_MARK,  /* losses that are no longer marked, */
    FOREIGN_CHOSEN,     /* chosen gaps that are no longer marked, */
    FOREIGN_EVENT,      /* signals and threads that are no longer marked */
    FOREIGN_CODE,       /* fetches of unknown code, */
    FOREIGN_REGISTERS,  /* instructions with more registers than the format has */
    FOREIGN_REASONS
};

struct foreign_loss {
    uint64_t taken;                  /* records put */
    uint64_t written;                /* records that are in the file in some form */
    uint64_t count[FOREIGN_REASONS]; /* number of requests, losses or gaps */
};

/* A sentence about a reason with a count ("I/O requests left out: 1,234 (din cannot represent
 * them)"); text has room for FOREIGN_LOSS_BYTES. Returns text, or NULL if the count is 0. */
#define FOREIGN_LOSS_BYTES 200u
char *foreign_loss_sentence(char *text, const struct foreign_loss *loss, enum foreign_reason reason,
                            const char *format);

/* The reason why a request of that type is left out by a format that has fetches, reads and writes
 * of memory only: FOREIGN_REASONS for one of those. */
enum foreign_reason foreign_reason_of(uint8_t type);

/* Whether such a format leaves out a request of that type, which is then counted. */
static inline bool foreign_leaves_out(uint8_t type, struct foreign_loss *loss)
{
    if (__builtin_expect(type <= REQUEST_MEMWRITE, 1))
        return false;
    loss->count[foreign_reason_of(type)]++;
    return true;
}

#endif
