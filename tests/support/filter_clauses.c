#include "tests/support/filter_clauses.h"

#include "formats/record/record.h"

#include <stdio.h>

#define CONJUNCTION "type=FETCH|MEMREAD and processor=0-1|3 and address!=0xfee00000-0xfee00fff"

static const struct filter_clause {
    const char *text;
    uint8_t type, processor;
    uint32_t address;
    bool passes;
} clauses[] = {
    {"", 0, 0, 0, true},
    {" \t\n", 0x37, 7, 0xffffffff, true},
    {"", 0xff, 200, 5, true},
    {"type=FETCH", REQUEST_FETCH, 0, 0, true},
    {"type=FETCH", REQUEST_MEMREAD, 0, 0, false},
    {"type=FETCH", 0xff, 0, 0, false},
    {"Type = fetch | MemRead", REQUEST_MEMREAD, 0, 0, true},
    {"type=memread", REQUEST_MEMREADINV, 0, 0, false},
    {"type!=FETCH", REQUEST_SMIACK, 0, 0, true},
    {"type!=FETCH", REQUEST_FETCH, 0, 0, false},
    {"type=0x10-0x1f", REQUEST_IOWRITE, 0, 0, true},
    {"type=0x10-0x1f", REQUEST_DEFERREPLY, 0, 0, false},
    {"type=49", REQUEST_SHUTDOWN, 0, 0, true},
    {"processor=0-1|3", 0, 3, 0, true},
    {"processor=0-1|3", 0, 2, 0, false},
    {"proc=0-6", 0, 9, 0, false},
    {"proc!=2", 0, 7, 0, true},
    {"proc!=2", 0, 2, 0, false},
    {"address=0x1000-0x1fff|0xFFFFFFFF", 0, 0, 0xffffffff, true},
    {"addr=0x1000 - 0x1fff", 0, 0, 0x1000, true},
    {"addr=0x1000-0x1fff", 0, 0, 0x1fff, true},
    {"addr=0x1000-0x1fff", 0, 0, 0x2000, false},
    {"addr=0x1000-0x1fff", 0, 0, 0xfff, false},
    {"address!=0xfee00000-0xfee00fff", 0, 0, 0xfee00300, false},
    {"address!=0xfee00000-0xfee00fff", 0, 0, 0xfee01000, true},
    {CONJUNCTION, REQUEST_FETCH, 3, 0, true},
    {CONJUNCTION, REQUEST_MEMWRITE, 3, 0, false},
    {CONJUNCTION, REQUEST_FETCH, 2, 0, false},
    {CONJUNCTION, REQUEST_FETCH, 3, 0xfee00000, false},
    {"proc=1,type=HALT", REQUEST_HALT, 1, 0, true},
    {"proc=1,type=HALT", REQUEST_HALT, 0, 0, false},
};

unsigned filter_clauses_wrong(bool (*passes)(const char *text, uint8_t type, uint8_t processor,
                                             uint32_t address))
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++) {
        const struct filter_clause *clause = &clauses[i];
        if (passes(clause->text, clause->type, clause->processor, clause->address) ==
            clause->passes)
            continue;
        printf("%s, record %zu: not as wanted\n", clause->text, i);
        wrong++;
    }
    return wrong;
}
