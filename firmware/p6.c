#include "firmware/p6.h"

#define SIZE_LONGEST_PART 8u /* LEN 00: at most this many bytes, by byte enables */

/* How to decode the rest of a request phase, by REQa and LEN. */
enum decoding_rule {
    RULE_UNDECODED, /* reserved, or not on this bus; the table's default */
    RULE_SIZED,     /* size by LEN */
    RULE_SIZED_36,  /* as RULE_SIZED, with a 36-bit address */
    RULE_NO_SIZE,   /* transfers no data */
    RULE_DEFERRED,  /* as RULE_NO_SIZE; the address contains the agent */
    RULE_SPECIAL    /* as RULE_NO_SIZE; the byte enables select the special transaction */
};

struct request_decoding {
    uint8_t rule;
    uint8_t type;
};

#define LEN_COUNT 4u
enum { LEN_PART, LEN_16, LEN_32, LEN_RESERVED };

/* LEN 00, 01, 10 transfer 0 to 8, 16 and 32 bytes; 11 is reserved. */
#define SIZED(rule, type)                                                                          \
    {                                                                                              \
        {rule, type}, {rule, type}, {rule, type}, {RULE_UNDECODED, 0},                             \
    }
/* Requests whose second clock is irrelevant. */
#define ANY_LEN(rule, type)                                                                        \
    {                                                                                              \
        {rule, type}, {rule, type}, {rule, type}, {rule, type},                                    \
    }

/* By REQa[4:0] and LEN (REQb[1:0]): doc/p6-decoding.md, "The table". */
static const struct request_decoding rows[32][LEN_COUNT] = {
    [000] = ANY_LEN(RULE_DEFERRED, REQUEST_DEFERREPLY),
    [002] = SIZED(RULE_SIZED, REQUEST_MEMREADINV),
    [004] = SIZED(RULE_SIZED, REQUEST_FETCH),
    [005] = SIZED(RULE_SIZED, REQUEST_MEMWRITE),
    [006] = SIZED(RULE_SIZED, REQUEST_MEMREAD),
    [007] = SIZED(RULE_SIZED, REQUEST_MEMWRITE),
    [010] = {{RULE_SIZED, REQUEST_INTA},
             {RULE_SPECIAL, 0x30},
             {RULE_NO_SIZE, REQUEST_CNTRLAGNTRES},
             {RULE_NO_SIZE, REQUEST_CNTRLAGNTRES}},
    [011] = {{RULE_SIZED, REQUEST_BRTRACEREC},
             {RULE_NO_SIZE, REQUEST_CNTRLAGNTRES},
             {RULE_NO_SIZE, REQUEST_CNTRLAGNTRES},
             {RULE_NO_SIZE, REQUEST_CNTRLAGNTRES}},
    [012] = SIZED(RULE_SIZED_36, REQUEST_MEMREADINV),
    [014] = SIZED(RULE_SIZED_36, REQUEST_FETCH),
    [015] = SIZED(RULE_SIZED_36, REQUEST_MEMWRITE),
    [016] = SIZED(RULE_SIZED_36, REQUEST_MEMREAD),
    [017] = SIZED(RULE_SIZED_36, REQUEST_MEMWRITE),
    [020] = SIZED(RULE_SIZED, REQUEST_IOREAD),
    [021] = SIZED(RULE_SIZED, REQUEST_IOWRITE),
};

/* Bits set in a nibble: the board's processor has no instruction for it. */
static const uint8_t nibble_bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

static uint8_t transfer_size(unsigned len, unsigned byte_enables)
{
    if (len == LEN_PART)
        return (uint8_t)(nibble_bits[byte_enables & 15] + nibble_bits[byte_enables >> 4]);
    return len == LEN_16 ? 16 : 32;
}

static bool has_size(unsigned rule)
{
    return rule == RULE_SIZED || rule == RULE_SIZED_36;
}

enum p6_result p6_decode(const struct bus_phase *phase, struct record *record)
{
    unsigned len = phase->request_b & 3u;
    unsigned byte_enables = phase->address_b >> 8 & 0xffu;
    struct request_decoding row = rows[phase->request_a & 31u][len];

    record->address = (uint32_t)phase->address_a;
    record->type = row.type;
    record->size = has_size(row.rule) ? transfer_size(len, byte_enables) : 0;
    record->attribute = phase->address_b >> 24 & 7u;
    record->processor = phase->address_b >> 20 & 7u;

    switch (row.rule) {
    case RULE_UNDECODED:
        return P6_UNDECODED;
    case RULE_SIZED_36:
        return phase->address_a >> 32 & 15u ? P6_ABOVE_4GIB : P6_RECORD;
    case RULE_DEFERRED:
        record->processor = phase->address_a >> 20 & 7u;
        return P6_RECORD;
    case RULE_SPECIAL:
        record->type = (uint8_t)(row.type + byte_enables);
        return byte_enables >= 1 && byte_enables <= 7 ? P6_RECORD : P6_UNDECODED;
    default:
        return P6_RECORD;
    }
}

unsigned p6_first_byte(const struct bus_phase *phase)
{
    unsigned byte_enables = phase->address_b >> 8 & 0xffu;
    unsigned starts = byte_enables & ~(byte_enables << 1 | byte_enables >> 7);
    unsigned offset = 0;
    if ((phase->request_b & 3u) != LEN_PART || starts == 0 ||
        rows[phase->request_a & 31u][LEN_PART].rule == RULE_DEFERRED)
        return 0;
    while (!(starts >> offset & 1u))
        offset++;
    return offset;
}

struct encoding {
    uint8_t rule;
    uint8_t request_a;
    uint8_t request_b;
};

/* A request phase for each type, by its ordinal, for p6_encode. */
static const struct encoding encodings[REQUEST_TYPES] = {
    {RULE_SIZED, 004, 0},    /* FETCH */
    {RULE_SIZED, 006, 0},    /* MEMREAD */
    {RULE_SIZED, 002, 0},    /* MEMREADINV */
    {RULE_SIZED, 007, 0},    /* MEMWRITE; whole lines are encoded as write backs, 005 */
    {RULE_SIZED, 020, 0},    /* IOREAD */
    {RULE_SIZED, 021, 0},    /* IOWRITE */
    {RULE_DEFERRED, 000, 0}, /* DEFERREPLY */
    {RULE_SIZED, 010, 0},    /* INTA */
    {RULE_NO_SIZE, 010, 2},  /* CNTRLAGNTRES */
    {RULE_SIZED, 011, 0},    /* BRTRACEREC */
    {RULE_SPECIAL, 010, 1},  /* SHUTDOWN */
    {RULE_SPECIAL, 010, 1},  /* FLUSH */
    {RULE_SPECIAL, 010, 1},  /* HALT */
    {RULE_SPECIAL, 010, 1},  /* SYNC */
    {RULE_SPECIAL, 010, 1},  /* FLUSHACK */
    {RULE_SPECIAL, 010, 1},  /* STOPCLKACK */
    {RULE_SPECIAL, 010, 1}}; /* SMIACK */

/* Byte enables of size bytes (at most 8) from an address, wrapping within the 8 bytes. */
static unsigned enables(uint32_t address, unsigned size)
{
    unsigned offset = address & 7u;
    unsigned bits = (1u << size) - 1u;
    return (bits << offset | bits << offset >> 8) & 0xffu;
}

static const char *check(const struct record *record, unsigned ordinal)
{
    if (ordinal == REQUEST_TYPE_UNKNOWN)
        return "its request type is not one of the 17";
    if (record->processor > 7)
        return "its processor is above 7; an agent id has 3 bits";
    if (record->attribute > 7)
        return "its attribute is above 7; the attribute has 3 bits";

    const struct encoding *encoding = &encodings[ordinal];
    if (!has_size(encoding->rule) && record->size != 0)
        return "its size is not 0; this request type transfers no data";
    if (record->size > SIZE_LONGEST_PART &&
        (encoding->request_a == 010 || encoding->request_a == 011))
        return "its size is above 8, which this request type cannot transfer";
    if (record->size > SIZE_LONGEST_PART && record->size != 16 && record->size != 32)
        return "its size is not 0 to 8, 16 or 32";
    if (encoding->rule == RULE_DEFERRED && (record->address >> 20 & 7u) != record->processor)
        return "it is a deferred reply whose processor is not the one in bits 22 to 20 of its "
               "address";
    return NULL;
}

const char *p6_encode(const struct record *record, struct bus_phase *phase)
{
    unsigned ordinal = request_type_ordinal(record->type);
    const char *refusal = check(record, ordinal);
    if (refusal)
        return refusal;

    const struct encoding *encoding = &encodings[ordinal];
    unsigned byte_enables = 0xff;
    phase->request_a = encoding->request_a;
    phase->request_b = encoding->request_b;
    if (encoding->rule == RULE_SPECIAL)
        byte_enables = record->type & 15u;
    else if (has_size(encoding->rule) && record->size <= SIZE_LONGEST_PART)
        byte_enables = enables(record->address, record->size);
    else if (record->size == 16 || record->size == 32)
        phase->request_b = record->size == 16 ? LEN_16 : LEN_32;
    if (record->type == REQUEST_MEMWRITE && record->size == 32)
        phase->request_a = 005;

    phase->address_a = record->address;
    phase->address_b = (uint32_t)record->attribute << 24 | (uint32_t)record->processor << 20 |
                       (uint32_t)byte_enables << 8;
    phase->missed = 0;
    return NULL;
}
