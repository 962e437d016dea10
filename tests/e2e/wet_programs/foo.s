# The example of the specification, without its calls: foo1 2 7.
    .include "start.inc"
    START
    mov $3, %edi
    call main
    EXIT

    FUNCTION main
    cmp $2, %edi
    jle 1f
    mov $2, %eax
    mov %eax, x(%rip)
    movl $7, y(%rip)
    mov x(%rip), %edx
    mov %edx, %eax
    shl $3, %eax
    sub %edx, %eax
    mov %eax, result(%rip)
    mov result(%rip), %edx
    mov y(%rip), %eax
    add %edx, %eax
    mov %eax, result(%rip)
1:  ret
    END main

    .bss
x:      .skip 4
y:      .skip 4
result: .skip 4
