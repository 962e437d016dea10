#include "tools/dcfg/graph/bus_returns.h"

void returns_init(struct bus_returns *returns)
{
    returns->free_cell = RETURNS_UNKNOWN;
    returns->count = 0;
}

void returns_release(struct bus_returns *returns, uint32_t cell)
{
    while (cell != RETURNS_UNKNOWN && --returns->cells[cell].references == 0) {
        uint32_t below = returns->cells[cell].below;
        if (returns->cells[cell].fork)
            returns_release(returns, returns->cells[cell].other);
        returns->cells[cell].below = returns->free_cell;
        returns->free_cell = cell;
        cell = below;
    }
}

/* A cell; RETURNS_UNKNOWN without room: then all is unknown. */
static uint32_t new_cell(struct bus_returns *returns)
{
    uint32_t cell = returns->free_cell;
    if (cell != RETURNS_UNKNOWN)
        returns->free_cell = returns->cells[cell].below;
    else if (returns->count < RETURNS_CELLS)
        cell = returns->count++;
    return cell;
}

uint32_t returns_push(struct bus_returns *returns, uint32_t stack, uint32_t address)
{
    uint32_t cell = new_cell(returns);
    if (cell != RETURNS_UNKNOWN)
        returns->cells[cell] = (struct return_cell){
            .address = address, .below = returns_hold(returns, stack), .references = 1};
    return cell;
}

unsigned returns_tops(const struct bus_returns *returns, uint32_t stack,
                      uint32_t tops[RETURNS_TOPS], unsigned count)
{
    while (stack != RETURNS_UNKNOWN && returns->cells[stack].fork) {
        count = returns_tops(returns, returns->cells[stack].other, tops, count);
        stack = returns->cells[stack].below;
    }
    if (count < RETURNS_TOPS)
        tops[count++] = stack;
    return count;
}

static bool stack_equal(const struct bus_returns *returns, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a == RETURNS_UNKNOWN || b == RETURNS_UNKNOWN || returns->cells[a].fork ||
            returns->cells[b].fork || returns->cells[a].address != returns->cells[b].address)
            return false;
        a = returns->cells[a].below;
        b = returns->cells[b].below;
    }
    return true;
}

/* Whether all that a stack may be, another one may be. */
static bool stack_includes(const struct bus_returns *returns, uint32_t stack, uint32_t part)
{
    uint32_t tops[RETURNS_TOPS];
    unsigned count = returns_tops(returns, stack, tops, 0);
    for (unsigned i = 0; i < count; i++)
        if (stack_equal(returns, tops[i], part))
            return true;
    return stack_equal(returns, stack, part);
}

uint32_t returns_either(struct bus_returns *returns, uint32_t a, uint32_t b)
{
    uint32_t tops[RETURNS_TOPS];
    if (stack_includes(returns, a, b)) {
        returns_release(returns, b);
        return a;
    }
    if (stack_includes(returns, b, a)) {
        returns_release(returns, a);
        return b;
    }
    bool room =
        returns_tops(returns, a, tops, 0) + returns_tops(returns, b, tops, 0) < RETURNS_TOPS;
    uint32_t cell = room ? new_cell(returns) : RETURNS_UNKNOWN;
    if (cell != RETURNS_UNKNOWN) {
        returns->cells[cell] =
            (struct return_cell){.below = a, .other = b, .fork = true, .references = 1};
    } else {
        returns_release(returns, a);
        returns_release(returns, b);
    }
    return cell;
}
