#include "tests/support/exec_sample.h"

/* Self-contained: no calls of library functions, no constants elsewhere, no canaries. */
#ifdef __clang__
#define SAMPLE                                                                                     \
    __attribute__((section("exec_sample"), noinline, no_stack_protector, no_builtin,               \
                   no_sanitize("address", "undefined")))
#else
#define SAMPLE                                                                                     \
    __attribute__((section("exec_sample"), noinline, no_stack_protector,                           \
                   no_sanitize("address", "undefined"),                                            \
                   optimize("O2", "no-tree-loop-distribute-patterns", "no-tree-vectorize",         \
                            "no-jump-tables")))
#endif

extern const uint8_t __start_exec_sample[], __stop_exec_sample[];

SAMPLE static void sort(uint64_t *numbers, int64_t low, int64_t high)
{
    while (low < high) {
        uint64_t middle = numbers[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (numbers[i] < middle)
                i++;
            while (numbers[j] > middle)
                j--;
            if (i <= j) {
                uint64_t kept = numbers[i];
                numbers[i++] = numbers[j];
                numbers[j--] = kept;
            }
        }
        sort(numbers, low, j);
        low = i;
    }
}

SAMPLE static uint64_t hash(const uint64_t *numbers, uint64_t count)
{
    uint64_t value = 14695981039346656037u;
    for (uint64_t i = 0; i < count; i++)
        value = (value ^ numbers[i]) * 1099511628211u;
    return value;
}

SAMPLE uint64_t exec_sample_sort(uint64_t *memory, uint64_t count)
{
    sort(memory, 0, (int64_t)count - 1);
    return hash(memory, count);
}

SAMPLE uint64_t exec_sample_multiply(uint64_t *memory, uint64_t count)
{
    double *a = (void *)memory, *b = a + count * count, *c = b + count * count;
    for (uint64_t i = 0; i < count * count; i++) {
        a[i] = (double)(i % 17);
        b[i] = (double)(i % 13);
    }
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < count; j++) {
            double sum = 0;
            for (uint64_t k = 0; k < count; k++)
                sum += a[i * count + k] * b[k * count + j];
            c[i * count + j] = sum;
        }
    return hash((void *)c, count * count);
}

SAMPLE static uint64_t length(const uint8_t *text)
{
    const uint8_t *at = text;
    while (*at)
        at++;
    return (uint64_t)(at - text);
}

SAMPLE static uint64_t find(const uint8_t *text, uint64_t size, const uint8_t *what,
                            uint64_t what_size)
{
    for (uint64_t i = 0; i + what_size <= size; i++) {
        uint64_t same = 0;
        while (same < what_size && text[i + same] == what[same])
            same++;
        if (same == what_size)
            return i;
    }
    return size;
}

SAMPLE uint64_t exec_sample_text(uint64_t *memory, uint64_t count)
{
    uint8_t *text = (uint8_t *)memory, *copy = text + count;
    for (uint64_t i = 0; i + 1 < count; i++)
        text[i] = (uint8_t)(1 + i * i % 251 % 26);
    text[count - 1] = 0;
    uint64_t size = length(text);
    uint64_t result = size * 31 + find(text, size, text + size - 9, 9);
    uint8_t *to = copy;
    const uint8_t *from = text;
    uint64_t left = count;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
    left = count;
    to = copy;
    __asm__ volatile("repne scasb" : "+D"(to), "+c"(left) : "a"(0) : "memory", "cc");
    return result * 31 + left + hash((void *)copy, count / 8);
}

SAMPLE static uint64_t fibonacci(uint64_t n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

SAMPLE static uint64_t twice(uint64_t n)
{
    return 2 * n + 1;
}

SAMPLE static uint64_t shift(uint64_t n)
{
    return n >> 3 ^ n << 5;
}

SAMPLE static uint64_t turn(uint64_t n)
{
    return ~n * 3;
}

SAMPLE uint64_t exec_sample_calls(uint64_t *memory, uint64_t count)
{
    uint64_t (*volatile table[4])(uint64_t);
    table[0] = twice;
    table[1] = shift;
    table[2] = turn;
    table[3] = twice;
    uint64_t value = fibonacci(count % 16);
    for (uint64_t i = 0; i < count; i++) {
        value = table[(value ^ i) & 3](value);
        memory[i % 64] = value;
    }
    return value;
}

const struct exec_sample_entry exec_samples[4] = {{"sort", exec_sample_sort},
                                                  {"multiply", exec_sample_multiply},
                                                  {"text", exec_sample_text},
                                                  {"calls", exec_sample_calls}};

const void *exec_sample_code(size_t *size)
{
    *size = (size_t)((uintptr_t)__stop_exec_sample - (uintptr_t)__start_exec_sample);
    return __start_exec_sample;
}

uint64_t exec_sample_at(const struct exec_sample_entry *entry, uint64_t copy)
{
    return copy + (uint64_t)((uintptr_t)entry->run - (uintptr_t)__start_exec_sample);
}
