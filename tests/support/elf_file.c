#include "tests/support/elf_file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS 4u /* none, symbols, strings, names of sections */

/* The contents of the file after the code. */
struct tail {
    Elf64_Sym symbols64[ELF_FILE_SYMBOLS + 1];
    Elf32_Sym symbols32[ELF_FILE_SYMBOLS + 1];
    size_t symbol_count;
    char strings[1024];
    size_t string_size;
};

static void make_tail(const struct elf_file *file, struct tail *tail)
{
    memset(tail, 0, sizeof *tail);
    tail->symbol_count = 1;
    tail->string_size = 1;
    for (size_t i = 0; i < ELF_FILE_SYMBOLS && file->symbols[i].name; i++) {
        size_t size = strlen(file->symbols[i].name) + 1;
        if (tail->string_size + size > sizeof tail->strings)
            abort();
        memcpy(tail->strings + tail->string_size, file->symbols[i].name, size);
        tail->symbols64[tail->symbol_count] =
            (Elf64_Sym){.st_name = (uint32_t)tail->string_size,
                        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                        .st_shndx = SHN_ABS,
                        .st_value = file->load_address + (uint64_t)file->symbols[i].offset,
                        .st_size = file->symbols[i].size};
        tail->symbols32[tail->symbol_count++] =
            (Elf32_Sym){.st_name = (uint32_t)tail->string_size,
                        .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
                        .st_shndx = SHN_ABS,
                        .st_value = file->load_address + file->symbols[i].offset,
                        .st_size = file->symbols[i].size};
        tail->string_size += size;
    }
}

static void write_at(FILE *out, size_t offset, const void *bytes, size_t size)
{
    if (fseek(out, (long)offset, SEEK_SET) != 0 || (size > 0 && fwrite(bytes, size, 1, out) != 1))
        abort();
}

static void write64(const struct elf_file *file, const struct tail *tail, FILE *out)
{
    size_t symbols = ELF_FILE_OFFSET + (file->code_size + 15) / 16 * 16;
    size_t strings = symbols + tail->symbol_count * sizeof(Elf64_Sym);
    size_t sections = (strings + tail->string_size + 15) / 16 * 16;
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = file->anywhere ? ET_DYN : ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_entry = file->load_address + ELF_FILE_OFFSET,
        .e_phoff = sizeof header,
        .e_shoff = sections,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = 3};
    const Elf64_Phdr segment = {.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_vaddr = file->load_address,
                                .p_filesz = ELF_FILE_OFFSET + file->code_size,
                                .p_memsz = ELF_FILE_OFFSET + file->code_size,
                                .p_align = ELF_FILE_OFFSET};
    const Elf64_Shdr rows[SECTIONS] = {
        {0},
        {.sh_type = SHT_SYMTAB,
         .sh_offset = symbols,
         .sh_size = tail->symbol_count * sizeof(Elf64_Sym),
         .sh_link = 2,
         .sh_info = 1,
         .sh_addralign = 8,
         .sh_entsize = sizeof(Elf64_Sym)},
        {.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = tail->string_size},
        {.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = 1}};
    write_at(out, 0, &header, sizeof header);
    write_at(out, sizeof header, &segment, sizeof segment);
    write_at(out, symbols, tail->symbols64, tail->symbol_count * sizeof(Elf64_Sym));
    write_at(out, strings, tail->strings, tail->string_size);
    write_at(out, sections, rows, sizeof rows);
}

static void write32(const struct elf_file *file, const struct tail *tail, FILE *out)
{
    uint32_t symbols = ELF_FILE_OFFSET + ((uint32_t)file->code_size + 15) / 16 * 16;
    uint32_t strings = symbols + (uint32_t)(tail->symbol_count * sizeof(Elf32_Sym));
    uint32_t sections = (strings + (uint32_t)tail->string_size + 15) / 16 * 16;
    const Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = file->anywhere ? ET_DYN : ET_EXEC,
        .e_machine = EM_386,
        .e_version = EV_CURRENT,
        .e_entry = file->load_address + ELF_FILE_OFFSET,
        .e_phoff = sizeof header,
        .e_shoff = sections,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf32_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf32_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = 3};
    const Elf32_Phdr segment = {.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_vaddr = file->load_address,
                                .p_filesz = ELF_FILE_OFFSET + (uint32_t)file->code_size,
                                .p_memsz = ELF_FILE_OFFSET + (uint32_t)file->code_size,
                                .p_align = ELF_FILE_OFFSET};
    const Elf32_Shdr rows[SECTIONS] = {
        {0},
        {.sh_type = SHT_SYMTAB,
         .sh_offset = symbols,
         .sh_size = (uint32_t)(tail->symbol_count * sizeof(Elf32_Sym)),
         .sh_link = 2,
         .sh_info = 1,
         .sh_addralign = 4,
         .sh_entsize = sizeof(Elf32_Sym)},
        {.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = (uint32_t)tail->string_size},
        {.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = 1}};
    write_at(out, 0, &header, sizeof header);
    write_at(out, sizeof header, &segment, sizeof segment);
    write_at(out, symbols, tail->symbols32, tail->symbol_count * sizeof(Elf32_Sym));
    write_at(out, strings, tail->strings, tail->string_size);
    write_at(out, sections, rows, sizeof rows);
}

void elf_file_write(const struct elf_file *file, const char *path)
{
    static struct tail tail;
    FILE *out = fopen(path, "wb");
    if (!out)
        abort();
    make_tail(file, &tail);
    if (file->bits == 32)
        write32(file, &tail, out);
    else
        write64(file, &tail, out);
    write_at(out, ELF_FILE_OFFSET, file->code, file->code_size);
    if (fclose(out) != 0)
        abort();
}
