/* What an iteration takes from the one before. */
#include "tests/e2e/depend_kernels/kernels.h"
#define FAMILY "recurrence"
/* clang-format off */

KERNEL(delta, SERIAL, 0) { int last = 0; SHARED(last, int); LOOP(i, 0, n) { B[i] = A[i] - last; last = A[i]; } return 0; }
KERNEL(delta_used_after, SERIAL, 0) { int last = 0; SHARED(last, int); LOOP(i, 0, n) { B[i] = A[i] - last; last = A[i]; } return last; }
KERNEL(delta_two_back, SERIAL, 0) { int p = 0, q = 0; SHARED(p, int); SHARED(q, int); LOOP(i, 0, n) { B[i] = A[i] - q; q = p; p = A[i]; } return 0; }
KERNEL(delta_three_back, SERIAL, 0) { int p = 0, q = 0, r = 0; SHARED(p, int); SHARED(q, int); SHARED(r, int); LOOP(i, 0, n) { B[i] = A[i] + r; r = q; q = p; p = A[i]; } return 0; }
KERNEL(delta_double, SERIAL, 0) { double last = 0; SHARED(last, double); LOOP(i, 0, n) { Y[i] = X[i] - last; last = X[i]; } return 0; }
KERNEL(delta_double_two_back, SERIAL, 0) { double p = 0, q = 0; SHARED(p, double); SHARED(q, double); LOOP(i, 0, n) { Y[i] = X[i] * q; q = p; p = X[i]; } return 0; }
KERNEL(delta_float, SERIAL, 0) { float last = 1; SHARED(last, float); LOOP(i, 0, n) { G[i] = F[i] + last; last = F[i]; } return 0; }
KERNEL(delta_char, SERIAL, 0) { unsigned char last = 0; SHARED(last, unsigned char); LOOP(i, 0, n) { O[i] = (unsigned char)(T[i] ^ last); last = T[i]; } return 0; }
KERNEL(delta_short, SERIAL, 0) { short last = 0; SHARED(last, short); LOOP(i, 0, n) { Q[i] = (short)(S[i] - last); last = S[i]; } return 0; }
KERNEL(delta_long, SERIAL, 0) { long last = 0; SHARED(last, long); LOOP(i, 0, n) { K[i] = L[i] - last; last = L[i]; } return 0; }
KERNEL(delta_global, SERIAL, 0) { g = 0; LOOP(i, 0, n) { B[i] = A[i] - g; g = A[i]; } return g; }
KERNEL(delta_global_double, SERIAL, 0) { gx = 0; LOOP(i, 0, n) { Y[i] = X[i] - gx; gx = X[i]; } return 0; }
KERNEL(equal_neighbours, SERIAL, 0) { int last = -1, same = 0; SHARED(last, int); REDUCE(same, int, ADD); LOOP(i, 0, n) { same += A[i] / 9 == last; last = A[i] / 9; } return same; }
KERNEL(changes, SERIAL, 0) { int last = -1, runs = 0; SHARED(last, int); REDUCE(runs, int, ADD); LOOP(i, 0, n) { if (A[i] / 30 != last) runs++; last = A[i] / 30; } return runs; }
KERNEL(rising, SERIAL, 0) { double last = 0; int count = 0; SHARED(last, double); REDUCE(count, int, ADD); LOOP(i, 0, n) { count += X[i] > last; last = X[i]; } return count; }
KERNEL(sum_of_differences, SERIAL, 0) { int last = 0, s = 0; SHARED(last, int); REDUCE(s, int, ADD); LOOP(i, 0, n) { const int d = A[i] - last; s += d < 0 ? -d : d; last = A[i]; } return s; }
KERNEL(follow_table, SERIAL, 0) { int v = 0; SHARED(v, int); LOOP(i, 0, n) { B[i] = v; v = C[A[i]]; } return 0; }
KERNEL(double_of_index, SERIAL, 0) { double v = 0; SHARED(v, double); LOOP(i, 0, n) { Y[i] = v; v = X[A[i]]; } return 0; }
KERNEL(last_index, SERIAL, 0) { int j = 0; SHARED(j, int); LOOP(i, 0, n) { B[j] = i; j = PERM[i]; } return 0; }
KERNEL(chase, SERIAL, 0) { int j = 0; SHARED(j, int); LOOP(i, 0, n) { j = ANY[j]; B[i] = j; } return 0; }
KERNEL(chase_only, SERIAL, 0) { int j = 0; SHARED(j, int); LOOP(i, 0, n) j = ANY[(j + i) % N]; return j; }
KERNEL(linear_congruence, SERIAL, 0) { unsigned s = 1; SHARED(s, unsigned); LOOP(i, 0, n) { s = s * 1664525u + 1013904223u; W[i] = s; } return 0; }
KERNEL(xorshift, SERIAL, 0) { unsigned s = 1; SHARED(s, unsigned); LOOP(i, 0, n) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; W[i] = s; } return 0; }
KERNEL(fibonacci, SERIAL, 0) { unsigned p = 0, q = 1; SHARED(p, unsigned); SHARED(q, unsigned); LOOP(i, 0, n) { const unsigned t = p + q; p = q; q = t; W[i] = t; } return 0; }
KERNEL(hash, SERIAL, 0) { unsigned h = 5381; SHARED(h, unsigned); LOOP(i, 0, n) h = h * 33 + T[i]; return h; }
KERNEL(crc, SERIAL, 0) { unsigned c = ~0u; SHARED(c, unsigned); LOOP(i, 0, n) c = U[(c ^ T[i]) & 255] ^ c >> 8; return c; }
KERNEL(horner, SERIAL, 0) { double s = 0; SHARED(s, double); LOOP(i, 0, n) s = s * 0.5 + X[i]; return (long)(s * 1e6); }
KERNEL(smooth, SERIAL, 0) { double s = 0; SHARED(s, double); LOOP(i, 0, n) { s = 0.75 * s + 0.25 * X[i]; Y[i] = s; } return 0; }
KERNEL(swap_halves, SERIAL, 0) { double a = 1, b = 2; SHARED(a, double); SHARED(b, double); LOOP(i, 0, n) { Y[i] = a; a = b; b = X[i]; } return 0; }
KERNEL(wrap_around, SERIAL, 0) { int im1 = n - 1; SHARED(im1, int); LOOP(i, 0, n) { B[i] = A[im1] + 1; im1 = (i * 7) % n; } return 0; }
KERNEL(toggle, SERIAL, 0) { int odd = 0; SHARED(odd, int); LOOP(i, 0, n) { B[i] = odd ? A[i] : C[i]; odd ^= A[i] < 30; } return 0; }

#undef FAMILY
#define FAMILY "step_and_max"
KERNEL(step_and_max, SERIAL, 0) { int s = 0; REDUCE(s, int, MAX); LOOP(i, 0, n) { s -= 3; if (A[i] > s) s = A[i]; } return s; }
KERNEL(step_and_min, SERIAL, 0) { int s = 0; REDUCE(s, int, MIN); LOOP(i, 0, n) { s += 3; if (A[i] < s) s = A[i]; } return s; }
KERNEL(add_and_xor, SERIAL, 0) { unsigned s = 0; REDUCE(s, unsigned, XOR); LOOP(i, 0, n) { s += 5; s ^= U[i]; } return s; }
KERNEL(add_and_or, SERIAL, 0) { unsigned s = 0; REDUCE(s, unsigned, OR); LOOP(i, 0, n) { s += 1; s |= W[i] & 0x55; } return s; }
KERNEL(add_and_and, SERIAL, 0) { unsigned s = ~0u; REDUCE(s, unsigned, AND); LOOP(i, 0, n) { s -= 3; s &= U[i] | 0xff0f; } return s; }
KERNEL(add_and_mul, SERIAL, 0) { unsigned s = 1; REDUCE(s, unsigned, MUL); LOOP(i, 0, n) { s *= U[i] | 1; s += 7; } return s; }
KERNEL(max_then_add, SERIAL, 0) { double s = 0; REDUCE(s, double, MAX); LOOP(i, 0, n) { s = X[i] > s ? X[i] : s; s -= 2; } return (long)s; }
KERNEL(min_and_max, SERIAL, 0) { int s = 0; REDUCE(s, int, MAX); LOOP(i, 0, n) { if (A[i] > s) s = A[i]; if (B[i] < s) s = B[i]; } return s; }
KERNEL(clamp, SERIAL, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { s += A[i] - 48; if (s < 0) s = 0; } return s; }
KERNEL(saturate, SERIAL, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { s += A[i] - 48; if (s > 100) s = 100; } return s; }

#undef FAMILY
#define FAMILY "mixed"
KERNEL(add_or_mul, SERIAL, 0) { unsigned s = 1; REDUCE(s, unsigned, ADD); LOOP(i, 0, n) { if (A[i] & 1) s += U[i]; else s *= W[i] | 1; } return s; }
KERNEL(xor_or_add, SERIAL, 0) { unsigned s = 1; REDUCE(s, unsigned, XOR); LOOP(i, 0, n) { if (A[i] & 1) s += U[i]; else s ^= W[i]; } return s; }
KERNEL(narrow_and_wide, SERIAL, 0) { unsigned s = 0; REDUCE(s, unsigned, ADD); LOOP(i, 0, n) { s += U[i]; s = (s & 0xffffff00u) | ((s + T[i]) & 0xffu); } return s; }
KERNEL(add_reads_itself, SERIAL, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { s += A[i]; B[i] = s; } return s; }
KERNEL(sum_decides, SERIAL, 0) { int s = 0, c = 0; REDUCE(s, int, ADD); REDUCE(c, int, ADD); LOOP(i, 0, n) { s += A[i] - 48; if (s < 0) c++; } return c; }
KERNEL(sum_indexes, SERIAL, 0) { unsigned s = 0; REDUCE(s, unsigned, ADD); LOOP(i, 0, n) { s += T[i] & 1; B[s] = i; } return s; }
KERNEL(two_sums_cross, SERIAL, 0) { int s = 0, t = 0; REDUCE(s, int, ADD); REDUCE(t, int, ADD); LOOP(i, 0, n) { s += A[i]; t += s; } return t; }
KERNEL(difference, SERIAL, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) s = A[i] - s / 2; return s; }
