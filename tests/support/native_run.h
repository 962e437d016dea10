/*
 * Runs a few instructions on the processor itself, with registers of any values, and tells what
 * became of them: the kernel's signal frames load and save all registers, so that nothing of the
 * code under test is needed for it.
 */
#ifndef TESTS_SUPPORT_NATIVE_RUN_H
#define TESTS_SUPPORT_NATIVE_RUN_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_VECTOR_BYTES 4096u

/* All registers. */
struct machine {
    uint64_t registers[16]; /* in the order of encodings */
    uint64_t rip;
    uint64_t flags;
    uint8_t vector[MACHINE_VECTOR_BYTES] __attribute__((aligned(64))); /* XSAVE's standard form */
};

struct NAMED_FIELDS native_end {
    int signal; /* SIGTRAP: it came to the int3 */
    int code;
    uint64_t fault_address;
};

/*
 * Runs from machine->rip on until an int3 or a fault; *machine is then what it was there (rip at
 * the int3, or at the instruction that failed). With step, step(context, machine) is called before
 * every instruction, the first too. fs is not changed.
 */
struct native_end native_run(struct machine *machine,
                             void (*step)(void *context, const struct machine *machine),
                             void *context);

/* Whether the processor is QEMU's emulation (TCG), which is not exact where programs do not look:
 * CPUID tells. */
bool native_is_emulated(void);

/* XSAVE's state components that are loaded and compared: of x87, SSE, AVX and AVX-512 those that
 * the processor has and the system saves. */
uint64_t machine_components(void);

/* A component's place in the vector area; its size in *size, 0 where it is not there: its place is
 * then one that is never loaded. */
size_t machine_component(unsigned component, size_t *size);

/* The first difference of two machines in words, or NULL. What the processor's x87 remembers of
 * instruction addresses is not compared. */
const char *machine_difference(const struct machine *a, const struct machine *b);

#endif
