/*
 * Tests a program's address space (capture/exec/memory/space.h): random operations are compared
 * with a reference that has a byte for each page, and with the kernel's list of mappings. It is a
 * separate program because nothing else may map into its address space.
 *
 * usage: exec_space [RUNS]
 */
#define _GNU_SOURCE /* MAP_*, MREMAP_* */
#include "capture/exec/memory/maps.h"
#include "capture/exec/memory/space.h"
#include "tests/support/random.h"

#include <errno.h>
#include <linux/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>

#define PAGES         512
#define HEAP          64 /* number of pages at the beginning */
#define BASE          ((uint64_t)0x20000000)
#define PAGE_AT(page) (BASE + (uint64_t)(page)*SPACE_PAGE)

static const struct space_layout layout = {.lowest = BASE,
                                           .image = BASE,
                                           .break_end = PAGE_AT(HEAP),
                                           .map_end = PAGE_AT(PAGES),
                                           .stack_end = PAGE_AT(PAGES)};

static unsigned failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition) && failures++ < 20)                                                       \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
    } while (0)

/* State of a page. */
enum { FREE = 0, USED = 1, FOREIGN = 2 };

struct page {
    uint8_t state;
    uint8_t protection;
    bool shared;
    bool watched;
    bool heap;
    bool known; /* its content is known */
    uint32_t content;
};

struct twin {
    struct page pages[PAGES];
    bool reported[PAGES]; /* reported by the listener since the last operation */
    int64_t heap_end;     /* the break, in bytes from BASE */
    uint64_t random;
    struct space *space;
};

static void listen(void *user, uint64_t start, uint64_t end)
{
    struct twin *twin = user;
    for (uint64_t at = start; at < end; at += SPACE_PAGE)
        if (at >= BASE && at < PAGE_AT(PAGES))
            twin->reported[(at - BASE) / SPACE_PAGE] = true;
}

static void set(struct twin *twin, size_t i, struct page page)
{
    if (twin->pages[i].watched && !page.watched) {
        CHECK(twin->reported[i]);
    }
    twin->pages[i] = page;
}

static bool all(const struct twin *twin, size_t first, size_t count, uint8_t state)
{
    for (size_t i = first; i < first + count; i++)
        if (i >= PAGES || twin->pages[i].state != state)
            return false;
    return true;
}

static bool any(const struct twin *twin, size_t first, size_t count, uint8_t state)
{
    for (size_t i = first; i < first + count && i < PAGES; i++)
        if (twin->pages[i].state == state)
            return true;
    return false;
}

/* Index of the highest free range, outside of the heap's room if possible; or PAGES. */
static size_t place(const struct twin *twin, size_t count)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = PAGES; i-- > (pass ? 0 : HEAP);)
            if (all(twin, i, count, FREE))
                return i;
    return PAGES;
}

static void fill(struct twin *twin, size_t first, size_t count, uint8_t protection, bool shared)
{
    for (size_t i = first; i < first + count; i++)
        set(twin, i,
            (struct page){
                .state = USED, .protection = protection, .shared = shared, .known = true});
}

static size_t some_page(struct twin *twin)
{
    return random_below(&twin->random, PAGES);
}

static size_t some_count(struct twin *twin)
{
    return 1 + random_below(&twin->random, random_one_in(&twin->random, 8) ? 200 : 12);
}

/* --- operations --- */

static void do_map(struct twin *twin)
{
    uint8_t protection = (uint8_t)random_below(&twin->random, 8);
    bool shared = random_one_in(&twin->random, 4);
    size_t at = some_page(twin);
    size_t count = some_count(twin);
    /* anywhere, hint, fixed, fixed without replacing */
    uint64_t how = random_below(&twin->random, 4);
    uint64_t flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
    if (how == 2)
        flags |= MAP_FIXED;
    if (how == 3)
        flags |= MAP_FIXED_NOREPLACE;
    if (how >= 2 && at + count > PAGES)
        count = PAGES - at;
    int64_t result = space_mmap(twin->space, how ? PAGE_AT(at) : 0, count * SPACE_PAGE - 5,
                                protection, flags, -1, 0);
    if (how >= 2) {
        bool foreign = any(twin, at, count, FOREIGN);
        bool taken = foreign || any(twin, at, count, USED);
        if (how == 3 && taken) {
            CHECK(result == -EEXIST);
            return;
        }
        if (foreign) {
            CHECK(result == -ENOMEM);
            return;
        }
    } else if (how == 0 || !all(twin, at, count, FREE)) {
        /* a hint whose end is beyond the observed range is also correct */
        if (how == 1 && at + count > PAGES && all(twin, at, PAGES - at, FREE) && result > 0 &&
            (uint64_t)result == PAGE_AT(at)) {
            space_munmap(twin->space, PAGE_AT(at), count * SPACE_PAGE);
            return;
        }
        at = place(twin, count);
        if (at == PAGES) {
            CHECK(result == -ENOMEM);
            return;
        }
    }
    CHECK(result == (int64_t)PAGE_AT(at));
    fill(twin, at, count, protection, shared);
}

static void do_unmap(struct twin *twin)
{
    size_t at = some_page(twin);
    size_t count = some_count(twin);
    CHECK(space_munmap(twin->space, PAGE_AT(at), count * SPACE_PAGE - 1) == 0);
    for (size_t i = at; i < at + count && i < PAGES; i++)
        if (twin->pages[i].state == USED)
            set(twin, i, (struct page){.state = FREE});
}

static void do_protect(struct twin *twin)
{
    uint8_t protection = (uint8_t)random_below(&twin->random, 8);
    size_t at = some_page(twin);
    size_t count = some_count(twin);
    int64_t result = space_mprotect(twin->space, PAGE_AT(at), count * SPACE_PAGE - 1, protection);
    size_t i = at;
    for (; i < at + count && i < PAGES && twin->pages[i].state == USED; i++) {
        struct page page = twin->pages[i];
        page.protection = protection;
        page.watched = page.watched && (protection & PROT_EXEC);
        set(twin, i, page);
    }
    CHECK(result == (i == at + count ? 0 : -ENOMEM));
}

static void do_break(struct twin *twin)
{
    int64_t wanted = (int64_t)random_below(&twin->random, HEAP * SPACE_PAGE + 9000) - 1000;
    size_t from = (size_t)(twin->heap_end + 4095) / SPACE_PAGE;
    size_t to = wanted < 0 ? 0 : (size_t)(wanted + 4095) / SPACE_PAGE;
    int64_t result = space_brk(twin->space, (uint64_t)((int64_t)BASE + wanted));
    if (wanted >= 0 && to <= HEAP && (to <= from || all(twin, from, to - from, FREE))) {
        twin->heap_end = wanted;
        if (to > from)
            fill(twin, from, to - from, PROT_READ | PROT_WRITE, false);
        for (size_t i = from; i < to; i++)
            twin->pages[i].heap = true;
        for (size_t i = to; i < from; i++)
            if (twin->pages[i].state == USED)
                set(twin, i, (struct page){.state = FREE});
    }
    CHECK(result == (int64_t)BASE + twin->heap_end);
}

static bool readable(const struct page *page)
{
    return page->state == USED && page->known && (page->protection & 7);
}

static void do_watch(struct twin *twin)
{
    size_t at = some_page(twin);
    size_t count = 1 + random_below(&twin->random, 3);
    int result = space_watch(twin->space, PAGE_AT(at), PAGE_AT(at + count));
    size_t i = at;
    for (; i < at + count && i < PAGES && twin->pages[i].state == USED; i++)
        twin->pages[i].watched = true;
    CHECK(result == (i == at + count ? 0 : -EFAULT));
}

/* Writes as a program does: a watched page faults first. */
static void do_write(struct twin *twin)
{
    size_t at = some_page(twin);
    struct page page = twin->pages[at];
    if (page.state == FOREIGN)
        return;
    enum space_fault fault = space_fault(twin->space, PAGE_AT(at) + 8, PROT_WRITE);
    if (page.state != USED || !(page.protection & PROT_WRITE)) {
        CHECK(fault == SPACE_FAULT_PROGRAM);
        return;
    }
    CHECK(fault == (page.watched ? SPACE_FAULT_FIXED : SPACE_FAULT_ALLOWED));
    page.watched = false;
    if (page.known) {
        page.content = random_next32(&twin->random);
        *(volatile uint32_t *)PAGE_AT(at) = page.content;
    }
    set(twin, at, page);
}

static void do_kernel_writes(struct twin *twin)
{
    size_t at = some_page(twin);
    size_t count = 1 + random_below(&twin->random, 5);
    space_before_write(twin->space, PAGE_AT(at) + 4095, (count - 1) * SPACE_PAGE + 1);
    for (size_t i = at; i < at + count && i < PAGES; i++) {
        struct page page = twin->pages[i];
        if (page.state != USED || !(page.protection & PROT_WRITE))
            continue;
        page.watched = false;
        set(twin, i, page);
    }
}

static void do_advise(struct twin *twin)
{
    size_t at = some_page(twin);
    size_t count = some_count(twin);
    if (!all(twin, at, count, USED))
        return;
    CHECK(space_madvise(twin->space, PAGE_AT(at), count * SPACE_PAGE, MADV_DONTNEED) == 0);
    for (size_t i = at; i < at + count; i++) {
        CHECK(!twin->pages[i].watched || twin->reported[i]);
        if (!twin->pages[i].shared)
            twin->pages[i].content = 0;
    }
}

static bool one_kind(const struct twin *twin, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (i >= PAGES || twin->pages[i].state != USED ||
            twin->pages[i].protection != twin->pages[first].protection ||
            twin->pages[i].shared != twin->pages[first].shared ||
            twin->pages[i].heap != twin->pages[first].heap)
            return false;
    return true;
}

/* The operation ends the watch of the old pages, up to the first page of another kind. */
static void forget_watches(struct twin *twin, size_t at, size_t count)
{
    for (size_t i = at; i < at + count && i < PAGES && one_kind(twin, at, i - at + 1); i++)
        twin->pages[i].watched = false;
}

static void moved(struct twin *twin, size_t at, size_t old_count, size_t to, size_t new_count)
{
    struct page pages[PAGES];
    memcpy(pages, twin->pages + at, old_count * sizeof *pages);
    for (size_t i = 0; i < old_count; i++)
        set(twin, at + i, (struct page){.state = FREE});
    for (size_t i = 0; i < new_count; i++) {
        struct page page = pages[i < old_count ? i : 0];
        page.watched = false;
        if (i >= old_count) { /* pages after the end of a shared object are inaccessible */
            page.content = 0;
            page.known = !page.shared;
        }
        set(twin, to + i, page);
    }
}

static void do_remap(struct twin *twin)
{
    size_t at = random_below(&twin->random, PAGES - 20); /* the grown range stays observable */
    size_t old_count = 1 + random_below(&twin->random, 8);
    size_t new_count = 1 + random_below(&twin->random, 12);
    size_t to = some_page(twin);
    uint64_t flags = random_below(&twin->random, 4); /* MAYMOVE 1, FIXED 2 */
    if (to + new_count > PAGES)
        flags &= ~(uint64_t)MREMAP_FIXED;
    int64_t result = space_mremap(twin->space, PAGE_AT(at), old_count * SPACE_PAGE,
                                  new_count * SPACE_PAGE, flags, PAGE_AT(to));
    if (flags == MREMAP_FIXED) {
        CHECK(result == -EINVAL);
        return;
    }
    forget_watches(twin, at, old_count);
    if (!one_kind(twin, at, old_count)) {
        CHECK(result == -EFAULT);
        return;
    }
    /* for the kernel, mappings made one by one may be separate */
    if (result == -EFAULT && old_count > 1) {
        for (size_t i = to; (flags & MREMAP_FIXED) && i < to + new_count; i++) {
            struct space_mapping there;
            if (twin->pages[i].state == USED && !space_find(twin->space, PAGE_AT(i), &there))
                set(twin, i, (struct page){.state = FREE});
        }
        return;
    }
    if (flags & MREMAP_FIXED) {
        bool overlap = to < at + old_count && at < to + new_count;
        bool foreign = any(twin, to, new_count, FOREIGN);
        if (overlap || foreign) {
            CHECK(result == (overlap ? -EINVAL : -ENOMEM));
            return;
        }
    } else if (new_count <= old_count || all(twin, at + old_count, new_count - old_count, FREE)) {
        to = at;
    } else {
        to = place(twin, new_count);
        if (!(flags & MREMAP_MAYMOVE) || to == PAGES) {
            CHECK(result == -ENOMEM);
            return;
        }
    }
    CHECK(result == (int64_t)PAGE_AT(to));
    moved(twin, at, old_count, to, new_count);
}

/* --- comparisons --- */

static uint32_t real_protection(const struct page *page)
{
    uint32_t real = page->protection;
    if (real & PROT_EXEC)
        real = (real | PROT_READ) & ~(uint32_t)PROT_EXEC;
    if (page->watched && (real & PROT_WRITE))
        real = (real | PROT_READ) & ~(uint32_t)PROT_WRITE;
    return real;
}

static void compare_kernel(const struct twin *twin)
{
    uint8_t real[PAGES];
    memset(real, 0xff, sizeof real);
    struct maps *maps = maps_open(NULL);
    struct maps_line line;
    while (maps && maps_next(maps, &line, NULL) > 0)
        for (uint64_t at = line.start; at < line.end && at < PAGE_AT(PAGES); at += SPACE_PAGE)
            if (at >= BASE)
                real[(at - BASE) / SPACE_PAGE] =
                    (uint8_t)(line.protection | (line.shared ? 8u : 0u));
    maps_close(maps);
    for (size_t i = 0; i < PAGES; i++) {
        const struct page *page = &twin->pages[i];
        if (page->state == FREE) {
            CHECK(real[i] == 0xff);
        } else if (page->state == USED) {
            CHECK(real[i] == (real_protection(page) | (page->shared ? 8u : 0u)));
        }
        if (readable(page)) {
            CHECK(*(volatile uint32_t *)PAGE_AT(i) == page->content);
        }
    }
}

static void compare_table(const struct twin *twin)
{
    size_t mappings = 0;
    uint64_t before = 0;
    struct space_mapping piece;
    for (uint64_t at = 0; space_next(twin->space, &at, SPACE_END, &piece); mappings++) {
        CHECK(piece.start >= before && piece.end > piece.start);
        before = piece.end;
    }
    size_t changes = 0;
    for (size_t i = 0; i < PAGES; i++) {
        const struct page *page = &twin->pages[i];
        struct space_mapping found = {.start = 0, .end = 0, .protection = 0, .flags = 0};
        bool there = space_find(twin->space, PAGE_AT(i) + 77, &found);
        CHECK(there == (page->state == USED));
        if (!there)
            continue;
        CHECK(found.protection == page->protection);
        CHECK(!(found.flags & SPACE_SHARED) == !page->shared);
        CHECK(!(found.flags & SPACE_WATCHED) == !page->watched);
        changes += i == 0 || twin->pages[i - 1].state != USED || !one_kind(twin, i - 1, 2) ||
                   twin->pages[i - 1].watched != page->watched;
    }
    CHECK(mappings == changes); /* adjacent equal mappings are merged */
}

static void step(struct twin *twin)
{
    static void (*const operations[])(struct twin *) = {
        do_map,   do_map,   do_unmap, do_unmap,  do_protect, do_protect,       do_break,
        do_watch, do_watch, do_write, do_advise, do_remap,   do_kernel_writes,
    };
    memset(twin->reported, 0, sizeof twin->reported);
    operations[random_below(&twin->random, sizeof operations / sizeof *operations)](twin);
}

static void foreign(struct twin *twin, size_t at)
{
    uint32_t *page = mmap((void *)PAGE_AT(at), SPACE_PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(page == (void *)PAGE_AT(at));
    *page = 4711;
    twin->pages[at].state = FOREIGN;
}

static void run(uint64_t seed)
{
    struct twin *twin = calloc(1, sizeof *twin);
    if (!twin)
        exit(3);
    twin->random = random_seed(seed);
    size_t known = some_page(twin);
    size_t unknown = (known + 1 + random_below(&twin->random, PAGES - 1)) % PAGES;
    foreign(twin, known);
    twin->space = space_new(&layout, SPACE_TRANSLATED, NULL);
    foreign(twin, unknown);
    space_set_listener(twin->space, listen, twin);
    space_set_break(twin->space, BASE);
    for (int i = 0; i < 150 && !failures; i++) {
        step(twin);
        if (i % 8 == 7)
            compare_table(twin);
        if (i % 50 == 49)
            compare_kernel(twin);
        if (failures)
            fprintf(stderr, "seed %llu, step %d\n", (unsigned long long)seed, i);
    }
    space_free(twin->space);
    for (size_t i = 0; i < PAGES; i++)
        if (twin->pages[i].state == USED)
            twin->pages[i].state = FREE;
    compare_kernel(twin); /* everything is unmapped except foreign mappings */
    CHECK(*(uint32_t *)PAGE_AT(known) == 4711 && *(uint32_t *)PAGE_AT(unknown) == 4711);
    munmap((void *)PAGE_AT(known), SPACE_PAGE);
    munmap((void *)PAGE_AT(unknown), SPACE_PAGE);
    free(twin);
}

/* --- fixed cases --- */

static void test_demands_above(void)
{
    struct space *space = space_new(&space_layout_default, SPACE_TRANSLATED, NULL);
    uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS;
    CHECK(space_mmap(space, SPACE_END, 4096, 3, flags | MAP_FIXED, -1, 0) == -ENOMEM);
    CHECK(space_mmap(space, SPACE_END - 4096, 8192, 3, flags | MAP_FIXED, -1, 0) == -ENOMEM);
    CHECK(space_mmap(space, UINT64_MAX & ~(uint64_t)4095, 8192, 3, flags | MAP_FIXED, -1, 0) ==
          -ENOMEM);
    CHECK(space_mmap(space, 0, (uint64_t)1 << 40, 3, flags, -1, 0) == -ENOMEM);
    CHECK(space_mmap(space, 0, UINT64_MAX, 3, flags, -1, 0) == -ENOMEM);
    CHECK(space_refused(space) == 5);
    CHECK(space_mmap(space, 0, 0, 3, flags, -1, 0) == -EINVAL);
    CHECK(space_mmap(space, 0x30000001, 4096, 3, flags | MAP_FIXED, -1, 0) == -EINVAL);
    CHECK(space_mmap(space, 0, 4096, 3, flags | MAP_GROWSDOWN | MAP_SHARED, -1, 0) == -EINVAL);
    CHECK(space_mmap(space, 0, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == -EBADF);
    int64_t hint = space_mmap(space, (uint64_t)1 << 45, 4096, 3, flags, -1, 0);
    CHECK(hint > 0 && hint < (int64_t)SPACE_END);
    int64_t low = space_mmap(space, 0, 4096, 3, flags | MAP_32BIT, -1, 0);
    CHECK(low > 0 && low < (int64_t)1 << 31);
    /* our own process' memory is out of reach */
    uint64_t mine = (uint64_t)(uintptr_t)&flags & ~(uint64_t)4095;
    CHECK(space_munmap(space, mine, 4096) == 0);
    CHECK(space_mprotect(space, mine, 4096, 0) == -ENOMEM);
    CHECK(space_madvise(space, mine, 4096, MADV_DONTNEED) == -ENOMEM);
    CHECK(space_mremap(space, mine, 4096, 8192, MREMAP_MAYMOVE, 0) == -EFAULT);
    CHECK(space_mremap(space, (uint64_t)hint, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, mine) ==
          -ENOMEM);
    CHECK(space_shmdt(space, mine) == -EINVAL);
    CHECK(space_munmap(space, 1, 4096) == -EINVAL && space_munmap(space, 4096, 0) == -EINVAL);
    CHECK(!space_allows(space, (uint64_t)hint, 4097, PROT_READ));
    CHECK(space_allows(space, (uint64_t)hint, 4096, PROT_READ));
    CHECK(!space_allows(space, (uint64_t)hint, 4096, PROT_EXEC));
    CHECK(!space_allows(space, (uint64_t)hint, UINT64_MAX, PROT_READ));
    space_free(space);
}

static void test_growing(void)
{
    struct space *space = space_new(&space_layout_default, SPACE_TRANSLATED, NULL);
    uint64_t top = 0x60000000;
    uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS;
    CHECK(space_mmap(space, top, 4096, 3, flags | MAP_FIXED | MAP_GROWSDOWN, -1, 0) ==
          (int64_t)top);
    CHECK(space_fault(space, top - 1, PROT_WRITE) == SPACE_FAULT_FIXED);
    CHECK(space_fault(space, top - 100000, PROT_READ) == SPACE_FAULT_FIXED);
    *(volatile char *)(top - 99999) = 1;
    struct space_mapping grown = {.start = 0, .end = 0, .protection = 0, .flags = 0};
    CHECK(space_find(space, top, &grown) && grown.end == top + 4096);
    CHECK(grown.start == (top - 100000) / 4096 * 4096);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    if (limit.rlim_cur < 0x10000000) {
        CHECK(space_fault(space, top - limit.rlim_cur, PROT_READ) == SPACE_FAULT_PROGRAM);
    }
    uint64_t below = grown.start - SPACE_GUARD - 8192;
    CHECK(space_mmap(space, below, 4096, 3, flags | MAP_FIXED, -1, 0) == (int64_t)below);
    CHECK(space_fault(space, grown.start - 4096, PROT_READ) == SPACE_FAULT_FIXED);
    CHECK(space_fault(space, grown.start - 8192, PROT_READ) == SPACE_FAULT_PROGRAM);
    CHECK(space_mprotect(space, top, 4096, PROT_READ | PROT_GROWSDOWN) == 0);
    CHECK(space_find(space, grown.start, &grown) && grown.protection == PROT_READ);
    CHECK(space_mprotect(space, below, 4096, PROT_READ | PROT_GROWSDOWN) == -EINVAL);
    space_free(space);
}

static void test_segments(void)
{
    struct space *space = space_new(&space_layout_default, SPACE_TRANSLATED, NULL);
    int segment = shmget(IPC_PRIVATE, 10000, IPC_CREAT | 0600);
    if (segment < 0) /* some kernels have no shared memory segments */
        goto out;
    int64_t first = space_shmat(space, segment, 0, 0);
    int64_t second = space_shmat(space, segment, 0x50000123, SHM_RND | SHM_RDONLY);
    CHECK(first > 0 && first < (int64_t)SPACE_END && second == 0x50000000);
    *(volatile int *)first = 99;
    CHECK(*(volatile int *)second == 99);
    CHECK(space_shmat(space, segment, 0x50001000, 0) == -EINVAL);
    CHECK(space_allows(space, (uint64_t)first, 12288, PROT_WRITE));
    CHECK(!space_allows(space, 0x50000000, 4096, PROT_WRITE));
    CHECK(space_shmdt(space, (uint64_t)first) == 0);
    CHECK(!space_allows(space, (uint64_t)first, 1, 0) && space_allows(space, 0x50000000, 1, 0));
    shmctl(segment, IPC_RMID, NULL);
out:
    space_free(space);
}

static void test_second_view(void)
{
    struct space *space = space_new(&space_layout_default, SPACE_TRANSLATED, NULL);
    int64_t first = space_mmap(space, 0, 8192, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t second = space_mremap(space, (uint64_t)first, 0, 8192, MREMAP_MAYMOVE, 0);
    CHECK(second > 0 && second < (int64_t)SPACE_END && second != first);
    *(volatile int *)first = 5;
    CHECK(*(volatile int *)second == 5);
    int64_t third = space_mmap(space, 0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile int *)third = 6;
    int64_t kept =
        space_mremap(space, (uint64_t)third, 8192, 8192, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
    CHECK(kept > 0 && kept != third && *(volatile int *)kept == 6 && *(volatile int *)third == 0);
    CHECK(space_allows(space, (uint64_t)third, 8192, 3));
    CHECK(space_allows(space, (uint64_t)kept, 8192, 3));
    space_free(space);
}

int main(int argc, char **argv)
{
    uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 400;
    test_demands_above();
    test_growing();
    test_segments();
    test_second_view();
    for (uint64_t seed = 1; seed <= runs && !failures; seed++)
        run(seed);
    return failures ? 1 : 0;
}
