/* What a format could not hold: counted while it is written, told at the end. */
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
    FOREIGN_UNKNOWN,    /* types that byutr.h does not have, */
    FOREIGN_PROCESSOR,  /* of other processors than the one, */
    FOREIGN_NO_FETCH,   /* data in front of the first fetch, */
    FOREIGN_ADDRESS,    /* an address that means "none" */
    FOREIGN_INVALIDATE, /* requests changed: reads with intent to write became reads, */
    FOREIGN_BETWEEN,    /* times since the request before became the largest, */
    FOREIGN_TIME,       /* times became others, */
    FOREIGN_ATTRIBUTE,  /* attributes became others, */
    FOREIGN_LOSS_MARK,  /* places where requests were lost that are not told any more, */
    FOREIGN_CHOSEN,     /* and where a program's user left instructions out */
    FOREIGN_REASONS
};

struct foreign_loss {
    uint64_t taken;                  /* records put */
    uint64_t written;                /* of those, the ones that are in the file somehow */
    uint64_t count[FOREIGN_REASONS]; /* requests, or places */
};

/* A sentence about a reason that counted something ("I/O requests left out: 1,234 (din has no such
 * thing)"); text has room for FOREIGN_LOSS_BYTES. Returns text, NULL where nothing counted. */
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
