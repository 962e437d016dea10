/* What no plain C says: instructions, lanes, modes of the processor, memory with two addresses,
 * code that changes. */
#include "tests/e2e/depend_kernels/kernels.h"
#include <emmintrin.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define FAMILY "lanes"
/* clang-format off */

static __m128i at(const unsigned *p) { return _mm_loadu_si128((const __m128i *)p); }
static long folded(__m128i v) { long w[2]; memcpy(w, &v, sizeof w); return w[0] ^ w[1] << 1; }

KERNEL(lanes_32_8, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) { s = _mm_add_epi32(s, at(U + i)); s = _mm_add_epi8(s, at(W + i)); } return folded(s); }
KERNEL(lanes_64_32, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) { s = _mm_add_epi64(s, at(U + i)); s = _mm_add_epi32(s, at(W + i)); } return folded(s); }
KERNEL(lanes_16_sub_8, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) { s = _mm_add_epi16(s, at(U + i)); s = _mm_sub_epi8(s, at(W + i)); } return folded(s); }
KERNEL(lanes_saturated, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) { s = _mm_adds_epi16(s, at(U + i)); } return folded(s); }
KERNEL(lanes_32, REDUCTION, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) { s = _mm_add_epi32(s, at(U + i)); s = _mm_add_epi32(s, at(W + i)); } return folded(s); }
KERNEL(lanes_8, REDUCTION, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) s = _mm_add_epi8(s, at(U + i)); return folded(s); }
KERNEL(lanes_and_not, REDUCTION, DECLARED) { __m128i s = _mm_set1_epi32(-1); for (int i = 0; i < n; i++) s = _mm_andnot_si128(at(U + i), s); return folded(s); }
KERNEL(lanes_not_and, SERIAL, DECLARED) { __m128i s = _mm_set1_epi32(-1); for (int i = 0; i < n; i++) s = _mm_andnot_si128(s, at(U + i)); return folded(s); }
KERNEL(lanes_or_and, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) s = _mm_and_si128(_mm_or_si128(s, at(U + i)), at(W + i)); return folded(s); }
KERNEL(lanes_max, REDUCTION, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) s = _mm_max_epu8(s, at(U + i)); return folded(s); }
KERNEL(lanes_max_16_8, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) { s = _mm_max_epi16(s, at(U + i)); s = _mm_max_epu8(s, at(W + i)); } return folded(s); }
KERNEL(lanes_shift_in, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) { s = _mm_or_si128(_mm_slli_si128(s, 4), _mm_cvtsi32_si128(A[i])); B[i] = _mm_cvtsi128_si32(_mm_srli_si128(s, 8)); } return 0; }
KERNEL(lanes_last, SERIAL, DECLARED) { __m128i last = _mm_setzero_si128(); for (int i = 0; i < n / 4; i++) { const __m128i v = at(U + 4 * i); _mm_storeu_si128((__m128i *)(W + 4 * i), _mm_sub_epi32(v, last)); last = v; } return 0; }
KERNEL(lanes_lower_only, SERIAL, DECLARED) { __m128d s = _mm_setzero_pd(); for (int i = 0; i < n; i++) { s = _mm_add_sd(_mm_shuffle_pd(s, s, 1), _mm_load_sd(X + i)); } double d[2]; _mm_storeu_pd(d, s); return (long)d[0] * 1000 + (long)d[1]; }
KERNEL(lanes_mul_add, SERIAL, DECLARED) { __m128 s = _mm_set1_ps(1); for (int i = 0; i < n; i++) s = _mm_add_ps(_mm_mul_ps(s, _mm_set1_ps(0.5f)), _mm_loadu_ps(F + i)); return (long)_mm_cvtss_f32(s); }
KERNEL(lanes_map, INDEPENDENT, DECLARED) { for (int i = 0; i < n / 4; i++) _mm_storeu_si128((__m128i *)(W + 4 * i), _mm_xor_si128(at(U + 4 * i), _mm_set1_epi32(i))); return 0; }
KERNEL(lanes_average, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) s = _mm_avg_epu8(s, at(U + i)); return folded(s); }
KERNEL(lanes_compare, SERIAL, DECLARED) { __m128i s = _mm_setzero_si128(); for (int i = 0; i < n; i++) s = _mm_cmpgt_epi32(at(U + i), s); return folded(s); }
KERNEL(add_8_in_32, SERIAL, 0) { unsigned s = 1; REDUCE(s, unsigned, ADD); LOOP(i, 0, n) { s += U[i]; __asm__("addb %b1, %b0" : "+q"(s) : "Q"(W[i]) : "cc"); } return s; }
KERNEL(add_16_in_32, SERIAL, 0) { unsigned s = 1; REDUCE(s, unsigned, ADD); LOOP(i, 0, n) { s += U[i]; __asm__("addw %w1, %w0" : "+q"(s) : "Q"(W[i]) : "cc"); } return s; }
KERNEL(add_32_in_64, SERIAL, 0) { unsigned long s = 1; REDUCE(s, unsigned long, ADD); LOOP(i, 0, n) { s += (unsigned long)U[i] << 3; s = (s & ~0xfffffffful) | (unsigned)(s + W[i]); } return (long)s; }
KERNEL(add_high_byte, SERIAL, 0) { unsigned s = 1; REDUCE(s, unsigned, ADD); LOOP(i, 0, n) { s += U[i] & 0xff; __asm__("addb %b1, %h0" : "+Q"(s) : "Q"(W[i]) : "cc"); } return s; }

#undef FAMILY
#define FAMILY "instruction"
KERNEL(table_xlat, SERIAL, 0) { unsigned char v = 1; SHARED(v, unsigned char); LOOP(i, 0, n) { __asm__("xlatb" : "+a"(v) : "b"(T), "m"(T)); O[i] = v; } return v; }
KERNEL(xlat_map, INDEPENDENT, 0) { LOOP(i, 0, n) { unsigned char v = T[i]; __asm__("xlatb" : "+a"(v) : "b"(T), "m"(T)); O[i] = v; } return 0; }
KERNEL(xlat_late, SERIAL, 0) { unsigned char v = 1; SHARED(v, unsigned char); LOOP(i, 0, n) { O[i] = v; v = T[i]; __asm__("xlatb" : "+a"(v) : "b"(T), "m"(T)); } return 0; }
KERNEL(scan_forward, SERIAL, 0) { long at = 7; SHARED(at, long); LOOP(i, 0, n) { const long v = A[i] & 1 ? L[i] + 1 : 0; __asm__("bsfq %1, %0" : "+r"(at) : "r"(v) : "cc"); K[i] = at; } return 0; }
KERNEL(scan_own, INDEPENDENT, 0) { LOOP(i, 0, n) { long at = 7; const long v = A[i] & 1 ? L[i] + 1 : 0; __asm__("bsfq %1, %0" : "+r"(at) : "r"(v) : "cc"); K[i] = at; } return 0; }
KERNEL(keep_if, SERIAL, 0) { int v = 7; SHARED(v, int); LOOP(i, 0, n) { __asm__("cmpl $20, %1\n\tcmovll %2, %0" : "+r"(v) : "r"(A[i]), "r"(C[i]) : "cc"); B[i] = v; } return 0; }
KERNEL(low_byte_only, SERIAL, 0) { unsigned v = 0x01020304; SHARED(v, unsigned); LOOP(i, 0, n) { __asm__("movb %1, %b0" : "+q"(v) : "q"(T[i])); W[i] = v; v <<= 4; } return 0; }
KERNEL(set_low_byte, SERIAL, 0) { unsigned v = 0; SHARED(v, unsigned); LOOP(i, 0, n) { __asm__("cmpl $48, %1\n\tsetl %b0" : "+q"(v) : "r"(A[i]) : "cc"); v = v << 9 | v >> 23; W[i] = v; } return 0; }
KERNEL(exchange_add, SERIAL, 0) { int s = 0; REDUCE(s, int, ADD); LOOP(i, 0, n) { int v = A[i]; __asm__("xaddl %0, %1" : "+r"(v), "+r"(s) : : "cc"); B[i] = v; } return s; }
KERNEL(exchange, SERIAL, 0) { int s = 0; SHARED(s, int); LOOP(i, 0, n) { int v = A[i]; __asm__("xchgl %0, %1" : "+r"(v), "+r"(s)); B[i] = v; } return s; }
KERNEL(compare_exchange, SERIAL, 0) { int s = 0; SHARED(s, int); LOOP(i, 0, n) { int v = A[i]; __asm__("cmpxchgl %2, %1" : "+a"(v), "+r"(s) : "r"(C[i]) : "cc"); B[i] = v; } return s; }
KERNEL(rotate_through, SERIAL, 0) { unsigned s = 1; SHARED(s, unsigned); LOOP(i, 0, n) { __asm__("roll $5, %0\n\txorl %1, %0" : "+r"(s) : "r"(U[i]) : "cc"); W[i] = s; } return 0; }
KERNEL(carry_chain, SERIAL, DECLARED) { unsigned *to = W; const unsigned *from = U; long left = n; unsigned v; __asm__ volatile("clc\n1:\tmovl (%1), %3\n\tadcl %3, (%0)\n\tleaq 4(%0), %0\n\tleaq 4(%1), %1\n\tdecq %2\n\tjnz 1b" : "+r"(to), "+r"(from), "+r"(left), "=&r"(v) : : "cc", "memory"); return 0; }
KERNEL(flags_across, SERIAL, DECLARED) { int *to = B; const int *from = A; long left = n; int v; __asm__ volatile("cmpl $1, (%1)\n1:\tsetc %b3\n\tmovzbl %b3, %3\n\tmovl %3, (%0)\n\tcmpl $48, (%1)\n\tleaq 4(%0), %0\n\tleaq 4(%1), %1\n\tleaq -1(%2), %2\n\tmovq %2, %%rcx\n\tjrcxz 2f\n\tjmp 1b\n2:" : "+r"(to), "+r"(from), "+r"(left), "=&q"(v) : : "cc", "memory", "rcx"); return 0; }
KERNEL(string_move, INDEPENDENT, DECLARED) { int *to = B; const int *from = A; long left = n; __asm__ volatile("1:\tmovsl\n\tdecq %2\n\tjnz 1b" : "+D"(to), "+S"(from), "+r"(left) : : "cc", "memory"); return 0; }
KERNEL(string_load_sum, REDUCTION, DECLARED) { long s = 0, left = n; const int *from = A; __asm__ volatile("1:\tlodsl\n\taddq %%rax, %0\n\tdecq %2\n\tjnz 1b" : "+r"(s), "+S"(from), "+r"(left) : : "cc", "rax", "memory"); return s; }
KERNEL(loop_instruction, REDUCTION, DECLARED) { long s = 0, left = n; const int *from = A; __asm__ volatile("1:\taddl (%1), %k0\n\tleaq 4(%1), %1\n\tloop 1b" : "+r"(s), "+r"(from), "+c"(left) : : "cc", "memory"); return s; }
KERNEL(direction_flips, SERIAL, DECLARED) { const int *from = A + 40; int *to = B, v; long left = n; __asm__ volatile("cld\n1:\tlodsl\n\tmovl %%eax, (%1)\n\taddq $4, %1\n\ttestl $1, %%eax\n\tjz 2f\n\tstd\n\tjmp 3f\n2:\tcld\n3:\tdecq %2\n\tjnz 1b\n\tcld" : "+S"(from), "+r"(to), "+r"(left), "=&a"(v) : : "cc", "memory"); return 0; }
KERNEL(stack_as_register, SERIAL, DECLARED) { long left = n, v = 0; const int *from = A; int *to = B; __asm__ volatile("subq $128, %%rsp\n\tpushq $0\n1:\tpopq %3\n\tmovl %k3, (%1)\n\tmovslq (%0), %3\n\tpushq %3\n\taddq $4, %0\n\taddq $4, %1\n\tdecq %2\n\tjnz 1b\n\tpopq %3\n\taddq $128, %%rsp" : "+r"(from), "+r"(to), "+r"(left), "=&r"(v) : : "cc", "memory"); return v; }
KERNEL(x87_sum, REDUCTION, DECLARED) { long double s = 0; for (int i = 0; i < n; i++) s += X[i]; return (long)s; }
KERNEL(x87_delta, SERIAL, DECLARED) { long double last = 0; for (int i = 0; i < n; i++) { Y[i] = (double)(X[i] - last); last = X[i]; } return 0; }
KERNEL(x87_recurrence, SERIAL, DECLARED) { long double s = 0; for (int i = 0; i < n; i++) { s = s * 0.5L + X[i]; Y[i] = (double)s; } return 0; }
KERNEL(x87_map, INDEPENDENT, DECLARED) { for (int i = 0; i < n; i++) Y[i] = (double)(X[i] * 3.0L + 1); return 0; }
KERNEL(atomic_xor, REDUCTION, 0) { REDUCE(gu, unsigned, XOR); LOOP(i, 0, n) __atomic_fetch_xor(&gu, U[i], __ATOMIC_RELAXED); return gu; }
KERNEL(atomic_or, REDUCTION, 0) { REDUCE(gu, unsigned, OR); LOOP(i, 0, n) __atomic_fetch_or(&gu, U[i] & 0x1010, __ATOMIC_SEQ_CST); return gu; }
KERNEL(atomic_histogram, REDUCTION, 0) { REDUCE(H, int, ADD); LOOP(i, 0, n) __atomic_fetch_add(&H[FEW[i]], 1, __ATOMIC_RELAXED); return 0; }
KERNEL(atomic_ticket, SERIAL, 0) { REDUCE(g, int, ADD); LOOP(i, 0, n) B[i] = __atomic_fetch_add(&g, 1, __ATOMIC_RELAXED); return 0; }
KERNEL(atomic_exchange, SERIAL, 0) { SHARED(g, int); LOOP(i, 0, n) B[i] = __atomic_exchange_n(&g, A[i], __ATOMIC_SEQ_CST); return 0; }
KERNEL(atomic_maximum, REDUCTION, 0) { REDUCE(g, int, MAX); LOOP(i, 0, n) { int v = __atomic_load_n(&g, __ATOMIC_RELAXED); while (A[i] > v && !__atomic_compare_exchange_n(&g, &v, A[i], 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {} } return g; }
KERNEL(spin_locked, SERIAL, 0) { SHARED(g2, int); SHARED(g, int); LOOP(i, 0, n) { while (__atomic_exchange_n(&g2, 1, __ATOMIC_ACQUIRE)) {} g = g * 3 + A[i]; __atomic_store_n(&g2, 0, __ATOMIC_RELEASE); } return g; }

#undef FAMILY
#define FAMILY "mode"
KERNEL(rounding_flips, SERIAL, DECLARED) { const unsigned was = _mm_getcsr(); for (int i = 0; i < n; i++) { Y[i] = X[i] / 3; _mm_setcsr(was ^ (A[i] & 1 ? 0x2000u : 0x4000u)); } _mm_setcsr(was); return 0; }
KERNEL(rounding_toggles, SERIAL, DECLARED) { const unsigned was = _mm_getcsr(); for (int i = 0; i < n; i++) { Y[i] = X[i] / 3; _mm_setcsr(_mm_getcsr() ^ 0x2000u); } _mm_setcsr(was); return 0; }
KERNEL(rounding_once, SERIAL, DECLARED) { const unsigned was = _mm_getcsr(); for (int i = 0; i < n; i++) { Y[i] = X[i] / 3; if (i == n / 2) _mm_setcsr(was ^ 0x2000u); } _mm_setcsr(was); return 0; }
KERNEL(sticky_flags, SERIAL, DECLARED) { const unsigned was = _mm_getcsr(); _mm_setcsr(was & ~0x3fu); for (int i = 0; i < n; i++) { volatile double q = X[i] / (i < 100 ? 1 : 3); Y[i] = q; B[i] = (int)(_mm_getcsr() & 0x3fu); } _mm_setcsr(was); return 0; }
KERNEL(x87_mode, SERIAL, DECLARED) { unsigned short was, now; __asm__ volatile("fnstcw %0" : "=m"(was)); for (int i = 0; i < n; i++) { volatile long double d = 3; Y[i] = (double)(X[i] / d); now = (unsigned short)(was ^ (A[i] & 1 ? 0x400 : 0x800)); __asm__ volatile("fldcw %0" : : "m"(now)); } __asm__ volatile("fldcw %0" : : "m"(was)); return 0; }

#undef FAMILY
#define FAMILY "alias"
static int *mapped[2];
static int map_twice(void) { if (mapped[1]) return 0; const int fd = memfd_create("twice", 0); if (fd < 0 || ftruncate(fd, 4096)) return -1; for (int k = 0; k < 2; k++) { mapped[k] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); if (mapped[k] == MAP_FAILED) return -1; } close(fd); return 0; }
KERNEL(mapped_twice, SERIAL, DECLARED) { if (map_twice()) return 0; int *const p = mapped[0], *const q = mapped[1]; for (int i = 0; i < n; i++) p[i + 1] = q[i] + A[i]; return 0; }
KERNEL(mapped_twice_scalar, SERIAL, DECLARED) { if (map_twice()) return 0; volatile int *const p = mapped[0], *const q = mapped[1]; for (int i = 0; i < n; i++) { B[i] = *q; *p = A[i]; } return 0; }
KERNEL(overlaid, SERIAL, 0) { LOOP(i, 0, n - 1) { ((volatile short *)A)[2 * i + 2] = (short)(i + ((volatile unsigned char *)A)[4 * i]); } return 0; }
KERNEL(unaligned_overlap, SERIAL, 0) { LOOP(i, 0, n - 8) { long v; memcpy(&v, O + i, sizeof v); v = v * 3 + i; memcpy(O + i, &v, sizeof v); } return 0; }
KERNEL(shifted_pointer, SERIAL, 0) { int *const p = A + 1; const int *const q = A; LOOP(i, 0, n) p[i] = q[i] + B[i]; return 0; }
KERNEL(shifted_behind, PRIVATIZABLE, 0) { int *const p = A; const int *const q = A + 1; LOOP(i, 0, n) p[i] = q[i] + B[i]; return 0; }
KERNEL(same_through_other, DISTANCE, 0) { int *const p = A + 8; const int *const q = A; LOOP(i, 0, n) p[i] = q[i] + B[i]; return 0; }
KERNEL(code_rewritten, SERIAL, DECLARED) { static unsigned char *code; if (!code) { code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); if (code == MAP_FAILED) return 0; } memcpy(code, "\xb8\0\0\0\0\xc3", 6); for (int i = 0; i < n / 16; i++) { B[i] = ((int (*)(void))code)(); memcpy(code + 1, &A[i], 4); } return 0; }

#ifndef __clang__
#undef FAMILY
#define FAMILY "global_register"
register long kept __asm__("r15");
APART static long kept_next(long v) { const long was = kept; kept = v; return was; }
KERNEL(register_global_delta, SERIAL, DECLARED) { const long saved = kept; kept = 0; for (int i = 0; i < n; i++) { K[i] = L[i] - kept; kept = L[i]; } kept = saved; return 0; }
KERNEL(register_global_call, SERIAL, DECLARED) { const long saved = kept; kept = 0; for (int i = 0; i < n; i++) K[i] = kept_next(L[i]); kept = saved; return 0; }
KERNEL(register_global_sum, REDUCTION, DECLARED) { const long saved = kept; kept = 0; for (int i = 0; i < n; i++) kept += L[i]; const long s = kept; kept = saved; return s; }
#endif
