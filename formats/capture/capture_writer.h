/*
 * Writes one capture file, member by member, in the caller's thread. After any call the file is
 * valid up to its last whole member. The capture pipeline compresses elsewhere and passes whole
 * members.
 */
#ifndef FORMATS_CAPTURE_CAPTURE_WRITER_H
#define FORMATS_CAPTURE_CAPTURE_WRITER_H

#include "formats/capture/capture_file.h"

struct capture_writer;

/*
 * Starts a file on fd (not closed by the writer) with a header member. NULL and *error on failure.
 * name is the file's name in errors and must outlive the writer. info->version is the version of
 * all members that follow.
 */
struct capture_writer *capture_writer_new(int fd, const char *name, const struct capture_info *info,
                                          struct bt_error *error);

/* Writes all size bytes to the file; *done is the number written, also on failure. 0, or -1 with
 * errno; ETIMEDOUT: the reader of a pipe does not read. */
typedef int capture_write_function(void *context, int file, const void *bytes, size_t size,
                                   size_t *done);

/* capture_writer_new that writes by write instead of file_write. context outlives the writer. */
struct capture_writer *capture_writer_new_by(int fd, const char *name,
                                             const struct capture_info *info,
                                             capture_write_function *write, void *context,
                                             struct bt_error *error);

/*
 * Appends a whole data member that holds batch. On failure the file is truncated to its last whole
 * member, and the batch counts as not written. If it cannot be truncated, later calls fail, because
 * readers would lose the members after a torn one. 0, BT_FULL, BT_CLOSED (a pipe) or BT_IO.
 */
int capture_writer_put(struct capture_writer *writer, const uint8_t *member, size_t size,
                       const struct batch *batch, struct bt_error *error);

/*
 * Appends the closing member. The writer fills in totals->file_records, file_lost (added to losses
 * already there) and end_index; the caller sets the other fields. 0, BT_FULL or BT_IO.
 */
int capture_writer_close(struct capture_writer *writer, struct capture_totals *totals,
                         struct bt_error *error);

/* Bytes in the file now. */
uint64_t capture_writer_bytes(const struct capture_writer *writer);
uint64_t capture_writer_records(const struct capture_writer *writer);
void capture_writer_free(struct capture_writer *writer);

#endif
