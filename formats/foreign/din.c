#include "formats/foreign/din.h"

#include "formats/base/digits.h"
#include "formats/foreign/foreign_text.h"

/* --- reading --- */

#define SIZE_UNTOLD 4u
#define WORD_BYTES  4u /* of plain din: Dinero treats each address as a word */

#define LEFT_OUT 0xfeu
#define NO_LABEL 0xffu

/* The type for a label, a digit or letter in either case. */
static uint8_t type_of_label(uint8_t label)
{
    switch (label >= 'A' && label <= 'Z' ? label - 'A' + 'a' : label) {
    case '0':
    case 'r':
        return REQUEST_MEMREAD;
    case '1':
    case 'w':
        return REQUEST_MEMWRITE;
    case '2':
    case 'i':
        return REQUEST_FETCH;
    case '3':
    case '4':
    case 'm':
    case 'c':
    case 'v':
        return LEFT_OUT;
    default:
        return NO_LABEL;
    }
}

static bool at_space(const struct foreign_line *line)
{
    return line->at == line->end || *line->at == ' ' || *line->at == '\t';
}

/* A hexadecimal number, with or without 0x; false for other text. */
static bool take_number(struct foreign_line *line, uint64_t *number)
{
    foreign_line_skip_spaces(line);
    if (line->end - line->at > 2 && line->at[0] == '0' &&
        (line->at[1] == 'x' || line->at[1] == 'X'))
        line->at += 2;
    return foreign_line_hexadecimal(line, number) && at_space(line);
}

/* The optional size after an address of extended din. False for other text. */
static bool take_size(struct foreign_line *line, uint64_t *size)
{
    foreign_line_skip_spaces(line);
    *size = SIZE_UNTOLD;
    return line->at == line->end || take_number(line, size);
}

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    struct foreign_line line = {.at = bytes, .end = bytes + size};
    uint64_t address;
    uint64_t size_bytes;
    (void)state;
    (void)last;
    foreign_line_skip_spaces(&line);
    if (line.at == line.end)
        return 0;
    uint8_t label = *line.at++;
    uint8_t type = type_of_label(label);
    if (type == NO_LABEL || !at_space(&line))
        return bt_fail(error, BT_DATA,
                       "it does not begin with a label of din (0 to 4, or r w i m c v)");
    if (!take_number(&line, &address))
        return bt_fail(error, BT_DATA, "there is no hexadecimal address after the label");
    if (type == LEFT_OUT) {
        item->left_out = true;
        return 0;
    }
    if (label <= '9')
        size_bytes = WORD_BYTES - address % WORD_BYTES;
    else if (!take_size(&line, &size_bytes))
        return bt_fail(error, BT_DATA, "its size is not a hexadecimal number");
    item->references[0] = (struct foreign_reference){
        .address = address, .size = size_bytes, .type = type, .attribute = ATTRIBUTE_WRITE_BACK};
    item->count = 1;
    return 0;
}

const struct foreign_decoder din_decoder = {
    .lines = true, .left_out = "escape and flush records", .decode = decode};

/* --- writing --- */

#define LINE_BYTES 20u /* "r 0012ab40 ff\n" and the bytes that digits.h overwrites */

struct din_writer {
    bool sizes;
};

static int begin(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error)
{
    struct din_writer *din = state;
    (void)writer;
    (void)out;
    (void)filled;
    (void)error;
    din->sizes = options->sizes;
    return 0;
}

/* The label of each type, 0 for those without one. */
static const char labels[] = {[REQUEST_FETCH] = '2',
                              [REQUEST_MEMREAD] = '0',
                              [REQUEST_MEMREADINV] = '0',
                              [REQUEST_MEMWRITE] = '1'};
static const char extended_labels[] = {[REQUEST_FETCH] = 'i',
                                       [REQUEST_MEMREAD] = 'r',
                                       [REQUEST_MEMREADINV] = 'r',
                                       [REQUEST_MEMWRITE] = 'w'};

/* " 0" to " ff", with the end of the line. */
static char *put_size(char *out, uint8_t size)
{
    static const char digits[] = "0123456789abcdef";
    *out++ = ' ';
    if (size > 15)
        *out++ = digits[size >> 4];
    *out++ = digits[size & 15];
    return out;
}

/* Compiled separately for each form. */
static inline char *encode_as(bool sizes, char *out, const struct foreign_run *run,
                              struct foreign_loss *loss)
{
    const char *const table = sizes ? extended_labels : labels;
    uint64_t written = 0;
    uint64_t invalidate = 0;
    for (const struct record *r = run->records; r < run->records + run->count; r++) {
        if (foreign_leaves_out(r->type, loss))
            continue;
        out[0] = table[r->type];
        out[1] = ' ';
        out = digits_put_hexadecimal(out + 2, r->address);
        if (sizes)
            out = put_size(out, r->size);
        *out++ = '\n';
        written++;
        invalidate += r->type == REQUEST_MEMREADINV;
    }
    loss->written += written;
    loss->count[FOREIGN_INVALIDATE] += invalidate;
    return out;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    const struct din_writer *din = state;
    (void)error;
    return din->sizes ? encode_as(true, out, run, loss) : encode_as(false, out, run, loss);
}

const struct foreign_encoder din_encoder = {.state_bytes = sizeof(struct din_writer),
                                            .record_bytes = LINE_BYTES,
                                            .begin = begin,
                                            .encode = encode};
