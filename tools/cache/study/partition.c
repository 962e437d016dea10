#include "tools/cache/study/partition.h"

#include "formats/base/thread.h"

#include <pthread.h>
#include <stdlib.h>

#define BLOCK_RECORDS 16384u
#define BLOCKS        8u    /* of each part; one is being filled */
#define ROOM_MIN      1024u /* a block with less room is handed over */

struct part {
    struct partition *partition;
    struct hierarchy *hierarchy;
    pthread_t thread;
    bool started;
    struct record *block; /* being filled */
    size_t filled;
    /* the others are shared with the thread, under the partition's mutex */
    pthread_cond_t changed;
    struct record *blocks; /* BLOCKS of them */
    size_t counts[BLOCKS];
    unsigned handed_over, done; /* blocks so far */
    int result;
    struct bt_error error;
};

struct partition {
    pthread_mutex_t mutex;
    bool ending;
    bool failed; /* known to the caller */
    unsigned first, count, all;
    unsigned shift; /* of addresses, to classes of sets */
    uint32_t mask;
    bool met[CACHE_PROCESSORS];
    uint64_t elsewhere; /* records that part 0 has not counted */
    struct part parts[];
};

static struct record *block_of(const struct part *part, unsigned number)
{
    return part->blocks + (size_t)(number % BLOCKS) * BLOCK_RECORDS;
}

static void *run(void *argument)
{
    struct part *part = argument;
    struct partition *partition = part->partition;
    thread_set_name("cache");
    pthread_mutex_lock(&partition->mutex);
    for (;;) {
        while (part->done == part->handed_over && !partition->ending)
            pthread_cond_wait(&part->changed, &partition->mutex);
        if (part->done == part->handed_over)
            break;
        const struct record *records = block_of(part, part->done);
        const size_t count = part->counts[part->done % BLOCKS];
        int result = part->result;
        pthread_mutex_unlock(&partition->mutex);
        struct bt_error error = {.code = 0};
        if (result == 0)
            result = hierarchy_put(part->hierarchy, records, count, &error);
        pthread_mutex_lock(&partition->mutex);
        if (result < 0 && part->result == 0) {
            part->result = result;
            part->error = error;
        }
        part->done++;
        pthread_cond_signal(&part->changed);
    }
    pthread_mutex_unlock(&partition->mutex);
    return NULL;
}

int partition_new(struct partition **partition, struct hierarchy *const *parts, unsigned first,
                  unsigned count, unsigned all, struct bt_error *error)
{
    struct partition *made = calloc(1, sizeof *made + count * sizeof *made->parts);
    *partition = NULL;
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for %u threads", count);
    made->first = first;
    made->all = all;
    pthread_mutex_init(&made->mutex, NULL);
    hierarchy_classes(hierarchy_settings_of(parts[0]), &made->shift, &made->mask);
    for (; made->count < count; made->count++) {
        struct part *part = &made->parts[made->count];
        part->partition = made;
        part->hierarchy = parts[made->count];
        pthread_cond_init(&part->changed, NULL);
        part->blocks = malloc(BLOCKS * BLOCK_RECORDS * sizeof *part->blocks);
        part->block = part->blocks;
        part->started = part->blocks && thread_start_without_signals(&part->thread, run, part) == 0;
        if (!part->started) {
            made->count++;
            partition_free(made);
            return bt_fail(error, BT_MEMORY, "cannot start thread %u of %u", made->count, count);
        }
    }
    *partition = made;
    return 0;
}

/* Hands over the block of a part, if it has records, and waits for room for the next one. */
static void hand_over(struct partition *partition, struct part *part)
{
    if (part->filled == 0)
        return;
    pthread_mutex_lock(&partition->mutex);
    part->counts[part->handed_over % BLOCKS] = part->filled;
    part->handed_over++;
    pthread_cond_signal(&part->changed);
    while (part->handed_over - part->done == BLOCKS)
        pthread_cond_wait(&part->changed, &partition->mutex);
    part->block = block_of(part, part->handed_over);
    part->filled = 0;
    partition->failed |= part->result < 0;
    pthread_mutex_unlock(&partition->mutex);
}

/* Room in the fullest block, at least ROOM_MIN. */
static size_t make_room(struct partition *partition)
{
    size_t room = BLOCK_RECORDS;
    for (unsigned i = 0; i < partition->count; i++) {
        struct part *part = &partition->parts[i];
        if (BLOCK_RECORDS - part->filled < ROOM_MIN)
            hand_over(partition, part);
        if (BLOCK_RECORDS - part->filled < room)
            room = BLOCK_RECORDS - part->filled;
    }
    return room;
}

static inline void give(struct part *part, const struct record *record)
{
    part->block[part->filled++] = *record;
}

/* Gives a record to all parts that may have one of its lines: a part ignores what is not its own.
 * The first reference of a processor is known to all, since coherence may begin with it. */
static void give_several(struct partition *partition, const struct record *record)
{
    const uint32_t begin = record->address >> partition->shift;
    const uint32_t last = (record->address + reference_bytes(record) - 1) >> partition->shift;
    const uint32_t classes = (last - begin) & (UINT32_MAX >> partition->shift);
    const bool all = !partition->met[record->processor];
    partition->met[record->processor] = true;
    for (unsigned i = 0; i < partition->count; i++) {
        bool touched = all;
        for (uint32_t n = 0; n <= classes && !touched; n++)
            touched = ((begin + n) & partition->mask) % partition->all == partition->first + i;
        if (touched)
            give(&partition->parts[i], record);
    }
}

/* Gives a record whose part is not that of its only line. */
static void give_otherwise(struct partition *partition, const struct record *record)
{
    if (reference_kind_of(record->type) != REFERENCE_NONE)
        give_several(partition, record);
    else if (partition->first == 0)
        give(&partition->parts[0], record);
}

/* Whether a record is a reference to one line, of a processor that all parts know. */
static inline bool has_one_class(const struct partition *partition, const struct record *record,
                                 unsigned shift)
{
    const uint32_t address = record->address;
    const uint32_t last = address + reference_bytes(record) - 1;
    return reference_kind_of(record->type) != REFERENCE_NONE && (address ^ last) >> shift == 0 &&
           partition->met[record->processor];
}

/* Divides records for which there is room. */
static void divide(struct partition *partition, const struct record *records, size_t count)
{
    const unsigned all = partition->all;
    const unsigned shift = partition->shift;
    const uint32_t mask = partition->mask;
    const uint32_t low = all - 1; /* bits of a class that are the part, if that is a power of two */
    const bool simple = (all & low) == 0;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        record_prefetch(record);
        if (!has_one_class(partition, record, shift)) {
            give_otherwise(partition, record);
            continue;
        }
        const uint32_t class_of = record->address >> shift & mask;
        const uint32_t part = (simple ? class_of & low : class_of % all) - partition->first;
        if (part < partition->count)
            give(&partition->parts[part], record);
    }
}

/* The same for two parts, which are all. Each record is written to both, and remains in one: its
 * part is a matter of chance, and nothing waits for it. */
static void divide_in_two(struct partition *partition, const struct record *records, size_t count)
{
    struct part *parts = partition->parts;
    const unsigned shift = partition->shift;
    const uint32_t bit = partition->mask & 1;
    struct record *first = parts[0].block + parts[0].filled;
    struct record *second = parts[1].block + parts[1].filled;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        record_prefetch(record);
        if (!has_one_class(partition, record, shift)) {
            parts[0].filled = (size_t)(first - parts[0].block);
            parts[1].filled = (size_t)(second - parts[1].block);
            give_otherwise(partition, record);
            first = parts[0].block + parts[0].filled;
            second = parts[1].block + parts[1].filled;
            continue;
        }
        const uint32_t part = record->address >> shift & bit;
        *first = *record;
        *second = *record;
        first += part ^ 1;
        second += part;
    }
    parts[0].filled = (size_t)(first - parts[0].block);
    parts[1].filled = (size_t)(second - parts[1].block);
}

int partition_put(struct partition *partition, const struct record *records, size_t count,
                  struct bt_error *error)
{
    while (count > 0) {
        const size_t room = make_room(partition);
        const size_t now = count < room ? count : room;
        const size_t filled = partition->parts[0].filled;
        if (partition->all == 2 && partition->count == 2)
            divide_in_two(partition, records, now);
        else
            divide(partition, records, now);
        partition->elsewhere += now - (partition->parts[0].filled - filled);
        records += now;
        count -= now;
    }
    return partition->failed ? partition_wait(partition, error) : 0;
}

int partition_wait(struct partition *partition, struct bt_error *error)
{
    int result = 0;
    for (unsigned i = 0; i < partition->count; i++)
        hand_over(partition, &partition->parts[i]);
    pthread_mutex_lock(&partition->mutex);
    for (unsigned i = 0; i < partition->count; i++) {
        struct part *part = &partition->parts[i];
        while (part->done != part->handed_over)
            pthread_cond_wait(&part->changed, &partition->mutex);
        if (part->result < 0 && result == 0) {
            result = part->result;
            *error = part->error;
        }
    }
    pthread_mutex_unlock(&partition->mutex);
    hierarchy_count_records(partition->parts[0].hierarchy, partition->elsewhere);
    partition->elsewhere = 0;
    return result;
}

void partition_free(struct partition *partition)
{
    if (!partition)
        return;
    pthread_mutex_lock(&partition->mutex);
    partition->ending = true;
    for (unsigned i = 0; i < partition->count; i++)
        pthread_cond_signal(&partition->parts[i].changed);
    pthread_mutex_unlock(&partition->mutex);
    for (unsigned i = 0; i < partition->count; i++) {
        struct part *part = &partition->parts[i];
        if (part->started)
            pthread_join(part->thread, NULL);
        pthread_cond_destroy(&part->changed);
        free(part->blocks);
    }
    pthread_mutex_destroy(&partition->mutex);
    free(partition);
}
