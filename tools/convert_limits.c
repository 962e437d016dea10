#include "tools/convert_limits.h"

#include "formats/foreign/champsim.h"

#include <string.h>

/* A line about each content that is lost. */
static const struct {
    enum trace_format_content content;
    const char *sentence;
} sentences[TRACE_FORMAT_CONTENTS] = {
    {TRACE_FORMAT_ALL_TYPES, "holds fetches, reads and writes: other requests are left out"},
    {TRACE_FORMAT_KIND, "does not distinguish fetches, reads and writes"},
    {TRACE_FORMAT_INTENT, "holds reads with intent to write as reads"},
    {TRACE_FORMAT_SIZE, "holds no sizes"},
    {TRACE_FORMAT_ATTRIBUTE, "holds no attributes"},
    {TRACE_FORMAT_PROCESSOR, "holds no processors"},
    {TRACE_FORMAT_TIME, "holds no times"},
    {TRACE_FORMAT_CLOCK, "holds no clock: its times are ticks"},
    {TRACE_FORMAT_LOSS, "does not mark lost requests, gaps and signals"}};

static const char din_sizes[] = "holds no sizes without --sizes";
static const char gem5_attributes[] = "holds two attributes, uncacheable and write back";
static const char champsim_processor[] =
    "holds one processor: the first that fetches, or that of --processor";

unsigned convert_limits_held(const char *from, const struct input_paths *paths)
{
    unsigned held = 0;
    for (int i = 0; i < paths->count; i++) {
        const struct trace_format *format = from ? trace_format_find(from, NULL)
                                            : strcmp(paths->paths[i], "-") == 0
                                                ? trace_format_find("byu", NULL)
                                                : trace_format_detect(paths->paths[i], NULL);
        held |= format ? format->holds : 0;
        if (format && format->choices & TRACE_FORMAT_SIZES)
            held |= TRACE_FORMAT_SIZE;
    }
    return held;
}

/* Whether records have different sizes: din has sizes, or the reader assumes one. */
static bool sizes_differ(const struct batch *batch)
{
    for (size_t i = 1; i < batch->count; i++)
        if (batch->records[i].size != batch->records[0].size)
            return true;
    return false;
}

static bool is_of_program(const struct capture_info *info)
{
    return info && strcmp(info->bus, CAPTURE_BUS_PROGRAM) == 0;
}

/* What the input holds. */
static unsigned contents(unsigned held, const struct batch *first, const struct capture_info *info)
{
    bool program = is_of_program(info);
    if (info && capture_info_has_id(info))
        held |= TRACE_FORMAT_CAPTURE;
    if (program) /* only fetches, reads and writes of one attribute */
        held &= ~(unsigned)(TRACE_FORMAT_ALL_TYPES | TRACE_FORMAT_INTENT | TRACE_FORMAT_ATTRIBUTE);
    if (!info || info->clock_hz == 0)
        held &= ~(unsigned)TRACE_FORMAT_CLOCK;
    if (held & TRACE_FORMAT_SIZE && !(held & TRACE_FORMAT_ATTRIBUTE) && !program &&
        !sizes_differ(first))
        held &= ~(unsigned)TRACE_FORMAT_SIZE;
    return held;
}

static const char *sentence_of(size_t i, const struct trace_format *format)
{
    bool champsim = strcmp(format->name, "champsim") == 0;
    if (sentences[i].content == TRACE_FORMAT_SIZE && format->choices & TRACE_FORMAT_SIZES)
        return din_sizes;
    if (sentences[i].content == TRACE_FORMAT_PROCESSOR && champsim)
        return champsim_processor;
    if (sentences[i].content == TRACE_FORMAT_ATTRIBUTE && strcmp(format->name, "gem5") == 0)
        return gem5_attributes;
    return sentences[i].sentence;
}

void convert_limits_print(const struct trace_format *format, const struct foreign_options *options,
                          unsigned held, const struct batch *first, const struct capture_info *info,
                          FILE *out)
{
    unsigned lost = contents(held, first, info) & ~format->holds;
    if (options->sizes)
        lost &= ~(unsigned)TRACE_FORMAT_SIZE;
    if (options->one_processor)
        lost &= ~(unsigned)TRACE_FORMAT_PROCESSOR;
    if (lost & TRACE_FORMAT_TIME)
        lost &= ~(unsigned)TRACE_FORMAT_CLOCK;
    for (size_t i = 0; i < TRACE_FORMAT_CONTENTS; i++) {
        if (!(lost & sentences[i].content))
            continue;
        fprintf(out, "bustap: %s %s\n", format->name, sentence_of(i, format));
    }
    if (format->encoder == &champsim_encoder && !options->code && is_of_program(info))
        fprintf(out, "bustap: champsim gets no registers, and conditional branches only, because "
                     "the programs are not known: --modules or --image\n");
}

/* --- the table --- */

static const char *types_of(unsigned holds)
{
    return holds & TRACE_FORMAT_ALL_TYPES ? "all"
           : holds & TRACE_FORMAT_INTENT  ? "fetch read own write"
           : holds & TRACE_FORMAT_KIND    ? "fetch read write"
                                          : "access";
}

/* The word for a content that the format holds, or may hold. */
static const char *word(unsigned holds, enum trace_format_content content, const char *otherwise)
{
    return holds & content ? "yes" : otherwise;
}

static void put_row(const char *name, unsigned holds, unsigned choices, FILE *out)
{
    const char *sizes = choices & TRACE_FORMAT_SIZES ? "--sizes" : "-";
    const char *attributes = strcmp(name, "gem5") == 0 ? "two" : "-";
    const char *processors = strcmp(name, "champsim") == 0 ? "one" : "-";
    fprintf(out, "  %-14s  %-20s  %-7s  %-4s  %-4s  %-4s  %-5s  %s\n", name, types_of(holds),
            word(holds, TRACE_FORMAT_SIZE, sizes), word(holds, TRACE_FORMAT_ATTRIBUTE, attributes),
            word(holds, TRACE_FORMAT_PROCESSOR, processors), word(holds, TRACE_FORMAT_TIME, "-"),
            word(holds, TRACE_FORMAT_CLOCK, "-"), word(holds, TRACE_FORMAT_LOSS, "-"));
}

void convert_limits_table(FILE *out)
{
    fprintf(out, "\nWhat each format holds:\n\n  %-14s  %-20s  %-7s  %-4s  %-4s  %-4s  %-5s  %s\n",
            "FORMAT", "TYPES", "SIZE", "ATTR", "PROC", "TIME", "CLOCK", "LOSSES");
    put_row("capture", TRACE_FORMAT_CAPTURE, 0, out);
    for (size_t i = 0; trace_format_at(i); i++) {
        const struct trace_format *format = trace_format_at(i);
        put_row(format->name, format->holds, format->choices, out);
    }
    fputs("\n'own' is a read with intent to write. Captures are read, not written.\n", out);
}
