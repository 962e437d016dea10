#!/bin/bash
# A branch to memory that may not be executed raises the native signal, with its code, address and error code: the latter
# says whether the kernel found the page. So does an instruction that reaches into such a page.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >fetch.c <<'END'
#define _GNU_SOURCE /* REG_ERR */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static sigjmp_buf back;
static uint8_t *target;

static void handle(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d, code %d, address %ld, at %ld, error %llx\n", number, info->si_code,
        (long)((uint8_t *)info->si_addr - target), (long)(registers[REG_RIP] - (greg_t)target),
        (long long)registers[REG_ERR]);
    siglongjmp(back, 1);
}

static void go(const char *what, uint8_t *where)
{
    target = where;
    printf("%s: ", what);
    if (sigsetjmp(back, 1) == 0) {
        ((void (*)(void))where)();
        puts("executed");
    }
}

static uint8_t *map(int rights, int file)
{
    return mmap(NULL, PAGE, rights, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, file, 0);
}

int main(void)
{
    static uint8_t data[64] = {0xc3};
    uint8_t local[64] = {0xc3}, big[3 * PAGE];
    struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = handle};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    int file = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(big, 0xc3, sizeof big);
    if (write(file, big, 100) != 100)
        return 9;

    uint8_t *page = map(PROT_READ | PROT_WRITE, -1);
    go("not touched", page);
    page[0] = 0xc3;
    go("written", page);
    mprotect(page, PAGE, PROT_READ);
    go("written, readable", page);
    mprotect(page, PAGE, PROT_NONE);
    go("written, closed", page);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    go("written, opened again", page);
    madvise(page, PAGE, MADV_DONTNEED);
    go("thrown away", page);
    page = map(PROT_READ, -1);
    go("not read", page);
    printf("%d ", *(volatile uint8_t *)page);
    go("read", page);
    go("closed", map(PROT_NONE, -1));
    page = map(PROT_READ | PROT_WRITE, file);
    page[1] = 0xc3;
    go("file", page);
    go("data", data);
    go("stack", local);
    go("heap", (uint8_t *)sbrk(0) - 1);
    go("nothing", (uint8_t *)PAGE);
    munmap(page, PAGE);
    go("unmapped", page);

    page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    go("executable, after the file's end", page + PAGE);
    page = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, file, 0);
    go("file, not read", page);
    go("after the file's end", page + PAGE);
    page = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE, file, 0);
    go("closed, after the file's end", page + PAGE);
    page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[PAGE - 1] = 0x0f; /* and the first half of an instruction */
    page[PAGE] = 0x0b;
    mprotect(page + PAGE, PAGE, PROT_READ);
    go("second half", page + PAGE - 1);
    page[PAGE - 1] = 0xb8;
    madvise(page + PAGE, PAGE, MADV_DONTNEED);
    go("second half, thrown away", page + PAGE - 1);
    return 0;
}
END
gcc -O1 -w -o fetch fetch.c
./fetch >wanted
grep -q 'error 15' wanted && grep -q 'error 14' wanted
for way in 'exec --append -o out' 'exec --append -o out --quantum 1' 'profile -o report' 'rondo -p bimodal -d 0 -o report' 'depend -o report' 'wet -o out.wet'; do
    # shellcheck disable=SC2086 # split into words
    timeout 120 bustap $way -- ./fetch >got 2>messages || { echo "bustap $way: status $?"; cat messages; exit 1; }
    diff wanted got || { echo "bustap $way"; exit 1; }
done
