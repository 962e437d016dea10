#define _GNU_SOURCE /* memfd_create(), MAP_FIXED_NOREPLACE */
/* Translations on disk: the input as a file, and as the contents of a valid record, of which the
 * first two bytes are the number of bytes of the program's code, which precede the record. */
#include "capture/exec/store/block_store.h"
#include "capture/exec/translate/translate.h"
#include "formats/base/bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE       0x20000000u
#define CODE_BYTES 4096u
#define KEYS       16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t readable(void *context, uint64_t address)
{
    (void)context;
    return address >= CODE && address < CODE + CODE_BYTES ? CODE + CODE_BYTES - address : 0;
}

static bool stored(void *context, uint64_t address)
{
    (void)context;
    (void)address;
    return true;
}

static void read_file(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    struct block_store *store = block_store_new("fuzz");
    size_t found;
    if (bytes && store) {
        memcpy(bytes, data, size);
        if (block_store_read(store, bytes, size)) {
            for (uint64_t key = 0; key < KEYS; key++)
                if (block_store_find(store, key, &found) && found > size)
                    abort();
            int null = open("/dev/null", O_WRONLY);
            block_store_write(store, null, NULL);
            close(null);
        }
    }
    block_store_free(store);
    free(bytes);
}

/* A file with one record. */
static uint8_t *make_file(const uint8_t *record, size_t record_size, size_t *size)
{
    const struct block_store_part part = {record, record_size};
    struct block_store *store = block_store_new("fuzz");
    int file = memfd_create("blocks", MFD_CLOEXEC);
    block_store_add(store, CODE, &part, 1);
    if (file < 0 || block_store_write(store, file, NULL) != 0)
        abort();
    block_store_free(store);
    *size = (size_t)lseek(file, 0, SEEK_END);
    uint8_t *bytes = malloc(*size);
    if (!bytes || pread(file, bytes, *size, 0) != (ssize_t)*size)
        abort();
    close(file);
    return bytes;
}

static void restore(const uint8_t *record, size_t size)
{
    size_t bytes;
    uint8_t *file = make_file(record, size, &bytes);
    struct block_store *store = block_store_new("fuzz");
    struct code_cache *cache = code_cache_new(1 << 20, NULL);
    struct translator *translator = translator_new(cache, EXEC_TRACE_NONE, readable, NULL, NULL);
    if (!block_store_read(store, file, bytes))
        abort();
    translator_use_store(translator, store, stored);
    struct block *block = translate(translator, CODE, 0, NULL);
    for (unsigned i = 0; block && i < block->exit_count; i++)
        code_cache_link(&block->exits[i], block);
    translator_free(translator);
    code_cache_free(cache);
    block_store_free(store);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *code = mmap((void *)(uintptr_t)CODE, CODE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (code == MAP_FAILED)
        return 0;
    read_file(data, size);
    if (size >= 2 && bytes_get16(data) <= CODE_BYTES && bytes_get16(data) <= size - 2) {
        const size_t program = bytes_get16(data);
        memset(code, 0xc3, CODE_BYTES);
        memcpy(code, data + 2, program);
        restore(data + 2 + program, size - 2 - program);
    }
    munmap(code, CODE_BYTES);
    return 0;
}
