#include "formats/dcfg/edge_encoder.h"

#include "formats/base/grow.h"
#include "formats/base/spool.h"
#include "formats/dcfg/edge_codes.h"
#include "formats/dcfg/edge_text_internal.h"
#include "formats/dcfg/phrase_learner.h"

#include <string.h>

#define CHUNK_EDGES ((uint32_t)1 << 20)
/* After a full chunk, more chunks of the same kind are expected. */
#define PATIENCE 3u
/* A chunk whose phrases per edge are more than this percentage of the last chunk's is of a new
 * kind. */
#define NEW_KIND 130u

/* A chunk and the offset of its phrases in the temporary file. */
struct chunk {
    struct edge_chunk chunk;
    uint64_t spool_offset;
    size_t phrase_count;
    size_t order;
};

/* A thread and its edges that are not encoded yet. */
struct thread {
    uint32_t thread;
    uint64_t instructions; /* of the encoded edges and the gaps */
    uint32_t *edges;
    size_t count, capacity;
};

struct edge_encoder {
    struct edge_encoder_settings settings;
    struct phrases phrases;
    struct phrase_learner *learner;
    struct edge_code *codes;
    struct spool *phrase_spool;
    struct thread *threads;
    size_t thread_count, thread_capacity;
    struct chunk *chunks;
    size_t chunk_count, chunk_capacity;
    uint32_t *stream; /* phrases of a chunk */
    size_t stream_capacity;
    unsigned learned;   /* number of times */
    unsigned wait;      /* chunks until learning is tried again */
    uint64_t last_rate; /* phrases per 1000 edges in the last chunk */
};

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for encoding edges");
}

int edge_encoder_new(struct edge_encoder **encoder, const struct edge_encoder_settings *settings,
                     struct bt_error *error)
{
    if (settings->edge_max == 0 || settings->edge_max > EDGE_ID_MAX)
        return bt_fail(error, BT_USAGE, "edge ids are between 1 and 0x7fffffff");
    struct edge_encoder *made = calloc(1, sizeof *made);
    if (!made)
        return no_memory(error);
    made->settings = *settings;
    if (settings->chunk_edges == 0)
        made->settings.chunk_edges = CHUNK_EDGES;
    int result = phrases_begin(&made->phrases, settings->edge_max, error);
    made->learner = phrase_learner_new();
    if (result == 0 && !made->learner)
        result = no_memory(error);
    if (result == 0)
        result = spool_new(&made->phrase_spool, error);
    if (result < 0) {
        edge_encoder_free(made);
        return result;
    }
    *encoder = made;
    return 0;
}

void edge_encoder_free(struct edge_encoder *encoder)
{
    if (!encoder)
        return;
    for (size_t i = 0; i < encoder->thread_count; i++)
        free(encoder->threads[i].edges);
    free(encoder->threads);
    phrases_free(&encoder->phrases);
    phrase_learner_free(encoder->learner);
    spool_free(encoder->phrase_spool);
    free(encoder->codes);
    free(encoder->chunks);
    free(encoder->stream);
    free(encoder);
}

/* --- taking edges ----------------------------------------------------------------------------- */

static struct thread *find_thread(struct edge_encoder *encoder, uint32_t thread)
{
    for (size_t i = 0; i < encoder->thread_count; i++)
        if (encoder->threads[i].thread == thread)
            return &encoder->threads[i];
    struct thread *grown = grow_array(encoder->threads, &encoder->thread_capacity,
                                      encoder->thread_count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    encoder->threads = grown;
    grown[encoder->thread_count] = (struct thread){.thread = thread};
    return &grown[encoder->thread_count++];
}

/*
 * Learning pays for streams of a new kind. The interval in chunks grows after each time, and is cut
 * short by a chunk that takes many more phrases than the last.
 */
static bool is_time_to_learn(struct edge_encoder *encoder, size_t phrases, size_t edges)
{
    uint64_t rate = (uint64_t)phrases * 1000 / edges;
    bool new_kind = rate * 100 > encoder->last_rate * NEW_KIND + 100;
    encoder->last_rate = rate;
    if (!new_kind && encoder->wait > 0) {
        encoder->wait--;
        return false;
    }
    encoder->wait = new_kind ? 0 : encoder->learned;
    encoder->learned++;
    return true;
}

/* Learns from a parsed stream and parses it again, twice: the second round joins learned phrases.
 */
static int learn(struct edge_encoder *encoder, const struct thread *thread, bool more,
                 size_t *phrases, size_t *cut, struct bt_error *error)
{
    for (int turn = 0; turn < 2; turn++) {
        long learned = phrase_learner_learn(encoder->learner, &encoder->phrases, encoder->stream,
                                            *phrases, more ? PATIENCE : 1, error);
        if (learned <= 0)
            return (int)learned;
        int result = phrases_parse(&encoder->phrases, thread->edges, thread->count, more,
                                   encoder->stream, phrases, cut, error);
        if (result < 0)
            return result;
    }
    encoder->last_rate = (uint64_t)*phrases * 1000 / thread->count;
    return 0;
}

/* Parses a thread's edges into phrases; learns new phrases if that may help. */
static int cut_chunk(struct edge_encoder *encoder, const struct thread *thread, bool more,
                     size_t *phrases, size_t *cut, struct bt_error *error)
{
    uint32_t *stream =
        grow_array(encoder->stream, &encoder->stream_capacity, thread->count, sizeof *stream);
    if (!stream)
        return no_memory(error);
    encoder->stream = stream;
    phrases_observe(&encoder->phrases, thread->edges, thread->count);
    int result = phrases_parse(&encoder->phrases, thread->edges, thread->count, more, stream,
                               phrases, cut, error);
    if (result < 0 || !is_time_to_learn(encoder, *phrases, thread->count))
        return result;
    return learn(encoder, thread, more, phrases, cut, error);
}

static uint64_t count_instructions(const struct edge_encoder *encoder, const uint32_t *edges,
                                   size_t count)
{
    uint64_t sum = 0;
    if (encoder->settings.instructions)
        for (size_t i = 0; i < count; i++)
            sum += encoder->settings.instructions[edges[i]];
    return sum;
}

/* Encodes a thread's edges as a chunk; with `more`, some edges may stay for the next chunk. */
static int end_chunk(struct edge_encoder *encoder, struct thread *thread, bool more,
                     struct bt_error *error)
{
    struct chunk chunk = {.order = encoder->chunk_count,
                          .spool_offset = spool_size(encoder->phrase_spool)};
    size_t cut;
    if (thread->count == 0)
        return 0;
    int result = cut_chunk(encoder, thread, more, &chunk.phrase_count, &cut, error);
    if (result == 0)
        result = spool_put(encoder->phrase_spool, encoder->stream,
                           chunk.phrase_count * sizeof *encoder->stream, error);
    if (result < 0)
        return result;
    for (size_t i = 0; i < chunk.phrase_count; i++)
        encoder->phrases.items[encoder->stream[i]].uses++;
    struct chunk *grown = grow_array(encoder->chunks, &encoder->chunk_capacity,
                                     encoder->chunk_count + 1, sizeof *grown);
    if (!grown)
        return no_memory(error);
    encoder->chunks = grown;
    chunk.chunk =
        (struct edge_chunk){.thread = thread->thread,
                            .first = thread->edges[0],
                            .edges = cut,
                            .preceding = thread->instructions,
                            .instructions = count_instructions(encoder, thread->edges, cut)};
    grown[encoder->chunk_count++] = chunk;
    thread->instructions += chunk.chunk.instructions;
    thread->count -= cut;
    memmove(thread->edges, thread->edges + cut, thread->count * sizeof *thread->edges);
    return 0;
}

static int check_edges(const struct edge_encoder *encoder, const uint32_t *edges, size_t count,
                       struct bt_error *error)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad |= edges[i] - 1 >= encoder->settings.edge_max;
    if (bad)
        return bt_fail(error, BT_USAGE, "an edge id is not between 1 and %u",
                       encoder->settings.edge_max);
    return 0;
}

int edge_encoder_put(struct edge_encoder *encoder, uint32_t thread, const uint32_t *edges,
                     size_t count, struct bt_error *error)
{
    int result = check_edges(encoder, edges, count, error);
    struct thread *to = find_thread(encoder, thread);
    if (!to)
        return no_memory(error);
    while (count > 0 && result == 0) {
        size_t room = encoder->settings.chunk_edges - to->count;
        size_t part = count < room ? count : room;
        uint32_t *grown = grow_array(to->edges, &to->capacity, to->count + part, sizeof *grown);
        if (!grown)
            return no_memory(error);
        to->edges = grown;
        memcpy(grown + to->count, edges, part * sizeof *edges);
        to->count += part;
        edges += part;
        count -= part;
        if (to->count == encoder->settings.chunk_edges && count > 0)
            result = end_chunk(encoder, to, true, error);
    }
    return result;
}

/* Ends all chunks of a thread; edges that remain after one may need another. */
static int end_thread(struct edge_encoder *encoder, struct thread *thread, struct bt_error *error)
{
    int result = 0;
    while (thread->count > 0 && result == 0)
        result = end_chunk(encoder, thread, false, error);
    return result;
}

int edge_encoder_gap(struct edge_encoder *encoder, uint32_t thread, uint64_t instructions,
                     struct bt_error *error)
{
    struct thread *to = find_thread(encoder, thread);
    if (!to)
        return no_memory(error);
    int result = end_thread(encoder, to, error);
    to->instructions += instructions;
    return result;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Bits, written as characters of six bits. */
struct sextet_writer {
    uint64_t bits; /* not yet written, the next to write highest */
    unsigned count;
    char *to;
};

static void put_phrase(struct sextet_writer *bits, const struct edge_encoder *encoder,
                       uint32_t phrase)
{
    while (!encoder->codes[phrase].used) {
        const struct phrase *joined = &encoder->phrases.items[phrase];
        put_phrase(bits, encoder, joined->parts[0]);
        phrase = joined->parts[1];
    }
    const struct edge_code *code = &encoder->codes[phrase];
    if (code->bits == 0)
        return;
    bits->bits = bits->bits << code->bits | code->code >> (32 - code->bits);
    bits->count += code->bits;
    for (; bits->count >= 6; bits->count -= 6)
        *bits->to++ = edge_text_character((uint32_t)(bits->bits >> (bits->count - 6) & 63));
}

static int compare_chunks(const void *left, const void *right)
{
    const struct chunk *a = left;
    const struct chunk *b = right;
    if (a->chunk.thread != b->chunk.thread)
        return a->chunk.thread < b->chunk.thread ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

int edge_encoder_finish(struct edge_encoder *encoder, struct bt_error *error)
{
    int result = 0;
    for (size_t i = 0; i < encoder->thread_count && result == 0; i++)
        result = end_thread(encoder, &encoder->threads[i], error);
    if (result < 0)
        return result;
    if (encoder->chunk_count > 0)
        qsort(encoder->chunks, encoder->chunk_count, sizeof *encoder->chunks, compare_chunks);
    encoder->codes = calloc(encoder->phrases.count, sizeof *encoder->codes);
    if (!encoder->codes)
        return no_memory(error);
    return edge_codes_assign(encoder->codes, &encoder->phrases, error);
}

/* --- results, after edge_encoder_finish ------------------------------------------------------- */

int edge_encoder_row(const struct edge_encoder *encoder, size_t *position,
                     struct transition_row *row, uint32_t *edges)
{
    while (++*position < encoder->phrases.count) {
        const struct phrase *phrase = &encoder->phrases.items[*position];
        const struct edge_code *code = &encoder->codes[*position];
        if (!code->used)
            continue;
        *row = (struct transition_row){.current = phrase->before,
                                       .code = code->code,
                                       .bits = code->bits,
                                       .count = phrase->length};
        phrases_expand(&encoder->phrases, (uint32_t)*position, edges);
        return 1;
    }
    return 0;
}

size_t edge_encoder_chunks(const struct edge_encoder *encoder)
{
    return encoder->chunk_count;
}

const struct edge_chunk *edge_encoder_chunk(const struct edge_encoder *encoder, size_t i)
{
    return &encoder->chunks[i].chunk;
}

int edge_encoder_sequence(struct edge_encoder *encoder, size_t i, struct edge_encoder_text *text,
                          struct bt_error *error)
{
    const struct chunk *chunk = &encoder->chunks[i];
    /* a phrase takes at most 32 bits for each of its edges, when all its parts are written */
    char *grown = grow_array(text->text, &text->capacity, text->length + chunk->chunk.edges * 6 + 1,
                             sizeof *grown);
    if (!grown)
        return no_memory(error);
    text->text = grown;
    int result = spool_read(encoder->phrase_spool, chunk->spool_offset, encoder->stream,
                            chunk->phrase_count * sizeof *encoder->stream, error);
    if (result < 0)
        return result;
    struct sextet_writer bits = {.to = grown + text->length};
    for (size_t phrase = 0; phrase < chunk->phrase_count; phrase++)
        put_phrase(&bits, encoder, encoder->stream[phrase]);
    if (bits.count > 0)
        *bits.to++ = edge_text_character((uint32_t)(bits.bits << (6 - bits.count) & 63));
    text->length = (size_t)(bits.to - grown);
    *bits.to = '\0';
    return 0;
}
