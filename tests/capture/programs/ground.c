/* Memory for code and data of a control program, and handlers for their signals. When they are
 * ready, calls getppid() in a loop. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE       0x20000000u
#define CODE_BYTES (8u << 20)
#define DATA       0x30000000u
#define DATA_BYTES 0x4000u

static void handle(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
}

int main(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    static char stack[65536];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    action.sa_sigaction = handle;
    sigaltstack(&alternate, NULL);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    if (mmap((void *)(uintptr_t)CODE, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1,
             0) == MAP_FAILED ||
        mmap((void *)(uintptr_t)DATA, DATA_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) ==
            MAP_FAILED)
        return 1;
    for (;;)
        getppid();
}
