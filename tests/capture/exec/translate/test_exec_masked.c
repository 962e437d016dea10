/* Memory operands of instructions with an opmask. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/suites.h"
#include "tests/support/exec_rig.h"
#include "tests/support/masked_forms.h"
#include "tests/support/random.h"

#include "capture/exec/translate/decode.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define FORMS_MIN  4000u /* that any Zydis knows */
#define FORMS_512F 1000u /* those of AVX512F */
#define VEX_FORMS  32u

static void print_form(const struct random_instruction *form, const char *what)
{
    for (unsigned i = 0; i < form->instruction.length; i++)
        printf("%02x", form->bytes[i]);
    printf(" %s: %s\n", ZydisMnemonicGetString(form->instruction.mnemonic), what);
}

static bool is_prefetch(const struct random_instruction *form)
{
    return form->instruction.meta.exception_class == ZYDIS_EXCEPTION_CLASS_E12NP;
}

/* Forms without fault suppression are plain accesses; all others depend on the mask. */
static void check_suppression(void *context, const struct random_instruction *form)
{
    unsigned *failed = context;
    struct decode_instruction instruction;
    decode(&instruction, form->bytes, sizeof form->bytes, 0);
    const char *what = NULL;
    if (instruction.access_count != (is_prefetch(form) ? 0 : 1))
        what = "wrong number of accesses";
    else if (instruction.access_count == 1 && (instruction.accesses[0].form == DECODE_PLAIN) !=
                                                  masked_form_reads_all(&form->instruction))
        what = "fault suppression is not as in the manual";
    else if (instruction.access_count == 1 && instruction.accesses[0].form != DECODE_PLAIN &&
             (instruction.accesses[0].mask != MASKED_FORMS_MASK ||
              instruction.accesses[0].lanes == 0))
        what = "wrong mask";
    if (!what)
        return;
    if (++*failed <= 20)
        print_form(form, what);
}

static void test_suppression(void)
{
    unsigned failed = 0;
    CU_ASSERT(masked_forms_each(check_suppression, &failed) > FORMS_MIN);
    CU_ASSERT_EQUAL(failed, 0);
}

/* --- on the processor ------------------------------------------------------------------------- */

#define PAGE   4096u
#define MAPPED 0x50001000u /* a page between two unmapped ones */
#define INSIDE (MAPPED + PAGE / 2)
#define MXCSR  24u /* in XSAVE's area */
#define INT3   0xccu

struct probe {
    struct exec_rig rig;
    uint64_t random;
    uint64_t code; /* address of the form's code */
    struct machine machine;
    unsigned ran, lacking, failed;
};

/* The bytes accessed, relative to the operand's address; empty if both are equal. */
struct extent {
    int64_t low, high;
};

static bool is_vex(const struct random_instruction *form)
{
    return form->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
}

/* The elements of gathers and scatters are contiguous. */
static void set_indices(struct machine *machine, const struct random_instruction *form)
{
    bool wide = is_vex(form) ? form->instruction.raw.vex.W : form->instruction.raw.evex.W;
    unsigned element = wide ? 8 : 4, index = form->instruction.opcode & 1 ? 8 : 4;
    for (unsigned byte = 0; byte < (is_vex(form) ? 32 : 64); byte++)
        *machine_vector_byte(machine, MASKED_FORMS_INDEX, byte) =
            byte % index == 0 ? (uint8_t)(byte / index * element) : 0;
}

static void set_machine(struct probe *probe, const struct random_instruction *form, uint64_t mask)
{
    static const uint32_t all_masked = 0x1f80;
    struct machine *machine = &probe->machine;
    size_t size;
    random_machine(machine, &probe->random);
    machine->rip = probe->code;
    machine->registers[MASKED_FORMS_BASE] = INSIDE;
    memcpy(machine->vector + MXCSR, &all_masked, sizeof all_masked);
    set_indices(machine, form);
    unsigned element = masked_form_vex_element(&form->instruction);
    for (unsigned byte = 0; is_vex(form) && byte < 32; byte++)
        *machine_vector_byte(machine, MASKED_FORMS_MASK, byte) =
            mask >> (byte / element) & 1 ? 0xff : 0;
    if (!is_vex(form))
        memcpy(machine->vector + machine_component(5, &size) + MASKED_FORMS_MASK * sizeof mask,
               &mask, sizeof mask);
}

/* The extent that exec records; false if the code did not complete. */
static bool recorded_extent(struct probe *probe, struct extent *extent)
{
    exec_rig_load(&probe->rig, &probe->machine);
    if (exec_rig_run(&probe->rig).reason != EXECUTOR_TRAP || probe->rig.count == 0)
        return false;
    *extent = (struct extent){0, 0};
    for (size_t i = 1; i < probe->rig.count; i++) {
        const struct record *record = &probe->rig.records[i];
        int64_t low = (int64_t)record->address - INSIDE, high = low + record->size;
        extent->low = i == 1 || low < extent->low ? low : extent->low;
        extent->high = i == 1 || high > extent->high ? high : extent->high;
    }
    return true;
}

enum outcome { ENDED, PAGE_FAULT, OTHER };

static enum outcome run_at(const struct probe *probe, uint64_t address)
{
    static struct machine machine;
    machine = probe->machine;
    machine.registers[MASKED_FORMS_BASE] = address;
    struct native_end end = native_run(&machine, NULL, NULL);
    if (end.signal == SIGTRAP)
        return ENDED;
    return end.signal == SIGSEGV && end.code == SEGV_MAPERR ? PAGE_FAULT : OTHER;
}

/* A broadcast of several elements: the manual does not promise that elements without a lane are not
 * read, so a processor may read them. */
static bool may_read_more(const struct random_instruction *form)
{
    return form->instruction.avx.broadcast.is_static && masked_form_memory(form)->element_count > 1;
}

/* Whether the access has exactly this extent: it succeeds up to a page's end and from a page's
 * start, and faults one byte farther. Operands that must be aligned skip most of these
 * addresses. */
static const char *compare_natively(const struct probe *probe,
                                    const struct random_instruction *form, struct extent extent)
{
    uint64_t end = MAPPED + PAGE;
    if (extent.low == extent.high)
        return run_at(probe, end) == PAGE_FAULT ? "accesses memory that is not recorded" : NULL;
    if (run_at(probe, end) == ENDED)
        return "accesses nothing, but is recorded";
    if (!may_read_more(form) && (run_at(probe, end - (uint64_t)extent.high) == PAGE_FAULT ||
                                 run_at(probe, MAPPED - (uint64_t)extent.low) == PAGE_FAULT))
        return "accesses more than is recorded";
    if (run_at(probe, end - (uint64_t)extent.high + 1) == ENDED ||
        run_at(probe, MAPPED - (uint64_t)extent.low - 1) == ENDED)
        return "accesses less than is recorded";
    return NULL;
}

/* None, all, one, and some of the elements; and bits after the last element. */
static uint64_t random_mask(uint64_t *random, unsigned number)
{
    static const uint8_t bits[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63};
    switch (number) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return UINT64_MAX << bits[random_below(random, sizeof bits)];
    case 3:
        return random_next(random);
    default:
        return (uint64_t)1 << bits[random_below(random, sizeof bits)];
    }
}

static void probe_form(void *context, const struct random_instruction *form)
{
    struct probe *probe = context;
    uint8_t *code = probe->rig.code + 64 * probe->ran;
    const char *what = NULL;
    uint64_t mask = 0;
    probe->code = EXEC_RIG_CODE + 64 * probe->ran;
    memcpy(code, form->bytes, form->instruction.length);
    code[form->instruction.length] = INT3;
    for (unsigned i = 0; i < 7 && !what; i++) {
        struct extent extent;
        mask = random_mask(&probe->random, i);
        set_machine(probe, form, mask);
        if (run_at(probe, INSIDE) != ENDED) {
            probe->lacking++;
            return;
        }
        what = recorded_extent(probe, &extent) ? compare_natively(probe, form, extent)
                                               : "completes only on the processor";
    }
    probe->ran++;
    if (what && ++probe->failed <= 20) {
        printf("mask %llx, ", (unsigned long long)mask);
        print_form(form, what);
    }
}

typedef unsigned each_function(void (*visit)(void *context, const struct random_instruction *form),
                               void *context);

/* Number of forms that the processor has. */
static unsigned probe_all(each_function *each)
{
    static struct probe probe;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    probe = (struct probe){.random = random_seed(64)};
    uint8_t *pages =
        mmap((void *)(uintptr_t)(MAPPED - PAGE), 3 * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    CU_ASSERT_FATAL(pages != MAP_FAILED);
    munmap(pages, PAGE);
    munmap(pages + 2 * PAGE, PAGE);
    CU_ASSERT_FATAL(exec_rig_begin(&probe.rig, EXEC_TRACE_ALL, false, 4096, 0));
    unsigned forms = each(probe_form, &probe);
    CU_ASSERT_EQUAL(probe.ran + probe.lacking, forms);
    CU_ASSERT_EQUAL(probe.failed, 0);
    exec_rig_end(&probe.rig);
    munmap(pages + PAGE, PAGE);
    return probe.ran;
}

static void test_natively(void)
{
    if (__builtin_cpu_supports("avx512f"))
        CU_ASSERT(probe_all(masked_forms_each) > FORMS_512F);
}

/* QEMU's emulation faults even if the mask bit is clear. */
static void test_vex_natively(void)
{
    if (__builtin_cpu_supports("avx2") && !native_is_emulated())
        CU_ASSERT_EQUAL(probe_all(masked_forms_each_vex), VEX_FORMS);
}

static const struct test_case cases[] = {{"forms without fault suppression", test_suppression},
                                         {"bytes accessed on the processor", test_natively},
                                         {"of AVX and AVX2", test_vex_natively},
                                         {NULL, NULL}};
TEST_SUITE(exec_masked, cases)
