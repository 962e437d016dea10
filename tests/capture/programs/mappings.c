#define _GNU_SOURCE /* mremap, MAP_ANONYMOUS */
/* Memory that is mapped, protected, moved and unmapped, shared with a child and with a file. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

static sigjmp_buf back;

static void fault(int number)
{
    siglongjmp(back, number);
}

static const char *try(volatile char *at, int writes)
{
    if (sigsetjmp(back, 1) != 0)
        return "no";
    if (writes)
        *at = 'w';
    return *at ? "yes" : "empty";
}

static void show(const char *what, volatile char *at)
{
    const char *reads = try(at, 0);
    printf("%s: reads %s, writes %s\n", what, reads, try(at, 1));
}

static void protections(void)
{
    char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(pages, 'p', 3 * PAGE);
    show("mapped", pages + PAGE);
    mprotect(pages + PAGE, PAGE, PROT_READ);
    show("read only", pages + PAGE);
    mprotect(pages + PAGE, PAGE, PROT_NONE);
    show("none", pages + PAGE);
    mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
    show("again", pages + PAGE);
    munmap(pages + PAGE, PAGE);
    show("hole", pages + PAGE);
    show("after it", pages + 2 * PAGE);
    char *moved = mremap(pages, PAGE, 16 * PAGE, MREMAP_MAYMOVE);
    show("moved", moved);
    show("grown", moved + 15 * PAGE);
    if (moved != pages)
        show("left", pages);
    madvise(moved, PAGE, MADV_DONTNEED);
    show("forgotten", moved);
    munmap(moved, 16 * PAGE);
    munmap(pages + 2 * PAGE, PAGE);
}

static void shared(void)
{
    FILE *file = tmpfile();
    int status;
    if (!file || ftruncate(fileno(file), 2 * PAGE) != 0)
        return;
    char *one = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    char *same = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);
    char *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    strcpy(one, "written");
    strcpy(own, "own");
    if (fork() == 0) {
        printf("child: %s, %s, %s\n", one, same, own);
        strcpy(one, "child's");
        strcpy(own, "another");
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    char bytes[8] = "";
    printf("parent: %s, %s, %s, file %zd ", one, same, own, pread(fileno(file), bytes, 7, 0));
    puts(bytes);
    show("end", one + PAGE - 1);
    fclose(file);
}

static void heap(void)
{
    char *begin = sbrk(0);
    sbrk(5 * PAGE);
    show("heap", begin + 4 * PAGE);
    sbrk(-4 * (int)PAGE);
    show("less", begin + 4 * PAGE + PAGE - 1);
    char *low =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    show("low", low);
    char *there = mmap(low, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("in its place: %d\n", there == low);
    show("low", low);
    printf("not twice: %d\n",
           mmap(low, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
               MAP_FAILED);
}

int main(void)
{
    const struct sigaction action = {.sa_handler = fault};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    protections();
    shared();
    heap();
    return 0;
}
