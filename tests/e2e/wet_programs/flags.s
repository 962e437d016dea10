# Flags from several writers.
    .include "start.inc"
    START
    mov $1, %eax
    mov $2, %ebx
    cmp %eax, %ebx
    inc %eax
    jbe 1f
    dec %ebx
    ja 1f
1:  stc
    inc %eax
    setbe %cl
    lahf
    sahf
    cmc
    pushf
    popf
    std
    cld
    rcl $1, %eax
    adc %ebx, %eax
    adc $0, %ebx
    sbb %eax, %eax
    clc
    bt $3, %eax
    jc 2f
    setle %dl
2:  btsl $33, words(%rip)
    mov $40, %esi
    btc %esi, words(%rip)
    btr %rsi, %rax
    add $0x7f, %al
    seto %dl
    jno 3f
    test %eax, %eax
    jp 3f
    cmovs %eax, %edx
3:  mov $4, %ecx
4:  test $1, %cl
    loopne 4b
    jecxz 5f
    pushf
    pop %rax
5:  EXIT

    .bss
words: .skip 16
