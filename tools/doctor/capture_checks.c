#include "tools/doctor/capture_tally.h"
#include "tools/doctor/checks.h"

#include "formats/record/record.h"

#include <inttypes.h>
#include <stdarg.h>

#define RECORDS_MIN    1000u /* fewer records do not judge a probe */
#define REGIONS_MIN    24u   /* of 64: a line of one value in so many regions is stuck */
#define BITS_TEXT      800u  /* has room for all address bits */
#define PROCESSOR_MAX  7u    /* an agent id of a P6 bus has 3 bits */
#define ATTRIBUTE_USED 7u    /* a P6 bus has 3 attribute lines; records use the lower two */
#define RARE           1000u
#define OFTEN_MIN      4u  /* a bit is named if it was wrong this often, */
#define OFTEN_SHARE    30u /* and in 1 of this number of the times of the most frequent one */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Adds an element to a list; without room for it, once, "...". */
__attribute__((format(printf, 3, 4))) static void list(char text[BITS_TEXT], size_t *used,
                                                       const char *format, ...)
{
    va_list arguments;
    if (*used > BITS_TEXT - 60) {
        if (text[*used - 1] != '.')
            *used += (size_t)snprintf(text + *used, BITS_TEXT - *used, ", ...");
        return;
    }
    *used += (size_t)snprintf(text + *used, BITS_TEXT - *used, "%s", *used ? ", " : "");
    va_start(arguments, format);
    *used += (size_t)vsnprintf(text + *used, BITS_TEXT - *used, format, arguments);
    va_end(arguments);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Address bits that are 0 in every aligned request of the usual size. */
static unsigned unit_bits(const struct capture_tally *tally)
{
    unsigned usual = 0;
    for (unsigned size = 1; size < 256; size++)
        if (tally->fetch_sizes[size] > tally->fetch_sizes[usual])
            usual = size;
    return usual > 0 && (usual & (usual - 1)) == 0 ? (unsigned)__builtin_ctz(usual) : 0;
}

static void check_lines(struct findings *findings, const struct capture_tally *tally)
{
    uint32_t constant = ~(tally->ones & tally->zeros);
    char stuck[BITS_TEXT] = "", unknown[BITS_TEXT] = "";
    size_t stuck_used = 0, unknown_used = 0;
    if (tally->records < RECORDS_MIN) {
        findings_add(findings, FINDING_OK, "lines", "",
                     "cannot judge which address lines toggle from %" PRIu64 " record%s",
                     tally->records, plural(tally->records));
        return;
    }
    for (unsigned bit = unit_bits(tally); bit < ADDRESS_BITS; bit++) {
        if (!(constant >> bit & 1))
            continue;
        bool regions = __builtin_popcountll(tally->regions[bit]) >= (int)REGIONS_MIN;
        list(regions ? stuck : unknown, regions ? &stuck_used : &unknown_used,
             "%u is always %" PRIu64, bit, (uint64_t)(tally->ones >> bit & 1));
    }
    if (stuck_used > 0)
        findings_add(findings, FINDING_PROBLEM, "lines",
                     "check the probe's contact of these lines, and the board's inputs",
                     "address bit %s, though the bits above take many values", stuck);
    else if (unknown_used > 0)
        findings_add(findings, FINDING_OK, "lines", "",
                     "no address line is known to be stuck; cannot tell where few addresses are "
                     "used: bit %s",
                     unknown);
    else
        findings_add(findings, FINDING_OK, "lines", "", "all address lines toggle");
}

static void check_flips(struct findings *findings, const struct capture_tally *tally)
{
    const struct fetch_noise_finding *noise = &tally->noise;
    char bits[BITS_TEXT] = "";
    size_t used = 0;
    uint64_t most = 0;
    for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
        most = noise->bits[bit] > most ? noise->bits[bit] : most;
    for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
        if (noise->bits[bit] >= OFTEN_MIN && noise->bits[bit] * OFTEN_SHARE >= most)
            list(bits, &used, "%u (%" PRIu64 ")", bit, noise->bits[bit]);
    if (tally->chunks < RECORDS_MIN)
        findings_add(findings, FINDING_OK, "flips", "",
                     "cannot judge which address bits are sampled wrongly from %" PRIu64
                     " bus fetch%s",
                     tally->chunks, tally->chunks == 1 ? "" : "es");
    else if (fetch_noise_is_probe(noise) && used > 0)
        findings_add(findings, FINDING_PROBLEM, "flips",
                     "check contact, grounding and sampling time of these lines",
                     "at least %" PRIu64 " of %" PRIu64
                     " visits of chunks have a wrong address; wrong bits: "
                     "%s",
                     noise->only_there, noise->visits, bits);
    else if (fetch_noise_is_probe(noise))
        findings_add(findings, FINDING_PROBLEM, "flips", "check the probe's contact and ground",
                     "at least %" PRIu64 " of %" PRIu64
                     " visits of chunks have a wrong address; no bit is "
                     "wrong more often than others",
                     noise->only_there, noise->visits);
    else
        findings_add(findings, FINDING_OK, "flips", "",
                     "no address bit is often sampled wrongly in %" PRIu64 " bus fetches",
                     tally->chunks);
}

/* --- fields ---------------------------------------------------------------------------------- */

static void check_types(struct findings *findings, const struct capture_tally *tally)
{
    uint64_t unknown = 0;
    for (unsigned type = 0; type < 256; type++)
        unknown +=
            request_type_ordinal((uint8_t)type) == REQUEST_TYPE_UNKNOWN ? tally->types[type] : 0;
    if (unknown > 0)
        findings_add(findings, FINDING_PROBLEM, "types",
                     "check the probe's request lines, and the file with bustap verify",
                     "%" PRIu64 " record%s of a type that no bus has; the first is record %" PRIu64
                     ", of type 0x%02x",
                     unknown, plural(unknown), tally->first_unknown, tally->first_type);
    else
        findings_add(findings, FINDING_OK, "types", "", "all request types are valid");
}

static void check_sizes(struct findings *findings, const struct capture_tally *tally)
{
    if (capture_tally_is_program(tally)) {
        findings_add(findings, FINDING_OK, "sizes", "",
                     "the fetches are instructions of a program, not of a bus");
        return;
    }
    uint64_t wrong = tally->sizes + tally->fetches;
    for (unsigned size = 1; size <= 32; size *= 2)
        wrong -= tally->fetch_sizes[size];
    if (wrong > 0)
        findings_add(
            findings, FINDING_PROBLEM, "sizes", "check the probe's byte enable and length lines",
            "%" PRIu64 " record%s of a size that a bus cannot transfer", wrong, plural(wrong));
    else
        findings_add(findings, FINDING_OK, "sizes", "", "all sizes are valid");
    if (tally->misaligned > 0)
        findings_add(findings,
                     tally->misaligned * RARE < tally->fetches ? FINDING_WARNING : FINDING_PROBLEM,
                     "alignment", "check the lowest address lines",
                     "%" PRIu64 " fetch%s within an 8-byte transfer", tally->misaligned,
                     tally->misaligned == 1 ? " begins" : "es begin");
    else
        findings_add(findings, FINDING_OK, "alignment", "", "all fetches are aligned");
}

static void check_processors(struct findings *findings, const struct capture_tally *tally)
{
    char text[BITS_TEXT] = "";
    size_t used = 0;
    for (unsigned processor = 0; processor < 256; processor++) {
        uint64_t count = tally->processors[processor];
        bool rare = count > 0 && tally->records >= RECORDS_MIN && count < tally->records / RARE;
        if (count > 0 && (processor > PROCESSOR_MAX || rare))
            list(text, &used, "%u in %" PRIu64, processor, count);
    }
    if (used > 0)
        findings_add(findings, FINDING_WARNING, "processors",
                     "check the probe's agent lines, unless the machine has these processors",
                     "above %u or rare, by number of records: %s", PROCESSOR_MAX, text);
    else
        findings_add(findings, FINDING_OK, "processors", "", "all processors are plausible");
}

static void check_attributes(struct findings *findings, const struct capture_tally *tally)
{
    uint64_t wrong = 0, third = 0;
    for (unsigned attribute = 0; attribute < 256; attribute++) {
        wrong += attribute > ATTRIBUTE_USED ? tally->attributes[attribute] : 0;
        third += attribute <= ATTRIBUTE_USED && attribute > ATTRIBUTE_MASK
                     ? tally->attributes[attribute]
                     : 0;
    }
    if (wrong > 0)
        findings_add(findings, FINDING_WARNING, "attributes", "check the probe's attribute lines",
                     "%" PRIu64 " record%s with an attribute above %u", wrong, plural(wrong),
                     ATTRIBUTE_USED);
    else if (third > 0)
        findings_add(findings, FINDING_OK, "attributes", "",
                     "%" PRIu64 " record%s with bit 2, which real traces have and nothing uses",
                     third, plural(third));
    else
        findings_add(findings, FINDING_OK, "attributes", "", "all attributes are valid");
}

static void check_time(struct findings *findings, const struct capture_tally *tally)
{
    if (tally->records > RARE && tally->no_time + 1 == tally->records)
        findings_add(findings, FINDING_WARNING, "time", "check the board's clock",
                     "all records have the same tick");
    else if (tally->no_time > 0 && tally->no_time < tally->records / 100)
        findings_add(findings, FINDING_WARNING, "time", "check the board's clock",
                     "%" PRIu64 " record%s with the tick of the previous one: a bus has one "
                     "request a tick",
                     tally->no_time, plural(tally->no_time));
    else if (tally->long_time > 0)
        findings_add(findings, FINDING_WARNING, "time",
                     "check the board's clock, unless the bus was idle",
                     "%" PRIu64 " record%s more than 2^28 ticks after the previous one",
                     tally->long_time, plural(tally->long_time));
    else
        findings_add(findings, FINDING_OK, "time", "", "the clock advances");
}

void check_capture(struct findings *findings, const struct capture_tally *tally)
{
    bool program = capture_tally_is_program(tally);
    if (tally->records == 0) {
        findings_add(findings, FINDING_WARNING, "records",
                     "check that the board triggers, and the filter of the capture",
                     "there are no records");
        return;
    }
    check_types(findings, tally);
    check_sizes(findings, tally);
    check_attributes(findings, tally);
    if (program) /* no probe made its addresses, processors and time */
        return;
    check_lines(findings, tally);
    check_flips(findings, tally);
    check_processors(findings, tally);
    check_time(findings, tally);
}
