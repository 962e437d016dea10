#define _GNU_SOURCE /* mkdtemp() */
#include "capture/exec/store/store_file.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[256];

static char *in(const char *name)
{
    static char path[4][512];
    static unsigned next;
    char *made = path[next++ % 4];
    snprintf(made, sizeof path[0], "%s/%s", base, name);
    return made;
}

static void begin(void)
{
    const char *folder = getenv("TMPDIR");
    snprintf(base, sizeof base, "%s/store_file_XXXXXX", folder ? folder : "/tmp");
    CU_ASSERT_FATAL(mkdtemp(base) != NULL);
}

static void end(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    CU_ASSERT(system(command) == 0);
}

static bool has(struct store_file *file, uint64_t key)
{
    size_t size;
    return block_store_find(store_file_blocks(file), key, &size);
}

/* Opens the store, adds a record and saves it. Returns whether it was there before. */
static bool use(const char *folder, const char *owner, uint64_t key)
{
    static const struct block_store_part part = {"translation", 11};
    struct store_file *file = store_file_open(folder, owner, NULL);
    if (!file)
        return false;
    const bool found = has(file, key);
    if (!found)
        block_store_add(store_file_blocks(file), key, &part, 1);
    CU_ASSERT_EQUAL(store_file_save(file, NULL), 0);
    store_file_free(file);
    return found;
}

/* The number of files in the folder; the last of them in `name`. */
static unsigned files(char name[512])
{
    char command[600];
    unsigned count = 0;
    snprintf(command, sizeof command, "find '%s' -type f", base);
    FILE *list = popen(command, "r");
    char line[512];
    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        strcpy(name, line);
        count++;
    }
    pclose(list);
    return count;
}

static void test_kept(void)
{
    char name[512];
    struct stat status;
    begin();
    CU_ASSERT_FALSE(use(in("cache"), "a", 1));
    CU_ASSERT(use(in("cache"), "a", 1));
    CU_ASSERT_FALSE(use(in("cache"), "b", 1));
    CU_ASSERT(use(in("cache"), "a", 1));
    CU_ASSERT_EQUAL(files(name), 2);
    CU_ASSERT(stat(name, &status) == 0 && (status.st_mode & 0777) == 0600);
    CU_ASSERT(stat(in("cache/bustap"), &status) == 0 && (status.st_mode & 0777) == 0700);
    CU_ASSERT_FALSE(use("relative", "a", 1));
    CU_ASSERT_FALSE(use(in("no/such/folder"), "a", 1));
    end();
}

static void expect_refusal(const char *folder, const char *reason)
{
    struct bt_error refusal = {.code = 0};
    CU_ASSERT_PTR_NULL(store_file_open(folder, "a", &refusal));
    CU_ASSERT(strstr(refusal.message, reason) && strstr(refusal.message, "--no-cache"));
}

static void test_refused(void)
{
    begin();
    mkdir(in("open"), 0700);
    mkdir(in("open/bustap"), 0700);
    chmod(in("open/bustap"), 0770);
    expect_refusal(in("open"), "others may write");
    mkdir(in("linked"), 0700);
    CU_ASSERT(symlink(in("open/bustap"), in("linked/bustap")) == 0);
    expect_refusal(in("linked"), "is not a folder");
    expect_refusal(in("no/such/place"), "/no/such/place/bustap cannot be used: No such file");
    end();
}

/* The reason why translations that were made are not kept. */
static void test_not_saved(void)
{
    static const struct block_store_part part = {"translation", 11};
    struct bt_error error = {.code = 0};
    char name[512];
    begin();
    struct store_file *file = store_file_open(in("cache"), "a", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    block_store_add(store_file_blocks(file), 1, &part, 1);
    rename(in("cache"), in("moved"));
    CU_ASSERT(store_file_save(file, &error) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/cache/bustap cannot be used: No such file"));
    rename(in("moved"), in("cache"));
    chmod(in("cache/bustap"), 0500);
    if (geteuid() != 0) {
        CU_ASSERT(store_file_save(file, &error) < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no new translations are kept in "));
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/cache/bustap: Permission denied"));
    }
    chmod(in("cache/bustap"), 0700);
    CU_ASSERT_EQUAL(files(name), 0);
    CU_ASSERT_EQUAL(store_file_save(file, &error), 0);
    CU_ASSERT_EQUAL(files(name), 1);
    store_file_free(file);
    end();
}

/* A file that others may write to, a link, and any bytes are not used, and replaced. */
static void test_replaced(void)
{
    char name[512], command[1100];
    begin();
    use(in("cache"), "a", 1);
    CU_ASSERT_EQUAL(files(name), 1);
    chmod(name, 0666);
    CU_ASSERT_FALSE(use(in("cache"), "a", 1));
    CU_ASSERT(use(in("cache"), "a", 1));
    rename(name, in("moved"));
    CU_ASSERT(symlink(in("moved"), name) == 0);
    CU_ASSERT_FALSE(use(in("cache"), "a", 1));
    CU_ASSERT(use(in("cache"), "a", 1));
    snprintf(command, sizeof command, "printf junk >'%s'", name);
    CU_ASSERT(system(command) == 0);
    CU_ASSERT_FALSE(use(in("cache"), "a", 1));
    CU_ASSERT(use(in("cache"), "a", 1));
    snprintf(command, sizeof command, "rm '%s'; mkfifo '%s'", name, name);
    CU_ASSERT(system(command) == 0);
    CU_ASSERT_FALSE(use(in("cache"), "a", 1));
    CU_ASSERT(use(in("cache"), "a", 1));
    end();
}

/* A file that is cut off while it is used does not end the program. */
static void test_cut_off(void)
{
    char name[512];
    begin();
    use(in("cache"), "a", 1);
    CU_ASSERT_EQUAL(files(name), 1);
    struct store_file *file = store_file_open(in("cache"), "a", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(truncate(name, 0), 0);
    CU_ASSERT(has(file, 1));
    store_file_free(file);
    CU_ASSERT_FALSE(use(in("cache"), "a", 1));
    CU_ASSERT(use(in("cache"), "a", 1));
    end();
}

static void test_file_size_limit(void)
{
    char name[512];
    struct rlimit before;
    begin();
    CU_ASSERT(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const struct rlimit small = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
    CU_ASSERT(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CU_ASSERT_FALSE(use(in("cache"), "a", 1));
    CU_ASSERT(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CU_ASSERT_EQUAL(files(name), 0);
    end();
}

/* Files used least recently go first; temporary ones of killed processes after a day. */
static void test_pruned(void)
{
    char name[512], command[1100];
    begin();
    use(in("cache"), "a", 1);
    snprintf(
        command, sizeof command,
        "cd '%s/cache/bustap' && truncate -s 300M 1.blocks && touch -d '3 days ago' 1.blocks && "
        "truncate -s 300M 2.blocks && touch -d '2 days ago' 2.blocks && touch -d '2 days ago' "
        "new-1-1 && touch new-2-2 && echo >other",
        base);
    CU_ASSERT(system(command) == 0);
    use(in("cache"), "b", 1);
    CU_ASSERT_EQUAL(access(in("cache/bustap/1.blocks"), F_OK), -1);
    CU_ASSERT_EQUAL(access(in("cache/bustap/2.blocks"), F_OK), 0);
    CU_ASSERT_EQUAL(access(in("cache/bustap/new-1-1"), F_OK), -1);
    CU_ASSERT_EQUAL(files(name), 5);
    end();
}

/* What is no file is in nobody's way, and temporary files that are removed cost no other file. */
static void test_pruned_exactly(void)
{
    char command[1100];
    begin();
    use(in("cache"), "a", 1);
    snprintf(
        command, sizeof command,
        "cd '%s/cache/bustap' && truncate -s 300M 1.blocks && touch -d '3 days ago' 1.blocks && "
        "truncate -s 300M new-1-1 && touch -d '2 days ago' new-1-1",
        base);
    CU_ASSERT(system(command) == 0);
    use(in("cache"), "b", 1);
    CU_ASSERT_EQUAL(access(in("cache/bustap/1.blocks"), F_OK), 0);
    CU_ASSERT_EQUAL(access(in("cache/bustap/new-1-1"), F_OK), -1);
    snprintf(command, sizeof command,
             "cd '%s/cache/bustap' && mkdir 0.blocks && touch -d '9 days ago' 0.blocks && "
             "truncate -s 600M 1.blocks && touch -d '3 days ago' 1.blocks",
             base);
    CU_ASSERT(system(command) == 0);
    use(in("cache"), "c", 1);
    CU_ASSERT_EQUAL(access(in("cache/bustap/1.blocks"), F_OK), -1);
    end();
}

static const struct test_case cases[] = {
    {"translations are kept for an owner", test_kept},
    {"folders of others are refused", test_refused},
    {"translations that cannot be kept", test_not_saved},
    {"unusable files are replaced", test_replaced},
    {"a file is cut off while it is used", test_cut_off},
    {"nothing is written under a limit of file sizes", test_file_size_limit},
    {"the oldest files are removed", test_pruned},
    {"only files are counted and removed", test_pruned_exactly},
    {NULL, NULL}};
TEST_SUITE(store_file, cases)
