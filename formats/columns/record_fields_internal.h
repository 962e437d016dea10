/*
 * How the fields of a record are coded, nibble by nibble, each in contexts of what is known before:
 * doc/archive-codec.md. The functions are here because they are parts of the loop of
 * record_model.c, which is specialized for each method.
 */
#ifndef FORMATS_COLUMNS_RECORD_FIELDS_INTERNAL_H
#define FORMATS_COLUMNS_RECORD_FIELDS_INTERNAL_H

#include "formats/columns/context_mixer.h"
#include "formats/columns/match_history_internal.h"
#include "formats/columns/nibble_coder.h"
#include "formats/columns/word_numbers.h"

#define MODEL_BITS 15u /* of nibble models */

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

/* Sets of weights, by the confidence in the predictions. */
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

struct record_model {
    struct nibble_models nibbles;
    struct context_mixer *mixer;
    struct nibble_coder coder;
    uint32_t *intervals;
    struct word_numbers kind_words, time_words;
    uint32_t contexts[CONTEXT_MIXER_CONTEXTS];
    unsigned context_count;
    struct match_history history;
};

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

/* Codes a nibble by the contexts of model: returns value, or the decoded one. */
HISTORY_INLINE unsigned code(struct record_model *model, bool decode, enum mix mixing,
                             unsigned place, unsigned select, unsigned value)
{
    if (mixing) {
        if (decode)
            return context_mixer_decode(model->mixer, model->contexts, model->context_count, place,
                                        select);
        context_mixer_encode(model->mixer, model->contexts, model->context_count, place, select,
                             value);
        return value;
    }
    const uint32_t number = hash2(model->contexts[0], place) >> (32 - MODEL_BITS);
    if (decode)
        return nibble_decode(&model->coder, &model->nibbles, number);
    nibble_encode(&model->coder, &model->nibbles, number, value);
    return value;
}

/* Begins the contexts of a nibble. The first is the only one of RECORD_MODEL_NIBBLES. */
HISTORY_INLINE void first_context(struct record_model *model, uint32_t context)
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
HISTORY_INLINE uint32_t code_raw(struct record_model *model, bool decode, enum mix mixing,
                                 unsigned place, unsigned nibbles, uint32_t value)
{
    uint32_t coded = 0;
    for (unsigned i = nibbles; i-- > 0;) {
        first_context(model, i == nibbles - 1 ? i : i | coded << 4);
        coded = coded << 4 | code(model, decode, mixing, place, SELECT_RAW, value >> 4 * i & 15);
    }
    return coded;
}

/* Confidence in a match of this length, in 3 bits. */
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

/* Turns the contexts of a nibble into those of the next nibble of the same number. The only one of
 * RECORD_MODEL_NIBBLES is less specific there: such numbers are rare. */
HISTORY_INLINE void refine_contexts(struct record_model *model, enum mix mixing, uint32_t predictor,
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
HISTORY_INLINE unsigned code_number(struct record_model *model, bool decode, enum mix mixing,
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
HISTORY_INLINE unsigned code_kind(struct record_model *model, bool decode, enum mix mixing,
                                  struct record *record)
{
    const struct match_history *history = &model->history;
    const struct moment *m = &history->moment;
    const unsigned sure = trust(history->match.length) * 8 + trust(history->moved.length);
    const unsigned expected = history->match.length   ? history->kinds[history->match.at]
                              : history->moved.length ? history->kinds[history->moved.at]
                                                      : 256;
    first_context(model, hash2((uint32_t)m->kind[0] | expected << 8, sure));
    if (mixing)
        ADD_CONTEXTS(model, expected, m->kinds6, m->hashes.shapes4);
    if (mixing == MIX_MANY)
        ADD_CONTEXTS(model, expected, m->hashes.record, m->hashes.two, m->hashes.shapes2,
                     hash2(m->kinds4, hash2(m->time[0], m->time[1])));
    uint32_t word = decode ? 0 : kind_word(record);
    const unsigned kind =
        code_number(model, decode, mixing, &model->kind_words, PLACE_KIND, SELECT_KIND + sure,
                    hash2(m->kinds4 & 0xffff, expected), &word);
    if (decode)
        set_kind(record, word);
    return kind;
}

/* What predicts the address of a record whose kind is known. */
struct prediction {
    unsigned kind;
    bool matched, moved;       /* the followers expect this kind */
    unsigned sure;             /* of both, 6 bits */
    uint32_t guesses[GUESSES]; /* predicted addresses, by token */
    unsigned agreement;        /* which predictions are equal, 4 bits */
    uint32_t last, before;     /* addresses of this kind */
    uint32_t *follower;        /* the place of the prediction TOKEN_FOLLOWER */
    unsigned token;
};

HISTORY_INLINE void predict(struct record_model *model, struct prediction *out, unsigned kind)
{
    struct match_history *history = &model->history;
    const struct follower *match = &history->match;
    const struct follower *moved = &history->moved;
    out->kind = kind;
    out->matched = match->length > 0 && history->kinds[match->at] == kind;
    out->moved = moved->length > 0 && history->kinds[moved->at] == kind &&
                 history->ranks[moved->at] < history->page_count;
    out->sure =
        (out->matched ? trust(match->length) * 8 : 0) + (out->moved ? trust(moved->length) : 0);
    out->follower = &history->followers[table_index(history->moment.hashes.record) ^ (kind & 15)];
    out->last = history->last[kind];
    out->before = history->before[kind];
    uint32_t *guesses = out->guesses;
    guesses[TOKEN_FOLLOWER] = *out->follower;
    guesses[TOKEN_STRIDE] = 2 * out->last - out->before;
    guesses[TOKEN_MATCH] =
        out->matched ? history->past[match->at].address : guesses[TOKEN_FOLLOWER];
    guesses[TOKEN_MOVED] = out->moved ? history->pages[history->ranks[moved->at]] << PAGE_BITS |
                                            (history->past[moved->at].address & OFFSET)
                                      : guesses[TOKEN_FOLLOWER];
    out->agreement = (unsigned)(guesses[TOKEN_MATCH] == guesses[TOKEN_MOVED]) |
                     (unsigned)(guesses[TOKEN_MATCH] == guesses[TOKEN_FOLLOWER]) << 1 |
                     (unsigned)(guesses[TOKEN_MATCH] == guesses[TOKEN_STRIDE]) << 2 |
                     (unsigned)(guesses[TOKEN_MOVED] == guesses[TOKEN_FOLLOWER]) << 3;
}

/* The token of an address. */
static unsigned find_token(const struct match_history *history, const struct prediction *out,
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
    const unsigned rank = page_rank(history, page);
    return rank < TOKEN_PAGE - TOKEN_RECENT_PAGE ? TOKEN_RECENT_PAGE + rank : TOKEN_PAGE;
}

HISTORY_INLINE unsigned code_token(struct record_model *model, bool decode, enum mix mixing,
                                   const struct prediction *out, uint32_t address)
{
    const struct match_history *history = &model->history;
    const struct moment *m = &history->moment;
    const unsigned kind = out->kind;
    const uint32_t tokens = history->tokens[kind];
    first_context(model, hash2(kind | out->agreement << 8, out->sure));
    if (mixing)
        ADD_CONTEXTS(model, kind | out->agreement << 8, m->hashes.shapes2, out->last, tokens);
    if (mixing == MIX_MANY)
        ADD_CONTEXTS(model, kind | out->agreement << 8, m->hashes.record,
                     hash2(out->last >> PAGE_BITS, m->address[0] >> PAGE_BITS),
                     hash2(m->kinds4, out->sure), hash2(out->last, out->before));
    return code(model, decode, mixing, PLACE_TOKEN, SELECT_TOKEN + out->sure + out->agreement * 64,
                decode ? 0 : find_token(history, out, address));
}

HISTORY_INLINE uint32_t code_page(struct record_model *model, bool decode, enum mix mixing,
                                  const struct prediction *out, uint32_t page)
{
    const struct match_history *history = &model->history;
    const struct moment *m = &history->moment;
    const uint32_t last = out->last >> PAGE_BITS;
    const uint32_t page0 = m->address[0] >> PAGE_BITS;
    uint32_t known = 1;
    for (unsigned i = 0; i < 5; i++) {
        const uint32_t shared = hash2(known, out->kind);
        first_context(model, shared);
        if (mixing)
            ADD_CONTEXTS(model, shared, last);
        if (mixing == MIX_MANY)
            ADD_CONTEXTS(model, shared, m->hashes.record, page0,
                         hash2(page0, m->address[1] >> PAGE_BITS), m->hashes.shapes2);
        known = known << 4 | code(model, decode, mixing, PLACE_PAGE + i, SELECT_PAGE + i,
                                  page >> (16 - 4 * i) & 15);
    }
    return known & 0xfffff;
}

HISTORY_INLINE uint32_t code_offset(struct record_model *model, bool decode, enum mix mixing,
                                    const struct prediction *out, uint32_t page, uint32_t address)
{
    const struct match_history *history = &model->history;
    const struct moment *m = &history->moment;
    const uint32_t on_page = history->page_addresses[table_index(page)] & OFFSET;
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
            ADD_CONTEXTS(model, shared, m->hashes.shape, hash2(page, m->hashes.record),
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

HISTORY_INLINE uint32_t code_address(struct record_model *model, bool decode, enum mix mixing,
                                     struct prediction *out, uint32_t address)
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
                                           : model->history.pages[token - TOKEN_RECENT_PAGE];
    return page << PAGE_BITS | code_offset(model, decode, mixing, out, page, address);
}

/* The highest bit in which two addresses differ; 32: none. */
static inline unsigned distance(uint32_t a, uint32_t b)
{
    return a == b ? 32 : 31 - (unsigned)__builtin_clz(a ^ b);
}

HISTORY_INLINE uint32_t code_time(struct record_model *model, bool decode, enum mix mixing,
                                  const struct prediction *out, uint32_t address, uint32_t time)
{
    const struct match_history *history = &model->history;
    const struct moment *m = &history->moment;
    const struct record *past = history->past;
    const uint32_t expected = out->matched ? past[history->match.at].time
                              : out->moved ? past[history->moved.at].time
                                           : 256;
    const unsigned kind = out->kind;
    const bool matched = history->match.length > 0 && past[history->match.at].address == address;
    const bool moved =
        history->moved.length > 0 && ((past[history->moved.at].address ^ address) & OFFSET) == 0;
    const unsigned sure = (matched ? trust(history->match.length) * 8 : 0) +
                          (moved ? trust(history->moved.length) : 0);
    const uint32_t base = hash2(
        kind | (uint32_t)m->kind[0] << 8 | (uint32_t)trust(history->match.length) << 16, expected);
    const uint32_t here = hash2(address, kind);
    const uint32_t shape = hash2(address & OFFSET, kind);
    const unsigned far = distance(address, m->address[0]);
    const uint32_t kinds2 = m->kinds4 & 0xffff;
    first_context(model, base);
    if (mixing)
        ADD_CONTEXTS(model, kind, hash2(kinds2, m->time[0] << 8 | far),
                     hash2(m->time[0], m->time[1]), hash2(shape, m->hashes.shape),
                     hash2(out->token, kinds2 | (uint32_t)m->token[0] << 16));
    if (mixing == MIX_MANY)
        ADD_CONTEXTS(model, kind, hash2(here, m->hashes.record), hash2(far, m->kind[0]), here,
                     hash2(m->time[0], hash2(m->time[1], m->time[2])),
                     hash2(address & OFFSET, m->time[0]));
    code_number(model, decode, mixing, &model->time_words, PLACE_TIME, SELECT_TIME + sure,
                hash2(kind, expected), &time);
    return time;
}

/* Codes record i; decoding writes it. */
HISTORY_INLINE void code_record(struct record_model *model, bool decode, enum mix mixing,
                                struct record *record, size_t i)
{
    struct match_history *history = &model->history;
    const struct moment *m = &history->moment;
    if (i > 0) {
        follow(history, &history->match, history->matches, m->hashes.three, i, UINT32_MAX, 1);
        follow(history, &history->moved, history->moves, m->hashes.shapes4, i, OFFSET, 2);
    }
    struct prediction out;
    const unsigned kind = code_kind(model, decode, mixing, record);
    predict(model, &out, kind);
    const uint32_t address =
        code_address(model, decode, mixing, &out, decode ? 0 : record->address);
    const struct history_hashes next = next_hashes(history, address, kind);
    const uint32_t time =
        code_time(model, decode, mixing, &out, address, decode ? 0 : record->time);
    if (decode) {
        record->address = address;
        record->time = time;
    }
    const uint32_t page = address >> PAGE_BITS;
    history->kinds[i] = (uint8_t)kind;
    history->ranks[i] = (uint8_t)touch_page(history, page);
    *out.follower = address;
    history->page_addresses[table_index(page)] = address;
    history->before[kind] = out.last;
    history->last[kind] = address;
    if (mixing)
        history->tokens[kind] = history->tokens[kind] << 4 | out.token;
    advance(&history->moment, mixing != MIX_NONE, &next, record, kind, out.token);
}

#endif
