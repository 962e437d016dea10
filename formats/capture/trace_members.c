#include "formats/capture/trace_members.h"

#include "formats/base/bytes.h"
#include "formats/base/crc32c.h"
#include "formats/capture/crc_trail.h"
#include "formats/capture/decode_ahead.h"
#include "formats/capture/member_ticks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFLATE_RATIO_MAX 1032u /* largest expansion by deflate */

/* Limit of the cost of members with a correct CRC that cannot be decompressed, before they are
 * skipped whole: a constant, and a factor for each byte of the file before them. */
#define WASTE_MAX   (64u << 20)
#define WASTE_RATIO 4u

struct trace_members {
    struct trace_input *input;
    struct record_decoder *decoder;
    void (*watcher)(void *context, const struct capture_member *member); /* NULL: none */
    void *watcher_context;
    bool watches_data; /* the watcher gets data members too, */
    bool judges;       /* and compares their ticks with their records */
    bool keeps_parts;  /* batches continue across chosen gaps, with marks */
    struct capture_info info;
    struct capture_totals totals;
    bool closed;       /* totals is the closing member, which was read last */
    bool end_reported; /* the missing closing member is reported */
    bool index_known;  /* expected_index is */
    uint64_t expected_index;
    struct member_ticks ticks; /* of the data members before */
    uint64_t file_start;       /* ordinal of the first record after the header member */
    uint64_t ordinal;          /* of the next record in the file */
    size_t skip;               /* records to skip in the next data member after a seek */
    struct bt_error pending;   /* an error of a seek, for the next call to return; code 0: none */
    /* a member that is larger than the caller's batch, or has marks: records [position, held.count)
     * are pending; held.first_tick is that of the record at position */
    struct batch held;
    size_t position;
    struct crc_trail trail;     /* of the bytes that a corrupt member claims */
    uint64_t wasted;            /* bytes of invalid members with a correct CRC */
    uint64_t examined;          /* bytes of members that were checked or decompressed */
    unsigned threads;           /* number of threads that may decompress ahead */
    unsigned in_sequence;       /* data members read since the start or the last seek, up to 2 */
    struct decode_ahead *ahead; /* NULL: not begun, or not possible */
    struct block_executions *executions; /* of the caller; NULL: wants records */
};

/* --- finding members ------------------------------------------------------------------------- */

/* The offset of the next byte in [from, size) at which a member could start, or size. */
static size_t candidate(const uint8_t *bytes, size_t from, size_t size)
{
    const uint8_t *found = from < size ? memchr(bytes + from, 0x1f, size - from) : NULL;
    return found ? (size_t)(found - bytes) : size;
}

bool trace_members_recognise(const uint8_t *bytes, size_t size)
{
    struct capture_member member;
    for (size_t at = candidate(bytes, 0, size); at < size; at = candidate(bytes, at + 1, size))
        if (capture_get_member(&member, bytes + at, size - at, NULL) == 1)
            return true;
    return false;
}

/* Advances from corrupt data, of which skip bytes are unusable, to the next whole member header, or
 * to the end. 0 or BT_IO. */
static int resynchronise(struct trace_members *members, size_t skip, struct bt_error *error)
{
    struct trace_input *input = members->input;
    struct capture_member member;
    size_t there = trace_input_available(input);
    trace_input_consume(input, skip < there ? skip : there);
    for (;;) {
        int result = trace_input_fill(input, CAPTURE_MEMBER_HEADER_MAX, SIZE_MAX, error);
        if (result < 0)
            return result;
        const uint8_t *bytes = trace_input_bytes(input);
        size_t size = trace_input_available(input);
        if (size == 0)
            return 0;
        size_t at = candidate(bytes, 0, size);
        if (at == 0) {
            int got = capture_get_member(&member, bytes, size, NULL);
            if (got == 1)
                return 0;
            at = 1;
        }
        trace_input_consume(input, at);
    }
}

/* Reports corruption at the current offset, and advances to the next good member, which may be
 * within the corrupt data but not within its first skip bytes. BT_DATA, or worse. */
static int skip_damage(struct trace_members *members, const char *what, size_t skip,
                       struct bt_error *error)
{
    uint64_t offset = trace_input_offset(members->input);
    int result = resynchronise(members, skip, error);
    if (result < 0)
        return result;
    members->skip = 0;
    members->ticks.known = false;
    return bt_fail(error, BT_DATA, "%s: offset %" PRIu64 ": %s; %" PRIu64 " bytes are left out",
                   trace_input_name(members->input), offset, what,
                   trace_input_offset(members->input) - offset);
}

static int damaged(struct trace_members *members, const char *what, struct bt_error *error)
{
    return skip_damage(members, what, 1, error);
}

/* The header of the member at the current offset. 1, 0 at the end of the file, BT_DATA, or
 * BT_IO. */
static int peek(struct trace_members *members, struct capture_member *member, size_t ahead,
                struct bt_error *error)
{
    struct trace_input *input = members->input;
    int result = trace_input_fill(input, CAPTURE_MEMBER_HEADER_MAX, ahead, error);
    if (result < 0)
        return result;
    size_t available = trace_input_available(input);
    if (available == 0)
        return 0;
    int got = capture_get_member(member, trace_input_bytes(input), available, error);
    if (got == 0)
        return damaged(members, "the file ends within the header of a block", error);
    if (got < 0) {
        char what[sizeof error->message];
        memcpy(what, error->message, sizeof what);
        what[200] = 0;
        return damaged(members, what, error);
    }
    return 1;
}

/* Updates the description from a header or closing member. */
static void take_description(struct trace_members *members, const struct capture_member *member)
{
    if (member->kind == CAPTURE_MEMBER_HEADER) {
        members->info = member->info;
        members->expected_index = member->info.first_index;
        members->index_known = true;
        members->ticks.known = false;
        members->file_start = members->ordinal;
        members->closed = false;
        members->end_reported = false;
    } else {
        members->totals = member->totals;
        members->closed = true;
    }
    if (members->watcher)
        members->watcher(members->watcher_context, member);
}

/* --- handing out records --------------------------------------------------------------------- */

/* Skips records of the held member. */
static void pass(struct trace_members *members, size_t count)
{
    struct batch *held = &members->held;
    const size_t last = held->count - members->position - 1; /* records after position */
    held->first_tick +=
        records_time(held->records + members->position + 1, count < last ? count : last);
    members->position += count;
}

/* Derives gap and parts from the marks of a batch's records, from the first one on. */
static void take_parts(const struct trace_members *members, struct batch *batch, bool begins)
{
    if (batch->records[0].attribute & ATTRIBUTE_PART) {
        batch->gap.chosen |= !begins;
        batch->records[0].attribute &= (uint8_t)~ATTRIBUTE_PART;
    }
    batch->parts = members->keeps_parts ? (uint32_t)records_parts(batch->records, batch->count) : 0;
}

/* Derives the event, or events, from the attributes of a batch's records. */
static void take_events(const struct trace_members *members, struct batch *batch)
{
    struct record *first = batch->records;
    if (members->keeps_parts) {
        batch->events = records_have_events(batch->records, batch->count);
        return;
    }
    batch->event = first->type == REQUEST_FETCH ? first->attribute & ATTRIBUTE_EVENT : EVENT_NONE;
    first->attribute &= (uint8_t)~ATTRIBUTE_EVENT;
}

/* The bits of attributes that end a batch. */
static uint8_t marks_of(const struct trace_members *members, const struct batch *member)
{
    if (members->keeps_parts)
        return 0;
    return (uint8_t)((member->parts > 0 ? ATTRIBUTE_PART : 0) |
                     (member->events ? ATTRIBUTE_EVENT : 0));
}

/* Fills batch from the held member. */
static int hand_out(struct trace_members *members, struct batch *batch)
{
    const struct batch *held = &members->held;
    const bool begins = members->position == 0;
    size_t count = held->count - members->position;
    if (count > batch->capacity)
        count = batch->capacity;
    const struct record *from = held->records + members->position;
    if (marks_of(members, held) != 0)
        count = records_until_mark(from, count, marks_of(members, held));
    memcpy(batch->records, from, count * sizeof *from);
    batch->count = count;
    batch->first_index = held->first_index + members->position;
    batch->host_time_ns = held->host_time_ns;
    batch->first_tick = held->first_tick;
    batch->last_tick = batch->first_tick + records_time(from + 1, count - 1);
    if (begins) {
        batch->lost = held->lost;
        batch->gap = held->gap;
    }
    if (held->parts > 0)
        take_parts(members, batch, begins);
    if (held->events)
        take_events(members, batch);
    pass(members, count);
    members->ordinal += count;
    return 1;
}

/* Allocates memory for a member that does not fit the caller's batch. */
static int hold(struct trace_members *members, const struct batch *description,
                struct bt_error *error)
{
    struct record *records = members->held.records;
    size_t capacity = members->held.exchangeable;
    if (capacity < description->count) {
        records = realloc(records, description->count * sizeof *records);
        if (!records)
            return bt_fail(error, BT_MEMORY, "no memory for a block of %zu records",
                           description->count);
        capacity = description->count;
    }
    members->held = *description;
    members->held.records = records;
    members->held.capacity = description->count;
    members->held.exchangeable = capacity;
    return 0;
}

/* Reports, once, that members are missing before this one. 0 or BT_DATA. */
static int check_index(struct trace_members *members, const struct batch *description,
                       struct bt_error *error)
{
    uint64_t start = description->first_index - loss_total(&description->lost);
    uint64_t expected = members->expected_index;
    bool known = members->index_known;
    members->expected_index = start;
    members->index_known = true;
    if (!known || start == expected)
        return 0;
    members->ticks.known = false;
    uint64_t offset = trace_input_offset(members->input);
    const char *name = trace_input_name(members->input);
    if (start > expected)
        return bt_fail(error, BT_DATA,
                       "%s: offset %" PRIu64 ": %" PRIu64 " requests (%" PRIu64 " to %" PRIu64
                       ") are missing here",
                       name, offset, start - expected, expected, start - 1);
    return bt_fail(error, BT_DATA,
                   "%s: offset %" PRIu64 ": the block begins with request %" PRIu64 ", not %" PRIu64
                   ": blocks are duplicated or out of order",
                   name, offset, start, expected);
}

/* Bytes processed for a member whose records are decompressed: its own, and its records'. */
static uint64_t cost(const struct capture_member *member)
{
    uint64_t most = (uint64_t)DEFLATE_RATIO_MAX * member->member_bytes;
    uint64_t raw = member->kind == CAPTURE_MEMBER_DATA ? member->batch.count * RECORD_BYTES : 0;
    const bool limited = member->codec == RECORD_CODEC_DEFLATE; /* others repeat at will */
    return member->member_bytes + (limited && most < raw ? most : raw);
}

/* Whether an invalid member with a correct CRC is still searched for other members. */
static bool within_budget(const struct trace_members *members)
{
    return members->wasted <= WASTE_MAX + WASTE_RATIO * trace_input_offset(members->input);
}

/*
 * Checks the whole member at the current offset and decompresses its records into the batch, as
 * capture_get_records, or its executions, if they are not NULL. Nothing else of the batch changes
 * but its buffer, if that is exchangeable. *skip: bytes that are not searched
 * for other members if this one is corrupt.
 *
 * Headers may claim each other's bytes, 16 MiB each; the member's CRC decides which claim is right.
 * After a corrupt member the CRC comes from the trail, so that no byte is examined once for each
 * header. Members with a correct CRC that cannot be decompressed are forged, not damaged; a budget
 * bounds their cost.
 */
static int get_records(struct trace_members *members, const struct capture_member *member,
                       struct batch *batch, struct block_executions *executions, size_t *skip,
                       struct bt_error *error)
{
    struct crc_trail *trail = &members->trail;
    const uint8_t *bytes = trace_input_bytes(members->input);
    const uint64_t offset = trace_input_offset(members->input) + member->header_bytes;
    const uint64_t passed = trail->examined;
    const uint8_t *stream;
    size_t size;
    uint32_t crc = 0;
    const uint32_t wanted = capture_member_crc(member, bytes, &stream, &size);
    *skip = 1;
    if (members->ahead && decode_ahead_take(members->ahead, trace_input_offset(members->input),
                                            members->decoder, batch, executions)) {
        members->examined += cost(member);
        return 0;
    }
    bool right = !crc_trail_covers(trail, offset) ||
                 (crc_trail_range(trail, offset, stream, size, &crc) && crc == wanted);
    int result = BT_DATA;
    if (right) {
        members->examined += cost(member);
        result = executions
                     ? capture_get_executions(members->decoder, member, bytes, executions, error)
                     : capture_get_records(members->decoder, member, bytes, batch->records, error);
    }
    if (result < 0 && right && crc_trail_range(trail, offset, stream, size, &crc) &&
        crc == wanted) {
        members->wasted += cost(member);
        *skip = within_budget(members) ? 1 : member->member_bytes;
    }
    members->examined += trail->examined - passed;
    return result;
}

/* Of the records after the first. */
static size_t count_parts(const struct batch *batch)
{
    return batch->count > 0 ? records_parts(batch->records + 1, batch->count - 1) : 0;
}

/* Where the executions of a member go; NULL: it is delivered as records. */
static struct block_executions *wants_executions(const struct trace_members *members,
                                                 const struct capture_member *member)
{
    return members->skip == 0 && !members->watches_data && capture_has_executions(member)
               ? members->executions
               : NULL;
}

/* Whether the data member, whose records or executions have been decoded, belongs here: otherwise
 * its content is that of another member. 0 or BT_DATA. */
static int check_place(const struct trace_members *members, const struct batch *description,
                       const struct record *records, const struct block_executions *executions,
                       struct bt_error *error)
{
    struct batch whole = *description;
    struct record first = {.time = 0};
    int result = 0;
    whole.records = (struct record *)(uintptr_t)records; /* not written to */
    if (executions) {
        first.time = executions->first_time;
        if (description->first_tick + executions->time - first.time != description->last_tick)
            result = bt_fail(error, BT_DATA,
                             "the block's last tick is %" PRIu64 "; its records end at another",
                             description->last_tick);
    } else {
        first.time = description->count > 0 ? records[0].time : 0;
        result = member_ticks_within(&whole, error);
    }
    const bool timed = description->count > 0 && loss_total(&description->lost) == 0 &&
                       description->gap.milliseconds == 0;
    return result < 0 ? result
                      : member_ticks_follow(&members->ticks, description->first_tick, timed,
                                            first.time, error);
}

/* Skips a member whose records cannot be had, for the reason in *error. BT_DATA, or worse. */
static int leave_out(struct trace_members *members, size_t skip, struct bt_error *error)
{
    const struct bt_error reason = *error;
    members->held.count = members->position = 0;
    if (reason.code == BT_MEMORY)
        return reason.code; /* the block may be whole */
    return skip_damage(members, reason.message, skip, error);
}

/* Decompresses the data member at the current offset into batch, or into the held member. */
static int take_records(struct trace_members *members, const struct capture_member *member,
                        struct batch *batch, struct bt_error *error)
{
    const struct batch *description = &member->batch;
    struct block_executions *executions = wants_executions(members, member);
    bool direct = executions || (members->skip == 0 && description->count <= batch->capacity &&
                                 description->parts == 0 && !description->events);
    int result = direct ? 0 : hold(members, description, error);
    if (result < 0)
        return result;
    size_t skip;
    result =
        get_records(members, member, direct ? batch : &members->held, executions, &skip, error);
    if (result == BT_DATA) {
        bt_fail(error, BT_DATA, "the records of a block are damaged");
    } else {
        skip = member->member_bytes;
        if (result == 0 && !members->judges)
            result =
                check_place(members, description, direct ? batch->records : members->held.records,
                            executions, error);
    }
    if (result < 0)
        return leave_out(members, skip, error);
    if (members->watches_data) {
        struct capture_member whole = *member;
        whole.batch.records = direct ? batch->records : members->held.records;
        if (description->parts > 0)
            whole.batch.parts = (uint32_t)count_parts(&whole.batch);
        whole.batch.events =
            description->events && records_have_events(whole.batch.records, whole.batch.count);
        members->watcher(members->watcher_context, &whole);
    }
    trace_input_consume(members->input, member->member_bytes);
    members->expected_index = description->first_index + description->count;
    member_ticks_advance(&members->ticks, description);
    if (!direct) {
        members->position = 0;
        pass(members, members->skip);
        members->skip = 0;
        return hand_out(members, batch);
    }
    struct record *records = batch->records;
    size_t capacity = batch->capacity, exchangeable = batch->exchangeable;
    *batch = *description;
    batch->records = records;
    batch->capacity = capacity;
    batch->exchangeable = exchangeable;
    members->ordinal += description->count;
    return 1;
}

/* The end of the file. Reports once that it is not the end of a capture; then 0. */
static int finish(struct trace_members *members, struct bt_error *error)
{
    uint64_t size = trace_input_size(members->input);
    const char *name = trace_input_name(members->input);
    if (members->closed || members->end_reported)
        return 0;
    members->end_reported = true;
    if (size > 0 && trace_input_offset(members->input) > size)
        return bt_fail(error, BT_DATA, "%s: offset %" PRIu64 ": the file ends within a block", name,
                       size);
    return bt_fail(error, BT_DATA,
                   "%s: offset %" PRIu64 ": no closing block: the capture was cut off here, or is "
                   "still being written",
                   name, trace_input_offset(members->input));
}

/* Compares the closing member with the records read. 2 or BT_DATA. */
static int check_totals(struct trace_members *members, struct bt_error *error)
{
    uint64_t here = members->ordinal - members->file_start;
    if (here == members->totals.file_records)
        return 2;
    return bt_fail(error, BT_DATA,
                   "%s: the closing block counts %" PRIu64 " records; %" PRIu64 " are here",
                   trace_input_name(members->input), members->totals.file_records, here);
}

/* Reads the rest of the member at the current offset. 0, BT_DATA or BT_IO. */
static int fill(struct trace_members *members, const struct capture_member *member, size_t ahead,
                struct bt_error *error)
{
    int result = trace_input_fill(members->input, member->member_bytes, ahead, error);
    if (result < 0)
        return result;
    if (trace_input_available(members->input) < member->member_bytes)
        return damaged(members, "the file ends within a block", error);
    return 0;
}

/* Processes a header or closing member. 2, or a negative code. */
static int step_description(struct trace_members *members, const struct capture_member *member,
                            size_t ahead, struct bt_error *error)
{
    size_t skip;
    int result = fill(members, member, ahead, error);
    if (result < 0)
        return result;
    struct batch none = {.records = NULL};
    result = get_records(members, member, &none, NULL, &skip, error);
    if (result < 0)
        return skip_damage(members, "a block without records is damaged", skip, error);
    take_description(members, member);
    trace_input_consume(members->input, member->member_bytes);
    return member->kind == CAPTURE_MEMBER_CLOSING ? check_totals(members, error) : 2;
}

/*
 * Lets threads decompress the members after this one, from the second in a sequence on: a command
 * that shows a few records does not need them. Among damaged members, which may claim the same
 * bytes, the reader alone bounds the work.
 */
static void look_ahead(struct trace_members *members, const struct capture_member *member)
{
    if (members->threads == 0 || members->wasted > 0 ||
        crc_trail_covers(&members->trail,
                         trace_input_offset(members->input) + member->header_bytes))
        return;
    if (members->in_sequence < 2) {
        members->in_sequence++;
        return;
    }
    if (!members->ahead) {
        members->ahead = decode_ahead_new(members->threads);
        if (!members->ahead)
            members->threads = 0;
    }
    if (members->ahead) {
        decode_ahead_by_blocks(members->ahead, members->executions && !members->watches_data);
        decode_ahead_offer(members->ahead, members->input, member->member_bytes);
    }
}

/* Processes one member. 2: no data for the caller; else as source_next. */
static int step(struct trace_members *members, struct batch *batch, struct bt_error *error)
{
    struct capture_member member;
    int result = peek(members, &member, SIZE_MAX, error);
    if (result <= 0)
        return result < 0 ? result : finish(members, error);
    if (member.kind != CAPTURE_MEMBER_DATA)
        return step_description(members, &member, SIZE_MAX, error);
    result = check_index(members, &member.batch, error);
    if (result == 0)
        result = fill(members, &member, SIZE_MAX, error);
    if (result < 0)
        return result;
    look_ahead(members, &member);
    return take_records(members, &member, batch, error);
}

/* Returns an error that a seek has met; code 0: none. */
static int take_pending(struct trace_members *members, struct bt_error *error)
{
    int code = members->pending.code;
    if (code)
        *error = members->pending;
    members->pending.code = 0;
    return code;
}

int trace_members_next(struct trace_members *members, struct batch *batch, struct bt_error *error)
{
    struct bt_error unheard;
    if (!error)
        error = &unheard;
    batch_clear(batch);
    if (members->executions)
        block_executions_clear(members->executions);
    if (take_pending(members, error))
        return error->code;
    if (members->position < members->held.count)
        return hand_out(members, batch);
    int result;
    do
        result = step(members, batch, error);
    while (result == 2);
    return result;
}

/* --- whole members --------------------------------------------------------------------------- */

int trace_members_peek(struct trace_members *members, struct capture_member *member,
                       struct bt_error *error)
{
    struct bt_error unheard;
    int result;
    if (!error)
        error = &unheard;
    if (take_pending(members, error))
        return error->code;
    do {
        result = peek(members, member, 0, error);
        if (result <= 0)
            return result < 0 ? result : finish(members, error);
        if (member->kind == CAPTURE_MEMBER_DATA)
            return 1;
        result = step_description(members, member, 0, error);
    } while (result == 2);
    return result;
}

/* The member counts as read. */
static void count_member(struct trace_members *members, const struct batch *description)
{
    members->ordinal += description->count;
    members->expected_index = description->first_index + description->count;
    members->index_known = true;
    member_ticks_advance(&members->ticks, description);
}

int trace_members_pass(struct trace_members *members, const struct capture_member *member,
                       struct bt_error *error)
{
    count_member(members, &member->batch);
    return trace_input_skip(members->input, member->member_bytes, error);
}

int trace_members_take(struct trace_members *members, const struct capture_member *member,
                       const uint8_t **bytes, struct bt_error *error)
{
    const uint8_t *stream;
    size_t size;
    struct bt_error unheard;
    if (!error)
        error = &unheard;
    int result = check_index(members, &member->batch, error);
    if (result == 0)
        result = fill(members, member, SIZE_MAX, error);
    if (result < 0)
        return result;
    /* among damaged members, which may claim the same bytes, the trail bounds the work */
    if (crc_trail_covers(&members->trail,
                         trace_input_offset(members->input) + member->header_bytes))
        return 0;
    *bytes = trace_input_bytes(members->input);
    const uint32_t wanted = capture_member_crc(member, *bytes, &stream, &size);
    members->examined += size;
    if (crc32c(0, stream, size) != wanted ||
        bytes_get32(stream + size - 4) != member->batch.count * RECORD_BYTES ||
        member_ticks_follow(&members->ticks, member->batch.first_tick, false, 0, NULL) < 0)
        return 0; /* damaged, or the header is not that of these records */
    count_member(members, &member->batch);
    trace_input_consume(members->input, member->member_bytes);
    return 1;
}

/* --- life and seeking ------------------------------------------------------------------------ */

/* Reads the header member, so that the capture's description is known before the first record. */
static int read_description(struct trace_members *members, struct bt_error *error)
{
    struct capture_member member;
    int result = trace_input_fill(members->input, CAPTURE_MEMBER_HEADER_MAX, SIZE_MAX, error);
    if (result < 0)
        return result;
    if (capture_get_member(&member, trace_input_bytes(members->input),
                           trace_input_available(members->input), NULL) == 1 &&
        member.kind == CAPTURE_MEMBER_HEADER)
        members->info = member.info;
    return 0;
}

struct trace_members *trace_members_new(struct trace_input *input, struct bt_error *error)
{
    struct trace_members *members = calloc(1, sizeof *members);
    if (!members) {
        bt_fail(error, BT_MEMORY, "no memory to read %s", trace_input_name(input));
        return NULL;
    }
    members->input = input;
    members->decoder = record_decoder_new(error);
    if (!members->decoder || read_description(members, error) < 0) {
        trace_members_free(members);
        return NULL;
    }
    return members;
}

void trace_members_free(struct trace_members *members)
{
    if (!members)
        return;
    decode_ahead_free(members->ahead);
    record_decoder_free(members->decoder);
    crc_trail_clear(&members->trail);
    free(members->held.records);
    free(members);
}

static int rewind_to_start(struct trace_members *members, struct bt_error *error)
{
    int result = trace_input_rewind(members->input, error);
    if (result < 0)
        return result;
    crc_trail_clear(&members->trail); /* the trail continues from the new offset */
    if (members->ahead)
        decode_ahead_forget(members->ahead);
    members->ordinal = 0;
    members->file_start = 0;
    members->closed = false;
    members->end_reported = false;
    members->index_known = false;
    members->ticks.known = false;
    return 0;
}

/* Whether the data member is the one sought: the first that holds the record or only a loss just
 * before it, or whose records or loss end at the tick or later. */
static bool is_sought(const struct trace_members *members, const struct batch *batch,
                      uint64_t record, bool to_tick, uint64_t tick)
{
    if (to_tick)
        return batch->last_tick >= tick ||
               (loss_total(&batch->lost) > 0 && batch->lost.last_tick >= tick);
    return members->ordinal + batch->count > record ||
           (batch->count == 0 && members->ordinal == record);
}

/* Passes members without reading their records, up to the one sought. */
static int pass_members(struct trace_members *members, uint64_t record, bool to_tick, uint64_t tick,
                        struct bt_error *error)
{
    int result;
    members->held.count = members->position = 0;
    members->pending.code = 0;
    members->skip = 0;
    members->in_sequence = 0;
    members->ticks.known = false;
    for (;;) {
        struct capture_member member;
        struct bt_error met;
        /* reads headers only: skips through a capture of any size */
        result = peek(members, &member, 0, &met);
        if (result == 0)
            return 0;
        if (result == BT_DATA) {
            members->pending = met;
            continue;
        }
        if (result < 0) {
            *error = met;
            return result;
        }
        if (member.kind != CAPTURE_MEMBER_DATA) {
            if (to_tick && members->ordinal > 0)
                return 0; /* another file follows, perhaps of another trace */
            take_description(members, &member);
        } else if (is_sought(members, &member.batch, record, to_tick, tick)) {
            if (!to_tick) {
                members->skip = (size_t)(record - members->ordinal);
                members->ordinal = record;
            }
            return 0;
        } else {
            count_member(members, &member.batch);
        }
        result = trace_input_skip(members->input, member.member_bytes, error);
        if (result < 0)
            return result;
    }
}

int trace_members_seek(struct trace_members *members, uint64_t record, struct bt_error *error)
{
    int result = 0;
    if (record < members->ordinal)
        result = rewind_to_start(members, error);
    else if (members->position < members->held.count) {
        size_t due = members->held.count - members->position;
        size_t past = record - members->ordinal < due ? (size_t)(record - members->ordinal) : due;
        pass(members, past);
        members->ordinal += past;
        if (members->position < members->held.count)
            return 0;
    }
    if (result < 0)
        return result;
    return pass_members(members, record, false, 0, error);
}

int trace_members_seek_tick(struct trace_members *members, uint64_t tick, struct bt_error *error)
{
    return pass_members(members, 0, true, tick, error);
}

uint64_t trace_members_examined(const struct trace_members *members)
{
    return members->examined;
}

uint64_t trace_members_position(const struct trace_members *members)
{
    return members->ordinal;
}

void trace_members_watch(struct trace_members *members,
                         void (*watcher)(void *context, const struct capture_member *member),
                         void *context, bool data, bool judges)
{
    members->watcher = watcher;
    members->watcher_context = context;
    members->watches_data = data;
    members->judges = judges;
}

void trace_members_decode_ahead(struct trace_members *members, unsigned threads)
{
    members->threads = threads;
}

void trace_members_by_blocks(struct trace_members *members, struct block_executions *executions)
{
    members->executions = executions;
}

void trace_members_keep_parts(struct trace_members *members)
{
    members->keeps_parts = true;
}

const struct capture_info *trace_members_info(const struct trace_members *members)
{
    return &members->info;
}

const struct capture_totals *trace_members_closing(const struct trace_members *members)
{
    return members->closed ? &members->totals : NULL;
}
