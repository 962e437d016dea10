/* Who has read the bytes of memory since they were written (depend_readers.h). */
#include "capture/depend/depend.h"

#include "formats/base/grow.h"

#include <string.h>

static bool is_list(shadow_entry entry)
{
    return shadow_context(entry) == SHADOW_LIST;
}

static struct reads_list *list_of(const struct depend_readers *readers, shadow_entry entry)
{
    return &readers->lists[shadow_time(entry)];
}

static bool is_of(const struct depend *depend, const struct depend_thread *thread,
                  shadow_entry read)
{
    return depend->thread_count == 1 ||
           depend->contexts[shadow_context(read)].thread == thread->number;
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

void depend_readers_clear(struct depend_readers *readers)
{
    shadow_clear(&readers->shadow);
    free(readers->lists);
    *readers = (struct depend_readers){.lists = NULL};
}

size_t depend_readers_bytes(const struct depend_readers *readers)
{
    return shadow_bytes(&readers->shadow) + readers->list_capacity * sizeof *readers->lists;
}

unsigned depend_readers_list(const struct depend *depend, shadow_entry entry,
                             shadow_entry reads[DEPEND_READS])
{
    reads[0] = entry;
    if (!is_list(entry))
        return entry ? 1 : 0;
    const struct reads_list *list = list_of(&depend->readers, entry);
    const struct depend_thread *thread = depend->threads[0];
    uint32_t earlier = list->count - 1;
    reads[0] = list->reads[earlier];
    for (size_t i = 1; i < depend->thread_count && !is_of(depend, thread, reads[0]); i++)
        thread = depend->threads[i];
    while (earlier > 0 && is_same_iteration(thread, reads[0], list->reads[earlier - 1]))
        earlier--; /* the loop between them has ended */
    for (uint32_t i = 0; i < earlier; i++)
        reads[1 + i] = list->reads[earlier - 1 - i];
    return 1 + earlier;
}

/* --- lists -------------------------------------------------------------------------------------
 */

/* A new list of these reads; 0: no memory. */
static shadow_entry new_list(struct depend_readers *readers, const shadow_entry *reads,
                             uint32_t count)
{
    uint32_t number = readers->free_list;
    if (number) {
        readers->free_list = readers->lists[number].next_free;
    } else {
        number = readers->list_count ? (uint32_t)readers->list_count : 1;
        struct reads_list *larger = number < UINT32_MAX
                                        ? grow_array(readers->lists, &readers->list_capacity,
                                                     (size_t)number + 1, sizeof *larger)
                                        : NULL;
        if (!larger)
            return 0;
        readers->lists = larger;
        readers->list_count = (size_t)number + 1;
    }
    memcpy(readers->lists[number].reads, reads, count * sizeof *reads);
    readers->lists[number].count = count;
    return shadow_entry_of(SHADOW_LIST, number);
}

/* Makes an entry empty. */
static void empty(struct depend_readers *readers, shadow_entry *entry)
{
    if (is_list(*entry)) {
        list_of(readers, *entry)->next_free = readers->free_list;
        readers->free_list = (uint32_t)shadow_time(*entry);
    }
    *entry = 0;
}

/* Splits a granule; each byte gets its own copy of a list. False: no memory. */
static bool split(struct depend_readers *readers, shadow_entry *granule)
{
    const shadow_entry whole = *granule, made = shadow_split(&readers->shadow, whole);
    if (!made)
        return false;
    *granule = made;
    for (unsigned i = 1; is_list(whole) && i < SHADOW_GRANULE; i++) {
        const struct reads_list copied = *list_of(readers, whole);
        shadow_entry *bytes = shadow_bytes_of(&readers->shadow, made);
        bytes[i] = new_list(readers, copied.reads, copied.count);
        if (!bytes[i])
            bytes[i] = copied.reads[copied.count - 1]; /* nothing untrue */
    }
    return true;
}

/* --- a new read --------------------------------------------------------------------------------
 */

/* Whether the thread's next read makes nothing of an earlier iteration of this one. */
static inline bool is_replaced(const struct depend *depend, const struct depend_thread *thread,
                               shadow_entry latest)
{
    return is_of(depend, thread, latest) &&
           (thread->active_count == 0 ||
            shadow_time(latest) > thread->active[thread->active_count - 1].iteration_begun);
}

/* Appends a read to a list whose latest read is of an earlier iteration. */
static void append(const struct depend_thread *thread, struct reads_list *list, shadow_entry read)
{
    shadow_entry *reads = list->reads;
    uint32_t count = list->count;
    for (; count > 1 && is_same_iteration(thread, reads[count - 1], reads[count - 2]); count--)
        reads[count - 2] = reads[count - 1];
    if (count == DEPEND_READS)
        memmove(reads, reads + 1, --count * sizeof *reads);
    reads[count] = read;
    list->count = count + 1;
}

/* Adds the thread's read to an entry that has reads. 0 or BT_MEMORY. */
static int add(struct depend *depend, const struct depend_thread *thread, shadow_entry *entry,
               shadow_entry read)
{
    struct depend_readers *readers = &depend->readers;
    struct reads_list *list = is_list(*entry) ? list_of(readers, *entry) : NULL;
    shadow_entry *latest = list ? &list->reads[list->count - 1] : entry;
    if (is_replaced(depend, thread, *latest)) {
        *latest = read;
    } else if (!is_of(depend, thread, *latest)) {
        empty(readers, entry);
        *entry = read;
    } else if (list) {
        append(thread, list, read);
    } else {
        const shadow_entry both[] = {*entry, read};
        const shadow_entry made = new_list(readers, both, 2);
        if (!made)
            return BT_MEMORY;
        *entry = made;
    }
    return 0;
}

static inline int note(struct depend *depend, const struct depend_thread *thread,
                       shadow_entry *entry, shadow_entry read)
{
    if (*entry)
        return add(depend, thread, entry, read);
    *entry = read;
    return 0;
}

/* Makes a granule whole again whose bytes have the same single read. */
static void join(struct shadow *shadow, shadow_entry *granule)
{
    const shadow_entry *bytes = shadow_bytes_of(shadow, *granule), first = bytes[0];
    for (unsigned i = 0; i < SHADOW_GRANULE; i++)
        if (bytes[i] != first || is_list(first))
            return;
    shadow_release(shadow, *granule);
    *granule = first;
}

/* Notes a read of bytes [from, to) of a granule. 0 or BT_MEMORY. */
static int note_part(struct depend *depend, const struct depend_thread *thread,
                     shadow_entry *granule, unsigned from, unsigned to, shadow_entry read)
{
    const bool is_whole = to - from == SHADOW_GRANULE;
    int result = 0;
    if (is_whole && !shadow_is_split(*granule))
        return note(depend, thread, granule, read);
    if (!shadow_is_split(*granule) && !split(&depend->readers, granule))
        return BT_MEMORY;
    shadow_entry *bytes = shadow_bytes_of(&depend->readers.shadow, *granule);
    for (unsigned i = from; i < to && result == 0; i++)
        result = note(depend, thread, &bytes[i], read);
    if (is_whole)
        join(&depend->readers.shadow, granule);
    return result;
}

int depend_readers_note(struct depend *depend, const struct depend_thread *thread, uint64_t address,
                        uint64_t size, shadow_entry read)
{
    int result = 0;
    for (uint64_t at = address, end = address + size, next; at < end && result == 0; at = next) {
        shadow_entry *granule = shadow_get(&depend->readers.shadow, at);
        const unsigned from = at % SHADOW_GRANULE;
        next = shadow_granule_end(at, end);
        result = granule
                     ? note_part(depend, thread, granule, from, from + (unsigned)(next - at), read)
                     : BT_MEMORY;
    }
    return result;
}

/* --- forgetting --------------------------------------------------------------------------------
 */

/* Forgets the reads of bytes [from, to) of a granule; without memory to split it, of all. */
static void forget_part(struct depend_readers *readers, shadow_entry *granule, unsigned from,
                        unsigned to)
{
    const bool is_part = to - from < SHADOW_GRANULE;
    if (!shadow_is_split(*granule) && !(is_part && split(readers, granule))) {
        empty(readers, granule);
        return;
    }
    shadow_entry *bytes = shadow_bytes_of(&readers->shadow, *granule);
    for (unsigned i = from; i < to; i++)
        empty(readers, &bytes[i]);
    if (!is_part)
        join(&readers->shadow, granule);
}

void depend_readers_forget(struct depend *depend, uint64_t address, uint64_t size)
{
    struct depend_readers *readers = &depend->readers;
    for (uint64_t at = address, end = address + size, next; at < end; at = next) {
        shadow_entry *granule = shadow_find(&readers->shadow, at);
        const unsigned from = at % SHADOW_GRANULE;
        next = granule ? shadow_granule_end(at, end) : (at | (SHADOW_CHUNK - 1)) + 1;
        if (granule && *granule)
            forget_part(readers, granule, from, from + (unsigned)(next - at));
    }
}
