#include "firmware/p6.h"
#include "tests/suites.h"

#include <string.h>

/* A slow reference: the table of doc/p6-decoding.md, searched row by row. */
enum twin_form { BY_LEN, NOTHING, SPECIAL, DEFERRED };

struct twin_row {
    const char *request_a; /* as printed: 0, 1, x for any, a for the ASZ bits */
    const char *request_b; /* from bit 4; d is DSZ, l is LEN, x is any */
    int type;
    enum twin_form form;
};

static const struct twin_row twin_rows[] = {
    {"aa100", "ddxll", REQUEST_FETCH, BY_LEN},
    {"aa110", "ddxll", REQUEST_MEMREAD, BY_LEN},
    {"aa010", "ddxll", REQUEST_MEMREADINV, BY_LEN},
    {"aa101", "ddxll", REQUEST_MEMWRITE, BY_LEN},
    {"aa111", "ddxll", REQUEST_MEMWRITE, BY_LEN},
    {"10000", "ddxll", REQUEST_IOREAD, BY_LEN},
    {"10001", "ddxll", REQUEST_IOWRITE, BY_LEN},
    {"00000", "xxxxx", REQUEST_DEFERREPLY, DEFERRED},
    {"01000", "ddx00", REQUEST_INTA, BY_LEN},
    {"01000", "ddx1x", REQUEST_CNTRLAGNTRES, NOTHING},
    {"01001", "ddx01", REQUEST_CNTRLAGNTRES, NOTHING},
    {"01001", "ddx1x", REQUEST_CNTRLAGNTRES, NOTHING},
    {"01001", "ddx00", REQUEST_BRTRACEREC, BY_LEN},
    {"01000", "ddx01", 0x30, SPECIAL},
};

static bool bits_match(const char *pattern, unsigned bits)
{
    for (unsigned i = 0; i < 5; i++)
        if ((pattern[i] == '0' && bits >> (4 - i) & 1) ||
            (pattern[i] == '1' && !(bits >> (4 - i) & 1)))
            return false;
    /* ASZ: 00 and 01 exist. */
    return pattern[0] != 'a' || bits >> 3 <= 1;
}

static enum p6_result twin_size(unsigned len, unsigned enables, struct record *record)
{
    switch (len) {
    case 0:
        for (unsigned i = 0; i < 8; i++)
            record->size += enables >> i & 1;
        return P6_RECORD;
    case 1:
        record->size = 16;
        return P6_RECORD;
    case 2:
        record->size = 32;
        return P6_RECORD;
    default:
        return P6_UNDECODED;
    }
}

static enum p6_result twin(const struct bus_phase *phase, struct record *record)
{
    const struct twin_row *row = NULL;
    for (size_t i = 0; i < sizeof twin_rows / sizeof *twin_rows && !row; i++)
        if (bits_match(twin_rows[i].request_a, phase->request_a) &&
            bits_match(twin_rows[i].request_b, phase->request_b))
            row = &twin_rows[i];
    if (!row)
        return P6_UNDECODED;
    unsigned enables = phase->address_b >> 8 & 255;
    *record = (struct record){.address = (uint32_t)(phase->address_a & 0xffffffff),
                              .type = (uint8_t)row->type,
                              .attribute = phase->address_b >> 24 & 7,
                              .processor = phase->address_b >> 20 & 7};
    if (row->form == DEFERRED)
        record->processor = phase->address_a >> 20 & 7;
    if (row->form == SPECIAL) {
        record->type = (uint8_t)(row->type + enables);
        return enables >= 1 && enables <= 7 ? P6_RECORD : P6_UNDECODED;
    }
    if (row->form == BY_LEN && twin_size(phase->request_b & 3, enables, record) != P6_RECORD)
        return P6_UNDECODED;
    bool memory = row->request_a[0] == 'a';
    return memory && phase->request_a >> 3 == 1 && phase->address_a >> 32 ? P6_ABOVE_4GIB
                                                                          : P6_RECORD;
}

static bool same(const struct record *a, const struct record *b)
{
    return a->address == b->address && a->type == b->type && a->size == b->size &&
           a->attribute == b->attribute && a->processor == b->processor;
}

static void test_every_phase(void)
{
    static const uint64_t addresses[] = {0,           0x12345678,  0xffffffff,
                                         0x100000000, 0xf00000000, 0x0fe754325};
    unsigned wrong = 0;
    for (unsigned code = 0; code < 1u << 18; code++)
        for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
            struct bus_phase phase = {.address_a = addresses[i],
                                      .request_a = code & 31,
                                      .request_b = code >> 5 & 31,
                                      .address_b = (code >> 10 & 255) << 8 | 0xa5c300f8u};
            phase.address_b ^= code * 0x9e3779b1u & 0xffff0000u;
            struct record got, wanted;
            enum p6_result result = p6_decode(&phase, &got);
            enum p6_result expected = twin(&phase, &wanted);
            wrong += result != expected || (result == P6_RECORD && !same(&got, &wanted));
        }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* The first byte of the first run of byte enables, where byte 0 follows byte 7. */
static unsigned twin_first_byte(const struct bus_phase *phase)
{
    unsigned enables = phase->address_b >> 8 & 255;
    bool deferred = phase->request_a == 0;
    for (unsigned i = 0; i < 8 && (phase->request_b & 3) == 0 && !deferred; i++)
        if ((enables >> i & 1) && !(enables >> (i + 7) % 8 & 1))
            return i;
    return 0;
}

static void test_first_byte(void)
{
    unsigned wrong = 0;
    for (unsigned code = 0; code < 1u << 18; code++) {
        const struct bus_phase phase = {.address_a = 0x12345678,
                                        .request_a = code & 31,
                                        .request_b = code >> 5 & 31,
                                        .address_b = (code >> 10 & 255) << 8 | 0xa5c300f8u};
        wrong += p6_first_byte(&phase) != twin_first_byte(&phase);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    const struct bus_phase wrapped = {.request_a = 4, .address_b = 0x8300};
    CU_ASSERT_EQUAL(p6_first_byte(&wrapped), 7);
    const struct bus_phase two_runs = {.request_a = 4, .address_b = 0x6c00};
    CU_ASSERT_EQUAL(p6_first_byte(&two_runs), 2);
}

/* What p6_encode puts on the bus has the low address bits of the record on the pins, unless all
 * byte enables are the same. */
static void test_first_byte_of_records(void)
{
    for (uint32_t address = 0x1000; address < 0x1008; address++)
        for (uint8_t size = 0; size <= 8; size++) {
            const struct record record = {
                .address = address, .type = REQUEST_MEMREAD, .size = size};
            struct bus_phase phase;
            CU_ASSERT_PTR_NULL(p6_encode(&record, &phase));
            CU_ASSERT_EQUAL(p6_first_byte(&phase), size % 8 ? address % 8 : 0);
        }
}

static void test_special_codes(void)
{
    struct record record;
    struct bus_phase phase = {.request_a = 010, .request_b = 1};
    CU_ASSERT_EQUAL(p6_decode(&phase, &record), P6_UNDECODED); /* NOP */
    phase.address_b = 3u << 8;
    CU_ASSERT_EQUAL(p6_decode(&phase, &record), P6_RECORD);
    CU_ASSERT_EQUAL(record.type, REQUEST_HALT);
    phase.address_b = 8u << 8;
    CU_ASSERT_EQUAL(p6_decode(&phase, &record), P6_UNDECODED);
    phase = (struct bus_phase){.request_a = 014, .address_a = 0x200000000, .address_b = 0xff00};
    CU_ASSERT_EQUAL(p6_decode(&phase, &record), P6_ABOVE_4GIB);
    phase.request_a = 004; /* a 32-bit address: the pins above are ignored */
    CU_ASSERT_EQUAL(p6_decode(&phase, &record), P6_RECORD);
}

/* Whether p6_encode must accept a record, by another method than its own. */
static bool encodable(const struct record *r)
{
    bool small = r->size <= 8, line = r->size == 16 || r->size == 32;
    if (r->processor > 7 || r->attribute > 7)
        return false;
    if (r->type <= 0x03 || r->type == 0x10 || r->type == 0x11)
        return small || line;
    if (r->type == 0x21 || r->type == 0x23)
        return small;
    if (r->type == 0x20)
        return r->size == 0 && (r->address >> 20 & 7) == r->processor;
    return r->size == 0 && (r->type == 0x22 || (r->type >= 0x31 && r->type <= 0x37));
}

/* Checks p6_encode with a record. */
static bool round_trip(const struct record *record)
{
    struct bus_phase phase = {.tick = 42, .missed = 7};
    struct record back = {.time = 1};
    const char *refusal = p6_encode(record, &phase);
    if (!encodable(record))
        return refusal != NULL;
    return !refusal && p6_decode(&phase, &back) == P6_RECORD && same(record, &back) &&
           back.time == 1 && phase.tick == 42 && phase.missed == 0;
}

static void test_round_trip(void)
{
    unsigned wrong = 0, accepted = 0;
    for (unsigned type = 0; type < 256; type++)
        for (unsigned size = 0; size < 40; size++)
            for (unsigned rest = 0; rest < 16 * 16 * 16; rest++) {
                struct record record = {.type = (uint8_t)type,
                                        .size = (uint8_t)(size == 39 ? 255 : size),
                                        .attribute = rest & 15,
                                        .processor = rest >> 4 & 15,
                                        .time = 0xdeadbeef};
                record.address =
                    (rest * 0x9e3779b1u & ~0x700007u) | rest >> 8 | (rest >> 4 & 7) << 20;
                if (rest & 0x800)
                    record.address ^= 0x100000; /* a deferred reply to another agent */
                wrong += !round_trip(&record);
                accepted += encodable(&record);
            }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(accepted > 80000);
}

static void test_refusals_say_why(void)
{
    struct bus_phase phase;
    struct record record = {.type = 0x30};
    CU_ASSERT_PTR_NOT_NULL(strstr(p6_encode(&record, &phase), "type"));
    record = (struct record){.type = REQUEST_FETCH, .size = 9};
    CU_ASSERT_PTR_NOT_NULL(strstr(p6_encode(&record, &phase), "size"));
    record = (struct record){.type = REQUEST_FETCH, .processor = 8};
    CU_ASSERT_PTR_NOT_NULL(strstr(p6_encode(&record, &phase), "processor"));
    record = (struct record){.type = REQUEST_HALT, .size = 1};
    CU_ASSERT_PTR_NOT_NULL(strstr(p6_encode(&record, &phase), "transfers no data"));
    record = (struct record){.type = REQUEST_INTA, .size = 16};
    CU_ASSERT_PTR_NOT_NULL(strstr(p6_encode(&record, &phase), "above 8"));
    record = (struct record){.type = REQUEST_DEFERREPLY, .processor = 1};
    CU_ASSERT_PTR_NOT_NULL(strstr(p6_encode(&record, &phase), "deferred reply"));
}

static void test_misaligned_parts(void)
{
    /* As in real traces: 8 bytes from an address that ends in 5. */
    struct record record = {.type = REQUEST_FETCH, .address = 0x087eed25, .size = 8}, back;
    struct bus_phase phase = {0};
    CU_ASSERT_PTR_NULL(p6_encode(&record, &phase));
    CU_ASSERT_EQUAL(phase.address_b >> 8 & 0xff, 0xff);
    CU_ASSERT_EQUAL(p6_decode(&phase, &back), P6_RECORD);
    CU_ASSERT(same(&record, &back));
    record.size = 4;
    CU_ASSERT_PTR_NULL(p6_encode(&record, &phase));
    CU_ASSERT_EQUAL(phase.address_b >> 8 & 0xff, 0xe1);
}

static const struct test_case cases[] = {
    {"every REQa, REQb and BE as in the table", test_every_phase},
    {"the first requested byte, by the byte enables", test_first_byte},
    {"the first requested byte of records", test_first_byte_of_records},
    {"special transactions and addresses above 4 GiB", test_special_codes},
    {"encode, then decode: every encodable record", test_round_trip},
    {"refusals give the reason", test_refusals_say_why},
    {"parts that cross 8 bytes wrap", test_misaligned_parts},
    {NULL, NULL}};
TEST_SUITE(p6, cases)
