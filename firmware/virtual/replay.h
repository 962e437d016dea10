/* A trace put on the bus, saved or just being made: each record becomes a request phase. */
#ifndef FIRMWARE_VIRTUAL_REPLAY_H
#define FIRMWARE_VIRTUAL_REPLAY_H

#include "firmware/bus.h"
#include "formats/record/source.h"

struct replay;

/*
 * Opens the capture or the BYU records at path; loop starts it again at its end. A pipe is waited
 * for until its first record is there. NULL and *error on failure, BT_IO where there are no
 * records.
 */
struct replay *replay_new(const char *path, bool loop, struct bt_error *error);
/* The same of what a source delivers, which is taken over, also on failure. */
struct replay *replay_new_source(struct source *source, struct bt_error *error);
void replay_free(struct replay *replay);

/*
 * The next phases, at most capacity. Their ticks are sums of the records' times. 0 at the end: of
 * the trace, or behind the last record that could be replayed (replay_failure tells); or where a
 * source has nothing just now, after some milliseconds.
 */
size_t replay_fill(struct replay *replay, struct bus_phase *phases, size_t capacity);

/* Whether there will never be another phase. */
bool replay_ended(const struct replay *replay);

/* Why the replay ended early: 0, or a code and the sentence. Records are numbered from 0. */
int replay_failure(const struct replay *replay, struct bt_error *error);

/* Ticks a second, as the trace says; 0 where it does not. */
uint64_t replay_clock_hz(const struct replay *replay);

#endif
