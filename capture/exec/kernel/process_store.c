#define _GNU_SOURCE /* dl_iterate_phdr() */
/* The translations of a process on disk (capture/exec/store). */
#include "capture/exec/kernel/process_state.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/store/store_file.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define NOTES_BYTES  4096u /* of a segment of notes that is searched */
#define ID_BYTES     32u   /* of a build id; longer ones are cut */
#define PAGES        (SPACE_END / SPACE_PAGE)
#define PAGE_UNKNOWN UINT64_MAX

struct process_store {
    struct store_file *file;
    uint64_t page; /* the page asked for last, and the answer at that number of changes */
    unsigned changes;
    bool answer;
    uint8_t changed[PAGES / 8]; /* a bit for each page whose code has changed */
};

/* --- the owner of a store --------------------------------------------------------------------- */

/* Finds the GNU build id in notes, and appends it to a text of `size` bytes in hexadecimal. */
static bool append_build_id(char *text, size_t size, const uint8_t *notes, size_t bytes)
{
    ElfW(Nhdr) note;
    while (bytes >= sizeof note) {
        memcpy(&note, notes, sizeof note);
        const size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        const size_t whole = sizeof note + name + (((size_t)note.n_descsz + 3) & ~(size_t)3);
        if (whole > bytes)
            return false;
        const uint8_t *id = notes + sizeof note + name;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + sizeof note, "GNU", 4) == 0 && note.n_descsz > 0) {
            size_t length = strlen(text);
            for (size_t i = 0; i < note.n_descsz && i < ID_BYTES && length + 3 < size; i++)
                length += (size_t)snprintf(text + length, size - length, "%02x", id[i]);
            return true;
        }
        notes += whole;
        bytes -= whole;
    }
    return false;
}

struct owner {
    char *text;
    size_t size;
    bool found;
};

/* For dl_iterate_phdr(): the first object is the executable of bustap. */
static int append_own_id(struct dl_phdr_info *info, size_t size, void *context)
{
    struct owner *owner = context;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum && !owner->found; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            owner->found = append_build_id(
                owner->text, owner->size,
                (const uint8_t *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                info->dlpi_phdr[i].p_memsz);
    return 1;
}

/* The build id of the program, or what identifies its file. */
static bool append_program(const struct process *process, char *text, size_t size)
{
    const struct loaded_image *image = &process->load->program;
    struct stat status;
    for (uint32_t i = 0; image->table && i < image->table_entries; i++) {
        ElfW(Phdr) segment;
        uint8_t notes[NOTES_BYTES];
        if (program_read(process->space, &segment, image->table + i * sizeof segment,
                         sizeof segment) != 0)
            break;
        const size_t bytes = segment.p_memsz < sizeof notes ? segment.p_memsz : sizeof notes;
        if (segment.p_type == PT_NOTE &&
            program_read(process->space, notes, image->bias + segment.p_vaddr, bytes) == 0 &&
            append_build_id(text, size, notes, bytes))
            return true;
    }
    if (stat(process->load->path, &status) != 0)
        return false;
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "file %jx %jx %jx %jx.%lx", (uintmax_t)status.st_dev,
             (uintmax_t)status.st_ino, (uintmax_t)status.st_size, (uintmax_t)status.st_mtime,
             (unsigned long)status.st_mtim.tv_nsec);
    return true;
}

/* All that translations depend on besides addresses, bytes and the kind of the trace. False: it is
 * not known. */
static bool name_owner(const struct process *process, char *text, size_t size)
{
    struct owner owner = {.text = text, .size = size};
    text[0] = '\0';
    dl_iterate_phdr(append_own_id, &owner);
    if (!owner.found)
        return false;
    const size_t length = strlen(text);
    snprintf(text + length, size - length, " zydis %" PRIx64 " avx %d%d%d program ",
             ZydisGetVersion(), __builtin_cpu_supports("avx") != 0,
             __builtin_cpu_supports("avx2") != 0, __builtin_cpu_supports("avx512f") != 0);
    return append_program(process, text, size);
}

/* --- use -------------------------------------------------------------------------------------- */

static bool is_changed(const struct process_store *store, uint64_t page)
{
    return store->changed[page / 8] >> page % 8 & 1;
}

/* Code of a file that is mapped privately and cannot be written to, and was not changed. */
static bool is_stored(struct process *process, uint64_t page)
{
    struct space_mapping mapping;
    return !is_changed(process->store, page) &&
           space_find(process->space, page * SPACE_PAGE, &mapping) &&
           !(mapping.protection & PROT_WRITE) &&
           !(mapping.flags & (SPACE_SHARED | SPACE_HEAP | SPACE_STACK)) &&
           modules_find(process->modules, page * SPACE_PAGE);
}

/* Whether a block may end in this page: its code does not change unseen, and has not changed. */
static bool may_end_in(struct process *process, uint64_t page)
{
    struct space_mapping mapping;
    return !is_changed(process->store, page) &&
           (!space_find(process->space, page * SPACE_PAGE, &mapping) ||
            !(mapping.flags & SPACE_SHARED));
}

/* An exec_stored_function. */
static bool stored(void *context, uint64_t address)
{
    struct process *process = context;
    struct process_store *store = process->store;
    const uint64_t page = address / SPACE_PAGE;
    const unsigned changes = space_changes(process->space);
    if (page != store->page || changes != store->changes) {
        store->page = page;
        store->changes = changes;
        store->answer =
            page + 1 < PAGES && is_stored(process, page) && may_end_in(process, page + 1);
    }
    return store->answer;
}

void process_store_open(struct process *process)
{
    char owner[BLOCK_STORE_OWNER_BYTES];
    struct bt_error refusal = {.code = 0};
    struct process_store *store = calloc(1, sizeof *store);
    if (store && name_owner(process, owner, sizeof owner))
        store->file = store_file_open(NULL, owner, &refusal);
    if (!store || !store->file) {
        snprintf(process->store_refusal, sizeof process->store_refusal, "%s", refusal.message);
        free(store);
        return;
    }
    store->page = PAGE_UNKNOWN;
    process->store = store;
    executor_use_store(process->executor, store_file_blocks(store->file), stored);
}

const char *process_store_refusal(const struct process *process)
{
    return process->store_refusal[0] && !process->is_child ? process->store_refusal : NULL;
}

void process_store_changed(struct process *process, uint64_t start, uint64_t end)
{
    struct process_store *store = process->store;
    if (!store)
        return;
    store->page = PAGE_UNKNOWN;
    for (uint64_t page = start / SPACE_PAGE; page < PAGES && page * SPACE_PAGE < end; page++)
        store->changed[page / 8] |= (uint8_t)(1u << page % 8);
}

void process_store_save(struct process *process)
{
    struct bt_error refusal = {.code = 0};
    if (process->store && !process->is_child && store_file_save(process->store->file, &refusal) < 0)
        snprintf(process->store_refusal, sizeof process->store_refusal, "%s", refusal.message);
}

void process_store_free(struct process *process)
{
    if (process->store)
        store_file_free(process->store->file);
    free(process->store);
    process->store = NULL;
}
