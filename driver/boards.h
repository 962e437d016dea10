/*
 * Board specifications, as users write them, and the streams that they open:
 *
 *   virtual:replay=FILE[,loop][,requests=N][,rate=max|real|N][,clock=HZ][,queue=FRAMES][,link=BYTES]
 *   virtual:smp=N[,seed=S][,requests=N][,rate=max|real|N][,clock=HZ][,queue=FRAMES][,link=BYTES]
 *   ftdi[:option[,option...]]    options: serial=S, description=D, vid=V, pid=P, channel=A|B
 *   program:COMMAND              a program and its arguments, separated by blanks
 *
 * Numbers are those of quantity_count; HZ, BYTES and a rate's N are per second. FILE holds no
 * comma.
 */
#ifndef DRIVER_BOARDS_H
#define DRIVER_BOARDS_H

#include "driver/stream.h"

/* Checks a specification without opening anything: 0, or BT_USAGE with what is
 * allowed. */
int boards_check(const char *specification, struct bt_error *error);

/* Opens the stream a specification names. 0 or a negative code; *stream is closed with
 * stream_close. */
int boards_open(struct stream **stream, const char *specification, struct bt_error *error);

/* A board that is plugged in. */
struct board_listing {
    char specification[128]; /* opens this board */
    char description[160];   /* manufacturer, product, serial, speed */
};

/*
 * Lists the FTDI boards that are plugged in, including those with private ids whose descriptors are
 * an FTDI chip's. Allocates *listings (the caller frees it) and sets *count.
 * 0 or a negative code; no boards is not an error.
 */
int boards_list(struct board_listing **listings, size_t *count, struct bt_error *error);

#endif
