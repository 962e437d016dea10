#define _GNU_SOURCE /* syscall numbers, prctl */
#include "capture/file_list.h"

#include "formats/capture/capture_file.h"
#include "tests/suites.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000ll

static void prefix_in(const char *folder, char prefix[FOLDER_PATH_BYTES + 8])
{
    snprintf(prefix, FOLDER_PATH_BYTES + 8, "%s/p", folder);
}

static struct file_set *make(char folder[FOLDER_PATH_BYTES])
{
    char prefix[FOLDER_PATH_BYTES + 8];
    folder_make(folder);
    prefix_in(folder, prefix);
    struct file_set *set = file_set_new(prefix, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(set);
    return set;
}

static bool there(const char *folder, const char *name)
{
    char path[2 * FOLDER_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* Creates and completes file 1 of the second 1000000000. */
static void put_file(struct file_set *set, struct file_name *name)
{
    int descriptor = file_set_create(set, 1, 1000000000 * SECOND + 5, false, name, NULL);
    CU_ASSERT(descriptor >= 0);
    CU_ASSERT_EQUAL(file_set_complete(set, name, descriptor, NULL), 0);
    close(descriptor);
}

static void test_names(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FILE_SET_PATH_BYTES];
    struct file_set *set = make(folder);
    struct file_name name;
    int descriptor = file_set_create(set, 7, 1000000000 * SECOND + 999999999, false, &name, NULL);
    CU_ASSERT(there(folder, "p_00007_20010909T014640Z.byu.gz.part"));
    CU_ASSERT_FALSE(there(folder, "p_00007_20010909T014640Z.byu.gz"));
    CU_ASSERT_EQUAL(file_set_complete(set, &name, descriptor, NULL), 0);
    CU_ASSERT_FALSE(there(folder, "p_00007_20010909T014640Z.byu.gz.part"));
    CU_ASSERT(there(folder, "p_00007_20010909T014640Z.byu.gz"));
    file_set_path(set, &name, false, path, sizeof path);
    CU_ASSERT_EQUAL(access(path, F_OK), 0);
    struct file_set_file file;
    file_set_identify(&file, &name, descriptor);
    CU_ASSERT_EQUAL(file_set_remove(set, &file, NULL), 0);
    CU_ASSERT_FALSE(there(folder, "p_00007_20010909T014640Z.byu.gz"));
    CU_ASSERT_EQUAL(file_set_remove(set, &file, NULL), 0);
    /* a file of another process */
    fclose(fopen(path, "w"));
    CU_ASSERT_EQUAL(file_set_remove(set, &file, NULL), 0);
    CU_ASSERT(there(folder, "p_00007_20010909T014640Z.byu.gz"));
    close(descriptor);
    file_set_free(set);
    folder_remove(folder);
}

/* Writes a header, with an id of one byte, to a new file of the folder. */
static void write_header(const char *folder, const char *name, uint8_t id, uint32_t number)
{
    char path[2 * FOLDER_PATH_BYTES];
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    struct capture_info info = {.file_number = number, .version = CAPTURE_VERSION_CODED};
    info.id[0] = id;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fwrite(bytes, 1, capture_put_header_member(bytes, &info), file);
    fclose(file);
}

/* A file that was packed is removed under its new name; files of other captures, other files of the
 * same one and files without a header stay. */
static void test_packed(void)
{
    static const char name[] = "p_00001_20010909T014640Z.byu.gz";
    static const char packed[] = "p_00001_20010909T014640Z.byb";
    char folder[FOLDER_PATH_BYTES];
    struct file_set *set = make(folder);
    struct file_set_file *files;
    struct file_set_file other;
    size_t count;
    write_header(folder, name, 7, 1);
    write_header(folder, packed, 7, 1);
    CU_ASSERT_EQUAL(file_list_read(set, &files, &count, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(count, 1); /* both are one */
    CU_ASSERT_FALSE(files[0].name.coded);
    for (int round = 0; round < 3; round++) {
        write_header(folder, packed, round == 0 ? 8 : 7, round == 1 ? 2 : 1);
        CU_ASSERT_EQUAL(file_set_remove(set, &files[0], NULL), 0);
        CU_ASSERT_FALSE(there(folder, name));
        CU_ASSERT_EQUAL(there(folder, packed), round < 2);
    }
    write_header(folder, packed, 0, 1);
    other = files[0];
    memset(other.id, 0, sizeof other.id);
    CU_ASSERT_EQUAL(file_set_remove(set, &other, NULL), 0);
    CU_ASSERT(there(folder, packed));
    free(files);
    file_set_free(set);
    folder_remove(folder);
}

/* The last part of a prefix may be long: file_set_path() returns the real path. */
static void test_long_names(void)
{
    char folder[FOLDER_PATH_BYTES];
    folder_make(folder);
    for (int length = 170; length <= 193; length++) {
        char prefix[FOLDER_PATH_BYTES + 256];
        char path[FILE_SET_PATH_BYTES];
        struct file_name name;
        int used = snprintf(prefix, sizeof prefix, "%s/", folder);
        memset(prefix + used, 'n', (size_t)length);
        prefix[used + length] = '\0';
        struct file_set *set = file_set_new(prefix, NULL);
        CU_ASSERT_EQUAL(set != NULL, length <= 192);
        if (!set)
            continue;
        int descriptor = file_set_create(set, UINT32_MAX, 1000000000 * SECOND, false, &name, NULL);
        file_set_path(set, &name, true, path, sizeof path);
        CU_ASSERT_EQUAL(access(path, F_OK), 0);
        CU_ASSERT_EQUAL(file_set_complete(set, &name, descriptor, NULL), 0);
        close(descriptor);
        file_set_path(set, &name, false, path, sizeof path);
        CU_ASSERT_EQUAL(access(path, F_OK), 0);
        file_set_free(set);
    }
    folder_remove(folder);
}

static void test_taken_names(void)
{
    char folder[FOLDER_PATH_BYTES];
    struct file_set *set = make(folder);
    struct file_name name;
    struct bt_error error;
    put_file(set, &name);
    put_file(set, &name);
    CU_ASSERT_EQUAL(name.second, 1000000001);
    int descriptor = file_set_create(set, 1, 1000000000 * SECOND, false, &name, NULL);
    CU_ASSERT_EQUAL(name.second, 1000000002);
    /* the name is taken while the file is written: nothing is overwritten */
    char path[FILE_SET_PATH_BYTES];
    file_set_path(set, &name, false, path, sizeof path);
    fclose(fopen(path, "w"));
    CU_ASSERT_EQUAL(file_set_complete(set, &name, descriptor, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "File exists"));
    CU_ASSERT(there(folder, "p_00001_20010909T014642Z.byu.gz.part"));
    close(descriptor);
    file_set_free(set);
    folder_remove(folder);
}

/* Makes the kernel answer as without renameat2, or with a file system that does not support it. */
static bool forbid_renameat2(int answer)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_renameat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {.len = sizeof program / sizeof program[0], .filter = program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

enum { GOOD = 0, NO_FILTER = 77 };

/* In a child: a file gets its name unless the name is taken. Returns the failed line, GOOD, or
 * NO_FILTER. */
static int rename_the_old_way(int answer)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FILE_SET_PATH_BYTES];
    struct file_set *set = make(folder);
    struct file_name name;
    struct bt_error error;
    int result = GOOD;
    int descriptor = file_set_create(set, 1, SECOND, false, &name, NULL);
    if (!forbid_renameat2(answer))
        result = NO_FILTER;
    else if (file_set_complete(set, &name, descriptor, NULL) != 0)
        result = 1;
    file_set_path(set, &name, false, path, sizeof path);
    if (result == GOOD && access(path, F_OK) != 0)
        result = 2;
    close(descriptor);
    descriptor = file_set_create(set, 2, SECOND, false, &name, NULL);
    file_set_path(set, &name, false, path, sizeof path);
    fclose(fopen(path, "w"));
    if (result == GOOD && (file_set_complete(set, &name, descriptor, &error) != BT_IO ||
                           !strstr(error.message, "File exists")))
        result = 3;
    close(descriptor);
    file_set_free(set);
    folder_remove(folder);
    return result;
}

static void test_no_renameat2(void)
{
    static const int answers[] = {EINVAL, ENOSYS};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(rename_the_old_way(answers[i]));
        CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
        CU_ASSERT(WIFEXITED(status));
        CU_ASSERT(WEXITSTATUS(status) == GOOD || WEXITSTATUS(status) == NO_FILTER);
    }
}

/* A file that cannot be synced does not get its name. */
static void test_no_sync(void)
{
    char folder[FOLDER_PATH_BYTES];
    struct file_set *set = make(folder);
    struct file_name name;
    struct bt_error error;
    int descriptor = file_set_create(set, 1, SECOND, false, &name, NULL);
    close(descriptor);
    CU_ASSERT_EQUAL(file_set_complete(set, &name, descriptor, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "to the disk"));
    CU_ASSERT(there(folder, "p_00001_19700101T000001Z.byu.gz.part"));
    CU_ASSERT_FALSE(there(folder, "p_00001_19700101T000001Z.byu.gz"));
    file_set_free(set);
    folder_remove(folder);
}

/* Another file replaces a part file: neither is completed or discarded. */
static void test_part_replaced(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FILE_SET_PATH_BYTES];
    struct file_set *set = make(folder);
    struct file_name name;
    struct bt_error error;
    int descriptor = file_set_create(set, 1, SECOND, false, &name, NULL);
    file_set_path(set, &name, true, path, sizeof path);
    CU_ASSERT_EQUAL(unlink(path), 0);
    fclose(fopen(path, "w"));
    CU_ASSERT_EQUAL(file_set_complete(set, &name, descriptor, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "replaced by another file"));
    CU_ASSERT_EQUAL(file_set_discard(set, &name, descriptor, NULL), 0);
    CU_ASSERT(there(folder, "p_00001_19700101T000001Z.byu.gz.part"));
    CU_ASSERT_FALSE(there(folder, "p_00001_19700101T000001Z.byu.gz"));
    close(descriptor);
    file_set_free(set);
    folder_remove(folder);
}

/* A killed capture's lock is not a trace: none of its bytes is a record type. */
static void test_reserve(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 16];
    struct stat status;
    struct file_set *set = make(folder);
    snprintf(path, sizeof path, "%s/.p.lock", folder);
    CU_ASSERT_EQUAL(stat(path, &status), 0);
    CU_ASSERT_EQUAL(status.st_size, 16384);
    FILE *file = fopen(path, "r");
    for (int i = 0; i < 16384; i++)
        CU_ASSERT(fgetc(file) >= '\n');
    fclose(file);
    file_set_release_reserve(set);
    CU_ASSERT_EQUAL(stat(path, &status), 0);
    CU_ASSERT_EQUAL(status.st_size, 32); /* it still names its owner */
    file_set_take_reserve(set);
    file_set_free(set);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    folder_remove(folder);
}

/* Many processes compete for a prefix: at most one has it at any time. */
struct contest {
    char prefix[FOLDER_PATH_BYTES + 8];
    atomic_int holders;
    atomic_int clashes;
    atomic_int won;
};

static void *contend(void *argument)
{
    struct contest *contest = argument;
    for (int i = 0; i < 20000; i++) {
        struct bt_error error;
        struct file_set *set = file_set_new(contest->prefix, &error);
        if (!set) {
            if (error.code != BT_BUSY)
                atomic_fetch_add(&contest->clashes, 1);
            continue;
        }
        if (atomic_fetch_add(&contest->holders, 1) != 0)
            atomic_fetch_add(&contest->clashes, 1);
        atomic_fetch_add(&contest->won, 1);
        sched_yield();
        atomic_fetch_sub(&contest->holders, 1);
        file_set_free(set);
    }
    return NULL;
}

static void test_contest(void)
{
    char folder[FOLDER_PATH_BYTES];
    struct contest contest = {.prefix = ""};
    pthread_t threads[8];
    folder_make(folder);
    prefix_in(folder, contest.prefix);
    for (int i = 0; i < 8; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, contend, &contest), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(contest.clashes, 0);
    CU_ASSERT(contest.won > 0);
    CU_ASSERT_FALSE(there(folder, ".p.lock"));
    folder_remove(folder);
}

static const struct test_case cases[] = {
    {"names and part names", test_names},
    {"files that were packed", test_packed},
    {"long names", test_long_names},
    {"existing files are never overwritten", test_taken_names},
    {"a file system that cannot rename without replacing", test_no_renameat2},
    {"a file that cannot be synced", test_no_sync},
    {"a part file that was replaced", test_part_replaced},
    {"the reserve", test_reserve},
    {"competition for a prefix", test_contest},
    {NULL, NULL}};
TEST_SUITE(file_set, cases)
