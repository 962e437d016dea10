/* What may be combined in any order, and what needs nothing of another iteration. */
#include "tests/e2e/depend_kernels/kernels.h"
#define FAMILY "reduction"
/* clang-format off */

KERNEL(sum, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) s += A[i]; return s; }
KERNEL(sum_long, REDUCTION, 0) { long s = 0; REDUCE(s, long, ADD); LOOP(i, 0, n) s += L[i]; return s; }
KERNEL(sum_widened, REDUCTION, 0) { long s = 0; REDUCE(s, long, ADD); LOOP(i, 0, n) s += T[i]; return s; }
KERNEL(sum_double, REDUCTION, 0) { double s = 0; REDUCE(s, double, ADD); LOOP(i, 0, n) s += X[i]; return (long)s; }
KERNEL(sum_float, REDUCTION, 0) { float s = 0; REDUCE(s, float, ADD); LOOP(i, 0, n) s += F[i]; return (long)s; }
KERNEL(dot, REDUCTION, 0) { double s = 0; REDUCE(s, double, ADD); LOOP(i, 0, n) s += X[i] * Y[i]; return (long)s; }
KERNEL(product, REDUCTION, 0) { double s = 1; REDUCE(s, double, MUL); LOOP(i, 0, n) s *= P[i]; return (long)(s * 1024); }
KERNEL(product_whole, REDUCTION, 0) { unsigned s = 1; REDUCE(s, unsigned, MUL); LOOP(i, 0, n) s *= U[i] | 1; return s; }
KERNEL(maximum, REDUCTION, 0) { int s = A[0]; REDUCE(s, int, MAX); LOOP(i, 1, n) if (A[i] > s) s = A[i]; return s; }
KERNEL(minimum, REDUCTION, 0) { int s = A[0]; REDUCE(s, int, MIN); LOOP(i, 1, n) if (A[i] < s) s = A[i]; return s; }
KERNEL(maximum_double, REDUCTION, 0) { double s = X[0]; REDUCE(s, double, MAX); LOOP(i, 1, n) s = X[i] > s ? X[i] : s; return (long)s; }
KERNEL(all_bits, REDUCTION, 0) { unsigned s = 0; REDUCE(s, unsigned, OR); LOOP(i, 0, n) s |= U[i] & W[i] & 0xf0f0; return s; }
KERNEL(common_bits, REDUCTION, 0) { unsigned s = ~0u; REDUCE(s, unsigned, AND); LOOP(i, 0, n) s &= U[i] | 0xabcd; return s; }
KERNEL(parity, REDUCTION, 0) { unsigned s = 0; REDUCE(s, unsigned, XOR); LOOP(i, 0, n) s ^= U[i]; return s; }
KERNEL(count_if, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) if (A[i] > 40) s++; return s; }
KERNEL(sum_if, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) if (A[i] > 40) s += B[i]; return s; }
KERNEL(sum_minus, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { s += A[i]; s -= B[i]; } return s; }
KERNEL(sum_global, REDUCTION, 0) { REDUCE(g, int, ADD); LOOP(i, 0, n) g += A[i]; return g; }
KERNEL(sum_global_store, REDUCTION, 0) { REDUCE(g, int, ADD); LOOP(i, 0, n) { g += A[i]; B[i] = C[i]; } return g; }
KERNEL(two_sums, REDUCTION, 0) { int s = 0, t = 0; REDUCE(s, int, ADD); REDUCE(t, int, ADD); LOOP(i, 0, n) { s += A[i]; t += B[i]; } return s * 1000L + t; }
KERNEL(sum_and_map, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { s += A[i]; B[i] = A[i] + 1; } return s; }
KERNEL(histogram, REDUCTION, 0) { REDUCE(H, int, ADD); LOOP(i, 0, n) H[FEW[i]]++; return 0; }
KERNEL(histogram_weights, REDUCTION, 0) { REDUCE(R, double, ADD); LOOP(i, 0, n) R[FEW[i]] += X[i]; return 0; }
KERNEL(atomic_count, REDUCTION, 0) { REDUCE(g, int, ADD); LOOP(i, 0, n) __atomic_fetch_add(&g, A[i], __ATOMIC_SEQ_CST); return 0; }

#undef FAMILY
#define FAMILY "independent"
KERNEL(map, INDEPENDENT, 0) { LOOP(i, 0, n) B[i] = A[i] * 3 + 1; return 0; }
KERNEL(stencil, INDEPENDENT, 0) { LOOP(i, 1, n) B[i] = A[i - 1] + A[i + 1]; return 0; }
KERNEL(add_double, INDEPENDENT, 0) { LOOP(i, 0, n) Z[i] = X[i] + Y[i]; return 0; }
KERNEL(in_place, INDEPENDENT, 0) { LOOP(i, 0, n) A[i] = A[i] * 2; return 0; }
KERNEL(reverse, INDEPENDENT, 0) { LOOP_DOWN(i, n - 1, 0) B[i] = A[i] + 1; return 0; }
KERNEL(strided, INDEPENDENT, 0) { LOOP_BY(i, 0, n, 2) A[i] = A[i + 1] + B[i]; return 0; }
KERNEL(scatter, INDEPENDENT, 0) { LOOP(i, 0, n) B[PERM[i]] = A[i]; return 0; }
KERNEL(gather, INDEPENDENT, 0) { LOOP(i, 0, n) B[i] = A[ANY[i]]; return 0; }
KERNEL(induction, INDEPENDENT, 0) { int j = 3; INDUCTION(j, int, 2); LOOP(i, 0, n) { B[j] = A[i]; j += 2; } return 0; }
KERNEL(condition, INDEPENDENT, 0) { LOOP(i, 0, n) if (A[i] > 40) B[i] = A[i]; else B[i] = C[i]; return 0; }
KERNEL(temporary, INDEPENDENT, 0) { LOOP(i, 0, n) { const int t = A[i] * A[i]; B[i] = t + t / 3; } return 0; }

#undef FAMILY
#define FAMILY "private"
KERNEL(private_scalar, PRIVATIZABLE, SINKS) { PRIVATE(g, int); LOOP(i, 0, n) { g = A[i] * 2; B[i] = g + 1; } return 0; }
KERNEL(private_array, PRIVATIZABLE, 0) { PRIVATE(H, int); LOOP(i, 0, n) { for (int k = 0; k < 8; k++) H[k] = A[i] + k; B[i] = H[A[i] & 7]; } return 0; }
KERNEL(read_ahead, PRIVATIZABLE, 0) { LOOP(i, 0, n) A[i] = A[i + 1] + B[i]; return 0; }
KERNEL(overwrite, PRIVATIZABLE, 0) { PRIVATE(H, int); LOOP(i, 0, n) H[FEW[i]] = A[i]; return 0; }
KERNEL(last_if, PRIVATIZABLE, 0) { int k = -1; PRIVATE(k, int); LOOP(i, 0, n) if (A[i] > 90) k = i; return k; }

#undef FAMILY
#define FAMILY "memory"
KERNEL(prefix, SERIAL, 0) { LOOP(i, 1, n) B[i] = B[i - 1] + A[i]; return 0; }
KERNEL(far, DISTANCE, 0) { LOOP(i, 16, n) B[i] = B[i - 16] + 1; return 0; }
KERNEL(far_4, DISTANCE, 0) { LOOP(i, 4, n) B[i] = B[i - 4] * 3; return 0; }
KERNEL(far_2, DISTANCE, 0) { LOOP(i, 2, n) X[i] = X[i - 2] + Y[i]; return 0; }
KERNEL(tickets, SERIAL, 0) { REDUCE(H, int, ADD); LOOP(i, 0, n) B[i] = H[FEW[i]]++; return 0; }
KERNEL(argmax, SERIAL, 0) { int m = A[0], k = 0; REDUCE(m, int, MAX); PRIVATE(k, int); LOOP(i, 1, n) if (A[i] > m) { m = A[i]; k = i; } return k; }
KERNEL(compact, SERIAL, 0) { int k = 0; REDUCE(k, int, ADD); LOOP(i, 0, n) if (A[i] & 1) B[k++] = A[i]; return k; }
KERNEL(search, SERIAL, DECLARED) { C[n - 1] = 1000; for (int i = 0; i < n; i++) if (C[i] == 1000) return i; return -1; }
