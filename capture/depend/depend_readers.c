/* Who has read the bytes of memory since they were written (depend_readers.h). */
#include "capture/depend/depend_readers.h"

#include "capture/depend/depend_internal.h"

static bool is_of(const struct depend *depend, const struct depend_thread *thread,
                  shadow_entry entry)
{
    return depend->thread_count == 1 ||
           depend->contexts[shadow_context(entry)].thread == thread->number;
}

/* Whether no loop of the thread has begun, nor begun an iteration, between two of its reads. */
static bool is_same_iteration(const struct depend_thread *thread, shadow_entry later,
                              shadow_entry earlier)
{
    for (unsigned i = thread->active_count; i-- > 0;) {
        const struct depend_active *active = &thread->active[i];
        if (active->iteration_begun < shadow_time(later))
            return active->iteration_begun < shadow_time(earlier);
        if (active->begun < shadow_time(later))
            return active->begun < shadow_time(earlier);
    }
    return true;
}

/* Lists the reads before `later`, latest first, that are of other iterations than it. written: time
 * of the last write. */
static unsigned list_earlier(const struct depend *depend, const struct depend_thread *thread,
                             uint64_t address, shadow_entry later, uint64_t written,
                             shadow_entry earlier[DEPEND_READS - 1])
{
    unsigned count = 0;
    for (unsigned level = 1; level < depend->read_levels; level++) {
        const shadow_entry entry = shadow_byte(&depend->reads[level], address);
        if (shadow_time(entry) <= written || !is_of(depend, thread, entry))
            break;
        if (count > 0 || !is_same_iteration(thread, later, entry))
            earlier[count++] = entry;
    }
    return count;
}

unsigned depend_readers_list(const struct depend *depend, uint64_t address,
                             shadow_entry reads[DEPEND_READS])
{
    const uint64_t written = shadow_time(shadow_byte(&depend->writers, address));
    reads[0] = shadow_byte(&depend->reads[0], address);
    if (shadow_time(reads[0]) <= written)
        return 0;
    for (size_t i = 0; i < depend->thread_count && depend->read_levels > 1; i++)
        if (is_of(depend, depend->threads[i], reads[0]))
            return 1 +
                   list_earlier(depend, depend->threads[i], address, reads[0], written, reads + 1);
    return 1;
}

bool depend_readers_are_split(const struct depend *depend, uint64_t address)
{
    for (unsigned level = 0; level < depend->read_levels; level++) {
        const shadow_entry *granule = shadow_find(&depend->reads[level], address);
        if (granule && shadow_is_split(*granule))
            return true;
    }
    return false;
}

/* --- a new read --------------------------------------------------------------------------------
 */

/* Bytes of one granule, which have the same reads. */
struct part {
    uint64_t address;
    unsigned size;
};

static int put(struct depend *depend, unsigned level, const struct part *part, shadow_entry entry)
{
    struct bt_error unused;
    if (level == depend->read_levels) {
        if (!entry || level == DEPEND_READS)
            return 0;
        if (shadow_init(&depend->reads[level], depend->settings.address_bits, &unused) < 0)
            return BT_MEMORY;
        depend->read_levels++;
    }
    shadow_entry *place = shadow_place(&depend->reads[level], part->address, part->size);
    if (place)
        *place = entry;
    if (place || (!entry && !shadow_find(&depend->reads[level], part->address)))
        return 0;
    return shadow_set(&depend->reads[level], part->address, part->size, entry);
}

/* The common case of keep(): the latest read replaces one of the same iteration, or is the first of
 * an earlier iteration. */
static inline bool keep_quickly(struct depend *depend, const struct depend_thread *thread,
                                const struct part *part, shadow_entry latest, uint64_t written)
{
    if (depend->read_levels < 2)
        return false;
    shadow_entry *place = shadow_place(&depend->reads[1], part->address, part->size);
    if (!place || (depend->read_levels > 2 && shadow_byte(&depend->reads[2], part->address)))
        return false;
    if (shadow_time(*place) > written &&
        !(is_of(depend, thread, *place) && is_same_iteration(thread, latest, *place)))
        return false;
    *place = latest;
    return true;
}

/* Keeps the latest read, which a new one replaces, as an earlier one. */
static int keep(struct depend *depend, const struct depend_thread *thread, const struct part *part,
                shadow_entry latest, uint64_t written)
{
    if (keep_quickly(depend, thread, part, latest, written))
        return 0;
    shadow_entry earlier[DEPEND_READS - 1];
    const unsigned count = list_earlier(depend, thread, part->address, latest, written, earlier);
    int result = put(depend, 1, part, latest);
    for (unsigned i = 0; i < count && i + 2 < DEPEND_READS && result == 0; i++)
        result = put(depend, i + 2, part, earlier[i]);
    /* no older ones follow */
    return result == 0 && count + 2 < DEPEND_READS ? put(depend, count + 2, part, 0) : result;
}

/* Whether the thread's next read makes nothing of an earlier iteration of this one. */
static inline bool is_replaced(const struct depend *depend, const struct depend_thread *thread,
                               shadow_entry latest)
{
    return latest && is_of(depend, thread, latest) &&
           (thread->active_count == 0 ||
            shadow_time(latest) > thread->active[thread->active_count - 1].iteration_begun);
}

static int set_part(struct depend *depend, const struct depend_thread *thread,
                    const struct part *part, shadow_entry entry)
{
    const shadow_entry latest = shadow_byte(&depend->reads[0], part->address);
    int result = 0;
    if (!is_replaced(depend, thread, latest)) {
        const uint64_t written = shadow_time(shadow_byte(&depend->writers, part->address));
        const bool is_kept = shadow_time(latest) > written && is_of(depend, thread, latest);
        result = is_kept ? keep(depend, thread, part, latest, written) : put(depend, 1, part, 0);
    }
    return result == 0 ? shadow_set(&depend->reads[0], part->address, part->size, entry) : result;
}

static bool is_written_whole(const struct depend *depend, uint64_t address)
{
    const shadow_entry *granule = shadow_find(&depend->writers, address);
    return !granule || !shadow_is_split(*granule);
}

int depend_readers_set(struct depend *depend, const struct depend_thread *thread, uint64_t address,
                       uint64_t size, shadow_entry entry)
{
    struct part part = {.address = address};
    int result = 0;
    for (const uint64_t end = address + size; part.address < end && result == 0;
         part.address += part.size) {
        const uint64_t rest = SHADOW_GRANULE - part.address % SHADOW_GRANULE;
        part.size = (unsigned)(rest < end - part.address ? rest : end - part.address);
        shadow_entry *place = shadow_place(&depend->reads[0], part.address, part.size);
        if (place && is_replaced(depend, thread, *place)) {
            *place = entry;
            continue;
        }
        if (!is_written_whole(depend, part.address) ||
            depend_readers_are_split(depend, part.address))
            part.size = 1;
        result = set_part(depend, thread, &part, entry);
    }
    return result;
}
