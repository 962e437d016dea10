/* References that are not plain: of any size and alignment, of all kinds, and ranges. */
#include "capture/depend/depend.h"

#define REFERENCE_BYTES 64u

/* The different accesses that a reference depends on, each with a byte that it accessed. */
struct sources {
    struct {
        shadow_entry entry;
        uint64_t address;
    } sources[REFERENCE_BYTES * DEPEND_READS];
    unsigned count;
};

static void add_source(struct sources *sources, shadow_entry entry, uint64_t address)
{
    for (unsigned i = sources->count; i-- > 0;)
        if (sources->sources[i].entry == entry)
            return;
    sources->sources[sources->count].entry = entry;
    sources->sources[sources->count++].address = address;
}

/* The accesses of the bytes in one of the shadows. */
static void collect(const struct depend *depend, const struct shadow *shadow, uint64_t address,
                    unsigned size, struct sources *sources)
{
    shadow_entry accesses[DEPEND_READS], before = 0;
    for (uint64_t at = address, end = address + size, next; at < end; at = next) {
        const shadow_entry *granule = shadow_find(shadow, at);
        const bool is_split = granule && shadow_is_split(*granule);
        const shadow_entry entry = shadow_byte(shadow, at);
        next = is_split ? at + 1 : shadow_granule_end(at, end);
        const unsigned count = entry == before ? 0 : depend_readers_list(depend, entry, accesses);
        for (unsigned i = 0; i < count; i++)
            add_source(sources, accesses[i], at);
        before = entry;
    }
}

static void count_all(struct depend *depend, struct depend_thread *thread, enum depend_kind kind,
                      uint32_t context, const struct sources *sources)
{
    for (unsigned i = 0; i < sources->count && depend->counts; i++)
        depend_count(depend, thread, kind, context, sources->sources[i].entry,
                     sources->sources[i].address, 1);
}

/* The shadow with the sources of dependences of a kind. */
static const struct shadow *shadow_of(const struct depend *depend, enum depend_kind kind)
{
    return kind == DEPEND_WAR ? &depend->readers.shadow : &depend->writers;
}

static void find_sources(struct depend *depend, struct depend_thread *thread, enum depend_kind kind,
                         uint32_t context, uint64_t address, unsigned size)
{
    const struct shadow *shadow = shadow_of(depend, kind);
    struct sources sources;
    shadow_entry entry;
    if (!(depend->settings.kinds >> kind & 1))
        return;
    if (shadow_sole(shadow, address, size, &entry) && shadow_context(entry) <= SHADOW_CONTEXT_MAX) {
        if (entry)
            depend_count(depend, thread, kind, context, entry, address, 1);
        return;
    }
    sources.count = 0;
    collect(depend, shadow, address, size, &sources);
    count_all(depend, thread, kind, context, &sources);
}

static void set_write(struct depend *depend, uint32_t context, uint64_t address, uint64_t size)
{
    if (!depend->counts)
        return;
    const shadow_entry entry = shadow_entry_of(context, depend->time);
    if (depend->tracks_reads)
        depend_readers_forget(depend, address, size);
    if (!(size <= REFERENCE_BYTES &&
          shadow_put(&depend->writers, address, (unsigned)size, entry)) &&
        shadow_set(&depend->writers, address, size, entry) < 0)
        depend_stop(depend, DEPEND_MEMORY);
    else if (depend->settings.found && shadow_set(&depend->frozen_writers, address, size,
                                                  shadow_entry_of(context, depend->frozen)) < 0)
        depend_stop(depend, DEPEND_MEMORY);
}

static void set_read(struct depend *depend, struct depend_thread *thread, uint32_t context,
                     uint64_t address, uint64_t size)
{
    if (!depend->tracks_reads)
        return;
    depend_touch(thread, address);
    if (depend->counts && depend_readers_note(depend, thread, address, size,
                                              shadow_entry_of(context, depend->time)) < 0)
        depend_stop(depend, DEPEND_MEMORY);
}

void depend_read_bytes(struct depend *depend, struct depend_thread *thread, uint32_t context,
                       uint64_t address, unsigned size)
{
    find_sources(depend, thread, DEPEND_RAW, context, address, size);
    set_read(depend, thread, context, address, size);
}

void depend_write_bytes(struct depend *depend, struct depend_thread *thread, uint32_t context,
                        uint64_t address, unsigned size)
{
    find_sources(depend, thread, DEPEND_WAR, context, address, size);
    find_sources(depend, thread, DEPEND_WAW, context, address, size);
    set_write(depend, context, address, size);
}

/* --- ranges ------------------------------------------------------------------------------------
 */

/* Begins `count` references at once. 0: no context. */
static uint32_t begin_range(struct depend *depend, struct depend_thread *thread,
                            struct depend_site *site, uint64_t count)
{
    const uint32_t context = depend_begin(depend, thread, site);
    depend->time += count - 1;
    if (site->is_detail) {
        depend->frozen += count - 1;
        depend->detail_time = depend->time;
    }
    if (depend->time > SHADOW_TIME_MAX)
        depend_stop(depend, DEPEND_TIME);
    return context;
}

/* The number of elements from `address` on that have one and the same entry; 0: the first element
 * has to be looked at by itself. */
static uint64_t same_elements(const struct shadow *shadow, uint64_t address, unsigned size,
                              uint64_t count, shadow_entry *entry)
{
    const shadow_entry *granule = shadow_find(shadow, address);
    const uint64_t rest = SHADOW_CHUNK - address % SHADOW_CHUNK;
    uint64_t limit = count * size < rest ? count * size : rest;
    uint64_t bytes = SHADOW_GRANULE - address % SHADOW_GRANULE;
    *entry = granule ? *granule : 0;
    if (!granule)
        return limit / size;
    if (shadow_context(*entry) > SHADOW_CONTEXT_MAX)
        return 0;
    while (bytes < limit && *++granule == *entry)
        bytes += SHADOW_GRANULE;
    return (bytes < limit ? bytes : limit) / size;
}

/* Counts the dependences of a range of references on its last writers or readers. */
static void find_range(struct depend *depend, struct depend_thread *thread, enum depend_kind kind,
                       uint32_t context, uint64_t address, unsigned size, uint64_t count)
{
    if (!(depend->settings.kinds >> kind & 1))
        return;
    while (count > 0 && depend->counts) {
        shadow_entry entry = 0;
        uint64_t same = same_elements(shadow_of(depend, kind), address, size, count, &entry);
        if (same == 0) {
            find_sources(depend, thread, kind, context, address, size);
            same = 1;
        } else if (entry) {
            depend_count(depend, thread, kind, context, entry, address, same);
        }
        address += same * size;
        count -= same;
    }
}

static void read_range(struct depend *depend, struct depend_thread *thread, uint32_t context,
                       uint64_t address, unsigned size, uint64_t count)
{
    if (!context)
        return;
    find_range(depend, thread, DEPEND_RAW, context, address, size, count);
    set_read(depend, thread, context, address, size * count);
}

static void write_range(struct depend *depend, struct depend_thread *thread, uint32_t context,
                        uint64_t address, unsigned size, uint64_t count)
{
    depend->writes += count;
    depend_touch(thread, address);
    if (!context)
        return;
    find_range(depend, thread, DEPEND_WAR, context, address, size, count);
    find_range(depend, thread, DEPEND_WAW, context, address, size, count);
    set_write(depend, context, address, size * count);
}

void depend_read_range(struct depend *depend, struct depend_thread *thread,
                       struct depend_site *site, uint64_t address, unsigned size, uint64_t count)
{
    if (depend->counts && count > 0)
        read_range(depend, thread, begin_range(depend, thread, site, count), address, size, count);
}

void depend_write_range(struct depend *depend, struct depend_thread *thread,
                        struct depend_site *site, uint64_t address, unsigned size, uint64_t count)
{
    if (depend->counts && count > 0)
        write_range(depend, thread, begin_range(depend, thread, site, count), address, size, count);
}

/* Elements may be read after they were written: each is a reference of its own. */
static void copy_overlapping(struct depend *depend, struct depend_thread *thread,
                             struct depend_site *from, struct depend_site *to, uint64_t source,
                             uint64_t target, unsigned size, uint64_t count, bool is_downwards)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = (is_downwards ? count - 1 - i : i) * size;
        depend_read(depend, thread, from, source + at, size);
        depend_write(depend, thread, to, target + at, size);
    }
}

void depend_copy(struct depend *depend, struct depend_thread *thread, struct depend_site *from,
                 struct depend_site *to, uint64_t source, uint64_t target, unsigned size,
                 uint64_t count, bool is_downwards)
{
    const uint64_t bytes = size * count;
    if (!depend->counts || count == 0)
        return;
    if (source < target + bytes && target < source + bytes) {
        copy_overlapping(depend, thread, from, to, source, target, size, count, is_downwards);
        return;
    }
    const uint32_t reads = begin_range(depend, thread, from, count);
    const uint32_t writes = begin_range(depend, thread, to, count);
    read_range(depend, thread, reads, source, size, count);
    write_range(depend, thread, writes, target, size, count);
}

void depend_move(struct depend *depend, uint64_t from, uint64_t to, uint64_t size)
{
    if (!depend->counts)
        return;
    depend_forget(depend, to, size);
    if (shadow_move(&depend->writers, from, to, size) < 0 ||
        (depend->tracks_reads && shadow_move(&depend->readers.shadow, from, to, size) < 0) ||
        (depend->settings.found && shadow_move(&depend->frozen_writers, from, to, size) < 0))
        depend_stop(depend, DEPEND_MEMORY);
}

void depend_forget(struct depend *depend, uint64_t address, uint64_t size)
{
    if (!depend->counts)
        return;
    shadow_forget(&depend->writers, address, size);
    if (depend->tracks_reads)
        depend_readers_forget(depend, address, size);
    if (depend->settings.found)
        shadow_forget(&depend->frozen_writers, address, size);
}
