#include "capture/rules.h"

#include "capture/file_set.h"
#include "capture/stream_output.h"
#include "formats/base/thread.h"
#include "formats/blocks/block_feed.h"

#include <string.h>
#include <sys/stat.h>

#define QUEUE_BYTES_DEFAULT ((size_t)64 << 20)
#define FLUSH_NS_DEFAULT    1000000000
#define FLUSH_NS_STREAM     200000000 /* a program may show the records as they come */
#define BLOCKS_MIN          2u
#define BLOCK_RECORDS_MIN   16u
#define QUEUE_BLOCKS_WISHED 4u /* a queue of fewer blocks makes the threads wait for each other */
#define FILE_BLOCKS_WISHED  2u /* a file of fewer blocks would rarely come near its limit */
#define FILE_OVERHEAD_BYTES (2u * CAPTURE_MEMBER_HEADER_MAX)
/* compressed at worst; the rest is being written while the workers run */
#define MEMBERS_A_WORKER      2u
#define MEMBERS_OF_THE_WRITER 2u
#define SEGMENT_RECORDS       32u
#define SEGMENTS_MIN          16u
#define FIXED_BYTES           ((size_t)256 << 10)

struct capture_settings capture_settings_default(void)
{
    return (struct capture_settings){.level = -1, .engine = RECORD_ENGINE_BEST};
}

static int check_limits(const struct capture_settings *settings, struct bt_error *error)
{
    if (settings->rotate_bytes && settings->rotate_bytes < RULES_FILE_BYTES_MIN)
        return bt_fail(error, BT_USAGE, "a file size of less than %u bytes is too small",
                       RULES_FILE_BYTES_MIN);
    if (settings->stop_bytes && settings->stop_bytes < RULES_FILE_BYTES_MIN)
        return bt_fail(error, BT_USAGE, "a stop at less than %u bytes is too small",
                       RULES_FILE_BYTES_MIN);
    if (settings->rotate_ns < 0 || settings->rotate_every_ns < 0 || settings->stop_ns < 0 ||
        settings->flush_ns < 0)
        return bt_fail(error, BT_USAGE, "a time must not be negative");
    if (trigger_selects(&settings->trigger) && (settings->rotate_ns || settings->rotate_every_ns))
        return bt_fail(error, BT_USAGE,
                       settings->trigger.trigger[0]
                           ? "with a trigger each window is a file: rotate takes only size=, such "
                             "as size=64M"
                           : "with a ring each snapshot is a file: rotate takes only size=, such "
                             "as size=64M");
    if (settings->stop_files && !trigger_selects(&settings->trigger) && !settings->rotate_bytes &&
        !settings->rotate_ns && !settings->rotate_every_ns)
        return bt_fail(error, BT_USAGE,
                       "a stop after a number of files needs a rule that begins new ones: rotate "
                       "by size=64M, time=10m or every=1h");
    if (settings->keep > RULES_KEEP_MAX)
        return bt_fail(error, BT_USAGE, "at most %u files can be kept in a ring", RULES_KEEP_MAX);
    return 0;
}

/* Whether the prefix is a device, as /dev/null, or its files would be in /dev beside them. */
static bool prefix_is_device(const char *prefix, const char *base)
{
    struct stat there;
    struct stat devices;
    char folder[4096];
    const size_t length = (size_t)(base - prefix);
    if (stat(prefix, &there) == 0 && (S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode)))
        return true;
    if (length >= sizeof folder)
        return false;
    memcpy(folder, prefix, length);
    folder[length] = '\0';
    return stat(length > 0 ? folder : ".", &there) == 0 && stat("/dev", &devices) == 0 &&
           there.st_dev == devices.st_dev && there.st_ino == devices.st_ino;
}

int rules_check_prefix(const char *prefix, struct bt_error *error)
{
    const char *slash = strrchr(prefix, '/');
    const char *base = slash ? slash + 1 : prefix;
    if (!*prefix)
        return bt_fail(error, BT_USAGE, "the prefix is empty");
    if (stream_output_is_named(prefix))
        return bt_fail(error, BT_USAGE,
                       "only 'bustap capture' writes to standard output: give a prefix, and read "
                       "the files while they grow with 'bustap follow PREFIX'");
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return bt_fail(error, BT_USAGE,
                       "the prefix \"%.60s\" is a folder: add the beginning of the files' names",
                       prefix);
    if (prefix_is_device(prefix, base))
        return bt_fail(error, BT_USAGE,
                       "the prefix \"%.60s\" is a device or would make files in /dev: give one in "
                       "a folder for files, such as /tmp/capture; 'bustap capture -o -' writes one "
                       "stream to standard output",
                       prefix);
    return 0;
}

static int check_stream(const struct capture_settings *settings, struct bt_error *error)
{
    if (settings->rotate_bytes || settings->rotate_ns || settings->rotate_every_ns ||
        settings->keep || settings->append)
        return bt_fail(error, BT_USAGE,
                       "standard output is one stream: rotating, keeping and appending files need "
                       "a prefix");
    return 0;
}

int rules_check(const struct capture_settings *settings, struct bt_error *error)
{
    int result = stream_output_is_named(settings->prefix)
                     ? check_stream(settings, error)
                     : rules_check_prefix(settings->prefix, error);
    if (result < 0)
        return result;
    if (settings->workers > RULES_WORKERS_MAX)
        return bt_fail(error, BT_USAGE, "at most %u compression workers are possible",
                       RULES_WORKERS_MAX);
    if (settings->queue_bytes > RULES_QUEUE_MAX)
        return bt_fail(error, BT_USAGE, RULES_QUEUE_TOO_LARGE);
    if (settings->block_records > CAPTURE_MEMBER_RECORDS_MAX)
        return bt_fail(error, BT_USAGE, "a block has at most %u records",
                       CAPTURE_MEMBER_RECORDS_MAX);
    if (!record_engine_exists(settings->engine))
        return bt_fail(error, BT_USAGE, "this bustap was built without %s",
                       record_engine_name(settings->engine));
    result = record_engine_check_level(settings->engine, settings->level, error);
    if (result == 0)
        result = trigger_check(&settings->trigger, error);
    return result < 0 ? result : check_limits(settings, error);
}

static uint64_t smaller_limit(uint64_t a, uint64_t b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

/* As many records as fit FILE_BLOCKS_WISHED times into a file, however badly they compress. */
static uint32_t records_for_file(uint64_t file_bytes)
{
    uint64_t room = file_bytes > FILE_OVERHEAD_BYTES ? file_bytes - FILE_OVERHEAD_BYTES : 0;
    uint32_t records = CAPTURE_MEMBER_RECORDS_MAX;
    while (records > BLOCK_RECORDS_MIN &&
           capture_data_member_bound(records) > room / FILE_BLOCKS_WISHED)
        records -= records / 8 + 1;
    return records > BLOCK_RECORDS_MIN ? records : BLOCK_RECORDS_MIN;
}

static uint32_t default_block_records(const struct capture_settings *settings)
{
    uint32_t records = CAPTURE_BLOCK_RECORDS;
    if (settings->engine == RECORD_ENGINE_BLOCKS)
        records *= 4; /* each member repeats the definitions of blocks */
    uint64_t file_bytes = smaller_limit(settings->rotate_bytes, settings->stop_bytes);
    if (file_bytes && records_for_file(file_bytes) < records)
        records = records_for_file(file_bytes);
    size_t share = settings->queue_bytes / RECORD_BYTES / QUEUE_BLOCKS_WISHED;
    if (share < records)
        records = (uint32_t)share;
    return records > BLOCK_RECORDS_MIN ? records : BLOCK_RECORDS_MIN;
}

void rules_complete(struct capture_settings *settings)
{
    if (settings->workers == 0) {
        settings->workers = thread_processors();
        if (settings->workers > RULES_WORKERS_MAX)
            settings->workers = RULES_WORKERS_MAX;
    }
    if (settings->queue_bytes == 0)
        settings->queue_bytes = QUEUE_BYTES_DEFAULT;
    if (settings->block_records == 0)
        settings->block_records = default_block_records(settings);
    if (settings->flush_ns == 0)
        settings->flush_ns =
            stream_output_is_named(settings->prefix) ? FLUSH_NS_STREAM : FLUSH_NS_DEFAULT;
}

size_t rules_blocks(const struct capture_settings *settings)
{
    size_t blocks = settings->queue_bytes / ((size_t)settings->block_records * RECORD_BYTES);
    return blocks > BLOCKS_MIN ? blocks : BLOCKS_MIN;
}

size_t rules_members(const struct capture_settings *settings)
{
    return (size_t)settings->workers * MEMBERS_A_WORKER + MEMBERS_OF_THE_WRITER;
}

size_t rules_segments(const struct capture_settings *settings)
{
    return settings->engine == RECORD_ENGINE_BLOCKS && settings->when_full == CAPTURE_WAIT
               ? settings->block_records / SEGMENT_RECORDS + SEGMENTS_MIN
               : 0;
}

size_t capture_memory(const struct capture_settings *settings)
{
    struct capture_settings complete = *settings;
    rules_complete(&complete);
    size_t block = (size_t)complete.block_records * RECORD_BYTES +
                   rules_segments(&complete) * sizeof(struct block_segment) + 512;
    size_t member = capture_data_member_bound(complete.block_records) + 1024;
    return (rules_blocks(&complete) + 1) * block + rules_members(&complete) * member +
           complete.workers *
               record_encoder_memory(complete.engine, complete.level, complete.block_records) +
           (size_t)complete.keep * sizeof(struct file_set_file) +
           (size_t)trigger_memory(&complete.trigger) + FIXED_BYTES;
}
