/* Which programs a command knows: those given, or those of the lists beside captures. */
#include "tools/symbols/module_lists.h"

#include "tests/suites.h"
#include "tests/support/elf_file.h"
#include "tests/support/folder.h"

#include <stdlib.h>
#include <string.h>

static char folder[FOLDER_PATH_BYTES];

static char *path_of(char path[FOLDER_PATH_BYTES + 64], const char *name)
{
    snprintf(path, FOLDER_PATH_BYTES + 64, "%s/%s", folder, name);
    return path;
}

/* A list of programs in the folder: "A@0x1000 B@0x2000". */
static void make_list(const char *name, const char *programs)
{
    char path[FOLDER_PATH_BYTES + 64], words[200];
    FILE *file = fopen(path_of(path, name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    snprintf(words, sizeof words, "%s", programs);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        fprintf(file, "%s/%s\n", folder, word);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void set_up(void)
{
    static const uint8_t code[4096] = {0xc3};
    char path[FOLDER_PATH_BYTES + 64];
    const struct elf_file file = {
        .bits = 64, .anywhere = true, .code = code, .code_size = sizeof code};
    folder_make(folder);
    elf_file_write(&file, path_of(path, "one"));
    elf_file_write(&file, path_of(path, "two"));
    make_list("a.modules", "one@0x10000000 two@0x20000000");
    make_list("b.modules", "two@0x20000000 one@0x30000000"); /* two is the same program */
    make_list("c.modules", "one@0x20000000");                /* where a has another one */
}

/* The programs, "one@10000000 ...", of settings and captures "a b". */
static const char *programs_of(const struct module_settings *settings, const char *captures)
{
    static char text[400];
    static char paths[4][FOLDER_PATH_BYTES + 64];
    char words[40], *list[4];
    struct module_captures beside = {.paths = list};
    struct module_lists *lists;
    struct bt_error error = {0};
    snprintf(words, sizeof words, "%s", captures);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "), beside.count++)
        list[beside.count] = path_of(paths[beside.count], word);
    *text = '\0';
    if (module_lists_new(&lists, settings, &beside, &error) < 0) {
        CU_ASSERT_PTR_NULL(lists);
        return error.message[0] ? "error" : "error without a message";
    }
    for (size_t i = 0; i < module_lists_count(lists); i++) {
        const struct image *image = module_lists_get(lists, i);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s@%llx", i ? " " : "",
                 strrchr(image->path, '/') + 1, (unsigned long long)image->memory_address);
    }
    module_lists_free(lists);
    return text;
}

static void test_beside(void)
{
    const struct module_settings none = {.image_count = 0};
    set_up();
    CU_ASSERT_FALSE(module_settings_given(&none));
    CU_ASSERT_STRING_EQUAL(programs_of(&none, "a"), "one@10000000 two@20000000");
    CU_ASSERT_STRING_EQUAL(programs_of(&none, "a_00001_20261126T042907Z.byu.gz a"),
                           "one@10000000 two@20000000");
    CU_ASSERT_STRING_EQUAL(programs_of(&none, "a b"), "one@10000000 two@20000000 one@30000000");
    CU_ASSERT_STRING_EQUAL(programs_of(&none, "a c"), "one@10000000 two@20000000 one@20000000");
    CU_ASSERT_STRING_EQUAL(programs_of(&none, "none"), "");
    CU_ASSERT_STRING_EQUAL(programs_of(&none, ""), "");
    folder_remove(folder);
}

/* What is given replaces the lists beside captures. */
static void test_given(void)
{
    struct module_settings settings = {.image_count = 0};
    struct bt_error error;
    char image[FOLDER_PATH_BYTES + 64], list[FOLDER_PATH_BYTES + 64];
    set_up();
    CU_ASSERT_EQUAL(module_settings_take_image(&settings, path_of(image, "two@0x50000000"), &error),
                    0);
    CU_ASSERT_TRUE(module_settings_given(&settings));
    CU_ASSERT_STRING_EQUAL(programs_of(&settings, "a"), "two@50000000");
    CU_ASSERT_EQUAL(module_settings_take_list(&settings, path_of(list, "c.modules"), &error), 0);
    CU_ASSERT_STRING_EQUAL(programs_of(&settings, "a"), "two@50000000 one@20000000");
    CU_ASSERT_EQUAL(module_settings_take_list(&settings, "", &error), BT_USAGE);
    CU_ASSERT_EQUAL(module_settings_take_list(&settings, path_of(list, "none.modules"), &error), 0);
    CU_ASSERT_STRING_EQUAL(programs_of(&settings, "a"), "error");
    for (unsigned i = settings.image_count; i < IMAGE_COUNT_MAX; i++)
        CU_ASSERT_EQUAL(module_settings_take_image(&settings, image, &error), 0);
    CU_ASSERT_EQUAL(module_settings_take_image(&settings, image, &error), BT_USAGE);
    folder_remove(folder);
}

static const struct test_case cases[] = {
    {"lists beside captures", test_beside}, {"programs given", test_given}, {NULL, NULL}};
TEST_SUITE(module_lists, cases)
