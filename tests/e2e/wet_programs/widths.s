# Integer code of all widths, with high bytes and merges of partial registers.
    .include "start.inc"
    START
    mov $0x1122334455667788, %rax
    mov $0x99, %al
    mov $0xaa, %ah
    mov %rax, %rbx
    mov $0xbeef, %bx
    mov %ah, %cl
    mov %bl, %ch
    movzbl %ch, %edx
    movsbl %ah, %esi
    movzwl %ax, %edi
    movswq %bx, %r8
    movslq %ebx, %r9
    add %al, %ah
    add %ax, %bx
    add %eax, %ecx
    add %rax, %rdx
    sub %bl, %bh
    xor %al, %al
    xor %ah, %al
    xor %ax, %ax
    lea 3(%rcx,%rdx,4), %r10
    lea (%r10), %r11d
    xchg %al, %bh
    xchg %rcx, %r11
    mov %r10b, %spl
    mov $stack + 8192, %esp
    not %r10b
    neg %r10w
    mov $7, %eax
    mov $9, %ecx
    mul %cl
    mul %cx
    mul %ecx
    mul %rcx
    imul %cl
    imul %ecx, %eax
    imul $5, %rcx, %r12
    mov $100, %eax
    xor %edx, %edx
    div %ecx
    mov $1000, %ax
    div %cl
    cbtw
    cwtl
    cltq
    cwtd
    cltd
    cqto
    idiv %r12
    bswap %rbx
    mov %bl, bytes(%rip)
    mov %bh, bytes + 1(%rip)
    mov %bx, bytes + 2(%rip)
    mov %ebx, bytes + 4(%rip)
    mov bytes(%rip), %rbp
    addb $1, bytes + 3(%rip)
    incw bytes + 2(%rip)
    mov bytes(%rip), %rbp
    xadd %ebp, %ebx
    xadd %bp, bytes(%rip)
    sbb %ebp, %ebp
    sub %rbp, %rbp
    nopw 8(%rax,%rbx)
    endbr64
    EXIT

    .bss
bytes: .skip 8
