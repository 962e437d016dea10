/*
 * Threads that decompress the next data members of a capture file ahead of its reader. What the
 * reader cannot take from them, it decompresses itself: damage is found and reported by the reader
 * alone.
 */
#ifndef FORMATS_CAPTURE_DECODE_AHEAD_H
#define FORMATS_CAPTURE_DECODE_AHEAD_H

#include "formats/capture/capture_file.h"
#include "formats/capture/trace_input.h"

struct decode_ahead;

/* Starts as many of `threads` threads as the system allows. NULL: not one, or no memory. */
struct decode_ahead *decode_ahead_new(unsigned threads);
void decode_ahead_free(struct decode_ahead *ahead);

/*
 * Offers the data members that follow the first `from` bytes of the input, as far as they are
 * large enough to pay and there is room for them; reads ahead for that, of a pipe what it holds.
 * Invalidates trace_input_bytes().
 */
void decode_ahead_offer(struct decode_ahead *ahead, struct trace_input *input, size_t from);

/* Decompresses members offered later to executions where capture_has_executions() says so, or, as
 * at first, all to records. */
void decode_ahead_by_blocks(struct decode_ahead *ahead, bool by_blocks);

/*
 * Takes the member at offset, which has been checked as by capture_get_records: puts its
 * records into the batch, whose buffer may be exchanged if it is exchangeable, and changes nothing
 * else of it; or moves its executions if executions is not NULL. Members before it are forgotten.
 * While a thread is busy with the member, decompresses others with decoder. False: the member was
 * not offered, is not begun, is damaged, or is in the other form.
 */
bool decode_ahead_take(struct decode_ahead *ahead, uint64_t offset, struct record_decoder *decoder,
                       struct batch *batch, struct block_executions *executions);

/* Forgets all members, because the reader continues elsewhere. */
void decode_ahead_forget(struct decode_ahead *ahead);

#endif
