#include "formats/columns/record_model.h"

#include "formats/columns/context_mixer.h"
#include "formats/columns/nibble_coder.h"
#include "formats/columns/word_numbers.h"

#include <stdlib.h>
#include <string.h>

#define MODEL_INLINE static inline __attribute__((always_inline))

#define MODEL_BITS 15u /* of nibble models */
#define INDEX_BITS 16u /* of tables of what followed a history */
#define PAGE_BITS  12u
#define PAGES      32u /* the recent pages */
#define OFFSET     ((1u << PAGE_BITS) - 1)

/* How the address is given, in one nibble. */
enum address_token {
    TOKEN_MATCH,     /* as after the same history */
    TOKEN_MOVED,     /* as after the same history at other pages */
    TOKEN_FOLLOWER,  /* as after the last record */
    TOKEN_STRIDE,    /* in sequence with the last two of this kind */
    TOKEN_SAME_PAGE, /* on the page of the last of this kind */
    TOKEN_MATCH_PAGE,
    TOKEN_MOVED_PAGE,
    TOKEN_RECENT_PAGE, /* and the next: one of the 8 most recent pages */
    TOKEN_PAGE = 15    /* the page is given */
};
#define GUESSES 4u

/* What a nibble is; the mixer has weights for each. */
enum place {
    PLACE_KIND = 0, /* 4, see code_number */
    PLACE_TIME = 4, /* 4 */
    PLACE_TOKEN = 8,
    PLACE_OFFSET = 9, /* 3 nibbles */
    PLACE_PAGE = 12   /* 5 */
};

/* Sets of weights, by how sure the guesses are. */
enum select {
    SELECT_KIND = 0,
    SELECT_TOKEN = 64,
    SELECT_PAGE = 1088,
    SELECT_OFFSET = 1100,
    SELECT_TIME = 1868,
    SELECT_RAW = 1932
};

/* How a nibble is coded: by one context, or by a mix of several. */
enum mix { MIX_NONE, MIX_FEW, MIX_MANY };

/* A place in the past whose history equals the present one. */
struct follower {
    size_t at;       /* the record that followed there */
    unsigned length; /* equal records before it; 0: there is none */
};

/* What the next record is predicted from. */
struct moment {
    uint32_t address[4], time[4]; /* of the records before; [0] is the last */
    uint8_t kind[8], token[4];
    uint32_t record_hash[4]; /* address and kind */
    uint32_t shape_hash[4];  /* offset in the page and kind */
    uint32_t two, three, shapes2, shapes3, kinds4, kinds6;
};

struct record_model {
    uint8_t *kinds, *ranks; /* of each record: its kind, and how recent its page was */
    struct nibble_model *nibbles;
    struct context_mixer *mixer;
    struct nibble_coder coder;
    uint32_t *intervals;
    struct word_numbers kind_words, time_words;

    const struct record *past;
    struct moment moment;
    struct follower match, moved;
    uint32_t matches[1u << INDEX_BITS], moves[1u << INDEX_BITS];
    /* Address after the last record and the kind; the kinds of one record share a cache line. */
    _Alignas(64) uint32_t followers[1u << INDEX_BITS];
    uint32_t page_addresses[1u << INDEX_BITS]; /* the last address on a page */
    uint32_t last[256], before[256];           /* addresses of each kind */
    uint32_t tokens[256];                      /* of each kind, the last in the low bits */
    uint32_t pages[PAGES];                     /* recent ones, the last first */
    unsigned page_count;

    uint32_t contexts[CONTEXT_MIXER_CONTEXTS];
    unsigned context_count;
};

static inline uint32_t hash2(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)b << 32 | a) * UINT64_C(0x9e3779b97f4a7c15) >> 32) ^ a;
}

/* The kind of a record: all fields but address and time, as a word. */
static inline uint32_t kind_word(const struct record *record)
{
    return (uint32_t)record->type | (uint32_t)record->size << 8 |
           (uint32_t)record->attribute << 16 | (uint32_t)record->processor << 24;
}

static inline void set_kind(struct record *record, uint32_t word)
{
    record->type = (uint8_t)word;
    record->size = (uint8_t)(word >> 8);
    record->attribute = (uint8_t)(word >> 16);
    record->processor = (uint8_t)(word >> 24);
}

static inline uint32_t table_index(uint32_t hash)
{
    return hash * UINT32_C(0x85ebca6b) >> (32 - INDEX_BITS);
}

/* Codes a nibble by the contexts of model: returns value, or the decoded one. */
MODEL_INLINE unsigned code(struct record_model *model, bool decode, enum mix mixing, unsigned place,
                           unsigned select, unsigned value)
{
    if (mixing) {
        if (decode)
            return context_mixer_decode(model->mixer, model->contexts, model->context_count, place,
                                        select);
        context_mixer_encode(model->mixer, model->contexts, model->context_count, place, select,
                             value);
        return value;
    }
    struct nibble_model *nibble =
        &model->nibbles[hash2(model->contexts[0], place) >> (32 - MODEL_BITS)];
    if (decode)
        return nibble_decode(&model->coder, nibble);
    nibble_encode(&model->coder, nibble, value);
    return value;
}

/* Begins the contexts of a nibble. The first is the only one of RECORD_MODEL_NIBBLES. */
MODEL_INLINE void first_context(struct record_model *model, uint32_t context)
{
    model->contexts[0] = context;
    model->context_count = 1;
}

/* Adds contexts for the mixer, each together with what all of them share. */
static inline void add_contexts(struct record_model *model, uint32_t shared, unsigned count,
                                const uint32_t *contexts)
{
    for (unsigned i = 0; i < count; i++)
        model->contexts[model->context_count++] = hash2(contexts[i], shared);
}
#define ADD_CONTEXTS(model, shared, ...)                                                           \
    add_contexts(model, shared, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),              \
                 (uint32_t[]){__VA_ARGS__})

/* Codes a value of so many nibbles that nothing predicts, high ones first. */
MODEL_INLINE uint32_t code_raw(struct record_model *model, bool decode, enum mix mixing,
                               unsigned place, unsigned nibbles, uint32_t value)
{
    uint32_t coded = 0;
    for (unsigned i = nibbles; i-- > 0;) {
        first_context(model, i == nibbles - 1 ? i : i | coded << 4);
        coded = coded << 4 | code(model, decode, mixing, place, SELECT_RAW, value >> 4 * i & 15);
    }
    return coded;
}

/* How far a length can be trusted, in 3 bits. */
static inline unsigned trust(unsigned length)
{
    return length == 0    ? 0
           : length < 3   ? 1
           : length < 6   ? 2
           : length < 16  ? 3
           : length < 32  ? 4
           : length < 100 ? 5
                          : 6;
}

#define LENGTH_LOOK 16u /* records compared to find the length of a match */
#define LENGTH_MOST 255u
#define AT_MASK     (RECORD_MODEL_MOST - 1)

/* Whether records i and j have the same kind and the same bits of mask in their addresses. */
static inline bool same_past(const struct record_model *model, size_t i, size_t j, uint32_t mask)
{
    return ((model->past[i].address ^ model->past[j].address) & mask) == 0 &&
           model->kinds[i] == model->kinds[j];
}

/*
 * Moves a follower on to record i, whose history has this hash. The table holds the record that
 * followed a history before, and some bits of the hash, so that most other histories are recognized
 * without a look at the past.
 */
static inline void follow(const struct record_model *model, struct follower *follower,
                          uint32_t *table, uint32_t hash, size_t i, uint32_t mask, unsigned least)
{
    uint32_t *entry = &table[table_index(hash)];
    const uint32_t check = hash & ~AT_MASK;
    if (follower->length > 0 && same_past(model, follower->at, i - 1, mask)) {
        follower->at++;
        follower->length += follower->length < LENGTH_MOST;
    } else {
        const size_t at = *entry & AT_MASK;
        unsigned length = 0;
        while ((*entry & ~AT_MASK) == check && length < LENGTH_LOOK && length < at &&
               same_past(model, at - 1 - length, i - 1 - length, mask))
            length++;
        *follower = (struct follower){at, length < least ? 0 : length};
    }
    *entry = check | (uint32_t)i;
}

/* The rank of a page among the recent ones; PAGES if it is not one of them. */
static inline unsigned page_rank(const struct record_model *model, uint32_t page)
{
    unsigned rank = 0;
    while (rank < model->page_count && model->pages[rank] != page)
        rank++;
    return rank < model->page_count ? rank : PAGES;
}

/* Makes a page of this rank the most recent. */
static inline void touch_page(struct record_model *model, uint32_t page, unsigned rank)
{
    if (rank == 0)
        return;
    if (rank == PAGES) {
        if (model->page_count < PAGES)
            model->page_count++;
        rank = model->page_count - 1;
    }
    for (unsigned i = rank; i > 0; i--)
        model->pages[i] = model->pages[i - 1];
    model->pages[0] = page;
}

/* Makes the moment after a record. */
MODEL_INLINE void advance(struct moment *m, enum mix mixing, const struct record *record,
                          unsigned kind, unsigned token)
{
    for (unsigned i = 3; i > 0; i--) {
        m->record_hash[i] = m->record_hash[i - 1];
        m->shape_hash[i] = m->shape_hash[i - 1];
        m->address[i] = m->address[i - 1];
        m->time[i] = m->time[i - 1];
        m->token[i] = m->token[i - 1];
    }
    for (unsigned i = 7; i > 0; i--)
        m->kind[i] = m->kind[i - 1];
    m->address[0] = record->address;
    m->time[0] = record->time;
    m->kind[0] = (uint8_t)kind;
    m->token[0] = (uint8_t)token;
    m->record_hash[0] = hash2(record->address, kind);
    m->shape_hash[0] = hash2(record->address & OFFSET, kind);
    m->two = hash2(m->record_hash[0], m->record_hash[1]);
    m->three = hash2(m->two, m->record_hash[2]);
    m->shapes2 = hash2(m->shape_hash[0], m->shape_hash[1]);
    m->shapes3 = hash2(m->shapes2, hash2(m->shape_hash[2], m->shape_hash[3]));
    if (!mixing)
        return;
    m->kinds4 = (uint32_t)m->kind[0] | (uint32_t)m->kind[1] << 8 | (uint32_t)m->kind[2] << 16 |
                (uint32_t)m->kind[3] << 24;
    m->kinds6 = hash2(m->kinds4, (uint32_t)m->kind[4] << 8 | m->kind[5]);
}

/* Turns the contexts of a nibble into those of the next nibble of the same number. The only one of
 * RECORD_MODEL_NIBBLES is less specific there: such numbers are rare. */
MODEL_INLINE void refine_contexts(struct record_model *model, enum mix mixing, uint32_t predictor,
                                  unsigned known)
{
    model->contexts[0] = hash2(predictor, known);
    for (unsigned i = 1; mixing && i < model->context_count; i++)
        model->contexts[i] = hash2(model->contexts[i], known);
}

/*
 * Codes the number of a word by the contexts of model: one nibble if it is less than 15, else two
 * more, with the hash of what predicts it; and the word itself if it has none.
 */
MODEL_INLINE unsigned code_number(struct record_model *model, bool decode, enum mix mixing,
                                  const struct word_numbers *words, enum place place,
                                  unsigned select, uint32_t predictor, uint32_t *word)
{
    const unsigned number = decode ? 0 : word_numbers_find(words, *word);
    const unsigned nibble = code(model, decode, mixing, place, select, number < 15 ? number : 15);
    if (nibble < 15) {
        *word = words->words[nibble];
        return nibble;
    }
    refine_contexts(model, mixing, predictor, 1);
    const unsigned high =
        code(model, decode, mixing, place + 1, SELECT_RAW, (number - 15) >> 4 & 15);
    refine_contexts(model, mixing, predictor, high + 16);
    const unsigned low = code(model, decode, mixing, place + 2, SELECT_RAW, (number - 15) & 15);
    const unsigned coded = 15 + (high << 4 | low);
    if (coded < WORD_NUMBERS_MOST) {
        *word = words->words[coded];
        return coded;
    }
    *word = code_raw(model, decode, mixing, place + 3, 8, *word);
    return WORD_NUMBER_NONE;
}

/* Codes the kind of record i. */
MODEL_INLINE unsigned code_kind(struct record_model *model, bool decode, enum mix mixing,
                                struct record *record)
{
    const struct moment *m = &model->moment;
    const unsigned sure = trust(model->match.length) * 8 + trust(model->moved.length);
    const unsigned expected = model->match.length   ? model->kinds[model->match.at]
                              : model->moved.length ? model->kinds[model->moved.at]
                                                    : 256;
    first_context(model, hash2((uint32_t)m->kind[0] | expected << 8, sure));
    if (mixing)
        ADD_CONTEXTS(model, expected, m->kinds6, m->shapes3);
    if (mixing == MIX_MANY)
        ADD_CONTEXTS(model, expected, m->record_hash[0], m->two, m->shapes2,
                     hash2(m->kinds4, hash2(m->time[0], m->time[1])));
    uint32_t word = decode ? 0 : kind_word(record);
    const unsigned kind =
        code_number(model, decode, mixing, &model->kind_words, PLACE_KIND, SELECT_KIND + sure,
                    hash2(m->kinds4 & 0xffff, expected), &word);
    if (decode)
        set_kind(record, word);
    return kind;
}

/* What is known before the address of a record is. */
struct outlook {
    unsigned kind;
    bool matched, moved;       /* the followers expect this kind */
    unsigned sure;             /* of both, 6 bits */
    uint32_t guesses[GUESSES]; /* addresses */
    unsigned agreement;        /* which guesses are equal, 4 bits */
    uint32_t last, before;     /* addresses of this kind */
    uint32_t *follower;        /* the place of the guess TOKEN_FOLLOWER */
    unsigned token;
};

MODEL_INLINE void look_out(struct record_model *model, struct outlook *out, unsigned kind)
{
    const struct follower *match = &model->match;
    const struct follower *moved = &model->moved;
    out->kind = kind;
    out->matched = match->length > 0 && model->kinds[match->at] == kind;
    out->moved = moved->length > 0 && model->kinds[moved->at] == kind &&
                 model->ranks[moved->at] < model->page_count;
    out->sure =
        (out->matched ? trust(match->length) * 8 : 0) + (out->moved ? trust(moved->length) : 0);
    out->follower = &model->followers[table_index(model->moment.record_hash[0]) ^ (kind & 15)];
    out->last = model->last[kind];
    out->before = model->before[kind];
    uint32_t *guesses = out->guesses;
    guesses[TOKEN_FOLLOWER] = *out->follower;
    guesses[TOKEN_STRIDE] = 2 * out->last - out->before;
    guesses[TOKEN_MATCH] = out->matched ? model->past[match->at].address : guesses[TOKEN_FOLLOWER];
    guesses[TOKEN_MOVED] = out->moved ? model->pages[model->ranks[moved->at]] << PAGE_BITS |
                                            (model->past[moved->at].address & OFFSET)
                                      : guesses[TOKEN_FOLLOWER];
    out->agreement = (unsigned)(guesses[TOKEN_MATCH] == guesses[TOKEN_MOVED]) |
                     (unsigned)(guesses[TOKEN_MATCH] == guesses[TOKEN_FOLLOWER]) << 1 |
                     (unsigned)(guesses[TOKEN_MATCH] == guesses[TOKEN_STRIDE]) << 2 |
                     (unsigned)(guesses[TOKEN_MOVED] == guesses[TOKEN_FOLLOWER]) << 3;
}

/* The token of an address. */
static unsigned find_token(const struct record_model *model, const struct outlook *out,
                           uint32_t address)
{
    for (unsigned token = 0; token < GUESSES; token++)
        if (out->guesses[token] == address)
            return token;
    const uint32_t page = address >> PAGE_BITS;
    if (page == out->last >> PAGE_BITS)
        return TOKEN_SAME_PAGE;
    if (page == out->guesses[TOKEN_MATCH] >> PAGE_BITS)
        return TOKEN_MATCH_PAGE;
    if (page == out->guesses[TOKEN_MOVED] >> PAGE_BITS)
        return TOKEN_MOVED_PAGE;
    const unsigned rank = page_rank(model, page);
    return rank < TOKEN_PAGE - TOKEN_RECENT_PAGE ? TOKEN_RECENT_PAGE + rank : TOKEN_PAGE;
}

MODEL_INLINE unsigned code_token(struct record_model *model, bool decode, enum mix mixing,
                                 const struct outlook *out, uint32_t address)
{
    const struct moment *m = &model->moment;
    const unsigned kind = out->kind;
    const uint32_t tokens = model->tokens[kind];
    first_context(model, hash2(kind | out->agreement << 8, out->sure));
    if (mixing)
        ADD_CONTEXTS(model, kind | out->agreement << 8, m->shapes2, out->last, tokens);
    if (mixing == MIX_MANY)
        ADD_CONTEXTS(model, kind | out->agreement << 8, m->record_hash[0],
                     hash2(out->last >> PAGE_BITS, m->address[0] >> PAGE_BITS),
                     hash2(m->kinds4, out->sure), hash2(out->last, out->before));
    return code(model, decode, mixing, PLACE_TOKEN, SELECT_TOKEN + out->sure + out->agreement * 64,
                decode ? 0 : find_token(model, out, address));
}

MODEL_INLINE uint32_t code_page(struct record_model *model, bool decode, enum mix mixing,
                                const struct outlook *out, uint32_t page)
{
    const struct moment *m = &model->moment;
    const uint32_t last = out->last >> PAGE_BITS;
    const uint32_t page0 = m->address[0] >> PAGE_BITS;
    uint32_t known = 1;
    for (unsigned i = 0; i < 5; i++) {
        const uint32_t shared = hash2(known, out->kind);
        first_context(model, shared);
        if (mixing)
            ADD_CONTEXTS(model, shared, last);
        if (mixing == MIX_MANY)
            ADD_CONTEXTS(model, shared, m->record_hash[0], page0,
                         hash2(page0, m->address[1] >> PAGE_BITS), m->shapes2);
        known = known << 4 | code(model, decode, mixing, PLACE_PAGE + i, SELECT_PAGE + i,
                                  page >> (16 - 4 * i) & 15);
    }
    return known & 0xfffff;
}

MODEL_INLINE uint32_t code_offset(struct record_model *model, bool decode, enum mix mixing,
                                  const struct outlook *out, uint32_t page, uint32_t address)
{
    const struct moment *m = &model->moment;
    const uint32_t on_page = model->page_addresses[table_index(page)] & OFFSET;
    const uint32_t last = out->last & OFFSET;
    const uint32_t offsets[4] = {last, on_page, out->guesses[TOKEN_MATCH] & OFFSET,
                                 out->guesses[TOKEN_MOVED] & OFFSET};
    uint32_t known = 1;
    unsigned equal = 15; /* which of these are equal so far */
    for (unsigned shift = 8; shift < 12; shift -= 4) {
        const uint32_t next = (on_page >> shift & 15) | (last >> shift & 15) << 4;
        const uint32_t shared = hash2(known, out->kind);
        /* of the last nibble the first one says little, and fewer contexts learn sooner */
        const uint32_t before = shift == 0 ? known & 15 : known;
        first_context(model, hash2(before << 8 | next, out->kind));
        if (mixing) {
            /* whatever the others are: alignment */
            model->contexts[model->context_count++] = 1;
            ADD_CONTEXTS(model, shared, hash2(last, out->before & OFFSET), page,
                         hash2(page, on_page),
                         hash2(next | (equal & 3) << 8, out->guesses[TOKEN_STRIDE] >> shift & 15));
        }
        if (mixing == MIX_MANY)
            ADD_CONTEXTS(model, shared, m->shape_hash[0], hash2(page, m->record_hash[0]),
                         hash2(equal >> 2 | (offsets[2] >> shift & 15) << 2 |
                                   (offsets[3] >> shift & 15) << 6,
                               out->sure));
        const unsigned nibble =
            code(model, decode, mixing, PLACE_OFFSET + shift / 4,
                 SELECT_OFFSET + (out->token * 16 + equal) * 3 + shift / 4, address >> shift & 15);
        known = known << 4 | nibble;
        for (unsigned i = 0; i < 4; i++)
            if ((offsets[i] >> shift & 15) != nibble)
                equal &= ~(1u << i);
    }
    return known & OFFSET;
}

MODEL_INLINE uint32_t code_address(struct record_model *model, bool decode, enum mix mixing,
                                   struct outlook *out, uint32_t address)
{
    const unsigned token = code_token(model, decode, mixing, out, address);
    out->token = token;
    if (token < GUESSES)
        return out->guesses[token];
    uint32_t page;
    if (token == TOKEN_PAGE)
        page = code_page(model, decode, mixing, out, address >> PAGE_BITS);
    else
        page = token == TOKEN_SAME_PAGE    ? out->last >> PAGE_BITS
               : token == TOKEN_MATCH_PAGE ? out->guesses[TOKEN_MATCH] >> PAGE_BITS
               : token == TOKEN_MOVED_PAGE ? out->guesses[TOKEN_MOVED] >> PAGE_BITS
                                           : model->pages[token - TOKEN_RECENT_PAGE];
    return page << PAGE_BITS | code_offset(model, decode, mixing, out, page, address);
}

/* The highest bit in which two addresses differ; 32: none. */
static inline unsigned distance(uint32_t a, uint32_t b)
{
    return a == b ? 32 : 31 - (unsigned)__builtin_clz(a ^ b);
}

MODEL_INLINE uint32_t code_time(struct record_model *model, bool decode, enum mix mixing,
                                const struct outlook *out, uint32_t address, uint32_t time)
{
    const struct moment *m = &model->moment;
    const struct record *past = model->past;
    const uint32_t expected = out->matched ? past[model->match.at].time
                              : out->moved ? past[model->moved.at].time
                                           : 256;
    const unsigned kind = out->kind;
    const bool matched = model->match.length > 0 && past[model->match.at].address == address;
    const bool moved =
        model->moved.length > 0 && ((past[model->moved.at].address ^ address) & OFFSET) == 0;
    const unsigned sure =
        (matched ? trust(model->match.length) * 8 : 0) + (moved ? trust(model->moved.length) : 0);
    const uint32_t base = hash2(
        kind | (uint32_t)m->kind[0] << 8 | (uint32_t)trust(model->match.length) << 16, expected);
    const uint32_t here = hash2(address, kind);
    const uint32_t shape = hash2(address & OFFSET, kind);
    const unsigned far = distance(address, m->address[0]);
    const uint32_t kinds2 = m->kinds4 & 0xffff;
    first_context(model, base);
    if (mixing)
        ADD_CONTEXTS(model, kind, hash2(kinds2, m->time[0] << 8 | far),
                     hash2(m->time[0], m->time[1]), hash2(shape, m->shape_hash[0]),
                     hash2(out->token, kinds2 | (uint32_t)m->token[0] << 16));
    if (mixing == MIX_MANY)
        ADD_CONTEXTS(model, kind, hash2(here, m->record_hash[0]), hash2(far, m->kind[0]), here,
                     hash2(m->time[0], hash2(m->time[1], m->time[2])),
                     hash2(address & OFFSET, m->time[0]));
    code_number(model, decode, mixing, &model->time_words, PLACE_TIME, SELECT_TIME + sure,
                hash2(kind, expected), &time);
    return time;
}

/* Fetches into the cache what the next record looks up. */
static inline void prefetch_next(const struct record_model *model, uint32_t address, unsigned kind)
{
    const struct moment *m = &model->moment;
    const uint32_t hash = hash2(address, kind);
    const uint32_t shape = hash2(address & OFFSET, kind);
    const uint32_t three = hash2(hash2(hash, m->record_hash[0]), m->record_hash[1]);
    const uint32_t shapes3 =
        hash2(hash2(shape, m->shape_hash[0]), hash2(m->shape_hash[1], m->shape_hash[2]));
    __builtin_prefetch(&model->followers[table_index(hash)]);
    __builtin_prefetch(&model->matches[table_index(three)]);
    __builtin_prefetch(&model->moves[table_index(shapes3)]);
}

/* Codes record i; decoding writes it. */
MODEL_INLINE void code_record(struct record_model *model, bool decode, enum mix mixing,
                              struct record *record, size_t i)
{
    const struct moment *m = &model->moment;
    if (i > 0) {
        follow(model, &model->match, model->matches, m->three, i, UINT32_MAX, 1);
        follow(model, &model->moved, model->moves, m->shapes3, i, OFFSET, 2);
    }
    struct outlook out;
    const unsigned kind = code_kind(model, decode, mixing, record);
    look_out(model, &out, kind);
    const uint32_t address =
        code_address(model, decode, mixing, &out, decode ? 0 : record->address);
    prefetch_next(model, address, kind);
    const uint32_t time =
        code_time(model, decode, mixing, &out, address, decode ? 0 : record->time);
    if (decode) {
        record->address = address;
        record->time = time;
    }
    const uint32_t page = address >> PAGE_BITS;
    const unsigned rank = page_rank(model, page);
    touch_page(model, page, rank);
    model->kinds[i] = (uint8_t)kind;
    model->ranks[i] = (uint8_t)rank;
    *out.follower = address;
    model->page_addresses[table_index(page)] = address;
    model->before[kind] = out.last;
    model->last[kind] = address;
    model->tokens[kind] = model->tokens[kind] << 4 | out.token;
    advance(&model->moment, mixing, record, kind, out.token);
}

/* Loops for each use: the compiler removes from each what the others need. */
static void encode_records(struct record_model *model, enum mix mixing,
                           const struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct record record = records[i];
        if (mixing == MIX_NONE)
            code_record(model, false, MIX_NONE, &record, i);
        else if (mixing == MIX_FEW)
            code_record(model, false, MIX_FEW, &record, i);
        else
            code_record(model, false, MIX_MANY, &record, i);
    }
}

static void decode_nibbles(struct record_model *model, struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        code_record(model, true, MIX_NONE, &records[i], i);
}

static void decode_few(struct record_model *model, struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        code_record(model, true, MIX_FEW, &records[i], i);
}

static void decode_many(struct record_model *model, struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        code_record(model, true, MIX_MANY, &records[i], i);
}

/* How a method codes. */
static enum mix method_mix(unsigned method)
{
    return method == RECORD_MODEL_FEW ? MIX_FEW : method == RECORD_MODEL_MANY ? MIX_MANY : MIX_NONE;
}

struct record_model *record_model_new(size_t most)
{
    struct record_model *model = aligned_alloc(64, sizeof *model);
    if (!model)
        return NULL;
    memset(model, 0, sizeof *model);
    model->kinds = malloc(most + 1);
    model->ranks = malloc(most + 1);
    model->intervals = malloc(NIBBLE_CHUNK * sizeof *model->intervals);
    model->nibbles = aligned_alloc(64, sizeof *model->nibbles << MODEL_BITS);
    if (!model->kinds || !model->ranks || !model->intervals || !model->nibbles) {
        record_model_free(model);
        return NULL;
    }
    return model;
}

void record_model_free(struct record_model *model)
{
    if (!model)
        return;
    context_mixer_free(model->mixer);
    free(model->nibbles);
    free(model->intervals);
    free(model->ranks);
    free(model->kinds);
    free(model);
}

size_t record_model_memory(enum record_model_method method, size_t most)
{
    return sizeof(struct record_model) + 2 * (most + 1) + NIBBLE_CHUNK * sizeof(uint32_t) +
           (sizeof(struct nibble_model) << MODEL_BITS) +
           (method_mix(method) != MIX_NONE ? CONTEXT_MIXER_BYTES : 0);
}

/* Forgets all records. Returns 0, or BT_MEMORY. */
static int begin(struct record_model *model, enum mix mixing, const struct record *past,
                 struct bt_error *error)
{
    if (mixing && !model->mixer)
        model->mixer = context_mixer_new();
    if (mixing && !model->mixer)
        return bt_fail(error, BT_MEMORY, "no memory for the model of records");
    if (!mixing)
        nibble_models_clear(model->nibbles, (size_t)1 << MODEL_BITS);
    model->past = past;
    memset(&model->moment, 0, sizeof model->moment);
    model->match = model->moved = (struct follower){0};
    memset(model->matches, 0, sizeof model->matches);
    memset(model->moves, 0, sizeof model->moves);
    memset(model->followers, 0, sizeof model->followers);
    memset(model->page_addresses, 0, sizeof model->page_addresses);
    memset(model->last, 0, sizeof model->last);
    memset(model->before, 0, sizeof model->before);
    memset(model->tokens, 0, sizeof model->tokens);
    model->page_count = 0;
    return 0;
}

size_t record_model_bound(size_t count)
{
    return 1 + RECORD_BYTES * count;
}

static void number_words(struct record_model *model, const struct record *records, size_t count)
{
    word_numbers_clear(&model->kind_words);
    word_numbers_clear(&model->time_words);
    for (size_t i = 0; i < count; i++) {
        word_numbers_count(&model->kind_words, kind_word(&records[i]));
        word_numbers_count(&model->time_words, records[i].time);
    }
    word_numbers_assign(&model->kind_words);
    word_numbers_assign(&model->time_words);
}

/* The mixer's memory is for so many values: the table is smaller where fewer contexts use it. */
static size_t mixed_values(enum mix mixing, size_t count)
{
    return mixing == MIX_MANY ? 32 * count : 16 * count;
}

/* Codes the records with room for capacity bytes. Returns the end of the content, NULL if it does
 * not fit. */
static uint8_t *encode(struct record_model *model, enum record_model_method method,
                       const struct record *records, size_t count, uint8_t *out, size_t capacity)
{
    const enum mix mixing = method_mix(method);
    uint8_t words[2 * WORD_NUMBERS_BYTES];
    number_words(model, records, count);
    size_t size = word_numbers_put(&model->kind_words, words);
    size += word_numbers_put(&model->time_words, words + size);
    if (capacity < 1 + size)
        return NULL;
    out[0] = (uint8_t)method;
    memcpy(out + 1, words, size);
    uint8_t *at = out + 1 + size;
    const size_t room = capacity - 1 - size;
    if (mixing) {
        context_mixer_encode_begin(model->mixer, mixed_values(mixing, count), at, room);
        encode_records(model, mixing, records, count);
        return context_mixer_encode_end(model->mixer);
    }
    nibble_encode_begin(&model->coder, model->intervals, at, room);
    encode_records(model, mixing, records, count);
    return nibble_encode_end(&model->coder);
}

int record_model_encode(struct record_model *model, enum record_model_method method,
                        const struct record *records, size_t count, uint8_t *out, size_t *size,
                        struct bt_error *error)
{
    int status = begin(model, method_mix(method), records, error);
    if (status < 0)
        return status;
    uint8_t *end = NULL;
    if (method != RECORD_MODEL_STORED)
        end = encode(model, method, records, count, out, record_model_bound(count));
    if (!end) {
        out[0] = RECORD_MODEL_STORED;
        records_put(out + 1, records, count);
        end = out + record_model_bound(count);
    }
    *size = (size_t)(end - out);
    return 0;
}

static int fail_corrupt(struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "the coded records are corrupt");
}

int record_model_decode(struct record_model *model, const uint8_t *bytes, size_t size,
                        struct record *records, size_t count, struct bt_error *error)
{
    if (size > 0 && bytes[0] == RECORD_MODEL_STORED && size == record_model_bound(count)) {
        records_get(records, bytes + 1, count);
        return 0;
    }
    if (size == 0 || bytes[0] < RECORD_MODEL_NIBBLES || bytes[0] > RECORD_MODEL_FEW)
        return fail_corrupt(error);
    const enum mix mixing = method_mix(bytes[0]);
    const size_t kinds = word_numbers_get(&model->kind_words, bytes + 1, size - 1);
    const size_t times =
        kinds == 0 ? 0 : word_numbers_get(&model->time_words, bytes + 1 + kinds, size - 1 - kinds);
    if (times == 0)
        return fail_corrupt(error);
    int status = begin(model, mixing, records, error);
    if (status < 0)
        return status;
    const uint8_t *at = bytes + 1 + kinds + times;
    const size_t rest = size - 1 - kinds - times;
    bool good;
    if (mixing) {
        context_mixer_decode_begin(model->mixer, mixed_values(mixing, count), at, rest);
        if (mixing == MIX_FEW)
            decode_few(model, records, count);
        else
            decode_many(model, records, count);
        good = context_mixer_decode_end(model->mixer);
    } else {
        nibble_decode_begin(&model->coder, at, rest);
        decode_nibbles(model, records, count);
        good = nibble_decode_end(&model->coder);
    }
    return good ? 0 : fail_corrupt(error);
}
