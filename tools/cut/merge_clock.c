#include "tools/cut/merge_clock.h"

#include "formats/base/quantity.h"
#include "formats/base/saturating.h"
#include "formats/base/scale.h"

#include <inttypes.h>
#include <string.h>

int merge_offset_parse(struct merge_offset *offset, const char *text, struct bt_error *error)
{
    static const char unit[] = "ticks";
    const size_t size = strlen(text), unit_size = sizeof unit - 1;
    const bool below = *text == '-';
    char word[64];
    uint64_t ticks;
    *offset = (struct merge_offset){.given = true};
    offset->is_ticks = size > unit_size && strcmp(text + size - unit_size, unit) == 0;
    if (size >= sizeof word)
        return bt_fail(error, BT_USAGE, "'%.40s' is not a time", text);
    strcpy(word, text + below);
    if (!offset->is_ticks) {
        int result = quantity_duration(&offset->value, word, error);
        offset->value = below ? -offset->value : offset->value;
        return result;
    }
    word[strlen(word) - unit_size] = '\0';
    int result = quantity_count(&ticks, word, error);
    if (result == 0 && ticks > INT64_MAX / 2)
        return bt_fail(error, BT_USAGE, "'%.40s' is too large", text);
    offset->value = result < 0 ? 0 : below ? -(int64_t)ticks : (int64_t)ticks;
    return result;
}

/* Whether the boards may be the same. */
static bool same_board(const struct capture_info *a, const struct capture_info *b)
{
    return strcmp(a->board, b->board) == 0 || strcmp(a->board, MERGE_BOARD_SEVERAL) == 0 ||
           strcmp(b->board, MERGE_BOARD_SEVERAL) == 0;
}

/* Whether two traces count ticks of one clock from the same time on. */
static bool same_clock(const struct capture_info *a, const struct capture_info *b)
{
    const bool id = capture_info_has_id(a) && memcmp(a->id, b->id, sizeof a->id) == 0;
    return a->clock_hz == b->clock_hz &&
           (id || (a->started_ns != 0 && a->started_ns == b->started_ns && same_board(a, b) &&
                   strcmp(a->bus, b->bus) == 0));
}

/* The input whose clock the others are compared with: the first without an offset. */
static const struct merge_input *reference(const struct merge_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!inputs[i].offset.given)
            return &inputs[i];
    return inputs;
}

/* Checks that the relation of an input to the reference is known. */
static int check_relation(const struct merge_clock *clock, const struct merge_input *input,
                          const struct merge_input *to, struct bt_error *error)
{
    if (clock->by_start && (input->info->started_ns == 0 || input->info->clock_hz == 0))
        return bt_fail(error, BT_USAGE,
                       "%.200s does not say when it started, or the frequency of its clock: give "
                       "--offset instead of --by-start",
                       input->name);
    if (input == to || input->offset.given || clock->by_start || same_clock(input->info, to->info))
        return 0;
    return bt_fail(error, BT_USAGE,
                   "%.150s and %.150s have different clocks, or start at different times: "
                   "--offset FILE=TIME says how much later the ticks of a file are, --by-start "
                   "compares their start times",
                   to->name, input->name);
}

/* Checks that the ticks of an input can become those of the merged trace. A trace of an unknown
 * clock whose offset is given has the same ticks. */
static int check_frequency(const struct merge_clock *clock, struct merge_input *input,
                           const struct merge_input *first, bool chosen, struct bt_error *error)
{
    input->clock_hz = input->info->clock_hz;
    if (input->clock_hz == 0 && input->offset.given)
        input->clock_hz = clock->clock_hz;
    if (input->clock_hz == clock->clock_hz)
        return 0;
    if (!chosen && input->clock_hz > 0)
        return bt_fail(error, BT_USAGE,
                       "%.150s has %" PRIu64 " ticks a second, %.150s has %" PRIu64
                       ": --clock HZ converts them to ticks of one length",
                       first->name, first->info->clock_hz, input->name, input->clock_hz);
    if (input->clock_hz == 0)
        return bt_fail(
            error, BT_USAGE,
            "%.200s does not specify its clock: --offset FILE=0ticks takes its ticks for "
            "those of the others",
            input->name);
    return 0;
}

/* The offset of an input in ticks of the merged trace. 0 or BT_USAGE. */
static int ticks_later(const struct merge_clock *clock, const struct merge_input *input,
                       int64_t first_start, int64_t *ticks, struct bt_error *error)
{
    const struct merge_offset *offset = &input->offset;
    int64_t nanoseconds = offset->is_ticks ? 0 : offset->value;
    if (clock->by_start)
        nanoseconds += input->info->started_ns - first_start;
    if (nanoseconds != 0 && clock->clock_hz == 0)
        return bt_fail(error, BT_USAGE, "the clock of %.200s is unknown: give --offset in ticks",
                       input->name);
    const double exact = (double)nanoseconds * 1e-9 * (double)clock->clock_hz;
    if (exact < -1e18 || exact > 1e18)
        return bt_fail(error, BT_USAGE, "the offset of %.200s is too large", input->name);
    *ticks = (int64_t)(exact + (exact < 0 ? -0.5 : 0.5)) + (offset->is_ticks ? offset->value : 0);
    return 0;
}

/* The time of day at tick 0, from an input that starts so many ticks later. */
static int64_t start_of(const struct merge_clock *clock, const struct merge_input *input)
{
    if (input->info->started_ns == 0 || clock->clock_hz == 0)
        return 0;
    return input->info->started_ns -
           (int64_t)((double)input->later * 1e9 / (double)clock->clock_hz);
}

int merge_clock_join(struct merge_clock *clock, struct merge_input *inputs, size_t count,
                     struct bt_error *error)
{
    const struct merge_input *to = reference(inputs, count);
    const bool chosen = clock->clock_hz != 0;
    int64_t ticks, least = 0;
    const struct merge_input *first = inputs; /* the first with a clock */
    while (first + 1 < inputs + count && first->info->clock_hz == 0)
        first++;
    if (!chosen)
        clock->clock_hz = first->info->clock_hz;
    for (size_t i = 0; i < count; i++) {
        if (check_relation(clock, &inputs[i], to, error) < 0 ||
            check_frequency(clock, &inputs[i], first, chosen, error) < 0 ||
            ticks_later(clock, &inputs[i], inputs[0].info->started_ns, &ticks, error) < 0)
            return error->code;
        least = ticks < least ? ticks : least;
    }
    for (size_t i = 0; i < count; i++) {
        (void)ticks_later(clock, &inputs[i], inputs[0].info->started_ns, &ticks, error);
        inputs[i].later = (uint64_t)(ticks - least);
    }
    clock->started_ns = start_of(clock, to);
    return 0;
}

uint64_t merge_clock_tick(const struct merge_clock *clock, const struct merge_input *input,
                          uint64_t tick)
{
    if (input->clock_hz != clock->clock_hz)
        tick = scale_down(tick, clock->clock_hz, input->clock_hz);
    return saturating_add(tick, input->later);
}
