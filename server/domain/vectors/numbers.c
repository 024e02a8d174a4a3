/*
 * numbers.c: vectors of small integers as they are stored: their product with another one, and their values. Both paths have the
 * same result.
 */
#include "server/domain/vectors/vectors.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define NUMBER_BYTES 2
/* Numbers of a register. */
#define NUMBERS_AT_ONCE 16

/* Sums wrap, so that bytes of a damaged row have some result. */
static uint32_t multiply_plain(const int16_t *numbers, const uint8_t *stored, size_t from,
                               size_t width)
{
    uint32_t sum = 0;

    for (size_t i = from; i < width; i++) {
        const uint8_t *at = stored + i * NUMBER_BYTES;

        sum += (uint32_t)(numbers[i] * (int16_t)(uint16_t)(at[0] << 8 | at[1]));
    }
    return sum;
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

AVX2 static uint32_t multiply_avx2(const int16_t *numbers, const uint8_t *stored, size_t width)
{
    const __m256i swap = _mm256_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 1,
                                          0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    __m256i lanes = _mm256_setzero_si256();
    __m128i sum;
    size_t i = 0;

    for (; i + NUMBERS_AT_ONCE <= width; i += NUMBERS_AT_ONCE) {
        __m256i one = _mm256_loadu_si256((const __m256i_u *)(numbers + i));
        __m256i other = _mm256_loadu_si256((const __m256i_u *)(stored + i * NUMBER_BYTES));

        lanes = _mm256_add_epi32(lanes, _mm256_madd_epi16(one, _mm256_shuffle_epi8(other, swap)));
    }
    sum = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(sum) + multiply_plain(numbers, stored, i, width);
}

AVX2 static size_t divide_avx2(const uint8_t *stored, size_t width, float divisor, float *values)
{
    const __m128i swap = _mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    const __m256 divisors = _mm256_set1_ps(divisor);
    size_t i = 0;

    for (; i + NUMBERS_AT_ONCE / 2 <= width; i += NUMBERS_AT_ONCE / 2) {
        __m128i numbers =
            _mm_shuffle_epi8(_mm_loadu_si128((const __m128i_u *)(stored + i * NUMBER_BYTES)), swap);

        _mm256_storeu_ps(
            values + i,
            _mm256_div_ps(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(numbers)), divisors));
    }
    return i;
}
#endif

void vectors_divide_numbers(enum vectors_path path, const uint8_t *stored, size_t width,
                            float divisor, float *ret_values)
{
    size_t from = 0;

#if defined(__x86_64__)
    if (path == VECTORS_AVX2) {
        from = divide_avx2(stored, width, divisor, ret_values);
    }
#endif
    (void)path;
    for (size_t i = from; i < width; i++) {
        const uint8_t *at = stored + i * NUMBER_BYTES;

        ret_values[i] = (float)(int16_t)(uint16_t)(at[0] << 8 | at[1]) / divisor;
    }
}

int32_t vectors_multiply_numbers(enum vectors_path path, const int16_t *numbers,
                                 const uint8_t *stored, size_t width)
{
#if defined(__x86_64__)
    if (path == VECTORS_AVX2) {
        return (int32_t)multiply_avx2(numbers, stored, width);
    }
#endif
    (void)path;
    return (int32_t)multiply_plain(numbers, stored, 0, width);
}
