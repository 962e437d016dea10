#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/tools/dcfg/graph/graph_fixture.h"
#include "tools/dcfg/graph/hot_paths.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS      24u
#define FUNCTIONS   4u
#define EVENTS      400u
#define EDGES       512u
#define NODES       (2 * BLOCKS) /* blocks, then loops */
#define PASSES      1024u
#define FUNCTION_OF (BLOCKS / FUNCTIONS)

/* --- random programs, and a walk through one ------------------------------------------------- */

enum block_kind { JUMP, CALL, RETURN };

struct program {
    enum block_kind kind[BLOCKS];
    unsigned ways; /* of a JUMP */
    uint32_t to[BLOCKS]
               [3];      /* JUMP: targets; CALL: the callee's first block, and where it returns */
    unsigned rare, wild; /* one jump in so many is a hole; leads anywhere */
    unsigned uncounted_call; /* one call in so many is only in its bypass */
};

struct walk {
    uint32_t block[EVENTS];
    uint32_t next[EVENTS]; /* the event after it in its function; 0: none */
    bool hole[EVENTS];     /* before that */
    uint32_t count;
    uint32_t stack[EVENTS], depth; /* events of calls */
    struct fixture_edge edges[EDGES];
    uint32_t edge_count;
};

static void make_program(struct program *program, uint64_t *state)
{
    program->ways = 1 + (unsigned)random_below(state, 3);
    program->rare = random_one_in(state, 3) ? 20 : 100000;
    program->wild = random_one_in(state, 3) ? 20 : 100000;
    program->uncounted_call = random_one_in(state, 3) ? 2 : 100000;
    const bool forwards = random_one_in(state, 4);
    uint32_t shared = 0; /* where calls of a function return */
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const uint32_t first = b / FUNCTION_OF * FUNCTION_OF;
        const uint32_t place = b - first;
        if (place == 0)
            shared = (uint32_t)random_below(state, FUNCTION_OF);
        const uint64_t kind = random_below(state, 6);
        program->kind[b] = place == FUNCTION_OF - 1 ? RETURN : kind == 0 ? CALL : JUMP;
        for (unsigned w = 0; w < 3 && program->kind[b] != RETURN; w++) {
            const uint32_t least = forwards || random_one_in(state, 2) ? place + 1 : 0;
            program->to[b][w] =
                program->kind[b] == CALL
                    ? (uint32_t)random_below(state, FUNCTIONS) * FUNCTION_OF
                    : first + least + (uint32_t)random_below(state, FUNCTION_OF - least);
        }
        if (program->kind[b] == CALL) /* several calls return to one block */
            program->to[b][1] = random_one_in(state, 2) ? b + 1 : first + shared;
    }
}

static void count_edge(struct walk *walk, uint32_t source, uint32_t target, uint8_t type,
                       uint64_t times)
{
    fixture_count(walk->edges, &walk->edge_count, EDGES, source, target, type, times);
}

/* Goes to a block; from: the event before it in its function, UINT32_MAX: none. */
static uint32_t go(struct walk *walk, uint32_t from, uint32_t block, bool hole)
{
    const uint32_t event = walk->count++;
    walk->block[event] = block;
    if (from != UINT32_MAX) {
        walk->next[from] = event;
        walk->hole[from] = hole;
    }
    return event;
}

static uint32_t step_jump(struct walk *walk, const struct program *program, uint32_t at,
                          uint64_t *state)
{
    const uint32_t block = walk->block[at];
    const bool hole = random_one_in(state, program->rare);
    uint32_t target = program->to[block][random_below(state, program->ways)];
    if (random_one_in(state, program->wild)) {
        target = (uint32_t)random_below(state, BLOCKS);
        walk->depth = (uint32_t)random_below(state, walk->depth + 1);
    }
    count_edge(walk, block, target, hole ? DCFG_EDGE_UNKNOWN : DCFG_EDGE_INDIRECT_BRANCH, 1);
    return go(walk, at, target, hole);
}

static uint32_t step_call(struct walk *walk, const struct program *program, uint32_t at,
                          uint64_t *state)
{
    const uint32_t block = walk->block[at];
    if (random_one_in(state, program->uncounted_call)) {
        count_edge(walk, block, program->to[block][1], DCFG_EDGE_CALL_BYPASS, 1);
        return go(walk, at, program->to[block][1], false);
    }
    count_edge(walk, block, program->to[block][0], DCFG_EDGE_DIRECT_CALL, 1);
    walk->stack[walk->depth++] = at;
    return go(walk, UINT32_MAX, program->to[block][0], false);
}

/* From a RETURN; without a caller, another thread begins at a random function. */
static uint32_t step_return(struct walk *walk, const struct program *program, uint32_t at,
                            uint64_t *state)
{
    if (walk->depth == 0) {
        const uint32_t block = (uint32_t)random_below(state, FUNCTIONS) * FUNCTION_OF;
        count_edge(walk, walk->block[at], FIXTURE_OUTSIDE, DCFG_EDGE_EXIT, 1);
        count_edge(walk, FIXTURE_OUTSIDE, block, DCFG_EDGE_ENTRY, 1);
        return go(walk, UINT32_MAX, block, false);
    }
    const uint32_t call = walk->stack[--walk->depth];
    const uint32_t block = program->to[walk->block[call]][1];
    count_edge(walk, walk->block[at], block, DCFG_EDGE_RETURN, 1);
    count_edge(walk, walk->block[call], block, DCFG_EDGE_CALL_BYPASS, 0);
    return go(walk, call, block, false);
}

static void make_walk(struct walk *walk, const struct program *program, uint64_t *state)
{
    memset(walk, 0, sizeof *walk);
    count_edge(walk, FIXTURE_OUTSIDE, 0, DCFG_EDGE_ENTRY, 1);
    uint32_t at = go(walk, UINT32_MAX, 0, false);
    while (walk->count < EVENTS) {
        const enum block_kind kind = program->kind[walk->block[at]];
        at = kind == JUMP   ? step_jump(walk, program, at, state)
             : kind == CALL ? step_call(walk, program, at, state)
                            : step_return(walk, program, at, state);
    }
    count_edge(walk, walk->block[at], FIXTURE_OUTSIDE, DCFG_EDGE_EXIT, 1);
}

/* --- the slow twin: passes through each region, from the walk -------------------------------- */

struct twin {
    const struct walk *walk;
    const struct dcfg_process *process;
    const uint32_t *routine_of;
    uint32_t mask[BLOCKS]; /* by loop: its blocks */
    struct {
        uint32_t region, length, count, nodes[NODES];
    } passes[PASSES];
    uint32_t pass_count;
    bool edge[NODES][NODES], back[NODES][NODES]; /* of the region that is searched */
    int searched[NODES];                         /* 1: being searched; 2: done */
};

/* The node of a region with the block; UINT32_MAX: none. */
static uint32_t node_of(const struct twin *twin, uint32_t region, uint32_t block)
{
    const uint32_t loops = twin->process->loop_count;
    uint32_t best = UINT32_MAX;
    if (region < loops ? !(twin->mask[region] >> block & 1)
                       : twin->routine_of[block] != region - loops)
        return UINT32_MAX;
    for (uint32_t l = 0; l < loops; l++) {
        const bool within = region >= loops || (twin->mask[l] != twin->mask[region] &&
                                                !(twin->mask[l] & ~twin->mask[region]));
        if (within && (twin->mask[l] >> block & 1) &&
            (best == UINT32_MAX || !(twin->mask[best] & ~twin->mask[l])))
            best = l;
    }
    return best == UINT32_MAX ? block : BLOCKS + best;
}

static uint32_t head_of(const struct twin *twin, uint32_t region)
{
    const struct dcfg_process *process = twin->process;
    return (region < process->loop_count ? process->loops[region].head
                                         : process->routines[region - process->loop_count].entry) -
           FIXTURE_ID;
}

/* Whether the step after an event stays in the region and changes its node; the nodes. */
static bool moves(const struct twin *twin, uint32_t region, uint32_t event, uint32_t *from,
                  uint32_t *to)
{
    const uint32_t next = twin->walk->next[event];
    *from = node_of(twin, region, twin->walk->block[event]);
    *to = next ? node_of(twin, region, twin->walk->block[next]) : UINT32_MAX;
    return *from != UINT32_MAX && *to != UINT32_MAX && (*from != *to || *from < BLOCKS) &&
           !twin->walk->hole[event] &&
           (region >= twin->process->loop_count ||
            twin->walk->block[next] != head_of(twin, region));
}

static void search(struct twin *twin, uint32_t node)
{
    if (twin->searched[node])
        return;
    twin->searched[node] = 1;
    for (uint32_t to = 0; to < NODES; to++) {
        if (!twin->edge[node][to])
            continue;
        twin->back[node][to] = twin->searched[to] == 1;
        search(twin, to);
    }
    twin->searched[node] = 2;
}

static void find_back_edges(struct twin *twin, uint32_t region)
{
    uint32_t from, to;
    memset(twin->edge, 0, sizeof twin->edge);
    memset(twin->back, 0, sizeof twin->back);
    memset(twin->searched, 0, sizeof twin->searched);
    for (uint32_t e = 0; e < twin->walk->count; e++)
        if (moves(twin, region, e, &from, &to))
            twin->edge[from][to] = true;
    search(twin, node_of(twin, region, head_of(twin, region)));
    for (uint32_t node = 0; node < NODES; node++)
        search(twin, node);
}

static uint32_t *find_pass(struct twin *twin, uint32_t region, const uint32_t *nodes,
                           uint32_t length)
{
    uint32_t p = 0;
    while (p < twin->pass_count &&
           (twin->passes[p].region != region || twin->passes[p].length != length ||
            memcmp(twin->passes[p].nodes, nodes, length * sizeof *nodes) != 0))
        p++;
    CU_ASSERT_FATAL(p < PASSES);
    if (p == twin->pass_count) {
        twin->pass_count++;
        twin->passes[p].region = region;
        twin->passes[p].length = length;
        twin->passes[p].count = 0;
        memcpy(twin->passes[p].nodes, nodes, length * sizeof *nodes);
    }
    return &twin->passes[p].count;
}

/* Counts the passes that begin at an event or follow the one that does. */
static void count_passes(struct twin *twin, uint32_t region, uint32_t event, bool *visited)
{
    uint32_t nodes[NODES], length = 0, from, to;
    for (; !visited[event]; event = twin->walk->next[event]) {
        visited[event] = true;
        from = node_of(twin, region, twin->walk->block[event]);
        if (from == UINT32_MAX)
            continue;
        if (length == 0)
            nodes[length++] = from;
        const bool moved = moves(twin, region, event, &from, &to);
        const bool stays = from == to && from >= BLOCKS; /* in an inner loop */
        if (moved && !twin->back[from][to]) {
            CU_ASSERT_FATAL(length < NODES);
            nodes[length++] = to;
        } else if (!stays) {
            ++*find_pass(twin, region, nodes, length);
            length = 0;
        }
        if (!twin->walk->next[event])
            break;
    }
}

static void count_all(struct twin *twin)
{
    const uint32_t regions = twin->process->loop_count + twin->process->routine_count;
    twin->pass_count = 0;
    for (uint32_t l = 0; l < twin->process->loop_count; l++) {
        const struct dcfg_range *nodes = &twin->process->loops[l].nodes;
        twin->mask[l] = 0;
        for (uint32_t n = nodes->first; n < nodes->first + nodes->count; n++)
            twin->mask[l] |= 1u << (twin->process->ids[n] - FIXTURE_ID);
    }
    for (uint32_t region = 0; region < regions; region++) {
        bool visited[EVENTS] = {false};
        find_back_edges(twin, region);
        /* an event's successor is later: the first one not visited begins a sequence */
        for (uint32_t e = 0; e < twin->walk->count; e++)
            if (!visited[e])
                count_passes(twin, region, e, visited);
    }
}

/* --- comparing ------------------------------------------------------------------------------- */

struct tally {
    unsigned paths, exact, above_zero;
};

static void compare(struct twin *twin, const struct hot_paths *paths, struct tally *tally)
{
    const struct dcfg_process *process = twin->process;
    bool seen[BLOCKS] = {false};
    for (size_t p = 0; p < paths->path_count; p++) {
        const struct hot_path *path = &paths->paths[p];
        uint32_t nodes[NODES];
        uint64_t length = 0;
        CU_ASSERT_FATAL(path->step_count <= NODES);
        for (uint32_t i = 0; i < path->step_count; i++) {
            const struct hot_step *step = &paths->steps[path->first_step + i];
            uint32_t loop = 0;
            while (step->loop && process->loops[loop].head != FIXTURE_ID + step->block)
                loop++;
            nodes[i] = step->loop ? BLOCKS + loop : step->block;
            seen[step->block] |= !step->loop;
            length += step->loop ? 0 : 2;
        }
        const uint32_t region =
            path->loop != DCFG_NONE ? path->loop : process->loop_count + path->routine;
        const uint64_t count = *find_pass(twin, region, nodes, path->step_count);
        CU_ASSERT_FATAL(path->at_least <= count);
        CU_ASSERT_FATAL(count <= path->at_most);
        CU_ASSERT_EQUAL_FATAL(path->length, length);
        tally->paths++;
        tally->exact += path->at_least == path->at_most;
        tally->above_zero += path->at_least > 0;
    }
    for (uint32_t e = 0; e < twin->walk->count; e++)
        CU_ASSERT_FATAL(seen[twin->walk->block[e]]);
}

static void test_random_walks(void)
{
    static struct walk walk;
    static struct twin twin;
    struct tally tally = {0};
    struct bt_error error = {0};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint64_t state = random_seed(seed);
        struct program program;
        struct graph_profile profile;
        struct hot_paths paths;
        make_program(&program, &state);
        make_walk(&walk, &program, &state);
        struct dcfg *graph = fixture_begin(BLOCKS);
        fixture_routines(graph, walk.edges, walk.edge_count);
        fixture_seal(graph, walk.edges, walk.edge_count);
        CU_ASSERT_EQUAL_FATAL(graph_profile_make(&profile, graph->processes[0], &error), 0);
        CU_ASSERT_EQUAL_FATAL(hot_paths_find(&paths, &profile, UINT64_MAX, &error), 0);
        twin.walk = &walk;
        twin.process = graph->processes[0];
        twin.routine_of = profile.routine_of;
        count_all(&twin);
        compare(&twin, &paths, &tally);
        hot_paths_clear(&paths);
        graph_profile_clear(&profile);
        dcfg_free(graph);
    }
    /* the bounds say something */
    CU_ASSERT(tally.exact > tally.paths / 3);
    CU_ASSERT(tally.above_zero > tally.paths / 3);
}

/* --- given graphs ---------------------------------------------------------------------------- */

/* Two branches, 60 to 40 and 70 to 30, one after the other: at least 30 of 100 take both of the
 * frequent ways, at most 60. */
static void test_two_branches(void)
{
    static const uint32_t rows[][3] = {{FIXTURE_OUTSIDE, 0, 100},
                                       {0, 1, 60},
                                       {0, 2, 40},
                                       {1, 3, 60},
                                       {2, 3, 40},
                                       {3, 4, 70},
                                       {3, 5, 30},
                                       {4, 6, 70},
                                       {5, 6, 30},
                                       {6, FIXTURE_OUTSIDE, 100}};
    static const struct {
        uint64_t at_least, at_most;
        uint32_t blocks[5];
    } wanted[] = {{30, 60, {0, 1, 3, 4, 6}}, {10, 40, {0, 2, 3, 4, 6}}, {0, 30, {0, 1, 3, 5, 6}}};
    static struct walk walk;
    struct bt_error error = {0};
    struct graph_profile profile;
    struct hot_paths paths;
    memset(&walk, 0, sizeof walk);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        count_edge(&walk, rows[i][0], rows[i][1],
                   rows[i][0] == FIXTURE_OUTSIDE   ? DCFG_EDGE_ENTRY
                   : rows[i][1] == FIXTURE_OUTSIDE ? DCFG_EDGE_EXIT
                                                   : DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH,
                   rows[i][2]);
    struct dcfg *graph = fixture_begin(7);
    fixture_seal(graph, walk.edges, walk.edge_count); /* blocks of no routine */
    CU_ASSERT_EQUAL_FATAL(graph_profile_make(&profile, graph->processes[0], &error), 0);
    for (uint64_t each = 0; each <= 4; each++) {
        CU_ASSERT_EQUAL_FATAL(hot_paths_find(&paths, &profile, each, &error), 0);
        CU_ASSERT_EQUAL_FATAL(paths.path_count, each < 3 ? each : 3);
        for (size_t p = 0; p < paths.path_count; p++) {
            CU_ASSERT_EQUAL(paths.paths[p].at_least, wanted[p].at_least);
            CU_ASSERT_EQUAL(paths.paths[p].at_most, wanted[p].at_most);
            CU_ASSERT_EQUAL_FATAL(paths.paths[p].step_count, 5);
            CU_ASSERT_EQUAL(paths.paths[p].routine, DCFG_NONE);
            for (size_t i = 0; i < 5; i++)
                CU_ASSERT_EQUAL(paths.steps[paths.paths[p].first_step + i].block,
                                wanted[p].blocks[i]);
        }
        hot_paths_clear(&paths);
    }
    graph_profile_clear(&profile);
    dcfg_free(graph);
}

/* Loops, routines and counts that contradict each other, as a file may have them. */
static void test_unsound(void)
{
    static struct walk walk;
    struct bt_error error = {0};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint64_t state = random_seed(seed);
        struct dcfg *graph = fixture_begin(BLOCKS);
        struct dcfg_process *process = graph->processes[0];
        memset(&walk, 0, sizeof walk);
        for (uint32_t e = 0; e < 40; e++)
            count_edge(&walk, (uint32_t)random_below(&state, BLOCKS),
                       (uint32_t)random_below(&state, BLOCKS),
                       (uint8_t)(3 + random_below(&state, DCFG_EDGE_OTHER - 2)),
                       random_one_in(&state, 9) ? UINT64_MAX : random_below(&state, 100));
        for (uint32_t r = 0; r < random_below(&state, 4); r++) {
            struct dcfg_routine routine = {.entry =
                                               FIXTURE_ID + (uint32_t)random_below(&state, BLOCKS)};
            for (uint32_t n = 0; n < random_below(&state, BLOCKS); n++) {
                const struct dcfg_node node = {.id = FIXTURE_ID +
                                                     (uint32_t)random_below(&state, BLOCKS),
                                               .dominator = FIXTURE_ID};
                CU_ASSERT_EQUAL_FATAL(dcfg_add_node(process, &routine.nodes, &node, &error), 0);
            }
            for (uint32_t l = 0; l < random_below(&state, 6); l++) {
                struct dcfg_loop loop = {.head =
                                             FIXTURE_ID + (uint32_t)random_below(&state, BLOCKS)};
                for (uint32_t n = 0; n < random_below(&state, BLOCKS); n++)
                    CU_ASSERT_EQUAL_FATAL(
                        dcfg_add_id(process, &loop.nodes,
                                    FIXTURE_ID + (uint32_t)random_below(&state, BLOCKS), &error),
                        0);
                CU_ASSERT_EQUAL_FATAL(dcfg_add_loop(process, &routine.loops, &loop, &error), 0);
            }
            CU_ASSERT_EQUAL_FATAL(dcfg_add_routine(process, &routine, &error), 0);
        }
        fixture_seal(graph, walk.edges, walk.edge_count);
        struct graph_profile profile;
        struct hot_paths paths;
        CU_ASSERT_EQUAL_FATAL(graph_profile_make(&profile, process, &error), 0);
        CU_ASSERT_EQUAL_FATAL(hot_paths_find(&paths, &profile, UINT64_MAX, &error), 0);
        for (size_t p = 0; p < paths.path_count; p++)
            CU_ASSERT(paths.paths[p].at_least <= paths.paths[p].at_most);
        hot_paths_clear(&paths);
        graph_profile_clear(&profile);
        dcfg_free(graph);
    }
}

static const struct test_case cases[] = {
    {"random walks against their passes, counted one by one", test_random_walks},
    {"two branches", test_two_branches},
    {"loops and routines that contradict themselves", test_unsound},
    {NULL, NULL}};
TEST_SUITE(hot_paths, cases)
