/* Standard input, output and error, where a program was started without them. */
#ifndef FORMATS_BASE_STANDARD_STREAMS_H
#define FORMATS_BASE_STANDARD_STREAMS_H

/*
 * Keeps the descriptors 0, 1 and 2 from what is opened later: else a file takes the place of a
 * closed stream, and what is printed goes into the file. Reading and writing those that were closed
 * fails with EBADF as before. To be called first of all. 0, or -1 with errno.
 */
int standard_streams_keep(void);

/*
 * Closes what the former has opened in the place of standard input and output: a program that runs
 * in the calling process from now on finds them closed, as it would by itself. Standard error
 * stays: a message of ours would go into whatever took its place.
 */
void standard_streams_let_go(void);

#endif
