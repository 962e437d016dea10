/* For a model that is built without verilator. */
#include "tests/lab/lab_gateware.h"

struct lab_gateware *lab_gateware_new(struct lab_bus *bus, const struct board_link *link)
{
    (void)bus;
    (void)link;
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
