#include "tools/dcfg/bus_report.h"

#include "formats/text/json_members.h"

#include <inttypes.h>

void bus_report_model(char text[BUS_REPORT_BYTES], const struct dcfg_bus *bus)
{
    const uint64_t *counts = bus->counts;
    const uint64_t sample = counts[DCFG_BUS_SAMPLE];
    char origin[80] = "given by --bus";
    if (bus->found)
        snprintf(origin, sizeof origin, "found in a sample of %" PRIu64 " fetch%s", sample,
                 sample == 1 ? "" : "es");
    if (bus->chunks)
        snprintf(text, BUS_REPORT_BYTES,
                 "bus: %s, %s; not verifiable without the program (--image)", bus->model, origin);
    else
        snprintf(text, BUS_REPORT_BYTES,
                 "bus: %s, %s; it leaves %" PRIu64 " of a sample of %" PRIu64
                 " fetches unexplained, and %" PRIu64 " of all %" PRIu64,
                 bus->model, bus->found ? "found in the capture" : origin,
                 counts[DCFG_BUS_SAMPLE_UNEXPLAINED], sample, counts[DCFG_BUS_UNEXPLAINED],
                 counts[DCFG_BUS_FETCHES]);
}

static const char *was(uint64_t count)
{
    return count == 1 ? "was" : "were";
}

/* Prints which address bits were wrong, the most frequent ones. */
static void put_noise(const struct dcfg_bus *bus, const char *prefix, FILE *out)
{
    const uint64_t noise = bus->counts[DCFG_BUS_NOISE];
    uint64_t most = 0;
    for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
        most = bus->noise_bits[bit] > most ? bus->noise_bits[bit] : most;
    if (noise == 0)
        return;
    fprintf(out, "%s%" PRIu64 " bus fetch%s like %s of the probe", prefix, noise,
            noise == 1 ? " looks" : "es look", noise == 1 ? "an error" : "errors");
    if (most > 0) {
        fputs(": bits", out);
        for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
            if (bus->noise_bits[bit] > 0 && bus->noise_bits[bit] >= most / 10)
                fprintf(out, " %u (%" PRIu64 ")", bit, bus->noise_bits[bit]);
        fputs(" of their addresses differ from a neighbour's", out);
    }
    fputc('\n', out);
}

void bus_report_put(const struct dcfg_bus *bus, const char *prefix, FILE *out)
{
    const uint64_t *counts = bus->counts;
    char text[BUS_REPORT_BYTES];
    bus_report_model(text, bus);
    fprintf(out, "%s%s\n", prefix, text);
    fprintf(out,
            "%sof %" PRIu64 " bus fetches %" PRIu64 " repeated the one before, %" PRIu64
            " %s only prefetched",
            prefix, counts[DCFG_BUS_FETCHES], counts[DCFG_BUS_REPEATED],
            counts[DCFG_BUS_PREFETCHED], was(counts[DCFG_BUS_PREFETCHED]));
    if (!bus->chunks)
        fprintf(out, ", %" PRIu64 " %s in no image", counts[DCFG_BUS_OUTSIDE],
                was(counts[DCFG_BUS_OUTSIDE]));
    fputc('\n', out);
    put_noise(bus, prefix, out);
}

void bus_report_json(struct json_put *json, const struct dcfg_bus *bus)
{
    static const struct {
        const char *key;
        enum dcfg_bus_count count;
    } members[] = {{"sample", DCFG_BUS_SAMPLE},
                   {"fetches", DCFG_BUS_FETCHES},
                   {"fetches_repeated", DCFG_BUS_REPEATED},
                   {"fetches_prefetched", DCFG_BUS_PREFETCHED},
                   {"fetches_noise", DCFG_BUS_NOISE},
                   {"fetches_unexplained", DCFG_BUS_UNEXPLAINED},
                   {"fetches_in_no_image", DCFG_BUS_OUTSIDE}};
    if (!bus) {
        json_null(json, "bus");
        return;
    }
    json_object(json, "bus");
    json_text(json, "model", bus->model);
    json_text(json, "model_from", bus->found ? "capture" : "option");
    json_text(json, "unit", bus->chunks ? "chunk" : "instruction");
    if (bus->chunks)
        json_null(json, "sample_unexplained");
    else
        json_count(json, "sample_unexplained", bus->counts[DCFG_BUS_SAMPLE_UNEXPLAINED]);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_count(json, members[i].key, bus->counts[members[i].count]);
    json_array(json, "noise_bits");
    for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
        json_put_integer(json, bus->noise_bits[bit]);
    json_put_array_end(json);
    json_put_object_end(json);
}
