#include "formats/foreign/lackey.h"

#include "formats/base/digits.h"
#include "formats/foreign/foreign_text.h"

#include <string.h>

/* --- reading --- */

/* Lines that valgrind or the program itself printed between the references. */
static bool is_message(const struct foreign_line *line)
{
    return line->end - line->at >= 2 &&
           (memcmp(line->at, "==", 2) == 0 || memcmp(line->at, "--", 2) == 0);
}

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    struct foreign_line line = {.at = bytes, .end = bytes + size};
    struct foreign_reference *reference = &item->references[0];
    (void)state;
    (void)last;
    if (is_message(&line)) {
        item->left_out = true;
        return 0;
    }
    foreign_line_skip_spaces(&line);
    if (line.at == line.end)
        return 0;
    uint8_t kind = *line.at++;
    if (kind != 'I' && kind != 'L' && kind != 'S' && kind != 'M')
        return bt_fail(error, BT_DATA, "it is not a reference of lackey (I, L, S or M)");
    foreign_line_skip_spaces(&line);
    if (!foreign_line_hexadecimal(&line, &reference->address) || !foreign_line_expect(&line, ',') ||
        !foreign_line_decimal(&line, &reference->size) || line.at < line.end)
        return bt_fail(error, BT_DATA, "there is no ADDRESS,SIZE after the letter");
    reference->type = kind == 'I'   ? REQUEST_FETCH
                      : kind == 'S' ? REQUEST_MEMWRITE
                                    : REQUEST_MEMREAD;
    reference->attribute = ATTRIBUTE_WRITE_BACK;
    item->count = 1;
    if (kind == 'M') {
        item->references[1] = *reference;
        item->references[1].type = REQUEST_MEMWRITE;
        item->count = 2;
    }
    return 0;
}

const struct foreign_decoder lackey_decoder = {
    .lines = true, .left_out = "valgrind's own lines", .decode = decode};

/* --- writing --- */

#define LINE_BYTES 24u /* " L 0012ab40,255\n" and the bytes that digits.h overwrites */

static const char kinds[][4] = {[REQUEST_FETCH] = "I  ",
                                [REQUEST_MEMREAD] = " L ",
                                [REQUEST_MEMREADINV] = " L ",
                                [REQUEST_MEMWRITE] = " S "};

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    uint64_t written = 0;
    uint64_t invalidate = 0;
    (void)state;
    (void)error;
    for (const struct record *r = run->records; r < run->records + run->count; r++) {
        if (foreign_leaves_out(r->type, loss))
            continue;
        memcpy(out, kinds[r->type], 4);
        out = digits_put_hexadecimal(out + 3, r->address);
        *out++ = ',';
        out = digits_put_short_decimal(out, r->size);
        *out++ = '\n';
        written++;
        invalidate += r->type == REQUEST_MEMREADINV;
    }
    loss->written += written;
    loss->count[FOREIGN_INVALIDATE] += invalidate;
    return out;
}

const struct foreign_encoder lackey_encoder = {.record_bytes = LINE_BYTES, .encode = encode};
