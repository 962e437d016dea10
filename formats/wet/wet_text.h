/*
 * The comprehensive tracing information of WET as text (WET Trace Format, "Comprehensive Tracing
 * Information"): the number of instructions; then for each a line about it, its dependences port by
 * port, and its values.
 *
 *     N
 *     id ports address file function line
 *     SIZE n
 *         X:Y Z
 *     VALUES n
 *         X:hexadecimal
 *
 * Each function that puts writes at out and returns the end of what it wrote; there must be room
 * for WET_TEXT_BYTES.
 */
#ifndef FORMATS_WET_WET_TEXT_H
#define FORMATS_WET_WET_TEXT_H

#include "formats/base/named_fields.h"
#include "formats/text/text_reader.h"

#include <stdbool.h>

#define WET_TEXT_NAME_BYTES                                                                        \
    4096u                        /* longest name of a file or function; longer ones are cut off    \
                                  */
#define WET_TEXT_VALUE_BYTES 64u /* largest value */
#define WET_TEXT_BYTES       (8 * WET_TEXT_NAME_BYTES + 256u)

/* What the first line of an instruction says. */
struct NAMED_FIELDS wet_text_instruction {
    uint32_t id;    /* from 1 */
    uint32_t ports; /* number of ports, with the control one */
    uint64_t address;
    const char *file, *function; /* NULL: unknown */
    uint32_t line;               /* 0: unknown */
};

/* N, and the line about an instruction. Blanks, control characters and backslashes in names are
 * escaped as backslash and three octal digits; an unknown name is "?". */
char *wet_text_put_count(char *out, uint64_t count);
char *wet_text_put_instruction(char *out, const struct wet_text_instruction *instruction);

/* SIZE n, the number of dependences of a port; and one of them: instance `reader` depends on
 * instance `writer` of the instruction `id`. */
char *wet_text_put_size(char *out, uint64_t count);
char *wet_text_put_dependence(char *out, uint64_t reader, uint32_t id, uint64_t writer);

/* VALUES n; NO VALUES; and a value of `size` bytes (1 to WET_TEXT_VALUE_BYTES), the lowest first.
 */
char *wet_text_put_values(char *out, uint64_t count);
char *wet_text_put_no_values(char *out);
char *wet_text_put_value(char *out, uint64_t instance, const uint8_t *bytes, unsigned size);

/* --- reading -----------------------------------------------------------------------------------
 */

enum wet_text_kind {
    WET_TEXT_COUNT, /* count: N */
    WET_TEXT_INSTRUCTION,
    WET_TEXT_SIZE, /* count */
    WET_TEXT_DEPENDENCE,
    WET_TEXT_VALUES, /* count */
    WET_TEXT_VALUE,
    WET_TEXT_NO_VALUES
};

/* A line. Names and values are valid until the next one is read. */
struct wet_text_event {
    enum wet_text_kind kind;
    uint64_t count;
    struct wet_text_instruction instruction;
    uint64_t instance; /* X: of a dependence or value */
    uint32_t id;       /* Y */
    uint64_t writer;   /* Z */
    const char *value; /* hexadecimal digits */
};

struct wet_text_reader;

/* Reads from reader, which the caller owns and must keep. NULL and *error without memory. */
struct wet_text_reader *wet_text_reader_new(struct text_reader *reader, struct bt_error *error);
void wet_text_reader_free(struct wet_text_reader *reader);

/*
 * 1 and the next line; 0 at the end, after the last instruction. BT_DATA: a line is not the one
 * that must follow, or the text ends too early; the message has its number. Else an error of
 * text_reader_read(). Errors are final. Memory does not depend on the text's length.
 */
int wet_text_reader_next(struct wet_text_reader *reader, struct wet_text_event *event,
                         struct bt_error *error);

/* Number of the line read last, from 1. */
uint64_t wet_text_reader_line(const struct wet_text_reader *reader);

#endif
