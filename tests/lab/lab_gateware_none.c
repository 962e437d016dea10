/* For a model that is built without verilator. */
#include "tests/lab/lab_gateware.h"

struct lab_gateware *lab_gateware_new(struct lab_bus *bus, const struct board_link *link,
                                      double link_bytes)
{
    (void)bus;
    (void)link;
    (void)link_bytes;
    return NULL;
}

void lab_gateware_free(struct lab_gateware *self)
{
    (void)self;
}

bool lab_gateware_step(struct lab_gateware *self, bool clocked)
{
    (void)self;
    (void)clocked;
    return false;
}

bool lab_gateware_armed(const struct lab_gateware *self)
{
    (void)self;
    return false;
}

uint64_t lab_gateware_stalled(const struct lab_gateware *self)
{
    (void)self;
    return 0;
}
