#define _GNU_SOURCE /* process_vm_readv */
#include "capture/exec/memory/program_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel copies, because it returns an error after the end of a truncated file, which the table
 * of mappings does not show. Where process_vm_readv(2) is forbidden the table decides. */
static bool not_allowed(void)
{
    return errno == EPERM || errno == ENOSYS || errno == EACCES;
}

int program_read(struct space *space, void *bytes, uint64_t address, size_t size)
{
    if (size == 0)
        return 0;
    if (!space_allows(space, address, size, PROT_READ))
        return -EFAULT;
    struct iovec mine = {bytes, size};
    struct iovec theirs = {(void *)(uintptr_t)address, size};
    ssize_t count = process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0);
    if (count < 0 && not_allowed()) {
        memcpy(bytes, theirs.iov_base, size);
        return 0;
    }
    return count == (ssize_t)size ? 0 : -EFAULT;
}

int program_write(struct space *space, uint64_t address, const void *bytes, size_t size)
{
    if (size == 0)
        return 0;
    if (!space_allows(space, address, size, PROT_WRITE))
        return -EFAULT;
    space_before_write(space, address, size);
    struct iovec mine = {(void *)(uintptr_t)bytes, size};
    struct iovec theirs = {(void *)(uintptr_t)address, size};
    ssize_t count = process_vm_writev(getpid(), &mine, 1, &theirs, 1, 0);
    if (count < 0 && not_allowed()) {
        memcpy(theirs.iov_base, bytes, size);
        return 0;
    }
    return count == (ssize_t)size ? 0 : -EFAULT;
}

int program_read_string(struct space *space, char *string, uint64_t address, size_t capacity)
{
    for (size_t done = 0; done < capacity;) {
        size_t size = SPACE_PAGE - (address + done) % SPACE_PAGE;
        if (size > capacity - done)
            size = capacity - done;
        int result = program_read(space, string + done, address + done, size);
        if (result < 0)
            return result;
        if (memchr(string + done, '\0', size))
            return 0;
        done += size;
    }
    return -ENAMETOOLONG;
}
