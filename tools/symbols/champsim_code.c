#include "tools/symbols/champsim_code.h"

#include "tools/symbols/image_times.h"
#include "tools/symbols/images.h"

#include <stdlib.h>

#define SLOTS        16384u /* instructions kept, by address */
#define SET_DISTANCE 5501u  /* slots between those of two sets for one address */
#define VECTORS      64u    /* numbers of the first register of a kind */
#define MASKS        96u
#define FLOATS       104u
#define OPERAND_MAX  ZYDIS_MAX_OPERAND_COUNT

/* --- one instruction --- */

/* ChampSim's number of a register; 0: none that matters. */
static uint8_t number_of(ZydisRegister name)
{
    /* Pin's order of RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI */
    static const uint8_t general[] = {10, 9, 8, 7, CHAMPSIM_STACK_POINTER, 5, 4, 3};
    if (name == ZYDIS_REGISTER_NONE)
        return 0;
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    unsigned id = (unsigned)ZydisRegisterGetId(name);
    switch (ZydisRegisterGetClass(whole != ZYDIS_REGISTER_NONE ? whole : name)) {
    case ZYDIS_REGCLASS_GPR64:
        id = (unsigned)ZydisRegisterGetId(whole);
        return id < 8 ? general[id] : id < 16 ? (uint8_t)(11 + id - 8) : 0;
    case ZYDIS_REGCLASS_FLAGS:
        return CHAMPSIM_FLAGS;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return (uint8_t)(VECTORS + id);
    case ZYDIS_REGCLASS_MASK:
        return (uint8_t)(MASKS + id);
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
        return (uint8_t)(FLOATS + id);
    default:
        return 0; /* segments, control registers; the instruction pointer is known when decoded */
    }
}

static void add(struct champsim_instruction *instruction, ZydisRegister name, bool written)
{
    uint8_t number = number_of(name);
    if (number == 0)
        return;
    bool fits =
        written ? champsim_add_register(instruction->destinations, CHAMPSIM_DESTINATIONS, number)
                : champsim_add_register(instruction->sources, CHAMPSIM_SOURCES, number);
    instruction->more_registers |= !fits;
}

static bool is_flags(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           number_of(operand->reg.value) == CHAMPSIM_FLAGS;
}

static void add_operand(struct champsim_instruction *instruction,
                        const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operand)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        add(instruction, operand->mem.base, false);
        add(instruction, operand->mem.index, false);
        return;
    }
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    /* K0 as the mask of an instruction means that it has none */
    bool no_mask = operand->reg.value == ZYDIS_REGISTER_K0 &&
                   decoded->avx.mask.reg == ZYDIS_REGISTER_K0 &&
                   operand->encoding == ZYDIS_OPERAND_ENCODING_MASK;
    /* what may not be written keeps its value, which is thus needed */
    const unsigned reads = ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE;
    if ((operand->actions & reads) && !no_mask)
        add(instruction, operand->reg.value, false);
    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        add(instruction, operand->reg.value, true);
}

/* What a repetition of a string instruction reads and writes. */
static void count_memory(struct champsim_instruction *instruction,
                         const ZydisDecodedInstruction *decoded,
                         const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < decoded->operand_count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        instruction->reads += (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
        instruction->writes += (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    }
}

static enum champsim_branch branch_of(enum image_branch branch)
{
    static const uint8_t branches[] = {
        [IMAGE_PLAIN] = CHAMPSIM_PLAIN,         [IMAGE_CONDITIONAL] = CHAMPSIM_CONDITIONAL,
        [IMAGE_JUMP] = CHAMPSIM_JUMP,           [IMAGE_INDIRECT_JUMP] = CHAMPSIM_INDIRECT_JUMP,
        [IMAGE_CALL] = CHAMPSIM_CALL,           [IMAGE_INDIRECT_CALL] = CHAMPSIM_INDIRECT_CALL,
        [IMAGE_RETURN] = CHAMPSIM_RETURN,       [IMAGE_SYSTEM_CALL] = CHAMPSIM_PLAIN,
        [IMAGE_SYSTEM_RETURN] = CHAMPSIM_PLAIN, [IMAGE_CONTEXT_RETURN] = CHAMPSIM_RETURN,
        [IMAGE_REPEAT] = CHAMPSIM_PLAIN};
    return (enum champsim_branch)branches[branch];
}

/* Fills a description from the operands: flags last, because they are the first to be left out. */
static void describe(struct champsim_instruction *instruction,
                     const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands,
                     const struct image_instruction *image, uint64_t address)
{
    *instruction = (struct champsim_instruction){.size = image->size,
                                                 .branch = (uint8_t)branch_of(image->branch)};
    if (instruction->branch == CHAMPSIM_CONDITIONAL)
        instruction->distance = (uint32_t)(image->target - address);
    for (int flags = 0; flags < 2; flags++)
        for (unsigned i = 0; i < decoded->operand_count; i++)
            if (is_flags(&operands[i]) == flags)
                add_operand(instruction, decoded, &operands[i]);
    if (image->branch == IMAGE_REPEAT)
        count_memory(instruction, decoded, operands);
    if (instruction->branch != CHAMPSIM_PLAIN)
        instruction->more_registers = false; /* those of a branch replace the others */
    champsim_add_branch(instruction);
}

static bool decode(struct champsim_instruction *instruction, const ZydisDecoder *decoder,
                   unsigned bits, const uint8_t *code, size_t size, uint64_t address)
{
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[OPERAND_MAX];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, size, &decoded, operands)))
        return false;
    const struct image_instruction image = images_describe(&decoded, bits, address);
    describe(instruction, &decoded, operands, &image, address);
    return true;
}

bool champsim_code_describe(struct champsim_instruction *instruction, unsigned bits,
                            const uint8_t *code, size_t size, uint64_t address)
{
    ZydisDecoder decoder;
    if (bits == 32)
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
    else
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return decode(instruction, &decoder, bits, code, size, address);
}

/* --- the instructions of images --- */

struct slot {
    const struct images *images; /* NULL: not used */
    uint32_t address;            /* in the images */
    bool in_image;               /* they have code there */
    bool valid;                  /* there is an instruction */
    struct champsim_instruction instruction;
};

struct champsim_code {
    const struct module_lists *lists;
    struct foreign_code foreign;
    struct slot slots[SLOTS];
};

/* Decodes the instruction at an address of the images into a slot. */
static void fill_slot(struct slot *slot, const struct images *images, uint32_t address)
{
    size_t size;
    const uint8_t *bytes = images_code(images, address, &size);
    const unsigned bits = bytes ? images_get(images, images_find(images, address))->bits : 0;
    *slot = (struct slot){.images = images, .address = address, .in_image = bytes != NULL};
    slot->valid =
        bytes && decode(&slot->instruction, bits == 32 ? &images->decoder32 : &images->decoder64,
                        bits, bytes, size, address);
}

static const struct champsim_instruction *find(void *context, uint64_t tick, uint32_t address)
{
    struct champsim_code *code = context;
    for (size_t i = 0; i < module_lists_set_count(code->lists); i++) {
        const struct images *images = module_lists_get_set(code->lists, i);
        uint32_t place = address;
        if (images_are_separate(images) && images_place(images, tick, &place, NULL) < 0)
            continue;
        /* sets have slots of their own, or an address would be decoded again for each fetch */
        struct slot *slot = &code->slots[(place + i * SET_DISTANCE) % SLOTS];
        if (slot->images != images || slot->address != place)
            fill_slot(slot, images, place);
        if (slot->in_image)
            return slot->valid ? &slot->instruction : NULL;
    }
    return NULL;
}

struct champsim_code *champsim_code_new(const struct module_lists *lists, struct bt_error *error)
{
    struct champsim_code *code = calloc(1, sizeof *code);
    if (!code) {
        bt_fail(error, BT_MEMORY, "no memory for decoded instructions");
        return NULL;
    }
    code->lists = lists;
    code->foreign = (struct foreign_code){.context = code, .find = find};
    return code;
}

void champsim_code_free(struct champsim_code *code)
{
    free(code);
}

const struct foreign_code *champsim_code_foreign(const struct champsim_code *code)
{
    return &code->foreign;
}
