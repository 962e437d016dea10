/* Adds what readers have read to dependences, after checking it. */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_JUDGE_INTERNAL_H
#define FORMATS_DEPENDENCES_DEPENDENCES_JUDGE_INTERNAL_H

#include "formats/dependences/dependences.h"
#include "formats/dependences/dependences_rules.h"

#define DEPENDENCES_WHERE_BYTES 64u

/* A row of a file. */
struct NAMED_FIELDS dependences_read_row {
    struct dependence row;
    unsigned distances; /* number of its five columns of distances that have a value */
    double mean;
};

struct NAMED_FIELDS dependences_judge {
    struct dependences *dependences;
    struct dependences_failures *failures;
    unsigned kinds;      /* traced */
    uint64_t last_count; /* of the row before */
};

/* Checks a place, before it is added. */
void dependences_judge_place(struct dependences_judge *judge, const char *where,
                             const struct dependence_place *place);
void dependences_judge_loop(struct dependences_judge *judge, const char *where,
                            const struct dependence_loop *loop);
void dependences_judge_totals(struct dependences_judge *judge);

/* Checks a row whose places and loop exist, and adds it. 0, or BT_MEMORY. */
int dependences_judge_row(struct dependences_judge *judge, const char *where,
                          const struct dependences_read_row *read, struct bt_error *error);

#endif
