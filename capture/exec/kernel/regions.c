#include "capture/exec/kernel/regions.h"

void regions_begin(struct regions *regions, const struct region_rules *rules)
{
    *regions = (struct regions){.rules = *rules, .is_open = rules->open, .fresh = true};
}

/* --- regions --------------------------------------------------------------------------------- */

static void open_region(struct regions *regions)
{
    regions->fresh = regions->fresh || !regions->is_open;
    regions->is_open = true;
}

void regions_reach(struct regions *regions, bool is_until, bool is_from)
{
    const struct region_rules *rules = &regions->rules;
    /* a single region closes only at a closing address that is captured */
    bool closes = is_until && regions->is_open && (!rules->once || regions->counted >= rules->skip);
    if (closes && rules->once) {
        regions->ended = true;
    } else if (closes && !is_from) {
        regions->is_open = false;
    } else if (is_from) {
        open_region(regions);
    }
}

void regions_mark(struct regions *regions, bool begins)
{
    if (begins)
        open_region(regions);
    else
        regions->is_open = false;
}

/* A nested call belongs to the outer one. A call whose frame is not below that of the outer one
 * means that the outer one was left by longjmp() or an exception. */
void regions_called(const struct regions *regions, struct region_call *call, uint64_t stack,
                    uint64_t back)
{
    if (regions->ended || (call->inside && stack < call->stack))
        return;
    *call = (struct region_call){
        .inside = true, .fresh = call->fresh || !call->inside, .stack = stack, .back = back};
}

void regions_returned(struct region_call *call, uint64_t address, uint64_t stack)
{
    if (call->inside && address == call->back && stack > call->stack)
        call->inside = false;
}

/* --- instructions in regions ----------------------------------------------------------------- */

/* Position in the period of sampling. */
static uint64_t phase_of(const struct regions *regions)
{
    return (regions->counted - regions->rules.skip) % (regions->rules.on + regions->rules.off);
}

uint64_t regions_captured(const struct regions *regions)
{
    const struct region_rules *rules = &regions->rules;
    if (regions->counted <= rules->skip)
        return 0;
    if (rules->off == 0)
        return regions->counted - rules->skip;
    uint64_t phase = phase_of(regions);
    return (regions->counted - rules->skip) / (rules->on + rules->off) * rules->on +
           (phase < rules->on ? phase : rules->on);
}

void regions_count(struct regions *regions, uint64_t counted)
{
    const struct region_rules *rules = &regions->rules;
    regions->counted = counted;
    if (rules->limit && regions_captured(regions) >= rules->limit)
        regions->ended = true;
    if (rules->off > 0 && counted > rules->skip && phase_of(regions) >= rules->on)
        regions->fresh = true;
}

void regions_end(struct regions *regions)
{
    regions->ended = true;
}

static bool is_inside(const struct regions *regions, const struct region_call *call)
{
    return regions->rules.gate == REGION_ALWAYS ||
           (regions->rules.gate == REGION_CALLS ? call->inside : regions->is_open);
}

enum region_state regions_state(const struct regions *regions, const struct region_call *call,
                                uint64_t *until)
{
    const struct region_rules *rules = &regions->rules;
    *until = 0;
    if (regions->ended)
        return REGION_ENDED;
    if (!is_inside(regions, call))
        return REGION_OUTSIDE;
    if (regions->counted < rules->skip) {
        *until = rules->skip;
        return REGION_SKIPPED;
    }
    uint64_t left = rules->limit ? rules->limit - regions_captured(regions) : UINT64_MAX;
    if (rules->off > 0) {
        uint64_t phase = phase_of(regions);
        if (phase >= rules->on) {
            *until = regions->counted + rules->on + rules->off - phase;
            return REGION_SKIPPED;
        }
        left = left < rules->on - phase ? left : rules->on - phase;
    }
    if (left < UINT64_MAX - regions->counted)
        *until = regions->counted + left;
    return REGION_CAPTURED;
}

bool regions_begin_piece(struct regions *regions, struct region_call *call)
{
    if (!regions->fresh && !call->fresh)
        return false;
    regions->fresh = call->fresh = false;
    return ++regions->regions > 1;
}
