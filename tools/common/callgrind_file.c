#include "tools/common/callgrind_file.h"

#include "formats/base/printable.h"

#include <inttypes.h>

static void put_sums(const struct callgrind_head *head, const char *key, FILE *out)
{
    fprintf(out, "%s: %" PRIu64, key, head->totals[0]);
    if (head->data)
        fprintf(out, " %" PRIu64 " %" PRIu64, head->totals[1], head->totals[2]);
    putc('\n', out);
}

void callgrind_put_head(const struct callgrind_head *head, FILE *out)
{
    fprintf(out,
            "# callgrind format\nversion: 1\ncreator: bustap " BUSTAP_VERSION "\npid: %" PRIu64
            "\ncmd: ",
            head->process);
    printable_put(head->command, out);
    fputs("\npart: 1\n\npositions: instr line\n", out);
    if (head->chunks)
        fputs("event: Visits : visits of chunks\nevents: Visits\n", out);
    else if (head->data)
        fputs("event: Ir : Instruction Fetch\nevent: Dr : Data Read\nevent: Dw : Data Write\n"
              "events: Ir Dr Dw\n",
              out);
    else
        fputs("event: Ir : Instruction Fetch\nevents: Ir\n", out);
    put_sums(head, "summary", out);
}

void callgrind_put_totals(const struct callgrind_head *head, FILE *out)
{
    putc('\n', out);
    put_sums(head, "totals", out);
}

void callgrind_put_name(const char *key, uint32_t number, const char *name, bool *named, FILE *out)
{
    fprintf(out, "%s=(%" PRIu32 ")", key, number);
    if (!*named) {
        putc(' ', out);
        printable_put(name, out);
    }
    putc('\n', out);
    *named = true;
}
