/*
 * Reconstructs the instructions that one processor executed from the chunks that it fetched.
 *
 * The decoder keeps all executions that explain the chunks so far, as tokens. A token is where an
 * execution is and which chunk it needs next; it has the path that led there. Each chunk drops the
 * tokens that need another one; each branch of unknown outcome makes a token more. What all tokens
 * agree on is certain. Two tokens that come to the same place become one; what they did before,
 * since they parted, is not certain. Without a token that needs the chunk (an interrupt, or code
 * that is in no image), the decoder starts anew with all instructions in it.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_DECODE_H
#define TOOLS_DCFG_GRAPH_BUS_DECODE_H

#include "formats/base/error.h"
#include "formats/record/record.h"
#include "tools/common/fetch_noise.h"
#include "tools/dcfg/graph/bus_code.h"
#include "tools/dcfg/graph/bus_model.h"
#include "tools/dcfg/graph/bus_paths.h"

struct bus_decode_counts {
    uint64_t repeated;                     /* chunks equal to the previous one */
    uint64_t prefetched;                   /* chunks that were not executed */
    uint64_t noise;                        /* chunks taken for another one */
    uint64_t unexplained;                  /* chunks that no execution so far leads to */
    uint64_t noise_bits[FETCH_NOISE_BITS]; /* how often each address bit was wrong */
};

struct bus_decoder;

/* The model is copied; the code and the context outlive the decoder. NULL and *error without
 * memory. */
struct bus_decoder *bus_decoder_new(const struct bus_model *model, struct bus_code *code,
                                    bus_path_put *put, void *context, struct bt_error *error);
void bus_decoder_free(struct bus_decoder *decoder);

/* Takes a chunk with code. 0, or what put returned. */
int bus_decoder_take(struct bus_decoder *decoder, const struct record *chunk,
                     struct bt_error *error);

/* Whether a chunk that is in no image may have been prefetched, or be one in an image with wrong
 * address bits; it is then taken as well. */
bool bus_decoder_expects(const struct bus_decoder *decoder, const struct record *chunk);

/* Takes a chunk outside all images: the execution continues there and may return. 0, or the result
 * of put. */
int bus_decoder_leave(struct bus_decoder *decoder, const struct record *chunk,
                      struct bt_error *error);

/* Ends the execution, because what follows is unknown. 0, or what put returned. */
int bus_decoder_break(struct bus_decoder *decoder, struct bt_error *error);

struct bus_decode_counts bus_decoder_counts(const struct bus_decoder *decoder);

#endif
