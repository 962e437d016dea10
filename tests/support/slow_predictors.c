#include "tests/support/slow_predictors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table of values; their users limit their range. */
static int *table(uint64_t entries, int value)
{
    int *values = malloc(entries * sizeof *values);
    for (uint64_t i = 0; values && i < entries; i++)
        values[i] = value;
    return values;
}

static int power(unsigned bits)
{
    return 1 << bits;
}

static int first_value(unsigned bits)
{
    return power(bits - 1) - 1;
}

static bool says(int value, unsigned bits)
{
    return value >= power(bits - 1);
}

static void train(int *value, unsigned bits, bool taken)
{
    if (taken && *value < power(bits) - 1)
        ++*value;
    else if (!taken && *value > 0)
        --*value;
}

static unsigned log_two(uint64_t value)
{
    unsigned n = 0;
    while ((1ull << n) < value)
        n++;
    return n;
}

/* All outcomes so far. */
struct outcomes {
    bool *list;
    size_t count, room;
};

static void add(struct outcomes *outcomes, bool taken)
{
    if (outcomes->count == outcomes->room) {
        outcomes->room = 2 * outcomes->room + 64;
        outcomes->list = realloc(outcomes->list, outcomes->room * sizeof *outcomes->list);
    }
    outcomes->list[outcomes->count++] = taken;
}

/* Outcome j, 0 being the newest. */
static bool outcome(const struct outcomes *outcomes, size_t j)
{
    return j < outcomes->count && outcomes->list[outcomes->count - 1 - j];
}

static uint64_t fold(const struct outcomes *outcomes, unsigned h, unsigned n)
{
    uint64_t folded = 0;
    for (unsigned j = 0; j < h && n > 0; j++)
        folded ^= (uint64_t)outcome(outcomes, j) << j % n;
    return folded;
}

/* The newest h outcomes as a number. */
static uint64_t newest(const struct outcomes *outcomes, unsigned h)
{
    uint64_t number = 0;
    for (unsigned j = 0; j < h; j++)
        number |= (uint64_t)outcome(outcomes, j) << j;
    return number;
}

struct tagged {
    int c, u;
    uint64_t tag;
};

struct slow_predictor {
    struct predictor_settings settings;
    struct outcomes global, *local; /* local: one history per entry */
    int *counters, *local_counters, *choice, *weights;
    /* TAGE */
    struct tagged *tables[TAGE_TABLES_MAX + 1];
    unsigned lengths[TAGE_TABLES_MAX + 1];
    int doubt;
    uint32_t r;
    uint64_t branches;
    /* state before a wrong path */
    struct outcomes old_global, *old_local;
};

/* TAGE's lookup of a branch; entries by table number, the base is 0. */
struct tagged_look {
    struct tagged *entries[TAGE_TABLES_MAX + 1];
    uint64_t tags[TAGE_TABLES_MAX + 1];
    int *base;
    unsigned provider, alternate;
    bool p, q, fresh, prediction;
};

static struct outcomes *make_local(const struct predictor_settings *settings)
{
    return settings->histories > 0 ? calloc(settings->histories, sizeof(struct outcomes)) : NULL;
}

static void make_tage(struct slow_predictor *predictor)
{
    const struct predictor_settings *settings = &predictor->settings;
    const unsigned m = settings->tables;
    predictor->counters = table(settings->base, first_value(2));
    predictor->doubt = 8;
    predictor->r = 1;
    for (unsigned i = 1; i <= m; i++) {
        double share = m > 1 ? (i - 1.0) / (m - 1.0) : 0;
        double exact =
            settings->history * pow((double)settings->last_history / settings->history, share);
        predictor->lengths[i] = (unsigned)floor(exact + 0.5);
        if (i > 1 && i < m && predictor->lengths[i] < predictor->lengths[i - 1] + 1)
            predictor->lengths[i] = predictor->lengths[i - 1] + 1;
        predictor->tables[i] = calloc(settings->entries, sizeof *predictor->tables[i]);
        for (uint32_t e = 0; e < settings->entries; e++)
            predictor->tables[i][e].c = first_value(settings->bits);
    }
}

struct slow_predictor *slow_predictor_new(const struct predictor_settings *settings)
{
    struct slow_predictor *predictor = calloc(1, sizeof *predictor);
    predictor->settings = *settings;
    predictor->local = make_local(settings);
    switch (settings->kind) {
    case PREDICTOR_BIMODAL:
    case PREDICTOR_GSHARE:
        predictor->counters = table(settings->entries, first_value(settings->bits));
        break;
    case PREDICTOR_LOCAL:
        predictor->local_counters = table(1ull << settings->history, first_value(settings->bits));
        break;
    case PREDICTOR_TOURNAMENT:
        predictor->local_counters =
            table(1ull << settings->local_history, first_value(settings->local_bits));
        predictor->counters = table(1ull << settings->history, first_value(settings->bits));
        predictor->choice = table(1ull << settings->history, first_value(settings->bits));
        break;
    case PREDICTOR_TAGE:
        make_tage(predictor);
        break;
    case PREDICTOR_PERCEPTRON:
        predictor->weights = table((uint64_t)settings->entries * (settings->history + 1), 0);
        break;
    default:
        break;
    }
    return predictor;
}

static void free_local(struct outcomes *local, uint32_t histories)
{
    for (uint32_t i = 0; local && i < histories; i++)
        free(local[i].list);
    free(local);
}

void slow_predictor_free(struct slow_predictor *predictor)
{
    for (unsigned i = 1; i <= TAGE_TABLES_MAX; i++)
        free(predictor->tables[i]);
    free_local(predictor->local, predictor->settings.histories);
    free(predictor->global.list);
    free(predictor->counters);
    free(predictor->local_counters);
    free(predictor->choice);
    free(predictor->weights);
    free(predictor);
}

static struct outcomes *local_of(struct slow_predictor *predictor, const struct branch *branch)
{
    return &predictor->local[branch->address % predictor->settings.histories];
}

/* --- tables of counters --- */

static int *gshare_counter(struct slow_predictor *predictor, const struct branch *branch)
{
    const struct predictor_settings *settings = &predictor->settings;
    uint64_t place = branch->address;
    if (settings->kind == PREDICTOR_GSHARE)
        place ^= fold(&predictor->global, settings->history, log_two(settings->entries));
    return &predictor->counters[place % settings->entries];
}

static int *local_counter(struct slow_predictor *predictor, const struct branch *branch)
{
    const struct predictor_settings *settings = &predictor->settings;
    unsigned bits = settings->kind == PREDICTOR_LOCAL ? settings->history : settings->local_history;
    return &predictor->local_counters[newest(local_of(predictor, branch), bits)];
}

static bool tournament(struct slow_predictor *predictor, const struct branch *branch, bool learn)
{
    const struct predictor_settings *settings = &predictor->settings;
    uint64_t place = newest(&predictor->global, settings->history);
    int *global = &predictor->counters[place];
    int *local = local_counter(predictor, branch);
    bool by_global = says(*global, settings->bits);
    bool by_local = says(*local, settings->local_bits);
    bool prediction = says(predictor->choice[place], settings->bits) ? by_global : by_local;
    if (learn) {
        if (by_global != by_local)
            train(&predictor->choice[place], settings->bits, by_global == branch->taken);
        train(global, settings->bits, branch->taken);
        train(local, settings->local_bits, branch->taken);
    }
    return prediction;
}

/* --- perceptron --- */

static bool perceptron(struct slow_predictor *predictor, const struct branch *branch, bool learn)
{
    const unsigned history = predictor->settings.history;
    const int most = power(predictor->settings.bits - 1) - 1;
    int *w = &predictor->weights[branch->address % predictor->settings.entries * (history + 1)];
    int y = w[0];
    for (unsigned j = 0; j < history; j++)
        y += (outcome(&predictor->global, j) ? 1 : -1) * w[j + 1];
    bool prediction = y >= 0;
    if (!learn || (prediction == branch->taken && abs(y) > (int)((193 * history + 1400) / 100)))
        return prediction;
    const int t = branch->taken ? 1 : -1;
    for (unsigned j = 0; j <= history; j++) {
        int change = j == 0 ? t : t * (outcome(&predictor->global, j - 1) ? 1 : -1);
        if (w[j] + change <= most && w[j] + change >= -most - 1)
            w[j] += change;
    }
    return prediction;
}

/* --- TAGE --- */

static void tage_look(struct slow_predictor *predictor, const struct branch *branch,
                      struct tagged_look *look)
{
    const struct predictor_settings *settings = &predictor->settings;
    const struct outcomes *global = &predictor->global;
    const uint64_t a = branch->address;
    const unsigned n = log_two(settings->entries);
    memset(look, 0, sizeof *look);
    look->base = &predictor->counters[a % settings->base];
    for (unsigned i = 1; i <= settings->tables; i++) {
        unsigned length = predictor->lengths[i];
        uint64_t place = (a ^ (a >> n) ^ (a >> (n + i)) ^ fold(global, length, n));
        look->entries[i] = &predictor->tables[i][place % settings->entries];
        look->tags[i] = (a ^ fold(global, length, settings->tag_bits) ^
                         (fold(global, length, settings->tag_bits - 1) << 1)) %
                        (1ull << settings->tag_bits);
    }
    for (unsigned i = settings->tables; i >= 1; i--) {
        if (look->entries[i]->tag != look->tags[i])
            continue;
        if (look->provider == 0) {
            look->provider = i;
        } else {
            look->alternate = i;
            break;
        }
    }
    const bool base_says = says(*look->base, 2);
    const struct tagged *provider = look->entries[look->provider];
    const struct tagged *alternate = look->entries[look->alternate];
    look->p = provider ? says(provider->c, settings->bits) : base_says;
    look->q = alternate ? says(alternate->c, settings->bits) : base_says;
    look->fresh =
        provider && provider->u == 0 &&
        (provider->c == power(settings->bits - 1) || provider->c == power(settings->bits - 1) - 1);
    look->prediction = look->fresh && says(predictor->doubt, 4) ? look->q : look->p;
}

static void tage_allocate(struct slow_predictor *predictor, const struct branch *branch,
                          struct tagged_look *look)
{
    const struct predictor_settings *settings = &predictor->settings;
    unsigned s = look->provider + 1;
    if (predictor->r % 2 == 1)
        predictor->r = (predictor->r >> 1) ^ 0x80200003u;
    else
        predictor->r = predictor->r >> 1;
    if (predictor->r % 2 == 1 && s < settings->tables)
        s++;
    for (unsigned i = s; i <= settings->tables; i++)
        if (look->entries[i]->u == 0) {
            look->entries[i]->tag = look->tags[i];
            look->entries[i]->c = power(settings->bits - 1) - (branch->taken ? 0 : 1);
            return;
        }
    for (unsigned i = s; i <= settings->tables; i++)
        look->entries[i]->u--;
}

static void tage_learn(struct slow_predictor *predictor, const struct branch *branch,
                       struct tagged_look *look)
{
    const struct predictor_settings *settings = &predictor->settings;
    struct tagged *provider = look->entries[look->provider];
    struct tagged *alternate = look->entries[look->alternate];
    if (!provider) {
        train(look->base, 2, branch->taken);
    } else {
        if (look->fresh && look->p != look->q)
            train(&predictor->doubt, 4, look->q == branch->taken);
        if (provider->u == 0 && alternate)
            train(&alternate->c, settings->bits, branch->taken);
        if (provider->u == 0 && !alternate)
            train(look->base, 2, branch->taken);
        if (look->p != look->q)
            train(&provider->u, settings->useful_bits, look->p == branch->taken);
        train(&provider->c, settings->bits, branch->taken);
    }
    if (look->prediction != branch->taken && look->provider < settings->tables)
        tage_allocate(predictor, branch, look);
    if (++predictor->branches % settings->period == 0)
        for (unsigned i = 1; i <= settings->tables; i++)
            for (uint32_t e = 0; e < settings->entries; e++)
                predictor->tables[i][e].u /= 2;
}

/* --- all of them --- */

static bool predict(struct slow_predictor *predictor, const struct branch *branch, bool learn)
{
    const unsigned bits = predictor->settings.bits;
    struct tagged_look look;
    bool prediction = false;
    int *counter = NULL;
    switch (predictor->settings.kind) {
    case PREDICTOR_TAKEN:
        return true;
    case PREDICTOR_NOT_TAKEN:
        return false;
    case PREDICTOR_BACKWARD:
        return !(branch->target > branch->address);
    case PREDICTOR_BIMODAL:
    case PREDICTOR_GSHARE:
    case PREDICTOR_LOCAL:
        counter = predictor->settings.kind == PREDICTOR_LOCAL ? local_counter(predictor, branch)
                                                              : gshare_counter(predictor, branch);
        prediction = says(*counter, bits);
        if (learn)
            train(counter, bits, branch->taken);
        return prediction;
    case PREDICTOR_TOURNAMENT:
        return tournament(predictor, branch, learn);
    case PREDICTOR_PERCEPTRON:
        return perceptron(predictor, branch, learn);
    default:
        tage_look(predictor, branch, &look);
        if (learn)
            tage_learn(predictor, branch, &look);
        return look.prediction;
    }
}

static void take(struct slow_predictor *predictor, const struct branch *branch, bool taken)
{
    add(&predictor->global, taken);
    if (predictor->local)
        add(local_of(predictor, branch), taken);
}

bool slow_predictor_put(struct slow_predictor *predictor, const struct branch *branch)
{
    bool prediction = predict(predictor, branch, true);
    take(predictor, branch, branch->taken);
    return prediction;
}

static struct outcomes copy(const struct outcomes *outcomes)
{
    struct outcomes copied = *outcomes;
    copied.list = malloc(outcomes->room * sizeof *copied.list + 1);
    if (outcomes->count > 0)
        memcpy(copied.list, outcomes->list, outcomes->count * sizeof *copied.list);
    return copied;
}

void slow_predictor_wrong_begin(struct slow_predictor *predictor, const struct branch *branch)
{
    predictor->old_global = copy(&predictor->global);
    predictor->old_local = make_local(&predictor->settings);
    for (uint32_t i = 0; i < predictor->settings.histories; i++)
        predictor->old_local[i] = copy(&predictor->local[i]);
    if (branch->kind != BRANCH_CONDITIONAL)
        return;
    predictor->global.list[predictor->global.count - 1] = !branch->taken;
    if (predictor->local) {
        struct outcomes *local = local_of(predictor, branch);
        local->list[local->count - 1] = !branch->taken;
    }
}

bool slow_predictor_wrong(struct slow_predictor *predictor, const struct branch *branch)
{
    bool prediction = predict(predictor, branch, false);
    take(predictor, branch, prediction);
    return prediction;
}

void slow_predictor_wrong_end(struct slow_predictor *predictor)
{
    free(predictor->global.list);
    free_local(predictor->local, predictor->settings.histories);
    predictor->global = predictor->old_global;
    predictor->local = predictor->old_local;
}

/* --- targets --- */

struct buffered {
    uint64_t address, target, when; /* when: 0 if empty */
};

struct slow_targets {
    unsigned places, entries, ways, cache_entries, cache_history;
    uint64_t *stack, *old_stack;
    unsigned top, old_top;
    struct buffered *buffer;
    uint64_t now;
    uint64_t *cache;
    uint64_t t, t_before, old_t; /* t_before: before the last indirect branch */
};

struct slow_targets *slow_targets_new(unsigned places, unsigned entries, unsigned ways,
                                      unsigned cache_entries, unsigned cache_history)
{
    struct slow_targets *targets = calloc(1, sizeof *targets);
    *targets = (struct slow_targets){.places = places,
                                     .entries = entries,
                                     .ways = ways,
                                     .cache_entries = cache_entries,
                                     .cache_history = cache_history,
                                     .stack = NULL,
                                     .old_stack = NULL,
                                     .top = 0,
                                     .old_top = 0,
                                     .buffer = NULL,
                                     .now = 0,
                                     .cache = NULL,
                                     .t = 0,
                                     .t_before = 0,
                                     .old_t = 0};
    targets->stack = calloc(places + 1, sizeof *targets->stack);
    targets->old_stack = calloc(places + 1, sizeof *targets->stack);
    targets->buffer = calloc(entries + 1, sizeof *targets->buffer);
    targets->cache = calloc(cache_entries + 1, sizeof *targets->cache);
    return targets;
}

void slow_targets_free(struct slow_targets *targets)
{
    free(targets->stack);
    free(targets->old_stack);
    free(targets->buffer);
    free(targets->cache);
    free(targets);
}

static uint64_t pop(struct slow_targets *targets)
{
    uint64_t address = targets->stack[targets->top];
    targets->top = (targets->top + targets->places - 1) % targets->places;
    return address;
}

static void push(struct slow_targets *targets, const struct branch *branch)
{
    if (targets->places == 0)
        return;
    if (branch->kind != BRANCH_CALL && branch->kind != BRANCH_INDIRECT_CALL)
        return;
    targets->top = (targets->top + 1) % targets->places;
    targets->stack[targets->top] = branch->next;
}

static uint64_t buffer_look(struct slow_targets *targets, const struct branch *branch, bool learn)
{
    if (targets->entries == 0)
        return 0;
    const unsigned sets = targets->entries / targets->ways;
    struct buffered *set = &targets->buffer[branch->address % sets * targets->ways];
    struct buffered *found = NULL, *victim = NULL;
    for (unsigned way = 0; way < targets->ways; way++)
        if (set[way].when != 0 && set[way].address == branch->address)
            found = &set[way];
    uint64_t target = found ? found->target : 0;
    if (!learn)
        return target;
    for (unsigned way = 0; way < targets->ways && !found; way++)
        if (!victim || set[way].when < victim->when)
            victim = &set[way];
    *(found ? found : victim) = (struct buffered){
        .address = branch->address, .target = branch->target, .when = ++targets->now};
    return target;
}

static bool is_indirect(const struct branch *branch)
{
    return branch->kind == BRANCH_INDIRECT_JUMP || branch->kind == BRANCH_INDIRECT_CALL;
}

static uint64_t next_t(const struct slow_targets *targets, uint64_t t, uint64_t target)
{
    unsigned n = log_two(targets->cache_entries);
    unsigned by = (unsigned)ceil((double)n / targets->cache_history);
    return ((t << by) ^ target ^ (target >> 4)) % targets->cache_entries;
}

uint64_t slow_targets_put(struct slow_targets *targets, const struct branch *branch)
{
    if (branch->kind == BRANCH_RETURN && targets->places > 0)
        return pop(targets);
    uint64_t prediction = 0;
    if (is_indirect(branch) && targets->cache_entries > 0) {
        uint64_t *entry = &targets->cache[(branch->address ^ targets->t) % targets->cache_entries];
        prediction = *entry;
        *entry = branch->target;
        targets->t_before = targets->t;
        targets->t = next_t(targets, targets->t, branch->target);
    }
    uint64_t buffered = buffer_look(targets, branch, true);
    push(targets, branch);
    return prediction != 0 ? prediction : buffered;
}

void slow_targets_wrong_begin(struct slow_targets *targets, const struct branch *branch,
                              uint64_t predicted)
{
    memcpy(targets->old_stack, targets->stack, targets->places * sizeof *targets->stack);
    targets->old_top = targets->top;
    targets->old_t = targets->t;
    if (is_indirect(branch) && targets->cache_entries > 0)
        targets->t = next_t(targets, targets->t_before, predicted);
}

uint64_t slow_targets_wrong(struct slow_targets *targets, const struct branch *branch)
{
    uint64_t prediction = branch->target;
    if (branch->kind == BRANCH_RETURN)
        return targets->places > 0 ? pop(targets) : buffer_look(targets, branch, false);
    if (is_indirect(branch)) {
        prediction = 0;
        if (targets->cache_entries > 0)
            prediction = targets->cache[(branch->address ^ targets->t) % targets->cache_entries];
        if (prediction == 0)
            prediction = buffer_look(targets, branch, false);
        if (targets->cache_entries > 0 && prediction != 0)
            targets->t = next_t(targets, targets->t, prediction);
    }
    push(targets, branch);
    return prediction;
}

void slow_targets_wrong_end(struct slow_targets *targets)
{
    memcpy(targets->stack, targets->old_stack, targets->places * sizeof *targets->stack);
    targets->top = targets->old_top;
    targets->t = targets->old_t;
}
