#include "tests/support/x86_program.h"

#include "formats/dcfg/dcfg_edge_type.h"
#include "tests/support/elf_file.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- making --- */

static void add(struct x86_program *program, enum x86_kind kind, uint8_t size)
{
    program->instructions[program->count++] =
        (struct x86_instruction){.size = size, .kind = (uint8_t)kind, .target = -1};
}

/* Plain instructions of 1 to 8 bytes. */
static const uint8_t plain[8][8] = {{0x90},
                                    {0x66, 0x90},
                                    {0x0f, 0x1f, 0x00},
                                    {0x0f, 0x1f, 0x40, 0x00},
                                    {0x0f, 0x1f, 0x44, 0x00, 0x00},
                                    {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
                                    {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
                                    {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}};

static void add_any(struct x86_program *program, uint64_t *random)
{
    switch (random_below(random, 16)) {
    case 0:
    case 1:
    case 2:
        add(program, X86_CONDITIONAL, random_one_in(random, 2) ? 2 : 6);
        break;
    case 3:
        add(program, X86_JUMP, random_one_in(random, 2) ? 2 : 5);
        break;
    case 4:
        add(program, X86_INDIRECT_JUMP, 2);
        break;
    case 5:
        add(program, X86_CALL, 5);
        break;
    case 6:
        add(program, X86_INDIRECT_CALL, 2);
        break;
    case 7:
        add(program, X86_RETURN, 1);
        break;
    case 8:
        add(program, X86_SYSTEM_CALL, 2);
        break;
    case 9:
        add(program, X86_REPEAT, 2);
        break;
    default:
        add(program, X86_PLAIN, (uint8_t)(1 + random_below(random, 8)));
    }
}

/* Targets are in the same image and never the next instruction; short jumps go to neighbours. */
static void aim(struct x86_program *program, int i, uint64_t *random)
{
    struct x86_instruction *instruction = &program->instructions[i];
    int first = i < program->user_count ? 0 : program->user_count;
    int count = i < program->user_count ? program->user_count : program->count - first;
    do {
        if (instruction->size == 2)
            instruction->target = i - 7 + (int)random_below(random, 15);
        else
            instruction->target = first + (int)random_below(random, (uint64_t)count);
    } while (instruction->target < first || instruction->target >= first + count ||
             instruction->target == i + 1);
}

static void put_relative(const struct x86_program *program, const struct x86_instruction *from,
                         uint8_t *code, size_t size)
{
    uint32_t offset = program->instructions[from->target].address - (from->address + from->size);
    for (size_t i = 0; i < size; i++)
        code[i] = (uint8_t)(offset >> 8 * i);
}

static void encode(const struct x86_program *program, const struct x86_instruction *instruction,
                   uint8_t *code)
{
    bool is_short = instruction->size == 2;
    switch (instruction->kind) {
    case X86_CONDITIONAL:
        memcpy(code, is_short ? "\x75" : "\x0f\x85", is_short ? 1 : 2);
        put_relative(program, instruction, code + (is_short ? 1 : 2), is_short ? 1 : 4);
        break;
    case X86_JUMP:
        code[0] = is_short ? 0xeb : 0xe9;
        put_relative(program, instruction, code + 1, is_short ? 1 : 4);
        break;
    case X86_CALL:
        code[0] = 0xe8;
        put_relative(program, instruction, code + 1, 4);
        break;
    case X86_INDIRECT_JUMP:
        memcpy(code, "\xff\xe0", 2);
        break;
    case X86_INDIRECT_CALL:
        memcpy(code, "\xff\xd0", 2);
        break;
    case X86_RETURN:
        code[0] = 0xc3;
        break;
    case X86_SYSTEM_CALL:
        memcpy(code, program->bits == 64 ? "\x0f\x05" : "\xcd\x80", 2);
        break;
    case X86_SYSTEM_RETURN:
        memcpy(code, "\x0f\x35", 2);
        break;
    case X86_CONTEXT_RETURN:
        code[0] = 0xcf;
        break;
    case X86_REPEAT:
        memcpy(code, "\xf3\xa4", 2);
        break;
    default:
        memcpy(code, plain[instruction->size - 1], instruction->size);
    }
}

/* Gives addresses to instructions first to end - 1 and makes their code; returns its size. */
static size_t lay_out(struct x86_program *program, int first, int end, uint32_t address,
                      uint8_t *code)
{
    uint32_t at = address;
    for (int i = first; i < end; i++) {
        program->instructions[i].address = at;
        at += program->instructions[i].size;
    }
    for (int i = first; i < end; i++)
        encode(program, &program->instructions[i],
               code + (program->instructions[i].address - address));
    return at - address;
}

void x86_program_make(struct x86_program *program, uint64_t seed, unsigned bits)
{
    uint64_t random = random_seed(seed);
    memset(program, 0, sizeof *program);
    program->bits = bits;
    int count = 12 + (int)random_below(&random, 60);
    add(program, X86_PLAIN, 3); /* start of walks: no branch targets it */
    while (program->count < count)
        add_any(program, &random);
    add(program, X86_PLAIN, 1);
    add(program, X86_JUMP, 5);
    program->user_count = program->count;
    program->interrupt = program->count;
    add(program, X86_PLAIN, 4);
    add(program, X86_CONDITIONAL, 6);
    add(program, X86_PLAIN, 2);
    add(program, X86_CONTEXT_RETURN, 1);
    program->system_call = program->count;
    add(program, X86_PLAIN, 1);
    add(program, X86_REPEAT, 2);
    add(program, X86_SYSTEM_RETURN, 2);
    for (int i = 0; i < program->count; i++)
        if (program->instructions[i].kind == X86_CONDITIONAL ||
            program->instructions[i].kind == X86_JUMP || program->instructions[i].kind == X86_CALL)
            aim(program, i, &random);
    program->instructions[program->interrupt + 1].target = program->interrupt + 3;
    program->user_size =
        lay_out(program, 0, program->user_count, X86_PROGRAM_USER, program->user_code);
    program->kernel_size = lay_out(program, program->user_count, program->count, X86_PROGRAM_KERNEL,
                                   program->kernel_code);
}

/* --- walking --- */

static void note(struct x86_program *program, int source, int target, uint8_t type, bool taken)
{
    for (int i = 0; i < program->pair_count; i++) {
        struct x86_pair *pair = &program->pairs[i];
        if (pair->source != source || pair->target != target)
            continue;
        if (taken && !pair->taken)
            *pair =
                (struct x86_pair){.source = source, .target = target, .type = type, .taken = true};
        return;
    }
    if (program->pair_count == X86_PROGRAM_PAIRS)
        abort();
    program->pairs[program->pair_count++] =
        (struct x86_pair){.source = source, .target = target, .type = type, .taken = taken};
}

/* Enters a routine that returns to resume. */
static bool push(struct x86_walk *walk, int resume, uint8_t bypass)
{
    if (walk->depth == X86_PROGRAM_STACK)
        return false;
    walk->stack[walk->depth].source = walk->at;
    walk->stack[walk->depth].resume = resume;
    walk->stack[walk->depth++].type = bypass;
    return true;
}

/* Returns from a routine; to the start if the stack is empty. */
static int pop(struct x86_program *program, struct x86_walk *walk)
{
    if (walk->depth == 0)
        return 0;
    walk->depth--;
    note(program, walk->stack[walk->depth].source, walk->stack[walk->depth].resume,
         walk->stack[walk->depth].type, false);
    return walk->stack[walk->depth].resume;
}

/* An instruction of user code that is not the next one. */
static int anywhere(const struct x86_program *program, struct x86_walk *walk)
{
    int next = walk->at + 1;
    int chosen;
    do
        chosen = (int)random_below(&walk->random, (uint64_t)program->user_count);
    while (chosen == next);
    return chosen;
}

static int call(struct x86_walk *walk, int target, uint8_t *type, uint8_t call_type)
{
    if (random_one_in(&walk->random, 8) || !push(walk, walk->at + 1, DCFG_EDGE_CALL_BYPASS)) {
        *type = DCFG_EDGE_CALL_BYPASS; /* the called code is not seen */
        return walk->at + 1;
    }
    *type = call_type;
    return target;
}

static int follow(struct x86_program *program, struct x86_walk *walk, uint8_t *type)
{
    const struct x86_instruction *instruction = &program->instructions[walk->at];
    *type = DCFG_EDGE_FALL_THROUGH;
    switch (instruction->kind) {
    case X86_CONDITIONAL:
        if (random_one_in(&walk->random, 2))
            return walk->at + 1;
        *type = DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH;
        return instruction->target;
    case X86_JUMP:
        *type = DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH;
        return instruction->target;
    case X86_INDIRECT_JUMP:
        *type = DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH;
        return anywhere(program, walk);
    case X86_CALL:
        return call(walk, instruction->target, type, DCFG_EDGE_DIRECT_CALL);
    case X86_INDIRECT_CALL:
        return call(walk, anywhere(program, walk), type, DCFG_EDGE_INDIRECT_CALL);
    case X86_SYSTEM_CALL:
        if (walk->kernel_seen && push(walk, walk->at + 1, DCFG_EDGE_SYSTEM_CALL_BYPASS)) {
            *type = DCFG_EDGE_SYSTEM_CALL;
            return program->system_call;
        }
        *type = DCFG_EDGE_SYSTEM_CALL_BYPASS;
        return walk->at + 1;
    case X86_RETURN:
        *type = DCFG_EDGE_RETURN;
        return pop(program, walk);
    case X86_SYSTEM_RETURN:
        *type = DCFG_EDGE_SYSTEM_RETURN;
        return pop(program, walk);
    case X86_CONTEXT_RETURN:
        *type = DCFG_EDGE_CONTEXT_CHANGE_RETURN;
        return pop(program, walk);
    case X86_REPEAT:
        if (random_one_in(&walk->random, 3))
            return walk->at + 1;
        *type = DCFG_EDGE_REP;
        return walk->at;
    default:
        return walk->at + 1;
    }
}

/* Whether an interrupt after this instruction is distinguishable from its own effect. */
static bool can_be_interrupted(const struct x86_program *program, const struct x86_walk *walk)
{
    uint8_t kind = program->instructions[walk->at].kind;
    return walk->at < program->user_count &&
           (kind == X86_PLAIN || kind == X86_CONDITIONAL || kind == X86_JUMP);
}

int x86_program_step(struct x86_program *program, struct x86_walk *walk)
{
    uint8_t type;
    if (!walk->started) {
        walk->started = true;
        walk->at = 0;
        return 0;
    }
    int source = walk->at;
    int next = follow(program, walk, &type);
    if (walk->interrupts != 0 && random_one_in(&walk->random, walk->interrupts) &&
        can_be_interrupted(program, walk) && push(walk, next, DCFG_EDGE_CONTEXT_CHANGE_BYPASS)) {
        next = program->interrupt;
        type = DCFG_EDGE_CONTEXT_CHANGE;
    }
    note(program, source, next, type, true);
    walk->at = next;
    return next;
}

struct record x86_program_fetch(const struct x86_program *program, int instruction,
                                uint8_t processor)
{
    return (struct record){.address = program->instructions[instruction].address,
                           .type = REQUEST_FETCH,
                           .size = program->instructions[instruction].size,
                           .attribute = ATTRIBUTE_WRITE_BACK,
                           .processor = processor,
                           .time = 1};
}

void x86_program_write(const struct x86_program *program, const char *path)
{
    char name[512];
    struct elf_file file = {.bits = program->bits,
                            .load_address = X86_PROGRAM_USER - ELF_FILE_OFFSET,
                            .code = program->user_code,
                            .code_size = program->user_size};
    snprintf(name, sizeof name, "%s.user", path);
    elf_file_write(&file, name);
    file.load_address = X86_PROGRAM_KERNEL - ELF_FILE_OFFSET;
    file.code = program->kernel_code;
    file.code_size = program->kernel_size;
    snprintf(name, sizeof name, "%s.kernel", path);
    elf_file_write(&file, name);
}

struct images *x86_program_load(const struct x86_program *program, const char *folder, bool user,
                                bool kernel)
{
    char path[512];
    struct images *images = images_new(NULL);
    snprintf(path, sizeof path, "%s/program", folder);
    x86_program_write(program, path);
    snprintf(path, sizeof path, "%s/program.user", folder);
    bool good = images && (!user || images_add(images, path, NULL) == 0);
    snprintf(path, sizeof path, "%s/program.kernel", folder);
    good = good && (!kernel || images_add(images, path, NULL) == 0);
    if (!good) {
        images_free(images);
        return NULL;
    }
    return images;
}
