/* Reading WET files: doc/wet-file.md. */
#include "formats/wet/wet_file.h"

#include "formats/base/file_io.h"
#include "formats/base/printable.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES ((size_t)1 << 20)

/* --- bytes of the file -------------------------------------------------------------------------
 */

/* Reads what has no offsets, such as a pipe; of what is no WET file, which may be endless, only the
 * start. */
static int read_all(struct wet_file *file, int descriptor, struct bt_error *error)
{
    struct wet_member member;
    struct bt_error unheard;
    size_t capacity = 0;
    for (;;) {
        uint8_t *larger = grow_array(file->bytes, &capacity, (size_t)file->size + READ_BYTES, 1);
        if (!larger)
            return bt_fail(error, BT_MEMORY, "no memory for the file");
        file->bytes = larger;
        const ssize_t count = file_read(descriptor, larger + file->size, READ_BYTES);
        if (count < 0)
            return bt_fail_errno(error, "cannot read");
        if (count == 0)
            return 0;
        file->size += (uint64_t)count;
        if (wet_member_get(&member, file->bytes, (size_t)file->size, &unheard) < 0)
            return 0;
    }
}

/* Bytes of the file, which are in it unless it has become shorter; valid until the next call. */
static int read_bytes(struct wet_file *file, uint64_t offset, size_t size, const uint8_t **bytes,
                      struct bt_error *error)
{
    struct wet_bytes *member = &file->member;
    if (file->bytes) {
        *bytes = file->bytes + offset;
        return 0;
    }
    uint8_t *larger = grow_array(member->bytes, &member->capacity, size + 1, 1);
    if (!larger)
        return bt_fail(error, BT_MEMORY, "no memory for %zu bytes of the file", size);
    member->bytes = larger;
    for (member->size = 0; member->size < size;) {
        const ssize_t count = file_read_at(file->descriptor, larger + member->size,
                                           size - member->size, (off_t)(offset + member->size));
        if (count < 0)
            return bt_fail_errno(error, "cannot read");
        if (count == 0)
            return bt_fail(error, BT_DATA, "the file has become shorter");
        member->size += (size_t)count;
    }
    *bytes = larger;
    return 0;
}

static int open_bytes(struct wet_file *file, const char *path, struct bt_error *error)
{
    struct stat status;
    const bool is_input = strcmp(path, "-") == 0;
    const int descriptor = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return bt_fail_errno(error, "cannot open %.200s", PRINTABLE(path));
    file->descriptor = descriptor;
    file->is_open = !is_input;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        lseek(descriptor, 0, SEEK_CUR) == 0) {
        file->size = (uint64_t)status.st_size;
        return 0;
    }
    const int result = read_all(file, descriptor, error);
    return result < 0
               ? bt_fail_within(error, "%.200s", is_input ? "standard input" : PRINTABLE(path))
               : 0;
}

/* --- members -----------------------------------------------------------------------------------
 */

/* Reads the header of the member at an offset, which is whole. 1; 0: the file is cut off there; or
 * a negative code. */
static int find_member(struct wet_file *file, uint64_t offset, struct wet_member *member,
                       struct bt_error *error)
{
    const uint64_t left = file->size - offset;
    const size_t size = left < WET_MEMBER_HEADER_BYTES ? (size_t)left : WET_MEMBER_HEADER_BYTES;
    const uint8_t *bytes;
    int result = read_bytes(file, offset, size, &bytes, error);
    if (result == 0 && offset == 0)
        file->is_wet = size > 0 && wet_member_begins(bytes, size);
    if (result == 0)
        result = wet_member_get(member, bytes, size, error);
    if (result == 1 && member->member_bytes > left)
        return 0;
    return result;
}

/* Reads the content of the member at an offset. */
static int read_content(struct wet_file *file, const struct wet_member *member, uint64_t offset,
                        struct bt_error *error)
{
    const uint8_t *bytes;
    const int result = read_bytes(file, offset, member->member_bytes, &bytes, error);
    return result < 0 ? result
                      : wet_member_content(member, file->decoder, bytes, &file->content, error);
}

static int get_header(struct wet_file *file, struct bt_error *error)
{
    struct wet_cursor from = wet_cursor_of(&file->content);
    file->header.has_values = wet_cursor_get(&from) != 0;
    const uint64_t size = wet_cursor_get(&from);
    if (from.failed || size >= WET_COMMAND_BYTES || size > (size_t)(from.end - from.at) ||
        memchr(from.at, 0, (size_t)size))
        return bt_fail(error, BT_DATA, "the header is damaged");
    memcpy(file->header.command, from.at, (size_t)size);
    return 0;
}

static int get_fault(struct wet_file *file, struct wet_cursor *from)
{
    struct wet_instruction *fault = &file->closing.fault;
    fault->address = wet_cursor_get(from);
    const uint64_t function = wet_cursor_get(from), source = wet_cursor_get(from);
    const uint64_t line = wet_cursor_get(from), size = wet_cursor_get(from);
    if (function >= file->code.function_count || source >= file->code.file_count ||
        line > UINT32_MAX || size > WET_INSTRUCTION_BYTES || size > (size_t)(from->end - from->at))
        return BT_DATA;
    fault->function = (uint32_t)function;
    fault->file = (uint32_t)source;
    fault->line = (uint32_t)line;
    fault->size = (uint8_t)size;
    memcpy(fault->bytes, from->at, (size_t)size);
    return 0;
}

static int get_closing(struct wet_file *file, struct bt_error *error)
{
    struct wet_closing *closing = &file->closing;
    struct wet_cursor from = wet_cursor_of(&file->content);
    const uint64_t ending = wet_cursor_get(&from);
    closing->ending = (enum wet_ending)ending;
    closing->value = (uint32_t)wet_cursor_get(&from);
    closing->thread = (uint32_t)wet_cursor_get(&from);
    closing->instructions = wet_cursor_get(&from);
    closing->blocks = wet_cursor_get(&from);
    closing->unknown_calls = wet_cursor_get(&from);
    closing->has_fault = wet_cursor_get(&from) != 0;
    if (from.failed || ending > WET_FAILED || closing->thread >= WET_THREADS ||
        (closing->has_fault && get_fault(file, &from) < 0))
        return bt_fail(error, BT_DATA, "the closing member is damaged");
    file->is_closed = true;
    return 0;
}

/* Remembers the chunk at an offset, which the code read last belongs to. */
static int add_place(struct wet_file *file, const struct wet_member *member, uint64_t offset,
                     struct bt_error *error)
{
    const struct wet_code *code = &file->code;
    struct wet_place place = {.offset = offset,
                              .first = member->first,
                              .instructions = member->instructions,
                              .block_count = code->block_count,
                              .instruction_count = code->instruction_count};
    struct wet_place *larger =
        grow_array(file->places, &file->place_capacity, file->place_count + 1, sizeof *larger);
    if (!larger)
        return bt_fail(error, BT_MEMORY, "no memory for the file's chunks");
    file->places = larger;
    if (wet_code_take_executions(&file->code, &place.executions, &place.execution_count) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the file's chunks");
    larger[file->place_count++] = place;
    return 0;
}

/* Reads the member at an offset, or remembers it. *has_code: code without its chunk was read. */
static int take_member(struct wet_file *file, const struct wet_member *member, uint64_t offset,
                       bool *has_code, struct bt_error *error)
{
    int result = 0;
    if (member->kind == WET_MEMBER_CHUNK) {
        if (!*has_code)
            return bt_fail(error, BT_DATA, "a chunk comes without its code");
        *has_code = false;
        return add_place(file, member, offset, error);
    }
    result = read_content(file, member, offset, error);
    if (result == 0 && member->kind == WET_MEMBER_CODE) {
        result = *has_code ? bt_fail(error, BT_DATA, "code comes without its chunk")
                           : wet_code_get(&file->code, &file->content, error);
        *has_code = true;
    } else if (result == 0 && member->kind == WET_MEMBER_CLOSING) {
        result = get_closing(file, error);
    } else if (result == 0) {
        result = bt_fail(error, BT_DATA, "a second header is in the middle of the file");
    }
    return result;
}

/* What is wrong at the offset ends what can be read; other failures are the caller's. */
static int stop_reading(struct wet_file *file, uint64_t offset, struct bt_error *error)
{
    *error = file->cut;
    if (file->cut.code != BT_DATA)
        return file->cut.code;
    bt_fail_within(&file->cut, "at byte %llu", (unsigned long long)offset);
    file->is_cut = true;
    return 0;
}

static int read_first(struct wet_file *file, struct wet_member *member, struct bt_error *error)
{
    int result = find_member(file, 0, member, error);
    if (result == 1 && member->kind == WET_MEMBER_HEADER)
        result = read_content(file, member, 0, error);
    else if (result >= 0)
        result = BT_DATA;
    if (result == BT_DATA)
        return bt_fail(error, BT_DATA, "it is no WET file, or not even its header is whole");
    return result < 0 ? result : get_header(file, error);
}

static int read_members(struct wet_file *file, struct bt_error *error)
{
    struct wet_member member;
    bool has_code = false;
    uint64_t offset = 0;
    int result = read_first(file, &member, error);
    while (result == 0) {
        offset += member.member_bytes;
        file->end = offset;
        if (offset == file->size)
            break;
        if (file->is_closed) {
            bt_fail(&file->cut, BT_DATA, "there are bytes after the end");
            return stop_reading(file, offset, error);
        }
        result = find_member(file, offset, &member, &file->cut);
        if (result == 0)
            result = bt_fail(&file->cut, BT_DATA, "the file ends in the middle of a member");
        if (result == 1)
            result = take_member(file, &member, offset, &has_code, &file->cut);
        if (result < 0)
            return stop_reading(file, offset, error);
    }
    return result;
}

/* --- interface ---------------------------------------------------------------------------------
 */

int wet_file_open(struct wet_file *file, const char *path, struct bt_error *error)
{
    *file = (struct wet_file){.bytes = NULL};
    if (wet_code_init(&file->code) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's code");
    file->decoder = deflate_decoder_new(error);
    int result = file->decoder ? open_bytes(file, path, error) : error->code;
    if (result == 0) {
        result = read_members(file, error);
        if (result < 0)
            bt_fail_within(error, "%.200s",
                           strcmp(path, "-") == 0 ? "standard input" : PRINTABLE(path));
    }
    return result;
}

void wet_file_close(struct wet_file *file)
{
    if (file->is_borrowed)
        return;
    for (size_t i = 0; i < file->place_count; i++)
        free(file->places[i].executions);
    free(file->places);
    wet_code_clear(&file->code);
    deflate_decoder_free(file->decoder);
    free(file->content.bytes);
    free(file->member.bytes);
    free(file->bytes);
    if (file->is_open)
        close(file->descriptor);
    *file = (struct wet_file){.bytes = NULL};
}

void wet_file_borrow(struct wet_file *file, const struct wet_code *code, struct wet_place *places,
                     size_t count)
{
    *file = (struct wet_file){
        .code = *code, .places = places, .place_count = count, .is_borrowed = true};
}

int wet_file_chunk(struct wet_file *file, size_t number, struct wet_chunk *chunk,
                   struct bt_error *error)
{
    if (file->places[number].chunk)
        return wet_chunk_copy(chunk, file->places[number].chunk) == 0
                   ? 0
                   : bt_fail(error, BT_MEMORY, "no memory for a chunk of the trace");
    const uint64_t offset = file->places[number].offset;
    struct wet_member member;
    int result = find_member(file, offset, &member, error);
    if (result == 0)
        result = bt_fail(error, BT_DATA, "the file has become shorter");
    if (result == 1)
        result = read_content(file, &member, offset, error);
    if (result == 0)
        result = wet_chunk_get(chunk, &file->content, error);
    if (result < 0)
        return bt_fail_within(error, "chunk %zu, at byte %llu", number + 1,
                              (unsigned long long)offset);
    return 0;
}
