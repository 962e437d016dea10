#include "formats/columns/column_split.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BITS     12u
#define PAGE_SLOTS    255u
#define NO_PAGE       UINT32_MAX
#define CONTEXTS      256u
#define NO_CONTEXT    (CONTEXTS - 1) /* of records whose kind has no number */
#define STEP_MIDDLE   127u           /* the token of the predicted address */
#define DEFAULT_SHIFT 2u
#define HASH          2654435761u

/* Every stream has one element more than it needs, so that code without branches can look at the
 * next one. */
#define SPARE 1u

size_t column_width(enum column_stream stream)
{
    static const uint8_t widths[COLUMN_STREAMS] = {1, 4, 1, 4, 1, 1, 4, 2};
    return widths[stream];
}

enum column_stream column_parent(enum column_stream stream)
{
    static const uint8_t parents[COLUMN_STREAMS] = {COLUMN_KINDS, COLUMN_KINDS, COLUMN_TIMES,
                                                    COLUMN_TIMES, COLUMN_STEPS, COLUMN_STEPS,
                                                    COLUMN_PAGES, COLUMN_STEPS};
    return (enum column_stream)parents[stream];
}

int columns_reserve(struct columns *columns, size_t count, struct bt_error *error)
{
    if (count <= columns->capacity)
        return 0;
    for (int i = 0; i < COLUMN_STREAMS; i++) {
        const size_t size = (count + SPARE) * column_width((enum column_stream)i);
        uint8_t *bytes = realloc(columns->bytes[i], size);
        if (!bytes)
            return bt_fail(error, BT_MEMORY, "no memory for the columns of %zu records", count);
        columns->bytes[i] = bytes;
        memset(bytes, 0, size);
    }
    columns->capacity = count;
    return 0;
}

void columns_clear(struct columns *columns)
{
    for (int i = 0; i < COLUMN_STREAMS; i++)
        free(columns->bytes[i]);
    *columns = (struct columns){.capacity = 0};
}

size_t columns_escapes(const uint8_t *bytes, size_t count)
{
    size_t escapes = 0;
    for (size_t i = 0; i < count; i++)
        escapes += bytes[i] == COLUMN_ESCAPE;
    return escapes;
}

/* The slot that remembers a page. */
static uint32_t page_slot(uint32_t page)
{
    const uint32_t slot = page * HASH >> 24;
    return slot < PAGE_SLOTS ? slot : 0;
}

/* --- splitting ------------------------------------------------------------------------------- */

#define INDEX_SLOTS 512u /* more than twice as many as kinds */

/* What the records of a kind have in common, ready for a loop over records. */
struct place {
    uint8_t context; /* kinds of the same type and processor have one */
    uint8_t shift;
    uint8_t known; /* 0: there is no such kind */
    uint8_t head[4];
};

/* A block on its way into columns. */
struct split {
    struct columns *columns;
    unsigned contexts;
    struct place places[CONTEXTS];   /* by the number of a kind; no kind: the last one */
    uint32_t heads[INDEX_SLOTS];     /* numbers of kinds by their heads, */
    uint16_t numbers[INDEX_SLOTS];   /* plus 1; 0: free */
    uint32_t next[CONTEXTS];         /* predicted addresses */
    uint32_t slots[PAGE_SLOTS + 1];  /* pages; the last one takes what is not to be stored */
    size_t elements[COLUMN_STREAMS]; /* so far */
};

/* The place of kind number i, without its shift; those of earlier kinds are there. */
static void make_place(struct place *places, const struct column_kind *kinds, unsigned i,
                       unsigned *contexts)
{
    const uint8_t *head = kinds[i].head;
    unsigned same = 0;
    while (same < i && (places[same].head[0] != head[0] || places[same].head[3] != head[3]))
        same++;
    places[i].context = same < i ? places[same].context : (uint8_t)*contexts;
    places[i].shift = same < i ? places[same].shift : DEFAULT_SHIFT;
    places[i].known = 1;
    memcpy(places[i].head, head, sizeof places[i].head);
    *contexts += same == i;
}

/* The number of the head's kind, which is added as far as there is room, or COLUMN_ESCAPE. */
static uint8_t kind_number(struct split *split, uint32_t head)
{
    struct columns *columns = split->columns;
    uint32_t slot = head * HASH >> 23;
    while (split->heads[slot] != head && split->numbers[slot] != 0)
        slot = (slot + 1) % INDEX_SLOTS;
    if (split->numbers[slot] == 0) {
        if (columns->kind_count == COLUMN_KINDS_MAX)
            return COLUMN_ESCAPE;
        const unsigned number = columns->kind_count++;
        bytes_put32(columns->kinds[number].head, head);
        make_place(split->places, columns->kinds, number, &split->contexts);
        split->heads[slot] = head;
        split->numbers[slot] = (uint16_t)(number + 1);
    }
    return (uint8_t)(split->numbers[slot] - 1);
}

static uint32_t head_of(const struct record *record)
{
    uint32_t head;
    memcpy(&head, &record->type, sizeof head);
    return head;
}

static void split_kinds(struct split *split, const struct record *records, size_t count)
{
    uint8_t *const *bytes = split->columns->bytes;
    uint8_t *kinds = bytes[COLUMN_KINDS] + split->elements[COLUMN_KINDS];
    for (size_t i = 0; i < count; i++) {
        const uint32_t head = head_of(&records[i]);
        kinds[i] = kind_number(split, head);
        if (kinds[i] == COLUMN_ESCAPE)
            bytes_put32(bytes[COLUMN_HEADS] + 4 * split->elements[COLUMN_HEADS]++, head);
    }
    split->elements[COLUMN_KINDS] += count;
}

static void split_times(struct split *split, const struct record *records, size_t count)
{
    uint8_t *const *bytes = split->columns->bytes;
    uint8_t *times = bytes[COLUMN_TIMES] + split->elements[COLUMN_TIMES];
    uint32_t *long_times = (uint32_t *)(void *)bytes[COLUMN_LONG_TIMES];
    size_t escapes = split->elements[COLUMN_LONG_TIMES];
    for (size_t i = 0; i < count; i++) {
        const uint32_t time = records[i].time;
        times[i] = (uint8_t)(time < COLUMN_ESCAPE ? time : COLUMN_ESCAPE);
        long_times[escapes] = time;
        escapes += time >= COLUMN_ESCAPE;
    }
    split->elements[COLUMN_TIMES] += count;
    split->elements[COLUMN_LONG_TIMES] = escapes;
}

/* The token of an address that is `away` from the predicted one; COLUMN_ESCAPE or more: none. The
 * rotation makes a large number of what is not a multiple. */
static uint32_t step_token(uint32_t away, unsigned shift)
{
    const uint32_t step = away + (STEP_MIDDLE << shift);
    return step >> shift | step << (-shift & 31);
}

/* Without branches on the addresses, which processors cannot predict. */
static void split_addresses(struct split *split, const struct record *records, size_t count)
{
    uint8_t *const *bytes = split->columns->bytes;
    const size_t done = split->elements[COLUMN_STEPS];
    const uint8_t *kinds = bytes[COLUMN_KINDS] + done;
    uint8_t *steps = bytes[COLUMN_STEPS] + done, *pages = bytes[COLUMN_PAGES];
    uint32_t *new_pages = (uint32_t *)(void *)bytes[COLUMN_NEW_PAGES];
    uint16_t *offsets = (uint16_t *)(void *)bytes[COLUMN_OFFSETS];
    size_t escapes = split->elements[COLUMN_PAGES], news = split->elements[COLUMN_NEW_PAGES];
    for (size_t i = 0; i < count; i++) {
        const struct place place = split->places[kinds[i]];
        const uint32_t address = records[i].address, page = address >> PAGE_BITS;
        const uint32_t token = step_token(address - split->next[place.context], place.shift);
        const uint32_t escape = token >= COLUMN_ESCAPE;
        const uint32_t slot = page_slot(page), known = split->slots[slot] == page;
        split->next[place.context] = address + records[i].size;
        steps[i] = (uint8_t)(escape ? COLUMN_ESCAPE : token);
        pages[escapes] = (uint8_t)(known ? slot : COLUMN_ESCAPE);
        offsets[escapes] = (uint16_t)(address & ((1u << PAGE_BITS) - 1));
        new_pages[news] = page;
        split->slots[escape ? slot : PAGE_SLOTS] = page;
        escapes += escape;
        news += escape & (known ^ 1);
    }
    split->elements[COLUMN_STEPS] += count;
    split->elements[COLUMN_PAGES] = split->elements[COLUMN_OFFSETS] = escapes;
    split->elements[COLUMN_NEW_PAGES] = news;
}

/* --- shifts ---------------------------------------------------------------------------------- */

#define SAMPLES        8u   /* parts of a block that decide on shifts */
#define SAMPLE_RECORDS 160u /* in each, at most; */
#define SAMPLE_SHARE   16u  /* and of all of them together, at most one in so many */
#define SHIFTS         6u

/* Counts the addresses that can be written as steps, by context and shift. */
static void count_steps(uint32_t hits[CONTEXTS][SHIFTS], struct split *split,
                        const struct record *records, size_t count)
{
    uint32_t next[CONTEXTS] = {0};
    for (size_t i = 0; i < count; i++) {
        const unsigned context = split->places[kind_number(split, head_of(&records[i]))].context;
        const uint32_t away = records[i].address - next[context];
        for (unsigned shift = 0; shift < SHIFTS; shift++)
            hits[context][shift] += step_token(away, shift) < COLUMN_ESCAPE;
        next[context] = records[i].address + records[i].size;
    }
}

/* Chooses the shifts of the contexts that occur in samples. Their other kinds will have the same.
 */
static void choose_shifts(struct split *split, const struct record *records, size_t count)
{
    uint32_t hits[CONTEXTS][SHIFTS];
    const size_t share = count / (SAMPLES * SAMPLE_SHARE) + 1;
    const size_t sample = share < SAMPLE_RECORDS ? share : SAMPLE_RECORDS;
    memset(hits, 0, sizeof hits);
    for (size_t part = 0; part < SAMPLES; part++) {
        const size_t from = count * part / SAMPLES, left = count - from;
        count_steps(hits, split, records + from, left < sample ? left : sample);
    }
    for (unsigned i = 0; i < split->columns->kind_count; i++) {
        const uint32_t *of_context = hits[split->places[i].context];
        unsigned best = DEFAULT_SHIFT;
        for (unsigned shift = 0; shift < SHIFTS; shift++)
            if (of_context[shift] > of_context[best])
                best = shift;
        split->places[i].shift = (uint8_t)best;
    }
}

/* --- a block --------------------------------------------------------------------------------- */

#define PORTION 1024u /* records that stay in the processor's nearest cache from loop to loop */

void columns_split(struct columns *columns, const struct record *records, size_t count)
{
    struct split split = {.columns = columns};
    columns->kind_count = 0;
    split.places[NO_CONTEXT] =
        (struct place){.context = NO_CONTEXT, .shift = DEFAULT_SHIFT, .known = 1};
    memset(split.slots, 0xff, sizeof split.slots);
    choose_shifts(&split, records, count);
    for (size_t at = 0; at < count; at += PORTION) {
        const size_t left = count - at, here = left < PORTION ? left : PORTION;
        split_kinds(&split, records + at, here);
        split_times(&split, records + at, here);
        split_addresses(&split, records + at, here);
    }
    for (unsigned i = 0; i < columns->kind_count; i++)
        columns->kinds[i].shift = split.places[i].shift;
    memcpy(columns->elements, split.elements, sizeof columns->elements);
}

/* --- joining --------------------------------------------------------------------------------- */

/* Fields and times of all records. False: of a kind that does not exist. */
static bool join_fields(const struct columns *columns, const struct place places[CONTEXTS],
                        struct record *records, size_t count)
{
    const uint8_t *kinds = columns->bytes[COLUMN_KINDS], *times = columns->bytes[COLUMN_TIMES];
    const uint8_t *heads = columns->bytes[COLUMN_HEADS];
    const uint32_t *long_times = (const uint32_t *)(const void *)columns->bytes[COLUMN_LONG_TIMES];
    unsigned known = 1;
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &places[kinds[i]];
        const uint8_t *head = kinds[i] == COLUMN_ESCAPE ? heads : place->head;
        const uint32_t time = times[i], is_long = time == COLUMN_ESCAPE;
        known &= place->known;
        heads += kinds[i] == COLUMN_ESCAPE ? 4 : 0;
        memcpy(&records[i].type, head, 4);
        records[i].time = is_long ? *long_times : time;
        long_times += is_long;
    }
    return known;
}

static void join_addresses(const struct columns *columns, const struct place places[CONTEXTS],
                           struct record *records, size_t count)
{
    uint32_t next[CONTEXTS] = {0};
    uint32_t slots[CONTEXTS + 1] = {0}; /* the last one takes what is not to be stored */
    const uint8_t *kinds = columns->bytes[COLUMN_KINDS], *steps = columns->bytes[COLUMN_STEPS];
    const uint8_t *pages = columns->bytes[COLUMN_PAGES];
    const uint32_t *new_pages = (const uint32_t *)(const void *)columns->bytes[COLUMN_NEW_PAGES];
    const uint16_t *offsets = (const uint16_t *)(const void *)columns->bytes[COLUMN_OFFSETS];
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &places[kinds[i]];
        const uint32_t step = steps[i], escape = step == COLUMN_ESCAPE;
        const uint32_t is_new = escape & (*pages == COLUMN_ESCAPE);
        const uint32_t page = is_new ? *new_pages : slots[*pages];
        const uint32_t far = page << PAGE_BITS | (*offsets & ((1u << PAGE_BITS) - 1));
        const uint32_t near = next[place->context] + ((step - STEP_MIDDLE) << place->shift);
        const uint32_t address = escape ? far : near;
        slots[is_new ? page_slot(page) : CONTEXTS] = page;
        records[i].address = address;
        next[place->context] = address + records[i].size;
        pages += escape;
        offsets += escape;
        new_pages += is_new;
    }
}

bool columns_join(const struct columns *columns, struct record *records, size_t count)
{
    struct place places[CONTEXTS] = {{.known = 0}};
    unsigned contexts = 0;
    for (unsigned i = 0; i < columns->kind_count; i++) {
        make_place(places, columns->kinds, i, &contexts);
        places[i].shift = columns->kinds[i].shift;
    }
    places[NO_CONTEXT] = (struct place){.context = NO_CONTEXT, .shift = DEFAULT_SHIFT, .known = 1};
    if (!join_fields(columns, places, records, count))
        return false;
    join_addresses(columns, places, records, count);
    return true;
}
