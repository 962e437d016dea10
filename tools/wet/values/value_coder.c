#include "tools/wet/values/value_coder.h"

#include "tools/wet/values/value_machine.h"

#define CONTEXT_BITS 16u /* of the table of what followed the last values */
#define WIDE_BITS    12u /* of the table of the last values of more than eight bytes */
#define LITERAL      4u  /* symbols: from here the value, plus its bytes */
#define DIFFERENCE   13u /* from here a difference */

enum value_stream { STREAM_RUNS, STREAM_SYMBOLS, STREAM_BYTES };

struct value_coder {
    struct value_machine machine;
    struct value_thread **threads; /* VALUE_THREADS, */
    uint32_t thread_count;         /* of which those from here on are NULL */
    uint64_t *by_context;
    uint64_t (*wide)[8];
    uint64_t run; /* right guesses in a row so far, or still to come */
    bool has_run; /* reading: the run has been read */
    struct wet_bytes *to;
    struct wet_cursor *from;
};

/* --- threads -----------------------------------------------------------------------------------
 */

static struct value_thread *find_thread(struct value_coder *coder, uint32_t number)
{
    if (!coder->threads[number]) {
        struct value_thread *thread = calloc(1, sizeof *thread);
        if (!thread)
            return NULL;
        thread->flag_width = 8;
        thread->space = (uint64_t)(number + 1) << 47;
        coder->threads[number] = thread;
        if (coder->thread_count <= number)
            coder->thread_count = number + 1;
    }
    return coder->threads[number];
}

int value_coder_switch(struct value_coder *coder, uint32_t thread)
{
    if (thread >= VALUE_THREADS)
        return BT_DATA;
    struct value_thread *found = find_thread(coder, thread);
    if (!found)
        return BT_MEMORY;
    coder->machine.thread = found;
    return 0;
}

int value_coder_fork(struct value_coder *coder, uint32_t thread, uint32_t parent)
{
    if (thread >= VALUE_THREADS || parent >= VALUE_THREADS)
        return BT_DATA;
    struct value_thread *child = find_thread(coder, thread);
    const struct value_thread *from = find_thread(coder, parent);
    if (!child || !from)
        return BT_MEMORY;
    const uint64_t space = child->space;
    *child = *from;
    child->space = space;
    return 0;
}

struct value_coder *value_coder_new(struct bt_error *error)
{
    struct value_coder *coder = calloc(1, sizeof *coder);
    if (!coder || value_memory_init(&coder->machine.memory) != 0 ||
        !(coder->threads = calloc(VALUE_THREADS, sizeof *coder->threads)) ||
        !(coder->by_context = calloc((size_t)1 << CONTEXT_BITS, sizeof *coder->by_context)) ||
        !(coder->wide = calloc((size_t)1 << WIDE_BITS, sizeof *coder->wide)) ||
        value_coder_switch(coder, 0) != 0) {
        value_coder_free(coder);
        bt_fail(error, BT_MEMORY, "no memory for the values of a WET file");
        return NULL;
    }
    return coder;
}

void value_coder_free(struct value_coder *coder)
{
    if (!coder)
        return;
    for (uint32_t i = 0; i < coder->thread_count; i++)
        free(coder->threads[i]);
    free(coder->threads);
    free(coder->by_context);
    free(coder->wide);
    value_memory_clear(&coder->machine.memory);
    free(coder);
}

/* --- predictors --------------------------------------------------------------------------------
 */

static uint64_t *context_slot(const struct value_coder *coder, const struct value_rule *rule)
{
    const uint64_t mixed = (rule->context ^ rule->salt) * UINT64_C(0x9e3779b97f4a7c15);
    return &coder->by_context[mixed >> (64 - CONTEXT_BITS)];
}

/* What a predictor other than the machine says. */
static uint64_t predict(const struct value_coder *coder, const struct value_rule *rule,
                        unsigned predictor)
{
    switch (predictor) {
    case VALUE_BY_LAST:
        return rule->last;
    case VALUE_BY_STRIDE:
        return rule->last + rule->stride;
    default:
        return *context_slot(coder, rule);
    }
}

static inline void learn(struct value_coder *coder, struct value_rule *rule, uint64_t value)
{
    if (rule->choice != VALUE_BY_MACHINE) {
        *context_slot(coder, rule) = value;
        rule->context = (rule->context << 11 | rule->context >> 21) ^
                        (uint32_t)(value * UINT64_C(0xc2b2ae3d27d4eb4f) >> 32);
    }
    rule->stride = value - rule->last;
    rule->last = value;
}

/* After a guess of `choice` was wrong, and that of `right` (VALUE_PREDICTORS: none) was not. */
static void choose(struct value_rule *rule, unsigned right)
{
    if (right == VALUE_PREDICTORS)
        return;
    if (rule->candidate == right)
        rule->choice = (uint8_t)right;
    rule->candidate = (uint8_t)right;
}

/* --- writing -----------------------------------------------------------------------------------
 */

void value_coder_write_to(struct value_coder *coder, struct wet_bytes *streams)
{
    coder->to = streams;
    coder->run = 0;
}

static void put_byte(struct wet_bytes *to, uint8_t byte)
{
    if (to->size == to->capacity) {
        uint8_t *larger = grow_array(to->bytes, &to->capacity, to->size + 1, 1);
        if (!larger) {
            to->out_of_memory = true;
            return;
        }
        to->bytes = larger;
    }
    to->bytes[to->size++] = byte;
}

static unsigned bytes_of(uint64_t value)
{
    return value ? (71u - (unsigned)__builtin_clzll(value)) / 8u : 0;
}

/* A value as it is, or, where that is shorter, as a difference. */
static void put_literal(struct value_coder *coder, uint64_t value, uint64_t base, unsigned size)
{
    const unsigned bits = 64 - 8 * size;
    const uint64_t signed_difference = (uint64_t)((int64_t)((value - base) << bits) >> bits);
    uint64_t number = value;
    unsigned length = bytes_of(value), symbol = LITERAL + length;
    const uint64_t difference = wet_zigzag(signed_difference);
    if (bytes_of(difference) < length) {
        number = difference;
        length = bytes_of(difference);
        symbol = DIFFERENCE + length;
    }
    put_byte(&coder->to[STREAM_SYMBOLS], (uint8_t)symbol);
    for (unsigned i = 0; i < length; i++)
        put_byte(&coder->to[STREAM_BYTES], (uint8_t)(number >> 8 * i));
}

static int written(const struct value_coder *coder)
{
    for (unsigned i = 0; i < VALUE_STREAMS; i++)
        if (coder->to[i].out_of_memory)
            return BT_MEMORY;
    return 0;
}

static int put_wrong(struct value_coder *coder, struct value_rule *rule, uint64_t value,
                     uint64_t guess)
{
    unsigned right = 0;
    wet_bytes_put(&coder->to[STREAM_RUNS], coder->run);
    coder->run = 0;
    for (; right < VALUE_PREDICTORS; right++)
        if (right != rule->choice &&
            value_cut(right == VALUE_BY_MACHINE ? guess : predict(coder, rule, right),
                      rule->size) == value)
            break;
    if (right < VALUE_PREDICTORS)
        put_byte(&coder->to[STREAM_SYMBOLS], (uint8_t)right);
    else
        put_literal(coder, value, rule->last, rule->size);
    choose(rule, right);
    return written(coder);
}

static inline bool is_same(const uint64_t *a, const uint64_t *b, unsigned size)
{
    return size == 16 ? ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0 : memcmp(a, b, size) == 0;
}

/* After a wrong guess. */
static void put_wide_wrong(struct value_coder *coder, struct value_rule *rule,
                           const uint64_t value[8], const uint64_t last[8], bool machine_is_right)
{
    wet_bytes_put(&coder->to[STREAM_RUNS], coder->run);
    coder->run = 0;
    if (is_same(last, value, rule->size)) {
        put_byte(&coder->to[STREAM_SYMBOLS], VALUE_BY_LAST);
        choose(rule, VALUE_BY_LAST);
    } else if (machine_is_right) {
        put_byte(&coder->to[STREAM_SYMBOLS], VALUE_BY_MACHINE);
        choose(rule, VALUE_BY_MACHINE);
    } else {
        put_byte(&coder->to[STREAM_SYMBOLS], LITERAL);
        for (unsigned i = 0; i < (rule->size + 7u) / 8u; i++)
            put_literal(coder, value[i], last[i], 8);
    }
}

static __attribute__((noinline)) int put_wide(struct value_coder *coder, struct value_rule *rule,
                                              const uint8_t *bytes)
{
    uint64_t value[8] = {0};
    uint64_t *last = coder->wide[rule->salt >> (32 - WIDE_BITS)];
    const bool is_by_machine = rule->choice == VALUE_BY_MACHINE;
    memcpy(value, bytes, rule->size);
    const bool is_right =
        rule->operation >= VALUE_VECTOR && is_same(coder->machine.words, value, rule->size);
    if (is_by_machine ? is_right : is_same(last, value, rule->size))
        coder->run++;
    else
        put_wide_wrong(coder, rule, value, last, is_right);
    if (!is_by_machine || !is_right)
        memcpy(last, value, sizeof value);
    value_machine_settle_wide(&coder->machine, rule, value, is_right);
    return 0;
}

/* What is not guessed by the machine, or wrong. */
static __attribute__((noinline)) int put_other(struct value_coder *coder, struct value_rule *rule,
                                               uint64_t value, uint64_t guess)
{
    int result = 0;
    if (rule->choice != VALUE_BY_MACHINE &&
        value_cut(predict(coder, rule, rule->choice), rule->size) == value)
        coder->run++;
    else
        result = put_wrong(coder, rule, value, guess);
    if (guess != value)
        value_machine_learn(&coder->machine, rule, value);
    learn(coder, rule, value);
    value_machine_settle(&coder->machine, rule, value);
    return result;
}

int value_coder_put(struct value_coder *coder, struct value_rule *rule, bool defines,
                    const uint8_t *bytes)
{
    uint64_t value;
    if (!defines && rule->size != 0)
        return 0;
    const uint64_t guess = value_machine_guess(&coder->machine, rule);
    if (rule->size == 0)
        return 0;
    if (rule->size > 8)
        return put_wide(coder, rule, bytes);
    memcpy(&value, bytes, 8);
    value = value << rule->cut >> rule->cut;
    if (rule->choice == VALUE_BY_MACHINE && (guess ^ value) << rule->cut == 0) {
        coder->run++;
        value_machine_settle(&coder->machine, rule, value);
        return 0;
    }
    return put_other(coder, rule, value, value_cut(guess, rule->size));
}

int value_coder_finish(struct value_coder *coder)
{
    if (coder->run != 0)
        wet_bytes_put(&coder->to[STREAM_RUNS], coder->run);
    coder->run = 0;
    return written(coder);
}

/* --- reading -----------------------------------------------------------------------------------
 */

void value_coder_read_from(struct value_coder *coder, struct wet_cursor *streams)
{
    coder->from = streams;
    coder->run = 0;
    coder->has_run = false;
}

/* Whether the next guess is right: 1 or 0, or BT_DATA. */
static inline int next_is_right(struct value_coder *coder)
{
    if (coder->run == 0) {
        if (!coder->has_run) {
            coder->run = wet_cursor_get(&coder->from[STREAM_RUNS]);
            if (coder->from[STREAM_RUNS].failed)
                return BT_DATA;
            coder->has_run = true;
        }
        if (coder->run == 0) {
            coder->has_run = false;
            return 0;
        }
    }
    coder->run--;
    return 1;
}

static int get_byte(struct wet_cursor *from)
{
    return from->at < from->end ? *from->at++ : BT_DATA;
}

static int get_literal(struct value_coder *coder, int symbol, uint64_t base, unsigned size,
                       uint64_t *value)
{
    const bool is_difference = symbol >= (int)DIFFERENCE;
    const unsigned length = (unsigned)symbol - (is_difference ? DIFFERENCE : LITERAL);
    struct wet_cursor *from = &coder->from[STREAM_BYTES];
    if (symbol < (int)LITERAL || length > size || (size_t)(from->end - from->at) < length)
        return BT_DATA;
    *value = 0;
    for (unsigned i = 0; i < length; i++)
        *value |= (uint64_t)*from->at++ << 8 * i;
    if (is_difference)
        *value = value_cut(base + wet_unzigzag(*value), size);
    return 0;
}

static int get_wrong(struct value_coder *coder, struct value_rule *rule, uint64_t guess,
                     uint64_t *value)
{
    const int symbol = get_byte(&coder->from[STREAM_SYMBOLS]);
    if (symbol < 0)
        return BT_DATA;
    if (symbol >= (int)LITERAL)
        return get_literal(coder, symbol, rule->last, rule->size, value);
    *value = value_cut(symbol == VALUE_BY_MACHINE ? guess : predict(coder, rule, (unsigned)symbol),
                       rule->size);
    choose(rule, (unsigned)symbol);
    return 0;
}

static int get_wide_wrong(struct value_coder *coder, struct value_rule *rule,
                          const uint64_t last[8], uint64_t value[8])
{
    int symbol = get_byte(&coder->from[STREAM_SYMBOLS]);
    int result = 0;
    if (symbol == VALUE_BY_LAST || symbol == VALUE_BY_MACHINE) {
        memcpy(value, symbol == VALUE_BY_LAST ? last : coder->machine.words, rule->size);
        choose(rule, (unsigned)symbol);
        return 0;
    }
    if (symbol != (int)LITERAL)
        return BT_DATA;
    for (unsigned i = 0; i < (rule->size + 7u) / 8u && result == 0; i++) {
        symbol = get_byte(&coder->from[STREAM_SYMBOLS]);
        result = symbol < 0 ? BT_DATA : get_literal(coder, symbol, last[i], 8, &value[i]);
    }
    return result;
}

static __attribute__((noinline)) int get_wide(struct value_coder *coder, struct value_rule *rule,
                                              uint8_t *bytes)
{
    uint64_t value[8] = {0};
    uint64_t *last = coder->wide[rule->salt >> (32 - WIDE_BITS)];
    const int is_guessed = next_is_right(coder);
    const bool is_by_machine = rule->choice == VALUE_BY_MACHINE;
    if (is_guessed < 0)
        return is_guessed;
    if (is_guessed)
        memcpy(value, is_by_machine ? coder->machine.words : last, rule->size);
    else if (get_wide_wrong(coder, rule, last, value) != 0)
        return BT_DATA;
    memset((uint8_t *)value + rule->size, 0, sizeof value - rule->size);
    memcpy(bytes, value, rule->size);
    const bool is_right =
        rule->operation >= VALUE_VECTOR && is_same(coder->machine.words, value, rule->size);
    if (!is_by_machine || !is_right)
        memcpy(last, value, sizeof value);
    value_machine_settle_wide(&coder->machine, rule, value, is_right);
    return 0;
}

static __attribute__((noinline)) int get_other(struct value_coder *coder, struct value_rule *rule,
                                               bool is_right, uint64_t guess, uint64_t *value)
{
    if (is_right)
        *value = value_cut(predict(coder, rule, rule->choice), rule->size);
    else if (get_wrong(coder, rule, guess, value) != 0)
        return BT_DATA;
    if (guess != *value)
        value_machine_learn(&coder->machine, rule, *value);
    learn(coder, rule, *value);
    value_machine_settle(&coder->machine, rule, *value);
    return 0;
}

int value_coder_get(struct value_coder *coder, struct value_rule *rule, bool defines,
                    uint8_t bytes[VALUE_BYTES])
{
    if (!defines && rule->size != 0)
        return 0;
    uint64_t value = value_machine_guess(&coder->machine, rule);
    if (rule->size == 0)
        return 0;
    if (rule->size > 8)
        return get_wide(coder, rule, bytes);
    value = value_cut(value, rule->size);
    const int is_right = next_is_right(coder);
    if (is_right < 0)
        return is_right;
    if (is_right && rule->choice == VALUE_BY_MACHINE)
        value_machine_settle(&coder->machine, rule, value);
    else if (get_other(coder, rule, is_right, value, &value) != 0)
        return BT_DATA;
    memcpy(bytes, &value, 8);
    return 0;
}

/* --- system calls ------------------------------------------------------------------------------
 */

int value_coder_result(struct value_coder *coder, uint32_t thread, uint64_t result)
{
    struct value_thread *found = thread < VALUE_THREADS ? find_thread(coder, thread) : NULL;
    if (!found)
        return thread < VALUE_THREADS ? BT_MEMORY : BT_DATA;
    found->registers[DECODE_RAX] = result;
    return 0;
}
