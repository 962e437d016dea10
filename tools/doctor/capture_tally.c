#include "tools/doctor/capture_tally.h"

#include "formats/base/hash_index.h"

#include <stdlib.h>

#define PROGRAM_SHARE 8u /* 1 fetch of this number has a size that a bus lacks */
#define TRANSFER      8u /* bytes that the data lines of a P6 bus transfer at once */
#define BURST_MAX     32u
#define TIME_LONG     (UINT32_C(1) << 28)
#define CHUNK_MIN     4u

static bool is_power(unsigned size)
{
    return size != 0 && (size & (size - 1)) == 0;
}

static bool has_fetch_size(unsigned size)
{
    return is_power(size) && size <= BURST_MAX;
}

/* Bytes that a bus can transfer in a request for data: firmware/p6.c. */
static bool has_data_size(const struct record *record)
{
    if (record->type >= REQUEST_CNTRLAGNTRES || record->type == REQUEST_DEFERREPLY)
        return record->size == 0 || record->type == REQUEST_BRTRACEREC;
    return record->size <= TRANSFER || record->size == 16 || record->size == BURST_MAX;
}

/* Bursts begin with the transfer that the processor needs first, so only the bits within a transfer
 * are always 0. */
static bool is_misaligned(const struct record *record)
{
    unsigned unit = record->size < TRANSFER ? record->size : TRANSFER;
    return has_fetch_size(record->size) && record->address % unit != 0;
}

bool capture_tally_is_program(const struct capture_tally *tally)
{
    uint64_t others = tally->fetches;
    for (unsigned size = 1; size <= BURST_MAX; size *= 2)
        others -= tally->fetch_sizes[size];
    return others * PROGRAM_SHARE > tally->fetches;
}

/* --- fetches --------------------------------------------------------------------------------- */

/* Examines a full window, or the last one. Windows of instructions are left out. */
static int examine_window(struct capture_tally *tally, struct fetch_window *window,
                          struct bt_error *error)
{
    size_t sizes[256] = {0};
    unsigned usual = 0;
    size_t count = 0;
    for (size_t i = 0; i < window->count; i++)
        if (++sizes[window->sizes[i]] > sizes[usual])
            usual = window->sizes[i];
    for (size_t i = 0; i < window->count && has_fetch_size(usual); i++)
        if (window->sizes[i] == usual && window->addresses[i] % usual == 0)
            window->addresses[count++] = window->addresses[i];
    bool chunks = usual >= CHUNK_MIN && count > window->count / 2;
    window->count = 0;
    if (!chunks)
        return 0;
    struct fetch_noise_finding finding;
    int result = fetch_noise_find(&finding, window->addresses, count, usual, error);
    if (result != 0)
        return result;
    tally->chunks += count;
    tally->noise.visits += finding.visits;
    tally->noise.only_there += finding.only_there;
    for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
        tally->noise.bits[bit] += finding.bits[bit];
    return 0;
}

static int put_fetch(struct capture_tally *tally, const struct record *record,
                     struct bt_error *error)
{
    struct fetch_window **window = &tally->windows[record->processor];
    tally->fetches++;
    tally->fetch_sizes[record->size]++;
    tally->misaligned += is_misaligned(record);
    if (!*window) {
        *window = malloc(sizeof **window);
        if (!*window)
            return bt_fail(error, BT_MEMORY, "no memory to examine the fetches");
        (*window)->count = 0;
    }
    (*window)->addresses[(*window)->count] = record->address;
    (*window)->sizes[(*window)->count++] = record->size;
    return (*window)->count == CAPTURE_TALLY_WINDOW ? examine_window(tally, *window, error) : 0;
}

/* --- all records ----------------------------------------------------------------------------- */

static void put_address(struct capture_tally *tally, uint32_t address)
{
    tally->ones |= address;
    tally->zeros |= ~address;
    for (uint32_t left = ~(tally->ones & tally->zeros); left != 0; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctz(left);
        tally->regions[bit] |= UINT64_C(1) << (hash_number((uint64_t)address >> bit >> 1) >> 26);
    }
}

static void put_time(struct capture_tally *tally, const struct batch *batch, size_t i)
{
    if (i == 0 && (tally->records == 0 || batch_has_loss_or_gap(batch)))
        return;
    tally->no_time += batch->records[i].time == 0;
    tally->long_time += batch->records[i].time > TIME_LONG;
}

int capture_tally_put(struct capture_tally *tally, const struct batch *batch,
                      struct bt_error *error)
{
    int result = 0;
    for (size_t i = 0; i < batch->count && result == 0; i++) {
        const struct record *record = &batch->records[i];
        if (request_type_ordinal(record->type) == REQUEST_TYPE_UNKNOWN) {
            bool first = tally->first_unknown == 0;
            tally->first_unknown = first ? tally->records + 1 : tally->first_unknown;
            tally->first_type = first ? record->type : tally->first_type;
        } else if (record->type != REQUEST_FETCH) {
            tally->sizes += !has_data_size(record);
        }
        put_time(tally, batch, i);
        put_address(tally, record->address);
        tally->types[record->type]++;
        tally->processors[record->processor]++;
        tally->attributes[record->attribute]++;
        tally->records++;
        if (record->type == REQUEST_FETCH)
            result = put_fetch(tally, record, error);
    }
    return result;
}

int capture_tally_end(struct capture_tally *tally, struct bt_error *error)
{
    int result = 0;
    for (unsigned processor = 0; processor < 256 && result == 0; processor++)
        if (tally->windows[processor])
            result = examine_window(tally, tally->windows[processor], error);
    return result;
}

void capture_tally_clear(struct capture_tally *tally)
{
    for (unsigned processor = 0; processor < 256; processor++)
        free(tally->windows[processor]);
    *tally = (struct capture_tally){.records = 0};
}
