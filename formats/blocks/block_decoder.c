#include "formats/blocks/block_decoder.h"

#include "formats/base/crc32c.h"
#include "formats/base/grow.h"
#include "formats/blocks/block_models_internal.h"
#include "formats/deflate/deflate.h"

/* Records are copied four at a time, so that up to this many more are read and written. */
#define SLACK 4u

struct block_decoder {
    struct block_models *models;
    struct deflate_decoder *deflate;

    struct block_template *templates; /* their records and references are in: */
    size_t template_count, template_capacity;
    struct record *records;
    size_t record_count, record_capacity;
    struct block_reference *references;
    size_t reference_count, reference_capacity;
    uint8_t *processors; /* by template: of its records */
    size_t processor_capacity;

    struct record *literals;
    size_t literal_count, literal_capacity, literals_used;

    /* the walk */
    struct bit_coder sequence, addresses;
    const uint8_t *exceptions, *exceptions_end;
    size_t executions, executed; /* number of executions, and of those decoded */
    size_t exception_at;         /* the execution of the next exception; SIZE_MAX: no more */
    size_t left;                 /* records */
    uint32_t known, caller;
    uint8_t processor;
    uint64_t sum;
    uint8_t attribute; /* of the next execution */
    uint32_t check;    /* so far: of definitions, exceptions and literals; at the end the whole */
    uint64_t of_references[BLOCK_TEMPLATE_RECORDS_MAX];
};

struct block_decoder *block_decoder_new(struct bt_error *error)
{
    struct block_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder) {
        decoder->models = block_models_new();
        decoder->deflate = deflate_decoder_new(error);
        if (decoder->models && decoder->deflate)
            return decoder;
    }
    block_decoder_free(decoder);
    bt_fail(error, BT_MEMORY, "no memory to decode blocks");
    return NULL;
}

void block_decoder_free(struct block_decoder *decoder)
{
    if (!decoder)
        return;
    block_models_free(decoder->models);
    deflate_decoder_free(decoder->deflate);
    free(decoder->templates);
    free(decoder->records);
    free(decoder->references);
    free(decoder->processors);
    free(decoder->literals);
    free(decoder);
}

static int corrupt(struct bt_error *error, const char *what)
{
    return bt_fail(error, BT_DATA, "the coded blocks are corrupt: %s", what);
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory to decode blocks");
}

/* Makes room for the next template, of the largest size. */
static bool template_room(struct block_decoder *decoder)
{
    return GROW_ROOM(decoder->templates, decoder->template_capacity, decoder->template_count + 1) &&
           GROW_ROOM(decoder->processors, decoder->processor_capacity,
                     decoder->template_count + 1) &&
           GROW_ROOM(decoder->records, decoder->record_capacity,
                     decoder->record_count + BLOCK_TEMPLATE_RECORDS_MAX + SLACK) &&
           GROW_ROOM(decoder->references, decoder->reference_capacity,
                     decoder->reference_count + BLOCK_TEMPLATE_RECORDS_MAX);
}

/* Decodes `count` definitions, of `limit` records together at most. */
static int get_definitions(struct block_decoder *decoder, const uint8_t *in, size_t size,
                           size_t count, size_t limit, struct bt_error *error)
{
    struct bit_coder coder;
    bit_decoder_begin(&coder, in, size);
    decoder->template_count = decoder->record_count = decoder->reference_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!template_room(decoder))
            return no_memory(error);
        struct block_template *template = &decoder->templates[decoder->template_count++];
        template->records = decoder->records + decoder->record_count;
        template->references = decoder->references + decoder->reference_count;
        if (!block_define(true, &coder, &decoder->models->definitions, template) ||
            template->record_count > limit - decoder->record_count || bit_decoder_spent(&coder))
            return corrupt(error, "a definition");
        for (unsigned k = 0; k < template->reference_count; k++)
            template->records[template->references[k].record].address =
                (uint32_t) template->references[k].offset;
        decoder->record_count += template->record_count;
        decoder->reference_count += template->reference_count;
        decoder->processors[i] = 0;
    }
    if (!block_models_places(decoder->models))
        return no_memory(error);
    /* the arrays do not move any more */
    struct record *records = decoder->records;
    struct block_reference *references = decoder->references;
    for (size_t i = 0; i < count; i++) {
        decoder->templates[i].records = records;
        decoder->templates[i].references = references;
        records += decoder->templates[i].record_count;
        references += decoder->templates[i].reference_count;
    }
    return 0;
}

static int get_literals(struct block_decoder *decoder, const uint8_t *in, size_t size, size_t count,
                        struct bt_error *error)
{
    uint32_t crc32;
    decoder->literal_count = count;
    decoder->literals_used = 0;
    if (count == 0)
        return size == 0 ? 0 : corrupt(error, "bytes after the end");
    if (!GROW_ROOM(decoder->literals, decoder->literal_capacity, count))
        return no_memory(error);
    return deflate_decode(decoder->deflate, in, size, (uint8_t *)decoder->literals,
                          count * sizeof *decoder->literals, &crc32, error);
}

/* Reads a number of at most 32 bits; a damaged one gives SIZE_MAX. */
static size_t get_number(struct block_decoder *decoder)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (decoder->exceptions == decoder->exceptions_end)
            return SIZE_MAX;
        uint8_t byte = *decoder->exceptions++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number <= UINT32_MAX ? (size_t)number : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* Finds out at which execution the next exception is. False: damaged. */
static bool next_exception(struct block_decoder *decoder)
{
    decoder->exception_at = SIZE_MAX;
    if (decoder->exceptions == decoder->exceptions_end)
        return true;
    size_t gap = get_number(decoder);
    if (gap > decoder->executions - decoder->executed)
        return false;
    decoder->exception_at = decoder->executed + gap;
    return true;
}

/* Prepares the first step of a member, whose sections have been found. False: damaged. */
static bool begin_steps(struct block_decoder *decoder, size_t count)
{
    decoder->executed = 0;
    decoder->left = count;
    decoder->known = decoder->caller = 0;
    decoder->processor = decoder->attribute = 0;
    decoder->sum = 0;
    decoder->check = crc32c(0, decoder->records, decoder->record_count * sizeof(struct record));
    decoder->check = crc32c(decoder->check, decoder->exceptions,
                            (size_t)(decoder->exceptions_end - decoder->exceptions));
    decoder->check =
        crc32c(decoder->check, decoder->literals, decoder->literal_count * sizeof(struct record));
    return next_exception(decoder);
}

int block_walk_begin(struct block_decoder *decoder, const uint8_t *in, size_t size, size_t count,
                     struct bt_error *error)
{
    uint32_t numbers[BLOCK_HEADER_NUMBERS];
    if (size < BLOCK_HEADER_BYTES)
        return corrupt(error, "they are too short");
    for (unsigned i = 0; i < BLOCK_HEADER_NUMBERS; i++)
        numbers[i] = bytes_get32(in + 4 * i);
    unsigned version = numbers[BLOCK_HEADER_FORM] & 0xff;
    unsigned bits = numbers[BLOCK_HEADER_FORM] >> 8;
    if (version != BLOCK_CODEC_VERSION)
        return bt_fail(error, BT_NEWER,
                       "blocks are coded in form %u, which this bustap does not know: read them "
                       "with a newer version",
                       version);
    if (bits < BLOCK_TABLE_BITS_MIN || bits > BLOCK_TABLE_BITS_MAX)
        return corrupt(error, "the size of tables");
    const uint8_t *sections[BLOCK_HEADER_NUMBERS + 1];
    const uint8_t *at = in + BLOCK_HEADER_BYTES, *end = in + size;
    for (unsigned i = BLOCK_HEADER_DEFINITIONS; i < BLOCK_HEADER_NUMBERS; i++) {
        sections[i] = at;
        if (numbers[i] > (size_t)(end - at))
            return corrupt(error, "the size of a section");
        at += numbers[i];
    }
    if (numbers[BLOCK_HEADER_LITERALS] > count ||
        numbers[BLOCK_HEADER_EXECUTIONS] > count - numbers[BLOCK_HEADER_LITERALS] ||
        numbers[BLOCK_HEADER_TEMPLATES] > numbers[BLOCK_HEADER_EXECUTIONS])
        return corrupt(error, "the number of records");
    block_models_begin(decoder->models, bits);
    int result = get_definitions(decoder, sections[BLOCK_HEADER_DEFINITIONS],
                                 numbers[BLOCK_HEADER_DEFINITIONS], numbers[BLOCK_HEADER_TEMPLATES],
                                 count - numbers[BLOCK_HEADER_LITERALS], error);
    if (result == 0)
        result =
            get_literals(decoder, at, (size_t)(end - at), numbers[BLOCK_HEADER_LITERALS], error);
    if (result != 0)
        return result;
    bit_decoder_begin(&decoder->sequence, sections[BLOCK_HEADER_SEQUENCE],
                      numbers[BLOCK_HEADER_SEQUENCE]);
    bit_decoder_begin(&decoder->addresses, sections[BLOCK_HEADER_ADDRESSES],
                      numbers[BLOCK_HEADER_ADDRESSES]);
    decoder->exceptions = sections[BLOCK_HEADER_EXCEPTIONS];
    decoder->exceptions_end = decoder->exceptions + numbers[BLOCK_HEADER_EXCEPTIONS];
    decoder->executions = numbers[BLOCK_HEADER_EXECUTIONS];
    return begin_steps(decoder, count) ? 0 : corrupt(error, "an exception");
}

size_t block_walk_templates(const struct block_decoder *decoder)
{
    return decoder->template_count;
}

const struct block_template *block_walk_template(const struct block_decoder *decoder,
                                                 uint32_t number)
{
    return &decoder->templates[number];
}

/* Reads the exception before the next execution. Returns the number of literals, or BT_DATA. */
static int64_t get_exception(struct block_decoder *decoder)
{
    uint8_t bytes[3] = {0}; /* what, then the fields that it says */
    size_t literals = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (i > 0 && !(bytes[0] & 1u << (i - 1)))
            continue;
        if (decoder->exceptions == decoder->exceptions_end)
            return BT_DATA;
        bytes[i] = *decoder->exceptions++;
    }
    if (bytes[0] & BLOCK_EXCEPTION_PROCESSOR)
        decoder->processor = bytes[1];
    decoder->attribute = bytes[2];
    if (bytes[0] & BLOCK_EXCEPTION_LITERALS)
        literals = get_number(decoder);
    if (literals > decoder->literal_count - decoder->literals_used || !next_exception(decoder))
        return BT_DATA;
    return (int64_t)literals;
}

/* Whether everything was used at the end; completes the check. */
static bool ends_well(struct block_decoder *decoder)
{
    uint8_t sum[8];
    bytes_put64(sum, decoder->sum);
    decoder->check = crc32c(decoder->check, sum, sizeof sum);
    return decoder->left == 0 && decoder->exceptions == decoder->exceptions_end &&
           decoder->known == decoder->template_count &&
           decoder->literals_used == decoder->literal_count;
}

/* Decodes the addresses of an execution. */
static inline void get_addresses(struct block_decoder *decoder,
                                 const struct block_template *template)
{
    struct block_models *models = decoder->models;
    uint64_t *addresses = decoder->of_references;
    for (unsigned i = 0; i < template->reference_count; i++) {
        const struct block_reference *reference = &template->references[i];
        if (reference->leader != i) {
            addresses[i] = addresses[reference->leader] + reference->offset;
            continue;
        }
        addresses[i] =
            block_address(true, &decoder->addresses, &models->addresses,
                          &models->places[reference->place], reference->place, decoder->caller, 0);
        decoder->sum = block_sum(decoder->sum, addresses[i]);
    }
}

/* The body of block_walk_next(). */
static inline int next_step(struct block_decoder *decoder, struct block_step *step,
                            struct bt_error *error)
{
    step->literals = NULL;
    if (decoder->executed == decoder->exception_at) {
        int64_t literals = get_exception(decoder);
        if (literals < 0 || (size_t)literals > decoder->left)
            return corrupt(error, "an exception");
        if (literals > 0) {
            step->literals = decoder->literals + decoder->literals_used;
            step->literal_count = (size_t)literals;
            decoder->literals_used += (size_t)literals;
            decoder->left -= (size_t)literals;
            return 1;
        }
    }
    if (decoder->executed == decoder->executions)
        return ends_well(decoder) ? 0 : corrupt(error, "they do not end with the last record");
    uint32_t number = block_sequence_next(true, &decoder->sequence, &decoder->models->sequence,
                                          &decoder->known, 0);
    if (number >= decoder->known || number >= decoder->template_count)
        return corrupt(error, "the sequence");
    const struct block_template *template = &decoder->templates[number];
    if (template->record_count > decoder->left)
        return corrupt(error, "too many records");
    decoder->left -= template->record_count;
    decoder->sum = block_sum(decoder->sum, number);
    get_addresses(decoder, template);
    if (bit_decoder_spent(&decoder->sequence) || bit_decoder_spent(&decoder->addresses))
        return corrupt(error, "a section ends too early");
    step->template = number;
    step->processor = decoder->processor;
    step->attribute = decoder->attribute;
    step->addresses = decoder->of_references;
    decoder->attribute = 0;
    decoder->caller = number;
    decoder->executed++;
    return 1;
}

int block_walk_next(struct block_decoder *decoder, struct block_step *step, struct bt_error *error)
{
    return next_step(decoder, step, error);
}

uint32_t block_walk_check(const struct block_decoder *decoder)
{
    return decoder->check;
}

/* Sets the processor of a template's records. */
static void set_processor(struct block_decoder *decoder, uint32_t number, uint8_t processor)
{
    const struct block_template *template = &decoder->templates[number];
    for (unsigned i = 0; i < template->record_count; i++)
        template->records[i].processor = processor;
    decoder->processors[number] = processor;
}

/* Writes the records of an execution; `left` is the room. */
static inline struct record *put_execution(struct block_decoder *decoder, struct record *out,
                                           size_t left, const struct block_step *step)
{
    const struct block_template *template = &decoder->templates[step->template];
    unsigned count = template->record_count;
    if (decoder->processors[step->template] != step->processor)
        set_processor(decoder, step->template, step->processor);
    if (left >= count + SLACK)
        for (unsigned i = 0; i < count; i += SLACK)
            memcpy(out + i, template->records + i, SLACK * sizeof *out);
    else
        memcpy(out, template->records, count * sizeof *out);
    for (unsigned i = 0; i < template->reference_count; i++)
        out[template->references[i].record].address = (uint32_t)step->addresses[i];
    out->attribute ^= step->attribute;
    return out + count;
}

int block_decode(struct block_decoder *decoder, const uint8_t *in, size_t size,
                 struct record *records, size_t count, uint32_t *check, struct bt_error *error)
{
    struct block_step step;
    struct record *out = records;
    int result = block_walk_begin(decoder, in, size, count, error);
    if (result != 0)
        return result;
    while ((result = next_step(decoder, &step, error)) > 0) {
        if (step.literals) {
            memcpy(out, step.literals, step.literal_count * sizeof *out);
            out += step.literal_count;
        } else {
            out = put_execution(decoder, out, count - (size_t)(out - records), &step);
        }
    }
    *check = decoder->check;
    return result;
}
