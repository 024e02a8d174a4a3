/*
 * sketch.c: a random projection (Ailon and Chazelle, "The fast Johnson-Lindenstrauss transform", 2009):
 * random signs and a Walsh-Hadamard transform spread each number over all places, of which 256 are
 * kept. The signs and places come from a fixed generator.
 */
#include "server/domain/vectors/vectors.h"
#include "store/base/assert.h"

#include <math.h>

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

/* Replaces sums by the transform of `size` numbers, a power of two. */
static void transform(float *numbers, size_t size)
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

/* Scales the kept numbers to the same length for every vector, so that the product of two sketches estimates a cosine: of
 * similar vectors with a small error, since the lengths of their projections vary together. */
static void quantise(const float *numbers, int8_t *ret_sketch)
{
    float squares = 0;
    float scale = 0;

    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        squares += numbers[i] * numbers[i];
    }
    scale = squares > 0 ? SPREAD * sqrtf((float)VECTORS_SKETCH_BYTES / squares) : 0;
    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        float number = numbers[i] * scale;

        ret_sketch[i] = (int8_t)lrintf(fmaxf(-LARGEST, fminf(LARGEST, number)));
    }
}

void vectors_sketch(const float *vector, size_t width, int8_t *ret_sketch)
{
    float numbers[VECTORS_WIDTH_MAX] = {0};
    size_t size = VECTORS_SKETCH_BYTES;
    size_t step = 0;

    ASSERT(width <= VECTORS_WIDTH_MAX);
    while (size < width) {
        size *= 2;
    }
    for (size_t i = 0; i < width; i++) {
        bool negative = (mix((uint32_t)i + SIGN_SEED) & 1) != 0;

        numbers[i] = negative ? -vector[i] : vector[i];
    }
    transform(numbers, size);
    step = size / VECTORS_SKETCH_BYTES;
    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        /* Keeps every `step`-th place. It is not before the place that it is moved to. */
        numbers[i] = numbers[i * step + mix((uint32_t)i) % step];
    }
    quantise(numbers, ret_sketch);
}
