#include "capture/pack/pack_file.h"

#include "capture/pack/pack_blocks.h"
#include "formats/base/crc32c.h"
#include "formats/capture/capture_writer.h"
#include "formats/capture/trace_reader.h"

#include <stdlib.h>
#include <string.h>

struct pack {
    const char *path, *name;
    int file;
    struct trace_reader *reader;
    struct pack_blocks *blocks;
    struct capture_writer *writer; /* NULL before a header and after a closing member */
    struct loss lost;              /* of the file being written */
    uint32_t read, written;        /* CRC-32C of its records, one after the other */
    struct pack_counts *counts;
    struct bt_error failed; /* of the watcher; code 0: none */
};

static uint32_t records_crc(uint32_t crc, const struct batch *batch)
{
    return crc32c(crc, (const uint8_t *)batch->records, batch->count * sizeof *batch->records);
}

static int put_member(void *context, const struct batch *batch, const uint8_t *member, size_t size,
                      struct bt_error *error)
{
    struct pack *pack = context;
    int result = capture_writer_put(pack->writer, member, size, batch, error);
    if (result < 0)
        return result;
    loss_add(&pack->lost, &batch->lost);
    pack->written = records_crc(pack->written, batch);
    pack->counts->blocks++;
    pack->counts->records += batch->count;
    return 0;
}

static int begin_file(struct pack *pack, const struct capture_info *header, struct bt_error *error)
{
    if (pack->writer)
        return bt_fail(error, BT_DATA,
                       "%s is not complete: a file in it has no end; 'bustap recover' saves it",
                       pack->path);
    struct capture_info info = *header;
    info.version = CAPTURE_VERSION_CODED;
    memset(&pack->lost, 0, sizeof pack->lost);
    pack->read = pack->written = 0;
    pack->writer = capture_writer_new(pack->file, pack->name, &info, error);
    return pack->writer ? 0 : error->code;
}

static int end_file(struct pack *pack, const struct capture_totals *was, struct bt_error *error)
{
    if (!pack->writer)
        return bt_fail(error, BT_DATA,
                       "%s is damaged: a file in it has no header; 'bustap recover' saves it",
                       pack->path);
    int result = pack_blocks_flush(pack->blocks, error);
    if (result < 0)
        return result;
    /* the writer adds the losses before its blocks; the others are after the last one */
    struct capture_totals totals = *was;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        const uint64_t written = pack->lost.count[stage];
        totals.file_lost[stage] -=
            written < totals.file_lost[stage] ? written : totals.file_lost[stage];
    }
    result = capture_writer_close(pack->writer, &totals, error);
    if (result < 0)
        return result;
    if (totals.file_records != was->file_records || totals.end_index != was->end_index ||
        memcmp(totals.file_lost, was->file_lost, sizeof was->file_lost) != 0)
        return bt_fail(error, BT_DATA,
                       "%s is damaged: its closing member does not fit its blocks; 'bustap verify' "
                       "tells more, 'bustap recover' saves the records",
                       pack->path);
    if (pack->read != pack->written)
        return bt_fail(error, BT_IO,
                       "%s: the blocks written are not those read: the memory of this machine, or "
                       "bustap, is at fault",
                       pack->path);
    pack->counts->bytes += capture_writer_bytes(pack->writer);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        pack->counts->lost += totals.file_lost[stage];
    capture_writer_free(pack->writer);
    pack->writer = NULL;
    return 0;
}

static int put_block(struct pack *pack, const struct capture_member *member, struct bt_error *error)
{
    const struct batch *batch = &member->batch;
    if (!pack->writer)
        return bt_fail(error, BT_DATA,
                       "%s is damaged: a block belongs to no file; 'bustap recover' saves it",
                       pack->path);
    pack->counts->blocks_before++;
    pack->read = records_crc(pack->read, batch);
    return pack_blocks_put(pack->blocks, batch, member->codec == RECORD_CODEC_BLOCKS, error);
}

/* Members as they are in the file. */
static void member_met(void *context, const struct capture_member *member)
{
    struct pack *pack = context;
    struct bt_error error;
    int result = 0;
    if (pack->failed.code < 0)
        return;
    switch (member->kind) {
    case CAPTURE_MEMBER_HEADER:
        result = begin_file(pack, &member->info, &error);
        break;
    case CAPTURE_MEMBER_DATA:
        result = put_block(pack, member, &error);
        break;
    case CAPTURE_MEMBER_CLOSING:
        result = end_file(pack, &member->totals, &error);
        break;
    }
    if (result < 0)
        pack->failed = error;
}

/* Reads the capture to its end; member_met does the work. */
static int pump(struct pack *pack, const struct pack_settings *settings, struct bt_error *error)
{
    struct source *source = trace_reader_source(pack->reader);
    struct batch batch = {.capacity = CAPTURE_MEMBER_RECORDS_MAX};
    batch.records = malloc(batch.capacity * sizeof *batch.records);
    if (!batch.records)
        return bt_fail(error, BT_MEMORY, "no memory for a block");
    int more;
    bool on;
    do {
        more = source_next(source, &batch, -1, error);
        on = settings->go_on(settings->context, pack->path, trace_reader_offset(pack->reader),
                             trace_reader_size(pack->reader));
    } while (more == 1 && on && pack->failed.code == 0);
    free(batch.records);
    if (!on)
        return bt_fail(error, BT_CLOSED, PACK_STOPPED, pack->path);
    if (pack->failed.code < 0) {
        *error = pack->failed;
        return error->code;
    }
    if (more == BT_NOTE || more == BT_DATA) {
        const struct bt_error found = *error;
        return bt_fail(error, BT_DATA, "%.400s; 'bustap recover' saves what is whole",
                       found.message);
    }
    if (more == 0 && pack->writer)
        return bt_fail(error, BT_DATA, PACK_NOT_COMPLETE, pack->path);
    return more;
}

int pack_file(const char *path, int fd, const char *name, const struct pack_settings *settings,
              struct pack_counts *counts, struct bt_error *error)
{
    struct pack pack = {.path = path, .name = name, .file = fd, .counts = counts};
    *counts = (struct pack_counts){.records = 0};
    int result = trace_reader_open(&pack.reader, path, 0, error);
    if (result < 0)
        return result;
    if (trace_reader_kind(pack.reader) != TRACE_CAPTURE)
        result = bt_fail(error, BT_USAGE,
                         "%s is not a capture file: 'bustap cut -o OUT' makes one of it", path);
    counts->bytes_before = trace_reader_size(pack.reader);
    if (result == 0) {
        const size_t block = settings->level >= PACK_LEVEL_ARCHIVE ? CAPTURE_MEMBER_RECORDS_MAX
                                                                   : CAPTURE_BLOCK_RECORDS;
        pack.blocks = pack_blocks_new(RECORD_ENGINE_COLUMNS, settings->level, block,
                                      settings->threads, put_member, &pack, error);
        result = pack.blocks ? 0 : error->code;
    }
    if (result == 0) {
        trace_reader_watch_all(pack.reader, member_met, &pack);
        result = pump(&pack, settings, error);
    }
    capture_writer_free(pack.writer);
    pack_blocks_free(pack.blocks);
    source_close(trace_reader_source(pack.reader));
    return result;
}
