#include "capture/exec/kernel/window.h"

void window_begin(struct window *window, const struct window_rules *rules)
{
    *window = (struct window){.rules = *rules, .is_open = rules->open, .fresh = true};
}

/* --- regions --------------------------------------------------------------------------------- */

static void open_region(struct window *window)
{
    window->fresh = window->fresh || !window->is_open;
    window->is_open = true;
}

void window_place(struct window *window, bool is_until, bool is_from)
{
    const struct window_rules *rules = &window->rules;
    /* the second place of a pair that counts once is looked for in what is captured */
    bool closes = is_until && window->is_open && (!rules->once || window->counted >= rules->skip);
    if (closes && rules->once) {
        window->ended = true;
    } else if (closes && !is_from) {
        window->is_open = false;
    } else if (is_from) {
        open_region(window);
    }
}

void window_mark(struct window *window, bool begins)
{
    if (begins)
        open_region(window);
    else
        window->is_open = false;
}

/* A call in a call is the outer one's part. One with its frame at that of the outer one, or above
 * it, has begun after that was left, by longjmp() or an exception. */
void window_called(const struct window *window, struct window_call *call, uint64_t stack,
                   uint64_t back)
{
    if (window->ended || (call->inside && stack < call->stack))
        return;
    *call = (struct window_call){
        .inside = true, .fresh = call->fresh || !call->inside, .stack = stack, .back = back};
}

void window_returned(struct window_call *call, uint64_t address, uint64_t stack)
{
    if (call->inside && address == call->back && stack > call->stack)
        call->inside = false;
}

/* --- instructions in regions ----------------------------------------------------------------- */

/* Place in the sample's period. */
static uint64_t phase_of(const struct window *window)
{
    return (window->counted - window->rules.skip) % (window->rules.on + window->rules.off);
}

uint64_t window_captured(const struct window *window)
{
    const struct window_rules *rules = &window->rules;
    if (window->counted <= rules->skip)
        return 0;
    if (rules->off == 0)
        return window->counted - rules->skip;
    uint64_t phase = phase_of(window);
    return (window->counted - rules->skip) / (rules->on + rules->off) * rules->on +
           (phase < rules->on ? phase : rules->on);
}

void window_count(struct window *window, uint64_t counted)
{
    const struct window_rules *rules = &window->rules;
    window->counted = counted;
    if (rules->limit && window_captured(window) >= rules->limit)
        window->ended = true;
    if (rules->off > 0 && counted > rules->skip && phase_of(window) >= rules->on)
        window->fresh = true;
}

void window_end(struct window *window)
{
    window->ended = true;
}

static bool is_inside(const struct window *window, const struct window_call *call)
{
    return window->rules.gate == WINDOW_ALWAYS ||
           (window->rules.gate == WINDOW_CALLS ? call->inside : window->is_open);
}

enum window_state window_state(const struct window *window, const struct window_call *call,
                               uint64_t *until)
{
    const struct window_rules *rules = &window->rules;
    *until = 0;
    if (window->ended)
        return WINDOW_BEHIND;
    if (!is_inside(window, call))
        return WINDOW_OUT;
    if (window->counted < rules->skip) {
        *until = rules->skip;
        return WINDOW_COUNT;
    }
    uint64_t left = rules->limit ? rules->limit - window_captured(window) : UINT64_MAX;
    if (rules->off > 0) {
        uint64_t phase = phase_of(window);
        if (phase >= rules->on) {
            *until = window->counted + rules->on + rules->off - phase;
            return WINDOW_COUNT;
        }
        left = left < rules->on - phase ? left : rules->on - phase;
    }
    if (left < UINT64_MAX - window->counted)
        *until = window->counted + left;
    return WINDOW_IN;
}

bool window_captures(struct window *window, struct window_call *call)
{
    if (!window->fresh && !call->fresh)
        return false;
    window->fresh = call->fresh = false;
    return ++window->regions > 1;
}
