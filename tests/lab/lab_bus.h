/*
 * The bus of the laboratory: request i of a session is a function of i alone, so that whoever finds
 * a record and its index in a file knows what it must be.
 */
#ifndef TESTS_LAB_LAB_BUS_H
#define TESTS_LAB_LAB_BUS_H

#include "firmware/bus.h"
#include "formats/record/record.h"

struct board;

#define LAB_BUS_CLOCK_HZ UINT64_C(100000000)

/*
 * Request number index of a session, but for its time; *tick gets when it is on the bus, in ticks
 * since the board was armed.
 */
struct record lab_bus_request(uint64_t index, uint64_t *tick);

/* The same with the time since request index - 1: the record as the firmware makes it where that
 * one was kept. */
struct record lab_bus_record(uint64_t index);

struct lab_bus {
    const struct board *board;
    double rate;       /* requests a second; 0: a quiet bus */
    uint64_t requests; /* a session has so many, then the bus has ended; UINT64_MAX: no end */
    uint32_t session;  /* the board's, when it was looked at last */
    uint64_t sent;     /* in this session */
    uint64_t base;     /* the clock when the session began */
    uint64_t tick;     /* the clock now: that of the last request */
    double owed;       /* requests that are due, and part of one */
    int64_t looked_ns; /* when that was found */
};

/* A quiet bus without end. */
void lab_bus_init(struct lab_bus *bus, const struct board *board);

/* Real time counts from now on with the new rate. */
void lab_bus_set_rate(struct lab_bus *bus, double rate);

/* The bus as the board sees it. It is paced by real time and does not wait; but where it was not
 * asked for 20 ms it goes on later instead of making up for it at once. */
struct bus_front lab_bus_front(struct lab_bus *bus);

#endif
