#include "host/pack_candidates.h"

#include "capture/file_list.h"
#include "formats/base/grow.h"
#include "formats/capture/capture_name.h"
#include "formats/capture/capture_peek.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS 1000000000ll

static bool same_file(const struct file_set_file *a, const struct file_set_file *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static bool is_among(const struct file_set_file *files, size_t count,
                     const struct file_set_file *file)
{
    for (size_t i = 0; i < count; i++)
        if (same_file(&files[i], file))
            return true;
    return false;
}

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* Whether the records of the file that is open are not coded as `bustap pack` does at that level or
 * a higher one. A file without records has nothing to be coded. */
static bool can_be_packed(int descriptor, int level)
{
    struct capture_member header;
    struct capture_member data;
    return capture_peek_header(descriptor, &header) &&
           capture_peek_data(descriptor, &header, &data) &&
           (data.version != CAPTURE_VERSION_CODED || data.codec != RECORD_CODEC_COLUMNS ||
            data.level < level);
}

void pack_passed_free(struct pack_passed *passed)
{
    free(passed->files);
    *passed = (struct pack_passed){.files = NULL};
}

int pack_passed_add(struct pack_passed *passed, const char *path, int level, struct bt_error *error)
{
    const int descriptor = open_file(path);
    struct file_set_file file;
    if (descriptor < 0)
        return 0; /* it is gone */
    file_set_identify(&file, &(struct file_name){.number = 0}, descriptor);
    const bool wanted = can_be_packed(descriptor, level);
    close(descriptor);
    if (!wanted)
        return 0;
    struct file_set_file *grown =
        grow_array(passed->files, &passed->capacity, passed->count + 1, sizeof *grown);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for a list of %zu files", passed->count);
    passed->files = grown;
    grown[passed->count++] = file;
    return 0;
}

void pack_list_free(struct pack_list *list)
{
    free(list->files);
    *list = (struct pack_list){.files = NULL};
}

int pack_list_read(struct pack_list *list, const char *prefix, struct pack_passed *passed,
                   struct bt_error *error)
{
    size_t kept = 0;
    pack_list_free(list);
    const int result = file_list_find(prefix, &list->files, &list->count, error);
    if (result < 0) {
        list->count = 0;
        return result;
    }
    for (size_t i = 0; i < passed->count; i++)
        if (is_among(list->files, list->count, &passed->files[i]))
            passed->files[kept++] = passed->files[i];
    passed->count = kept;
    return 0;
}

static void put_path(char path[FILE_SET_PATH_BYTES], const char *prefix,
                     const struct file_name *name, bool coded)
{
    char ending[CAPTURE_NAME_ENDING_BYTES];
    capture_name_put(ending, &(struct capture_name){
                                 .number = name->number, .coded = coded, .second = name->second});
    snprintf(path, FILE_SET_PATH_BYTES, "%.*s%s",
             (int)(FILE_SET_PATH_BYTES - CAPTURE_NAME_ENDING_BYTES), prefix, ending);
}

/* Sets `left`. 0, or BT_IO: the name of the packed form belongs to another file. */
static int look_at_name(struct pack_candidate *candidate, const struct file_set_file *file,
                        struct bt_error *error)
{
    struct capture_member header;
    struct stat there;
    candidate->left = false;
    if (file->name.coded || lstat(candidate->packed, &there) != 0)
        return 0;
    const int descriptor = S_ISREG(there.st_mode) ? open_file(candidate->packed) : -1;
    candidate->left = descriptor >= 0 && capture_peek_header(descriptor, &header) &&
                      header.info.file_number == file->name.number &&
                      memcmp(header.info.id, file->id, sizeof file->id) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return candidate->left ? 0
                           : bt_fail(error, BT_IO,
                                     "%s cannot be packed: another file has the name %s; move it "
                                     "away",
                                     candidate->path, candidate->packed);
}

int pack_list_next(struct pack_list *list, const char *prefix, const struct pack_passed *passed,
                   int level, int64_t after_ns, int64_t now_ns, struct pack_candidate *candidate,
                   int64_t *due_ns, struct bt_error *error)
{
    while (list->next < list->count) {
        const struct file_set_file *file = &list->files[list->next++];
        struct stat status;
        put_path(candidate->path, prefix, &file->name, file->name.coded);
        put_path(candidate->packed, prefix, &file->name, true);
        if (is_among(passed->files, passed->count, file))
            continue;
        const int descriptor = open_file(candidate->path);
        if (descriptor < 0)
            continue; /* the ring has removed it */
        const bool wanted = fstat(descriptor, &status) == 0 && can_be_packed(descriptor, level);
        close(descriptor);
        if (!wanted)
            continue;
        const int64_t old_enough_ns =
            status.st_mtim.tv_sec * SECOND_NS + status.st_mtim.tv_nsec + after_ns;
        candidate->bytes = (uint64_t)status.st_size;
        if (old_enough_ns <= now_ns)
            return look_at_name(candidate, file, error) < 0 ? error->code : 1;
        *due_ns = old_enough_ns < *due_ns ? old_enough_ns : *due_ns;
    }
    return 0;
}
