/* Calls, exits, system calls, strings, lists. */
#include "tests/e2e/depend_kernels/kernels.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define FAMILY "call"
/* clang-format off */

APART static int triple(int v) { return v * 3 + 1; }
APART static double half(double v) { return v / 2 + 1; }
APART static int next_of(int v) { return (v * 5 + 3) % 101; }
APART static void add_to(int *to, int v) { *to += v; }
APART static void set_to(int *to, int v) { *to = v; }
APART static int count_calls(int v) { static int calls; return v + calls++; }
APART static int add_global(int v) { g += v; return v; }
APART static int keep_last(int v) { static int last; const int was = last; last = v; return was; }
APART static void store_at(int i, int v) { B[i] = v; }
APART static void swap_at(int i, int j) { const int t = A[i]; A[i] = A[j]; A[j] = t; }
APART static unsigned shuffle_bits(unsigned *state) { return *state = *state * 1664525u + 1013904223u; }
APART static int recurse(int v) { return v < 2 ? v : recurse(v - 1) + recurse(v - 2); }
APART static int sum_below(int n) { int s = 0; for (int i = 0; i < n; i++) s += A[i]; return s; }
APART static int cached(int v) { static int last_v = -1, last_result; if (v != last_v) { last_v = v; last_result = v * 3; } return last_result; }
APART static int scratch_in_global(int v) { for (int i = 0; i < 8; i++) H[i] = v + i; return H[v & 7]; }
APART static double power(double v) { double s = 1; for (int i = 0; i < 5; i++) s *= v; return s; }
typedef int (*operation_of)(int);
static operation_of operations[] = {triple, next_of};

KERNEL(call_pure, INDEPENDENT, 0) { LOOP(i, 0, n) B[i] = triple(A[i]); return 0; }
KERNEL(call_pure_double, INDEPENDENT, 0) { LOOP(i, 0, n) Y[i] = half(X[i]); return 0; }
KERNEL(call_pure_loop, INDEPENDENT, 0) { LOOP(i, 0, n) Y[i] = power(X[i]); return 0; }
KERNEL(call_iterate, SERIAL, 0) { int s = 7; SHARED(s, int); LOOP(i, 0, n) s = next_of(s); return s; }
KERNEL(call_iterate_double, SERIAL, 0) { double s = 7; SHARED(s, double); LOOP(i, 0, n) s = half(s) + X[i]; return (long)(s * 1000); }
KERNEL(call_sum, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) s += triple(A[i]); return s; }
KERNEL(call_add_to, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) add_to(&s, A[i]); return s; }
KERNEL(call_add_global, REDUCTION, 0) { REDUCE(g, int, ADD); LOOP(i, 0, n) add_global(A[i]); return g; }
KERNEL(call_add_global_map, REDUCTION, 0) { REDUCE(g, int, ADD); LOOP(i, 0, n) B[i] = add_global(A[i]); return g; }
KERNEL(call_counts, SERIAL, DECLARED) { for (int i = 0; i < n; i++) B[i] = count_calls(A[i]); return 0; }
KERNEL(call_keeps_last, SERIAL, DECLARED) { for (int i = 0; i < n; i++) B[i] = keep_last(A[i]); return 0; }
KERNEL(call_last_into, SERIAL, 0) { int last = 0; SHARED(last, int); LOOP(i, 0, n) { B[i] = last; set_to(&last, A[i]); } return 0; }
KERNEL(call_stores, INDEPENDENT, 0) { LOOP(i, 0, n) store_at(i, A[i] + 1); return 0; }
KERNEL(call_stores_back, SERIAL, 0) { LOOP(i, 1, n) store_at(i, B[i - 1] + A[i]); return 0; }
KERNEL(call_stores_indexed, INDEPENDENT, 0) { LOOP(i, 0, n) store_at(PERM[i], A[i]); return 0; }
KERNEL(call_swaps, SERIAL, 0) { LOOP(i, 0, n) swap_at(i, ANY[i]); return 0; }
KERNEL(call_swaps_mirror, INDEPENDENT, 0) { LOOP(i, 0, n / 2) swap_at(i, n - 1 - i); return 0; }
KERNEL(call_generator, SERIAL, 0) { unsigned state = 1; SHARED(state, unsigned); LOOP(i, 0, n) W[i] = shuffle_bits(&state); return 0; }
KERNEL(call_generator_own, INDEPENDENT, 0) { LOOP(i, 0, n) { unsigned state = (unsigned)i; shuffle_bits(&state); W[i] = shuffle_bits(&state); } return 0; }
KERNEL(call_recursive, INDEPENDENT, 0) { LOOP(i, 0, n / 12) B[i] = recurse(A[i] % 9); return 0; }
KERNEL(call_with_loop, INDEPENDENT, 0) { LOOP(i, 0, n / 4) B[i] = sum_below(C[i] & 15); return 0; }
KERNEL(call_cached, SERIAL, DECLARED) { for (int i = 0; i < n; i++) B[i] = cached(A[i] / 30); return 0; }
KERNEL(call_scratch, PRIVATIZABLE, 0) { PRIVATE(H, int); LOOP(i, 0, n) B[i] = scratch_in_global(A[i]); return 0; }
KERNEL(call_pointer, INDEPENDENT, 0) { LOOP(i, 0, n) B[i] = operations[A[i] & 1](C[i]); return 0; }
KERNEL(call_pointer_chain, SERIAL, 0) { int s = 1; SHARED(s, int); LOOP(i, 0, n) { s = operations[s & 1](A[i]); B[i] = s; } return 0; }
KERNEL(call_pointer_sum, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) s += operations[A[i] & 1](C[i]); return s; }
KERNEL(call_in_condition, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) if (triple(A[i]) & 1) s++; return s; }
KERNEL(call_copies, INDEPENDENT, EITHER) { LOOP(i, 0, n / 12) memcpy(M2[i], M1[i], sizeof M1[i]); return 0; }
KERNEL(call_copies_down, SERIAL, 0) { LOOP(i, 1, n / 12) memcpy(M1[i], M1[i - 1], sizeof M1[i]); return 0; }
KERNEL(call_fills, INDEPENDENT, EITHER) { LOOP(i, 0, n / 12) memset(M2[i], A[i], sizeof M1[i]); return 0; }
KERNEL(call_compares, REDUCTION, EITHER) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n / 12) s += memcmp(M1[i], M2[i], sizeof M1[i]) < 0; return s; }
KERNEL(call_rand, SERIAL, DECLARED) { srand(1); for (int i = 0; i < n; i++) B[i] = rand() & 15; return 0; }
KERNEL(call_malloc, SERIAL, DECLARED) { void *chain = NULL; for (int i = 0; i < n; i++) { void **p = malloc(32); if (!p) break; *p = chain; chain = p; } while (chain) { void *next = *(void **)chain; free(chain); chain = next; } return 0; }
KERNEL(errno_between, SERIAL, DECLARED) { errno = 0; for (int i = 0; i < n; i++) { B[i] = errno; errno = A[i]; } return 0; }
KERNEL(errno_of_callee, SERIAL, DECLARED) { errno = 0; for (int i = 0; i < n; i++) { B[i] = errno != 0; if (A[i] > 48) strtol("99999999999999999999", NULL, 10); else errno = 0; } return 0; }
static __thread int own;
KERNEL(thread_variable, SERIAL, DECLARED) { own = 0; for (int i = 0; i < n; i++) { B[i] = own; own = A[i]; } return 0; }
KERNEL(thread_variable_sum, REDUCTION, DECLARED) { own = 0; for (int i = 0; i < n; i++) own += A[i]; return own; }
KERNEL(static_variable, SERIAL, DECLARED) { static int last; for (int i = 0; i < n; i++) { B[i] = last; last = A[i]; } return 0; }
KERNEL(volatile_sum_used, SERIAL, 0) { volatile int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { s += A[i]; B[i] = s; } return s; }
KERNEL(volatile_scratch, PRIVATIZABLE, 0) { volatile int t = 0; PRIVATE(t, int); LOOP(i, 0, n) { t = A[i] * 2; B[i] = t + 1; } return t; }

#undef FAMILY
#define FAMILY "exit"
APART __attribute__((cold)) static int rare(int v) { return v / 3; }
APART static int is_end(int v) { return v == 1000; }
static jmp_buf away;
APART static void leave_at(int v) { if (v == 1000) longjmp(away, 1); }
APART static void leave_never(int v) { if (v == 5000) longjmp(away, 1); }
APART static void end_program_at(int v) { if (v == 5000) exit(3); }
APART static void end_process_at(int v) { if (v == 5000) _exit(3); }
APART static void abort_at(int v) { if (v == 5000) abort(); }

KERNEL(cold_break, SERIAL, DECLARED) { C[n - 3] = 1000; for (int i = 0; i < n; i++) { B[i] = A[i] * 3; if (C[i] == 1000) { g += rare(i); break; } } return 0; }
KERNEL(cold_break_never, SERIAL, DECLARED) { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; if (C[i] == 1000) { g += rare(i); break; } } return 0; }
KERNEL(cold_return, SERIAL, DECLARED) { C[n - 3] = 1000; for (int i = 0; i < n; i++) { B[i] = A[i] * 3; if (__builtin_expect(C[i] == 1000, 0)) return rare(i); } return 0; }
KERNEL(cold_break_sum, SERIAL, DECLARED) { int s = 0; C[n - 3] = 1000; for (int i = 0; i < n; i++) { s += A[i]; if (C[i] == 1000) { s = rare(s); break; } } return s; }
KERNEL(cold_goto, SERIAL, DECLARED) { C[n - 3] = 1000; for (int i = 0; i < n; i++) { B[i] = A[i] * 3; if (C[i] == 1000) goto out; } return 0; out: g = rare(g); return 1; }
KERNEL(cold_continue, REDUCTION, 0) { REDUCE(g, int, ADD); LOOP(i, 0, n) { B[i] = A[i] * 3; if (C[i] == 96) g += rare(i); } return 0; }
KERNEL(break_if, SERIAL, DECLARED) { C[n - 3] = 1000; for (int i = 0; i < n; i++) { if (C[i] == 1000) break; B[i] = A[i]; } return 0; }
KERNEL(break_never, SERIAL, DECLARED) { for (int i = 0; i < n; i++) { if (C[i] == 1000) break; B[i] = A[i]; } return 0; }
KERNEL(search_last, SERIAL, DECLARED) { C[n - 1] = 1000; for (int i = 0; i < n; i++) if (C[i] == 1000) return i; return -1; }
KERNEL(search_never, SERIAL, DECLARED) { for (int i = 0; i < n; i++) if (C[i] == 1000) return i; return -1; }
KERNEL(search_double, SERIAL, DECLARED) { X[n - 2] = 1000; for (int i = 0; i < n; i++) if (X[i] > 500) return i; return -1; }
KERNEL(search_call, SERIAL, DECLARED) { C[n - 1] = 1000; for (int i = 0; i < n; i++) { B[i] = A[i]; if (is_end(C[i])) break; } return 0; }
KERNEL(while_value, SERIAL, DECLARED) { int i = 0; C[n - 1] = 1000; while (C[i] != 1000) { B[i] = C[i] + 1; i++; } return i; }
KERNEL(until_sum, SERIAL, DECLARED) { int i = 0, s = 0; while (s < 8000 && i < n) s += A[i++]; return i; }
KERNEL(count_down_product, SERIAL, DECLARED) { unsigned v = 1; int i = 0; while (v != 3000000007u && i < n) { v = v * 5 + 3; i++; } return i; }
KERNEL(binary_search, REDUCTION, 0) { int found = 0; REDUCE(found, int, ADD); LOOP(t, 0, n / 8) { int low = 0, high = n; while (low < high) { const int m = (low + high) / 2; if (m < ANY[t]) low = m + 1; else high = m; } found += low; } return found; }
KERNEL(newton, SERIAL, DECLARED) { double x = 1000; for (int i = 0; i < n && x * x > 2.0000001; i++) x = (x + 2 / x) / 2 + 1e-3; return (long)(x * 1e6); }
KERNEL(collatz, SERIAL, DECLARED) { long v = 97, c = 0; while (v != 1) { v = v & 1 ? v * 3 + 1 : v / 2; c++; } return c; }
KERNEL(longjmp_taken, SERIAL, DECLARED) { C[n - 3] = 1000; if (setjmp(away)) return 1; for (int i = 0; i < n; i++) { B[i] = A[i] * 3; leave_at(C[i]); } return 0; }
KERNEL(longjmp_never, SERIAL, DECLARED) { if (setjmp(away)) return 1; for (int i = 0; i < n; i++) { B[i] = A[i] * 3; leave_never(C[i]); } return 0; }
KERNEL(longjmp_sum, SERIAL, DECLARED) { int s = 0; C[n - 3] = 1000; if (setjmp(away)) return 1; for (int i = 0; i < n; i++) { s += A[i]; leave_at(C[i]); } return s; }
KERNEL(longjmp_within, INDEPENDENT, DECLARED | EITHER) { for (int i = 0; i < n / 8; i++) { jmp_buf near; if (!__builtin_setjmp((void **)near)) B[i] = A[i]; } return 0; }
KERNEL(exit_in_callee, INDEPENDENT, DECLARED | EITHER) { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; end_program_at(C[i]); } return 0; }
KERNEL(exit_at_once, INDEPENDENT, DECLARED | EITHER) { for (int i = 0; i < n; i++) { if (C[i] == 5000) exit(3); B[i] = A[i] * 3; } return 0; }
KERNEL(_exit_in_callee, INDEPENDENT, DECLARED | EITHER) { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; end_process_at(C[i]); } return 0; }
KERNEL(abort_in_callee, INDEPENDENT, DECLARED | EITHER) { for (int i = 0; i < n; i++) { B[i] = A[i] * 3; abort_at(C[i]); } return 0; }
KERNEL(trap_inside, INDEPENDENT, DECLARED | EITHER) { for (int i = 0; i < n; i++) { if (C[i] == 5000) __builtin_trap(); B[i] = A[i] * 3; } return 0; }

#undef FAMILY
#define FAMILY "one_body"
KERNEL(once_for, SERIAL, DECLARED | ONCE | INNER) { for (int j = 0; j < n; j++) for (int i = 0; i < (n >> 7); i++) B[j + i + 1] = B[j + i] * 3 + A[j]; return 0; }
KERNEL(once_while, SERIAL, DECLARED | ONCE | INNER) { for (int j = 0; j < n; j++) { int i = 0; while (i < n / 240) { K[j + i + 1] = K[j + i] * 3 + L[j]; i++; } } return 0; }

#undef FAMILY
#define FAMILY "system_call"
KERNEL(write_sum, SERIAL, DECLARED) { const int fd = open("/dev/null", O_WRONLY); int s = 0; for (int i = 0; i < n / 4; i++) { s += A[i]; if (write(fd, &s, 4) != 4) g++; } close(fd); return s; }
KERNEL(write_each, SERIAL, DECLARED) { const int fd = open("/dev/null", O_WRONLY); for (int i = 0; i < n / 4; i++) g2 += (int)write(fd, &A[i], 4); close(fd); return 0; }
KERNEL(read_each, SERIAL, DECLARED) { const int fd = open("/dev/zero", O_RDONLY); for (int i = 0; i < n / 4; i++) g2 += (int)read(fd, &B[i], 4); close(fd); return 0; }
KERNEL(seek_each, SERIAL, DECLARED) { const int fd = open("/proc/self/exe", O_RDONLY); for (int i = 0; i < n / 4; i++) B[i] = (int)lseek(fd, i, SEEK_CUR); close(fd); return 0; }
KERNEL(read_back, SERIAL, DECLARED) { int ends[2]; if (pipe(ends) < 0) return 0; for (int i = 0; i < n / 4; i++) { g2 += (int)write(ends[1], &A[i], 4); g2 += (int)read(ends[0], &B[i], 4); } close(ends[0]); close(ends[1]); return 0; }
KERNEL(pipe_behind, SERIAL, DECLARED) { int ends[2]; if (pipe(ends) < 0) return 0; g2 += (int)write(ends[1], &A[0], 4); for (int i = 0; i < n / 4; i++) { g2 += (int)read(ends[0], &B[i], 4); g2 += (int)write(ends[1], &A[i], 4); } close(ends[0]); close(ends[1]); return 0; }
KERNEL(process_number, SERIAL, DECLARED) { for (int i = 0; i < n / 4; i++) B[i] = (int)syscall(SYS_getppid) & 7; return 0; }
KERNEL(print_each, SERIAL, DECLARED) { FILE *f = fopen("/dev/null", "w"); if (!f) return 0; for (int i = 0; i < n / 8; i++) fprintf(f, "%d\n", A[i]); fclose(f); return 0; }
KERNEL(print_characters, SERIAL, DECLARED) { FILE *f = fopen("/dev/null", "w"); if (!f) return 0; for (int i = 0; i < n; i++) putc(T[i], f); fclose(f); return 0; }
KERNEL(duplicates, SERIAL, DECLARED) { int fd = open("/dev/null", O_WRONLY); for (int i = 0; i < n / 8; i++) { B[i] = dup(fd); close(B[i]); } close(fd); return 0; }
KERNEL(format_each, PRIVATIZABLE, DECLARED) { char text[32]; for (int i = 0; i < n / 8; i++) { snprintf(text, sizeof text, "%d", A[i]); B[i] = text[0]; } return 0; }

#undef FAMILY
#define FAMILY "string"
APART static void make_string(int n) { for (int k = 0; k < n; k++) T[k] |= 1; T[n] = 0; }
KERNEL(length_of, SERIAL, DECLARED) { int i = 0; make_string(n); while (T[i]) i++; return i; }
KERNEL(copy_string, SERIAL, DECLARED) { int i = 0; make_string(n); while ((O[i] = T[i]) && i < n) i++; return i; }
KERNEL(upper_case, INDEPENDENT, 0) { LOOP(i, 0, n) O[i] = (unsigned char)(T[i] >= 65 && T[i] < 91 ? T[i] + 32 : T[i]); return 0; }
KERNEL(count_letter, REDUCTION, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) s += T[i] == 65; return s; }
KERNEL(count_words, SERIAL, 0) { int inside = 0, words = 0; SHARED(inside, int); REDUCE(words, int, ADD); LOOP(i, 0, n) { if (T[i] < 16) inside = 0; else if (!inside) { inside = 1; words++; } } return words; }
KERNEL(count_letters, REDUCTION, 0) { REDUCE(H, int, ADD); LOOP(i, 0, n) H[T[i]]++; return 0; }
KERNEL(translate, INDEPENDENT, 0) { LOOP(i, 0, n) O[i] = T[T[i]]; return 0; }
KERNEL(decimal, SERIAL, 0) { unsigned v = 0; SHARED(v, unsigned); LOOP(i, 0, n) v = v * 10 + T[i] % 10; return v; }
KERNEL(checksum_two, SERIAL, 0) { unsigned a = 1, b = 0; REDUCE(a, unsigned, ADD); REDUCE(b, unsigned, ADD); LOOP(i, 0, n) { a += T[i]; b += a; } return (long)b << 16 | a; }
KERNEL(run_lengths, SERIAL, 0) { int run = 0; SHARED(run, int); LOOP(i, 1, n) { run = T[i] / 30 == T[i - 1] / 30 ? run + 1 : 0; B[i] = run; } return 0; }
KERNEL(utf8_state, SERIAL, 0) { int left = 0, c = 0; SHARED(left, int); REDUCE(c, int, ADD); LOOP(i, 0, n) { if (left) left--; else { c++; left = T[i] & 3; } } return c; }
KERNEL(brackets, SERIAL, 0) { int depth = 0; REDUCE(depth, int, ADD); LOOP(i, 0, n) { depth += T[i] & 1 ? 1 : -1; B[i] = depth; } return 0; }
KERNEL(cipher_chain, SERIAL, 0) { unsigned char c = 7; SHARED(c, unsigned char); LOOP(i, 0, n) { c = (unsigned char)(T[i] ^ c); O[i] = c; } return 0; }
KERNEL(reverse_string, INDEPENDENT, 0) { LOOP(i, 0, n / 2) { const unsigned char t = T[i]; T[i] = T[n - 1 - i]; T[n - 1 - i] = t; } return 0; }
KERNEL(distance_row, SERIAL, 0) { int left = 1; SHARED(left, int); LOOP(j, 1, n) { const int up = A[j], v = up < left ? up : left; left = v + (T[j] != O[j]); B[j] = left; } return 0; }

#undef FAMILY
#define FAMILY "list"
struct item { struct item *next; int value, filler; };
static struct item items[ROOM];
APART static struct item *make_list(int n) { for (int i = 0; i < n; i++) { items[PERM[i]].next = i + 1 < n ? &items[PERM[i + 1]] : NULL; items[PERM[i]].value = A[i]; } return &items[PERM[0]]; }
KERNEL(list_sum, SERIAL, DECLARED) { int s = 0; for (const struct item *p = make_list(n); p; p = p->next) s += p->value; return s; }
KERNEL(list_map, SERIAL, DECLARED) { for (struct item *p = make_list(n); p; p = p->next) p->value = p->value * 3 + 1; return 0; }
KERNEL(list_counted, SERIAL, DECLARED) { const struct item *p = make_list(n); int s = 0; for (int i = 0; i < n - 1; i++) { s ^= p->value; p = p->next; } return s; }
KERNEL(list_reverse, SERIAL, DECLARED) { struct item *p = make_list(n), *r = NULL; while (p) { struct item *t = p->next; p->next = r; r = p; p = t; } return r == NULL; }
KERNEL(list_append, SERIAL, DECLARED) { struct item **end = &items[n].next; for (int i = 0; i < n; i++) { *end = &items[i]; end = &items[i].next; } *end = NULL; return 0; }
KERNEL(array_of_structures, INDEPENDENT, DECLARED) { for (int i = 0; i < n; i++) items[i].value = items[i].filler + A[i]; return 0; }
KERNEL(find_root, SERIAL, DECLARED) { int j = 0; for (int i = 0; i < n; i++) { H[i] = j; j = ANY[j]; } return j; }
KERNEL(union_find, SERIAL, 0) { for (int i = 0; i < n; i++) C[i] = i; LOOP(i, 0, n) { int a = i, b = ANY[i]; while (C[a] != a) a = C[a]; while (C[b] != b) b = C[b]; if (a != b) C[a > b ? a : b] = a > b ? b : a; } return 0; }
KERNEL(stack_push, SERIAL, 0) { int top = 0; REDUCE(top, int, ADD); LOOP(i, 0, n) { if (A[i] > 30) B[top++] = A[i]; else if (top > 0) top--; } return top; }
KERNEL(queue_ring, SERIAL, 0) { int tail = 0; SHARED(tail, int); LOOP(i, 0, n) { B[tail] = A[i]; tail = (tail + 1 + (A[i] & 1)) % 64; } return tail; }
KERNEL(insertion_sort, SERIAL, 0) { LOOP(i, 1, n / 4) { const int v = A[i]; int j = i - 1; while (j >= 0 && A[j] > v) { A[j + 1] = A[j]; j--; } A[j + 1] = v; } return 0; }
KERNEL(bubble_pass, SERIAL, 0) { LOOP(i, 0, n - 1) if (A[i] > A[i + 1]) { const int t = A[i]; A[i] = A[i + 1]; A[i + 1] = t; } return 0; }
KERNEL(merge_two, SERIAL, 0) { int a = 0, b = 0; REDUCE(a, int, ADD); REDUCE(b, int, ADD); LOOP(i, 0, n) { if (b >= n || (a < n && A[a] <= B[b])) C[i] = A[a++]; else C[i] = B[b++]; } return 0; }
KERNEL(odd_even_pass, INDEPENDENT, 0) { LOOP_BY(i, 0, n - 1, 2) if (A[i] > A[i + 1]) { const int t = A[i]; A[i] = A[i + 1]; A[i + 1] = t; } return 0; }
KERNEL(sieve, DISTANCE, 0) { LOOP(i, 2, n) if (!H[i] && (B[i] = 1)) for (int j = 2 * i; j < n; j += i) H[j] = 1; return 0; }
KERNEL(knapsack_row, SERIAL, 0) { LOOP(w, 12, n) { const int t = B[w - 12 + (A[w] % 12)] + 5; if (t > B[w]) B[w] = t; } return 0; }
