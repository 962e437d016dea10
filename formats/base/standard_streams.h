/* Standard input, output and error that the caller may have closed or made non-blocking. */
#ifndef FORMATS_BASE_STANDARD_STREAMS_H
#define FORMATS_BASE_STANDARD_STREAMS_H

#include "formats/base/error.h"

/*
 * Reserves the descriptors 0, 1 and 2: otherwise a file opened later takes the number of a closed
 * stream, and output goes into that file. Reading and writing the closed streams fails with EBADF
 * as before. Must be called first. 0, or -1 with errno.
 */
int standard_streams_keep(void);

/*
 * Makes stdout and stderr wait until they can write. Another program may have made their files
 * non-blocking, which stdio treats as a failure: it drops its buffer. Afterwards they have no
 * fileno. 0, or -1 with errno.
 */
int standard_streams_wait(void);

/*
 * At the end of a program: whether all output to stdout was written. A reader that closes the pipe
 * is not a failure. 0, or BT_FULL or BT_IO with a sentence.
 */
int standard_streams_finish(struct bt_error *error);

/*
 * Closes the descriptors that standard_streams_keep() reserved for standard input and output, so
 * that a program executed in the calling process finds them closed. Standard error stays reserved:
 * otherwise a message of bustap could go into a file of the program.
 */
void standard_streams_let_go(void);

#endif
