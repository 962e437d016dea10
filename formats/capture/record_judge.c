#include "formats/capture/record_judge.h"

#include "formats/capture/trace_reader.h"

/* Sizes up to this are plausible: a vector register. */
#define SIZE_COMMON_MAX 64u
#define ATTRIBUTE_MAX   7u

/*
 * Whether the record is plausible: a type of byutr.h, an attribute of 3 bits, and a size of 0 to
 * 64, 128 or 255 (or more). A record of zeros is not plausible: it is a hole in a file.
 */
static bool is_plausible(const struct record *record)
{
    bool zero = record->address == 0 && record->time == 0 && record->type == 0 &&
                record->size == 0 && record->attribute == 0 && record->processor == 0;
    return !zero && request_type_ordinal(record->type) != REQUEST_TYPE_UNKNOWN &&
           record->attribute <= ATTRIBUTE_MAX &&
           (record->size <= SIZE_COMMON_MAX || record->size == 128 || record->size == UINT8_MAX);
}

void record_judge_add(struct record_judge *judge, const uint8_t *bytes, size_t count, bool lp64)
{
    for (size_t i = 0; i < count && judge->judged < RECORD_JUDGE_MAX; i++) {
        struct record record;
        bool whole = true;
        if (lp64)
            whole = record_get_lp64(&record, bytes + i * RECORD_LP64_BYTES) == 0;
        else
            record = record_get(bytes + i * RECORD_BYTES);
        judge->odd += !whole || !is_plausible(&record);
        judge->judged++;
    }
}

bool record_judge_accepts(const struct record_judge *judge)
{
    return judge->odd * RECORD_JUDGE_ODD <= judge->judged;
}

bool record_judge_refuses(const struct record_judge *judge)
{
    return judge->odd * RECORD_JUDGE_ODD > RECORD_JUDGE_MAX;
}

/* Whether the bytes are plausible as records of the other width. */
static bool other_width(const uint8_t *bytes, size_t size, bool lp64)
{
    struct record_judge other = {0};
    size_t width = lp64 ? RECORD_BYTES : RECORD_LP64_BYTES;
    if (bytes)
        record_judge_add(&other, bytes, size / width, !lp64);
    return other.judged > 0 && record_judge_accepts(&other);
}

int record_judge_explain(const struct record_judge *judge, const char *name, const uint8_t *bytes,
                         size_t size, unsigned reading, struct bt_error *error)
{
    bool lp64 = reading & TRACE_LP64;
    bool options = reading & TRACE_OPTIONS;
    const char *insist =
        options ? "--raw reads it as one" : "bustap recover --raw makes a capture of it";
    if (other_width(bytes, size, lp64) && !lp64 && !options)
        return bt_fail(error, BT_IO,
                       "%.300s holds records of %u bytes: bustap recover --lp64 makes a capture of "
                       "it",
                       name, RECORD_LP64_BYTES);
    if (other_width(bytes, size, lp64))
        return bt_fail(error, BT_IO, "%.300s holds records of %u bytes: read it %s --lp64", name,
                       lp64 ? RECORD_BYTES : RECORD_LP64_BYTES, lp64 ? "without" : "with");
    if (judge->judged == 0)
        return bt_fail(error, BT_IO,
                       "%.300s is not a trace: it has %zu bytes, and a record has %u; %s", name,
                       size, lp64 ? RECORD_LP64_BYTES : RECORD_BYTES, insist);
    return bt_fail(error, BT_IO,
                   "%.300s is not a trace: %u of its first %u records have unknown types, sizes or "
                   "attributes; %s",
                   name, judge->odd, judge->judged, insist);
}
