#include "capture/trigger_source.h"

#include "formats/base/grow.h"
#include "formats/record/expression.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_RECORDS 65536u /* room for the next batch of the inner source */

/* Records that follow one another without a loss or a gap. Positions count the records that the
 * inner source has delivered. */
struct segment {
    uint64_t position;  /* of its first record */
    struct batch batch; /* without records: they are in the buffer */
};

struct trigger_source {
    struct source source; /* first */
    struct source *inner;
    struct trigger_settings settings;
    struct capture_info info;
    struct expression *trigger, *stop_on; /* NULL: none */
    uint64_t pre_ticks, post_ticks;       /* 0: limited by records */
    uint64_t pre_records;                 /* kept in the buffer, at most */

    struct record *records; /* [0, received - base) */
    size_t capacity;
    uint64_t base;     /* position of records[0] */
    uint64_t received; /* position after the last record */
    struct segment *segments;
    size_t segment_first, segment_end, segment_capacity;

    uint64_t *selected; /* matches of the last batch, from selected_base on */
    uint64_t *stops;
    uint64_t selected_base;
    uint64_t end_index, end_tick; /* after what was received */
    uint64_t scanned;             /* records before it were examined */
    uint64_t scanned_tick;        /* of the record at scanned, if there is one, else of the last */
    uint64_t scanned_index;

    bool open;        /* a window is */
    uint64_t emit_at; /* next position to pass on */
    uint64_t until;   /* position after the window; with post_ticks: UINT64_MAX until it is known */
    uint64_t until_tick; /* with post_ticks: of the window's last record, at most */
    bool stopping;       /* stop_on has matched */
    bool done;
    bool inner_ended;
    uint64_t emitted;         /* number of records passed on */
    uint64_t last_tick;       /* of the last record passed on */
    struct loss carried_lost; /* of records that were left out */
    struct gap carried_gap;
    bool ended;
    uint64_t snapshots_wanted, snapshots_taken;
    struct trigger_window window;
    struct trigger_counts counts;
};

/* --- settings -------------------------------------------------------------------------------- */

bool trigger_selects(const struct trigger_settings *settings)
{
    return settings->trigger[0] || settings->ring_bytes > 0;
}

bool trigger_is_used(const struct trigger_settings *settings)
{
    return trigger_selects(settings) || settings->stop_on[0];
}

static int check_expression(const char *name, const char *text, struct bt_error *error)
{
    struct expression *expression = NULL;
    if (!text[0])
        return 0;
    int result = expression_parse(&expression, text, NULL, error);
    expression_free(expression);
    return result < 0 ? bt_fail_within(error, "%s", name) : 0;
}

int trigger_check(const struct trigger_settings *settings, struct bt_error *error)
{
    bool pre = settings->pre_records || settings->pre_ticks || settings->pre_ns;
    bool post = settings->post_records || settings->post_ticks || settings->post_ns;
    if (pre && !settings->trigger[0])
        return bt_fail(error, BT_USAGE, "records before a match need a trigger");
    if (post && !settings->trigger[0] && !settings->stop_on[0])
        return bt_fail(error, BT_USAGE, "records after a match need a trigger or a stop");
    if (trigger_memory(settings) > TRIGGER_RING_MAX)
        return bt_fail(error, BT_USAGE,
                       "the records before a match would take more than 16G of memory, which is "
                       "twice the ring: choose a smaller ring, or fewer records before a match");
    int result = check_expression("the trigger", settings->trigger, error);
    return result < 0 ? result : check_expression("the stop", settings->stop_on, error);
}

/* The most records that are kept before those that are not examined yet. */
static uint64_t kept_records(const struct trigger_settings *settings)
{
    uint64_t ring = settings->ring_bytes / RECORD_BYTES;
    bool time = settings->pre_ns || settings->pre_ticks;
    if (time && !ring)
        ring = TRIGGER_RING_BYTES / RECORD_BYTES;
    if (time || (ring && ring > settings->pre_records))
        return ring;
    return settings->pre_records;
}

bool trigger_keeps_records(const struct trigger_settings *settings)
{
    return trigger_selects(settings) && kept_records(settings) > 0;
}

uint64_t trigger_memory(const struct trigger_settings *settings)
{
    uint64_t kept = kept_records(settings);
    if (!trigger_is_used(settings))
        return 0;
    if (kept > TRIGGER_RING_MAX)
        return UINT64_MAX;
    return (2 * (kept + BATCH_RECORDS)) * RECORD_BYTES;
}

/* --- the buffer ------------------------------------------------------------------------------ */

static const struct record *record_at(const struct trigger_source *self, uint64_t position)
{
    return self->records + (position - self->base);
}

static struct segment *last_segment(struct trigger_source *self)
{
    return self->segment_end > self->segment_first ? &self->segments[self->segment_end - 1] : NULL;
}

/* The oldest position that the buffer must keep. */
static uint64_t oldest_needed(const struct trigger_source *self)
{
    uint64_t kept = self->received > self->pre_records ? self->received - self->pre_records : 0;
    bool passes = self->open && self->emit_at < self->until;
    return passes && self->emit_at < kept ? self->emit_at : kept;
}

/* Leaves out the records before position; their losses and gaps precede the next record that is
 * passed on. */
static void leave_out(struct trigger_source *self, uint64_t position)
{
    while (self->segment_first < self->segment_end) {
        struct segment *segment = &self->segments[self->segment_first];
        uint64_t end = segment->position + segment->batch.count;
        if (segment->position >= position)
            return;
        loss_add(&self->carried_lost, &segment->batch.lost);
        gap_add(&self->carried_gap, &segment->batch.gap);
        segment->batch.lost = (struct loss){.first_tick = 0};
        segment->batch.gap = (struct gap){.milliseconds = 0};
        if (end > position) {
            size_t gone = (size_t)(position - segment->position);
            const struct record *records = record_at(self, segment->position);
            segment->batch.first_tick += records_time(records + 1, gone);
            segment->batch.first_index += gone;
            segment->batch.count -= gone;
            segment->position = position;
            return;
        }
        self->segment_first++;
    }
}

/* Makes room for the next batch. */
static void make_room(struct trigger_source *self)
{
    uint64_t held = self->received - self->base;
    if (self->capacity - held >= BATCH_RECORDS)
        return;
    uint64_t from = oldest_needed(self);
    leave_out(self, from);
    memmove(self->records, record_at(self, from),
            (size_t)(self->received - from) * sizeof *self->records);
    self->base = from;
    size_t segments = self->segment_end - self->segment_first;
    memmove(self->segments, self->segments + self->segment_first,
            segments * sizeof *self->segments);
    self->segment_first = 0;
    self->segment_end = segments;
}

/* Whether the batch continues the segment without a hole. */
static bool continues(const struct segment *segment, const struct batch *batch)
{
    const struct batch *last = &segment->batch;
    return last->count > 0 && batch->count > 0 && !batch_has_loss_or_gap(batch) &&
           batch->first_index == last->first_index + last->count &&
           batch->records[0].time != UINT32_MAX &&
           batch->first_tick - last->last_tick == batch->records[0].time &&
           !(last->parts || last->events || batch->parts || batch->events);
}

/* Adds a batch, whose records are in place. */
static int add_segment(struct trigger_source *self, const struct batch *batch,
                       struct bt_error *error)
{
    struct segment *last = last_segment(self);
    self->received += batch->count;
    if (batch->count == 0 && !batch_has_loss_or_gap(batch))
        return 0;
    self->end_index = batch->first_index + batch->count;
    self->end_tick = batch->last_tick;
    if (last && continues(last, batch)) {
        last->batch.count += batch->count;
        last->batch.last_tick = batch->last_tick;
        return 0;
    }
    if (last && last->batch.count == 0) { /* losses without records: one segment */
        struct batch joined = *batch;
        loss_add(&joined.lost, &last->batch.lost);
        gap_add(&joined.gap, &last->batch.gap);
        last->batch = joined;
        last->batch.records = NULL;
        return 0;
    }
    struct segment *segments = grow_array(self->segments, &self->segment_capacity,
                                          self->segment_end + 1, sizeof *segments);
    if (!segments)
        return bt_fail(error, BT_MEMORY, "no memory for the losses of a trigger's records");
    self->segments = segments;
    struct segment *segment = &segments[self->segment_end++];
    *segment = (struct segment){.position = self->received - batch->count, .batch = *batch};
    segment->batch.records = NULL;
    return 0;
}

/* --- windows --------------------------------------------------------------------------------- */

/* The number of records removed before the next one that is passed on at position. */
static uint64_t removed_before(const struct trigger_source *self, uint64_t position)
{
    return position - self->emitted;
}

/* The first position of those kept that is within pre_ticks before the match at position. Looks
 * back to floor at most, and returns floor, or less, if that is within. */
static uint64_t first_within(const struct trigger_source *self, uint64_t position, uint64_t tick,
                             uint64_t floor)
{
    uint64_t earliest = tick > self->pre_ticks ? tick - self->pre_ticks : 0;
    for (size_t i = self->segment_end; i-- > self->segment_first && position > floor;) {
        const struct segment *segment = &self->segments[i];
        uint64_t end = segment->position + segment->batch.count;
        if (segment->position >= position || segment->batch.count == 0)
            continue;
        if (end <= position) {
            if (segment->batch.last_tick < earliest)
                return end;
            position = end - 1;
            tick = segment->batch.last_tick;
        }
        while (position > segment->position && position > floor) {
            tick -= record_at(self, position)->time;
            if (tick < earliest)
                return position;
            position--;
        }
    }
    return position;
}

/* The window around the match at position begins here. */
static uint64_t window_begin(struct trigger_source *self, uint64_t position, uint64_t tick)
{
    uint64_t oldest = self->base;
    uint64_t kept = position > self->pre_records ? position - self->pre_records : 0;
    if (self->segment_first < self->segment_end &&
        self->segments[self->segment_first].position > oldest)
        oldest = self->segments[self->segment_first].position;
    uint64_t from = kept > oldest ? kept : oldest;
    if (!self->trigger) /* a stop saves what the buffer holds */
        return from;
    if (!self->pre_ticks)
        return position - from > self->settings.pre_records ? position - self->settings.pre_records
                                                            : from;
    uint64_t within = first_within(self, position, tick, from);
    if (within <= from && from > self->emit_at && from > 0)
        self->counts.short_windows++;
    return within > from ? within : from;
}

static void open_window(struct trigger_source *self, uint64_t from)
{
    self->open = true;
    self->emit_at = from > self->emit_at ? from : self->emit_at;
    self->until = 0;
    self->until_tick = 0;
    self->window = (struct trigger_window){.matches = 0};
    self->counts.windows++;
    leave_out(self, self->emit_at);
}

/* Extends the window to the records after a match at position and tick. */
static void extend(struct trigger_source *self, uint64_t position, uint64_t tick)
{
    const struct trigger_settings *settings = &self->settings;
    uint64_t after = position + 1;
    if (self->post_ticks) {
        self->until_tick =
            tick > UINT64_MAX - self->post_ticks ? UINT64_MAX : tick + self->post_ticks;
        self->until = UINT64_MAX;
        return;
    }
    after =
        settings->post_records > UINT64_MAX - after ? UINT64_MAX : after + settings->post_records;
    self->until = after > self->until ? after : self->until;
}

static bool bit(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* Takes the match at the record examined next. */
static void take_match(struct trigger_source *self, bool joins)
{
    uint64_t position = self->scanned;
    uint64_t tick = self->scanned_tick;
    if (!joins && (self->trigger || !self->open)) {
        uint64_t from = window_begin(self, position, tick);
        if (!self->open || from > self->until)
            open_window(self, from);
    }
    uint64_t index = self->scanned_index;
    if (self->window.matches++ == 0) {
        self->window.first_index = index;
        self->window.first_tick = tick;
    }
    self->window.last_index = index;
    self->window.last_tick = tick;
    self->counts.matches++;
    if (self->stop_on && bit(self->stops, position - self->selected_base)) {
        self->stopping = true;
        self->counts.stopped = true;
        self->counts.stop_index = index;
        self->counts.stop_tick = tick;
        if (!self->trigger)
            self->until = 0; /* it was endless */
    }
    extend(self, position, tick);
}

/* --- passing on ------------------------------------------------------------------------------ */

/* The number of records of a segment's rest at `tick` that are in a window limited by a tick. */
static size_t until_tick(const struct trigger_source *self, const struct record *records,
                         size_t count, uint64_t tick, uint64_t last_tick)
{
    size_t n = 0;
    if (last_tick <= self->until_tick)
        return count;
    while (n < count && tick <= self->until_tick) {
        n++;
        tick += n < count ? records[n].time : 0;
    }
    return n;
}

/* Makes the first record of a batch fit what was passed on before it, and the batch carry the
 * losses and gaps of what was left out. */
static void join_before(struct trigger_source *self, struct batch *batch)
{
    loss_add(&self->carried_lost, &batch->lost);
    gap_add(&self->carried_gap, &batch->gap);
    batch->lost = self->carried_lost;
    batch->gap = self->carried_gap;
    self->carried_lost = (struct loss){.first_tick = 0};
    self->carried_gap = (struct gap){.milliseconds = 0};
    if (batch->count == 0)
        return;
    struct record *first = batch->records;
    if (self->emitted > 0) {
        uint64_t passed = batch->first_tick - self->last_tick;
        first->time = passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
    }
    if (batch->parts > 0 && first->attribute & ATTRIBUTE_PART) {
        first->attribute &= (uint8_t)~ATTRIBUTE_PART;
        batch->gap.chosen = true;
    }
    if (batch->parts > 0)
        batch->parts = (uint32_t)records_parts(first, batch->count);
}

/* Passes on records from emit_at up to limit, of one segment. False: there are none. */
static bool pass_on(struct trigger_source *self, struct batch *batch, uint64_t limit)
{
    leave_out(self, self->emit_at);
    if (self->segment_first == self->segment_end)
        return false;
    struct segment *segment = &self->segments[self->segment_first];
    if (segment->batch.count == 0 || segment->position >= limit)
        return false;
    const struct record *records = record_at(self, segment->position);
    size_t count = segment->batch.count;
    if (count > limit - segment->position)
        count = (size_t)(limit - segment->position);
    if (self->until == UINT64_MAX && self->post_ticks && !self->done) {
        size_t within =
            until_tick(self, records, count, segment->batch.first_tick, segment->batch.last_tick);
        if (within < count)
            self->until = segment->position + within;
        count = within;
    }
    if (count > batch->capacity)
        count = batch->capacity;
    if (count == 0)
        return false;
    struct batch part = segment->batch;
    part.records = batch->records;
    part.capacity = batch->capacity;
    part.count = count;
    part.last_tick = part.first_tick + records_time(records + 1, count - 1);
    self->window.omitted = removed_before(self, segment->position);
    part.first_index -= self->window.omitted;
    memcpy(part.records, records, count * sizeof *records);
    join_before(self, &part);
    segment->batch.lost = (struct loss){.first_tick = 0};
    segment->batch.gap = (struct gap){.milliseconds = 0};
    self->emit_at = segment->position + count;
    self->emitted += count;
    self->last_tick = part.last_tick;
    *batch = part;
    return true;
}

/* Whether no later match can join the window. */
static bool is_over(const struct trigger_source *self)
{
    if (!self->open || self->until == UINT64_MAX || self->scanned < self->until)
        return false;
    if (self->window.snapshots && self->window.matches == 0)
        return true;
    if (self->pre_ticks && self->scanned - self->until > self->pre_records)
        return true;       /* the buffer is too small to join them */
    if (self->pre_ticks) { /* since the first record that is left out, or the last one passed on */
        uint64_t tick = self->segment_first < self->segment_end
                            ? self->segments[self->segment_first].batch.first_tick
                            : self->last_tick;
        return self->scanned_tick > tick && self->scanned_tick - tick > self->pre_ticks;
    }
    return self->scanned - self->until > self->settings.pre_records;
}

/* --- examining ------------------------------------------------------------------------------- */

/* The next position in [from, end) with a bit, or end. */
static uint64_t next_match(const struct trigger_source *self, uint64_t from, uint64_t end)
{
    uint64_t i = from - self->selected_base;
    uint64_t n = end - self->selected_base;
    while (i < n) {
        uint64_t word = (self->trigger ? self->selected[i / 64] : 0) |
                        (self->stop_on ? self->stops[i / 64] : 0);
        word >>= i % 64;
        if (word) {
            i += (uint64_t)__builtin_ctzll(word);
            break;
        }
        i = (i / 64 + 1) * 64;
    }
    return self->selected_base + (i < n ? i : n);
}

/* Moves `scanned` to a later position of the last batch, or leaves it. */
static void advance(struct trigger_source *self, uint64_t position)
{
    size_t n = (size_t)(position - self->scanned);
    const struct record *records = record_at(self, self->scanned);
    if (position == self->received && n > 0)
        n--; /* the tick stays that of the last record */
    self->scanned_tick += records_time(records + 1, n);
    self->scanned_index += n;
    self->scanned = position;
}

/* Reads the next batch of the inner source and finds its matches. As source_next. */
static int receive(struct trigger_source *self, int timeout_ms, struct bt_error *error)
{
    make_room(self);
    struct batch batch = {.records = self->records + (self->received - self->base),
                          .capacity = BATCH_RECORDS};
    int result = source_next(self->inner, &batch, timeout_ms, error);
    if (result != 1)
        return result;
    self->selected_base = self->received;
    self->scanned_tick = batch.count > 0 ? batch.first_tick : batch.last_tick;
    self->scanned_index = batch.first_index;
    if (self->trigger)
        expression_select(self->trigger, &batch, batch.first_index, self->selected);
    if (self->stop_on)
        expression_select(self->stop_on, &batch, batch.first_index, self->stops);
    return add_segment(self, &batch, error) < 0 ? error->code : 1;
}

/* Whether the match at `scanned` certainly belongs to the open window, although records before it
 * may wait to be passed on. */
static bool joins_window(const struct trigger_source *self)
{
    if (!self->open || (self->window.snapshots && self->window.matches == 0))
        return false;
    if (self->until == UINT64_MAX)
        return !self->post_ticks || self->scanned_tick <= self->until_tick;
    uint64_t between = self->scanned > self->until ? self->scanned - self->until : 0;
    if (!self->pre_ticks)
        return between <= self->settings.pre_records;
    return between == 0 ||
           (between <= self->pre_records &&
            first_within(self, self->scanned, self->scanned_tick, self->until) <= self->until);
}

/* Examines records up to the next match that must wait until the records before it are passed on.
 */
static void examine(struct trigger_source *self)
{
    bool passed = true; /* the records before `scanned` are */
    while (!self->stopping && self->scanned < self->received) {
        uint64_t at = next_match(self, self->scanned, self->received);
        passed = passed && at == self->scanned;
        advance(self, at);
        bool joins = joins_window(self);
        if (at == self->received || !(passed || joins))
            return;
        take_match(self, joins);
        passed = false;
        /* the record itself is passed on with those after it; its successor is examined next */
        if (at + 1 < self->received) {
            self->scanned_tick += record_at(self, at + 1)->time;
            self->scanned_index++;
        }
        self->scanned = at + 1;
    }
}

/* --- the source ------------------------------------------------------------------------------ */

/* What is left of the buffer after a stop, then what the inner source still delivers. */
static int next_after_stop(struct trigger_source *self, struct batch *batch, int timeout_ms,
                           struct bt_error *error)
{
    if (pass_on(self, batch, self->received))
        return 1;
    return source_next(self->inner, batch, timeout_ms, error);
}

/* The inner source has ended: losses after the last record. */
static int end(struct trigger_source *self, struct batch *batch)
{
    leave_out(self, UINT64_MAX);
    if (loss_total(&self->carried_lost) == 0)
        return 0;
    batch_clear(batch);
    batch->first_index = self->end_index - removed_before(self, self->received);
    batch->first_tick = batch->last_tick = self->end_tick;
    join_before(self, batch);
    return 1;
}

static void take_snapshot(struct trigger_source *self)
{
    uint64_t from = self->segment_first < self->segment_end
                        ? self->segments[self->segment_first].position
                        : self->received;
    uint64_t kept = self->received > self->pre_records ? self->received - self->pre_records : 0;
    self->snapshots_taken = self->snapshots_wanted;
    if (!self->open)
        open_window(self, from > kept ? from : kept);
    self->window.snapshots = self->snapshots_taken;
    if (self->until < self->scanned)
        self->until = self->scanned;
}

/* What can be done without the inner source. 1: batch is filled; 0: nothing is left to examine. */
static int work(struct trigger_source *self, struct batch *batch)
{
    for (;;) {
        uint64_t limit = self->until < self->scanned ? self->until : self->scanned;
        if (self->open && pass_on(self, batch, limit))
            return 1;
        if (self->stopping && self->until <= self->scanned) {
            self->done = true;
            return 0;
        }
        if (is_over(self)) {
            self->open = false;
            self->ended = true;
            return 0;
        }
        if (self->scanned == self->received)
            return 0;
        if (self->stopping)
            advance(self, self->received);
        else
            examine(self);
    }
}

static int trigger_next(struct source *source, struct batch *batch, int timeout_ms,
                        struct bt_error *error)
{
    struct trigger_source *self = (struct trigger_source *)source;
    self->ended = false;
    if (self->done)
        return next_after_stop(self, batch, timeout_ms, error);
    if (self->snapshots_wanted > self->snapshots_taken && self->scanned == self->received)
        take_snapshot(self);
    if (work(self, batch))
        return 1;
    batch_clear(batch);
    if (self->done || self->ended)
        return 1; /* nothing: the reader acts on it */
    int result = self->inner_ended ? 0 : receive(self, timeout_ms, error);
    if (result == 0) {
        self->inner_ended = true;
        return end(self, batch);
    }
    if (result == 1)
        work(self, batch);
    return result;
}

static int trigger_start(struct source *source, struct bt_error *error)
{
    return source_start(((struct trigger_source *)source)->inner, error);
}

static const struct capture_info *trigger_info(struct source *source)
{
    return &((struct trigger_source *)source)->info;
}

/* Records in no window count as filtered. */
static void trigger_totals(struct source *source, struct source_totals *totals)
{
    const struct trigger_source *self = (const struct trigger_source *)source;
    source_totals(self->inner, totals);
    uint64_t outside = trigger_counts(source).outside;
    if (!trigger_selects(&self->settings))
        return;
    outside = outside < totals->accepted ? outside : totals->accepted;
    totals->accepted -= outside;
    totals->filtered += outside;
    totals->removed += outside;
}

static int trigger_stop(struct source *source, struct bt_error *error)
{
    return source_stop(((struct trigger_source *)source)->inner, error);
}

static int trigger_absent(struct source *source, struct bt_error *error)
{
    return source_absent(((struct trigger_source *)source)->inner, error);
}

static void trigger_close(struct source *source)
{
    struct trigger_source *self = (struct trigger_source *)source;
    source_close(self->inner);
    expression_free(self->trigger);
    expression_free(self->stop_on);
    free(self->records);
    free(self->segments);
    free(self->selected);
    free(self->stops);
    free(self);
}

/* The ticks of a time, 0 for 0, if there is one. BT_USAGE if the clock is unknown. */
static int ticks_of(uint64_t *ticks, int64_t ns, uint64_t clock_hz, struct bt_error *error)
{
    if (ns == 0)
        return 0;
    if (clock_hz == 0)
        return bt_fail(error, BT_USAGE,
                       "the clock of this capture is unknown: give a number of records or ticks "
                       "before or after a match, not a time");
    double exact = (double)ns * 1e-9 * (double)clock_hz;
    *ticks = exact < 1 ? 1 : exact < 1e18 ? (uint64_t)exact : (uint64_t)1e18;
    return 0;
}

static int prepare_expression(struct expression **expression, const char *text, uint64_t clock_hz,
                              struct bt_error *error)
{
    if (!text[0])
        return 0;
    int result = expression_parse(expression, text, NULL, error);
    return result < 0 ? result : expression_clock(*expression, clock_hz, error);
}

static int prepare(struct trigger_source *self, struct bt_error *error)
{
    const struct trigger_settings *settings = &self->settings;
    uint64_t clock_hz = self->info.clock_hz;
    self->pre_ticks = settings->pre_ticks;
    self->post_ticks = settings->post_ticks;
    int result = ticks_of(&self->pre_ticks, settings->pre_ns, clock_hz, error);
    if (result == 0)
        result = ticks_of(&self->post_ticks, settings->post_ns, clock_hz, error);
    if (result == 0)
        result = prepare_expression(&self->trigger, settings->trigger, clock_hz, error);
    if (result == 0)
        result = prepare_expression(&self->stop_on, settings->stop_on, clock_hz, error);
    if (result < 0)
        return result;
    self->pre_records = kept_records(settings);
    self->capacity = (size_t)(trigger_memory(settings) / RECORD_BYTES);
    self->records = malloc(self->capacity * sizeof *self->records);
    self->selected = calloc(BATCH_RECORDS / 64 + 1, sizeof(uint64_t));
    self->stops = calloc(BATCH_RECORDS / 64 + 1, sizeof(uint64_t));
    if (!self->records || !self->selected || !self->stops)
        return bt_fail(error, BT_MEMORY, "no memory for the buffer of a trigger");
    self->open = !trigger_selects(settings); /* a window without end */
    self->until = self->open ? UINT64_MAX : 0;
    self->until_tick = UINT64_MAX;
    return 0;
}

struct source *trigger_source_new(struct source *source, const struct trigger_settings *settings,
                                  struct bt_error *error)
{
    static const struct source_operations operations = {.start = trigger_start,
                                                        .next = trigger_next,
                                                        .info = trigger_info,
                                                        .totals = trigger_totals,
                                                        .stop = trigger_stop,
                                                        .absent = trigger_absent,
                                                        .close = trigger_close};
    struct trigger_source *self = calloc(1, sizeof *self);
    if (!self) {
        source_close(source);
        bt_fail(error, BT_MEMORY, "no memory for a trigger");
        return NULL;
    }
    self->source.operations = &operations;
    self->source.backpressure = source->backpressure;
    self->inner = source;
    self->settings = *settings;
    self->info = *source_info(source);
    if (prepare(self, error) == 0)
        return &self->source;
    trigger_close(&self->source);
    return NULL;
}

bool trigger_window_ended(const struct source *source)
{
    return ((const struct trigger_source *)source)->ended;
}

struct trigger_window trigger_window(const struct source *source)
{
    return ((const struct trigger_source *)source)->window;
}

struct trigger_counts trigger_counts(const struct source *source)
{
    const struct trigger_source *self = (const struct trigger_source *)source;
    struct trigger_counts counts = self->counts;
    counts.outside = self->received - self->emitted;
    return counts;
}

bool trigger_is_done(const struct source *source)
{
    return ((const struct trigger_source *)source)->done;
}

void trigger_snapshot(struct source *source)
{
    ((struct trigger_source *)source)->snapshots_wanted++;
}
