#include "capture/json_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";
#define REPLACEMENT_BYTES (sizeof replacement - 1)

/* Bytes of the UTF-8 character at text (RFC 3629, section 4), 0 if there is none. */
static size_t utf8_length(const unsigned char *text)
{
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool surrogate = text[0] == 0xed && text[1] > 0x9f;
    bool too_large = text[0] == 0xf4 && text[1] > 0x8f;
    return overlong || surrogate || too_large ? 0 : length;
}

void json_text_put(yajl_gen generator, const char *text)
{
    char *clean = malloc(REPLACEMENT_BYTES * strlen(text) + 1);
    if (!clean) {
        yajl_gen_null(generator);
        return;
    }
    size_t size = 0;
    while (*text) {
        size_t length = utf8_length((const unsigned char *)text);
        size_t put = length ? length : REPLACEMENT_BYTES;
        memcpy(clean + size, length ? text : replacement, put);
        size += put;
        text += length ? length : 1;
    }
    yajl_gen_string(generator, (const unsigned char *)clean, size);
    free(clean);
}
