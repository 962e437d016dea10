# needs: avx2 fma bmi2 adx
# VEX encodings define whole registers.
    .include "start.inc"
    START
    vmovups numbers(%rip), %ymm0
    vaddps %ymm0, %ymm0, %ymm1
    vaddps %xmm0, %xmm1, %xmm2
    vaddsd %xmm0, %xmm1, %xmm3
    vmovss numbers(%rip), %xmm4
    vmovsd %xmm3, %xmm4, %xmm5
    vsqrtss %xmm5, %xmm4, %xmm6
    vpxor %xmm7, %xmm7, %xmm7
    vpcmpeqd %ymm8, %ymm8, %ymm8
    vpaddd %ymm8, %ymm0, %ymm9
    vinserti128 $1, %xmm9, %ymm1, %ymm10
    vextracti128 $1, %ymm10, %xmm11
    vperm2i128 $1, %ymm10, %ymm0, %ymm12
    vmovups %ymm12, cells + 5(%rip)
    vbroadcastss cells + 4(%rip), %ymm13
    vpmovmskb %ymm13, %eax
    vptest %ymm0, %ymm1
    setc %cl
    vcvtsi2sd %eax, %xmm13, %xmm14
    addsd %xmm14, %xmm13
    vmovaps %ymm13, %ymm15
    vfmadd231pd %ymm0, %ymm1, %ymm15
    vzeroupper
    vmovaps %ymm15, %ymm0
    andn %eax, %ecx, %edx
    shlx %eax, %ecx, %edx
    mulx %ecx, %eax, %ebx
    rorx $3, %rbx, %rsi
    adcx %rax, %rbx
    adox %rax, %rbx
    EXIT

    .data
    .balign 32
numbers: .float 1.5, 2.5, -3.25, 4, 5, 6, 7, 8
    .bss
    .balign 32
cells: .skip 64
