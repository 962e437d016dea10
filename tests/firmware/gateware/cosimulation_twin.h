/* The board's C code, which gets what the gateware got. */
#ifndef TESTS_COSIMULATION_TWIN_H
#define TESTS_COSIMULATION_TWIN_H

#include "firmware/board_state.h"
#include "tests/firmware/gateware/cosimulation.h"

/* Its bus never waits, and its link only while link_stops. */
struct twin {
    struct test *test; /* its frames go to test->twin */
    struct board board;
    struct board_frame frames[FRAMES];
    size_t next_phase, received;
    size_t phase_limit; /* of the phases that it may take */
    bool link_stops;
    size_t limit; /* of the commands' bytes that it may receive */
    uint64_t now, microseconds;
};

/* A board after power-up, which must stay in its place. */
void twin_init(struct twin *twin, struct test *test, const struct wire_identity *identity);

#endif
