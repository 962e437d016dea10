/*
 * The archive levels of column captures: each record is predicted from those before it, and only
 * what the predictions leave open is coded, nibble by nibble (doc/compression.md).
 *
 *   RECORD_MODEL_NIBBLES  one context for each nibble, adaptive frequencies (nibble_coder.h)
 *   RECORD_MODEL_FEW      two to six contexts, mixed (context_mixer.h): smaller, and much slower
 *   RECORD_MODEL_MANY     six to ten: smaller still, and half as fast
 *
 * The content starts with the method, one byte. It depends only on the records.
 */
#ifndef FORMATS_COLUMNS_RECORD_MODEL_H
#define FORMATS_COLUMNS_RECORD_MODEL_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stddef.h>
#include <stdint.h>

/* The first byte of the content. */
enum record_model_method {
    RECORD_MODEL_STORED = 0, /* the records as they are: nothing smaller was found */
    RECORD_MODEL_NIBBLES = 2,
    RECORD_MODEL_MANY = 3,
    RECORD_MODEL_FEW = 4
};

#define RECORD_MODEL_MOST ((uint32_t)1 << 20) /* records */

/* No byte of code holds as many: a record has three nibbles or more, each of which costs at least
 * 0.0019 bits with the surest models of any method. */
#define RECORD_MODEL_RATIO_MAX 2048u

struct record_model;

/*
 * A model of members of up to `most` records, at most RECORD_MODEL_MOST; NULL without memory. What
 * mixing needs is allocated at its first use. Free with record_model_free. One thread at a time.
 */
struct record_model *record_model_new(size_t most);
void record_model_free(struct record_model *model);

/* The bytes that a model takes, for a method. */
size_t record_model_memory(enum record_model_method method, size_t most);

/* The most bytes that count records take. */
size_t record_model_bound(size_t count);

/*
 * Encodes count records (count <= most) into out, which has room for record_model_bound(count)
 * bytes, and sets *size. 0 or BT_MEMORY.
 */
int record_model_encode(struct record_model *model, enum record_model_method method,
                        const struct record *records, size_t count, uint8_t *out, size_t *size,
                        struct bt_error *error);

/* Decodes exactly count records (count <= most). Fails with BT_DATA if the bytes are not what
 * record_model_encode wrote, as far as that can be seen; BT_MEMORY. */
int record_model_decode(struct record_model *model, const uint8_t *bytes, size_t size,
                        struct record *records, size_t count, struct bt_error *error);

#endif
