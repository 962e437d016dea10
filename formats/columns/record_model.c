#include "formats/columns/record_model.h"

#include "formats/columns/record_fields_internal.h"

#include <stdlib.h>
#include <string.h>

#define MODELS ((size_t)1 << MODEL_BITS)

/* Loops for each use: the compiler removes from each what the others need. */
static void encode_records(struct record_model *model, enum mix mixing,
                           const struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct record record = records[i];
        if (mixing == MIX_NONE)
            code_record(model, false, MIX_NONE, &record, i);
        else if (mixing == MIX_FEW)
            code_record(model, false, MIX_FEW, &record, i);
        else
            code_record(model, false, MIX_MANY, &record, i);
    }
}

/* The decoders end with the code: what follows it would be made up. */
static void decode_nibbles(struct record_model *model, struct record *records, size_t count)
{
    for (size_t i = 0; i < count && !model->coder.damaged; i++)
        code_record(model, true, MIX_NONE, &records[i], i);
}

static void decode_few(struct record_model *model, struct record *records, size_t count)
{
    for (size_t i = 0; i < count && !context_mixer_missing(model->mixer); i++)
        code_record(model, true, MIX_FEW, &records[i], i);
}

static void decode_many(struct record_model *model, struct record *records, size_t count)
{
    for (size_t i = 0; i < count && !context_mixer_missing(model->mixer); i++)
        code_record(model, true, MIX_MANY, &records[i], i);
}

/* How a method codes. */
static enum mix method_mix(unsigned method)
{
    return method == RECORD_MODEL_FEW ? MIX_FEW : method == RECORD_MODEL_MANY ? MIX_MANY : MIX_NONE;
}

struct record_model *record_model_new(size_t most)
{
    struct record_model *model = aligned_alloc(64, sizeof *model);
    if (!model)
        return NULL;
    memset(model, 0, sizeof *model);
    model->intervals = malloc(NIBBLE_CHUNK * sizeof *model->intervals);
    if (match_history_init(&model->history, most) && model->intervals &&
        nibble_models_init(&model->nibbles, MODELS))
        return model;
    record_model_free(model);
    return NULL;
}

void record_model_free(struct record_model *model)
{
    if (!model)
        return;
    context_mixer_free(model->mixer);
    nibble_models_free(&model->nibbles);
    free(model->intervals);
    match_history_free(&model->history);
    free(model);
}

size_t record_model_memory(enum record_model_method method, size_t most)
{
    return sizeof(struct record_model) + 2 * (most + 1) + NIBBLE_CHUNK * sizeof(uint32_t) +
           MODELS * NIBBLE_MODEL_BYTES + (method_mix(method) != MIX_NONE ? CONTEXT_MIXER_BYTES : 0);
}

/* Forgets all records. Returns 0, or BT_MEMORY. */
static int begin(struct record_model *model, enum mix mixing, const struct record *past,
                 struct bt_error *error)
{
    if (mixing && !model->mixer)
        model->mixer = context_mixer_new();
    if (mixing && !model->mixer)
        return bt_fail(error, BT_MEMORY, "no memory for the model of records");
    if (!mixing)
        nibble_models_clear(&model->nibbles, MODELS);
    match_history_clear(&model->history, past);
    return 0;
}

size_t record_model_bound(size_t count)
{
    return 1 + RECORD_BYTES * count;
}

static void number_words(struct record_model *model, const struct record *records, size_t count)
{
    word_numbers_clear(&model->kind_words);
    word_numbers_clear(&model->time_words);
    for (size_t i = 0; i < count; i++) {
        word_numbers_count(&model->kind_words, kind_word(&records[i]));
        word_numbers_count(&model->time_words, records[i].time);
    }
    word_numbers_assign(&model->kind_words);
    word_numbers_assign(&model->time_words);
}

/* The mixer's memory is for so many values: the table is smaller where fewer contexts use it. */
static size_t mixed_values(enum mix mixing, size_t count)
{
    return mixing == MIX_MANY ? 32 * count : 16 * count;
}

/* Codes the records with room for capacity bytes. Returns the end of the content, NULL if it does
 * not fit. */
static uint8_t *encode(struct record_model *model, enum record_model_method method,
                       const struct record *records, size_t count, uint8_t *out, size_t capacity)
{
    const enum mix mixing = method_mix(method);
    uint8_t words[2 * WORD_NUMBERS_BYTES];
    number_words(model, records, count);
    size_t size = word_numbers_put(&model->kind_words, words);
    size += word_numbers_put(&model->time_words, words + size);
    if (capacity < 1 + size)
        return NULL;
    out[0] = (uint8_t)method;
    memcpy(out + 1, words, size);
    uint8_t *at = out + 1 + size;
    const size_t room = capacity - 1 - size;
    if (mixing) {
        context_mixer_encode_begin(model->mixer, mixed_values(mixing, count), at, room);
        encode_records(model, mixing, records, count);
        return context_mixer_encode_end(model->mixer);
    }
    nibble_encode_begin(&model->coder, model->intervals, at, room);
    encode_records(model, mixing, records, count);
    return nibble_encode_end(&model->coder);
}

int record_model_encode(struct record_model *model, enum record_model_method method,
                        const struct record *records, size_t count, uint8_t *out, size_t *size,
                        struct bt_error *error)
{
    int status = begin(model, method_mix(method), records, error);
    if (status < 0)
        return status;
    uint8_t *end = NULL;
    if (method != RECORD_MODEL_STORED)
        end = encode(model, method, records, count, out, record_model_bound(count));
    if (!end) {
        out[0] = RECORD_MODEL_STORED;
        records_put(out + 1, records, count);
        end = out + record_model_bound(count);
    }
    *size = (size_t)(end - out);
    return 0;
}

static int fail_corrupt(struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "the coded records are corrupt");
}

int record_model_decode(struct record_model *model, const uint8_t *bytes, size_t size,
                        struct record *records, size_t count, struct bt_error *error)
{
    if (size > 0 && bytes[0] == RECORD_MODEL_STORED && size == record_model_bound(count)) {
        records_get(records, bytes + 1, count);
        return 0;
    }
    if (size == 0 || bytes[0] < RECORD_MODEL_NIBBLES || bytes[0] > RECORD_MODEL_FEW)
        return fail_corrupt(error);
    const enum mix mixing = method_mix(bytes[0]);
    const size_t kinds = word_numbers_get(&model->kind_words, bytes + 1, size - 1);
    const size_t times =
        kinds == 0 ? 0 : word_numbers_get(&model->time_words, bytes + 1 + kinds, size - 1 - kinds);
    if (times == 0)
        return fail_corrupt(error);
    const size_t rest = size - 1 - kinds - times;
    if (count / RECORD_MODEL_RATIO_MAX > rest) /* before tables for so many are cleared */
        return fail_corrupt(error);
    int status = begin(model, mixing, records, error);
    if (status < 0)
        return status;
    const uint8_t *at = bytes + 1 + kinds + times;
    bool good;
    if (mixing) {
        context_mixer_decode_begin(model->mixer, mixed_values(mixing, count), at, rest);
        if (mixing == MIX_FEW)
            decode_few(model, records, count);
        else
            decode_many(model, records, count);
        good = context_mixer_decode_end(model->mixer);
    } else {
        nibble_decode_begin(&model->coder, at, rest);
        decode_nibbles(model, records, count);
        good = nibble_decode_end(&model->coder);
    }
    return good ? 0 : fail_corrupt(error);
}
