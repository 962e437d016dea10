#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/store/block_store.h"

#include "formats/base/crc32c.h"
#include "formats/base/file_io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PROBES 64u /* entries of the table that a key may be in */
#define GROWTH 16u /* a new file is written if it has a sixteenth more */

static const uint8_t magic[8] = {'B', 'U', 'S', 'T', 'A', 'P', 'T', 'C'};

struct header {
    uint8_t magic[8];
    uint32_t version;
    uint32_t entries; /* of the table that follows, a power of two */
    uint64_t bytes;   /* of the records after it */
    char owner[BLOCK_STORE_OWNER_BYTES];
};

/* Precedes the record's bytes; the next one begins at a multiple of 8. */
struct record_header {
    uint32_t size; /* of the bytes */
    uint32_t crc;  /* CRC-32C of the key and the bytes */
    uint64_t key;
};

/* Records and the table of their offsets, plus 1; 0: none. */
struct records {
    const uint8_t *bytes;
    size_t size;
    const uint32_t *table;
    uint32_t entries;
};

struct block_store {
    char owner[BLOCK_STORE_OWNER_BYTES];
    struct records file;
    size_t next; /* offset of the record after the one found last: the likely next one */
    uint8_t *added;
    size_t added_size;
    uint32_t added_count;
};

struct block_store *block_store_new(const char *owner)
{
    struct block_store *store = calloc(1, sizeof *store);
    if (store)
        strncpy(store->owner, owner, sizeof store->owner - 1);
    return store;
}

void block_store_free(struct block_store *store)
{
    if (store && store->added)
        munmap(store->added, BLOCK_STORE_MAX);
    free(store);
}

bool block_store_read(struct block_store *store, const uint8_t *bytes, size_t size)
{
    struct header header;
    if (size < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    size -= sizeof header;
    const uint64_t table = (uint64_t)header.entries * sizeof(uint32_t);
    if (memcmp(header.magic, magic, sizeof magic) != 0 || header.version != BLOCK_STORE_VERSION ||
        memcmp(header.owner, store->owner, sizeof header.owner) != 0 || header.entries < 2 ||
        (header.entries & (header.entries - 1)) || table > size || header.bytes != size - table ||
        header.bytes > BLOCK_STORE_MAX)
        return false;
    store->file = (struct records){.bytes = bytes + sizeof header + table,
                                   .size = header.bytes,
                                   .table = (const void *)(bytes + sizeof header),
                                   .entries = header.entries};
    store->next = 0;
    return true;
}

static uint32_t crc_of(uint64_t key, const void *bytes, size_t size)
{
    return crc32c(crc32c(0, &key, sizeof key), bytes, size);
}

/* Bytes of a record with its header, up to the next one. */
static size_t padded_size(size_t size)
{
    return (sizeof(struct record_header) + size + 7) & ~(size_t)7;
}

/* The record at an offset; false: there is none. */
static bool record_at(const struct records *records, size_t at, struct record_header *header)
{
    if (at % 8 != 0 || at > records->size || records->size - at < sizeof *header)
        return false;
    memcpy(header, records->bytes + at, sizeof *header);
    return header->size <= records->size - at - sizeof *header;
}

static uint32_t hash_of(uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);
}

/* The offset of a key's record; false: there is none. */
static bool look_up(const struct records *records, uint64_t key, size_t *at,
                    struct record_header *header)
{
    for (unsigned i = 0; i < PROBES && i < records->entries; i++) {
        const uint32_t entry = records->table[(hash_of(key) + i) & (records->entries - 1)];
        if (entry == 0)
            return false;
        *at = entry - 1;
        if (record_at(records, *at, header) && header->key == key)
            return true;
    }
    return false;
}

const uint8_t *block_store_find(struct block_store *store, uint64_t key, size_t *size)
{
    struct record_header header;
    size_t at = store->next;
    if (!(record_at(&store->file, at, &header) && header.key == key) &&
        !look_up(&store->file, key, &at, &header))
        return NULL;
    const uint8_t *bytes = store->file.bytes + at + sizeof header;
    if (crc_of(key, bytes, header.size) != header.crc)
        return NULL;
    store->next = at + padded_size(header.size);
    *size = header.size;
    return bytes;
}

void block_store_add(struct block_store *store, uint64_t key, const struct block_store_part *parts,
                     unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += parts[i].size;
    if (!store->added) {
        void *memory = mmap(NULL, BLOCK_STORE_MAX, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return;
        store->added = memory;
    }
    if (padded_size(size) > BLOCK_STORE_MAX - store->added_size)
        return;
    uint8_t *at = store->added + store->added_size, *bytes = at + sizeof(struct record_header);
    size_t done = 0;
    for (unsigned i = 0; i < count; i++) {
        memcpy(bytes + done, parts[i].bytes, parts[i].size);
        done += parts[i].size;
    }
    const struct record_header header = {
        .size = (uint32_t)size, .crc = crc_of(key, bytes, size), .key = key};
    memcpy(at, &header, sizeof header);
    store->added_size += padded_size(size);
    store->added_count++;
}

bool block_store_has_grown(const struct block_store *store)
{
    return store->added_size > store->file.size / GROWTH;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int write_all(int descriptor, const void *bytes, size_t size, struct bt_error *error)
{
    return file_write(descriptor, bytes, size, NULL) == 0
               ? 0
               : bt_fail_errno(error, "translations cannot be written");
}

/* Inserts a key. False: it is there, or there is no free entry for it. */
static bool insert_key(uint32_t *table, uint32_t entries, const uint64_t *keys, uint64_t key,
                       uint32_t number)
{
    for (unsigned i = 0; i < PROBES; i++) {
        uint32_t *entry = &table[(hash_of(key) + i) & (entries - 1)];
        if (*entry && keys[*entry - 1] == key)
            return false;
        if (!*entry) {
            *entry = number + 1;
            return true;
        }
    }
    return false;
}

/* The contents of a new file: each record's key, place in memory and offset. */
struct file_contents {
    uint32_t *table;
    uint32_t entries, count, limit;
    uint64_t *keys;
    struct block_store_part *records;
    uint32_t *offsets;
    size_t size;
};

/* Adds those records that are intact and whose keys are new, up to BLOCK_STORE_MAX. */
static void add_records(struct file_contents *file, const struct records *from)
{
    struct record_header header;
    for (size_t at = 0; record_at(from, at, &header); at += padded_size(header.size)) {
        const size_t size = padded_size(header.size);
        const uint8_t *bytes = from->bytes + at + sizeof header;
        if (size > BLOCK_STORE_MAX - file->size || size > from->size - at ||
            file->count == file->limit)
            break;
        if (crc_of(header.key, bytes, header.size) != header.crc ||
            !insert_key(file->table, file->entries, file->keys, header.key, file->count))
            continue;
        file->keys[file->count] = header.key;
        file->records[file->count] =
            (struct block_store_part){.bytes = from->bytes + at, .size = size};
        file->offsets[file->count++] = (uint32_t)file->size;
        file->size += size;
    }
}

static uint32_t count_of(const struct records *records)
{
    struct record_header header;
    uint32_t count = 0;
    for (size_t at = 0; record_at(records, at, &header); at += padded_size(header.size))
        count++;
    return count;
}

static int write_new_file(const struct block_store *store, const struct file_contents *file,
                          int descriptor, struct bt_error *error)
{
    struct header header = {
        .version = BLOCK_STORE_VERSION, .entries = file->entries, .bytes = file->size};
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.owner, store->owner, sizeof header.owner);
    for (uint32_t i = 0; i < file->entries; i++)
        if (file->table[i])
            file->table[i] = file->offsets[file->table[i] - 1] + 1;
    int result = write_all(descriptor, &header, sizeof header, error);
    if (result == 0)
        result = write_all(descriptor, file->table, file->entries * sizeof(uint32_t), error);
    for (uint32_t i = 0, next; result == 0 && i < file->count; i = next) {
        size_t size = file->records[i].size; /* with those adjacent in memory */
        const uint8_t *bytes = file->records[i].bytes;
        for (next = i + 1;
             next < file->count && file->records[next].bytes == (const void *)(bytes + size);
             next++)
            size += file->records[next].size;
        result = write_all(descriptor, bytes, size, error);
    }
    return result;
}

int block_store_write(const struct block_store *store, int descriptor, struct bt_error *error)
{
    const struct records added = {.bytes = store->added, .size = store->added_size};
    struct file_contents file = {.entries = 2,
                                 .limit = store->added_count + count_of(&store->file)};
    while (file.entries < 2 * file.limit)
        file.entries *= 2;
    file.table = calloc(file.entries, sizeof *file.table);
    file.keys = calloc(file.limit + 1, sizeof *file.keys);
    file.records = calloc(file.limit + 1, sizeof *file.records);
    file.offsets = calloc(file.limit + 1, sizeof *file.offsets);
    int result;
    if (file.table && file.keys && file.records && file.offsets) {
        add_records(&file, &added);
        add_records(&file, &store->file);
        result = write_new_file(store, &file, descriptor, error);
    } else {
        result = bt_fail(error, BT_MEMORY, "no memory to write translations");
    }
    free(file.table);
    free(file.keys);
    free(file.records);
    free(file.offsets);
    return result;
}
