#include "formats/foreign/trace_format.h"

#include "formats/base/suffix.h"
#include "formats/base/suggestion.h"
#include "formats/capture/trace_reader.h"
#include "formats/foreign/byu.h"
#include "formats/foreign/champsim.h"
#include "formats/foreign/csv.h"
#include "formats/foreign/din.h"
#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"
#include "formats/foreign/foreign_text.h"
#include "formats/foreign/gem5.h"
#include "formats/foreign/lackey.h"
#include "formats/foreign/libcachesim_csv.h"
#include "formats/foreign/npy.h"
#include "formats/foreign/oracle.h"
#include "formats/text/text_reader.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define HEAD_BYTES 512u /* of a file, to detect its format */

#define SUFFIXES(...)                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const struct trace_format formats[] = {
    {"byu", "BYU address trace v1.1, 12 bytes a record; captures too, when read",
     SUFFIXES(".byu", ".trace"), TRACE_FORMAT_RECORD, NULL, &byu_encoder, 0},
    {"byu-lp64", "the same with 24 bytes a record, as 64-bit programs write them",
     SUFFIXES(".lp64", ".byu64"), TRACE_FORMAT_RECORD, NULL, &byu_lp64_encoder, 0},
    {"csv", "comma separated values, as bustap dump --csv prints them", SUFFIXES(".csv"),
     TRACE_FORMAT_RECORD, &csv_decoder, &csv_encoder, 0},
    {"npy", "NumPy's array, with a structured type", SUFFIXES(".npy"), TRACE_FORMAT_RECORD,
     &npy_decoder, &npy_encoder, 0},
    {"din", "Dinero III and IV, text; --sizes: Dinero IV's extended din", SUFFIXES(".din", ".xdin"),
     TRACE_FORMAT_KIND, &din_decoder, &din_encoder, TRACE_FORMAT_SIZES},
    {"lackey", "what valgrind --tool=lackey --trace-mem=yes prints", SUFFIXES(".lackey"),
     TRACE_FORMAT_KIND | TRACE_FORMAT_SIZE, &lackey_decoder, &lackey_encoder, 0},
    {"champsim", "ChampSim's instruction trace, 64 bytes an instruction",
     SUFFIXES(".champsim", ".champsimtrace"), TRACE_FORMAT_KIND, &champsim_decoder,
     &champsim_encoder, 0},
    {"gem5", "gem5's packet trace", SUFFIXES(".gem5", ".ptrc", ".trc"),
     TRACE_FORMAT_KIND | TRACE_FORMAT_INTENT | TRACE_FORMAT_SIZE | TRACE_FORMAT_PROCESSOR |
         TRACE_FORMAT_TIME | TRACE_FORMAT_CLOCK,
     &gem5_decoder, &gem5_encoder, 0},
    {"oracle", "libCacheSim's oracleGeneral, 24 bytes an access",
     SUFFIXES(".oracleGeneral", ".oracleGeneral.bin", ".oracle"),
     TRACE_FORMAT_TIME | TRACE_FORMAT_CLOCK, &oracle_decoder, &oracle_encoder,
     TRACE_FORMAT_TIME_UNIT},
    {"libcachesim-csv", "comma separated values for libCacheSim: time, object, size, operation",
     SUFFIXES(".libcachesim.csv", ".lcs.csv"),
     TRACE_FORMAT_KIND | TRACE_FORMAT_TIME | TRACE_FORMAT_CLOCK, &libcachesim_csv_decoder,
     &libcachesim_csv_encoder, TRACE_FORMAT_TIME_UNIT},
};
#define FORMATS (sizeof formats / sizeof *formats)

enum format { /* indices in formats */
              FORMAT_BYU,
              FORMAT_BYU_LP64,
              FORMAT_CSV,
              FORMAT_NPY,
              FORMAT_DIN,
              FORMAT_LACKEY,
              FORMAT_CHAMPSIM,
              FORMAT_GEM5,
              FORMAT_ORACLE,
              FORMAT_LIBCACHESIM_CSV
};

const struct trace_format *trace_format_at(size_t index)
{
    return index < FORMATS ? &formats[index] : NULL;
}

const struct trace_format *trace_format_find(const char *name, struct bt_error *error)
{
    char names[200] = "";
    struct suggestion suggestion;
    suggestion_begin(&suggestion, name);
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
        suggestion_try(&suggestion, formats[i].name);
        strcat(strcat(names, i > 0 ? ", " : ""), formats[i].name);
    }
    bt_fail(error, BT_USAGE, "there is no format '%.40s': %s", name, names);
    suggestion_add(error, suggestion.nearest);
    return NULL;
}

/* --- telling formats --- */

const struct trace_format *trace_format_of_path(const char *path)
{
    static const char *const packed[] = {".gz", ".bz2", ".xz", ".zst"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (suffix_take(path, &length, packed[i], strncasecmp))
            break;
    const struct trace_format *found = NULL; /* the longest suffix: .csv ends others, too */
    size_t longest = 0;
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *const *suffix = formats[i].suffixes; *suffix; suffix++) {
            size_t rest = length;
            if (suffix_take(path, &rest, *suffix, strncasecmp) && length - rest > longest) {
                found = &formats[i];
                longest = length - rest;
            }
        }
    return found;
}

/* Whether a decoder of lines accepts the first line, which is complete and text, as a reference. */
static bool takes_line(const struct foreign_decoder *decoder, const uint8_t *line, size_t size)
{
    struct foreign_item item = {.used = 0};
    return decoder->decode(NULL, line, size, true, &item, NULL) == 0 &&
           (item.count > 0 || item.left_out);
}

static const struct trace_format *of_line(const uint8_t *line, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((line[i] < ' ' && line[i] != '\t') || line[i] > '~')
            return NULL;
    if (csv_is_header(line, size))
        return &formats[FORMAT_CSV];
    if (libcachesim_csv_is_header(line, size))
        return &formats[FORMAT_LIBCACHESIM_CSV];
    if (takes_line(&din_decoder, line, size))
        return &formats[FORMAT_DIN];
    if (takes_line(&lackey_decoder, line, size))
        return &formats[FORMAT_LACKEY];
    return NULL;
}

static const struct trace_format *of_content(const uint8_t *head, size_t size)
{
    if (size >= NPY_MAGIC_BYTES && memcmp(head, NPY_MAGIC, NPY_MAGIC_BYTES) == 0)
        return &formats[FORMAT_NPY];
    if (size >= GEM5_MAGIC_BYTES && memcmp(head, GEM5_MAGIC, GEM5_MAGIC_BYTES) == 0)
        return &formats[FORMAT_GEM5];
    const uint8_t *newline = size > 0 ? memchr(head, '\n', size) : NULL;
    size_t length = newline ? (size_t)(newline - head) : 0;
    if (length > 0 && head[length - 1] == '\r')
        length--;
    return length > 0 ? of_line(head, length) : NULL;
}

const struct trace_format *trace_format_detect(const char *path, struct bt_error *error)
{
    struct stat status;
    const struct trace_format *format = trace_format_of_path(path);
    const struct trace_format *untold = format ? format : &formats[FORMAT_BYU];
    if (strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return untold;
    struct text_reader *reader = text_reader_open(path, error);
    if (!reader)
        return NULL;
    uint8_t head[HEAD_BYTES];
    size_t size = 0;
    size_t got = 1;
    /* the reader of the file reports read errors */
    while (size < sizeof head && got > 0 &&
           text_reader_read(reader, (char *)head + size, sizeof head - size, &got, NULL) == 0)
        size += got;
    text_reader_close(reader);
    format = of_content(head, size);
    return format ? format : untold;
}

/* --- reading and writing --- */

int trace_format_open(struct source **source, const char *name, const char *path,
                      const struct foreign_options *options, struct bt_error *error)
{
    const struct trace_format *format =
        name ? trace_format_find(name, error) : trace_format_detect(path, error);
    if (!format)
        return name ? BT_USAGE : error ? error->code : BT_IO;
    if (format->decoder)
        return foreign_source_open(source, format->decoder, path, options, error);
    struct trace_reader *reader;
    unsigned reading =
        (name ? TRACE_INSIST : 0u) | (format == &formats[FORMAT_BYU_LP64] ? TRACE_LP64 : 0u);
    int result = trace_reader_open(&reader, path, reading, error);
    if (result == 0)
        *source = trace_reader_source(reader);
    return result;
}

uint64_t trace_format_offset(struct source *source)
{
    if (foreign_source_is(source))
        return foreign_source_offset(source);
    return trace_reader_offset((const struct trace_reader *)source);
}

uint64_t trace_format_size(struct source *source)
{
    if (foreign_source_is(source))
        return foreign_source_size(source);
    return trace_reader_size((const struct trace_reader *)source);
}

int trace_format_create(struct sink **sink, const struct trace_format *format, const char *path,
                        const struct foreign_options *options, struct foreign_loss *loss,
                        struct bt_error *error)
{
    if (!format->encoder)
        return bt_fail(error, BT_USAGE, "%s can be read, but not written", format->name);
    return foreign_sink_new(sink, format->encoder, path, options, loss, error);
}

void trace_format_discard(struct sink *sink)
{
    foreign_sink_discard(sink);
}
