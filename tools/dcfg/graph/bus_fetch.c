#include "tools/dcfg/graph/bus_fetch.h"

#include "tools/dcfg/graph/bus_decode.h"

#include <stdlib.h>

#define PROCESSORS 256u
#define OUTPUT     4096u

/* Several wrong addresses in a row may look like other code. On the test bench the executions of
 * one instruction that were certain exceeded the true ones by at most two in two million chunks:
 * so many for each begun MARGIN_CHUNKS are not certain. */
#define MARGIN        2u
#define MARGIN_CHUNKS (UINT64_C(1) << 20)
#define MARGIN_MAX    255u

struct bus_fetch {
    struct bus_model model;
    bool is_doubtful; /* nothing is certain */
    struct bus_code *code;
    struct bus_evidence *evidence;
    struct sink *to;
    struct bus_fetch_counts counts;
    struct bus_decoder *decoders[PROCESSORS]; /* NULL: processor not seen yet */
    struct record output[OUTPUT];
    size_t output_count;
    bool hole; /* a hole precedes the next record */
};

struct bus_fetch *bus_fetch_new(const struct bus_model *model, struct bus_code *code,
                                struct bus_evidence *evidence, struct sink *to,
                                struct bt_error *error)
{
    struct bus_fetch *bus = calloc(1, sizeof *bus);
    if (!bus) {
        bt_fail(error, BT_MEMORY, "no memory to follow the fetches of a bus");
        return NULL;
    }
    bus->model = *model;
    bus->code = code;
    bus->evidence = evidence;
    bus->to = to;
    return bus;
}

void bus_fetch_free(struct bus_fetch *bus)
{
    for (unsigned p = 0; bus && p < PROCESSORS; p++)
        bus_decoder_free(bus->decoders[p]);
    free(bus);
}

struct bus_fetch_counts bus_fetch_counts(const struct bus_fetch *bus)
{
    struct bus_fetch_counts counts = bus->counts;
    for (unsigned p = 0; p < PROCESSORS; p++) {
        if (!bus->decoders[p])
            continue;
        struct bus_decode_counts decoded = bus_decoder_counts(bus->decoders[p]);
        counts.repeated += decoded.repeated;
        counts.prefetched += decoded.prefetched;
        counts.noise += decoded.noise;
        counts.unexplained += decoded.unexplained;
        for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
            counts.noise_bits[bit] += decoded.noise_bits[bit];
    }
    return counts;
}

static int flush(struct bus_fetch *bus, struct bt_error *error)
{
    const struct batch batch = {.records = bus->output,
                                .count = bus->output_count,
                                .gap = {.milliseconds = bus->hole ? 1 : 0}};
    bus->output_count = 0;
    bus->hole = false;
    return sink_put(bus->to, &batch, error);
}

void bus_fetch_doubt(struct bus_fetch *bus)
{
    bus->is_doubtful = true;
}

/* Adds a record to the output. */
static int add(struct bus_fetch *bus, const struct record *record, bool certain,
               struct bt_error *error)
{
    const uint8_t attribute =
        (uint8_t)((record->attribute & ~BUS_FETCH_ASSUMED) | (certain ? 0 : BUS_FETCH_ASSUMED));
    /* by member: a copy of the whole waits until the members that were just written are there */
    bus->output[bus->output_count++] = (struct record){.address = record->address,
                                                       .time = record->time,
                                                       .type = record->type,
                                                       .size = record->size,
                                                       .attribute = attribute,
                                                       .processor = record->processor};
    bus->counts.instructions++;
    return bus->output_count == OUTPUT ? flush(bus, error) : 0;
}

/* Whether an execution is among those that wrong addresses may have invented. */
static bool is_in_margin(const struct bus_fetch *bus, uint32_t address)
{
    uint64_t margin = MARGIN * (1 + bus->counts.chunks / MARGIN_CHUNKS);
    if (!bus->model.noise)
        return false;
    return bus_code_withdraw(bus->code, address,
                             (uint8_t)(margin < MARGIN_MAX ? margin : MARGIN_MAX));
}

static int put(void *context, const struct record *record, bool assumed, struct bt_error *error)
{
    struct bus_fetch *bus = context;
    assumed |= bus->is_doubtful || (!assumed && is_in_margin(bus, record->address));
    bus->counts.assumed += assumed;
    if (assumed && bus_evidence_assumed(bus->evidence, record->address, error) != 0)
        return BT_MEMORY;
    return add(bus, record, !assumed, error);
}

static int take(struct bus_fetch *bus, const struct record *record, struct bt_error *error)
{
    struct bus_decoder **decoder = &bus->decoders[record->processor];
    bus->counts.chunks++;
    if (bus_evidence_fetch(bus->evidence, record->address, error) != 0)
        return BT_MEMORY;
    if (!*decoder)
        *decoder = bus_decoder_new(&bus->model, bus->code, put, bus, error);
    if (!*decoder)
        return BT_MEMORY;
    if (record->size == bus->model.chunk && bus_fetch_is_chunk(record) &&
        (bus_code_has(bus->code, record->address, record->size) ||
         bus_decoder_expects(*decoder, record)))
        return bus_decoder_take(*decoder, record, error);
    bus->counts.outside++;
    int result = bus_decoder_leave(*decoder, record, error);
    if (result == 0)
        result = bus_evidence_unexplained(bus->evidence, record->address, error);
    return result == 0 ? add(bus, record, false, error) : result;
}

/* Ends all executions, because what follows is unknown. */
static int break_all(struct bus_fetch *bus, struct bt_error *error)
{
    int result = 0;
    for (unsigned p = 0; p < PROCESSORS && result == 0; p++)
        if (bus->decoders[p])
            result = bus_decoder_break(bus->decoders[p], error);
    return result == 0 ? flush(bus, error) : result;
}

int bus_fetch_put(struct bus_fetch *bus, const struct batch *batch, struct bt_error *error)
{
    int result = 0;
    if (batch_has_loss_or_gap(batch)) {
        result = break_all(bus, error);
        bus->hole = true;
    }
    for (size_t i = 0; i < batch->count && result == 0; i++)
        if (batch->records[i].type == REQUEST_FETCH)
            result = take(bus, &batch->records[i], error);
    return result;
}

int bus_fetch_end(struct bus_fetch *bus, struct bt_error *error)
{
    return break_all(bus, error);
}
