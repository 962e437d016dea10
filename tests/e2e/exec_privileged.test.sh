#!/bin/bash
# Privileged instructions raise the signal that they raise natively, which depends on the processor: SIGILL or SIGSEGV,
# with the same code, address and error. So do bytes after which no instruction is known.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >privileged.c <<'END'
#define _GNU_SOURCE /* REG_RIP */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static const struct {
    const char *name;
    unsigned size;
    uint8_t bytes[8];
} tried[] = {
    {"clac", 3, {0x0f, 0x01, 0xca}},
    {"stac", 3, {0x0f, 0x01, 0xcb}},
    {"encls", 3, {0x0f, 0x01, 0xcf}},
    {"encv", 3, {0x0f, 0x01, 0xc0}},
    {"vmlaunch", 3, {0x0f, 0x01, 0xc2}},
    {"vmxoff", 3, {0x0f, 0x01, 0xc4}},
    {"pconfig", 3, {0x0f, 0x01, 0xc5}},
    {"wrmsrns", 3, {0x0f, 0x01, 0xc6}},
    {"monitor", 3, {0x0f, 0x01, 0xc8}},
    {"mwait", 3, {0x0f, 0x01, 0xc9}},
    {"xsetbv", 3, {0x0f, 0x01, 0xd1}},
    {"vmrun", 3, {0x0f, 0x01, 0xd8}},
    {"vmload", 3, {0x0f, 0x01, 0xda}},
    {"stgi", 3, {0x0f, 0x01, 0xdc}},
    {"clgi", 3, {0x0f, 0x01, 0xdd}},
    {"skinit", 3, {0x0f, 0x01, 0xde}},
    {"invlpga", 3, {0x0f, 0x01, 0xdf}},
    {"swapgs", 3, {0x0f, 0x01, 0xf8}},
    {"invlpgb", 3, {0x0f, 0x01, 0xfe}},
    {"tlbsync", 3, {0x0f, 0x01, 0xff}},
    {"tdcall", 4, {0x66, 0x0f, 0x01, 0xcc}},
    {"eretu", 4, {0xf3, 0x0f, 0x01, 0xca}},
    {"psmash", 4, {0xf3, 0x0f, 0x01, 0xff}},
    {"hreset", 6, {0xf3, 0x0f, 0x3a, 0xf0, 0xc0, 0}},
    {"lkgs", 4, {0xf2, 0x0f, 0x00, 0xf0}},
    {"clts", 2, {0x0f, 0x06}},
    {"sysret", 2, {0x0f, 0x07}},
    {"invd", 2, {0x0f, 0x08}},
    {"wbinvd", 2, {0x0f, 0x09}},
    {"wbnoinvd", 3, {0xf3, 0x0f, 0x09}},
    {"wrmsr", 2, {0x0f, 0x30}},
    {"rdmsr", 2, {0x0f, 0x32}},
    {"sysexit", 2, {0x0f, 0x35}},
    {"getsec", 2, {0x0f, 0x37}},
    {"rsm", 2, {0x0f, 0xaa}},
    {"hlt", 1, {0xf4}},
    {"cli", 1, {0xfa}},
    {"sti", 1, {0xfb}},
    {"mov from cr0", 3, {0x0f, 0x20, 0xc0}},
    {"mov to cr8", 4, {0x44, 0x0f, 0x22, 0xc0}},
    {"mov from dr7", 3, {0x0f, 0x21, 0xf8}},
    {"lgdt", 3, {0x0f, 0x01, 0x16}},
    {"lidt", 3, {0x0f, 0x01, 0x1e}},
    {"lmsw", 3, {0x0f, 0x01, 0xf0}},
    {"invlpg", 3, {0x0f, 0x01, 0x3e}},
    {"lldt", 3, {0x0f, 0x00, 0xd0}},
    {"ltr", 3, {0x0f, 0x00, 0xd8}},
    {"vmclear", 4, {0x66, 0x0f, 0xc7, 0x36}},
    {"vmptrld", 3, {0x0f, 0xc7, 0x36}},
    {"vmxon", 4, {0xf3, 0x0f, 0xc7, 0x36}},
    {"vmread", 3, {0x0f, 0x78, 0xc1}},
    {"vmwrite", 3, {0x0f, 0x79, 0xc1}},
    {"invept", 5, {0x66, 0x0f, 0x38, 0x80, 0x06}},
    {"invpcid", 5, {0x66, 0x0f, 0x38, 0x82, 0x06}},
    {"xsaves", 3, {0x0f, 0xc7, 0x2e}},
    {"xrstors", 3, {0x0f, 0xc7, 0x1e}},
    {"wrussd", 5, {0x66, 0x0f, 0x38, 0xf5, 0x06}},
    {"ud2", 2, {0x0f, 0x0b}},
};

static uint8_t *code;
static sigjmp_buf back;

static void handle(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d, code %d, address %s, at %ld, trap %lld, error %lld\n", number, info->si_code,
        info->si_addr == code ? "of the instruction" : info->si_addr ? "other" : "none",
        (long)(registers[REG_RIP] - (greg_t)code), (long long)registers[REG_TRAPNO], (long long)registers[REG_ERR]);
    siglongjmp(back, 1);
}

int main(void)
{
    static uint64_t operand[8] __attribute__((aligned(64)));
    struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = handle};
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        memset(code, 0xc3, 64); /* ret */
        memcpy(code, tried[i].bytes, tried[i].size);
        printf("%s: ", tried[i].name);
        if (sigsetjmp(back, 1) == 0) { /* rax, rcx, rdx are 0: rsi points to memory */
            __asm__ volatile("call *%0" : : "r"(code), "S"(operand), "a"(0), "c"(0), "d"(0) : "memory", "cc", "rbx");
            puts("nothing");
        }
    }
    return 0;
}
END
gcc -O1 -w -mno-red-zone -o privileged privileged.c
./privileged >wanted
grep -q 'signal 4' wanted && grep -q 'signal 11' wanted
for way in 'exec --append -o out' 'exec --append -o out --quantum 1' 'profile -o report' 'rondo -p bimodal -d 20 -o report' 'depend -o report' 'wet -o out.wet'; do
    # shellcheck disable=SC2086 # split into words
    timeout 120 bustap $way -- ./privileged >got 2>messages || { echo "bustap $way: status $?"; cat messages; exit 1; }
    diff wanted got || { echo "bustap $way"; exit 1; }
done
