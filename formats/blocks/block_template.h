/*
 * A template: the records of one execution of a block of code, and what changes from one execution
 * to the next.
 */
#ifndef FORMATS_BLOCKS_BLOCK_TEMPLATE_H
#define FORMATS_BLOCKS_BLOCK_TEMPLATE_H

#include "formats/record/record.h"

#define BLOCK_TEMPLATE_RECORDS_MAX 120u

/* A record of a template whose address changes. */
struct block_reference {
    uint8_t record;  /* its number in the template */
    uint8_t leader;  /* number of a reference of the template; its own number: it is a leader */
    uint32_t place;  /* of a leader: number of its place, which is that of its instruction */
    uint64_t offset; /* of a follower: its address minus that of its leader */
};

struct block_template {
    struct record *records; /* of processor 0; addresses of references have no meaning */
    struct block_reference *references; /* by record */
    unsigned record_count, reference_count;
    uint64_t time; /* only in executions: the sum of the times of its records */
};

#endif
