#include "capture/exec/memory/program_image.h"

#include "capture/exec/memory/space_table.h"
#include "formats/base/bytes.h"
#include "formats/base/power.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT_MAX ((uint64_t)1 << 30)

static const struct {
    uint16_t machine;
    const char *name;
} machines[] = {
    {EM_386, "32-bit x86"}, {EM_AARCH64, "ARM64"}, {EM_ARM, "ARM"},   {EM_RISCV, "RISC-V"},
    {EM_PPC64, "PowerPC"},  {EM_PPC, "PowerPC"},   {EM_S390, "s390"}, {EM_MIPS, "MIPS"},
    {EM_IA_64, "Itanium"},  {EM_SPARCV9, "SPARC"}, {EM_68K, "m68k"},
};

static const char *machine_name(uint16_t machine)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == machine)
            return machines[i].name;
    return "another processor";
}

static int check_kind(const uint8_t *bytes, size_t size, struct bt_error *error)
{
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return bt_fail(error, BT_USAGE,
                       "is neither an ELF program nor a script that begins with #!");
    if (size < PROGRAM_HEADER_BYTES)
        return bt_fail(error, BT_DATA, "is truncated within its first %d bytes",
                       PROGRAM_HEADER_BYTES);
    uint16_t machine = bytes_get16(bytes + offsetof(Elf64_Ehdr, e_machine));
    bool little = bytes[EI_DATA] == ELFDATA2LSB;
    if (little && machine == EM_X86_64 && bytes[EI_CLASS] == ELFCLASS32)
        return bt_fail(error, BT_USAGE, "is an x32 program; only 64-bit programs can be run");
    if (little && bytes[EI_CLASS] == ELFCLASS32 && machine == EM_386)
        return bt_fail(error, BT_USAGE,
                       "is a 32-bit program; build it for x86-64 (gcc -m64) to run it");
    if (!little || machine != EM_X86_64)
        return bt_fail(error, BT_USAGE, "is a program for %s; only programs for x86-64 can be run",
                       little ? machine_name(machine) : "another processor");
    if (bytes[EI_CLASS] != ELFCLASS64)
        return bt_fail(error, BT_DATA, "is corrupt: its ELF class is %u", bytes[EI_CLASS]);
    return 0;
}

int program_image_parse_header(struct program_image *image, const uint8_t *bytes, size_t size,
                               uint64_t file_bytes, struct bt_error *error)
{
    int result = check_kind(bytes, size, error);
    if (result < 0)
        return result;
    memset(image, 0, sizeof *image);
    uint16_t type = bytes_get16(bytes + offsetof(Elf64_Ehdr, e_type));
    if (type != ET_EXEC && type != ET_DYN)
        return bt_fail(error, BT_USAGE, "is not a program but %s",
                       type == ET_REL    ? "an object file; link it first"
                       : type == ET_CORE ? "a core dump"
                                         : "another kind of ELF file");
    image->movable = type == ET_DYN;
    image->entry = bytes_get64(bytes + offsetof(Elf64_Ehdr, e_entry));
    image->table_offset = bytes_get64(bytes + offsetof(Elf64_Ehdr, e_phoff));
    image->table_entries = bytes_get16(bytes + offsetof(Elf64_Ehdr, e_phnum));
    uint16_t entry_bytes = bytes_get16(bytes + offsetof(Elf64_Ehdr, e_phentsize));
    uint64_t table_bytes = (uint64_t)image->table_entries * PROGRAM_ENTRY_BYTES;
    if (entry_bytes != PROGRAM_ENTRY_BYTES || image->table_entries == 0 ||
        image->table_entries > PROGRAM_ENTRIES_MAX)
        return bt_fail(error, BT_DATA, "is corrupt: it has %" PRIu32 " program headers of %u bytes",
                       image->table_entries, entry_bytes);
    if (image->table_offset > file_bytes || table_bytes > file_bytes - image->table_offset)
        return bt_fail(error, BT_DATA,
                       "is truncated: its program headers end past the end of the file");
    return 0;
}

static uint64_t page_down(uint64_t address)
{
    return address & ~(SPACE_PAGE - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + SPACE_PAGE - 1);
}

static uint32_t protection_of(uint32_t flags)
{
    return (flags & PF_R ? PROT_READ : 0u) | (flags & PF_W ? PROT_WRITE : 0u) |
           (flags & PF_X ? PROT_EXEC : 0u);
}

static int check_segment(const struct program_image *image, const struct program_segment *segment,
                         uint64_t file_bytes, struct bt_error *error)
{
    const struct program_segment *before =
        image->segment_count ? &image->segments[image->segment_count - 1] : NULL;
    uint64_t at = segment->address;
    if (segment->file_bytes > segment->memory_bytes)
        return bt_fail(error, BT_DATA,
                       "is corrupt: its segment at 0x%" PRIx64 " is larger in the file than in "
                       "memory",
                       at);
    if (segment->offset > file_bytes || segment->file_bytes > file_bytes - segment->offset)
        return bt_fail(error, BT_DATA,
                       "is truncated: its segment at 0x%" PRIx64 " ends past the end of the file",
                       at);
    if (segment->file_bytes && (segment->offset - at) % SPACE_PAGE != 0)
        return bt_fail(error, BT_DATA,
                       "is corrupt: its segment at 0x%" PRIx64
                       " has different page offsets in file and memory",
                       at);
    if (segment->memory_bytes > SPACE_END || at > SPACE_END - segment->memory_bytes)
        return bt_fail(error, BT_USAGE,
                       "has a segment of %" PRIu64 " bytes at 0x%" PRIx64
                       ", above 4 GiB, which 32 address bits of a record cannot express%s",
                       segment->memory_bytes, at,
                       image->movable ? "" : "; link it position-independent (-pie) or lower");
    if (before && at < before->address + before->memory_bytes)
        return bt_fail(error, BT_DATA,
                       "is corrupt: its segments at 0x%" PRIx64 " and 0x%" PRIx64
                       " overlap or are not in order",
                       before->address, at);
    return 0;
}

static int add_segment(struct program_image *image, const uint8_t *entry, uint64_t file_bytes,
                       struct bt_error *error)
{
    struct program_segment segment = {
        .address = bytes_get64(entry + offsetof(Elf64_Phdr, p_vaddr)),
        .offset = bytes_get64(entry + offsetof(Elf64_Phdr, p_offset)),
        .file_bytes = bytes_get64(entry + offsetof(Elf64_Phdr, p_filesz)),
        .memory_bytes = bytes_get64(entry + offsetof(Elf64_Phdr, p_memsz)),
        .protection = protection_of(bytes_get32(entry + offsetof(Elf64_Phdr, p_flags))),
    };
    uint64_t alignment = bytes_get64(entry + offsetof(Elf64_Phdr, p_align));
    int result = check_segment(image, &segment, file_bytes, error);
    if (result < 0 || segment.memory_bytes == 0)
        return result;
    if (image->segment_count == PROGRAM_SEGMENTS_MAX)
        return bt_fail(error, BT_USAGE, "has more than %d segments to load", PROGRAM_SEGMENTS_MAX);
    /* like the kernel, ignore alignments that are not a power of two, or too large */
    if (alignment > image->alignment && alignment <= ALIGNMENT_MAX && power_is(alignment))
        image->alignment = alignment;
    image->segments[image->segment_count++] = segment;
    return 0;
}

static int add_interpreter(struct program_image *image, const uint8_t *entry, uint64_t file_bytes,
                           struct bt_error *error)
{
    if (image->interpreter_bytes) /* the kernel uses the first one */
        return 0;
    image->interpreter_offset = bytes_get64(entry + offsetof(Elf64_Phdr, p_offset));
    image->interpreter_bytes = bytes_get64(entry + offsetof(Elf64_Phdr, p_filesz));
    if (image->interpreter_bytes < 2 || image->interpreter_bytes > PROGRAM_PATH_BYTES_MAX ||
        image->interpreter_offset > file_bytes ||
        image->interpreter_bytes > file_bytes - image->interpreter_offset)
        return bt_fail(error, BT_DATA,
                       "is corrupt: the path of its interpreter has %" PRIu64
                       " bytes at file offset %" PRIu64,
                       image->interpreter_bytes, image->interpreter_offset);
    return 0;
}

/* The address of the table follows from the segment that contains it. */
static void find_table(struct program_image *image)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct program_segment *segment = &image->segments[i];
        if (image->table_offset >= segment->offset &&
            image->table_offset - segment->offset < segment->file_bytes) {
            image->table_address = segment->address + (image->table_offset - segment->offset);
            return;
        }
    }
}

int program_image_parse_segments(struct program_image *image, const uint8_t *bytes,
                                 uint64_t file_bytes, struct bt_error *error)
{
    image->alignment = SPACE_PAGE;
    for (uint32_t i = 0; i < image->table_entries; i++) {
        const uint8_t *entry = bytes + (size_t)i * PROGRAM_ENTRY_BYTES;
        int result = 0;
        switch (bytes_get32(entry + offsetof(Elf64_Phdr, p_type))) {
        case PT_LOAD:
            result = add_segment(image, entry, file_bytes, error);
            break;
        case PT_INTERP:
            result = add_interpreter(image, entry, file_bytes, error);
            break;
        case PT_GNU_STACK:
            image->stack_executable = bytes_get32(entry + offsetof(Elf64_Phdr, p_flags)) & PF_X;
            break;
        default:
            break;
        }
        if (result < 0)
            return result;
    }
    if (image->segment_count == 0)
        return bt_fail(error, BT_DATA, "is corrupt: it has no segment to load");
    const struct program_segment *last = &image->segments[image->segment_count - 1];
    image->low = page_down(image->segments[0].address);
    image->high = page_up(last->address + last->memory_bytes);
    if (image->high > SPACE_END - SPACE_PAGE)
        return bt_fail(error, BT_USAGE, "leaves no memory free below 4 GiB");
    find_table(image);
    return 0;
}

int program_image_parse_table(struct program_image *image, const uint8_t *bytes,
                              uint64_t file_bytes, struct bt_error *error)
{
    int result = program_image_parse_segments(image, bytes, file_bytes, error);
    if (result < 0)
        return result;
    if (image->entry < image->low || image->entry >= image->high || image->entry == 0)
        return image->movable && image->entry == 0
                   ? bt_fail(error, BT_USAGE, "is a shared library, not a program")
                   : bt_fail(error, BT_DATA,
                             "is corrupt: its entry point is at 0x%" PRIx64
                             ", outside of its segments",
                             image->entry);
    return 0;
}

int program_image_check_interpreter(const struct program_image *image, const uint8_t *bytes,
                                    struct bt_error *error)
{
    if (bytes[image->interpreter_bytes - 1] != '\0' || bytes[0] == '\0')
        return bt_fail(error, BT_DATA,
                       "is corrupt: the path of its interpreter has no terminating NUL");
    return 0;
}
