#include "formats/foreign/oracle.h"

#include "formats/base/spool.h"
#include "formats/foreign/objects.h"

#include <stdlib.h>

/* --- reading --- */

static void begin_reading(void *state, const struct foreign_options *options)
{
    objects_begin(state, options);
}

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    (void)last;
    (void)error;
    if (size < ORACLE_BYTES)
        return 0;
    item->used = ORACLE_BYTES;
    objects_reference(state, item, bytes_get32(bytes), bytes_get64(bytes + 4),
                      bytes_get32(bytes + 12), REQUEST_MEMREAD);
    return 0;
}

const struct foreign_decoder oracle_decoder = {
    .state_bytes = sizeof(struct objects), .begin = begin_reading, .decode = decode};

/* --- writing --- */

/*
 * Accesses are spooled as they come, 8 bytes each: time and object. At the end they are read in
 * reverse, with a table of the next access to each object; the numbers of these next accesses are
 * spooled as well, 8 bytes each, piece by piece. Then both spools are read forward.
 */

#define ACCESS_BYTES 8u
#define PIECE        4096u /* accesses */
#define PAGE_OBJECTS 4096u
#define NEXT_NONE    UINT64_MAX

struct oracle_writer {
    struct objects objects;
    struct spool *accesses;
    struct spool *nexts;
    uint64_t **pages; /* number of the next access to each object, 0 for none so far */
    uint8_t piece[PIECE * ACCESS_BYTES];
    size_t fill; /* accesses in piece */
};

static int begin(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error)
{
    struct oracle_writer *oracle = state;
    (void)writer;
    (void)out;
    (void)filled;
    objects_begin(&oracle->objects, options);
    oracle->pages =
        calloc(objects_last(&oracle->objects) / PAGE_OBJECTS + 1, sizeof *oracle->pages);
    if (!oracle->pages)
        return bt_fail(error, BT_MEMORY, "no memory for a table of objects");
    int result = spool_new(&oracle->accesses, error);
    return result < 0 ? result : spool_new(&oracle->nexts, error);
}

static int flush(struct oracle_writer *oracle, struct bt_error *error)
{
    size_t fill = oracle->fill;
    oracle->fill = 0;
    return spool_put(oracle->accesses, oracle->piece, fill * ACCESS_BYTES, error);
}

static int put_access(struct oracle_writer *oracle, uint32_t time, uint32_t object,
                      struct bt_error *error)
{
    uint8_t *bytes = oracle->piece + oracle->fill * ACCESS_BYTES;
    bytes_put32(bytes, time);
    bytes_put32(bytes + 4, object);
    return ++oracle->fill == PIECE ? flush(oracle, error) : 0;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    struct oracle_writer *oracle = state;
    const struct objects *objects = &oracle->objects;
    uint64_t tick = run->tick;
    for (size_t i = 0; i < run->count; i++) {
        const struct record *record = &run->records[i];
        tick += i > 0 ? record->time : 0;
        if (foreign_leaves_out(record->type, loss))
            continue;
        uint64_t time = objects_time(objects, tick);
        if (time > UINT32_MAX) {
            loss->count[FOREIGN_TIME]++;
            time = UINT32_MAX;
        }
        uint32_t object = objects_first(objects, record);
        for (uint32_t left = objects_count(objects, record); left > 0; left--) {
            if (put_access(oracle, (uint32_t)time, object, error) < 0)
                return NULL;
            object = object < objects_last(objects) ? object + 1 : 0;
        }
        loss->written++;
    }
    return out;
}

/* The table's entry of an object; NULL without memory. */
static uint64_t *find_next(struct oracle_writer *oracle, uint32_t object)
{
    uint64_t **page = &oracle->pages[object / PAGE_OBJECTS];
    if (!*page)
        *page = calloc(PAGE_OBJECTS, sizeof **page);
    return *page ? *page + object % PAGE_OBJECTS : NULL;
}

/* Number of accesses in a piece. */
static size_t piece_count(uint64_t piece, uint64_t accesses)
{
    uint64_t left = accesses - piece * PIECE;
    return left < PIECE ? (size_t)left : PIECE;
}

/* Spools the next accesses of each piece, the last piece first. */
static int look_back(struct oracle_writer *oracle, uint64_t accesses, struct bt_error *error)
{
    uint8_t nexts[PIECE * sizeof(uint64_t)];
    for (uint64_t piece = (accesses + PIECE - 1) / PIECE; piece-- > 0;) {
        size_t count = piece_count(piece, accesses);
        int result = spool_read(oracle->accesses, piece * PIECE * ACCESS_BYTES, oracle->piece,
                                count * ACCESS_BYTES, error);
        if (result < 0)
            return result;
        for (size_t i = count; i-- > 0;) {
            uint64_t *next = find_next(oracle, bytes_get32(oracle->piece + i * ACCESS_BYTES + 4));
            if (!next)
                return bt_fail(error, BT_MEMORY, "no memory for a table of objects");
            bytes_put64(nexts + i * 8, *next ? *next : NEXT_NONE);
            *next = piece * PIECE + i + 1;
        }
        result = spool_put(oracle->nexts, nexts, count * 8, error);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Combines accesses and their next accesses. */
static int write_out(struct oracle_writer *oracle, uint64_t accesses, struct text_writer *writer,
                     struct bt_error *error)
{
    uint8_t nexts[PIECE * 8];
    char out[PIECE * ORACLE_BYTES];
    uint64_t next_offset = spool_size(oracle->nexts);
    for (uint64_t piece = 0; piece * PIECE < accesses; piece++) {
        size_t count = piece_count(piece, accesses);
        next_offset -= count * 8;
        int result = spool_read(oracle->accesses, piece * PIECE * ACCESS_BYTES, oracle->piece,
                                count * ACCESS_BYTES, error);
        if (result == 0)
            result = spool_read(oracle->nexts, next_offset, nexts, count * 8, error);
        if (result < 0)
            return result;
        for (size_t i = 0; i < count; i++) {
            uint8_t *bytes = (uint8_t *)out + i * ORACLE_BYTES;
            bytes_put32(bytes, bytes_get32(oracle->piece + i * ACCESS_BYTES));
            bytes_put64(bytes + 4, bytes_get32(oracle->piece + i * ACCESS_BYTES + 4));
            bytes_put32(bytes + 12, objects_size(&oracle->objects));
            bytes_put64(bytes + 16, bytes_get64(nexts + i * 8));
        }
        result = text_writer_put(writer, out, count * ORACLE_BYTES, error);
        if (result < 0)
            return result;
    }
    return 0;
}

static int finish(void *state, struct text_writer *writer, struct foreign_loss *loss,
                  struct bt_error *error)
{
    struct oracle_writer *oracle = state;
    (void)loss;
    int result = flush(oracle, error);
    uint64_t accesses = spool_size(oracle->accesses) / ACCESS_BYTES;
    if (result == 0)
        result = look_back(oracle, accesses, error);
    return result < 0 ? result : write_out(oracle, accesses, writer, error);
}

static void release(void *state)
{
    struct oracle_writer *oracle = state;
    for (size_t i = 0; oracle->pages && i <= objects_last(&oracle->objects) / PAGE_OBJECTS; i++)
        free(oracle->pages[i]);
    free(oracle->pages);
    spool_free(oracle->accesses);
    spool_free(oracle->nexts);
}

const struct foreign_encoder oracle_encoder = {.state_bytes = sizeof(struct oracle_writer),
                                               .record_bytes = 1,
                                               .begin = begin,
                                               .encode = encode,
                                               .finish = finish,
                                               .release = release};
