/* Control flow, inductions, storage: shapes of compilers' test suites. */
#include "tests/e2e/depend_kernels/kernels.h"
#define FAMILY "dependence"
/* clang-format off */

KERNEL(even_from_odd, INDEPENDENT, 0) { LOOP_BY(i, 1, n, 2) X[i] = X[i - 1] + Y[i]; return 0; }
KERNEL(down_from_next, PRIVATIZABLE, 0) { LOOP_DOWN(i, n - 2, 0) X[i + 1] = X[i] + Y[i]; return 0; }
KERNEL(down_to_next, SERIAL, 0) { LOOP_DOWN(i, n - 2, 0) X[i] = X[i + 1] + Y[i]; return 0; }
KERNEL(from_first, INDEPENDENT, 0) { LOOP(i, 1, n) X[i] = X[0] + Y[i]; return 0; }
KERNEL(overwrites_first, SERIAL, 0) { LOOP(i, 0, n) X[i] = X[5] + Y[i]; return 0; }
KERNEL(transpose_lower, INDEPENDENT, 0) { LOOP(i, 0, n / 12) for (int j = 0; j < i; j++) M1[i][j] = M1[j][i] + M2[i][j]; return 0; }
KERNEL(solve_columns, SERIAL, 0) { LOOP(j, 0, n / 12) for (int i = j + 1; i < n / 12; i++) A[i] -= M1[j][i] * A[j]; return 0; }
KERNEL(solve_inner, INDEPENDENT, INNER) { for (int j = 0; j < n / 12; j++) { LOOP(i, j + 1, n / 12) A[i] -= M1[j][i] * A[j]; } return 0; }
KERNEL(by_five, SERIAL, 0) { LOOP_BY(i, 0, n - 5, 5) { X[i] = X[i + 1] + X[i]; X[i + 1] = X[i + 2] + X[i + 1]; X[i + 2] = X[i + 3] + X[i + 2]; X[i + 3] = X[i + 4] + X[i + 3]; X[i + 5] = X[i + 4] + 1; } return 0; }
KERNEL(by_five_ahead, PRIVATIZABLE, 0) { LOOP_BY(i, 0, n - 5, 5) { X[i] = X[i + 1] + X[i]; X[i + 1] = X[i + 2] + X[i + 1]; X[i + 4] = X[i + 5] + X[i + 4]; } return 0; }
KERNEL(triangle, SERIAL, 0) { LOOP(i, 1, n / 12) for (int j = 0; j <= i - 1; j++) A[i] += M1[j][i] * A[i - j - 1]; return 0; }
KERNEL(diagonal, SERIAL, 0) { LOOP(i, 1, n / 12) for (int j = 1; j < n / 12; j++) M1[i][j] = M1[i - 1][j - 1] + M2[i][j]; return 0; }
KERNEL(diagonal_inner, INDEPENDENT, INNER) { for (int i = 1; i < n / 12; i++) { LOOP(j, 1, n / 12) M1[i][j] = M1[i - 1][j - 1] + M2[i][j]; } return 0; }
KERNEL(next_by_variable, PRIVATIZABLE, 0) { LOOP(i, 0, n - 1) { const int j = i + 1; X[i] = X[j] + Y[i]; } return 0; }
KERNEL(variable_stride, INDEPENDENT, 0) { int k = 0; INDUCTION(k, int, 1); LOOP_BY(i, 0, n, 3) { k += 1; X[i] += Y[n - k]; } return 0; }
KERNEL(conditional_index, SERIAL, 0) { int j = -1; REDUCE(j, int, ADD); LOOP(i, 0, n / 2) { j++; X[j] = Y[i] + P[i]; if (Z[i] > 48) { j++; X[j] = Z[i]; } } return j; }
KERNEL(both_ways_index, INDEPENDENT, 0) { int j = -1; INDUCTION(j, int, 1); LOOP(i, 0, n) { if (Y[i] > 48) { j++; X[j] = Y[i]; } else { j++; X[j] = Z[i]; } } return j; }
KERNEL(flattened, INDEPENDENT, INNER) { int k = -1; for (int i = 0; i < n / 12; i++) { INDUCTION(k, int, 1); LOOP(j, 0, n / 12) { k++; X[k] = M1[i][j] + Y[k]; } } return k; }
KERNEL(two_inductions, INDEPENDENT, 0) { int j = -1; INDUCTION(j, int, 2); LOOP(i, 0, n / 2) { j++; X[j] = Y[i] + P[i]; j++; X[j] = Z[i]; } return j; }
KERNEL(coupled_inductions, INDEPENDENT, 0) { int j = -1, k; PRIVATE(k, int); INDUCTION(j, int, 2); LOOP(i, 0, n / 2) { k = j + 1; X[i] = Y[k] - V[i]; j = k + 1; Z[i] = X[i] + V[k]; } return j; }
KERNEL(ahead_by_m, PRIVATIZABLE, 0) { const int m = n / 240; LOOP(i, 0, n - 1) X[i] = X[i + m] + Y[i]; return 0; }
KERNEL(packed_triangle, SERIAL, INNER) { for (int i = 0; i < n / 12; i++) { int k = i * (i + 1) / 2 + i; SHARED(k, int); LOOP(j, i, n / 12) { X[k] += M1[j][i]; k += j + 1; } } return 0; }
KERNEL(inverse_halves, INDEPENDENT, 0) { const int k = n / 2; LOOP(i, 0, n / 2) X[i + k] = X[i] + Y[i]; return 0; }
KERNEL(halves_overlap, DISTANCE, 0) { const int k = n / 4; LOOP(i, 0, n / 2) X[i + k] = X[i] + Y[i]; return 0; }
KERNEL(by_argument, INDEPENDENT, 0) { const int inc = n / 120; LOOP(i, 0, n) X[i * inc] += Y[i]; return 0; }
KERNEL(stride_argument, SERIAL, 0) { const int inc = n / 240; LOOP_BY(i, 0, n - 1, inc) X[i + inc] = X[i] + Y[i]; return 0; }
KERNEL(convolution, SERIAL, 0) { LOOP(j, 0, n / 4) for (int i = 0; i < n / 4; i++) A[i] = A[i] / 2 + B[i + n / 4 - j - 1] * C[j]; return 0; }
KERNEL(convolution_inner, INDEPENDENT, INNER) { for (int j = 0; j < n / 4; j++) { LOOP(i, 0, n / 4) A[i] = A[i] / 2 + B[i + n / 4 - j - 1] * C[j]; } return 0; }
KERNEL(neighbours_both, SERIAL, 0) { LOOP(i, 1, n - 1) { X[i] = Y[i - 1] + Z[i]; Y[i] = Y[i + 1] - V[i]; } return 0; }
KERNEL(neighbours_later, SERIAL, 0) { LOOP(i, 1, n) { X[i] = X[i] + Z[i]; Y[i] = Y[i - 1] + X[i]; } return 0; }
KERNEL(needs_a_copy, PRIVATIZABLE, 0) { LOOP(i, 0, n - 1) { X[i] *= Z[i]; Y[i] += X[i + 1] * V[i]; } return 0; }
KERNEL(part_recurrence, SERIAL, 0) { LOOP(i, 1, n) { X[i] += Y[i] * Z[i]; R[i] = R[i - 1] + X[i] + V[i]; } return 0; }
KERNEL(columns, INDEPENDENT, 0) { LOOP(i, 0, n / 12) for (int j = 1; j < n / 12; j++) M1[j][i] = M1[j - 1][i] + M2[j][i]; return 0; }
KERNEL(columns_inner, SERIAL, INNER) { for (int i = 0; i < n / 12; i++) { LOOP(j, 1, n / 12) M1[j][i] = M1[j - 1][i] + M2[j][i]; } return 0; }
KERNEL(rows, SERIAL, 0) { LOOP(j, 1, n / 12) for (int i = 0; i < n / 12; i++) M1[j][i] = M1[j - 1][i] + M2[j][i]; return 0; }
KERNEL(rows_inner, INDEPENDENT, INNER) { for (int j = 1; j < n / 12; j++) { LOOP(i, 0, n / 12) M1[j][i] = M1[j - 1][i] + M2[j][i]; } return 0; }
KERNEL(split_node, PRIVATIZABLE, 0) { LOOP(i, 0, n - 1) { X[i] = Y[i] * Z[i]; Y[i] = X[i] * X[i + 1] + V[i]; } return 0; }
KERNEL(chained_constants, SERIAL, 0) { LOOP(i, 1, n) X[i] = X[i - 1] + 3 + 7 + Y[i] + Z[i]; return 0; }
KERNEL(false_cycle, PRIVATIZABLE, 0) { LOOP(i, 0, n - 1) { X[i] = Y[i] + Z[i] * V[i]; Y[i] = X[i] + Z[i]; X[i + 1] = Y[i] + X[i + 1] * V[i]; } return 0; }
KERNEL(scalar_temporary, INDEPENDENT, 0) { double s = 0; PRIVATE(s, double); LOOP(i, 0, n) { s = Y[i] + Z[i] * V[i]; X[i] = s * s; } return 0; }
KERNEL(carry_around, SERIAL, 0) { double t = 0; SHARED(t, double); LOOP(i, 0, n) { const double s = Y[i] * Z[i]; X[i] = s + t; t = s; } return 0; }
KERNEL(temporary_if, INDEPENDENT, 0) { double s = 0; PRIVATE(s, double); LOOP(i, 0, n) if (X[i] > Y[i]) { s = X[i] - Y[i] * V[i]; Z[i] += s; X[i] = s; } return 0; }
KERNEL(carry_load, SERIAL, 0) { double x = Y[n - 1]; SHARED(x, double); LOOP(i, 0, n) { X[i] = (Y[i] + x) * 0.5; x = Y[i]; } return 0; }
KERNEL(carry_load_two, SERIAL, 0) { double x = Y[n - 1], y = Y[n - 2]; SHARED(x, double); SHARED(y, double); LOOP(i, 0, n) { X[i] = (Y[i] + x + y) * 0.25; y = x; x = Y[i]; } return 0; }
KERNEL(array_as_scalar, SERIAL, 0) { LOOP(i, 1, n / 12) for (int j = 0; j < n / 12; j++) { A[j] = 100 - A[j] / 2; M1[j][i] = A[j] + M2[j][i]; } return 0; }
KERNEL(array_as_scalar_carried, SERIAL, 0) { LOOP(i, 1, n) { A[i] = M1[0][i] - A[i - 1]; M1[0][i] = A[i] + M2[0][i]; } return 0; }
KERNEL(last_positive, SERIAL, 0) { double s = 0; SHARED(s, double); LOOP(i, 0, n) { if (X[i] > 48) s = V[i] * V[i]; Y[i] = s * Z[i] + V[i]; } return 0; }
KERNEL(temporary_two, SERIAL, 0) { double t; PRIVATE(t, double); LOOP(i, 1, n) { t = X[i] + Y[i]; X[i] = t + Z[i - 1]; t = Z[i] * V[i]; Z[i] = t; } return 0; }
KERNEL(two_guards, INDEPENDENT, 0) { LOOP(i, 0, n) { if (Y[i] > 48) X[i] += Y[i] * Z[i]; if (V[i] > 48) R[i] += 1; } return 0; }
KERNEL(guard_read, INDEPENDENT, 0) { LOOP(i, 0, n) { X[i] += Y[i] * Z[i]; if (X[i] > 1000) { Y[i] += X[i] * V[i]; } } return 0; }
KERNEL(guard_inner, INDEPENDENT, 0) { LOOP(i, 0, n / 12) if (A[i] > 48) for (int j = 1; j < n / 12; j++) M1[j][i] = M1[j - 1][i] + M2[j][i]; return 0; }
KERNEL(guard_chain, INDEPENDENT, 0) { LOOP(i, 0, n) { if (X[i] == 0) X[i] += Y[i] * V[i]; else if (X[i] > 60) Z[i] = V[i]; else Z[i] = -V[i]; Y[i] = Z[i] + 1; } return 0; }
KERNEL(guard_goto, SERIAL, 0) { LOOP(i, 1, n - 1) { if (Y[i] < 48) goto other; X[i] = X[i - 1] + Y[i] * V[i]; goto done; other: Y[i] = Y[i + 1] - V[i]; done: Z[i] = X[i]; } return 0; }
KERNEL(guard_other_row, SERIAL, 0) { LOOP(i, 0, n - 1) { if (X[i] < 48) { X[i + 1] = Z[i] + V[i]; Y[i] = X[i]; } } return 0; }
KERNEL(crossing, SERIAL, 0) { LOOP(i, 0, n) { const double x = X[n - i - 1] + Y[i] * Z[i]; X[i] = x - 1; Y[i] = x; } return 0; }
KERNEL(previous_index, SERIAL, 0) { int im1 = n - 1; SHARED(im1, int); LOOP(i, 0, n) { X[i] = (Y[i] + Y[im1]) * 0.5; im1 = i; } return 0; }
KERNEL(previous_two, SERIAL, 0) { int p = n - 1, q = n - 2; SHARED(p, int); SHARED(q, int); LOOP(i, 0, n) { X[i] = Y[i] + Y[p] + Y[q]; q = p; p = i; } return 0; }
KERNEL(main_diagonal, INDEPENDENT, 0) { LOOP(i, 0, n / 12) M1[i][i] += M2[i][i] * M3[i][i]; return 0; }
KERNEL(identity_matrix, INDEPENDENT, 0) { LOOP(i, 0, n / 12) { for (int j = 0; j < n / 12; j++) M1[j][i] = 0; M1[i][i] = 1; } return 0; }
KERNEL(wavefront, SERIAL, 0) { LOOP(j, 1, n / 12) for (int i = 1; i < n / 12; i++) M1[j][i] = (M1[j][i - 1] + M1[j - 1][i]) / 2; return 0; }
KERNEL(wavefront_inner, SERIAL, INNER) { for (int j = 1; j < n / 12; j++) { LOOP(i, 1, n / 12) M1[j][i] = (M1[j][i - 1] + M1[j - 1][i]) / 2; } return 0; }
KERNEL(seidel, SERIAL, 0) { LOOP(i, 1, n / 12 - 1) for (int j = 1; j < n / 12 - 1; j++) M1[i][j] = (M1[i - 1][j] + M1[i][j - 1] + M1[i][j] + M1[i][j + 1] + M1[i + 1][j]) / 5; return 0; }
KERNEL(jacobi, INDEPENDENT, 0) { LOOP(i, 1, n / 12 - 1) for (int j = 1; j < n / 12 - 1; j++) M2[i][j] = (M1[i - 1][j] + M1[i][j - 1] + M1[i][j] + M1[i][j + 1] + M1[i + 1][j]) / 5; return 0; }
KERNEL(jacobi_times, SERIAL, 0) { LOOP(t, 0, n / 12) { for (int i = 1; i < n - 1; i++) Y[i] = (X[i - 1] + X[i] + X[i + 1]) / 4; for (int i = 1; i < n - 1; i++) X[i] = (Y[i - 1] + Y[i] + Y[i + 1]) / 4; } return 0; }
KERNEL(multiply, INDEPENDENT, 0) { LOOP(i, 0, n / 12) for (int j = 0; j < n / 12; j++) { int s = 0; for (int k = 0; k < n / 12; k++) s += M1[i][k] * M2[k][j]; M3[i][j] = s; } return 0; }
KERNEL(multiply_middle, INDEPENDENT, INNER) { for (int i = 0; i < n / 12; i++) { LOOP(j, 0, n / 12) M3[i][j] = M1[i][j] * M2[j][i] + M3[i][j]; } return 0; }
KERNEL(multiply_in_place, SERIAL, 0) { LOOP(k, 0, n / 12) for (int i = 0; i < n / 12; i++) for (int j = 0; j < n / 12; j++) M3[i][j] = M3[i][j] / 2 + M1[i][k] * M2[k][j]; return 0; }
KERNEL(accumulate_planes, REDUCTION, 0) { REDUCE(M3, int, ADD); LOOP(k, 0, n / 12) for (int i = 0; i < n / 12; i++) for (int j = 0; j < n / 12; j++) M3[i][j] += M1[i][k] * M2[k][j]; return 0; }
KERNEL(matrix_vector, INDEPENDENT, 0) { LOOP(i, 0, n / 12) { A[i] = 0; for (int j = 0; j < n / 12; j++) A[i] += M1[i][j] * B[j]; } return 0; }
KERNEL(vector_matrix, REDUCTION, 0) { REDUCE(A, int, ADD); LOOP(i, 0, n / 12) for (int j = 0; j < n / 12; j++) A[j] += M1[i][j] * B[i]; return 0; }
KERNEL(row_sums, INDEPENDENT, 0) { LOOP(i, 0, n / 12) { int s = 0; for (int j = 0; j < n / 12; j++) s += M1[i][j]; A[i] = s; } return 0; }
KERNEL(grand_total, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n / 12) for (int j = 0; j < n / 12; j++) s += M1[i][j]; return s; }
KERNEL(grand_maximum, REDUCTION, 0) { int s = 0; REDUCE(s, int, MAX); LOOP(i, 0, n / 12) for (int j = 0; j < n / 12; j++) if (M1[i][j] > s) s = M1[i][j]; return s; }
KERNEL(floyd, SERIAL, 0) { LOOP(k, 0, n / 12) for (int i = 0; i < n / 12; i++) for (int j = 0; j < n / 12; j++) if (M1[i][k] + M1[k][j] < M1[i][j]) M1[i][j] = M1[i][k] + M1[k][j]; return 0; }
KERNEL(cholesky, SERIAL, 0) { LOOP(i, 0, n / 12) { for (int j = 0; j < i; j++) M1[i][j] = M1[i][j] / 3 - M1[j][i] + M1[j][j]; M1[i][i] = M1[i][i] + M1[i][0]; } return 0; }
KERNEL(lower_upper, SERIAL, 0) { LOOP(k, 0, n / 12) for (int i = k + 1; i < n / 12; i++) for (int j = k + 1; j < n / 12; j++) M1[i][j] -= (M1[i][k] & 15) * (M1[k][j] & 15); return 0; }
KERNEL(adi_rows, INDEPENDENT, 0) { LOOP(i, 0, n / 12) for (int j = 1; j < n / 12; j++) M1[i][j] += M1[i][j - 1] / 2; return 0; }
KERNEL(durbin, SERIAL, 0) { LOOP(k, 1, n / 12) { int s = 0; for (int i = 0; i < k; i++) s += A[k - i - 1] * B[i] & 63; B[k] = s; } return 0; }
KERNEL(covariance, INDEPENDENT, 0) { LOOP(i, 0, n / 12) for (int j = i; j < n / 12; j++) { int s = 0; for (int k = 0; k < n / 12; k++) s += M1[k][i] * M1[k][j]; M2[i][j] = s; M2[j][i] = s; } return 0; }

#undef FAMILY
#define FAMILY "control"
KERNEL(scalar_in_branch, SERIAL, 0) { double x = 0; SHARED(x, double); LOOP(i, 0, n) { if (V[i] > 80) x = V[i]; X[i] = x; } return 0; }
KERNEL(min_of_two, INDEPENDENT, 0) { LOOP(i, 0, n) X[i] = Y[i] < Z[i] ? Y[i] : Z[i]; return 0; }
KERNEL(switch_three, INDEPENDENT, 0) { LOOP(i, 0, n) switch (A[i] % 6) { case 0: B[i] = 1; break; case 1: B[i] = C[i]; break; case 2: B[i] = C[i] * 3; break; case 3: B[i] = -C[i]; break; case 4: B[i] = D[i]; break; default: B[i] = 7; } return 0; }
KERNEL(switch_state, SERIAL, 0) { int s = 0; SHARED(s, int); LOOP(i, 0, n) { switch (s) { case 0: s = A[i] > 40 ? 1 : 2; break; case 1: s = A[i] > 60 ? 0 : 3; break; case 2: s = 3; break; default: s = A[i] & 3; } B[i] = s; } return s; }
KERNEL(continue_if, INDEPENDENT, 0) { LOOP(i, 0, n) { if (A[i] < 50) continue; B[i] = A[i] - 50; } return 0; }
KERNEL(sum_continue, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { if (A[i] < 50) continue; s += A[i]; } return s; }
KERNEL(computed_goto, INDEPENDENT, 0) { static const void *const to[] = {&&one, &&two, &&three}; LOOP(i, 0, n) { goto *to[A[i] % 3]; one: B[i] = 1; continue; two: B[i] = C[i]; continue; three: B[i] = 3; } return 0; }
KERNEL(bounded_inner_while, INDEPENDENT, 0) { LOOP(i, 0, n) { int v = A[i], k = 0; while (v > 1) { v = v & 1 ? v * 3 + 1 : v / 2; k++; } B[i] = k; } return 0; }
KERNEL(euclid, INDEPENDENT, 0) { LOOP(i, 0, n) { int a = A[i], b = B[i]; while (b) { const int t = a % b; a = b; b = t; } C[i] = a; } return 0; }
KERNEL(flag_found, REDUCTION, 0) { int f = 0; REDUCE(f, int, OR); LOOP(i, 0, n) f |= A[i] == 50; return f; }
KERNEL(flag_set, INDEPENDENT, 0) { int f = 0; PRIVATE(f, int); LOOP(i, 0, n) if (A[i] == 50) f = 1; return f; }
KERNEL(flag_all, REDUCTION, 0) { int f = 1; REDUCE(f, int, AND); LOOP(i, 0, n) f &= A[i] < 60; return f; }
KERNEL(flag_first, SERIAL, 0) { int f = 0; SHARED(f, int); LOOP(i, 0, n) { if (!f && A[i] > 50) { f = 1; B[i] = -1; } } return f; }
KERNEL(parity_toggle, REDUCTION, 0) { unsigned f = 0; REDUCE(f, unsigned, XOR); LOOP(i, 0, n) f ^= (unsigned)(A[i] > 40); return f; }

#undef FAMILY
#define FAMILY "last_value"
KERNEL(last_assigned, PRIVATIZABLE, SINKS) { int v = 0; PRIVATE(v, int); LOOP(i, 0, n) { v = A[i] * 3; B[i] = v; } return v; }
KERNEL(last_where, PRIVATIZABLE, 0) { int j = -1; PRIVATE(j, int); LOOP(i, 0, n) if (X[i] < 20) j = i; return j; }
KERNEL(last_value_where, PRIVATIZABLE, 0) { double v = -1; PRIVATE(v, double); LOOP(i, 0, n) if (X[i] < 20) v = Y[i]; return (long)v; }
KERNEL(last_where_global, PRIVATIZABLE, 0) { g = -1; PRIVATE(g, int); LOOP(i, 0, n) if (A[i] < 20) g = i; return 0; }
KERNEL(last_where_store, PRIVATIZABLE, 0) { int j = -1; PRIVATE(j, int); LOOP(i, 0, n) { if (X[i] < 20) j = i; B[i] = A[i]; } return j; }
KERNEL(last_and_sum, REDUCTION, 0) { int j = -1, s = 0; PRIVATE(j, int); REDUCE(s, int, ADD); LOOP(i, 0, n) { if (A[i] < 20) j = i; s += A[i]; } return s * 1000L + j; }
KERNEL(last_unused, INDEPENDENT, 0) { int j = -1; PRIVATE(j, int); LOOP(i, 0, n) { if (A[i] < 20) { j = C[i]; B[i] = j; } } return 0; }
KERNEL(last_by_select, PRIVATIZABLE, 0) { int v = -1; PRIVATE(v, int); LOOP(i, 0, n) v = A[i] < 20 ? C[i] : v; return v; }
KERNEL(last_in_inner, PRIVATIZABLE, 0) { int v = -1; PRIVATE(v, int); LOOP(i, 0, n / 12) for (int j = 0; j < n / 12; j++) if (M1[i][j] > 90) v = i * 100 + j; return v; }
KERNEL(last_two, PRIVATIZABLE, 0) { int v = -1, w = -1; PRIVATE(v, int); PRIVATE(w, int); LOOP(i, 0, n) if (A[i] > 80) { v = i; w = B[i]; } return v * 1000L + w; }

#undef FAMILY
#define FAMILY "argmax"
KERNEL(argmax_register, SERIAL, 0) { int m = A[0], k = 0; REDUCE(m, int, MAX); PRIVATE(k, int); LOOP(i, 1, n) if (A[i] > m) { m = A[i]; k = i; } return m * 1000L + k; }
KERNEL(argmin_double, SERIAL, 0) { double m = X[0]; int k = 0; REDUCE(m, double, MIN); PRIVATE(k, int); LOOP(i, 1, n) if (X[i] < m) { m = X[i]; k = i; } return k; }
KERNEL(argmax_last, SERIAL, 0) { int m = A[0], k = 0; REDUCE(m, int, MAX); PRIVATE(k, int); LOOP(i, 1, n) if (A[i] >= m) { m = A[i]; k = i; } return k; }
KERNEL(argmax_value, SERIAL, 0) { int m = A[0], k = 0; REDUCE(m, int, MAX); PRIVATE(k, int); LOOP(i, 1, n) if (A[i] > m) { m = A[i]; k = B[i]; } return k; }
KERNEL(argmax_by_index, SERIAL, 0) { int k = 0; PRIVATE(k, int); LOOP(i, 1, n) if (A[i] > A[k]) k = i; return k; }
KERNEL(argmax_pointer, SERIAL, 0) { const int *p = A; SHARED(p, long); LOOP(i, 1, n) if (A[i] > *p) p = A + i; return p - A; }
KERNEL(argmax_global, SERIAL, 0) { g = A[0]; g2 = 0; REDUCE(g, int, MAX); PRIVATE(g2, int); LOOP(i, 1, n) if (A[i] > g) { g = A[i]; g2 = i; } return 0; }
KERNEL(argmax_matrix, SERIAL, 0) { int m = M1[0][0], x = 0, y = 0; REDUCE(m, int, MAX); PRIVATE(x, int); PRIVATE(y, int); LOOP(i, 0, n / 12) for (int j = 0; j < n / 12; j++) if (M1[i][j] > m) { m = M1[i][j]; x = i; y = j; } return x * 100 + y; }
KERNEL(argmax_select, SERIAL, 0) { int m = A[0], k = 0; REDUCE(m, int, MAX); PRIVATE(k, int); LOOP(i, 1, n) { k = A[i] > m ? i : k; m = A[i] > m ? A[i] : m; } return k; }
KERNEL(max_and_count, SERIAL, 0) { int m = -1, c = 0; REDUCE(m, int, MAX); REDUCE(c, int, ADD); LOOP(i, 0, n) { if (A[i] > m) { m = A[i]; c = 1; } else if (A[i] == m) c++; } return c; }
KERNEL(records, SERIAL, 0) { int m = -1, c = 0; REDUCE(m, int, MAX); REDUCE(c, int, ADD); LOOP(i, 0, n) if (A[i] > m) { m = A[i]; c++; } return c; }
KERNEL(running_maximum, SERIAL, 0) { int m = -1; REDUCE(m, int, MAX); LOOP(i, 0, n) { if (A[i] > m) m = A[i]; B[i] = m; } return 0; }
KERNEL(two_greatest, SERIAL, 0) { int m = -1, s = -1; REDUCE(m, int, MAX); REDUCE(s, int, MAX); LOOP(i, 0, n) { if (A[i] > m) { s = m; m = A[i]; } else if (A[i] > s) s = A[i]; } return m * 1000L + s; }
KERNEL(spread, REDUCTION, 0) { int m = 1000, x = -1; REDUCE(m, int, MIN); REDUCE(x, int, MAX); LOOP(i, 0, n) { if (A[i] < m) m = A[i]; if (A[i] > x) x = A[i]; } return x - m; }
