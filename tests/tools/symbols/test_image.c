/* ELF files: load addresses, instructions, symbols. */
#include "tests/suites.h"
#include "tests/support/elf_file.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tools/symbols/disassemble.h"
#include "tools/symbols/image_names.h"
#include "tools/symbols/image_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE 0x8049000u

static char folder[FOLDER_PATH_BYTES];

/* A file in the test's folder. */
static const char *path_of(const char *name)
{
    static char path[FOLDER_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct elf_file plain_file(const uint8_t *code, size_t size, unsigned bits)
{
    return (struct elf_file){
        .bits = bits, .load_address = CODE - ELF_FILE_OFFSET, .code = code, .code_size = size};
}

static struct images *images_of(const struct elf_file *file, const char *at)
{
    char specification[FOLDER_PATH_BYTES + 128];
    struct bt_error error = {0};
    folder_make(folder);
    elf_file_write(file, path_of("program"));
    snprintf(specification, sizeof specification, "%s%s", path_of("program"), at);
    struct images *images = images_new(NULL);
    CU_ASSERT_EQUAL(images_add(images, specification, &error), 0);
    folder_remove(folder);
    return images;
}

static void test_instructions(void)
{
    static const struct {
        unsigned bits;
        uint8_t size;
        uint8_t code[8];
        enum image_branch branch;
        uint32_t target;
    } rows[] = {
        {64, 1, {0x90}, IMAGE_PLAIN, 0},
        {64, 2, {0x74, 0x10}, IMAGE_CONDITIONAL, CODE + 0x12},
        {64, 6, {0x0f, 0x85, 0xfa, 0xff, 0xff, 0xff}, IMAGE_CONDITIONAL, CODE},
        {64, 2, {0xe2, 0xfe}, IMAGE_CONDITIONAL, CODE},
        {64, 2, {0xe3, 0x00}, IMAGE_CONDITIONAL, CODE + 2},
        {64, 2, {0xeb, 0x00}, IMAGE_JUMP, CODE + 2},
        {64, 5, {0xe9, 0x00, 0x01, 0x00, 0x00}, IMAGE_JUMP, CODE + 0x105},
        {64, 2, {0xff, 0xe0}, IMAGE_INDIRECT_JUMP, 0},
        {64, 5, {0xe8, 0xfb, 0xff, 0xff, 0xff}, IMAGE_CALL, CODE},
        {64, 2, {0xff, 0xd0}, IMAGE_INDIRECT_CALL, 0},
        {64, 1, {0xc3}, IMAGE_RETURN, 0},
        {64, 3, {0xc2, 0x08, 0x00}, IMAGE_RETURN, 0},
        {64, 2, {0x0f, 0x05}, IMAGE_SYSTEM_CALL, 0},
        {64, 2, {0x0f, 0x34}, IMAGE_SYSTEM_CALL, 0},
        {64, 2, {0xcd, 0x80}, IMAGE_SYSTEM_CALL, 0},
        {64, 1, {0xcc}, IMAGE_PLAIN, 0},
        {64, 3, {0x48, 0x0f, 0x07}, IMAGE_SYSTEM_RETURN, 0},
        {64, 2, {0x0f, 0x35}, IMAGE_SYSTEM_RETURN, 0},
        {64, 2, {0x48, 0xcf}, IMAGE_CONTEXT_RETURN, 0},
        {64, 2, {0xf3, 0xa4}, IMAGE_REPEAT, 0},
        {64, 2, {0xf2, 0xae}, IMAGE_REPEAT, 0},
        {64, 1, {0xa4}, IMAGE_PLAIN, 0},
        {64, 2, {0xf3, 0x90}, IMAGE_PLAIN, 0},             /* PAUSE */
        {64, 4, {0xf3, 0x0f, 0x1e, 0xfa}, IMAGE_PLAIN, 0}, /* ENDBR64 */
        {64, 2, {0xf3, 0xc3}, IMAGE_RETURN, 0},
        {64, 3, {0x48, 0x89, 0xc8}, IMAGE_PLAIN, 0},
        {32, 1, {0x48}, IMAGE_PLAIN, 0}, /* DEC EAX */
        {32, 5, {0xe8, 0x00, 0x00, 0x00, 0x00}, IMAGE_CALL, CODE + 5},
        {32, 5, {0xe9, 0x00, 0x00, 0x00, 0xf8}, IMAGE_JUMP, 0x49005},
        {32, 1, {0xcf}, IMAGE_CONTEXT_RETURN, 0},
        {32, 2, {0xe3, 0x00}, IMAGE_CONDITIONAL, CODE + 2},
        {32, 7, {0xea, 0, 0, 0, 0, 8, 0}, IMAGE_INDIRECT_JUMP, 0}, /* far: no near target */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct elf_file file = plain_file(rows[i].code, rows[i].size, rows[i].bits);
        struct images *images = images_of(&file, "");
        struct image_instruction instruction = {.size = 99};
        CU_ASSERT(images_instruction(images, CODE, &instruction));
        if (instruction.size != rows[i].size || instruction.branch != rows[i].branch ||
            instruction.target != rows[i].target) {
            fprintf(stderr, "row %zu: size %u, branch %u, target 0x%llx\n", i, instruction.size,
                    instruction.branch, (unsigned long long)instruction.target);
            CU_FAIL("an instruction is decoded correctly");
        }
        images_free(images);
    }
}

static void test_places(void)
{
    static const uint8_t code[] = {0x90, 0x90, 0xe8, 0, 0, 0, 0, 0x0f};
    struct elf_file file = plain_file(code, sizeof code, 64);
    struct image_instruction instruction;
    size_t size;
    struct images *images = images_of(&file, "@0x100000");
    const struct image *image = images_get(images, 0);
    CU_ASSERT_EQUAL(image->load_address, 0x100000);
    CU_ASSERT_EQUAL(image->size, ELF_FILE_OFFSET + sizeof code);
    CU_ASSERT_EQUAL(images_find(images, 0xfffff), IMAGE_NONE);
    CU_ASSERT_EQUAL(images_find(images, 0x100000), 0);
    CU_ASSERT_EQUAL(images_find(images, 0x101007), 0);
    CU_ASSERT_EQUAL(images_find(images, 0x101008), IMAGE_NONE);
    CU_ASSERT_PTR_NULL(images_code(images, CODE, &size));
    CU_ASSERT_PTR_NOT_NULL(images_code(images, 0x101006, &size));
    CU_ASSERT_EQUAL(size, 2);
    CU_ASSERT(images_instruction(images, 0x101002, &instruction));
    CU_ASSERT_EQUAL(instruction.target, 0x101007);
    CU_ASSERT_FALSE(images_instruction(images, 0x101007, &instruction)); /* cut */
    CU_ASSERT_EQUAL(images_count_instructions(images, 0x101000, 8), 3);
    CU_ASSERT_EQUAL(images_count_instructions(images, 0x101000, 2), 2);
    images_free(images);
}

static int add(struct images *images, const char *name, const char *at, struct bt_error *error)
{
    char specification[FOLDER_PATH_BYTES + 128];
    snprintf(specification, sizeof specification, "%s%s", path_of(name), at);
    return images_add(images, specification, error);
}

static void test_refusals(void)
{
    static const uint8_t code[] = {0x90, 0xc3};
    struct elf_file file = plain_file(code, sizeof code, 64);
    struct bt_error error;
    folder_make(folder);
    elf_file_write(&file, path_of("one"));
    file.anywhere = true;
    elf_file_write(&file, path_of("anywhere@2"));
    file.anywhere = false;
    file.bits = 32;
    elf_file_write(&file, path_of("two"));
    FILE *text = fopen(path_of("text"), "w");
    fprintf(text, "hello\n");
    fclose(text);
    struct images *images = images_new(NULL);
    CU_ASSERT_EQUAL(add(images, "none", "", &error), BT_IO);
    CU_ASSERT_EQUAL(add(images, "text", "", &error), BT_DATA);
    CU_ASSERT_EQUAL(add(images, "anywhere@2", "@zero", &error), BT_IO);
    CU_ASSERT_EQUAL(add(images, "anywhere@2", "@0x1000000000", &error), BT_USAGE);
    CU_ASSERT_EQUAL(add(images, "anywhere@2", "@0xfffffffffffffff0", &error), BT_USAGE);
    CU_ASSERT_EQUAL(add(images, "one", "", &error), 0);
    CU_ASSERT_EQUAL(add(images, "two", "", &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "overlaps"));
    CU_ASSERT_EQUAL(add(images, "two", "@0x8048800", &error), BT_USAGE);
    CU_ASSERT_EQUAL(add(images, "two", "@0x8047800", &error), BT_USAGE);
    CU_ASSERT_EQUAL(add(images, "two", "@0x1000", &error), 0);
    CU_ASSERT_EQUAL(add(images, "anywhere@2", "@9000000", &error), 0);
    CU_ASSERT_EQUAL(images_count(images), 3);
    CU_ASSERT_EQUAL(images_get(images, 0)->load_address, 0x1000);
    CU_ASSERT_EQUAL(images_get(images, 1)->load_address, 9000000);
    images_free(images);
    folder_remove(folder);
}

/* Images that were at one address at different times get addresses of their own. */
static void test_times(void)
{
    static const uint8_t code[] = {0x90, 0xc3};
    struct elf_file file = plain_file(code, sizeof code, 64);
    struct bt_error error;
    folder_make(folder);
    file.anywhere = true;
    elf_file_write(&file, path_of("one"));
    elf_file_write(&file, path_of("two"));
    struct images *images = images_new(NULL);
    CU_ASSERT_EQUAL(add(images, "one", "@0x5000@1-99,200-", &error), 0);
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000@100-199", &error), BT_USAGE);
    images_free(images);
    images = images_new(NULL);
    images_allow_times(images);
    CU_ASSERT_EQUAL(add(images, "one", "@0x5000@1-99,200-", &error), 0);
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000", &error), BT_USAGE);
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000@50-60", &error), BT_USAGE);
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000@500-", &error), BT_USAGE);
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000@60-50", &error), BT_IO); /* a file of that name */
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000@1-2,2-3", &error), BT_IO);
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000@1-2,", &error), BT_IO);
    CU_ASSERT_EQUAL(add(images, "two", "@0x5000@100-150,151-199", &error), 0);
    CU_ASSERT_FALSE(images_are_separate(images));
    CU_ASSERT_EQUAL(images_separate(images, &error), 0);
    CU_ASSERT_TRUE(images_are_separate(images));
    static const struct {
        uint64_t tick;
        const char *name; /* NULL: the address is in no image */
    } places[] = {{0, NULL},    {1, "one"},   {99, "one"},  {100, "two"},     {150, "two"},
                  {151, "two"}, {199, "two"}, {200, "one"}, {1u << 31, "one"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct image_instruction instruction;
        uint32_t address = 0x6000; /* of the code */
        CU_ASSERT_EQUAL(images_place(images, places[i].tick, &address, &error), 0);
        uint32_t found = images_find(images, address);
        CU_ASSERT_EQUAL_FATAL(found == IMAGE_NONE, places[i].name == NULL);
        if (found == IMAGE_NONE)
            continue;
        const struct image *image = images_get(images, found);
        CU_ASSERT_STRING_EQUAL(image->path, path_of(places[i].name));
        CU_ASSERT_EQUAL(image->memory_address, 0x5000);
        CU_ASSERT_EQUAL(address - image->load_address, 0x1000);
        CU_ASSERT_TRUE(images_instruction(images, address, &instruction));
    }
    uint32_t moved = (uint32_t)images_get(images, 0)->load_address, elsewhere = 0x20000;
    CU_ASSERT_EQUAL(images_place(images, 1, &moved, &error), BT_DATA);
    CU_ASSERT_EQUAL(images_place(images, 1, &elsewhere, &error), 0);
    CU_ASSERT_EQUAL(elsewhere, 0x20000);
    images_free(images);
    folder_remove(folder);
}

static void test_anywhere_needs_an_address(void)
{
    static const uint8_t code[] = {0x90, 0xc3};
    struct elf_file file = plain_file(code, sizeof code, 64);
    struct bt_error error;
    file.anywhere = true;
    folder_make(folder);
    elf_file_write(&file, path_of("anywhere"));
    struct images *images = images_new(NULL);
    CU_ASSERT_EQUAL(add(images, "anywhere", "", &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "FILE@ADDRESS"));
    images_free(images);
    folder_remove(folder);
}

static void test_symbols(void)
{
    static const uint8_t code[64] = {0x90};
    struct elf_file file = plain_file(code, sizeof code, 64);
    static const struct {
        uint64_t address;
        uint64_t size;
        const char *name;
    } expected[] = {{0x201000, 16, "main"},
                    {0x201008, 56, "huge"},
                    {0x201010, 16, "open"},
                    {0x201010, 16, "shut"},
                    {0x201020, 32, "tail"}};
    file.symbols[0].name = "tail";
    file.symbols[0].offset = ELF_FILE_OFFSET + 32;
    file.symbols[1].name = "shut";
    file.symbols[1].offset = ELF_FILE_OFFSET + 16;
    file.symbols[2].name = "open";
    file.symbols[2].offset = ELF_FILE_OFFSET + 16;
    file.symbols[3].name = "main";
    file.symbols[3].offset = ELF_FILE_OFFSET;
    file.symbols[3].size = 16;
    file.symbols[4].name = "main";
    file.symbols[4].offset = ELF_FILE_OFFSET;
    file.symbols[4].size = 16;
    file.symbols[5].name = "data";
    file.symbols[5].offset = ELF_FILE_OFFSET + 64;
    file.symbols[6].name =
        "huge"; /* a wrong size, as in some hand-written code: it is cut at the code's end */
    file.symbols[6].offset = ELF_FILE_OFFSET + 8;
    file.symbols[6].size = UINT32_MAX;
    struct bt_error error = {0};
    struct image_names names;
    folder_make(folder);
    elf_file_write(&file, path_of("program"));
    struct images *images = images_new(NULL);
    CU_ASSERT_EQUAL_FATAL(add(images, "program", "@0x200000", &error), 0);
    CU_ASSERT_EQUAL_FATAL(image_names_read(&names, images_get(images, 0), &error), 0);
    CU_ASSERT_EQUAL_FATAL(names.symbol_count, 5);
    CU_ASSERT_EQUAL(names.line_count, 0);
    for (size_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(names.symbols[i].address, expected[i].address);
        CU_ASSERT_EQUAL(names.symbols[i].size, expected[i].size);
        CU_ASSERT_STRING_EQUAL(names.symbols[i].name, expected[i].name);
    }
    image_names_clear(&names);
    images_free(images);
    folder_remove(folder);
}

/* Corrupt files: any result is valid, if its error code agrees. */
static void test_damage(void)
{
    static const uint8_t code[64] = {0x90};
    static uint8_t whole[16384];
    struct elf_file file = plain_file(code, sizeof code, 64);
    file.symbols[0].name = "main";
    file.symbols[0].offset = ELF_FILE_OFFSET;
    folder_make(folder);
    for (uint64_t seed = 0; seed < 1500; seed++) {
        uint64_t random = random_seed(seed);
        file.bits = seed % 2 ? 32 : 64;
        elf_file_write(&file, path_of("program"));
        FILE *stream = fopen(path_of("program"), "r+b");
        size_t size = fread(whole, 1, sizeof whole, stream);
        size_t flips = 1 + random_below(&random, 6);
        for (size_t i = 0; i < flips; i++) {
            size_t at = random_below(&random, random_one_in(&random, 2) ? 128 : size);
            if (at >= 128 && at < ELF_FILE_OFFSET)
                at = size - 1 - at % 300;
            whole[at] = (uint8_t)(random_one_in(&random, 3) ? 0xff : random_next32(&random));
        }
        rewind(stream);
        fwrite(whole, 1, size, stream);
        fclose(stream);
        struct images *images = images_new(NULL);
        struct bt_error error = {0};
        int result = add(images, "program", "@0x200000", &error);
        CU_ASSERT_EQUAL(result, error.code);
        if (result == 0) {
            struct image_names names;
            result = image_names_read(&names, images_get(images, 0), &error);
            CU_ASSERT_EQUAL(result, error.code);
            if (result == 0)
                image_names_clear(&names);
        }
        images_free(images);
    }
    folder_remove(folder);
}

/* Images of graphs may be at any address. */
static void test_high_addresses(void)
{
    static const uint8_t code[] = {0x90, 0xeb, 0xfd};
    struct elf_file file = plain_file(code, sizeof code, 64);
    struct image_instruction instruction = {.size = 0};
    struct bt_error error = {0};
    folder_make(folder);
    elf_file_write(&file, path_of("program"));
    struct images *images = images_new(NULL);
    CU_ASSERT_EQUAL(images_add_at(images, path_of("program"), 0x7f0000400000, &error), 0);
    CU_ASSERT_EQUAL(images_add_at(images, path_of("program"), 0x7f0000400000, &error), BT_USAGE);
    CU_ASSERT_EQUAL(images_add_at(images, path_of("nothing"), 0x1000, &error), BT_IO);
    folder_remove(folder);
    CU_ASSERT(images_instruction(images, 0x7f0000401001, &instruction));
    CU_ASSERT_EQUAL(instruction.target, 0x7f0000401000);
    images_free(images);
}

static void test_disassembly(void)
{
    static const struct {
        unsigned bits;
        uint8_t size;
        uint8_t code[8];
        const char *intel, *att;
    } rows[] = {
        {64, 3, {0x48, 0x89, 0xc8}, "mov rax, rcx", "mov %rcx, %rax"},
        {64, 2, {0xeb, 0xfe}, "jmp 0x401000", "jmp 0x401000"},
        {64, 3, {0x8b, 0x04, 0x8f}, "mov eax, [rdi+rcx*4]", "mov (%rdi,%rcx,4), %eax"},
        {32, 5, {0xb8, 0x10, 0x00, 0x00, 0x00}, "mov eax, 0x10", "mov $0x10, %eax"},
        {64, 1, {0x06}, NULL, NULL}, /* PUSH ES, of 32 bits only */
        {64, 2, {0xe8, 0x00}, NULL, NULL},
    };
    for (unsigned att = 0; att < 2; att++) {
        struct disassembler *disassembler =
            disassembler_new(att ? DISASSEMBLE_ATT : DISASSEMBLE_INTEL, NULL);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const char *expected = att ? rows[i].att : rows[i].intel;
            struct image_instruction instruction;
            char text[DISASSEMBLE_BYTES];
            const size_t length = disassemble(disassembler, rows[i].bits, rows[i].code,
                                              rows[i].size, 0x401000, &instruction, text);
            CU_ASSERT_EQUAL(length, expected ? strlen(expected) : 0);
            if (length > 0) {
                CU_ASSERT_STRING_EQUAL(text, expected);
                CU_ASSERT_EQUAL(instruction.size, rows[i].size);
            }
        }
        disassembler_free(disassembler);
    }
}

static const struct test_case cases[] = {
    {"kinds of instructions", test_instructions},
    {"addresses of images", test_places},
    {"refused files", test_refusals},
    {"addresses used at different times", test_times},
    {"position-independent code needs an address", test_anywhere_needs_an_address},
    {"symbols", test_symbols},
    {"corrupt files", test_damage},
    {"addresses above 4 GiB", test_high_addresses},
    {"instructions as text", test_disassembly},
    {NULL, NULL}};
TEST_SUITE(image, cases)
