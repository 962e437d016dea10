/* Kernels for depend_kernels.test.sh. Each is a function with one loop LOOP that `bustap depend`
 * judges. The same source is compiled twice: as it is, to be analysed, and with -DORACLE, where
 * LOOP runs its iterations in another order or each from the state before the loop. What the result
 * is then says what a verdict may promise. */
#ifndef DEPEND_KERNELS_H
#define DEPEND_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define N    240 /* iterations of most loops */
#define ROOM 512 /* elements of most arrays */
#define SIDE 20  /* rows and columns of matrices */

#ifdef __cplusplus
extern "C" {
#endif

enum kernel_truth { INDEPENDENT, PRIVATIZABLE, REDUCTION, DISTANCE, SERIAL };

enum kernel_flags {
    ORACLE_RUNS = 0,
    DECLARED = 1, /* no loop that the oracle can reorder: an exit, a list, a system call */
    INNER = 2,    /* LOOP is in another loop of its function */
    SINKS = 4,    /* compilers move the last value out of the loop: then it is independent */
    ONCE = 8,     /* one iteration each time: a verdict other than serial must say so */
    EITHER = 16,  /* serial is as good: the loop calls the library, or may end the program */
};

struct kernel {
    const char *name;
    const char *family; /* the class that the figures are given for */
    long (*run)(int n);
    unsigned truth, flags;
};

/* What iterations share. */
extern int A[ROOM], B[ROOM], C[ROOM], D[ROOM]; /* from 0 to 96 */
extern unsigned U[ROOM], W[ROOM];              /* 32 bits */
extern long L[ROOM], K[ROOM];                  /* from 0 to 96 */
extern short S[ROOM], Q[ROOM];                 /* from 0 to 96 */
extern unsigned char T[ROOM], O[ROOM];         /* from 0 to 96 */
extern double X[ROOM], Y[ROOM], Z[ROOM], P[ROOM],
    V[ROOM];                                 /* from 0 to 96; P: -1, 1 and a few 2, 0.5 */
extern float F[ROOM], G[ROOM], E[ROOM];      /* from 0 to 96 */
extern int PERM[ROOM], ANY[ROOM], FEW[ROOM]; /* each once, any, from 0 to 15; all below N */
extern int H[ROOM];                          /* zeros */
extern double R[ROOM];                       /* zeros */
extern int M1[SIDE][SIDE], M2[SIDE][SIDE], M3[SIDE][SIDE]; /* from 0 to 96 */
extern int g, g2;                                          /* 0 */
extern unsigned gu;
extern long gl;
extern double gx, gy; /* 0 */

#ifdef __cplusplus
}
#endif

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

#define KERNEL(NAME, TRUTH, FLAGS)                                                                 \
    static long k_##NAME(int n);                                                                   \
    static const struct kernel entry_##NAME = {#NAME, FAMILY, k_##NAME, TRUTH, FLAGS};             \
    static const struct kernel *const listed_##NAME                                                \
        __attribute__((section("kernel_list"), used)) = &entry_##NAME;                             \
    APART static long k_##NAME(int n)

enum varying { VARY_SHARED, VARY_PRIVATE, VARY_INDUCTION, VARY_REDUCED };
enum operation { ADD, MUL, AND, OR, XOR, MIN, MAX };

struct vary {
    void *at;
    size_t size, count; /* of an element; elements */
    unsigned is_float, is_signed;
    enum varying varying;
    enum operation operation;
    long step;
};

#ifdef ORACLE
void oracle_vary(const struct vary *vary);
void oracle_begin(int from, int to, int step);
int oracle_next(int *i);
#define VARY(X_, TYPE, ...)                                                                        \
    oracle_vary(&(struct vary){.at = (void *)&(X_),                                                \
                               .size = sizeof(TYPE),                                               \
                               .count = sizeof(X_) / sizeof(TYPE),                                 \
                               .is_float = (TYPE)0.5 != 0,                                         \
                               .is_signed = (TYPE)-1 < (TYPE)0,                                    \
                               __VA_ARGS__})
#define LOOP_BY(I, FROM, TO, STEP) for (int I = (oracle_begin(FROM, TO, STEP), 0); oracle_next(&I);)
#define LOOP_DOWN(I, FROM, TO)     for (int I = (oracle_begin(FROM, (TO)-1, -1), 0); oracle_next(&I);)
#else
#define VARY(X_, TYPE, ...)        ((void)0)
#define LOOP_BY(I, FROM, TO, STEP) for (int I = (FROM); I < (TO); I += (STEP))
#define LOOP_DOWN(I, FROM, TO)     for (int I = (FROM); I >= (TO); I--)
#endif
#define LOOP(I, FROM, TO)       LOOP_BY(I, FROM, TO, 1)
#define SHARED(X_, TYPE)        VARY(X_, TYPE, .varying = VARY_SHARED)
#define PRIVATE(X_, TYPE)       VARY(X_, TYPE, .varying = VARY_PRIVATE)
#define INDUCTION(X_, TYPE, BY) VARY(X_, TYPE, .varying = VARY_INDUCTION, .step = (BY))
#define REDUCE(X_, TYPE, OP)    VARY(X_, TYPE, .varying = VARY_REDUCED, .operation = (OP))

#endif
