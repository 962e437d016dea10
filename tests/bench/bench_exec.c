/*
 * Cost of executing a translated program: compiled functions natively, translated without a trace,
 * with fetches, with all references delivered to a consumer that reads every record, and branch by
 * branch under a control program with the trace on.
 *
 * usage: bench_exec [PART_OF_FULL_SIZE]     (100 percent)
 *        bench_exec --way WAY PROGRAM [ARGUMENT...]
 *
 * The second runs a whole program in one of the ways (none, fetches, all, two, branch), and ends as
 * it does. kept-none, kept-fetches and kept-all use and keep translations on disk. `two` delivers
 * all references to another process, which expands and reads them. If descriptor 9 is open it
 * receives the number of instructions and of records, the records' sum, and the seconds of
 * processor time of the program's thread and of all others.
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE, MAP_ANONYMOUS */
#include "capture/exec/aria/aria.h"
#include "capture/program/exec_sender.h"
#include "capture/program/exec_source.h"
#include "tests/support/exec_sample.h"
#include "tests/support/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CODE         0x20000000u
#define CODE_BYTES   0x10000u
#define END          (CODE + CODE_BYTES - 16)
#define MEMORY       0x30000000u
#define MEMORY_BYTES (64u << 20)
#define STACK        (MEMORY + MEMORY_BYTES - 256)

struct way {
    const char *name;
    enum exec_trace trace;
    bool stepping;
};

static const struct way ways[] = {{"no trace", EXEC_TRACE_NONE, false},
                                  {"fetches", EXEC_TRACE_FETCHES, false},
                                  {"all references", EXEC_TRACE_ALL, false},
                                  {"every branch", EXEC_TRACE_ALL, true}};

/* The consumer's result: it reads every field of every record. */
struct consumer {
    uint64_t records, instructions, sum;
};

static void consume(struct consumer *consumer, const struct record *records, size_t count)
{
    uint64_t sum = consumer->sum, instructions = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t head; /* all but the time */
        memcpy(&head, &records[i], sizeof head);
        sum += head;
        instructions += records[i].time;
    }
    consumer->sum = sum;
    consumer->instructions += instructions;
    consumer->records += count;
}

static int put(void *context, struct record *records, size_t count)
{
    consume(context, records, count);
    return 0;
}

static size_t readable(void *context, uint64_t address)
{
    (void)context;
    return address >= CODE && address < CODE + CODE_BYTES ? CODE + CODE_BYTES - address : 0;
}

/* The same numbers each time. */
static void fill(uint64_t *memory, uint64_t count)
{
    uint64_t value = 88172645463325252u;
    for (uint64_t i = 0; i < count; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
        memory[i] = value;
    }
}

static double run_native(unsigned sample, uint64_t *memory, uint64_t count, uint64_t *result)
{
    exec_sample *run;
    uint64_t at = exec_sample_at(&exec_samples[sample], CODE);
    struct measure measure;
    memcpy(&run, &at, sizeof run);
    fill(memory, count);
    measure_begin(&measure);
    *result = run(memory, count);
    measure_end(&measure);
    return measure.wall;
}

/* Runs to the end; when stepping, counts the branches at which it stops. */
static int execute(struct executor *executor, struct exec_thread *thread, uint64_t *branches,
                   struct bt_error *error)
{
    struct executor_stop stop;
    int result;
    do {
        result = executor_run(executor, &stop, error);
        ++*branches;
    } while (result == 0 && stop.reason == EXECUTOR_BRANCH && thread->rip != END);
    if (result == 0 && thread->rip != END)
        return bt_fail(error, BT_DATA, "stopped at %llx", (unsigned long long)thread->rip);
    return result;
}

static int run_translated(const struct way *way, unsigned sample, uint64_t *memory, uint64_t count,
                          double *seconds, struct consumer *consumer, uint64_t *result,
                          struct bt_error *error)
{
    static const struct executor_operations operations = {.readable = readable, .put = put};
    struct executor_settings settings = {.trace = way->trace,
                                         .stepping = way->stepping,
                                         .operations = &operations,
                                         .context = consumer};
    struct exec_thread *thread = exec_thread_new(error);
    struct executor *executor = executor_new(&settings, error);
    struct measure measure;
    uint64_t end = END, branches = 0;
    int code = thread && executor ? executor_begin(executor, thread, error) : BT_MEMORY;
    if (code == 0) {
        fill(memory, count);
        thread->rip = exec_sample_at(&exec_samples[sample], CODE);
        thread->registers[DECODE_RDI] = MEMORY;
        thread->registers[DECODE_RSI] = count;
        thread->registers[DECODE_RSP] = STACK - 8;
        memcpy((void *)(uintptr_t)(STACK - 8), &end, sizeof end);
        measure_begin(&measure);
        code = execute(executor, thread, &branches, error);
        measure_end(&measure);
        *seconds = measure.wall;
        *result = thread->registers[DECODE_RAX];
        executor_end(executor);
    }
    executor_free(executor);
    exec_thread_free(thread);
    return code;
}

static int bench_sample(unsigned sample, uint64_t *memory, uint64_t count)
{
    struct bt_error error = {.message = ""};
    uint64_t expected, result = 0;
    double native = run_native(sample, memory, count, &expected);
    double again = run_native(sample, memory, count, &expected);
    native = again < native ? again : native;
    printf("  %-9s native %.3f s", exec_samples[sample].name, native);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct consumer consumer = {0};
        double seconds = 0;
        if (run_translated(&ways[i], sample, memory, count, &seconds, &consumer, &result, &error) !=
            0) {
            printf("; %s: %s\n", ways[i].name, error.message);
            return -1;
        }
        if (result != expected) {
            printf("; %s: a wrong result\n", ways[i].name);
            return -1;
        }
        printf("; %s %.1f times", ways[i].name, seconds / native);
        if (ways[i].trace == EXEC_TRACE_ALL && !ways[i].stepping)
            printf(" (%.0f million instructions, %.0f million records, %.0f million/s)",
                   (double)consumer.instructions / 1e6, (double)consumer.records / 1e6,
                   (double)consumer.records / 1e6 / seconds);
    }
    printf("\n");
    return 0;
}

/* --- whole programs ----------------------------------------------------------------------------
 */

extern char **environ;

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void tell(const struct consumer *consumer, double own, double other)
{
    dprintf(9, "%llu %llu %llx %.3f %.3f\n", (unsigned long long)consumer->instructions,
            (unsigned long long)consumer->records, (unsigned long long)consumer->sum, own, other);
}

/* Under a control program that reads the records of each step. */
static int bench_steps(const char *const *arguments)
{
    const struct aria_settings settings = {.stack = {.environment = (const char *const *)environ}};
    struct consumer consumer = {0};
    struct bt_error error = {.message = ""};
    struct aria_step step = {.reason = ARIA_LIMIT};
    struct aria *aria = aria_new(arguments[0], arguments, &settings, &error);
    struct aria_state *state = aria ? aria_initial(aria, &error) : NULL;
    int result = state ? 0 : -1;
    while (result == 0 && step.reason != ARIA_EXIT) {
        result = aria_execute(aria, state, ARIA_TAKEN, 0, &step, &error);
        consume(&consumer, step.records, step.record_count);
    }
    if (result != 0) {
        fprintf(stderr, "%s: %s\n", arguments[0], error.message);
        return 3;
    }
    tell(&consumer, seconds_of(CLOCK_THREAD_CPUTIME_ID), 0);
    aria_state_free(state);
    aria_free(aria);
    process_exit(&step.end);
}

/* --- two processes: the program, and the consumer ----------------------------------------------
 */

static int put_records(void *context, struct record *records, size_t count)
{
    const struct exec_marks none = {.begins_part = false};
    return exec_sender_records(context, records, count, &none);
}

static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    const struct exec_marks none = {.begins_part = false};
    struct trace_expander own = *expander;
    int result = count > 0 ? exec_sender_entries(context, expander, entries, count, &none) : 0;
    own.take = NULL;
    if (result == 0 && part)
        result = trace_expand_part(&own, part, entries + count, instructions);
    return result == 0 && part ? trace_expander_flush(&own) : result;
}

static uint64_t count_none(void *context)
{
    (void)context;
    return 0;
}

_Noreturn static void run_producer(struct message_ring *ring, const char *const *arguments)
{
    static const struct process_operations operations = {
        .put = put_records, .take = take, .count = count_none};
    struct exec_sender sender = {.ring = ring};
    const struct process_settings settings = {
        .trace = EXEC_TRACE_ALL,
        .operations = &operations,
        .context = &sender,
        .stack = {.environment = (const char *const *)environ}};
    struct bt_error error = {.message = ""};
    struct process_end end = {.value = 3};
    struct process *process = process_new(arguments[0], arguments, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0)
        fprintf(stderr, "%s: %s\n", arguments[0], error.message);
    message_ring_end(ring);
    process_exit(&end);
}

static int bench_two(const char *const *arguments)
{
    static struct record records[8192];
    const struct alive self = alive_process(getpid());
    const struct capture_info info = {.clock_hz = 0};
    struct consumer consumer = {0};
    struct rusage usage;
    struct bt_error error = {.message = ""};
    int result, status = 0;
    void *memory =
        mmap(NULL, message_ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 3;
    struct message_ring *ring = message_ring_at(memory, &self);
    const pid_t child = fork();
    if (child == 0)
        run_producer(ring, arguments);
    struct source *source = exec_source_new(ring, &info, &error);
    do {
        struct batch batch = {.records = records, .capacity = 8192};
        result = source ? source_next(source, &batch, 50, &error) : 0;
        if (result == 1)
            consume(&consumer, batch.records, batch.count);
    } while (result == 1 || result == BT_TIMEOUT);
    source_close(source);
    waitpid(child, &status, 0);
    getrusage(RUSAGE_CHILDREN, &usage);
    tell(&consumer, (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6,
         seconds_of(CLOCK_PROCESS_CPUTIME_ID));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static int bench_program(const char *name, const char *const *arguments)
{
    static const char *const names[] = {"none", "fetches", "all"};
    const bool stores = strncmp(name, "kept-", 5) == 0;
    struct consumer consumer = {0};
    struct bt_error error = {.message = ""};
    static const struct process_operations operations = {.put = put};
    struct process_settings settings = {.operations = &operations,
                                        .context = &consumer,
                                        .stack = {.environment = (const char *const *)environ}};
    struct process_end end;
    size_t way = 0;
    if (stores)
        name += 5;
    if (arguments[0] && strcmp(name, "branch") == 0)
        return bench_steps(arguments);
    if (arguments[0] && strcmp(name, "two") == 0)
        return bench_two(arguments);
    while (way < 3 && strcmp(names[way], name) != 0)
        way++;
    if (way == 3 || !arguments[0])
        return 2;
    settings.trace = ways[way].trace;
    settings.stores = stores;
    struct process *process = process_new(arguments[0], arguments, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0) {
        fprintf(stderr, "%s: %s\n", arguments[0], error.message);
        return 3;
    }
    double own = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    tell(&consumer, own, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - own);
    process_exit(&end);
}

static void *map_at(uintptr_t address, size_t bytes, int protection)
{
    void *memory = mmap((void *)address, bytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int main(int argc, char **argv)
{
    static const uint64_t counts[] = {400000, 240, 3000000, 3000000};
    if (argc > 2 && strcmp(argv[1], "--way") == 0)
        return bench_program(argv[2], (const char *const *)argv + 3);
    uint64_t percent = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    uint8_t *code = map_at(CODE, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
    uint64_t *memory = map_at(MEMORY, MEMORY_BYTES, PROT_READ | PROT_WRITE);
    size_t size;
    const void *samples = exec_sample_code(&size);
    if (!code || !memory)
        return 3;
    memcpy(code, samples, size);
    code[END - CODE] = 0xcc;
    printf("exec: translated and native, one core; the consumer reads every record\n");
    int result = 0;
    for (unsigned sample = 0; sample < 4 && result == 0; sample++)
        result = bench_sample(sample, memory, counts[sample] * percent / 100);
    return result == 0 ? 0 : 3;
}
