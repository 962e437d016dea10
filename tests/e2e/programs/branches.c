/* Every kind of branch, and instructions with several memory operands. */
#include <stdio.h>
#include <string.h>

static long twice(long value)
{
    return 2 * value;
}

static long thrice(long value)
{
    return 3 * value;
}

#ifdef __x86_64__
static long (*const functions[])(long) = {twice, thrice};

/* Indirect calls: of a register, of memory, of a place on the stack. */
static long calls(long value)
{
    long sum = 0;
    for (int i = 0; i < 2; i++) {
        long result = 0;
        long argument = value;
        __asm__ volatile("call *%[function]"
                         : "=a"(result), "+D"(argument)
                         : [function] "r"(functions[i])
                         : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
        sum += result;
        argument = value;
        __asm__ volatile("call *(%[place])"
                         : "=a"(result), "+D"(argument)
                         : [place] "b"(&functions[i])
                         : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
        sum += result;
        argument = value;
        /* the red zone is not in use: the compiler keeps no variables below the stack here */
        __asm__ volatile("lea -256(%%rsp), %%rsp\n\tpush %[function]\n\tcall *(%%rsp)\n\t"
                         "lea 264(%%rsp), %%rsp"
                         : "=a"(result), "+D"(argument)
                         : [function] "b"(functions[i])
                         : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
        sum += result;
    }
    return sum;
}

/* Indirect jumps: of a register, of memory, relative to the instruction pointer and the stack. */
static long jumps(void)
{
    long sum = 0;
    __asm__ volatile("lea 1f(%%rip), %%rax\n\t"
                     "jmp *%%rax\n"
                     "1:\tlea -256(%%rsp), %%rsp\n\t"
                     "lea 2f(%%rip), %%rax\n\t"
                     "push %%rax\n\t"
                     "jmp *(%%rsp)\n"
                     "2:\tlea 264(%%rsp), %%rsp\n\t"
                     "lea 3f(%%rip), %%rax\n\t"
                     "mov %%rax, branches_target(%%rip)\n\t"
                     "jmp *branches_target(%%rip)\n"
                     "3:\tadd $1, %[sum]\n\t"
                     ".local branches_target\n\t.comm branches_target, 8, 8"
                     : [sum] "+r"(sum)
                     :
                     : "rax", "memory", "cc");
    return sum;
}

/* Conditional branches that read a register, not flags. */
static long loops(void)
{
    long count = 5;
    long sum = 0;
    __asm__ volatile("jrcxz 2f\n"
                     "1:\tadd $1, %[sum]\n\t"
                     "loop 1b\n\t"
                     "jrcxz 2f\n\t"
                     "add $100, %[sum]\n"
                     "2:"
                     : "+c"(count), [sum] "+r"(sum)
                     :
                     : "cc");
    return sum;
}

/* Repeated string instructions, vectors, and memory that is read and written. */
static long memory(void)
{
    static char from[40];
    static char to[40];
    void *target = to;
    const void *source = from;
    unsigned long count = 9;
    long sum = 0;
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(count) : : "memory");
    target = to;
    source = from;
    count = 7;
    __asm__ volatile("repe cmpsb" : "+D"(target), "+S"(source), "+c"(count) : : "memory", "cc");
    __asm__ volatile("movups (%[from]), %%xmm3\n\tpaddd %%xmm3, %%xmm4\n\tmovups %%xmm4, 16(%[to])"
                     :
                     : [from] "r"(from), [to] "r"(to)
                     : "xmm3", "xmm4", "memory");
    __asm__ volatile("addq $3, (%[to])\n\tpushq (%[to])\n\tpopq 8(%[to])\n\tmovsb"
                     : "+D"(target), "+S"(source)
                     : [to] "r"(to + 8)
                     : "memory", "cc");
    memcpy(&sum, to + 16, sizeof sum);
    return sum;
}
#endif

int main(void)
{
    long sum = twice(3) + thrice(4);
#ifdef __x86_64__
    sum += calls(5) + jumps() + loops() + memory();
#endif
    printf("%ld\n", sum);
    return 0;
}
