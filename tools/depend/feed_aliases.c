#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_SHARED_VALIDATE */
#include "tools/depend/feed_aliases.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void find_aliases(struct feed_aliases *aliases)
{
    aliases->has_aliases = false;
    for (unsigned i = 0; i < aliases->count; i++)
        aliases->has_aliases |= aliases->shared[i].first != aliases->shared[i].begin;
}

static void add_shared(struct feed_aliases *aliases, struct feed_shared shared)
{
    if (shared.begin < shared.end && aliases->count < FEED_SHARED_MAX)
        aliases->shared[aliases->count++] = shared;
}

/* The part of a mapping between two addresses. */
static struct feed_shared shared_cut(struct feed_shared shared, uint64_t begin, uint64_t end)
{
    const uint64_t from = begin > shared.begin ? begin - shared.begin : 0;
    shared.offset += from;
    shared.first += from;
    shared.begin += from;
    shared.end = end < shared.end ? end : shared.end;
    return shared;
}

/* Addresses are unmapped, or mapped anew. */
static void aliases_forget(struct feed_aliases *aliases, uint64_t begin, uint64_t end)
{
    const unsigned count = aliases->count;
    unsigned kept = 0;
    struct feed_shared rest[FEED_SHARED_MAX];
    for (unsigned i = 0; i < count; i++) {
        const struct feed_shared shared = aliases->shared[i];
        if (shared.end <= begin || end <= shared.begin) {
            rest[kept++] = shared;
            continue;
        }
        const struct feed_shared lower = shared_cut(shared, shared.begin, begin);
        const struct feed_shared upper = shared_cut(shared, end, shared.end);
        if (lower.begin < lower.end && kept < FEED_SHARED_MAX)
            rest[kept++] = lower;
        if (upper.begin < upper.end && kept < FEED_SHARED_MAX)
            rest[kept++] = upper;
    }
    for (unsigned i = 0; i < kept; i++)
        aliases->shared[i] = rest[i];
    aliases->count = kept;
}

/* Adds a mapping, in parts as its bytes are mapped already. */
static void aliases_share(struct feed_aliases *aliases, struct feed_shared shared)
{
    const unsigned count = aliases->count;
    for (unsigned i = 0; i < count && shared.begin < shared.end; i++) {
        const struct feed_shared *before = &aliases->shared[i];
        const uint64_t size = before->end - before->begin;
        if (before->device != shared.device || before->file != shared.file ||
            before->offset >= shared.offset + (shared.end - shared.begin) ||
            shared.offset >= before->offset + size)
            continue;
        const uint64_t from =
            shared.begin + (before->offset > shared.offset ? before->offset - shared.offset : 0);
        struct feed_shared alias = shared_cut(shared, from, shared.end);
        alias.first = before->first + (alias.offset - before->offset);
        if (alias.end - alias.begin > before->offset + size - alias.offset)
            alias.end = alias.begin + (before->offset + size - alias.offset);
        add_shared(aliases, shared_cut(shared, shared.begin, from));
        add_shared(aliases, alias);
        shared = shared_cut(shared, alias.end, shared.end);
    }
    add_shared(aliases, shared);
}

static void aliases_map(struct feed_aliases *aliases, const struct system_call *call)
{
    const uint64_t begin = (uint64_t)call->result, flags = call->arguments[3];
    const uint64_t end = begin + ((call->arguments[1] + 4095) & ~UINT64_C(4095));
    struct stat stat;
    aliases_forget(aliases, begin, end);
    if (!(flags & MAP_SHARED) || (flags & MAP_ANONYMOUS) ||
        fstat((int)call->arguments[4], &stat) != 0)
        return;
    aliases_share(aliases, (struct feed_shared){.device = stat.st_dev,
                                                .file = stat.st_ino,
                                                .offset = call->arguments[5],
                                                .begin = begin,
                                                .end = end,
                                                .first = begin});
}

/* An old size of 0 maps the same memory once more. */
static void aliases_remap(struct feed_aliases *aliases, const struct system_call *call)
{
    const uint64_t begin = (uint64_t)call->result, old = call->arguments[0];
    const uint64_t end = begin + ((call->arguments[2] + 4095) & ~UINT64_C(4095));
    if (call->arguments[1] != 0) {
        aliases_forget(aliases, old, old + call->arguments[1]);
        return;
    }
    add_shared(aliases, (struct feed_shared){
                            .begin = begin, .end = end, .first = feed_aliases_find(aliases, old)});
}

void feed_aliases_called(struct feed_aliases *aliases, const struct system_call *call)
{
    if (call->result < 0 && call->result >= -4095)
        return;
    if (call->number == SYS_mmap)
        aliases_map(aliases, call);
    else if (call->number == SYS_munmap)
        aliases_forget(aliases, call->arguments[0], call->arguments[0] + call->arguments[1]);
    else if (call->number == SYS_mremap)
        aliases_remap(aliases, call);
    else
        return;
    find_aliases(aliases);
}

uint64_t feed_aliases_find(const struct feed_aliases *aliases, uint64_t address)
{
    for (unsigned i = 0; i < aliases->count; i++)
        if (address - aliases->shared[i].begin < aliases->shared[i].end - aliases->shared[i].begin)
            return aliases->shared[i].first + (address - aliases->shared[i].begin);
    return address;
}
