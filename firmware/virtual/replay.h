/* Puts a trace on the bus, from a file or a source: each record becomes a request phase. */
#ifndef FIRMWARE_VIRTUAL_REPLAY_H
#define FIRMWARE_VIRTUAL_REPLAY_H

#include "firmware/bus.h"
#include "formats/record/source.h"

struct replay;

/*
 * Opens the capture or the BYU records at path; loop restarts it at its end. Waits for a pipe's
 * first record. NULL and *error on failure, BT_IO if there are no records.
 */
struct replay *replay_new(const char *path, bool loop, struct bt_error *error);
/* The same from a source, which the replay owns, also on failure. */
struct replay *replay_new_source(struct source *source, struct bt_error *error);
void replay_free(struct replay *replay);

/*
 * The next phases, at most capacity. Their ticks are sums of the records' times. Returns their
 * number; 0 at the end of the trace, or after the last record that could be replayed
 * (replay_failure), or, after some milliseconds, if a source has no records now.
 */
size_t replay_fill(struct replay *replay, struct bus_phase *phases, size_t capacity);

/* Whether there will never be another phase. */
bool replay_ended(const struct replay *replay);

/* Why the replay ended early: 0, or a code and the sentence. Records are numbered from 0. */
int replay_failure(const struct replay *replay, struct bt_error *error);

/* Ticks per second of the trace; 0 if unknown. */
uint64_t replay_clock_hz(const struct replay *replay);

#endif
