#include "tools/input/capture_follow.h"

#include "formats/base/clock.h"
#include "formats/base/file_io.h"
#include "formats/base/file_lock.h"
#include "formats/capture/capture_name.h"
#include "formats/capture/capture_peek.h"
#include "tools/input/captures.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS    20000000 /* between looks at a file that does not grow */
#define READ_BYTES (1u << 20)
#define PATH_BYTES 4096u

struct capture_follow {
    struct source source; /* first */
    char folder[PATH_BYTES];
    char base[PATH_BYTES]; /* last component of the prefix */
    char lock[PATH_BYTES]; /* name of the prefix's lock in the folder */
    int file;              /* -1: none is open */
    char name[PATH_BYTES]; /* of the open file, in the folder */
    struct capture_info info;
    struct capture_totals totals;
    bool known;  /* info is that of the capture */
    bool closed; /* the open file ended with its closing member */
    bool ended;
    bool damaged;    /* bytes are being left out, as reported */
    off_t offset;    /* in the file, of bytes[0] */
    uint8_t *bytes;  /* READ_BYTES, or a member's size if that is more */
    size_t capacity; /* of bytes */
    size_t fill;
    struct record_decoder *decoder;
    struct batch held; /* a member: records from position on are pending */
    size_t position;
    atomic_bool stopped;
};

/* --- files ----------------------------------------------------------------------------------- */

static bool is_of_prefix(const struct capture_follow *follow, const char *file,
                         struct capture_name *name)
{
    return capture_name_get(name, file) && name->prefix_bytes == strlen(follow->base) &&
           memcmp(file, follow->base, name->prefix_bytes) == 0;
}

/* Opens a file of the folder and reads its header. The descriptor, or -1: it is gone, or has no
 * header yet. */
static int open_header(const struct capture_follow *follow, const char *name,
                       struct capture_info *info)
{
    char path[2 * PATH_BYTES];
    struct capture_member member;
    snprintf(path, sizeof path, "%s/%s", follow->folder, name);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return -1;
    if (capture_peek_header(file, &member)) {
        *info = member.info;
        return file;
    }
    close(file);
    return -1;
}

/* A file found in the folder. */
struct found {
    char name[NAME_MAX + 1];
    int file; /* -1: none */
    struct capture_info info;
    char headless[NAME_MAX + 1]; /* a file without a name of its own yet, and without a header */
};

/* Whether a file is to be read before the one found so far: of the capture that is followed, the
 * first one after the last that was read; at the start, the first one of the newest capture. */
static bool is_better(const struct capture_follow *follow, const struct capture_info *info,
                      const struct found *found)
{
    if (follow->known && (!capture_info_same_capture(info, &follow->info) ||
                          info->file_number <= follow->info.file_number))
        return false;
    if (found->file < 0)
        return true;
    if (!capture_info_same_capture(info, &found->info))
        return info->started_ns > found->info.started_ns;
    return info->file_number < found->info.file_number;
}

static void find_file(const struct capture_follow *follow, struct found *found)
{
    DIR *folder = opendir(follow->folder);
    found->file = -1;
    found->headless[0] = '\0';
    if (!folder)
        return;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        struct capture_name name;
        struct capture_info info;
        if (!is_of_prefix(follow, entry->d_name, &name) ||
            (follow->known && name.number <= follow->info.file_number))
            continue;
        int file = open_header(follow, entry->d_name, &info);
        if (file >= 0 && is_better(follow, &info, found)) {
            if (found->file >= 0)
                close(found->file);
            found->file = file;
            found->info = info;
            snprintf(found->name, sizeof found->name, "%s", entry->d_name);
        } else if (file >= 0) {
            close(file);
        } else if (name.part) {
            snprintf(found->headless, sizeof found->headless, "%s", entry->d_name);
        }
    }
    closedir(folder);
}

static bool is_running(const struct capture_follow *follow)
{
    int folder = open(follow->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    bool held = file_lock_is_held(folder, follow->lock);
    close(folder);
    return held;
}

static void close_file(struct capture_follow *follow)
{
    if (follow->file >= 0)
        close(follow->file);
    follow->file = -1;
    follow->fill = 0;
    follow->offset = 0;
    follow->damaged = false;
    follow->closed = false;
}

/* Opens the next file. 1; 0: there is none now; BT_DATA: files before it are missing. */
static int open_next(struct capture_follow *follow, struct bt_error *error)
{
    struct found found;
    find_file(follow, &found);
    if (found.file < 0)
        return 0;
    char missing[CAPTURES_MISSING_BYTES];
    bool holes = captures_missing(missing, follow->info.file_number + 1, found.info.file_number);
    close_file(follow);
    follow->file = found.file;
    follow->info = found.info;
    follow->known = true;
    snprintf(follow->name, sizeof follow->name, "%s", found.name);
    if (!holes)
        return 1;
    return bt_fail(error, BT_DATA, "%s: %s: they were removed before they could be read",
                   follow->base, missing);
}

/* --- members --------------------------------------------------------------------------------- */

static void consume(struct capture_follow *follow, size_t size)
{
    follow->fill -= size;
    follow->offset += (off_t)size;
    memmove(follow->bytes, follow->bytes + size, follow->fill);
}

/* Reads until wanted bytes are available. 1, 0: they are not in the file yet, or a negative code.
 */
static int fill_to(struct capture_follow *follow, size_t wanted, struct bt_error *error)
{
    if (wanted > follow->capacity) {
        uint8_t *bytes = realloc(follow->bytes, wanted);
        if (!bytes)
            return bt_fail(error, BT_MEMORY, "no memory to read %s", follow->name);
        follow->bytes = bytes;
        follow->capacity = wanted;
    }
    while (follow->fill < wanted) {
        ssize_t got =
            file_read_at(follow->file, follow->bytes + follow->fill,
                         follow->capacity - follow->fill, follow->offset + (off_t)follow->fill);
        if (got < 0)
            return bt_fail_errno(error, "cannot read %s", follow->name);
        if (got == 0)
            return 0;
        follow->fill += (size_t)got;
    }
    return 1;
}

/* Reports corruption once; the bytes up to the next good member are left out. */
static int skip_byte(struct capture_follow *follow, const struct bt_error *why,
                     struct bt_error *error)
{
    bool first = !follow->damaged;
    long long offset = (long long)follow->offset;
    const uint8_t *next = memchr(follow->bytes + 1, 0x1f, follow->fill - 1);
    consume(follow, next ? (size_t)(next - follow->bytes) : follow->fill);
    follow->damaged = true;
    return first ? bt_fail(error, BT_DATA, "%s: offset %lld: %.200s", follow->name, offset,
                           why->message)
                 : 2;
}

/* Takes the records of a data member. */
static int take_data(struct capture_follow *follow, const struct capture_member *member,
                     struct bt_error *error)
{
    struct batch *held = &follow->held;
    struct record *records = held->records;
    size_t capacity = held->capacity;
    if (member->batch.count > capacity) {
        capacity = member->batch.count;
        records = realloc(records, capacity * sizeof *records);
        if (!records)
            return bt_fail(error, BT_MEMORY, "no memory for a block of %zu records", capacity);
    }
    *held = member->batch;
    held->records = records;
    held->capacity = capacity;
    follow->position = 0;
    int result = capture_get_records(follow->decoder, member, follow->bytes, records, error);
    if (result < 0)
        held->count = 0;
    return result;
}

/* The next member of the open file. 1: records, a loss or a gap are held; 2: another member was
 * taken; 0: none is complete yet; or a negative code. */
static int read_member(struct capture_follow *follow, struct bt_error *error)
{
    struct capture_member member;
    struct bt_error why = {0};
    int result = fill_to(follow, CAPTURE_MEMBER_HEADER_MAX, error);
    if (result < 0 || follow->fill == 0)
        return result;
    int got = capture_get_member(&member, follow->bytes, follow->fill, &why);
    if (got == 1)
        result = fill_to(follow, member.member_bytes, error);
    if (got == 0 || (got == 1 && result == 0)) {
        follow->fill = 0; /* a full disk makes the writer take an incomplete member back */
        return 0;
    }
    if (got < 0)
        return skip_byte(follow, &why, error);
    if (result < 0)
        return result;
    if (member.kind == CAPTURE_MEMBER_DATA) {
        result = take_data(follow, &member, &why);
        if (result == BT_DATA)
            return skip_byte(follow, &why, error);
        if (result < 0)
            return bt_fail(error, result, "%s", why.message);
    } else if (member.kind == CAPTURE_MEMBER_CLOSING) {
        follow->totals = member.totals;
        follow->closed = true;
    }
    follow->damaged = false;
    consume(follow, member.member_bytes);
    return member.kind == CAPTURE_MEMBER_DATA ? 1 : 2;
}

/* --- batches --------------------------------------------------------------------------------- */

static bool is_pending(const struct capture_follow *follow)
{
    return follow->position < follow->held.count ||
           (follow->position == 0 && batch_has_loss_or_gap(&follow->held));
}

/* Derives gap and event from the marks of the first record, as formats/capture/trace_reader.h
 * does. */
static void take_marks(struct batch *batch, bool begins)
{
    struct record *first = batch->records;
    if (first->attribute & ATTRIBUTE_PART) {
        batch->gap.chosen |= !begins;
        first->attribute &= (uint8_t)~ATTRIBUTE_PART;
    }
    batch->event = first->type == REQUEST_FETCH ? first->attribute & ATTRIBUTE_EVENT : EVENT_NONE;
    first->attribute &= (uint8_t)~ATTRIBUTE_EVENT;
}

/* Fills batch from the held member. */
static int hand_out(struct capture_follow *follow, struct batch *batch)
{
    struct batch *held = &follow->held;
    const struct record *from = held->records + follow->position;
    bool begins = follow->position == 0;
    bool marked = held->parts > 0 || held->events;
    uint8_t marks =
        (uint8_t)((held->parts > 0 ? ATTRIBUTE_PART : 0) | (held->events ? ATTRIBUTE_EVENT : 0));
    size_t count = held->count - follow->position;
    batch_clear(batch);
    if (count > batch->capacity)
        count = batch->capacity;
    if (count > 0 && marked)
        count = records_until_mark(from, count, marks);
    batch->count = count;
    batch->first_index = held->first_index + follow->position;
    batch->host_time_ns = held->host_time_ns;
    batch->first_tick = batch->last_tick = held->first_tick;
    if (begins) {
        batch->lost = held->lost;
        batch->gap = held->gap;
        held->lost = (struct loss){.first_tick = 0};
        held->gap = (struct gap){.milliseconds = 0};
    }
    if (count == 0)
        return 1;
    memcpy(batch->records, from, count * sizeof *from);
    batch->last_tick += records_time(from + 1, count - 1);
    if (marked)
        take_marks(batch, begins);
    follow->position += count;
    if (follow->position < held->count)
        held->first_tick = batch->last_tick + from[count].time;
    return 1;
}

/* --- the source ------------------------------------------------------------------------------ */

/* Nothing can be read although the capture, as seen before, no longer runs. */
static int end_killed(struct capture_follow *follow, struct bt_error *error)
{
    follow->ended = true;
    if (follow->closed)
        return bt_fail(error, BT_DATA, "the file after %s is missing: its capture was killed",
                       follow->name);
    return bt_fail(error, BT_DATA,
                   "%s has no closing block: its capture was killed; 'bustap recover' adds it",
                   follow->name);
}

/* No file can be read, and no capture ran before the look: BT_DATA if one was killed before it had
 * written a header, which no program adds any more; else BT_TIMEOUT. */
static int check_headless(struct capture_follow *follow, struct bt_error *error)
{
    struct found found;
    char path[2 * PATH_BYTES];
    find_file(follow, &found);
    if (found.file >= 0)
        close(found.file);
    snprintf(path, sizeof path, "%s/%s", follow->folder, found.headless);
    if (found.file >= 0 || !found.headless[0] || is_running(follow) || access(path, F_OK) != 0)
        return BT_TIMEOUT;
    follow->ended = true;
    return bt_fail(
        error, BT_DATA,
        "%s has no readable header, and no capture writes to it: its capture was killed; "
        "remove it",
        path);
}

/* One attempt. 1, 0 at the end, BT_TIMEOUT: nothing now; or another negative code. */
static int advance(struct capture_follow *follow, struct batch *batch, struct bt_error *error)
{
    for (;;) {
        if (is_pending(follow))
            return hand_out(follow, batch);
        if (follow->ended)
            return 0;
        if (follow->closed && follow->totals.final) {
            follow->ended = true;
            continue;
        }
        bool ran = is_running(follow); /* asked before the last look */
        int result = follow->file < 0 || follow->closed ? open_next(follow, error)
                                                        : read_member(follow, error);
        if (result < 0)
            return result;
        if (result > 0)
            continue;
        if (ran)
            return BT_TIMEOUT;
        if (!follow->known)
            return check_headless(follow, error);
        return end_killed(follow, error);
    }
}

static int follow_next(struct source *source, struct batch *batch, int timeout_ms,
                       struct bt_error *error)
{
    struct capture_follow *follow = (struct capture_follow *)source;
    int64_t until = timeout_ms < 0 ? INT64_MAX : clock_monotonic_ms() + timeout_ms;
    const struct timespec pause = {.tv_nsec = POLL_NS};
    for (;;) {
        if (atomic_load(&follow->stopped))
            return 0;
        int result = advance(follow, batch, error);
        if (result != BT_TIMEOUT || clock_monotonic_ms() >= until)
            return result;
        nanosleep(&pause, NULL);
    }
}

static const struct capture_info *follow_info(struct source *source)
{
    return &((struct capture_follow *)source)->info;
}

static void follow_totals(struct source *source, struct source_totals *totals)
{
    *totals = ((struct capture_follow *)source)->totals.source;
}

static int follow_stop(struct source *source, struct bt_error *error)
{
    (void)error;
    atomic_store(&((struct capture_follow *)source)->stopped, true);
    return 0;
}

static void follow_close(struct source *source)
{
    struct capture_follow *follow = (struct capture_follow *)source;
    if (!follow)
        return;
    close_file(follow);
    record_decoder_free(follow->decoder);
    free(follow->held.records);
    free(follow->bytes);
    free(follow);
}

static const struct source_operations follow_operations = {.next = follow_next,
                                                           .info = follow_info,
                                                           .totals = follow_totals,
                                                           .stop = follow_stop,
                                                           .close = follow_close};

/* Divides the prefix into folder and base. */
static int take_prefix(struct capture_follow *follow, const char *prefix, struct bt_error *error)
{
    const char *slash = strrchr(prefix, '/');
    const char *base = slash ? slash + 1 : prefix;
    if (!*base)
        return bt_fail(error, BT_USAGE,
                       "the prefix \"%.60s\" is a folder: add the beginning of the files' names",
                       prefix);
    if (strlen(prefix) >= PATH_BYTES || strlen(base) > NAME_MAX - CAPTURE_NAME_ENDING_BYTES ||
        !file_lock_name(follow->lock, sizeof follow->lock, base))
        return bt_fail(error, BT_USAGE, "the prefix %.60s... is too long", prefix);
    strcpy(follow->base, base);
    if (!slash)
        strcpy(follow->folder, ".");
    else
        snprintf(follow->folder, sizeof follow->folder, "%.*s",
                 slash == prefix ? 1 : (int)(slash - prefix), prefix);
    return 0;
}

int capture_follow_open(struct source **source, const char *prefix, struct bt_error *error)
{
    struct capture_follow *follow = calloc(1, sizeof *follow);
    if (!follow)
        return bt_fail(error, BT_MEMORY, "no memory to follow %.200s", prefix);
    follow->source.operations = &follow_operations;
    follow->source.backpressure = true;
    follow->file = -1;
    follow->capacity = READ_BYTES;
    follow->bytes = malloc(follow->capacity);
    int result = take_prefix(follow, prefix, error);
    if (result == 0 && !follow->bytes)
        result = bt_fail(error, BT_MEMORY, "no memory to follow %.200s", prefix);
    if (result == 0) {
        follow->decoder = record_decoder_new(error);
        result = follow->decoder ? 0 : BT_MEMORY;
    }
    if (result < 0) {
        follow_close(&follow->source);
        return result;
    }
    *source = &follow->source;
    return 0;
}

const struct capture_totals *capture_follow_closing(const struct source *source)
{
    const struct capture_follow *follow = (const struct capture_follow *)source;
    return follow->totals.end != CAPTURE_END_NONE ? &follow->totals : NULL;
}
