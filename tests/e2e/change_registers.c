/*
 * Changes registers outside of a slice: for each instruction of a straight program that is not in
 * the slice of a criterion, runs the program again, inverts what the instruction changed of the
 * general registers, and compares what the criterion then changes of them. An instruction outside
 * of the slice that raises a signal is passed over.
 *
 * usage: change_registers PROGRAM CRITERION <ADDRESSES      hexadecimal; those of the slice
 *
 * Prints the number of changes. Exits with 0; 1: a change reached the criterion; 124 where
 * single-stepping is not possible; 125 for other failures.
 */
#define _GNU_SOURCE /* struct user_regs_struct */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX     20000u /* a repeated instruction with another count may take long */
#define ADDRESSES_MAX 4096u
#define REGISTERS     16u

static const size_t offsets[REGISTERS] = {
    offsetof(struct user_regs_struct, rax), offsetof(struct user_regs_struct, rcx),
    offsetof(struct user_regs_struct, rdx), offsetof(struct user_regs_struct, rbx),
    offsetof(struct user_regs_struct, rsp), offsetof(struct user_regs_struct, rbp),
    offsetof(struct user_regs_struct, rsi), offsetof(struct user_regs_struct, rdi),
    offsetof(struct user_regs_struct, r8),  offsetof(struct user_regs_struct, r9),
    offsetof(struct user_regs_struct, r10), offsetof(struct user_regs_struct, r11),
    offsetof(struct user_regs_struct, r12), offsetof(struct user_regs_struct, r13),
    offsetof(struct user_regs_struct, r14), offsetof(struct user_regs_struct, r15)};

struct addresses {
    uint64_t list[ADDRESSES_MAX];
    size_t count;
};

/* What an instruction changes of the general registers: bytes that are not 0 here. */
struct changes {
    uint64_t bytes[REGISTERS];
    uint64_t values[REGISTERS]; /* after it */
};

static const char *program;
static struct addresses slice, executed; /* executed: up to the criterion, in order */
static uint64_t criterion;

_Noreturn static void fail(const char *what, int status)
{
    perror(what);
    exit(status);
}

static bool has(const struct addresses *addresses, uint64_t address)
{
    for (size_t i = 0; i < addresses->count; i++)
        if (addresses->list[i] == address)
            return true;
    return false;
}

static uint64_t *register_of(struct user_regs_struct *registers, unsigned number)
{
    return (uint64_t *)(void *)((char *)registers + offsets[number]);
}

static pid_t start(void)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            execl(program, program, (char *)NULL);
        _exit(125);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        fail("change_registers: fork", 125);
    if (!WIFSTOPPED(status))
        exit(124);
    return child;
}

static void get(pid_t child, struct user_regs_struct *registers)
{
    if (ptrace(PTRACE_GETREGS, child, NULL, registers) != 0)
        fail("change_registers: registers", 125);
}

static void set(pid_t child, struct user_regs_struct *registers)
{
    if (ptrace(PTRACE_SETREGS, child, NULL, registers) != 0)
        fail("change_registers: registers", 125);
}

/* The address after an instruction, as the program was executed at first. */
static uint64_t next_address(uint64_t address)
{
    for (size_t i = 0; i + 1 < executed.count; i++)
        if (executed.list[i] == address)
            return executed.list[i + 1];
    return 0;
}

/* Executes one step. 1: it was executed; 0: it raised a signal; -1: the program has ended. */
static int step(pid_t child)
{
    int status;
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) < 0)
        fail("change_registers: step", 125);
    if (!WIFSTOPPED(status))
        return -1;
    return WSTOPSIG(status) == SIGTRAP;
}

static struct changes compare(struct user_regs_struct *before, struct user_regs_struct *after)
{
    struct changes changes = {.bytes = {0}};
    for (unsigned i = 0; i < REGISTERS; i++) {
        uint64_t differ = *register_of(before, i) ^ *register_of(after, i);
        changes.values[i] = *register_of(after, i);
        for (unsigned byte = 0; byte < 8; byte++)
            if (differ >> 8 * byte & 0xff)
                changes.bytes[i] |= UINT64_C(0xff) << 8 * byte;
    }
    return changes;
}

/* Runs the program up to the criterion. *inverted: what the instruction at `change` (0: none)
 * changed was inverted. False: the criterion was not reached in time. */
static bool run(uint64_t change, bool *inverted, struct changes *result)
{
    struct user_regs_struct before, after;
    const pid_t child = start();
    bool is_reached = false;
    for (unsigned steps = 0; steps < STEPS_MAX && !is_reached; steps++) {
        get(child, &before);
        const uint64_t address = before.rip;
        const int executes = step(child);
        if (executes < 0)
            return false;
        if (change == 0 && executed.count < ADDRESSES_MAX && !has(&executed, address))
            executed.list[executed.count++] = address;
        get(child, &after);
        if (executes == 0) {
            if (has(&slice, address) || next_address(address) == 0) {
                printf("an instruction of the slice at 0x%" PRIx64 " fails\n", address);
                exit(1);
            }
            after.rip = next_address(address);
            set(child, &after);
            continue;
        }
        const struct changes changes = compare(&before, &after);
        is_reached = address == criterion && after.rip != address;
        if (is_reached)
            *result = changes;
        for (unsigned i = 0; i < REGISTERS && address == change && !is_reached; i++) {
            *inverted |= changes.bytes[i] != 0;
            *register_of(&after, i) ^= changes.bytes[i];
        }
        if (address == change && !is_reached)
            set(child, &after);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return is_reached;
}

/* Whether the criterion changes the same bytes in the same way. */
static bool is_same(const struct changes *first, const struct changes *again)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        if ((first->values[i] ^ again->values[i]) & first->bytes[i])
            return false;
    return true;
}

int main(int count, char **arguments)
{
    struct changes first = {.bytes = {0}}, again;
    bool inverted = false;
    unsigned changed = 0;
    if (count != 3)
        return 125;
    program = arguments[1];
    criterion = strtoull(arguments[2], NULL, 16);
    while (slice.count < ADDRESSES_MAX && scanf("%" SCNx64, &slice.list[slice.count]) == 1)
        slice.count++;
    if (!run(0, &inverted, &first))
        return 125;
    for (size_t i = 0; i + 1 < executed.count; i++) {
        inverted = false;
        if (has(&slice, executed.list[i]) || !run(executed.list[i], &inverted, &again) || !inverted)
            continue;
        changed++;
        if (!is_same(&first, &again)) {
            printf("what 0x%" PRIx64 " writes is not in the slice of 0x%" PRIx64
                   ", and changes it\n",
                   executed.list[i], criterion);
            return 1;
        }
    }
    printf("%u\n", changed);
    return 0;
}
