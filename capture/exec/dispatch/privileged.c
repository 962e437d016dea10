#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/dispatch/privileged.h"

#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/translate/exec_thread.h"

#include <Zydis/Zydis.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE   ((size_t)4096)
#define RETURN 0xc3

static int privileged_execute(uint8_t *page, const struct decode_instruction *instruction)
{
    struct exec_thread *thread;
    __asm__("mov %%gs:%c1, %0" : "=r"(thread) : "i"(EXEC_THREAD_SELF));
    memcpy(page, instruction->bytes, instruction->size);
    page[instruction->size] = RETURN; /* if it raises no signal */
    if (mprotect(page, PAGE, PROT_READ | PROT_EXEC) != 0)
        return 0;
    thread->probed = page;
    int number = exec_probe(page);
    thread->probed = NULL;
    return number;
}

bool privileged_is_invalid(const struct decode_instruction *instruction)
{
    if (instruction->mnemonic == ZYDIS_MNEMONIC_HLT) /* each processor has it */
        return false;
    uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    int number = privileged_execute(page, instruction);
    munmap(page, PAGE);
    return number == SIGILL;
}
