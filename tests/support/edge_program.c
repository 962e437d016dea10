#include "tests/support/edge_program.h"

#include "tests/support/random.h"

#include <stdlib.h>

#define FUNCTIONS      24u
#define STATEMENTS_MAX 4096u
#define BODY_MAX       6u
#define CALLS_MAX      40u

enum statement_kind { BLOCK, LOOP, CONDITION, SWITCH, CALL };

/* A sequence of statements. All bodies are in one array, after their heads. */
struct statement {
    enum statement_kind kind;
    uint32_t block;   /* executed first */
    uint32_t body[2]; /* indexes of first statements; 0: empty */
    uint32_t next;    /* index, in the same body; 0: none */
    uint32_t number;  /* loop: iterations; condition: chance in 256; call: function; switch: ways */
    int random;       /* loop: number is the maximum, not fixed */
};

struct program {
    enum edge_program_kind kind;
    struct statement statements[STATEMENTS_MAX];
    uint32_t count; /* number 0 is none */
    uint32_t blocks;
    uint32_t functions[FUNCTIONS];
    uint64_t random;
    uint64_t data;
};

/* The edges so far, and the ids of all edges. */
struct recorder {
    uint32_t *edges;
    size_t count, capacity;
    uint32_t block; /* block executed last */
    uint64_t *keys; /* a hash table: source and target block; 0: free */
    uint32_t *ids;
    size_t size;
    uint32_t id_max;
};

static enum statement_kind random_kind(struct program *program, unsigned depth)
{
    static const uint8_t chances[EDGE_PROGRAM_KINDS][5] = {
        /* BLOCK LOOP CONDITION SWITCH CALL, in 100 */
        {35, 30, 20, 0, 15},
        {30, 8, 22, 5, 35},
        {25, 15, 35, 10, 15},
    };
    unsigned chance = (unsigned)random_below(&program->random, 100);
    unsigned kind = 0;
    while (kind < CALL && chance >= chances[program->kind][kind])
        chance -= chances[program->kind][kind++];
    return depth > 4 ? BLOCK : (enum statement_kind)kind;
}

static uint32_t make_body(struct program *program, unsigned depth);

static uint32_t make_statement(struct program *program, unsigned depth)
{
    uint64_t *random = &program->random;
    if (program->count >= STATEMENTS_MAX)
        return 0;
    uint32_t number = program->count++;
    struct statement made = {.kind = random_kind(program, depth), .block = ++program->blocks};
    int data = program->kind == EDGE_PROGRAM_DATA;
    switch (made.kind) {
    case BLOCK:
        break;
    case LOOP:
        made.number = (uint32_t)random_below(random, random_one_in(random, 3) ? 100 : 9) + 1;
        made.random = data || random_one_in(random, 6);
        break;
    case CONDITION:
        made.number = data                       ? (uint32_t)random_below(random, 256)
                      : random_one_in(random, 3) ? 250
                                                 : 0;
        break;
    case SWITCH:
        made.number = (uint32_t)random_below(random, 12) + 2;
        break;
    case CALL:
        made.number = (uint32_t)random_below(random, FUNCTIONS);
        break;
    }
    if (made.kind == LOOP || made.kind == CONDITION)
        made.body[0] = make_body(program, depth + 1);
    if (made.kind == CONDITION)
        made.body[1] = make_body(program, depth + 1);
    if (made.kind == SWITCH)
        program->blocks += made.number;
    program->statements[number] = made;
    return number;
}

static uint32_t make_body(struct program *program, unsigned depth)
{
    uint32_t first = 0;
    uint32_t last = 0;
    for (uint64_t n = random_below(&program->random, BODY_MAX) + 1; n > 0; n--) {
        uint32_t made = make_statement(program, depth);
        if (first == 0)
            first = made;
        else if (made != 0)
            program->statements[last].next = made;
        last = made != 0 ? made : last;
    }
    return first;
}

static size_t slot_of(const struct recorder *recorder, uint64_t key)
{
    size_t i = key * 0x9e3779b97f4a7c15u >> 40;
    while (recorder->keys[i % recorder->size] != 0 && recorder->keys[i % recorder->size] != key)
        i++;
    return i % recorder->size;
}

static void execute_block(struct recorder *recorder, uint32_t block)
{
    uint64_t key = (uint64_t)recorder->block << 32 | block;
    size_t slot = slot_of(recorder, key);
    if (recorder->keys[slot] == 0) {
        recorder->keys[slot] = key;
        recorder->ids[slot] = ++recorder->id_max;
    }
    if (recorder->count < recorder->capacity)
        recorder->edges[recorder->count++] = recorder->ids[slot];
    recorder->block = block;
}

static void execute(struct program *program, struct recorder *recorder, uint32_t first,
                    unsigned calls)
{
    for (uint32_t at = first; at != 0 && recorder->count < recorder->capacity;
         at = program->statements[at].next) {
        const struct statement *statement = &program->statements[at];
        uint64_t times = statement->number;
        execute_block(recorder, statement->block);
        switch (statement->kind) {
        case BLOCK:
            break;
        case LOOP:
            if (statement->random)
                times = random_below(&program->data, times + 1);
            for (; times > 0 && recorder->count < recorder->capacity; times--) {
                execute(program, recorder, statement->body[0], calls);
                execute_block(recorder, statement->block);
            }
            break;
        case CONDITION:
            execute(program, recorder,
                    statement->body[random_below(&program->data, 256) < statement->number], calls);
            break;
        case SWITCH:
            execute_block(recorder,
                          statement->block + 1 + (uint32_t)random_below(&program->data, times));
            break;
        case CALL:
            if (calls < CALLS_MAX && !(calls > 3 && random_one_in(&program->data, 2)))
                execute(program, recorder, program->functions[times], calls + 1);
            break;
        }
    }
}

uint32_t edge_program_run(enum edge_program_kind kind, uint64_t seed, uint32_t *edges, size_t count)
{
    struct program *program = calloc(1, sizeof *program);
    struct recorder recorder = {.edges = edges, .capacity = count, .size = 1 << 18};
    recorder.keys = calloc(recorder.size, sizeof *recorder.keys);
    recorder.ids = calloc(recorder.size, sizeof *recorder.ids);
    program->kind = kind;
    program->random = random_seed(seed * EDGE_PROGRAM_KINDS + kind);
    program->data = random_seed(seed + 1000);
    program->count = 1;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        program->functions[i] = make_body(program, i < FUNCTIONS / 2 ? 2 : 3);
    uint32_t main_body = make_body(program, 0);
    while (recorder.count < count) {
        execute_block(&recorder, 0x7fffffff);
        execute(program, &recorder, main_body, 0);
        for (unsigned i = 0; i < FUNCTIONS; i++)
            execute(program, &recorder, program->functions[i], 1);
    }
    free(recorder.keys);
    free(recorder.ids);
    free(program);
    return recorder.id_max;
}
