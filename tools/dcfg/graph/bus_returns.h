/*
 * Return addresses of the executions that a decoder follows, the last one first. Stacks share their
 * cells: a graph, because an execution that may come from two places has the addresses of both.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_RETURNS_H
#define TOOLS_DCFG_GRAPH_BUS_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RETURNS_UNKNOWN UINT32_MAX /* a stack of which nothing is known */
#define RETURNS_TOPS    8u
#define RETURNS_CELLS   65536u

struct return_cell {
    uint32_t address;
    uint32_t below; /* RETURNS_UNKNOWN: unknown */
    uint32_t other; /* of a fork, which has no address: it is either this or `below` */
    uint32_t references;
    bool fork;
};

struct bus_returns {
    struct return_cell cells[RETURNS_CELLS];
    uint32_t free_cell;
    uint32_t count;
};

void returns_init(struct bus_returns *returns);

/* Holds a stack once more, and returns it. */
static inline uint32_t returns_hold(struct bus_returns *returns, uint32_t stack)
{
    if (stack != RETURNS_UNKNOWN)
        returns->cells[stack].references++;
    return stack;
}

void returns_release(struct bus_returns *returns, uint32_t stack);

/* The only cell that may be on top; NULL: several, or unknown. */
static inline const struct return_cell *returns_top(const struct bus_returns *returns,
                                                    uint32_t stack)
{
    return stack == RETURNS_UNKNOWN || returns->cells[stack].fork ? NULL : &returns->cells[stack];
}

/* The stack with an address on top, held; unknown if there is no room. */
uint32_t returns_push(struct bus_returns *returns, uint32_t stack, uint32_t address);

/* Adds the cells that may be on top to tops, up to RETURNS_TOPS, and returns their number. */
unsigned returns_tops(const struct bus_returns *returns, uint32_t stack,
                      uint32_t tops[RETURNS_TOPS], unsigned count);

/* The stack that is either of two; takes both holds. */
uint32_t returns_either(struct bus_returns *returns, uint32_t a, uint32_t b);

#endif
