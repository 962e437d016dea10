#include "formats/foreign/foreign_loss.h"

#include "formats/base/quantity.h"
#include "formats/record/record.h"

#include <stdio.h>
#include <string.h>

/* A count's description, and the reason; %s is the format. */
static const struct {
    const char *what, *why;
} sentences[FOREIGN_REASONS] = {
    [FOREIGN_IO] = {"I/O requests left out", "%s cannot represent them"},
    [FOREIGN_REPLY] = {"deferred replies left out", "%s cannot represent them"},
    [FOREIGN_SPECIAL] = {"interrupts and special cycles left out", "%s cannot represent them"},
    [FOREIGN_UNKNOWN] = {"requests of unknown types left out", "%s cannot represent them"},
    [FOREIGN_PROCESSOR] = {"requests of other processors left out", NULL},
    [FOREIGN_NO_FETCH] = {"data requests before the first fetch left out",
                          "%s attaches data to fetches"},
    [FOREIGN_ADDRESS] = {"data requests at address 0 left out", "%s treats it as no access"},
    [FOREIGN_INVALIDATE] = {"reads with intent to write turned into reads",
                            "%s does not distinguish them"},
    [FOREIGN_BETWEEN] = {"times between two requests limited to the largest",
                         "%s has 32 bits for them"},
    [FOREIGN_TIME] = {"times limited to the largest", "%s cannot hold later ones"},
    [FOREIGN_ATTRIBUTE] = {"attributes replaced", "%s has only uncacheable and write back"},
    [FOREIGN_LOSS_MARK] = {"losses of requests no longer marked", "%s cannot mark them"},
    [FOREIGN_CHOSEN] = {"chosen gaps no longer marked", "%s cannot mark them"},
    [FOREIGN_EVENT] = {"signals and new threads no longer marked", "%s cannot mark them"},
    [FOREIGN_CODE] = {"instructions without registers, whose code is in no image", NULL},
    [FOREIGN_REGISTERS] = {"instructions with some of their registers left out",
                           "%s has 2 written and 4 read ones"},
};

char *foreign_loss_sentence(char *text, const struct foreign_loss *loss, enum foreign_reason reason,
                            const char *format)
{
    char number[QUANTITY_TEXT_BYTES];
    if (loss->count[reason] == 0)
        return NULL;
    quantity_text(number, loss->count[reason]);
    const char *what = sentences[reason].what;
    const char *why = sentences[reason].why;
    const char *name = why ? strstr(why, "%s") : NULL;
    if (!name)
        snprintf(text, FOREIGN_LOSS_BYTES, "%s: %s", what, number);
    else
        snprintf(text, FOREIGN_LOSS_BYTES, "%s: %s (%.*s%s%s)", what, number, (int)(name - why),
                 why, format, name + 2);
    return text;
}

enum foreign_reason foreign_reason_of(uint8_t type)
{
    switch (type) {
    case REQUEST_FETCH:
    case REQUEST_MEMREAD:
    case REQUEST_MEMREADINV:
    case REQUEST_MEMWRITE:
        return FOREIGN_REASONS;
    case REQUEST_IOREAD:
    case REQUEST_IOWRITE:
        return FOREIGN_IO;
    case REQUEST_DEFERREPLY:
        return FOREIGN_REPLY;
    default:
        return request_type_ordinal(type) == REQUEST_TYPE_UNKNOWN ? FOREIGN_UNKNOWN
                                                                  : FOREIGN_SPECIAL;
    }
}
