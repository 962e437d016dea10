/*
 * A capture's status as one JSON object: what `bustap capture --json` prints and bustapd answers.
 *
 * Keys: state ("running", "ended", "failed"), end (capture_end_name; null while running), records,
 * lost {bus, link, queue, disk, total}, complete (nothing failed, nothing was lost, and at the end
 * the source's own count is known and agrees), files, raw_bytes, compressed_bytes, ratio,
 * elapsed_s, records_per_s, queue_fill, queue_size, after_stop, damaged, gaps (times that the board
 * was disconnected or silent), gap_s (their total, of those that have ended), chosen_gaps (of
 * programs: places where instructions were left out on purpose), of programs quantum (instructions
 * of a thread's turn) and switches (how often the turn went to another thread), of a capture with a
 * trigger, a ring or a stop at a match trigger {matches, windows, outside (records in no window),
 * short_windows, stopped, stop_index and stop_tick (if stopped), snapshots (complete ones),
 * snapshot_file (of the last one, or null)}, with a command for complete files exec_on_file {run,
 * failed, skipped, waiting} (numbers of files), absent (why the board is missing, or null), filter
 * {expression, board (the part that the board applies), host (whether the host removes what the
 * board cannot exclude)} (null: no filter), source {known, seen, accepted, filtered, removed (of
 * those filtered: by the host), above_4gib, undecoded, lost_bus, stalled, stalls}, clock_hz,
 * last_tick, file (null where none is being written), error (why it failed, why the source's count
 * is not known, or the first corruption that the source reported; null if there is none).
 */
#ifndef CAPTURE_STATUS_JSON_H
#define CAPTURE_STATUS_JSON_H

#include "capture/capture.h"
#include "formats/text/json_put.h"

/* Writes the object. */
void status_json_put(struct json_put *json, const struct capture_status *status);

/* The object as text on one line, without a newline; the caller frees it. NULL and *error on
 * failure. */
char *status_json_text(const struct capture_status *status, struct bt_error *error);

/* Whether everything that the source accepted until its stop is known to be in the files; of a
 * running capture: whether nothing is missing so far. */
bool status_json_complete(const struct capture_status *status);

#endif
