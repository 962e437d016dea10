/* driver list | run FIRST COUNT TIMES | oracle: runs the kernels that are linked with it. */
#include "tests/e2e/depend_kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int A[ROOM], B[ROOM], C[ROOM], D[ROOM];
unsigned U[ROOM], W[ROOM];
long L[ROOM], K[ROOM];
short S[ROOM], Q[ROOM];
unsigned char T[ROOM], O[ROOM];
double X[ROOM], Y[ROOM], Z[ROOM], P[ROOM], V[ROOM];
float F[ROOM], G[ROOM], E[ROOM];
int PERM[ROOM], ANY[ROOM], FEW[ROOM];
int H[ROOM];
double R[ROOM];
int M1[SIDE][SIDE], M2[SIDE][SIDE], M3[SIDE][SIDE];
int g, g2;
unsigned gu;
long gl;
double gx, gy;

extern const struct kernel *const __start_kernel_list[], *const __stop_kernel_list[];

struct area {
    void *at;
    size_t size, element;
};

#define ALL(X_)                                                                                    \
    {                                                                                              \
        X_, sizeof X_, sizeof *X_                                                                  \
    }
#define ONE(X_)                                                                                    \
    {                                                                                              \
        &X_, sizeof X_, sizeof X_                                                                  \
    }
#define MATRIX(X_)                                                                                 \
    {                                                                                              \
        X_, sizeof X_, sizeof **X_                                                                 \
    }
static const struct area areas[] = {
    ALL(A),     ALL(B), ALL(C),    ALL(D),   ALL(U),   ALL(W),  ALL(L), ALL(K),     ALL(S),
    ALL(Q),     ALL(T), ALL(O),    ALL(X),   ALL(Y),   ALL(Z),  ALL(P), ALL(V),     ALL(F),
    ALL(G),     ALL(E), ALL(PERM), ALL(ANY), ALL(FEW), ALL(H),  ALL(R), MATRIX(M1), MATRIX(M2),
    MATRIX(M3), ONE(g), ONE(g2),   ONE(gu),  ONE(gl),  ONE(gx), ONE(gy)};
#define AREAS (sizeof areas / sizeof *areas)

static uint64_t random_state;

static unsigned random_below(unsigned limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % limit;
}

static void fill(unsigned seed)
{
    random_state = seed;
    for (size_t a = 0; a < AREAS; a++)
        memset(areas[a].at, 0, areas[a].size);
    for (int i = 0; i < ROOM; i++) {
        A[i] = (int)random_below(97), B[i] = (int)random_below(97), C[i] = (int)random_below(97);
        D[i] = (int)random_below(97), L[i] = random_below(97), K[i] = random_below(97);
        U[i] = random_below(1u << 31) * 2 + random_below(2), W[i] = random_below(1u << 31);
        S[i] = (short)random_below(97), Q[i] = (short)random_below(97);
        T[i] = (unsigned char)random_below(97), O[i] = (unsigned char)random_below(97);
        X[i] = random_below(97), Y[i] = random_below(97), Z[i] = random_below(97),
        V[i] = random_below(97);
        P[i] = (const double[]){1, -1, 1, -1, 2, 0.5}[random_below(6)];
        F[i] = (float)random_below(97), G[i] = (float)random_below(97);
        E[i] = (float)random_below(97);
        PERM[i] = i < N ? i : 0, ANY[i] = (int)random_below(N), FEW[i] = (int)random_below(16);
    }
    for (int i = N - 1; i > 0; i--) {
        const int j = (int)random_below((unsigned)i + 1), was = PERM[i];
        PERM[i] = PERM[j], PERM[j] = was;
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        M1[0][i] = (int)random_below(97), M2[0][i] = (int)random_below(97);
        M3[0][i] = (int)random_below(97);
    }
}

static unsigned char *save(void)
{
    size_t size = 0;
    for (size_t a = 0; a < AREAS; a++)
        size += areas[a].size;
    unsigned char *saved = malloc(size), *to = saved;
    if (!saved)
        exit(2);
    for (size_t a = 0; a < AREAS; to += areas[a++].size)
        memcpy(to, areas[a].at, areas[a].size);
    return saved;
}

static void restore(const unsigned char *from)
{
    for (size_t a = 0; a < AREAS; from += areas[a++].size)
        memcpy(areas[a].at, from, areas[a].size);
}

#ifdef ORACLE

enum mode { MODE_PLAIN, MODE_INDEPENDENT, MODE_PRIVATE, MODE_REDUCE, MODE_BLOCKS };

#define VARIES_MAX 8
struct varied {
    struct vary vary;
    unsigned char *before, *after, *poison; /* the loop; so far; what the iteration began with */
    int *writer;                            /* the last iteration that wrote the element, or -1 */
};
static struct {
    enum mode mode;
    int is_alone; /* each iteration begins from the state before the loop */
    int block;    /* iterations that begin from the same state */
    struct varied varies[VARIES_MAX];
    int varied;
    int order[ROOM], count, done, running;
    int from, step;
    int left;                      /* iterations of this block */
    unsigned char *before, *after; /* all areas */
} oracle;

void oracle_vary(const struct vary *vary)
{
    if (oracle.varied == VARIES_MAX)
        abort();
    oracle.varies[oracle.varied++].vary = *vary;
}

static double real_get(const struct vary *vary, const unsigned char *at)
{
    float f;
    double d;
    memcpy(&f, at, sizeof f);
    if (vary->size == sizeof f)
        return f;
    memcpy(&d, at, sizeof d);
    return d;
}

static void real_set(const struct vary *vary, unsigned char *at, double value)
{
    const float f = (float)value;
    if (vary->size == sizeof f)
        memcpy(at, &f, sizeof f);
    else
        memcpy(at, &value, sizeof value);
}

static uint64_t whole_get(const struct vary *vary, const unsigned char *at)
{
    uint64_t value = 0;
    memcpy(&value, at, vary->size);
    const unsigned shift = 64 - 8 * (unsigned)vary->size;
    return vary->is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

static void whole_set(const struct vary *vary, unsigned char *at, uint64_t value)
{
    memcpy(at, &value, vary->size);
}

static void set_identity(const struct vary *vary, unsigned char *at)
{
    if (vary->is_float) {
        real_set(vary, at,
                 vary->operation == MUL   ? 1
                 : vary->operation == MIN ? 1e30
                 : vary->operation == MAX ? -1e30
                                          : 0);
        return;
    }
    const uint64_t most = (vary->is_signed ? ~0ull >> 1 : ~0ull) >> (64 - 8 * vary->size);
    const uint64_t least = vary->is_signed ? most + 1 : 0;
    const uint64_t values[] = {0, 1, ~0ull, 0, 0, most, least};
    whole_set(vary, at, values[vary->operation]);
}

static void combine(const struct vary *vary, unsigned char *to, const unsigned char *from)
{
    if (vary->is_float) {
        const double a = real_get(vary, to), b = real_get(vary, from);
        real_set(vary, to,
                 vary->operation == ADD   ? a + b
                 : vary->operation == MUL ? a * b
                 : vary->operation == MIN ? (a < b ? a : b)
                                          : (a > b ? a : b));
        return;
    }
    const uint64_t a = whole_get(vary, to), b = whole_get(vary, from);
    const int less = vary->is_signed ? (int64_t)a < (int64_t)b : a < b;
    const uint64_t values[] = {a + b, a * b, a & b, a | b, a ^ b, less ? a : b, less ? b : a};
    whole_set(vary, to, values[vary->operation]);
}

static enum varying treatment(const struct vary *vary)
{
    if (vary->varying == VARY_PRIVATE && oracle.mode < MODE_PRIVATE)
        return VARY_SHARED;
    return vary->varying == VARY_REDUCED && oracle.mode < MODE_REDUCE ? VARY_SHARED : vary->varying;
}

static void shuffle(int *values, int count)
{
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)random_below((unsigned)i + 1), was = values[i];
        values[i] = values[j], values[j] = was;
    }
}

static void oracle_clear(void)
{
    for (int v = 0; v < VARIES_MAX; v++) {
        free(oracle.varies[v].before);
        free(oracle.varies[v].after);
        free(oracle.varies[v].poison);
        free(oracle.varies[v].writer);
        oracle.varies[v] = (struct varied){0};
    }
    free(oracle.before);
    free(oracle.after);
    oracle.before = oracle.after = NULL;
    oracle.varied = 0;
}

void oracle_begin(int from, int to, int step)
{
    oracle.from = from, oracle.step = step, oracle.done = 0, oracle.running = -1;
    oracle.count = 0;
    for (int i = from; step > 0 ? i < to : i > to; i += step)
        oracle.order[oracle.count] = oracle.count, oracle.count++;
    if (oracle.mode == MODE_PLAIN)
        return;
    oracle.left = oracle.mode == MODE_BLOCKS ? 1 + (int)random_below((unsigned)oracle.block) : 0;
    if (oracle.mode == MODE_INDEPENDENT)
        shuffle(oracle.order, oracle.count);
    for (int v = 0; v < oracle.varied; v++) {
        struct varied *varied = &oracle.varies[v];
        const size_t size = varied->vary.size * varied->vary.count;
        varied->before = malloc(size), varied->after = malloc(size), varied->poison = malloc(size);
        varied->writer = malloc(varied->vary.count * sizeof(int));
        if (!varied->before || !varied->after || !varied->poison || !varied->writer)
            exit(2);
        memcpy(varied->before, varied->vary.at, size);
        memcpy(varied->after, varied->vary.at, size);
        for (size_t i = 0; i < varied->vary.count; i++)
            varied->writer[i] = -1;
    }
    if (oracle.is_alone)
        oracle.before = save(), oracle.after = save();
}

/* Values that no data has, which are indices, too. */
static void set_poison(struct varied *varied)
{
    for (size_t i = 0; i < varied->vary.count; i++) {
        unsigned char *to = varied->poison + i * varied->vary.size;
        if (varied->vary.is_float)
            real_set(&varied->vary, to, 97 + random_below(28) + 0.125);
        else
            whole_set(&varied->vary, to, 97 + random_below(28));
    }
}

static void iteration_begin(int iteration)
{
    if (oracle.is_alone)
        restore(oracle.before);
    for (int v = 0; v < oracle.varied; v++) {
        struct varied *varied = &oracle.varies[v];
        const struct vary *vary = &varied->vary;
        unsigned char *at = vary->at;
        switch (treatment(vary)) {
        case VARY_SHARED:
            if (oracle.is_alone)
                memcpy(at, varied->before, vary->size * vary->count);
            break;
        case VARY_PRIVATE:
            set_poison(varied);
            memcpy(at, varied->poison, vary->size * vary->count);
            break;
        case VARY_INDUCTION:
            if (vary->is_float)
                real_set(vary, at, real_get(vary, varied->before) + (double)vary->step * iteration);
            else
                whole_set(vary, at,
                          whole_get(vary, varied->before) + (uint64_t)(vary->step * iteration));
            break;
        case VARY_REDUCED:
            for (size_t i = 0; i < vary->count; i++)
                set_identity(vary, at + i * vary->size);
        }
    }
}

static void variable_end(struct varied *varied, int iteration)
{
    const struct vary *vary = &varied->vary;
    for (size_t i = 0; i < vary->count; i++) {
        const size_t offset = i * vary->size;
        unsigned char *at = (unsigned char *)vary->at + offset;
        switch (treatment(vary)) {
        case VARY_SHARED:
            if (oracle.is_alone && (vary->varying == VARY_REDUCED || /* it is always written */
                                    memcmp(at, varied->before + offset, vary->size) != 0))
                memcpy(varied->after + offset, at, vary->size);
            break;
        case VARY_PRIVATE:
            if (memcmp(at, varied->poison + offset, vary->size) != 0 &&
                iteration > varied->writer[i]) {
                varied->writer[i] = iteration;
                memcpy(varied->after + offset, at, vary->size);
            }
            break;
        case VARY_INDUCTION:
            break;
        case VARY_REDUCED:
            combine(vary, varied->after + offset, at);
        }
    }
    if (oracle.is_alone) /* no area differs by it */
        memcpy(vary->at, varied->before, vary->size * vary->count);
}

static void iteration_end(int iteration)
{
    for (int v = 0; v < oracle.varied; v++)
        variable_end(&oracle.varies[v], iteration);
    if (!oracle.is_alone)
        return;
    size_t at = 0;
    for (size_t a = 0; a < AREAS; at += areas[a++].size) {
        if (memcmp(areas[a].at, oracle.before + at, areas[a].size) == 0)
            continue;
        for (size_t i = 0; i < areas[a].size; i += areas[a].element) {
            const unsigned char *now = (unsigned char *)areas[a].at + i;
            if (memcmp(now, oracle.before + at + i, areas[a].element) != 0)
                memcpy(oracle.after + at + i, now, areas[a].element);
        }
    }
}

static void loop_end(void)
{
    if (oracle.is_alone)
        restore(oracle.after);
    for (int v = 0; v < oracle.varied; v++) {
        struct varied *varied = &oracle.varies[v];
        const struct vary *vary = &varied->vary;
        const enum varying as = treatment(vary);
        if (as == VARY_INDUCTION && vary->is_float)
            real_set(vary, vary->at,
                     real_get(vary, varied->before) + (double)vary->step * oracle.count);
        else if (as == VARY_INDUCTION)
            whole_set(vary, vary->at,
                      whole_get(vary, varied->before) + (uint64_t)(vary->step * oracle.count));
        else if (as != VARY_SHARED || oracle.is_alone)
            memcpy(vary->at, varied->after, vary->size * vary->count);
    }
    oracle_clear();
}

/* What the block before has written is seen from here on. */
static void block_begin(void)
{
    size_t size = 0;
    for (size_t a = 0; a < AREAS; a++)
        size += areas[a].size;
    memcpy(oracle.before, oracle.after, size);
    for (int v = 0; v < oracle.varied; v++) {
        struct varied *varied = &oracle.varies[v];
        if (treatment(&varied->vary) == VARY_SHARED)
            memcpy(varied->before, varied->after, varied->vary.size * varied->vary.count);
    }
    oracle.left = oracle.block - 1;
}

int oracle_next(int *i)
{
    const int plain = oracle.mode == MODE_PLAIN;
    if (!plain && oracle.running >= 0)
        iteration_end(oracle.running);
    if (oracle.done == oracle.count) {
        if (plain)
            oracle_clear();
        else
            loop_end();
        return 0;
    }
    if (oracle.mode == MODE_BLOCKS && oracle.left-- == 0)
        block_begin();
    oracle.running = oracle.order[oracle.done++];
    *i = oracle.from + oracle.step * oracle.running;
    if (!plain)
        iteration_begin(oracle.running);
    return 1;
}

#define DATA_SEEDS  4u
#define ORDER_SEEDS 2u

static int is_same(const struct kernel *kernel, enum mode mode, int block)
{
    int same = 1;
    for (unsigned seed = 1; seed <= DATA_SEEDS && same; seed++) {
        fill(seed);
        oracle.mode = MODE_PLAIN;
        const long result = kernel->run(N);
        oracle_clear();
        unsigned char *expected = save();
        for (unsigned order = 1; order <= ORDER_SEEDS && same; order++)
            for (int alone = mode != MODE_INDEPENDENT; alone < 2 && same; alone++) {
                fill(seed);
                random_state = order;
                oracle.mode = mode, oracle.block = block, oracle.is_alone = alone;
                same = kernel->run(N) == result;
                oracle_clear();
                const unsigned char *at = expected;
                for (size_t a = 0; a < AREAS; at += areas[a++].size)
                    same &= memcmp(areas[a].at, at, areas[a].size) == 0;
            }
        free(expected);
    }
    return same;
}

/* NAME TRUTH DISTANCE: the least that a verdict must promise. */
static void judge(const struct kernel *kernel)
{
    for (int mode = MODE_INDEPENDENT; mode <= MODE_REDUCE; mode++)
        if (is_same(kernel, (enum mode)mode, 0)) {
            printf("%s %u 0\n", kernel->name, mode - MODE_INDEPENDENT + INDEPENDENT);
            return;
        }
    int block = 1;
    while (block < 100 && is_same(kernel, MODE_BLOCKS, block + 1))
        block++;
    printf("%s %u %d\n", kernel->name, block > 1 ? DISTANCE : SERIAL, block);
}

int main(void)
{
    for (const struct kernel *const *k = __start_kernel_list; k < __stop_kernel_list; k++)
        if (!((*k)->flags & DECLARED))
            judge(*k);
    return 0;
}

#else

int main(int argc, char **argv)
{
    const int kernels = (int)(__stop_kernel_list - __start_kernel_list);
    if (argc != 4) {
        for (int i = 0; i < kernels; i++)
            printf("%s %s %u %u\n", __start_kernel_list[i]->name, __start_kernel_list[i]->family,
                   __start_kernel_list[i]->truth, __start_kernel_list[i]->flags);
        return 0;
    }
    const int first = atoi(argv[1]), count = atoi(argv[2]), times = atoi(argv[3]);
    fill(1);
    unsigned char *saved = save();
    for (int i = first; i < first + count && i < kernels; i++) {
        restore(saved);
        for (int time = 0; time < times; time++)
            __start_kernel_list[i]->run(N);
    }
    free(saved);
    return 0;
}

#endif
