#include "formats/foreign/byu.h"

#include <string.h>

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    (void)state;
    (void)error;
    records_put((uint8_t *)out, run->records, run->count);
    loss->written += run->count;
    return out + run->count * RECORD_BYTES;
}

const struct foreign_encoder byu_encoder = {
    .record_bytes = RECORD_BYTES, .times_between = true, .encode = encode};

static char *encode_lp64(void *state, char *out, const struct foreign_run *run,
                         struct foreign_loss *loss, struct bt_error *error)
{
    (void)state;
    (void)error;
    for (const struct record *r = run->records; r < run->records + run->count; r++) {
        uint8_t *bytes = (uint8_t *)out;
        bytes_put64(bytes, r->address);
        bytes[8] = r->type;
        bytes[9] = r->size;
        bytes[10] = r->attribute;
        bytes[11] = r->processor;
        bytes_put32(bytes + 12, 0); /* the time is aligned to 8 */
        bytes_put64(bytes + 16, r->time);
        out += RECORD_LP64_BYTES;
    }
    loss->written += run->count;
    return out;
}

const struct foreign_encoder byu_lp64_encoder = {
    .record_bytes = RECORD_LP64_BYTES, .times_between = true, .encode = encode_lp64};
