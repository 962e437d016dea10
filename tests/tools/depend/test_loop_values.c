/* Loops in machine code, and what they carry. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/tools/depend/loops_fixture.h"

#include <stdio.h>
#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, XMM0 = VALUE_VECTORS, XMM1, XMM2 };
/* What is expected of a variable: a number with its kind and operation; 0: nothing. */

#define EXPECTED(variable, kind, operation) (((variable) + 1u) << 16 | (kind) << 8 | (operation))
#define NONE(variable)                      EXPECTED(variable, LOOP_VALUE_NONE, 0)
#define STEP(variable)                      EXPECTED(variable, LOOP_VALUE_INDUCTION, 0)
#define SERIAL(variable)                    EXPECTED(variable, LOOP_VALUE_SERIAL, 0)
#define REDUCE(variable, operation)         EXPECTED(variable, LOOP_VALUE_REDUCTION, VALUE_##operation)

#define SLOT(number) (VALUE_REGISTERS + (number)) /* in the order of the code */

/* --- inductions --------------------------------------------------------------------------------
 */

LOOP_CODE(step_inc, "1: inc eax\n cmp eax, esi\n jne 1b\n ret");
LOOP_CODE(step_add, "1: add rax, 24\n sub edx, 3\n cmp rax, rsi\n jne 1b\n ret");
LOOP_CODE(step_lea, "1: lea rax, [rax + 8]\n lea ecx, [rcx - 1]\n test ecx, ecx\n jne 1b\n ret");
LOOP_CODE(step_by, "1: add rax, rsi\n lea rcx, [rcx + rsi]\n cmp rax, rdi\n jne 1b\n ret");
LOOP_CODE(step_pointer, "1: mov eax, [rdi]\n mov [rdi + 4], eax\n add rdi, 8\n cmp rdi, rsi\n"
                        "jne 1b\n ret");
LOOP_CODE(step_copy, "1: mov ecx, eax\n mov [rdi + rcx], cl\n lea eax, [rcx + 1]\n cmp eax, esi\n"
                     "jne 1b\n ret");
LOOP_CODE(step_inner, "1: mov ecx, esi\n 2: inc eax\n dec ecx\n jne 2b\n mov [rdi + rax], al\n"
                      "dec edx\n jne 1b\n ret");
LOOP_CODE(step_equal, "1: lea rax, [rcx - 320]\n 2: mov [rax], edx\n add rax, 8\n cmp rax, rcx\n"
                      "jne 2b\n lea rcx, [rax + 8]\n cmp rcx, rsi\n jne 1b\n ret");
LOOP_CODE(step_unequal, "1: lea rax, [rcx - 320]\n 2: mov [rax], edx\n add rax, 8\n cmp rax, rdi\n"
                        "je 2b\n lea rcx, [rax + 8]\n cmp rcx, rsi\n jne 1b\n ret");
LOOP_CODE(step_loop, "1: mov [rdi + rcx], al\n loop 1b\n ret");
LOOP_CODE(step_slot, "1: add dword ptr [rbp - 4], 1\n mov eax, [rbp - 4]\n cmp eax, esi\n jne 1b\n"
                     "ret");
LOOP_CODE(step_part, "1: inc al\n mov [rdi], al\n cmp al, 100\n jne 1b\n ret");
LOOP_CODE(step_odd, "1: mov eax, [rdi + 4 * rcx]\n test eax, eax\n je 2f\n inc rdx\n 2: inc rcx\n"
                    "mov [r8 + rdx], al\n cmp rcx, rsi\n jne 1b\n ret");

/* --- reductions --------------------------------------------------------------------------------
 */

LOOP_CODE(sum, "1: add eax, [rdi]\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(difference, "1: sub rax, [rdi]\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_other_way, "1: mov ecx, [rdi]\n add ecx, eax\n mov eax, ecx\n add rdi, 4\n"
                         "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_lea, "1: movsxd rcx, dword ptr [rdi]\n lea rax, [rax + rcx]\n add rdi, 4\n"
                   "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(product, "1: imul eax, [rdi]\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(all_bits, "1: and eax, [rdi]\n or ecx, [rdi]\n xor edx, [rdi]\n add rdi, 4\n"
                    "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_slot, "1: mov rax, [rdi]\n add [rbp - 8], rax\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n"
                    "ret");
LOOP_CODE(sum_unoptimized, "1: mov eax, [rbp - 4]\n cdqe\n lea rdx, [rax * 4]\n"
                           "mov rax, [rbp - 24]\n add rax, rdx\n mov eax, [rax]\n"
                           "add [rbp - 8], eax\n add dword ptr [rbp - 4], 1\n"
                           "mov eax, [rbp - 4]\n cmp eax, [rbp - 28]\n jl 1b\n ret");
LOOP_CODE(sum_conditional, "1: mov ecx, [rdi]\n test cl, 1\n je 2f\n add eax, ecx\n"
                           "2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(count_set, "1: xor ecx, ecx\n cmp dword ptr [rdi], 5\n setg cl\n add eax, ecx\n"
                     "add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(count_set_part, "1: cmp dword ptr [rdi], 5\n setg cl\n movzx ecx, cl\n add eax, ecx\n"
                          "add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(count_carry, "1: cmp dword ptr [rdi], 5\n adc eax, 0\n add rdi, 4\n cmp rdi, rsi\n"
                       "jne 1b\n ret");
LOOP_CODE(sum_double, "1: addsd xmm0, [rdi]\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_converted, "1: pxor xmm1, xmm1\n cvtsi2sd xmm1, dword ptr [rdi]\n mulsd xmm1, xmm2\n"
                         "addsd xmm0, xmm1\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_copied, "1: movsd xmm1, [rdi]\n addsd xmm1, xmm0\n movapd xmm0, xmm1\n add rdi, 8\n"
                      "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_vector, "1: movdqu xmm1, [rdi]\n paddd xmm0, xmm1\n add rdi, 16\n cmp rdi, rsi\n"
                      "jne 1b\n ret");
LOOP_CODE(sum_avx, "1: vmovupd ymm1, [rdi]\n vaddpd ymm0, ymm1, ymm0\n"
                   "vfmadd231pd ymm2, ymm1, ymm1\n add rdi, 32\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_x87, "1: fld qword ptr [rdi]\n fmul st(0), st(0)\n faddp st(1), st\n add rdi, 8\n"
                   "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_x87_slot, "1: fld tbyte ptr [rbp - 16]\n fadd qword ptr [rdi]\n"
                        "fstp tbyte ptr [rbp - 16]\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");

/* --- minima ------------------------------------------------------------------------------------
 */

LOOP_CODE(min_cmov, "1: mov ecx, [rdi]\n cmp eax, ecx\n cmovg eax, ecx\n add rdi, 4\n"
                    "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_cmov, "1: mov ecx, [rdi]\n cmp ecx, eax\n cmovb ecx, eax\n mov eax, ecx\n"
                    "add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(min_branch, "1: mov ecx, [rdi]\n cmp ecx, eax\n jge 2f\n mov eax, ecx\n 2: add rdi, 4\n"
                      "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_branch_out, "1: mov ecx, [rdi]\n cmp ecx, eax\n jg 3f\n 2: add rdi, 4\n"
                          "cmp rdi, rsi\n jne 1b\n ret\n 3: mov eax, ecx\n jmp 2b");
LOOP_CODE(min_slot, "1: mov eax, [rdi]\n cmp [rbp - 4], eax\n jle 2f\n mov eax, [rdi]\n"
                    "mov [rbp - 4], eax\n 2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_diamond,
          "1: movsd xmm1, [rdi]\n comisd xmm1, [rbp - 8]\n jbe 2f\n movsd xmm1, [rdi]\n"
          "jmp 3f\n 2: movsd xmm1, [rbp - 8]\n 3: movsd [rbp - 8], xmm1\n add rdi, 8\n"
          "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(min_vector, "1: pminsd xmm0, [rdi]\n add rdi, 16\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_where, "1: mov ecx, [rdi]\n cmp ecx, eax\n cmovg eax, ecx\n cmovg r8d, edx\n"
                     "inc edx\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(last_one, "1: mov ecx, [rdi]\n test ecx, ecx\n cmovs eax, ecx\n add rdi, 4\n"
                    "cmp rdi, rsi\n jne 1b\n ret");

/* --- carried -----------------------------------------------------------------------------------
 */

LOOP_CODE(chaos, "1: imul eax, eax, 1664525\n add eax, 1013904223\n mov [rdi], eax\n add rdi, 4\n"
                 "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(list, "1: add eax, [rdi + 8]\n mov rdi, [rdi]\n test rdi, rdi\n jne 1b\n ret");
LOOP_CODE(list_rbp, "1: add eax, [rbp + 8]\n mov rbp, [rbp]\n test rbp, rbp\n jne 1b\n ret");
LOOP_CODE(sum_doubled,
          "1: add eax, eax\n add eax, [rdi]\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_stored,
          "1: add eax, [rdi]\n mov [rdi], eax\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_indexes,
          "1: add rax, [rdi]\n mov byte ptr [rdx + rax], 1\n add rdi, 8\n cmp rdi, rsi\n"
          "jne 1b\n ret");
LOOP_CODE(sum_sign_counts, "1: add eax, [rdi]\n jns 2f\n inc edx\n 2: add rdi, 4\n cmp rdi, rsi\n"
                           "jne 1b\n ret");
LOOP_CODE(sum_sign_set, "1: add eax, [rdi]\n sets cl\n movzx ecx, cl\n add edx, ecx\n add rdi, 4\n"
                        "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_sign_stores, "1: add eax, [rdi]\n jns 2f\n mov byte ptr [rdx], 1\n 2: inc rdx\n"
                           "add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_sign_late, "1: add eax, [rdi]\n lea rdi, [rdi + 4]\n paddd xmm0, xmm1\n jns 2f\n"
                         "mov byte ptr [rdx], 1\n 2: cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_carry, "1: add eax, [rdi]\n inc rdx\n jnc 2f\n mov byte ptr [rdx], 1\n"
                     "2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_ends, "1: add eax, [rdi]\n add rdi, 4\n cmp eax, 100\n jl 1b\n ret");
LOOP_CODE(sum_restarts, "1: add eax, [rdi]\n cmovs eax, edx\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n"
                        "ret");
LOOP_CODE(sum_calls,
          "1: add eax, [rdi]\n jns 2f\n call 9f\n 2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n"
          "ret\n 9: ret");
LOOP_CODE(chain, "1: cmp eax, [rdi]\n jne 2f\n mov eax, [rdi + 4]\n 2: add rdi, 8\n cmp rdi, rsi\n"
                 "jne 1b\n ret");
LOOP_CODE(chain_cmov, "1: mov ecx, [rdi + 4]\n cmp eax, [rdi]\n cmove eax, ecx\n add rdi, 8\n"
                      "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(chain_less, "1: mov ecx, [rdi + 4]\n cmp eax, [rdi]\n cmovl eax, ecx\n add rdi, 8\n"
                      "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_plus_one, "1: mov ecx, [rdi]\n cmp ecx, eax\n jle 2f\n lea eax, [rcx + 1]\n"
                        "2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_differs, "1: mov ecx, [rdi]\n cmp ecx, eax\n je 2f\n mov eax, ecx\n inc edx\n"
                       "2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_records, "1: mov ecx, [rdi]\n cmp ecx, eax\n jle 2f\n mov eax, ecx\n inc edx\n"
                       "2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_late, "1: mov ecx, [rdi]\n cmp eax, ecx\n cmovl eax, ecx\n cmp eax, 100\n"
                    "cmovg edx, ecx\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_then_min, "1: mov ecx, [rdi]\n cmp eax, ecx\n cmovl eax, ecx\n mov ecx, [rdi + 4]\n"
                        "cmp eax, ecx\n cmovg eax, ecx\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(saturate, "1: paddsw xmm0, [rdi]\n addsubps xmm1, xmm0\n add rdi, 16\n cmp rdi, rsi\n"
                    "jne 1b\n ret");
LOOP_CODE(part_kept, "1: mov al, [rdi]\n mov [rdx], eax\n shl eax, 8\n inc rdi\n cmp rdi, rsi\n"
                     "jne 1b\n ret");
LOOP_CODE(part_high, "1: mov ah, [rdi]\n mov [rdx], al\n mov al, ah\n inc rdi\n cmp rdi, rsi\n"
                     "jne 1b\n ret");
LOOP_CODE(part_word, "1: mov ax, [rdi]\n mov [rdx], rax\n bswap rax\n inc rdi\n cmp rdi, rsi\n"
                     "jne 1b\n ret");
LOOP_CODE(part_vector, "1: movsd xmm0, xmm1\n movups [rdi], xmm0\n shufps xmm0, xmm0, 78\n"
                       "add rdi, 16\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(part_upper, "1: movhps xmm0, [rdi]\n movlps [rdi], xmm0\n movhlps xmm0, xmm0\n"
                      "add rdi, 16\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(strings, "1: movsb\n movsd\n lodsb\n cmp rsi, rdx\n jne 1b\n ret");
LOOP_CODE(pass_integer, "1: call 9f\n mov edi, eax\n dec ebx\n jne 1b\n ret\n"
                        "9: lea eax, [rdi + rdi * 2]\n ret");
LOOP_CODE(pass_double, "1: call 9f\n dec ebx\n jne 1b\n ret\n 9: mulsd xmm0, xmm0\n ret");
LOOP_CODE(pass_deep, "1: call 9f\n dec ebx\n jne 1b\n ret\n 9: sub rsp, 8\n call 8f\n add rsp, 8\n"
                     "ret\n 8: test edi, edi\n je 7f\n mulsd xmm0, xmm0\n 7: ret");
LOOP_CODE(pass_recursive, "1: call 9f\n dec ebx\n jne 1b\n ret\n"
                          "9: xor eax, eax\n cmp esi, 2\n mov esi, eax\n jl 8f\n call 9b\n 8: ret");
LOOP_CODE(pass_kept, "1: mov edi, [rcx]\n call 9f\n add edx, eax\n add rcx, 4\n cmp rcx, rsi\n"
                     "jne 1b\n ret\n 9: lea eax, [rdi + 1]\n ret");
LOOP_CODE(pass_unknown, "1: call rbp\n mov edi, eax\n dec ebx\n jne 1b\n ret");
LOOP_CODE(pass_nothing, "1: call 9f\n mov edx, eax\n shl edx, 2\n mov [r12], edx\n add r12, 4\n"
                        "dec ebx\n jne 1b\n ret\n 9: xor eax, eax\n xorps xmm0, xmm0\n ret");
LOOP_CODE(x87_square, "1: fmul st(0), st(0)\n fadd qword ptr [rdi]\n add rdi, 8\n cmp rdi, rsi\n"
                      "jne 1b\n ret");
LOOP_CODE(carry_chain, "1: mov rax, [rsi]\n adc rax, [rdx]\n mov [rdi], rax\n lea rsi, [rsi + 8]\n"
                       "lea rdx, [rdx + 8]\n lea rdi, [rdi + 8]\n dec ecx\n jne 1b\n ret");
LOOP_CODE(x87_moved,
          "1: fincstp\n fadd qword ptr [rdi]\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");

/* --- what only looks like a step or a reduction -------------------------------------------------
 */

LOOP_CODE(delta, "1: mov ecx, eax\n mov eax, [rdi]\n sub ecx, eax\n mov [rdx], ecx\n add rdi, 4\n"
                 "add rdx, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(delta_two, "1: mov [rdx], ebx\n mov ebx, ecx\n mov ecx, [rdi]\n add rdi, 4\n add rdx, 4\n"
                     "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(delta_indirect,
          "1: mov [rdx], ecx\n mov eax, [rdi]\n mov ecx, [r8 + rax * 4]\n add rdi, 4\n"
          "add rdx, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(delta_table, "1: xlatb\n mov [rdx], al\n inc rdx\n cmp rdx, rsi\n jne 1b\n ret");
LOOP_CODE(step_behind,
          "1: mov [rdi + 4 * rcx], al\n mov ecx, eax\n inc eax\n cmp eax, esi\n jne 1b\n ret");
LOOP_CODE(step_then_max,
          "1: sub eax, 3\n mov ecx, [rdi]\n cmp eax, ecx\n cmovl eax, ecx\n add rdi, 4\n"
          "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(step_then_xor,
          "1: add eax, 3\n xor eax, [rdi]\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(step_then_product,
          "1: dec eax\n imul eax, [rdi]\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(step_float,
          "1: movsd [rdi], xmm0\n addsd xmm0, xmm1\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_of_lanes,
          "1: paddd xmm0, [rdi]\n paddb xmm0, [rdi + 16]\n add rdi, 16\n cmp rdi, rsi\n"
          "jne 1b\n ret");
LOOP_CODE(sum_of_floats,
          "1: addps xmm0, [rdi]\n addpd xmm0, [rdi + 16]\n add rdi, 16\n cmp rdi, rsi\n"
          "jne 1b\n ret");
LOOP_CODE(sum_of_widths,
          "1: add eax, [rdi]\n add al, [rdi + 4]\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_of_long,
          "1: add eax, [rdi]\n add rax, [rdi + 8]\n add rdi, 16\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_of_bytes, "1: movzx ecx, byte ptr [rdi]\n add eax, ecx\n movzx eax, al\n inc rdi\n"
                        "cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(sum_cut_before,
          "1: movzx eax, al\n add eax, [rdi]\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(steps_of_widths,
          "1: inc al\n inc eax\n mov [rdi], eax\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_of_signs, "1: mov ecx, [rdi]\n cmp eax, ecx\n cmovl eax, ecx\n mov ecx, [rdi + 4]\n"
                        "cmp eax, ecx\n cmovb eax, ecx\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(max_with_key,
          "1: mov ecx, [rdi]\n cmp al, cl\n cmovl eax, ecx\n add rdi, 4\n cmp rdi, rsi\n"
          "jne 1b\n ret");
LOOP_CODE(max_cut, "1: mov ecx, [rdi]\n movsx edx, al\n cmp edx, ecx\n jge 2f\n mov al, cl\n"
                   "2: add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(scan_kept, "1: bsf rax, [rdi]\n mov [rdx], rax\n add rdi, 8\n add rdx, 8\n cmp rdi, rsi\n"
                     "jne 1b\n ret");
LOOP_CODE(sum_saturated, "1: paddusb xmm0, [rdi]\n add rdi, 16\n cmp rdi, rsi\n jne 1b\n ret");

/* --- slots -------------------------------------------------------------------------------------
 */

LOOP_CODE(slot_overlaps, "1: add qword ptr [rbp - 8], 5\n mov eax, [rbp - 4]\n mov [rdi], eax\n"
                         "add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(slot_indexed, "1: add dword ptr [rbp - 16], 5\n add dword ptr [rbp - 12], 5\n"
                        "mov eax, [rbp + rcx * 4 - 16]\n add dword ptr [rbp - 4], 1\n dec ecx\n"
                        "jne 1b\n ret");
LOOP_CODE(slot_taken, "1: add dword ptr [rbp - 4], 5\n lea rdi, [rbp - 4]\n call 9f\n dec ebx\n"
                      "jne 1b\n ret\n 9: ret");
LOOP_CODE(slot_moves,
          "1: add dword ptr [rsp + 8], 5\n push rax\n pop rax\n dec ebx\n jne 1b\n ret");
LOOP_CODE(slot_part, "1: mov byte ptr [rbp - 4], 7\n mov eax, [rbp - 4]\n lea eax, [rax * 2]\n"
                     "mov [rbp - 4], eax\n dec ebx\n jne 1b\n ret");

static const struct {
    const char *name;
    const uint8_t *code, *end;
    uint32_t expected[4];
} loops[] = {
#define CODE(name) #name, name##_code, name##_end
    {CODE(step_inc), {STEP(RAX)}},
    {CODE(step_add), {STEP(RAX), STEP(RDX)}},
    {CODE(step_lea), {STEP(RAX), STEP(RCX)}},
    {CODE(step_by), {STEP(RAX), STEP(RCX), NONE(RSI)}},
    {CODE(step_pointer), {NONE(RAX), STEP(RDI)}},
    {CODE(step_copy), {STEP(RAX)}},
    {CODE(step_inner), {STEP(RAX), STEP(RDX), NONE(RCX)}},
    {CODE(step_equal), {STEP(RCX), NONE(RAX)}},
    {CODE(step_unequal), {SERIAL(RCX)}},
    {CODE(step_loop), {STEP(RCX)}},
    {CODE(step_slot), {STEP(SLOT(0))}},
    {CODE(step_part), {STEP(RAX)}},
    {CODE(step_odd), {SERIAL(RDX), STEP(RCX)}},
    {CODE(sum), {REDUCE(RAX, ADD), STEP(RDI)}},
    {CODE(difference), {REDUCE(RAX, ADD)}},
    {CODE(sum_other_way), {REDUCE(RAX, ADD), NONE(RCX)}},
    {CODE(sum_lea), {REDUCE(RAX, ADD)}},
    {CODE(product), {REDUCE(RAX, MULTIPLY)}},
    {CODE(all_bits), {REDUCE(RAX, AND), REDUCE(RCX, OR), REDUCE(RDX, XOR)}},
    {CODE(sum_slot), {REDUCE(SLOT(0), ADD), NONE(RAX)}},
    {CODE(sum_unoptimized), {STEP(SLOT(0)), NONE(SLOT(1)), REDUCE(SLOT(2), ADD)}},
    {CODE(sum_conditional), {REDUCE(RAX, ADD)}},
    {CODE(count_set), {REDUCE(RAX, ADD), NONE(RCX)}},
    {CODE(count_set_part), {REDUCE(RAX, ADD), NONE(RCX)}},
    {CODE(count_carry), {SERIAL(RAX)}}, /* could be a reduction */
    {CODE(sum_double), {REDUCE(XMM0, ADD)}},
    {CODE(sum_converted), {REDUCE(XMM0, ADD), NONE(XMM1), NONE(XMM2)}},
    {CODE(sum_copied), {REDUCE(XMM0, ADD), NONE(XMM1)}},
    {CODE(sum_vector), {REDUCE(XMM0, ADD)}},
    {CODE(sum_avx), {REDUCE(XMM0, ADD), REDUCE(XMM2, ADD)}},
    {CODE(sum_x87), {REDUCE(VALUE_X87, ADD)}},
    {CODE(sum_x87_slot), {REDUCE(SLOT(0), ADD), NONE(VALUE_X87)}},
    {CODE(min_cmov), {REDUCE(RAX, MINIMUM)}},
    {CODE(max_cmov), {REDUCE(RAX, MAXIMUM)}},
    {CODE(min_branch), {REDUCE(RAX, MINIMUM)}},
    {CODE(max_branch_out), {REDUCE(RAX, MAXIMUM)}},
    {CODE(min_slot), {REDUCE(SLOT(0), MINIMUM)}},
    {CODE(max_diamond), {REDUCE(SLOT(0), MAXIMUM)}},
    {CODE(min_vector), {REDUCE(XMM0, MINIMUM)}},
    {CODE(max_where), {REDUCE(RAX, MAXIMUM), NONE(R8), STEP(RDX)}},
    {CODE(last_one), {NONE(RAX)}},
    {CODE(chaos), {SERIAL(RAX)}},
    {CODE(list), {SERIAL(RDI), SERIAL(RAX)}},
    {CODE(list_rbp), {SERIAL(RBP)}},
    {CODE(sum_doubled), {SERIAL(RAX)}},
    {CODE(sum_stored), {SERIAL(RAX)}},
    {CODE(sum_indexes), {SERIAL(RAX)}},
    {CODE(sum_sign_counts), {SERIAL(RAX), SERIAL(RDX)}},
    {CODE(sum_sign_set), {SERIAL(RDX)}},
    {CODE(sum_sign_stores), {SERIAL(RAX)}},
    {CODE(sum_sign_late), {SERIAL(RAX)}},
    {CODE(sum_carry), {SERIAL(RAX)}},
    {CODE(sum_ends), {SERIAL(RAX)}},
    {CODE(sum_restarts), {SERIAL(RAX)}},
    {CODE(sum_calls), {SERIAL(RAX)}},
    {CODE(chain), {SERIAL(RAX)}},
    {CODE(chain_cmov), {SERIAL(RAX)}},
    {CODE(chain_less), {SERIAL(RAX)}},
    {CODE(max_plus_one), {SERIAL(RAX)}},
    {CODE(max_differs), {SERIAL(RAX)}},
    {CODE(max_records), {SERIAL(RDX)}},
    {CODE(max_late), {SERIAL(RAX)}},
    {CODE(max_then_min), {SERIAL(RAX)}},
    {CODE(saturate), {SERIAL(XMM0), SERIAL(XMM1)}},
    {CODE(part_kept), {SERIAL(RAX)}},
    {CODE(part_high), {SERIAL(RAX)}},
    {CODE(part_word), {SERIAL(RAX)}},
    {CODE(part_vector), {SERIAL(XMM0)}},
    {CODE(part_upper), {SERIAL(XMM0)}},
    {CODE(strings), {STEP(RSI), STEP(RDI)}},
    {CODE(pass_integer), {SERIAL(RDI), STEP(RBX)}},
    {CODE(pass_double), {SERIAL(XMM0)}},
    {CODE(pass_deep), {SERIAL(XMM0)}},
    {CODE(pass_recursive), {NONE(XMM0), NONE(RDI), SERIAL(RSI)}},
    {CODE(pass_kept), {REDUCE(RDX, ADD), STEP(RCX), NONE(RSI)}},
    {CODE(pass_unknown), {SERIAL(RDI)}},
    {CODE(pass_nothing), {NONE(RDX), NONE(XMM0), NONE(RAX)}},
    {CODE(x87_square), {SERIAL(VALUE_X87)}},
    {CODE(carry_chain), {SERIAL(VALUE_FLAGS), STEP(RSI)}},
    {CODE(step_inc), {NONE(VALUE_FLAGS)}},
    {CODE(x87_moved), {SERIAL(VALUE_X87)}},
    {CODE(slot_part), {SERIAL(SLOT(0))}},
    {CODE(delta), {SERIAL(RAX), STEP(RDI), STEP(RDX)}},
    {CODE(delta_two), {SERIAL(RBX), SERIAL(RCX)}},
    {CODE(delta_indirect), {SERIAL(RCX), NONE(RAX)}},
    {CODE(delta_table), {SERIAL(RAX)}},
    {CODE(step_behind), {SERIAL(RCX), STEP(RAX)}},
    {CODE(step_then_max), {SERIAL(RAX)}},
    {CODE(step_then_xor), {SERIAL(RAX)}},
    {CODE(step_then_product), {SERIAL(RAX)}},
    {CODE(step_float), {SERIAL(XMM0)}},
    {CODE(sum_of_lanes), {SERIAL(XMM0)}},
    {CODE(sum_of_floats), {SERIAL(XMM0)}},
    {CODE(sum_of_widths), {SERIAL(RAX)}},
    {CODE(sum_of_long), {SERIAL(RAX)}},
    {CODE(sum_of_bytes), {REDUCE(RAX, ADD)}},
    {CODE(sum_cut_before), {SERIAL(RAX)}},
    {CODE(steps_of_widths), {SERIAL(RAX)}},
    {CODE(max_of_signs), {SERIAL(RAX)}},
    {CODE(max_with_key), {SERIAL(RAX)}},
    {CODE(max_cut), {SERIAL(RAX)}},
    {CODE(sum_saturated), {SERIAL(XMM0)}},
    {CODE(scan_kept), {SERIAL(RAX)}},
};

static void check(const char *name, const struct loop_values *values, uint32_t expected)
{
    const unsigned variable = (expected >> 16) - 1, kind = values->kinds[variable];
    const unsigned operation = kind == LOOP_VALUE_REDUCTION ? values->operations[variable] : 0;
    const bool is_right = (kind << 8 | operation) == (expected & 0xffff);
    if (!is_right)
        printf("\n%s: variable %u is of kind %u, operation %u", name, variable, kind, operation);
    CU_ASSERT_TRUE(is_right);
}

static void test_loops(void)
{
    static struct loop_values values;
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        const struct loop_code code = {
            loops[i].code, (size_t)((uintptr_t)loops[i].end - (uintptr_t)loops[i].code)};
        CU_ASSERT_TRUE_FATAL(loop_code_analyse(code, 0, &values));
        CU_ASSERT_FALSE(values.is_unknown);
        for (unsigned k = 0; k < 4 && loops[i].expected[k]; k++)
            check(loops[i].name, &values, loops[i].expected[k]);
    }
}

/* --- slots that are memory, updates, ends ------------------------------------------------------
 */

#define ANALYSE(name, values) ANALYSE_LIVE(name, 0, values)
#define ANALYSE_LIVE(name, live, values)                                                           \
    loop_code_analyse(                                                                             \
        (struct loop_code){name##_code, (size_t)((uintptr_t)name##_end - (uintptr_t)name##_code)}, \
        live, values)

/* The variable of the slot that the instruction at an offset accesses. */
static unsigned slot_at(const struct loop_values *values, const uint8_t *begin, const uint8_t *end,
                        unsigned offset)
{
    struct loop_code code = {begin, (size_t)((uintptr_t)end - (uintptr_t)begin)};
    return loop_values_slot(values, LOOP_CODE_BASE + offset, loop_code_read, &code);
}

static void test_exposed_slots(void)
{
    static struct loop_values values;
    CU_ASSERT_TRUE_FATAL(ANALYSE(slot_overlaps, &values));
    CU_ASSERT_EQUAL(slot_at(&values, slot_overlaps_code, slot_overlaps_end, 0),
                    VALUE_VARIABLE_NONE);
    CU_ASSERT_EQUAL(slot_at(&values, slot_overlaps_code, slot_overlaps_end, 5),
                    VALUE_VARIABLE_NONE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(slot_indexed, &values));
    CU_ASSERT_EQUAL(slot_at(&values, slot_indexed_code, slot_indexed_end, 0), VALUE_VARIABLE_NONE);
    CU_ASSERT_EQUAL(slot_at(&values, slot_indexed_code, slot_indexed_end, 4), VALUE_VARIABLE_NONE);
    CU_ASSERT_NOT_EQUAL(slot_at(&values, slot_indexed_code, slot_indexed_end, 12),
                        VALUE_VARIABLE_NONE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(slot_taken, &values));
    CU_ASSERT_EQUAL(slot_at(&values, slot_taken_code, slot_taken_end, 0), VALUE_VARIABLE_NONE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(slot_moves, &values));
    CU_ASSERT_EQUAL(slot_at(&values, slot_moves_code, slot_moves_end, 0), VALUE_VARIABLE_NONE);
}

LOOP_CODE(histogram, "1: mov eax, [rdi]\n add dword ptr [rdx + rax * 4], 1\n add rdi, 4\n"
                     "cmp rdi, rsi\n jne 1b\n ret"); /* the update is at 2 */
LOOP_CODE(histogram_split, "1: mov eax, [rdi]\n mov ecx, [rdx + rax * 4]\n lea ecx, [rcx + 3]\n"
                           "mov [rdx + rax * 4], ecx\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(histogram_used, "1: mov eax, [rdi]\n mov ecx, [rdx + rax * 4]\n lea r8d, [rcx + 3]\n"
                          "mov [rdx + rax * 4], r8d\n mov [rdi], ecx\n add rdi, 4\n cmp rdi, rsi\n"
                          "jne 1b\n ret");
LOOP_CODE(histogram_full, "1: mov eax, [rdi]\n mov ecx, [rdx + rax * 4]\n cmp ecx, 255\n je 2f\n"
                          "inc ecx\n mov [rdx + rax * 4], ecx\n 2: add rdi, 4\n cmp rdi, rsi\n"
                          "jne 1b\n ret");
LOOP_CODE(histogram_other, "1: mov eax, [rdi]\n mov ecx, [rdx + rax * 4]\n inc ecx\n"
                           "mov [rdx + rax * 4 + 4], ecx\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n"
                           "ret");
LOOP_CODE(histogram_last, "1: mov eax, [rdi]\n mov ecx, [rdx + rax * 4]\n test eax, eax\n"
                          "cmovs ecx, eax\n mov [rdx + rax * 4], ecx\n add rdi, 4\n cmp rdi, rsi\n"
                          "jne 1b\n ret");

static void check_update(const struct loop_values *values, unsigned load, unsigned store,
                         enum value_operation operation)
{
    CU_ASSERT_EQUAL(loop_values_updates(values, LOOP_CODE_BASE + store).operation, operation);
    CU_ASSERT_EQUAL(loop_values_loads_for_update(values, LOOP_CODE_BASE + load).operation,
                    operation);
}

static void test_updates(void)
{
    static struct loop_values values;
    CU_ASSERT_TRUE_FATAL(ANALYSE(histogram, &values));
    check_update(&values, 2, 2, VALUE_ADD);
    CU_ASSERT_TRUE_FATAL(ANALYSE(histogram_split, &values));
    check_update(&values, 2, 8, VALUE_ADD);
    CU_ASSERT_TRUE_FATAL(ANALYSE(histogram_used, &values));
    CU_ASSERT_EQUAL(loop_values_loads_for_update(&values, LOOP_CODE_BASE + 2).operation,
                    VALUE_NONE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(histogram_full, &values));
    CU_ASSERT_EQUAL(loop_values_loads_for_update(&values, LOOP_CODE_BASE + 2).operation,
                    VALUE_NONE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(histogram_other, &values));
    check_update(&values, 2, 7, VALUE_NONE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(histogram_last, &values));
    check_update(&values, 2, 10, VALUE_NONE);
}

LOOP_CODE(ends_counted, "1: mov eax, [rdi]\n mov [rdx], eax\n add rdi, 4\n cmp rdi, [r8 + 8]\n"
                        "jne 1b\n ret");
LOOP_CODE(ends_search, "1: cmp dword ptr [rdi], 7\n je 2f\n add rdi, 4\n cmp rdi, rsi\n jne 1b\n"
                       "2: ret");
LOOP_CODE(ends_call, "1: call 9f\n test eax, eax\n jne 1b\n ret\n"
                     "9: mov [rsi], eax\n mov eax, 1\n ret");
LOOP_CODE(ends_pure_call, "1: mov edi, 5\n call 9f\n add ebx, 1\n cmp ebx, eax\n jne 1b\n ret\n"
                          "9: push rbp\n mov [rsp - 8], edi\n mov eax, edi\n pop rbp\n ret");
LOOP_CODE(ends_late_write, "1: mov edi, 5\n call 9f\n test eax, eax\n jne 1b\n ret\n"
                           "9: call 8f\n mov [rbp], eax\n ret\n 8: xor eax, eax\n ret");
LOOP_CODE(ends_system_call, "1: xor eax, eax\n syscall\n test rax, rax\n jne 1b\n ret");
LOOP_CODE(ends_system_call_part, "1: mov al, 5\n syscall\n cmp al, 7\n jne 1b\n ret");
LOOP_CODE(ends_text, "1: inc rdi\n cmp byte ptr [rdi], 0\n jne 1b\n ret");

static void test_ends(void)
{
    static struct loop_values values;
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_counted, &values));
    CU_ASSERT_FALSE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(step_inner, &values));
    CU_ASSERT_FALSE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_pure_call, &values));
    CU_ASSERT_FALSE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_late_write, &values));
    CU_ASSERT_TRUE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_call, &values));
    CU_ASSERT_TRUE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_system_call, &values));
    CU_ASSERT_TRUE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_system_call_part, &values));
    CU_ASSERT_TRUE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_search, &values));
    CU_ASSERT_TRUE(values.ends_early);
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_text, &values));
    CU_ASSERT_TRUE(values.ends_early);
}

LOOP_CODE(kept_element, "1: mov eax, [rdi]\n add eax, ecx\n mov [rdx], eax\n mov ecx, [rdi]\n"
                        "add rdi, 4\n add rdx, 4\n cmp rdi, rsi\n jne 1b\n ret");

/* What an iteration uses before it loads it again is of the one before, which may not have loaded
 * it. */
static void test_kept(void)
{
    static struct loop_values values;
    CU_ASSERT_TRUE_FATAL(ANALYSE(kept_element, &values));
    CU_ASSERT_EQUAL(values.kinds[RCX], LOOP_VALUE_SERIAL);
}

/* --- what is used after the loop, and what ends the analysis ------------------------------------
 */

static void test_last(void)
{
    static struct loop_values values;
    const value_set live = value_set_of(RAX) | value_set_of(R8) | value_set_of(RCX);
    CU_ASSERT_TRUE_FATAL(ANALYSE_LIVE(last_one, live, &values));
    CU_ASSERT_EQUAL(values.kinds[RAX], LOOP_VALUE_LAST);
    CU_ASSERT_EQUAL(values.kinds[RCX], LOOP_VALUE_LAST); /* also assigned in each iteration */
    CU_ASSERT_TRUE_FATAL(ANALYSE_LIVE(max_where, live, &values));
    CU_ASSERT_EQUAL(values.kinds[RAX], LOOP_VALUE_REDUCTION);
    CU_ASSERT_EQUAL(values.kinds[R8], LOOP_VALUE_SERIAL); /* it follows the maximum */
    CU_ASSERT_TRUE_FATAL(ANALYSE_LIVE(sum_other_way, live, &values));
    CU_ASSERT_EQUAL(values.kinds[RCX], LOOP_VALUE_NONE); /* a copy of the sum */
}

LOOP_CODE(modes_rounding,
          "1: ldmxcsr [rdx]\n addsd xmm0, [rdi]\n add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(modes_direction, "1: std\n movsb\n cmp rdi, rdx\n jne 1b\n ret");
LOOP_CODE(modes_called, "1: call 9f\n dec ebx\n jne 1b\n ret\n 9: fldcw [rsp + 8]\n ret");
LOOP_CODE(call_ends,
          "1: call 9f\n dec ebx\n jne 1b\n ret\n 9: test edi, edi\n je 8f\n ud2\n 8: ret");
LOOP_CODE(call_jumps,
          "1: call 9f\n dec ebx\n jne 1b\n ret\n 9: test edi, edi\n je 8f\n jmp rdx\n 8: ret");
LOOP_CODE(call_global, "1: call 9f\n mov [rdi], r12\n add rdi, 8\n dec ebx\n jne 1b\n ret\n"
                       "9: lea r12, [r12 + r12 * 2]\n ret");
LOOP_CODE(call_saves, "1: call 9f\n mov [rdi], r12\n add rdi, 8\n dec ebx\n jne 1b\n ret\n"
                      "9: push r12\n lea r12, [rdi + rdi * 2]\n mov rax, r12\n pop r12\n ret");
LOOP_CODE(call_kernel,
          "1: mov edi, 1\n call 9f\n dec ebx\n jne 1b\n ret\n 9: mov eax, 39\n syscall\n ret");
LOOP_CODE(jump_computed,
          "1: mov rax, [rdi]\n jmp rax\n 2: add rdi, 8\n cmp rdi, rsi\n jne 1b\n ret");
LOOP_CODE(ends_flag,
          "1: mov eax, [rdi]\n mov [r8], eax\n cmp dword ptr [r8], 7\n je 2f\n add rdi, 4\n"
          "cmp rdi, rsi\n jne 1b\n 2: ret");

static void test_obstacles(void)
{
    static struct loop_values values;
    CU_ASSERT_TRUE_FATAL(ANALYSE(modes_rounding, &values));
    CU_ASSERT_EQUAL(values.flow.obstacles.modes, LOOP_CODE_BASE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(modes_direction, &values));
    CU_ASSERT_EQUAL(values.flow.obstacles.modes, LOOP_CODE_BASE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(modes_called, &values));
    CU_ASSERT_EQUAL(values.flow.obstacles.modes, LOOP_CODE_BASE);
    CU_ASSERT_EQUAL(values.flow.obstacles.call, 0);
    CU_ASSERT_TRUE_FATAL(ANALYSE(call_ends, &values));
    CU_ASSERT_EQUAL(values.flow.obstacles.call, LOOP_CODE_BASE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(call_jumps, &values));
    CU_ASSERT_EQUAL(values.flow.obstacles.call, LOOP_CODE_BASE);
    CU_ASSERT_TRUE_FATAL(ANALYSE(call_kernel, &values));
    CU_ASSERT_EQUAL(values.flow.obstacles.system_call, LOOP_CODE_BASE + 5);
    CU_ASSERT_TRUE_FATAL(ANALYSE(call_global, &values));
    CU_ASSERT_EQUAL(values.kinds[12], LOOP_VALUE_SERIAL);
    CU_ASSERT_TRUE_FATAL(ANALYSE(call_saves, &values));
    CU_ASSERT_EQUAL(values.kinds[12], LOOP_VALUE_NONE);
    CU_ASSERT_EQUAL(values.flow.obstacles.call, 0);
    CU_ASSERT_FALSE(ANALYSE(jump_computed, &values)); /* nothing leads back yet */
    CU_ASSERT_TRUE_FATAL(ANALYSE(ends_flag, &values));
    CU_ASSERT_TRUE(values.ends_early);
}

/* --- any bytes ---------------------------------------------------------------------------------
 */

/* Random bytes with a jump back at the end: most are loops of odd instructions. */
static void test_random_code(void)
{
    static struct loop_values values;
    uint64_t state = random_seed(16);
    uint8_t bytes[256];
    unsigned loops_found = 0;
    for (unsigned i = 0; i < 3000; i++) {
        const size_t size = 8 + random_below(&state, sizeof bytes - 8);
        random_fill(&state, bytes, size);
        bytes[size - 2] = 0x75; /* jne */
        bytes[size - 1] = (uint8_t)(256 - (size < 128 ? size : 128));
        loops_found += loop_code_analyse((struct loop_code){bytes, size}, 0, &values);
    }
    CU_ASSERT(loops_found > 100);
}

/* Random instructions of known loops, in random order, keep their borders. */
static void test_mixed_code(void)
{
    static struct loop_values values;
    uint64_t state = random_seed(17);
    uint8_t bytes[4096];
    for (unsigned i = 0; i < 300; i++) {
        size_t size = 0;
        for (unsigned k = 0; k < 12; k++) {
            const size_t number = random_below(&state, sizeof loops / sizeof loops[0]);
            const size_t length =
                (size_t)((uintptr_t)loops[number].end - (uintptr_t)loops[number].code) - 1;
            memcpy(bytes + size, loops[number].code, length);
            size += length;
        }
        const int32_t back = -(int32_t)size - 6;
        bytes[size++] = 0x0f; /* jne, to the begin */
        bytes[size++] = 0x85;
        memcpy(bytes + size, &back, sizeof back);
        size += sizeof back;
        CU_ASSERT_TRUE(loop_code_analyse((struct loop_code){bytes, size}, 0, &values));
    }
}

static const struct test_case cases[] = {
    {"loops", test_loops},           {"exposed slots", test_exposed_slots},
    {"updates", test_updates},       {"ends", test_ends},
    {"kept elements", test_kept},    {"last values", test_last},
    {"obstacles", test_obstacles},   {"random code", test_random_code},
    {"mixed code", test_mixed_code}, {NULL, NULL}};

TEST_SUITE(loop_values, cases)
