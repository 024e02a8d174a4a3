/*
 * calibration.c: piecewise linear maps, and the numbers of a text as sorted texts.
 */
#include "server/domain/embed/calibration.h"

#include "server/domain/embed/letters.h"

#include <stdlib.h>

#define KNOTS 5
/* Digits of a number that are compared. */
#define DIGITS_MAX 31

struct knot {
    int cosine; /* thousandths */
    int score;
};

/* The maps, by profile and by whether the embedder has a model. */
static const struct knot maps[CALIBRATION_COUNT][2][KNOTS] = {
#define MAP(profile, has_model, ...) [profile][(has_model) ? 1 : 0] = {__VA_ARGS__},
#include "server/domain/embed/calibration.def"
#undef MAP
};

float calibration_show(enum calibration_profile profile, bool has_model, float cosine)
{
    const struct knot *knots = maps[profile][has_model ? 1 : 0];
    float at = cosine * 1000;

    if (!(at > (float)knots[0].cosine)) {
        return (float)knots[0].score / 1000;
    }
    for (size_t i = 1; i < KNOTS; i++) {
        const struct knot *from = &knots[i - 1];
        const struct knot *to = &knots[i];

        if (at <= (float)to->cosine) {
            float share = (at - (float)from->cosine) / (float)(to->cosine - from->cosine);

            return ((float)from->score + share * (float)(to->score - from->score)) / 1000;
        }
    }
    return (float)knots[KNOTS - 1].score / 1000;
}

struct number {
    char digits[DIGITS_MAX + 1]; /* zeroes after them */
};

struct numbers {
    struct number at[CALIBRATION_NUMBERS_MAX];
    size_t count;
};

static bool is_digit(const struct points *letters, size_t at)
{
    return at < letters->count && letters->at[at] >= '0' && letters->at[at] <= '9';
}

/* Reads the number that begins at `from`; returns the place after it. */
static size_t read_number(const struct points *letters, size_t from, struct number *number)
{
    size_t at = from;
    size_t count = 0;

    while (letters->at[at] == '0' && is_digit(letters, at + 1)) {
        at++;
    }
    while (is_digit(letters, at) ||
           (at < letters->count && (letters->at[at] == '.' || letters->at[at] == ',') &&
            is_digit(letters, at + 1))) {
        if (count < DIGITS_MAX && letters->at[at] != ',') {
            number->digits[count++] = (char)letters->at[at];
        }
        at++;
    }
    return at;
}

static int compare_numbers(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct number));
}

static enum err find_numbers(struct arena *arena, struct slice text, struct numbers *numbers)
{
    struct points letters = {NULL, 0};
    enum err err = letters_read(arena, text, &letters);
    size_t at = 0;

    if (err != OK) {
        return err;
    }
    while (at < letters.count && numbers->count < CALIBRATION_NUMBERS_MAX) {
        if (is_digit(&letters, at)) {
            at = read_number(&letters, at, &numbers->at[numbers->count++]);
        } else {
            at++;
        }
    }
    qsort(numbers->at, numbers->count, sizeof(numbers->at[0]), compare_numbers);
    return OK;
}

enum err calibration_compare_numbers(struct arena *arena, struct slice a, struct slice b,
                                     bool *ret_differ)
{
    struct numbers left = {.count = 0};
    struct numbers right = {.count = 0};
    enum err err = find_numbers(arena, a, &left);

    if (err == OK) {
        err = find_numbers(arena, b, &right);
    }
    if (err == OK) {
        *ret_differ = left.count != right.count ||
                      memcmp(left.at, right.at, left.count * sizeof(left.at[0])) != 0;
    }
    return err;
}
