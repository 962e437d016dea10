/* Vector code of every width that the processor has: arithmetic, masks, gathers and scatters. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT 256

static int32_t numbers[COUNT], results[COUNT];

static void begin(void)
{
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 2654435761u >> 7;
    memset(results, 0, sizeof results);
}

static void show(const char *what)
{
    uint32_t sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum = sum * 31 + (uint32_t)results[i];
    printf("%s: %08x\n", what, (unsigned)sum);
}

static void sse2(void)
{
    begin();
    for (int i = 0; i < COUNT; i += 4) {
        __m128i a = _mm_loadu_si128((const __m128i *)(numbers + i));
        a = _mm_add_epi32(_mm_shuffle_epi32(a, 0x1b), _mm_srai_epi16(a, 3));
        _mm_storeu_si128((__m128i *)(results + i), a);
    }
    /* byte by byte, under the mask */
    _mm_maskmoveu_si128(_mm_set1_epi8(7), _mm_set1_epi16(0x0080), (char *)(results + 100));
    show("sse2");
}

__attribute__((target("sse4.2"))) static void sse4(void)
{
    begin();
    for (int i = 0; i < COUNT; i += 4) {
        __m128i a = _mm_loadu_si128((const __m128i *)(numbers + i));
        a = _mm_blendv_epi8(_mm_mullo_epi32(a, a), _mm_max_epi32(a, _mm_set1_epi32(i)), a);
        results[i] = _mm_extract_epi32(a, 2);
        results[i + 1] = (int)_mm_crc32_u32((uint32_t)i, (uint32_t)results[i]);
    }
    show("sse4.2");
}

__attribute__((target("avx2,fma"))) static void avx2(void)
{
    const __m256i places = _mm256_setr_epi32(0, 9, 2, 11, 4, 13, 6, 15);
    begin();
    for (int i = 0; i + 16 <= COUNT; i += 8) {
        __m256i mask = _mm256_cmpgt_epi32(_mm256_loadu_si256((const __m256i *)(numbers + i)),
                                          _mm256_set1_epi32(1 << 24));
        __m256i got = _mm256_mask_i32gather_epi32(places, numbers + i, places, mask, 4);
        __m256 real =
            _mm256_fmadd_ps(_mm256_cvtepi32_ps(got), _mm256_set1_ps(0.5f), _mm256_set1_ps(3));
        _mm256_maskstore_epi32(results + i, mask, _mm256_permutevar8x32_epi32(got, places));
        results[i] ^= (int)_mm256_cvtss_f32(real);
    }
    show("avx2");
}

__attribute__((target("avx512f,avx512bw,avx512vl"))) static void avx512(void)
{
    const __m512i places =
        _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                           _mm512_set1_epi32(5));
    begin();
    for (int i = 0; i + 80 <= COUNT; i += 16) {
        __m512i a = _mm512_loadu_si512(numbers + i);
        __mmask16 mask = _mm512_cmpgt_epi32_mask(a, _mm512_set1_epi32(1 << 24));
        __m512i got = _mm512_mask_i32gather_epi32(a, mask, places, numbers + i, 4);
        _mm512_mask_i32scatter_epi32(results + i, (__mmask16)~mask, places, got, 4);
        _mm512_mask_compressstoreu_epi32(results + i, mask, _mm512_rol_epi32(got, 7));
        results[i + 1] += _mm512_mask_reduce_add_epi32(mask, got);
        _mm512_mask_storeu_epi8(results + i + 20, (__mmask64)mask << 9,
                                _mm512_ternarylogic_epi32(a, got, places, 0x96));
    }
    show("avx512");
}

int main(void)
{
    __builtin_cpu_init();
    sse2();
    if (__builtin_cpu_supports("sse4.2"))
        sse4();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        avx2();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        avx512();
    return 0;
}
