#include "formats/blocks/block_encoder_internal.h"

#include "formats/base/crc32c.h"
#include "formats/base/grow.h"
#include "formats/blocks/block_feeder_internal.h"
#include "formats/blocks/block_finder_internal.h"

/* No template, execution or address takes more in a stream, with what is pending at its end: a
 * decision has 12 bits at most. */
#define DEFINITION_BYTES_MAX (BLOCK_TEMPLATE_RECORDS_MAX * 64u)
#define EXECUTION_BYTES_MAX  32u
#define ADDRESS_BYTES_MAX    48u
#define EXCEPTION_BYTES_MAX  32u

struct block_encoder *block_encoder_new(struct bt_error *error)
{
    struct block_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder) {
        encoder->models = block_models_new();
        encoder->heads = block_finder_heads();
        encoder->deflate = deflate_encoder_new(DEFLATE_RECORDS, -1, error);
        if (encoder->models && encoder->heads && encoder->deflate)
            return encoder;
    }
    block_encoder_free(encoder);
    bt_fail(error, BT_MEMORY, "no memory to code blocks");
    return NULL;
}

void block_encoder_free(struct block_encoder *encoder)
{
    if (!encoder)
        return;
    block_models_free(encoder->models);
    deflate_encoder_free(encoder->deflate);
    free(encoder->templates);
    free(encoder->records);
    free(encoder->references);
    free(encoder->last);
    free(encoder->executions);
    free(encoder->addresses);
    free(encoder->literals);
    free(encoder->exceptions);
    free(encoder->definitions.bytes);
    free(encoder->sequence.bytes);
    free(encoder->coded.bytes);
    free(encoder->other.bytes);
    free(encoder->heads);
    block_feeder_free(encoder->feeder);
    free(encoder);
}

size_t block_encoder_memory(size_t records)
{
    size_t an_execution = sizeof(uint32_t) + sizeof(uint64_t); /* reserved for each record */
    return block_models_memory() + records * (an_execution + sizeof(struct record));
}

void block_encoder_begin(struct block_encoder *encoder)
{
    encoder->template_count = encoder->record_count = encoder->reference_count = 0;
    encoder->execution_count = encoder->address_count = 0;
    encoder->literal_count = encoder->literals_pending = 0;
    encoder->exception_count = 0;
    encoder->processor = 0;
}

bool block_encoder_reserve(struct block_encoder *encoder, size_t executions, size_t addresses)
{
    return GROW_ROOM(encoder->executions, encoder->execution_capacity,
                     encoder->execution_count + executions) &&
           GROW_ROOM(encoder->addresses, encoder->address_capacity,
                     encoder->address_count + addresses);
}

int64_t block_encoder_template(struct block_encoder *encoder, const struct record *records,
                               unsigned count, const uint8_t *variable, unsigned variable_count)
{
    if (!GROW_ROOM(encoder->templates, encoder->template_capacity, encoder->template_count + 1) ||
        !GROW_ROOM(encoder->records, encoder->record_capacity, encoder->record_count + count) ||
        !GROW_ROOM(encoder->references, encoder->reference_capacity,
                   encoder->reference_count + variable_count) ||
        !GROW_ROOM(encoder->last, encoder->last_capacity,
                   encoder->reference_count + variable_count))
        return BT_MEMORY;
    struct block_described *template = &encoder->templates[encoder->template_count];
    *template = (struct block_described){.first_record = (uint32_t)encoder->record_count,
                                         .first_reference = (uint32_t)encoder->reference_count,
                                         .record_count = (uint8_t)count,
                                         .reference_count = (uint8_t)variable_count};
    for (unsigned i = 0; i < count; i++) {
        encoder->records[encoder->record_count + i] = records[i];
        encoder->records[encoder->record_count + i].processor = 0;
    }
    for (unsigned i = 0; i < variable_count; i++)
        encoder->references[encoder->reference_count + i] =
            (struct block_reference){.record = variable[i], .leader = BLOCK_CONSTANT};
    encoder->record_count += count;
    encoder->reference_count += variable_count;
    return (int64_t)encoder->template_count++;
}

/*
 * References of a template move together if each execution changes their addresses by as much; what
 * does not move is constant. This divides those that no longer do.
 */
static void divide(struct block_reference *references, const uint64_t *last,
                   const uint64_t *addresses, unsigned count)
{
    uint8_t before[BLOCK_TEMPLATE_RECORDS_MAX];
    for (unsigned i = 0; i < count; i++) {
        uint64_t step = addresses[i] - last[i];
        before[i] = references[i].leader;
        if (before[i] == BLOCK_CONSTANT && step == 0)
            continue;
        unsigned leader = 0;
        while (leader < i &&
               (before[leader] != before[i] || addresses[leader] - last[leader] != step))
            leader++;
        references[i].leader = (uint8_t)leader;
    }
}

/* Notes what is exceptional of the next execution, or NULL: of the end. */
static int note_exception(struct block_encoder *encoder, const struct block_execution *execution)
{
    struct block_exception exception = {.at = (uint32_t)encoder->execution_count,
                                        .literals = (uint32_t)encoder->literals_pending};
    exception.what = encoder->literals_pending ? BLOCK_EXCEPTION_LITERALS : 0;
    if (execution) {
        exception.processor = execution->processor;
        exception.attribute = execution->attribute;
        if (execution->processor != encoder->processor)
            exception.what |= BLOCK_EXCEPTION_PROCESSOR;
        if (execution->attribute)
            exception.what |= BLOCK_EXCEPTION_ATTRIBUTE;
        encoder->processor = execution->processor;
    }
    if (exception.what == 0)
        return 0;
    if (!GROW_ROOM(encoder->exceptions, encoder->exception_capacity, encoder->exception_count + 1))
        return BT_MEMORY;
    encoder->exceptions[encoder->exception_count++] = exception;
    encoder->literals_pending = 0;
    return 0;
}

int block_encoder_add(struct block_encoder *encoder, const struct block_execution *execution)
{
    struct block_described *described = &encoder->templates[execution->template];
    struct block_reference *references = &encoder->references[described->first_reference];
    uint64_t *last = &encoder->last[described->first_reference];
    const uint64_t *addresses = encoder->addresses + encoder->address_count;
    unsigned count = described->reference_count;
    bool special = execution->processor != encoder->processor || execution->attribute ||
                   encoder->literals_pending;
    if (special && note_exception(encoder, execution) != 0)
        return BT_MEMORY;
    encoder->executions[encoder->execution_count++] = execution->template;
    encoder->address_count += count;
    uint64_t differences = 0;
    for (unsigned i = 0; i < count && described->executed; i++) {
        uint64_t step = addresses[i] - last[i];
        unsigned leader = references[i].leader;
        differences |= step ^ (leader == BLOCK_CONSTANT ? 0 : addresses[leader] - last[leader]);
    }
    described->executed = true;
    if (differences)
        divide(references, last, addresses, count);
    for (unsigned i = 0; i < count; i++)
        last[i] = addresses[i];
    return 0;
}

int block_encoder_execute(struct block_encoder *encoder, const struct block_execution *execution,
                          const uint64_t *addresses)
{
    unsigned count = encoder->templates[execution->template].reference_count;
    if (!block_encoder_reserve(encoder, 1, count))
        return BT_MEMORY;
    for (unsigned i = 0; i < count; i++)
        encoder->addresses[encoder->address_count + i] = addresses[i];
    return block_encoder_add(encoder, execution);
}

int block_encoder_literals(struct block_encoder *encoder, const struct record *records,
                           size_t count)
{
    if (!GROW_ROOM(encoder->literals, encoder->literal_capacity, encoder->literal_count + count))
        return BT_MEMORY;
    if (count > 0)
        memcpy(encoder->literals + encoder->literal_count, records, count * sizeof *records);
    encoder->literal_count += count;
    encoder->literals_pending += count;
    return 0;
}

/* Makes room for `more` bytes in a stream. */
static bool stream_room(struct block_stream *stream, size_t more)
{
    size_t used = (size_t)(stream->coder.out - stream->coder.start);
    if (stream->capacity - used >= more)
        return true;
    if (!GROW_ROOM(stream->bytes, stream->capacity, used + more + (1 << 16)))
        return false;
    stream->coder.start = stream->bytes;
    stream->coder.out = stream->bytes + used;
    return true;
}

static bool stream_begin(struct block_stream *stream)
{
    bit_encoder_begin(&stream->coder, stream->bytes);
    return stream_room(stream, 1 << 16);
}

/* Codes the definition of a template, and adds its records to the check. */
static bool define(struct block_encoder *encoder, struct block_described *described,
                   uint32_t *check)
{
    struct block_reference references[BLOCK_TEMPLATE_RECORDS_MAX];
    uint8_t numbers[BLOCK_TEMPLATE_RECORDS_MAX]; /* of references, among those of the definition */
    struct block_reference *all = &encoder->references[described->first_reference];
    const uint64_t *last = &encoder->last[described->first_reference];
    struct record *records = &encoder->records[described->first_record];
    unsigned count = 0;
    for (unsigned i = 0; i < described->reference_count; i++) {
        struct record *record = &records[all[i].record];
        record->address = (uint32_t)last[i];
        if (all[i].leader == BLOCK_CONSTANT)
            continue;
        numbers[i] = (uint8_t)count;
        references[count] = all[i];
        references[count].offset = last[i] - last[all[i].leader];
        record->address = (uint32_t)references[count].offset;
        references[count++].leader = numbers[all[i].leader];
    }
    struct block_template template = {.records = records,
                                      .references = references,
                                      .record_count = described->record_count,
                                      .reference_count = count};
    if (!stream_room(&encoder->definitions, DEFINITION_BYTES_MAX))
        return false;
    block_define(false, &encoder->definitions.coder, &encoder->models->definitions, &template);
    *check = crc32c(*check, records, described->record_count * sizeof *records);
    for (unsigned i = 0, k = 0; i < described->reference_count; i++)
        if (all[i].leader != BLOCK_CONSTANT)
            all[i].place = references[k++].place;
    return block_models_places(encoder->models);
}

/* Codes the addresses of the leaders; returns the new sum. */
static uint64_t code_addresses(struct block_encoder *encoder,
                               const struct block_described *described, uint32_t caller,
                               const uint64_t *addresses, uint64_t sum)
{
    const struct block_reference *references = &encoder->references[described->first_reference];
    for (unsigned i = 0; i < described->reference_count; i++) {
        if (references[i].leader != i)
            continue;
        uint32_t place = references[i].place;
        block_address(false, &encoder->coded.coder, &encoder->models->addresses,
                      &encoder->models->places[place], place, caller, addresses[i]);
        sum = block_sum(sum, addresses[i]);
    }
    return sum;
}

/* Codes all executions. False: no memory. */
static bool code(struct block_encoder *encoder, uint32_t *used, uint32_t *check, uint64_t *sum)
{
    uint32_t known = 0, caller = 0;
    const uint64_t *addresses = encoder->addresses;
    *sum = 0;
    for (size_t i = 0; i < encoder->execution_count; i++) {
        struct block_described *described = &encoder->templates[encoder->executions[i]];
        if (!stream_room(&encoder->sequence, EXECUTION_BYTES_MAX) ||
            !stream_room(&encoder->coded, (size_t)ADDRESS_BYTES_MAX * described->reference_count))
            return false;
        uint32_t number = described->number ? described->number - 1 : known;
        block_sequence_next(false, &encoder->sequence.coder, &encoder->models->sequence, &known,
                            number);
        if (!described->number) {
            described->number = known;
            if (!define(encoder, described, check))
                return false;
        }
        *sum = code_addresses(encoder, described, caller, addresses, block_sum(*sum, number));
        addresses += described->reference_count;
        caller = number;
    }
    *used = known;
    return true;
}

size_t block_encoder_bound(size_t count)
{
    return BLOCK_HEADER_BYTES + 3 * BIT_CODER_END_BYTES + EXCEPTION_BYTES_MAX +
           deflate_bound(count * RECORD_BYTES);
}

static uint8_t *put_number(uint8_t *out, size_t number)
{
    for (; number >= 128; number >>= 7)
        *out++ = (uint8_t)(number | 128);
    *out++ = (uint8_t)number;
    return out;
}

/* Codes the exceptions; *size gets their size. False: no memory. */
static bool put_exceptions(struct block_encoder *encoder, uint32_t *size)
{
    uint32_t before = 0;
    for (size_t i = 0; i < encoder->exception_count; i++) {
        const struct block_exception *exception = &encoder->exceptions[i];
        if (!stream_room(&encoder->other, EXCEPTION_BYTES_MAX))
            return false;
        uint8_t *out = put_number(encoder->other.coder.out, exception->at - before);
        *out++ = exception->what;
        if (exception->what & BLOCK_EXCEPTION_PROCESSOR)
            *out++ = exception->processor;
        if (exception->what & BLOCK_EXCEPTION_ATTRIBUTE)
            *out++ = exception->attribute;
        if (exception->what & BLOCK_EXCEPTION_LITERALS)
            out = put_number(out, exception->literals);
        encoder->other.coder.out = out;
        before = exception->at;
    }
    *size = (uint32_t)(encoder->other.coder.out - encoder->other.coder.start);
    return true;
}

/* Codes all sections except literals, and fills in the header's numbers. False: no memory. */
static bool code_member(struct block_encoder *encoder, uint32_t numbers[BLOCK_HEADER_NUMBERS],
                        uint32_t *check)
{
    size_t records = encoder->literal_count;
    for (size_t i = 0; i < encoder->execution_count; i++)
        records += encoder->templates[encoder->executions[i]].record_count;
    unsigned bits = block_models_bits(records);
    uint8_t bytes[8];
    uint64_t sum;
    *check = 0;
    block_models_begin(encoder->models, bits);
    if (!stream_begin(&encoder->definitions) || !stream_begin(&encoder->sequence) ||
        !stream_begin(&encoder->coded) || !stream_begin(&encoder->other) ||
        !code(encoder, &numbers[BLOCK_HEADER_TEMPLATES], check, &sum) ||
        !put_exceptions(encoder, &numbers[BLOCK_HEADER_EXCEPTIONS]))
        return false;
    numbers[BLOCK_HEADER_FORM] = BLOCK_CODEC_VERSION | bits << 8;
    numbers[BLOCK_HEADER_EXECUTIONS] = (uint32_t)encoder->execution_count;
    numbers[BLOCK_HEADER_LITERALS] = (uint32_t)encoder->literal_count;
    numbers[BLOCK_HEADER_DEFINITIONS] = (uint32_t)bit_encoder_end(&encoder->definitions.coder);
    numbers[BLOCK_HEADER_SEQUENCE] = (uint32_t)bit_encoder_end(&encoder->sequence.coder);
    numbers[BLOCK_HEADER_ADDRESSES] = (uint32_t)bit_encoder_end(&encoder->coded.coder);
    *check = crc32c(*check, encoder->other.bytes, numbers[BLOCK_HEADER_EXCEPTIONS]);
    *check = crc32c(*check, encoder->literals, encoder->literal_count * sizeof *encoder->literals);
    bytes_put64(bytes, sum);
    *check = crc32c(*check, bytes, sizeof bytes);
    return true;
}

static uint8_t *put_section(uint8_t *out, const struct block_stream *stream, size_t size)
{
    memcpy(out, stream->bytes, size);
    return out + size;
}

int block_encoder_finish(struct block_encoder *encoder, uint8_t *out, size_t capacity, size_t *size,
                         uint32_t *check, struct bt_error *error)
{
    uint32_t numbers[BLOCK_HEADER_NUMBERS] = {0};
    size_t literal_bytes = encoder->literal_count * sizeof *encoder->literals;
    if (note_exception(encoder, NULL) != 0 || !code_member(encoder, numbers, check))
        return bt_fail(error, BT_MEMORY, "no memory to code blocks");
    *size = BLOCK_HEADER_BYTES;
    for (unsigned i = BLOCK_HEADER_DEFINITIONS; i < BLOCK_HEADER_NUMBERS; i++)
        *size += numbers[i];
    if (encoder->execution_count > 0 && *size + deflate_bound(literal_bytes) > capacity) {
        if (block_encoder_expand(encoder) != 0)
            return bt_fail(error, BT_MEMORY, "no memory to code blocks");
        return block_encoder_finish(encoder, out, capacity, size, check, error);
    }
    for (unsigned i = 0; i < BLOCK_HEADER_NUMBERS; i++)
        bytes_put32(out + 4 * i, numbers[i]);
    uint8_t *end = out + BLOCK_HEADER_BYTES;
    end = put_section(end, &encoder->definitions, numbers[BLOCK_HEADER_DEFINITIONS]);
    end = put_section(end, &encoder->sequence, numbers[BLOCK_HEADER_SEQUENCE]);
    end = put_section(end, &encoder->coded, numbers[BLOCK_HEADER_ADDRESSES]);
    end = put_section(end, &encoder->other, numbers[BLOCK_HEADER_EXCEPTIONS]);
    if (literal_bytes == 0)
        return 0;
    size_t deflated;
    uint32_t crc32;
    int result = deflate_encode(encoder->deflate, (const uint8_t *)encoder->literals, literal_bytes,
                                end, capacity - (size_t)(end - out), &deflated, &crc32, error);
    *size += deflated;
    return result;
}
