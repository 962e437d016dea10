/* Standard input, output and error, as a program may be started: without them, or non-blocking. */
#ifndef FORMATS_BASE_STANDARD_STREAMS_H
#define FORMATS_BASE_STANDARD_STREAMS_H

#include "formats/base/error.h"

/*
 * Keeps the descriptors 0, 1 and 2 from what is opened later: else a file takes the place of a
 * closed stream, and what is printed goes into the file. Reading and writing those that were closed
 * fails with EBADF as before. To be called first of all. 0, or -1 with errno.
 */
int standard_streams_keep(void);

/*
 * From now on stdout and stderr wait until they can write. Other programs may have made what they
 * write to non-blocking, which stdio takes for a failure: it drops what it has. They have no
 * fileno. 0, or -1 with errno.
 */
int standard_streams_wait(void);

/*
 * At the end of a program: whether all that was printed to stdout was written. A reader that went
 * away wanted no more, and is no failure. 0, or BT_FULL or BT_IO with a sentence.
 */
int standard_streams_finish(struct bt_error *error);

/*
 * Closes what standard_streams_keep has opened in the place of standard input and output: a program
 * that runs in the calling process from now on finds them closed, as it would by itself. Standard
 * error stays: a message of ours would go into whatever took its place.
 */
void standard_streams_let_go(void);

#endif
