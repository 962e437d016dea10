/* Reads and writes that are not of a few bytes with one writer. */
#include "tools/wet/record/recorder_internal.h"

#define ADDRESSES (UINT64_C(1) << 32) /* of the program */

/* --- labels ------------------------------------------------------------------------------------
 */

static void add_writer(struct recorder *recorder, shadow_entry entry)
{
    struct wet_ranges *ranges = &recorder->ranges;
    const uint32_t id = shadow_context(entry);
    const uint64_t instance = shadow_time(entry);
    struct wet_writers *last = ranges->count > 0 ? &ranges->ranges[ranges->count - 1] : NULL;
    if (last && last->id == id && instance + 1 >= last->first &&
        instance <= last->first + last->count) {
        const bool is_before = instance < last->first,
                   is_after = instance == last->first + last->count;
        last->first -= is_before;
        last->count += is_before || is_after;
        return;
    }
    struct wet_writers *larger =
        grow_array(ranges->ranges, &ranges->capacity, ranges->count + 1, sizeof *larger);
    if (!larger) {
        recorder->out_of_memory = true;
        return;
    }
    ranges->ranges = larger;
    larger[ranges->count++] = (struct wet_writers){.id = id, .first = instance, .count = 1};
}

/* Adds the writers of bytes, except the reader itself. */
static void collect(struct recorder *recorder, shadow_entry own, uint64_t address, uint64_t size)
{
    const struct shadow *shadow = &recorder->shadow;
    const uint64_t end = size < ADDRESSES - address ? address + size : ADDRESSES;
    for (uint64_t at = address, next; at < end; at = next) {
        const shadow_entry *granule = shadow_find(shadow, at);
        next = shadow_granule_end(at, end);
        if (!granule) {
            next = (at | (SHADOW_CHUNK - 1)) + 1;
        } else if (!shadow_is_split(*granule)) {
            if (*granule != 0 && *granule != own)
                add_writer(recorder, *granule);
        } else {
            const shadow_entry *bytes = shadow_bytes_of(shadow, *granule);
            for (; at < next; at++)
                if (bytes[at % SHADOW_GRANULE] != 0 && bytes[at % SHADOW_GRANULE] != own)
                    add_writer(recorder, bytes[at % SHADOW_GRANULE]);
        }
    }
}

static int compare_ranges(const void *a, const void *b)
{
    const struct wet_writers *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

/* Sorts the ranges, and joins those that overlap or touch. */
static void arrange(struct wet_ranges *ranges)
{
    size_t kept = 0;
    if (ranges->count < 2)
        return;
    qsort(ranges->ranges, ranges->count, sizeof *ranges->ranges, compare_ranges);
    for (size_t i = 1; i < ranges->count; i++) {
        struct wet_writers *last = &ranges->ranges[kept];
        const struct wet_writers *next = &ranges->ranges[i];
        if (next->id != last->id || next->first > last->first + last->count)
            ranges->ranges[++kept] = *next;
        else if (next->first + next->count > last->first + last->count)
            last->count = next->first + next->count - last->first;
    }
    ranges->count = kept + 1;
}

/* Puts the label of what was collected. */
static void put_label(struct recorder *recorder, struct record_port *port, uint64_t reader)
{
    struct wet_ranges *ranges = &recorder->ranges;
    const size_t before = port->bytes.size;
    arrange(ranges);
    if (wet_port_put_ranges(&port->port, reader, ranges->ranges, (uint32_t)ranges->count,
                            recorder->code.counts, &port->bytes) < 0)
        recorder->out_of_memory = true;
    recorder->port_bytes += port->bytes.size - before;
    ranges->count = 0;
}

static uint64_t instance_of(const struct recorder *recorder, uint32_t id)
{
    return recorder->code.counts[id] - 1;
}

void recorder_read(struct recorder *recorder, const struct record_operation *operation,
                   uint32_t address)
{
    const uint64_t reader = instance_of(recorder, operation->id);
    collect(recorder, shadow_entry_of(operation->id, reader), address, operation->size);
    put_label(recorder, operation->port, reader);
}

void recorder_write(struct recorder *recorder, uint32_t id, uint64_t instance, uint32_t address,
                    uint64_t size)
{
    if (size > ADDRESSES - address)
        size = ADDRESSES - address;
    if (shadow_set(&recorder->shadow, address, size, shadow_entry_of(id, instance)) < 0)
        recorder->out_of_memory = true;
}

/* --- string instructions -----------------------------------------------------------------------
 */

/* What a string instruction with a repeat prefix has done. */
struct repetition {
    const struct special *special;
    uint64_t times, reader;
    uint64_t lowest[2]; /* addresses of its operands */
    bool is_downwards;
};

/* Entries: count and pointers before, count and first pointer after it. */
static struct repetition repetition_of(const struct record_execution *execution,
                                       const struct record_operation *operation)
{
    const struct special *special = &execution->block->block->specials[operation->slot];
    const uint32_t *entries = execution->entries + special->slot;
    const uint32_t *after = entries + 1 + special->accesses;
    struct repetition repetition = {.special = special,
                                    .times = entries[0] - after[0],
                                    .reader = instance_of(execution->recorder, operation->id),
                                    .is_downwards = trace_goes_backwards(special, entries)};
    for (unsigned a = 0; a < special->accesses; a++) {
        const struct decode_access *access = &special->access[a];
        uint32_t lowest =
            entries[1 + a] + (access->fs ? (uint32_t)execution->expander->fs_base : 0);
        if (repetition.is_downwards)
            lowest -= ((uint32_t)repetition.times - 1) * access->size;
        repetition.lowest[a] = lowest;
    }
    return repetition;
}

/* movs with operands that overlap: what it has read of its own writes depends on those before. */
static void copy_elements(struct recorder *recorder, const struct record_operation *operation,
                          const struct repetition *repetition)
{
    const uint64_t size = repetition->special->access[0].size;
    for (uint64_t i = 0; i < repetition->times; i++) {
        const uint64_t at = (repetition->is_downwards ? repetition->times - 1 - i : i) * size;
        collect(recorder, shadow_entry_of(operation->id, repetition->reader),
                (uint32_t)(repetition->lowest[0] + at), size);
        recorder_write(recorder, operation->id, repetition->reader,
                       (uint32_t)(repetition->lowest[1] + at), size);
    }
    put_label(recorder, operation->port, repetition->reader);
}

static bool overlaps(const struct repetition *repetition)
{
    const uint64_t bytes = repetition->times * repetition->special->access[0].size;
    const uint64_t *lowest = repetition->lowest;
    return lowest[0] < lowest[1] + bytes && lowest[1] < lowest[0] + bytes;
}

static void repeat(const struct record_execution *execution,
                   const struct record_operation *operation)
{
    struct recorder *recorder = execution->recorder;
    const struct repetition repetition = repetition_of(execution, operation);
    const struct special *special = repetition.special;
    struct record_port *ports[] = {operation[0].port, operation[1].port};
    unsigned reads = 0;
    if (special->accesses == 2 && special->access[1].write && overlaps(&repetition)) {
        copy_elements(recorder, operation, &repetition);
        return;
    }
    for (unsigned a = 0; a < special->accesses; a++) {
        const struct decode_access *access = &special->access[a];
        if (!access->read)
            continue;
        collect(recorder, 0, repetition.lowest[a], repetition.times * access->size);
        put_label(recorder, ports[reads++], repetition.reader);
    }
    for (unsigned a = 0; a < special->accesses; a++)
        if (special->access[a].write)
            recorder_write(recorder, operation->id, repetition.reader,
                           (uint32_t)repetition.lowest[a],
                           repetition.times * special->access[a].size);
}

/* --- other specials ----------------------------------------------------------------------------
 */

struct special_references {
    struct recorder *recorder;
    uint32_t id;
    uint64_t instance;
};

static int put_special(void *context, struct record *records, size_t count)
{
    const struct special_references *references = context;
    struct recorder *recorder = references->recorder;
    for (size_t i = 0; i < count; i++)
        if (records[i].type == REQUEST_MEMWRITE)
            recorder_write(recorder, references->id, references->instance, records[i].address,
                           records[i].size);
        else
            collect(recorder, 0, records[i].address, records[i].size);
    return 0;
}

static void refer_special(const struct record_execution *execution,
                          const struct record_operation *operation)
{
    const struct special *special = &execution->block->block->specials[operation->slot];
    struct recorder *recorder = execution->recorder;
    struct special_references references = {.recorder = recorder,
                                            .id = operation->id,
                                            .instance = instance_of(recorder, operation->id)};
    struct trace_expander own = *execution->expander;
    own.take = NULL;
    own.repetitions = false;
    own.records = recorder->records;
    own.capacity = TRACE_EXPAND_RECORDS_MIN;
    own.count = 0;
    own.put = put_special;
    own.context = &references;
    trace_special(&own, special, execution->entries);
    trace_expander_flush(&own);
    if (operation->port)
        put_label(recorder, operation->port, references.instance);
}

/* --- operations --------------------------------------------------------------------------------
 */

static uint32_t address_of(const struct record_execution *execution,
                           const struct record_operation *operation)
{
    return operation->addend + (execution->entries[operation->slot] & operation->mask);
}

void recorder_rare(const struct record_execution *execution,
                   const struct record_operation *operation)
{
    struct recorder *recorder = execution->recorder;
    const uint32_t address = address_of(execution, operation);
    const uint32_t fs = (uint32_t)execution->expander->fs_base;
    switch ((enum record_operation_kind)operation->kind) {
    case RECORD_READ_THROUGH_FS:
        recorder_read(recorder, operation, address + fs);
        break;
    case RECORD_WRITE_THROUGH_FS:
        recorder_write(recorder, operation->id, instance_of(recorder, operation->id), address + fs,
                       operation->size);
        break;
    case RECORD_READ_PART:
        collect(recorder, 0, address, operation->size);
        break;
    case RECORD_READ_PART_THROUGH_FS:
        collect(recorder, 0, address + fs, operation->size);
        break;
    case RECORD_READ_NOTHING:
        put_label(recorder, operation->port, instance_of(recorder, operation->id));
        break;
    case RECORD_TRUE:
        wet_outcomes_put(&operation->outcome->outcomes, true, &operation->outcome->bytes);
        break;
    case RECORD_REPEATED:
        repeat(execution, operation);
        break;
    case RECORD_SPECIAL:
        refer_special(execution, operation);
        break;
    default: /* RECORD_SECOND; others are the recorder's */
        break;
    }
}
