#include "tools/common/wrap.h"

#include <string.h>

#define BLANKS " \n"

void wrap_print(const char *text, unsigned column, FILE *out)
{
    size_t at = column;
    for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
        const size_t word = strcspn(text, BLANKS);
        if (at > column && at + 1 + word > WRAP_COLUMNS) {
            fprintf(out, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', out);
            at++;
        }
        fwrite(text, 1, word, out);
        text += word;
        at += word;
    }
    fputc('\n', out);
}
