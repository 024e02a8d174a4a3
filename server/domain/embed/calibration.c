/*
 * calibration.c: piecewise linear maps, and the numbers of a text as sorted texts.
 */
#include "server/domain/embed/calibration.h"

#include "server/domain/embed/letters.h"

#include <math.h>
#include <stdlib.h>

#define KNOTS 5
/* Maximum digits of a number that are compared. */
#define DIGITS_MAX 31

struct knot {
    int cosine; /* thousandths */
    int score;
};

/* A profile's map for a kind of embedder, and its shares of the parts, in hundredths. */
struct profile {
    int shares[EMBEDDER_PARTS];
    struct knot knots[KNOTS];
};

static const struct profile profiles[CALIBRATION_COUNT][EMBEDDER_KINDS] = {
#define SHARES(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define PROFILE(profile, kind, shares, ...) [profile][kind] = {shares, {__VA_ARGS__}},
#include "server/domain/embed/calibration.def"
#undef PROFILE
#undef SHARES
};

float calibration_cosine(enum calibration_profile profile, enum embedder_kind kind, const float *a,
                         const float *b)
{
    const struct embedder_part_place *places = embedder_parts(kind);
    double product = 0;
    double squares_a = 0;
    double squares_b = 0;

    for (size_t part = 0; part < EMBEDDER_PARTS; part++) {
        double factor = places[part].share == 0
                            ? 0
                            : (double)profiles[profile][kind].shares[part] / places[part].share;

        for (size_t i = places[part].from; i < places[part].from + places[part].width; i++) {
            product += factor * (double)a[i] * (double)b[i];
            squares_a += factor * (double)a[i] * (double)a[i];
            squares_b += factor * (double)b[i] * (double)b[i];
        }
    }
    if (squares_a <= 0 || squares_b <= 0) {
        return 0;
    }
    product /= sqrt(squares_a * squares_b);
    return (float)fmax(-1, fmin(1, product));
}

float calibration_show(enum calibration_profile profile, enum embedder_kind kind, float cosine)
{
    const struct knot *knots = profiles[profile][kind].knots;
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

/* Finds differences that make two questions different, regardless of how similar their words are. */
static enum err find_vetoes(const struct embedder *embedder, struct arena *arena,
                            const struct slice texts[2], struct calibration *calibration)
{
    enum err err =
        calibration_compare_numbers(arena, texts[0], texts[1], &calibration->numbers_differ);

    if (err == OK) {
        err = embedder_find_antonyms(embedder, arena, texts, &calibration->antonyms);
    }
    if (err == OK && (calibration->numbers_differ || calibration->antonyms.found)) {
        calibration->shown = fminf(calibration->shown, CALIBRATION_VETO_SHOWN_MAX);
    }
    return err;
}

enum err calibration_compare(const struct embedder *embedder, struct arena *arena,
                             enum calibration_profile profile, const struct slice texts[2],
                             const float *const vectors[2], struct calibration *ret_calibration)
{
    enum embedder_kind kind = embedder_kind(embedder);
    struct calibration calibration = {0};
    enum err err = OK;

    calibration.cosine = calibration_cosine(profile, kind, vectors[0], vectors[1]);
    calibration.shown = calibration_show(profile, kind, calibration.cosine);
    if (profile == CALIBRATION_QUERY) {
        err = find_vetoes(embedder, arena, texts, &calibration);
    }
    if (err == OK) {
        *ret_calibration = calibration;
    }
    return err;
}
