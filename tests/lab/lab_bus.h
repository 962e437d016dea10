/*
 * The bus of the laboratory: request i of a session is a function of i alone, so that a record in a
 * file can be checked by its index.
 */
#ifndef TESTS_LAB_LAB_BUS_H
#define TESTS_LAB_LAB_BUS_H

#include "firmware/bus.h"
#include "formats/record/record.h"

struct board;

#define LAB_BUS_CLOCK_HZ UINT64_C(100000000)

/*
 * Request number index of a session, without its time; *tick receives its time on the bus, in ticks
 * since the board was armed.
 */
struct record lab_bus_request(uint64_t index, uint64_t *tick);

/* The same with the time since request index - 1: the firmware's record if request index - 1 was
 * kept. */
struct record lab_bus_record(uint64_t index);

struct lab_bus {
    const struct board *board;
    double rate;       /* requests per second; 0: a quiet bus */
    uint64_t requests; /* number in a session, after which the bus ends; UINT64_MAX: no end */
    uint32_t session;  /* the board's session at the last poll */
    uint64_t sent;     /* requests in this session */
    uint64_t base;     /* clock at the start of the session */
    uint64_t tick;     /* clock of the last request */
    double owed;       /* requests that are due, with a fraction */
    int64_t looked_ns; /* time of the last poll */
    bool stalled;      /* by the board, since stalled_ns */
    int64_t stalled_ns;
    struct bus_stalls stalls; /* those that have ended; each delays all later requests */
};

/* A quiet bus without end. */
void lab_bus_init(struct lab_bus *bus, const struct board *board);

/* Sets a new rate from now on. */
void lab_bus_set_rate(struct lab_bus *bus, double rate);

/* The bus as the board sees it: paced by real time, without waiting. Delays of more than 20 ms
 * between two polls are not caught up. While the board stalls it, its clock runs in real time. */
struct bus_front lab_bus_front(struct lab_bus *bus);

#endif
