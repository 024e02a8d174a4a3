/*
 * sketch.c: a random projection (Ailon and Chazelle, "The fast Johnson-Lindenstrauss transform", 2009):
 * random signs and a Walsh-Hadamard transform spread each number over all places, of which 256 are
 * kept. The signs and places come from a fixed generator.
 */
#include "server/domain/vectors/vectors.h"
#include "store/base/assert.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The standard deviation of a sketch's numbers; larger ones are clamped to three times this. */
#define SPREAD 40.0F
#define LARGEST 127.0F
/* The finaliser of MurmurHash3 makes the signs. */
#define SIGN_SEED 0x9E3779B9U

static uint32_t mix(uint32_t number)
{
    number = (number ^ number >> 16) * 0x85EBCA6BU;
    number = (number ^ number >> 13) * 0xC2B2AE35U;
    return number ^ number >> 16;
}

/* Copies the numbers with random signs, and zeros after them. */
static void sign_plain(const float *vector, size_t width, size_t size, float *numbers)
{
    for (size_t i = 0; i < width; i++) {
        bool negative = (mix((uint32_t)i + SIGN_SEED) & 1) != 0;

        numbers[i] = negative ? -vector[i] : vector[i];
    }
    memset(numbers + width, 0, (size - width) * sizeof(numbers[0]));
}

/* Replaces sums by the transform of `size` numbers, a power of two. */
static void transform_plain(float *numbers, size_t size)
{
    for (size_t half = 1; half < size; half *= 2) {
        for (size_t from = 0; from < size; from += 2 * half) {
            for (size_t i = from; i < from + half; i++) {
                float sum = numbers[i] + numbers[i + half];

                numbers[i + half] = numbers[i] - numbers[i + half];
                numbers[i] = sum;
            }
        }
    }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
/* Numbers of a register. */
#define LANES 8

AVX2 static __m256i mix_lanes(__m256i numbers)
{
    numbers = _mm256_mullo_epi32(_mm256_xor_si256(numbers, _mm256_srli_epi32(numbers, 16)),
                                 _mm256_set1_epi32((int)0x85EBCA6BU));
    numbers = _mm256_mullo_epi32(_mm256_xor_si256(numbers, _mm256_srli_epi32(numbers, 13)),
                                 _mm256_set1_epi32((int)0xC2B2AE35U));
    return _mm256_xor_si256(numbers, _mm256_srli_epi32(numbers, 16));
}

AVX2 static void sign_avx2(const float *vector, size_t width, size_t size, float *numbers)
{
    const __m256i first = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    size_t whole = width / LANES * LANES;

    memcpy(numbers + whole, vector + whole, (width - whole) * sizeof(numbers[0]));
    memset(numbers + width, 0, (size - width) * sizeof(numbers[0]));
    for (size_t i = 0; i < width; i += LANES) {
        const float *from = i < whole ? vector : numbers;
        __m256i at = _mm256_add_epi32(first, _mm256_set1_epi32((int)((uint32_t)i + SIGN_SEED)));
        __m256i signs = _mm256_slli_epi32(mix_lanes(at), 31);

        _mm256_storeu_ps(numbers + i,
                         _mm256_xor_ps(_mm256_loadu_ps(from + i), _mm256_castsi256_ps(signs)));
    }
}

/* The stages within a register: each number plus or minus the one with which `swapped` has it in its place. */
AVX2 static __m256 transform_lanes(__m256 lanes)
{
    __m256 swapped = _mm256_permute_ps(lanes, 0xB1);

    lanes = _mm256_blend_ps(_mm256_add_ps(lanes, swapped), _mm256_sub_ps(swapped, lanes), 0xAA);
    swapped = _mm256_permute_ps(lanes, 0x4E);
    lanes = _mm256_blend_ps(_mm256_add_ps(lanes, swapped), _mm256_sub_ps(swapped, lanes), 0xCC);
    swapped = _mm256_permute2f128_ps(lanes, lanes, 1);
    return _mm256_blend_ps(_mm256_add_ps(lanes, swapped), _mm256_sub_ps(swapped, lanes), 0xF0);
}

AVX2 static void add_and_subtract(float *low, float *high)
{
    __m256 a = _mm256_loadu_ps(low);
    __m256 b = _mm256_loadu_ps(high);

    _mm256_storeu_ps(low, _mm256_add_ps(a, b));
    _mm256_storeu_ps(high, _mm256_sub_ps(a, b));
}

AVX2 static void transform_avx2(float *numbers, size_t size)
{
    for (size_t i = 0; i < size; i += LANES) {
        _mm256_storeu_ps(numbers + i, transform_lanes(_mm256_loadu_ps(numbers + i)));
    }
    for (size_t half = LANES; half < size; half *= 2) {
        for (size_t from = 0; from < size; from += 2 * half) {
            for (size_t i = from; i < from + half; i += LANES) {
                add_and_subtract(numbers + i, numbers + i + half);
            }
        }
    }
}
#endif

/* Both paths add the same numbers in the same order, so they have the same result. */
static void project(enum vectors_path path, const float *vector, size_t width, size_t size,
                    float *numbers)
{
#if defined(__x86_64__)
    if (path == VECTORS_AVX2) {
        sign_avx2(vector, width, size, numbers);
        transform_avx2(numbers, size);
        return;
    }
#endif
    (void)path;
    sign_plain(vector, width, size, numbers);
    transform_plain(numbers, size);
}

static void round_plain(const float *numbers, float scale, int8_t *ret_sketch)
{
    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        float number = numbers[i] * scale;

        ret_sketch[i] = (int8_t)lrintf(fmaxf(-LARGEST, fminf(LARGEST, number)));
    }
}

#if defined(__x86_64__)
AVX2 static void round_avx2(const float *numbers, float scale, int8_t *ret_sketch)
{
    const __m256 scales = _mm256_set1_ps(scale);

    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i += LANES) {
        __m256 number = _mm256_mul_ps(_mm256_loadu_ps(numbers + i), scales);
        __m256i whole = _mm256_cvtps_epi32(_mm256_max_ps(
            _mm256_min_ps(number, _mm256_set1_ps(LARGEST)), _mm256_set1_ps(-LARGEST)));
        __m128i words =
            _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));

        _mm_storel_epi64((__m128i_u *)(void *)(ret_sketch + i), _mm_packs_epi16(words, words));
    }
}
#endif

/* Scales the kept numbers to the same length for every vector, so that the product of two sketches estimates a cosine: of
 * similar vectors with a small error, since the lengths of their projections vary together. */
static void quantise(enum vectors_path path, const float *numbers, int8_t *ret_sketch)
{
    float squares = 0;
    float scale = 0;

    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        squares += numbers[i] * numbers[i];
    }
    scale = squares > 0 ? SPREAD * sqrtf((float)VECTORS_SKETCH_BYTES / squares) : 0;
#if defined(__x86_64__)
    if (path == VECTORS_AVX2) {
        round_avx2(numbers, scale, ret_sketch);
        return;
    }
#endif
    (void)path;
    round_plain(numbers, scale, ret_sketch);
}

void vectors_sketch(enum vectors_path path, const float *vector, size_t width, int8_t *ret_sketch)
{
    float numbers[VECTORS_WIDTH_MAX];
    size_t size = VECTORS_SKETCH_BYTES;
    size_t step = 0;

    ASSERT(width <= VECTORS_WIDTH_MAX);
    while (size < width) {
        size *= 2;
    }
    project(path, vector, width, size, numbers);
    step = size / VECTORS_SKETCH_BYTES;
    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        /* Keeps every `step`-th place; `step` is a power of two. It is not before the place that it is moved to. */
        numbers[i] = numbers[i * step + (mix((uint32_t)i) & (step - 1))];
    }
    quantise(path, numbers, ret_sketch);
}
