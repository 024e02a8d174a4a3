/*
 * text_similarity.c: how well the similarity of two texts agrees with people's grades, and what a text
 * costs. Reads pairs with grades (a table with the columns set, score, text_a, text_b), computes the
 * Spearman correlation of the grades with each part's cosine and with their weighted mean, whose weight
 * is chosen on four fifths of the pairs and measured on the last fifth, five times; and the cosine that
 * best separates grades of at least 4, for the maps of calibration.c. The cost is CPU time of this thread.
 *
 *   bench_text_similarity MODEL|- PAIRS.tsv
 */
#include "server/domain/embed/embedder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define PAIRS_MAX 20000
#define FOLDS 5
#define WEIGHTS 21 /* 0, 0.05 ... 1 */
#define SAME_GRADE 4 /* of 5: a pair that means the same */
#define THRESHOLDS 200
#define COST_ROUNDS 200

struct pair {
    double grade;
    double encoder;
    double ngrams;
    double mean; /* weighted */
};

static struct arena arena;
static struct arena scratch;

static struct slice read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(&arena, FILE_BYTES_MAX);
    size_t size = 0;

    if (file == NULL || bytes == NULL) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    bytes += (MODEL_ALIGN_BYTES - (uintptr_t)bytes % MODEL_ALIGN_BYTES) % MODEL_ALIGN_BYTES;
    size = fread(bytes, 1, FILE_BYTES_MAX - MODEL_ALIGN_BYTES, file);
    (void)fclose(file);
    return slice_of(bytes, size);
}

static double cpu_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static const double *sort_by;

static int compare_indices(const void *a, const void *b)
{
    double left = sort_by[*(const size_t *)a];
    double right = sort_by[*(const size_t *)b];

    return (left > right) - (left < right);
}

/* Ranks from 1; equal values have the mean of their ranks. */
static void rank(const double *values, size_t count, double *ranks)
{
    static size_t order[PAIRS_MAX];
    size_t from = 0;

    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    sort_by = values;
    qsort(order, count, sizeof(order[0]), compare_indices);
    while (from < count) {
        size_t to = from + 1;

        while (to < count && values[order[to]] == values[order[from]]) {
            to++;
        }
        for (size_t i = from; i < to; i++) {
            ranks[order[i]] = (double)(from + to + 1) / 2;
        }
        from = to;
    }
}

static double spearman(const double *a, const double *b, size_t count)
{
    static double ranks_a[PAIRS_MAX];
    static double ranks_b[PAIRS_MAX];
    double mean = (double)(count + 1) / 2;
    double product = 0;
    double squares_a = 0;
    double squares_b = 0;

    rank(a, count, ranks_a);
    rank(b, count, ranks_b);
    for (size_t i = 0; i < count; i++) {
        product += (ranks_a[i] - mean) * (ranks_b[i] - mean);
        squares_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
        squares_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
    }
    return product / sqrt(squares_a * squares_b);
}

/* Measures the weighted mean on the pairs of a fold, or on all others. */
static double measure(const struct pair *pairs, size_t count, double weight, size_t fold,
                      bool inside)
{
    static double grades[PAIRS_MAX];
    static double means[PAIRS_MAX];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if ((i % FOLDS == fold) == inside) {
            grades[used] = pairs[i].grade;
            means[used++] = weight * pairs[i].encoder + (1 - weight) * pairs[i].ngrams;
        }
    }
    return spearman(grades, means, used);
}

static void cross_validate(const struct pair *pairs, size_t count)
{
    double sum = 0;

    for (size_t fold = 0; fold < FOLDS; fold++) {
        double best = -1;
        double weight = 0;

        for (size_t i = 0; i < WEIGHTS; i++) {
            double trained = measure(pairs, count, (double)i / (WEIGHTS - 1), fold, false);

            if (trained > best) {
                best = trained;
                weight = (double)i / (WEIGHTS - 1);
            }
        }
        sum += measure(pairs, count, weight, fold, true);
        (void)printf("fold %zu: encoder's weight %.2f, Spearman %.3f\n", fold + 1, weight,
                     measure(pairs, count, weight, fold, true));
    }
    (void)printf("cross-validated Spearman %.3f\n", sum / FOLDS);
}

/* Splits the next tab- or line-terminated field off. */
static struct slice take_field(struct slice *rest)
{
    size_t size = 0;
    struct slice field;

    while (size < rest->size && rest->data[size] != '\t' && rest->data[size] != '\n') {
        size++;
    }
    field = slice_of(rest->data, size);
    *rest = slice_after(*rest, size < rest->size ? size + 1 : size);
    return field;
}

/* The cosines of each part, from vectors with the parts' shares. */
static void compare(struct embedder *embedder, const struct slice texts[2], struct pair *pair)
{
    float vectors[2 * EMBEDDER_WIDTH_MAX];
    size_t width = embedder_width(embedder);
    size_t encoder = width - NGRAMS_WIDTH;

    arena_reset(&scratch);
    if (embedder_embed(embedder, &scratch, SLICE("bench"), texts, 2, vectors) != OK) {
        exit(EXIT_FAILURE);
    }
    pair->encoder = encoder == 0 ? 0 : (double)embedder_cosine(vectors, vectors + width, encoder);
    pair->ngrams =
        (double)embedder_cosine(vectors + encoder, vectors + width + encoder, NGRAMS_WIDTH);
    pair->mean = (double)embedder_cosine(vectors, vectors + width, width);
}

static size_t read_pairs(struct embedder *embedder, const char *path, struct pair *pairs)
{
    struct slice rest = read_file(path);
    size_t count = 0;

    for (size_t i = 0; i < 4; i++) {
        (void)take_field(&rest); /* the header */
    }
    while (rest.size > 0 && count < PAIRS_MAX) {
        struct slice texts[2];
        char grade[32] = {0};
        struct slice field;

        (void)take_field(&rest);
        field = take_field(&rest);
        memcpy(grade, field.data, field.size < sizeof(grade) ? field.size : sizeof(grade) - 1);
        pairs[count].grade = strtod(grade, NULL);
        texts[0] = take_field(&rest);
        texts[1] = take_field(&rest);
        compare(embedder, texts, &pairs[count]);
        count++;
    }
    return count;
}

static void print_correlations(const struct pair *pairs, size_t count)
{
    static double grades[PAIRS_MAX];
    static double means[PAIRS_MAX];

    for (size_t i = 0; i < count; i++) {
        grades[i] = pairs[i].grade;
        means[i] = pairs[i].mean;
    }
    (void)printf("%zu pairs: Spearman %.3f; n-grams %.3f, encoder %.3f\n", count,
                 spearman(grades, means, count), measure(pairs, count, 0, FOLDS, false),
                 measure(pairs, count, 1, FOLDS, false));
}

/* Counts pairs that mean the same and have the cosine, others that have it, and the same without it. */
static void count_above(const struct pair *pairs, size_t count, double cosine, size_t counts[3])
{
    memset(counts, 0, 3 * sizeof(counts[0]));
    for (size_t i = 0; i < count; i++) {
        bool same = pairs[i].grade >= SAME_GRADE;
        bool above = pairs[i].mean >= cosine;

        counts[0] += same && above ? 1 : 0;
        counts[1] += !same && above ? 1 : 0;
        counts[2] += same && !above ? 1 : 0;
    }
}

static void print_threshold(const struct pair *pairs, size_t count)
{
    double best = 0;
    double best_cosine = 0;

    for (size_t i = 0; i < THRESHOLDS; i++) {
        double cosine = (double)i / THRESHOLDS;
        size_t counts[3];
        double f1 = 0;

        count_above(pairs, count, cosine, counts);
        f1 = counts[0] == 0
                 ? 0
                 : (double)(2 * counts[0]) / (double)(2 * counts[0] + counts[1] + counts[2]);
        if (f1 > best) {
            best = f1;
            best_cosine = cosine;
        }
    }
    (void)printf("grades from %d: F1 %.3f at cosine %.3f\n", SAME_GRADE, best, best_cosine);
}

/* A sentence of 14 tokens: nothing in it is cached, since its path is not that of the embedder. */
static void print_cost(struct slice file)
{
    static const char sentence[] = "What is the capital of France, and how many people live there?";
    enum linear_path paths[2] = {linear_best_path(), LINEAR_PLAIN};
    struct tokens tokens;
    struct model model;
    double from = 0;

    if (model_open(file, &model) != OK) {
        exit(EXIT_FAILURE);
    }
    from = cpu_us();
    for (size_t i = 0; i < COST_ROUNDS; i++) {
        arena_reset(&scratch);
        if (tokens_of(&model, &scratch, slice_text(sentence), &tokens) != OK) {
            exit(EXIT_FAILURE);
        }
    }
    (void)printf("%zu tokens: split in %.1f us", tokens.count, (cpu_us() - from) / COST_ROUNDS);
    for (size_t path = 0; path < 2; path++) {
        float vector[MODEL_WIDE];

        from = cpu_us();
        for (size_t i = 0; i < COST_ROUNDS; i++) {
            arena_reset(&scratch);
            if (encoder_embed(&model, paths[path], &scratch, &tokens, 1, vector) != OK) {
                exit(EXIT_FAILURE);
            }
        }
        (void)printf(", %s %.2f ms", paths[path] == LINEAR_AVX2 ? "encoded by AVX2 in" : "plain",
                     (cpu_us() - from) / COST_ROUNDS / 1000);
    }
    (void)printf("\n");
}

int main(int argc, char **argv)
{
    static struct pair pairs[PAIRS_MAX];
    struct slice file = {NULL, 0};
    struct embedder *embedder = NULL;
    size_t count = 0;

    if (argc != 3) {
        (void)fprintf(stderr, "usage: bench_text_similarity MODEL|- PAIRS.tsv\n");
        return 2;
    }
    arena_init(&arena, (size_t)512 << 20);
    arena_init(&scratch, (size_t)64 << 20);
    if (strcmp(argv[1], "-") != 0) {
        file = read_file(argv[1]);
    }
    if (embedder_new(&arena, file, &embedder) != OK) {
        (void)fprintf(stderr, "%s: not a model file\n", argv[1]);
        return EXIT_FAILURE;
    }
    count = read_pairs(embedder, argv[2], pairs);
    print_correlations(pairs, count);
    print_threshold(pairs, count);
    if (embedder_has_model(embedder)) {
        cross_validate(pairs, count);
        print_cost(file);
    }
    embedder_free(embedder);
    arena_deinit(&scratch);
    arena_deinit(&arena);
    return EXIT_SUCCESS;
}
