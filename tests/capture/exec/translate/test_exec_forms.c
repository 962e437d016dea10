/* The registers and flags that decode() reports for every instruction form, compared with the
 * processor's behaviour. */
#include "tests/suites.h"
#include "tests/support/exec_rig.h"
#include "tests/support/instruction_forms.h"
#include "tests/support/random.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE    EXEC_RIG_CODE
#define LANDING (CODE + 0x80u) /* target of indirect branches */
#define PADDING 0x1000u        /* bytes of int3 around the instruction */
#define INT3    0xcc
#define SAMPLES 8u
#define MORE    4u     /* times as many while all have faulted */
#define PLACES  16u    /* attempts to put all operands into the region */
#define FLAGS   0xcd5u /* the status flags, and the direction flag */

static const struct region region = {.address = EXEC_RIG_DATA, .size = EXEC_RIG_DATA_BYTES};

/* --- excluded forms --------------------------------------------------------------------------- */

static const struct {
    ZydisMnemonic mnemonic;
    const char *reason;
} not_executed[] = {
    {ZYDIS_MNEMONIC_WRPKRU, "would lock this process out of its memory"},
    {ZYDIS_MNEMONIC_VMCALL, "the hypervisor decides what it does"},
    {ZYDIS_MNEMONIC_VMMCALL, "the hypervisor decides what it does"},
    {ZYDIS_MNEMONIC_INCSSPD, "changes the stack of return addresses"},
    {ZYDIS_MNEMONIC_INCSSPQ, "changes the stack of return addresses"},
    {ZYDIS_MNEMONIC_RSTORSSP, "changes the stack of return addresses"},
    {ZYDIS_MNEMONIC_SAVEPREVSSP, "changes the stack of return addresses"},
    {ZYDIS_MNEMONIC_ENCLU, "enters an enclave"},
    {ZYDIS_MNEMONIC_SENDUIPI, "interrupts another thread"},
    {ZYDIS_MNEMONIC_CLI, "for the system only"},
    {ZYDIS_MNEMONIC_STI, "for the system only"},
    {ZYDIS_MNEMONIC_LGDT, "for the system only"},
    {ZYDIS_MNEMONIC_RDPMC, "for the system only"},
    {ZYDIS_MNEMONIC_VMRUN, "for hypervisors only"},
    {ZYDIS_MNEMONIC_VMLOAD, "for hypervisors only"},
    {ZYDIS_MNEMONIC_VMSAVE, "for hypervisors only"},
    {ZYDIS_MNEMONIC_STGI, "for hypervisors only"},
    {ZYDIS_MNEMONIC_CLGI, "for hypervisors only"},
    {ZYDIS_MNEMONIC_SKINIT, "for hypervisors only"},
};

/* Returns the reason why a form is not executed, or NULL. */
static const char *reason_against(const struct instruction_form *form,
                                  const struct decode_instruction *decoded)
{
    switch (decoded->kind) {
    case DECODE_SYSTEM_CALL:
        return "system calls";
    case DECODE_EMULATED:
        return "changes the base of a segment, or begins a transaction";
    case DECODE_TRAP:
        return "raises a signal, or is for the system only";
    case DECODE_REFUSED:
        return "refused by the decoder";
    default:
        break;
    }
    if (form->made.instruction.meta.category == ZYDIS_CATEGORY_IO ||
        form->made.instruction.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
        return "for users with access to ports";
    for (size_t i = 0; i < sizeof not_executed / sizeof *not_executed; i++)
        if (not_executed[i].mnemonic == form->made.instruction.mnemonic)
            return not_executed[i].reason;
    return NULL;
}

/* Whether results depend on more than registers, flags and memory: time, chance, the processor
 * chosen by the system, or addresses of earlier x87 instructions. */
static bool is_unrepeatable(ZydisMnemonic mnemonic)
{
    static const ZydisMnemonic mnemonics[] = {
        ZYDIS_MNEMONIC_CPUID,   ZYDIS_MNEMONIC_RDTSC,  ZYDIS_MNEMONIC_RDTSCP,
        ZYDIS_MNEMONIC_RDPMC,   ZYDIS_MNEMONIC_RDPRU,  ZYDIS_MNEMONIC_RDPID,
        ZYDIS_MNEMONIC_RDRAND,  ZYDIS_MNEMONIC_RDSEED, ZYDIS_MNEMONIC_UMWAIT,
        ZYDIS_MNEMONIC_TPAUSE,  ZYDIS_MNEMONIC_LSL,    ZYDIS_MNEMONIC_SGDT,
        ZYDIS_MNEMONIC_SMSW,    ZYDIS_MNEMONIC_FXSAVE, ZYDIS_MNEMONIC_FXSAVE64,
        ZYDIS_MNEMONIC_FNSTENV, ZYDIS_MNEMONIC_FNSAVE};
    for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++)
        if (mnemonics[i] == mnemonic)
            return true;
    return false;
}

/* --- one execution ---------------------------------------------------------------------------- */

struct trial {
    const struct instruction_form *form;
    struct decode_instruction decoded;
    struct machine before;
    uint8_t memory[EXEC_RIG_DATA_BYTES];
};

struct outcome {
    struct machine after;
    struct native_end end;
    uint8_t memory[EXEC_RIG_DATA_BYTES];
};

static void execute(struct exec_rig *rig, const struct trial *trial, const struct machine *before,
                    struct outcome *outcome)
{
    memcpy(rig->data, trial->memory, sizeof trial->memory);
    outcome->after = *before;
    outcome->end = native_run(&outcome->after, NULL, NULL);
    memcpy(outcome->memory, rig->data, sizeof outcome->memory);
}

static bool came_to_end(const struct outcome *outcome)
{
    return outcome->end.signal == SIGTRAP;
}

enum kind { ANY, ZEROS, SAME, DIVISIBLE, KINDS };

/* Random values, all 0, all the same, or such that a division succeeds. */
static void choose_registers(struct machine *machine, enum kind kind, uint64_t *random)
{
    random_machine(machine, random);
    if (kind == ZEROS || kind == SAME)
        memset(machine->registers, kind == ZEROS ? 0 : 0x5a, sizeof machine->registers);
    if (kind == DIVISIBLE) {
        machine->registers[DECODE_RAX] = random_below(random, 64);
        machine->registers[DECODE_RDX] = 0;
    }
}

/* Prepares the memory operands of the instruction, and a register that it jumps to. */
static void choose_memory(struct trial *trial, enum kind kind, uint64_t *random)
{
    const uint64_t landing = LANDING, flags = 0x202 | (random_next(random) & FLAGS);
    const uint64_t *word = trial->decoded.kind == DECODE_STRAIGHT ? &flags : &landing;
    bool words = trial->decoded.kind != DECODE_STRAIGHT ||
                 trial->decoded.mnemonic == ZYDIS_MNEMONIC_POPF ||
                 trial->decoded.mnemonic == ZYDIS_MNEMONIC_POPFQ;
    bool zeros = kind == ZEROS || (kind == ANY && random_one_in(random, 2));
    if (zeros || kind == SAME)
        memset(trial->memory, zeros ? 0 : 0x5a, sizeof trial->memory);
    else
        random_fill(random, trial->memory, sizeof trial->memory);
    for (size_t at = 0; words && at < sizeof trial->memory; at += sizeof *word)
        memcpy(trial->memory + at, word, sizeof *word);
    if (trial->decoded.branch_register != DECODE_NONE)
        trial->before.registers[trial->decoded.branch_register] = landing;
    random_instruction_fill(&trial->form->made, &trial->before, random, trial->memory, &region);
}

/* False if its operands cannot be moved into the region. */
static bool make_trial(struct exec_rig *rig, struct trial *trial, struct instruction_form *form,
                       enum kind kind, uint64_t *random)
{
    bool placed = false;
    trial->form = form;
    for (unsigned i = 0; i < PLACES && !placed; i++) {
        instruction_form_vary(form, random);
        random_instruction_move(&form->made, random, CODE, &region);
        choose_registers(&trial->before, kind, random);
        placed = random_instruction_place(&form->made, &trial->before, random, &region);
    }
    if (!placed)
        return false;
    trial->before.rip = CODE;
    if (form->made.instruction.mnemonic == ZYDIS_MNEMONIC_CLZERO) /* no operand to move */
        trial->before.registers[DECODE_RAX] = EXEC_RIG_DATA + EXEC_RIG_DATA_BYTES / 2;
    if (kind == ZEROS && (form->made.instruction.attributes &
                          (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
        trial->before.registers[DECODE_RCX] = 0;
    decode(&trial->decoded, form->made.bytes, sizeof form->made.bytes, CODE);
    choose_memory(trial, kind, random);
    memset(rig->code, INT3, 2 * sizeof form->made.bytes);
    memcpy(rig->code, form->made.bytes, form->made.instruction.length);
    return true;
}

/* --- writes ----------------------------------------------------------------------------------- */

static bool complain(const struct trial *trial, const char *what, unsigned number)
{
    for (unsigned i = 0; i < trial->decoded.size; i++)
        printf("%02x", trial->decoded.bytes[i]);
    printf(" %s: %s %u\n", ZydisMnemonicGetString(trial->form->made.instruction.mnemonic), what,
           number);
    return false;
}

/* Copies these registers and flags from `before` to *machine (adjusted if the instruction
 * completed), and vector registers unless the instruction uses them. */
static void keep(const struct trial *trial, const struct machine *before, unsigned registers,
                 uint64_t flags, bool ended, struct machine *machine)
{
    for (unsigned i = 0; i < DECODE_REGISTERS; i++)
        if (registers >> i & 1)
            machine->registers[i] =
                before->registers[i] +
                (ended && trial->decoded.adjusted == i ? (uint64_t)trial->decoded.adjustment : 0);
    flags &= FLAGS;
    machine->flags = (machine->flags & ~flags) | (before->flags & flags);
    if (!trial->decoded.vector)
        memcpy(machine->vector, before->vector, sizeof machine->vector);
}

static void keep_unwritten(const struct trial *trial, const struct machine *before, bool ended,
                           struct machine *machine)
{
    keep(trial, before, ~(unsigned)trial->decoded.registers_written,
         ~(uint64_t)trial->decoded.flags_written, ended, machine);
}

static bool check_written(const struct trial *trial, const struct outcome *outcome)
{
    static struct machine expected;
    bool good = true;
    expected = outcome->after;
    keep_unwritten(trial, &trial->before, came_to_end(outcome), &expected);
    for (unsigned i = 0; i < DECODE_REGISTERS; i++)
        if (expected.registers[i] != outcome->after.registers[i])
            good = complain(trial, "writes register", i);
    for (unsigned i = 0; i < 12; i++)
        if ((expected.flags ^ outcome->after.flags) >> i & 1)
            good = complain(trial, "writes flag", i);
    if (good && machine_difference(&expected, &outcome->after))
        good = complain(trial, machine_difference(&expected, &outcome->after), 0);
    return good;
}

/* --- reads ------------------------------------------------------------------------------------ */

#define VECTORS (DECODE_REGISTERS + 12u) /* all vector registers, after registers and flags */

/* Whether decode() reports that the instruction does not depend on a general register, a flag or
 * the vector registers. */
static bool is_free(const struct trial *trial, unsigned what)
{
    if (what == VECTORS)
        return !trial->decoded.vector;
    if (what < DECODE_REGISTERS)
        return !(trial->decoded.registers_read >> what & 1);
    unsigned flag = what - DECODE_REGISTERS;
    return (FLAGS >> flag & 1) && !(trial->decoded.flags_read >> flag & 1);
}

static void change(struct machine *machine, const struct machine *other, unsigned what)
{
    if (what == VECTORS)
        memcpy(machine->vector, other->vector, sizeof machine->vector);
    else if (what < DECODE_REGISTERS)
        machine->registers[what] = other->registers[what];
    else
        machine->flags ^= (uint64_t)1 << (what - DECODE_REGISTERS);
}

/* Whether the instruction has the same results with other values in `changed`, except for results
 * that are not repeatable. */
static bool is_same(const struct trial *trial, const struct machine *changed,
                    const struct outcome *one, const struct outcome *other)
{
    static struct machine expected;
    bool repeatable = !is_unrepeatable(trial->form->made.instruction.mnemonic);
    if (one->end.signal != other->end.signal || one->end.code != other->end.code ||
        one->end.fault_address != other->end.fault_address)
        return false;
    expected = repeatable ? one->after : other->after;
    if (came_to_end(one))
        keep_unwritten(trial, changed, true, &expected);
    else
        keep(trial, changed, ~(unsigned)trial->decoded.registers_read,
             ~(uint64_t)trial->decoded.flags_read, false, &expected);
    return !machine_difference(&expected, &other->after) &&
           (!repeatable || memcmp(one->memory, other->memory, sizeof one->memory) == 0);
}

static bool check_read(struct exec_rig *rig, const struct trial *trial, const struct outcome *one,
                       uint64_t *random)
{
    static struct outcome other;
    static struct machine values, changed;
    bool good = true;
    random_machine(&values, random);
    changed = trial->before;
    for (unsigned i = 0; i <= VECTORS; i++)
        if (is_free(trial, i))
            change(&changed, &values, i);
    execute(rig, trial, &changed, &other);
    if (is_same(trial, &changed, one, &other))
        return true;
    for (unsigned i = 0; i <= VECTORS; i++) {
        changed = trial->before;
        if (!is_free(trial, i))
            continue;
        change(&changed, &values, i);
        execute(rig, trial, &changed, &other);
        if (is_same(trial, &changed, one, &other))
            continue;
        good = i == VECTORS           ? complain(trial, "depends on vector registers", 0)
               : i < DECODE_REGISTERS ? complain(trial, "depends on register", i)
                                      : complain(trial, "depends on flag", i - DECODE_REGISTERS);
    }
    return good && complain(trial, "depends on several registers", 0);
}

/* --- unnecessary dependencies ----------------------------------------------------------------- */

struct use {
    unsigned ended;
    uint16_t needless; /* registers reported as written, which were not */
    bool vector;       /* vector registers made a difference */
};

static void note_use(struct exec_rig *rig, const struct trial *trial, const struct outcome *one,
                     uint64_t *random, struct use *use)
{
    static struct outcome other;
    static struct machine values, expected;
    random_machine(&values, random);
    if (use->ended++ == 0)
        use->needless = UINT16_MAX;
    use->needless &= trial->decoded.registers_written;
    for (unsigned i = 0; i < DECODE_REGISTERS; i++)
        if (one->after.registers[i] != trial->before.registers[i])
            use->needless &= (uint16_t) ~(1u << i);
    expected = trial->before;
    change(&expected, &values, VECTORS);
    execute(rig, trial, &expected, &other);
    expected = one->after;
    change(&expected, &values, VECTORS);
    use->vector |= !came_to_end(&other) || machine_difference(&expected, &other.after) ||
                   memcmp(one->memory, other.memory, sizeof one->memory) != 0;
}

static void list_needless(const struct trial *trial, const struct use *use)
{
    if (use->ended && use->needless)
        complain(trial, "not written: registers", use->needless);
    if (use->ended && trial->decoded.vector && !use->vector)
        complain(trial, "no vector registers:", 1);
}

/* --- all forms -------------------------------------------------------------------------------- */

struct walk {
    struct exec_rig rig;
    uint64_t random;
    unsigned samples; /* per form */
    bool lists;       /* unnecessary dependencies */
    unsigned executed, missing, not_executed, faulted, failed;
};

static void try_form(void *context, struct instruction_form *form)
{
    static struct trial trial;
    static struct outcome outcome;
    struct walk *walk = context;
    struct use use = {.ended = 0};
    unsigned ended = 0, undefined = 0;
    bool good = true;
    decode(&trial.decoded, form->made.bytes, sizeof form->made.bytes, CODE);
    trial.form = form;
    if (reason_against(form, &trial.decoded)) {
        walk->not_executed++;
        if (walk->lists)
            complain(&trial, reason_against(form, &trial.decoded), 0);
        return;
    }
    for (unsigned i = 0; good && i < walk->samples * MORE; i++) {
        if (i >= walk->samples && (ended > 0 || undefined > 0))
            break;
        if (!make_trial(&walk->rig, &trial, form, (enum kind)(i % KINDS), &walk->random) ||
            reason_against(form, &trial.decoded)) /* of another register */
            continue;
        execute(&walk->rig, &trial, &trial.before, &outcome);
        ended += came_to_end(&outcome);
        undefined += outcome.end.signal == SIGILL;
        if (outcome.end.signal != SIGILL)
            good = check_written(&trial, &outcome) &&
                   check_read(&walk->rig, &trial, &outcome, &walk->random);
        if (walk->lists && came_to_end(&outcome))
            note_use(&walk->rig, &trial, &outcome, &walk->random, &use);
    }
    walk->failed += !good;
    list_needless(&trial, &use);
    if (ended > 0)
        walk->executed++;
    else if (undefined > 0)
        walk->missing++;
    else if (good) {
        walk->faulted++;
        complain(&trial, "faulted in all samples, last with signal", (unsigned)outcome.end.signal);
    }
}

static void test_forms(void)
{
    static struct walk walk;
    const char *samples = getenv("EXEC_SEEDS");
    walk.samples = samples ? (unsigned)atoi(samples) : SAMPLES;
    walk.random = random_seed(65 + walk.samples);
    walk.lists = getenv("EXEC_LIST") != NULL;
    CU_ASSERT_FATAL(exec_rig_begin(&walk.rig, EXEC_TRACE_NONE, false, 4096, 0));
    memset(walk.rig.code, INT3, PADDING);
    unsigned count = instruction_forms_each(try_form, &walk);
    printf("%u forms: %u executed, %u unknown to this processor, %u not executed, %u faulted\n",
           count, walk.executed, walk.missing, walk.not_executed, walk.faulted);
    CU_ASSERT_EQUAL(walk.failed, 0);
    CU_ASSERT_EQUAL(walk.executed + walk.missing + walk.not_executed + walk.faulted, count);
    CU_ASSERT(walk.executed > 2000);
    exec_rig_end(&walk.rig);
}

static const struct test_case cases[] = {{"all instruction forms", test_forms}, {NULL, NULL}};
TEST_SUITE_XSAVE(exec_forms, cases)
