/*
 * layout_families.c: how accurately layout families are recognised. Measures the documents of a
 * folder whose manifest.tsv names their layouts (path, source, licence, kind, layout_group), and
 * ingests them in random orders, like one organisation. Prints, for the documents of real suppliers
 * and for generated ones (source "own") apart:
 * - the pairs of documents that are similar enough to be of one family, of one layout and of two;
 * - the later documents of a layout whose newest example is of the right layout, of a wrong one, or
 *   missing, and the first documents of a layout that get an example, which can only be wrong;
 *   by exact fingerprint, by FAMILY (first of the fingerprint within the family, then of the
 *   family, then of the fingerprint), by FAMILY without that last step, and only by family.
 * Real documents without a layout_group (invoices, and pages with tables) are layouts of their own.
 *
 * Rates are means over all orders, with 95% intervals by Wilson's score over documents; documents of
 * one layout are not independent, so the true intervals are wider.
 *
 * layout_families FOLDER [--orders N] [--threshold HUNDREDTHS, 30 or more] [--dump]
 */
#include "server/domain/fingerprint/fingerprint.h"
#include "server/jobs/pdf/measure/measure.h"
#include "store/base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DOCUMENTS_MAX 4096
#define FIELDS_MAX 16
#define ORDERS_DEFAULT 200
/* Maximum sketches that a family keeps: of its first document, and of its newest ones. */
#define NEWEST_MAX 15
#define NONE SIZE_MAX

struct sample {
    char path[256];
    char group[64];
    bool is_generated;
    bool has_fingerprint;
    char fingerprint[2 * SHA256_BYTES];
    struct family_sketch sketch;
    double sketch_us; /* CPU time of the sketch, and of all other measuring */
    double other_us;
};

enum mode {
    MODE_EXACT,
    MODE_FAMILY,
    MODE_FAMILY_WITHOUT_EXACT, /* documents of other families */
    MODE_FAMILY_ONLY,
    MODES
};

static const char *const mode_names[MODES] = {"EXACT", "FAMILY", "FAMILY, no other exact",
                                              "family only"};

struct outcome {
    double later; /* documents of a layout that was seen before */
    double right;
    double wrong;
    double first; /* documents of a new layout */
    double first_wrong;
};

/* Documents are named by their place in the order. */
struct family {
    size_t first;
    size_t newest[NEWEST_MAX]; /* a ring buffer */
    size_t count; /* number of documents */
};

struct bench {
    struct sample *samples;
    size_t count;
    unsigned threshold; /* hundredths */
    unsigned orders;
};

/* An order of the documents of a set. */
struct run {
    const struct bench *bench;
    const struct sample **order;
    size_t count;
    size_t *family_of; /* family of each document; NONE if unknown */
    struct family *families;
    size_t family_count;
};

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fail(const char *what)
{
    fprintf(stderr, "layout_families: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- input and measurement ---- */

static size_t split(char *line, char *fields[FIELDS_MAX])
{
    size_t count = 0;

    line[strcspn(line, "\r\n")] = '\0';
    while (count < FIELDS_MAX) {
        fields[count++] = line;
        line = strchr(line, '\t');
        if (line == NULL) {
            break;
        }
        *line++ = '\0';
    }
    return count;
}

/* Documents of labelled layouts, and real ones that have a layout each. Others are damaged, or changed
 * copies of these. */
static bool is_wanted(const char *kind, const char *group)
{
    return group[0] != '\0' || strcmp(kind, "invoice") == 0 || strcmp(kind, "table-truth") == 0;
}

static void read_manifest(struct bench *bench, const char *folder)
{
    char line[4096];
    FILE *file = NULL;

    snprintf(line, sizeof(line), "%s/manifest.tsv", folder);
    file = fopen(line, "re");
    if (file == NULL) {
        fail(line);
    }
    while (fgets(line, sizeof(line), file) != NULL && bench->count < DOCUMENTS_MAX) {
        char *fields[FIELDS_MAX];
        struct sample *sample = &bench->samples[bench->count];

        if (split(line, fields) < 5 || strcmp(fields[0], "path") == 0 ||
            !is_wanted(fields[3], fields[4])) {
            continue;
        }
        snprintf(sample->path, sizeof(sample->path), "%s", fields[0]);
        snprintf(sample->group, sizeof(sample->group), "%s",
                 fields[4][0] != '\0' ? fields[4] : fields[0]);
        sample->is_generated = strcmp(fields[1], "own") == 0;
        bench->count++;
    }
    fclose(file);
}

static void take_fingerprint(struct sample *sample, const struct pdf_text *text,
                             const struct pdf_explanation *explanation)
{
    struct document_measures measures = {.page_count = text->page_count,
                                         .covered_cells = text->covered_cells,
                                         .page_cells = text->page_cells,
                                         .has_table_count = true};
    struct document_page *pages = calloc(text->page_count, sizeof(*pages));
    struct layout_fingerprint fingerprint;
    struct arena arena;

    arena_init(&arena, (size_t)16 << 20);
    for (uint32_t i = 0; pages != NULL && i < text->page_count; i++) {
        pages[i] = (struct document_page){text->pages[i].width, text->pages[i].height};
    }
    for (uint32_t i = 0; i < explanation->table_count; i++) {
        measures.table_count += explanation->tables[i].counted;
    }
    measures.pages = pages;
    if (pages == NULL || fingerprint_of_measures(&arena, &measures, &fingerprint) != OK) {
        fail("fingerprint");
    }
    memcpy(sample->fingerprint, fingerprint.text, sizeof(sample->fingerprint));
    sample->has_fingerprint = true;
    arena_deinit(&arena);
    free(pages);
}

static void measure_sample(struct sample *sample, const char *folder)
{
    char path[1024];
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    struct pdf_explanation explanation = {0};
    double start = now_us();
    double sketched = 0;
    int fd = -1;

    snprintf(path, sizeof(path), "%s/%s", folder, sample->path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail(path);
    }
    if (measure_open(fd, (struct slice){0}, &document) == PDF_READ &&
        measure_text(document, &text) == PDF_READ &&
        measure_tables(document, 0, &explanation) == PDF_CUT_NONE) {
        sketched = now_us();
        measure_sketch(document, &explanation, &sample->sketch);
        sample->sketch_us = now_us() - sketched;
        sample->other_us = sketched - start;
        take_fingerprint(sample, &text, &explanation);
    } else {
        fprintf(stderr, "layout_families: %s could not be measured\n", path);
    }
    close(fd);
    measure_close(document);
}

/* ---- one order ---- */

/* Returns the decision of the library, with at least the given similarity. */
static bool is_family(const struct bench *bench, const struct sample *a, const struct sample *b,
                      struct family_similarity *ret_similarity)
{
    return family_sketch_is_family(&a->sketch, &b->sketch, ret_similarity) &&
           100 * ret_similarity->shared >= bench->threshold * ret_similarity->of;
}

static bool is_same_layout(const struct sample *a, const struct sample *b)
{
    return strcmp(a->group, b->group) == 0;
}

static bool is_exact(const struct sample *a, const struct sample *b)
{
    return a->has_fingerprint && b->has_fingerprint &&
           memcmp(a->fingerprint, b->fingerprint, sizeof(a->fingerprint)) == 0;
}

/* Returns the family with the most similar sketch, the newest among equals; NONE if there is
 * none. */
static size_t find_family(const struct run *run, size_t place)
{
    struct family_similarity best = {.of = 0};
    size_t best_place = 0;
    size_t best_family = NONE;

    for (size_t i = 0; i < run->family_count; i++) {
        const struct family *family = &run->families[i];
        size_t kept = family->count - 1 < NEWEST_MAX ? family->count - 1 : NEWEST_MAX;

        for (size_t j = 0; j <= kept; j++) {
            size_t candidate = j == kept ? family->first : family->newest[j];
            struct family_similarity similarity;
            bool similar =
                is_family(run->bench, run->order[place], run->order[candidate], &similarity);
            int order = family_similarity_order(similarity, best);

            if (similar && (order > 0 || (order == 0 && candidate > best_place))) {
                best = similarity;
                best_place = candidate;
                best_family = i;
            }
        }
    }
    return best_family;
}

static void join_family(struct run *run, size_t place, size_t found)
{
    struct family *family = NULL;

    if (run->order[place]->sketch.count == 0) {
        run->family_of[place] = NONE;
        return;
    }
    if (found == NONE) {
        found = run->family_count++;
        run->families[found] = (struct family){.first = place, .count = 1};
    } else {
        family = &run->families[found];
        family->newest[(family->count - 1) % NEWEST_MAX] = place;
        family->count++;
    }
    run->family_of[place] = found;
}

/* Returns the newest document before `place` of the same fingerprint, if requested, and of
 * `family`, unless NONE. */
static size_t find_newest(const struct run *run, size_t place, bool exact, size_t family)
{
    for (size_t i = place; i > 0; i--) {
        if ((!exact || is_exact(run->order[place], run->order[i - 1])) &&
            (family == NONE || run->family_of[i - 1] == family)) {
            return i - 1;
        }
    }
    return NONE;
}

static void find_examples(const struct run *run, size_t place, size_t family, size_t found[MODES])
{
    size_t of_family = family == NONE ? NONE : find_newest(run, place, false, family);
    size_t both = family == NONE ? NONE : find_newest(run, place, true, family);

    found[MODE_EXACT] = find_newest(run, place, true, NONE);
    found[MODE_FAMILY_ONLY] = of_family;
    found[MODE_FAMILY_WITHOUT_EXACT] = both != NONE ? both : of_family;
    if (run->order[place]->sketch.count == 0) {
        found[MODE_FAMILY_WITHOUT_EXACT] = found[MODE_EXACT];
    }
    found[MODE_FAMILY] = found[MODE_FAMILY_WITHOUT_EXACT] != NONE ? found[MODE_FAMILY_WITHOUT_EXACT]
                                                                  : found[MODE_EXACT];
}

static void count_example(const struct run *run, size_t place, size_t found, bool is_first,
                          struct outcome *outcome)
{
    bool right = found != NONE && is_same_layout(run->order[place], run->order[found]);

    if (is_first) {
        outcome->first++;
        outcome->first_wrong += found != NONE;
        return;
    }
    outcome->later++;
    outcome->right += right;
    outcome->wrong += found != NONE && !right;
}

static void run_order(struct run *run, struct outcome outcomes[MODES])
{
    run->family_count = 0;
    for (size_t place = 0; place < run->count; place++) {
        size_t found[MODES];
        size_t family = find_family(run, place);
        bool is_first = true;

        for (size_t i = 0; i < place; i++) {
            is_first = is_first && !is_same_layout(run->order[i], run->order[place]);
        }
        find_examples(run, place, family, found);
        for (int mode = 0; mode < MODES; mode++) {
            count_example(run, place, found[mode], is_first, &outcomes[mode]);
        }
        join_family(run, place, family);
    }
}

static void shuffle(const struct sample **order, size_t count, struct random *random)
{
    for (size_t i = count; i > 1; i--) {
        uint64_t draw = 0;
        size_t other = 0;
        const struct sample *kept = order[i - 1];

        random_fill(random, &draw, sizeof(draw));
        other = (size_t)(draw % i);
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* ---- printing ---- */

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Wilson's score interval of a share of `whole` documents. */
static void print_share(const char *name, double part, double whole)
{
    const double z = 1.96;
    double share = whole > 0 ? part / whole : 0;
    double scale = whole > 0 ? 1 + z * z / whole : 1;
    double middle = whole > 0 ? (share + z * z / (2 * whole)) / scale : 0;
    double reach =
        whole > 0 ? z / scale * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)) : 0;

    printf("  %s %5.1f%% [%.1f, %.1f]", name, 100 * share, 100 * fmax(0, middle - reach),
           100 * fmin(1, middle + reach));
}

static void print_pairs(const struct bench *bench, const struct run *run)
{
    size_t pairs[2] = {0, 0};
    size_t similar[2] = {0, 0};

    for (size_t i = 0; i < run->count; i++) {
        for (size_t j = 0; j < i; j++) {
            bool same = is_same_layout(run->order[i], run->order[j]);
            struct family_similarity similarity;

            pairs[same]++;
            similar[same] += is_family(bench, run->order[i], run->order[j], &similarity);
        }
    }
    printf(
        "  pairs of one layout %zu of %zu similar (%.1f%%), of two layouts %zu of %zu (%.3f%%)\n",
        similar[1], pairs[1], percent((double)similar[1], (double)pairs[1]), similar[0], pairs[0],
        percent((double)similar[0], (double)pairs[0]));
}

static void print_outcome(const char *name, const struct outcome *outcome, double orders)
{
    double later = outcome->later / orders;
    double first = outcome->first / orders;

    printf("%-24s", name);
    print_share("right", outcome->right / orders, later);
    print_share("wrong", outcome->wrong / orders, later);
    printf("  none %5.1f%%",
           percent(outcome->later - outcome->right - outcome->wrong, outcome->later));
    printf("  | new layouts matched %.2f of %.0f", outcome->first_wrong / orders, first);
    print_share("| wrong of all", (outcome->wrong + outcome->first_wrong) / orders, later + first);
    printf("\n");
}

static void measure_set(const struct bench *bench, bool is_generated)
{
    struct outcome outcomes[MODES] = {{0}};
    struct random_seeded random;
    struct run run = {.bench = bench};

    run.order = calloc(bench->count + 1, sizeof(*run.order));
    run.family_of = calloc(bench->count + 1, sizeof(*run.family_of));
    run.families = calloc(bench->count + 1, sizeof(*run.families));
    if (run.order == NULL || run.family_of == NULL || run.families == NULL) {
        fail("memory");
    }
    for (size_t i = 0; i < bench->count; i++) {
        if (bench->samples[i].is_generated == is_generated) {
            run.order[run.count++] = &bench->samples[i];
        }
    }
    if (run.count > 0) {
        printf("%s: %zu documents, %u orders\n", is_generated ? "generated" : "real", run.count,
               bench->orders);
        print_pairs(bench, &run);
        for (unsigned seed = 0; seed < bench->orders; seed++) {
            random_seeded_init(&random, seed);
            shuffle(run.order, run.count, &random.random);
            run_order(&run, outcomes);
        }
        for (int mode = 0; mode < MODES; mode++) {
            print_outcome(mode_names[mode], &outcomes[mode], bench->orders);
        }
    }
    free(run.order);
    free(run.family_of);
    free(run.families);
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Prints the median and the 99th percentile of times. */
static void print_cost(const char *name, double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_numbers);
    printf("  %s p50 %.3f ms, p99 %.3f ms", name, values[count / 2] / 1000,
           values[count * 99 / 100] / 1000);
}

static void print_costs(const struct bench *bench)
{
    double *values = calloc(bench->count + 1, sizeof(*values));
    double features = 0;

    if (values == NULL || bench->count == 0) {
        fail("documents");
    }
    for (size_t i = 0; i < bench->count; i++) {
        values[i] = bench->samples[i].sketch_us;
        features += bench->samples[i].sketch.count;
    }
    printf("CPU of a document:");
    print_cost("sketch", values, bench->count);
    for (size_t i = 0; i < bench->count; i++) {
        values[i] = bench->samples[i].other_us;
    }
    print_cost("; all else", values, bench->count);
    printf("; mean features %.1f\n", features / (double)bench->count);
    free(values);
}

static void dump(const struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++) {
        const struct sample *sample = &bench->samples[i];

        printf("%s\t%s\t%d\t%.*s\t", sample->path, sample->group, sample->is_generated,
               (int)sizeof(sample->fingerprint), sample->fingerprint);
        for (uint32_t j = 0; j < sample->sketch.count; j++) {
            printf("%08x", sample->sketch.features[j]);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    struct bench bench = {.threshold = FAMILY_SIMILARITY_MIN_HUNDREDTHS, .orders = ORDERS_DEFAULT};
    bool dumps = false;
    bool usable = argc > 1;

    for (int i = 2; i < argc && usable; i++) {
        if (strcmp(argv[i], "--dump") == 0) {
            dumps = true;
        } else if (strcmp(argv[i], "--orders") == 0 && i + 1 < argc) {
            bench.orders = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--threshold") == 0 && i + 1 < argc) {
            bench.threshold = (unsigned)strtoul(argv[++i], NULL, 10);
        } else {
            usable = false;
        }
    }
    if (!usable || bench.orders == 0) {
        fprintf(stderr, "usage: layout_families FOLDER [--orders N] [--threshold HUNDREDTHS] "
                        "[--dump]\n");
        return 2;
    }
    bench.samples = calloc(DOCUMENTS_MAX, sizeof(*bench.samples));
    if (bench.samples == NULL) {
        fail("memory");
    }
    read_manifest(&bench, argv[1]);
    if (!measure_warm_up()) {
        fprintf(stderr,
                "layout_families: poppler-data can't be read; Asian text will be missing\n");
    }
    for (size_t i = 0; i < bench.count; i++) {
        measure_sample(&bench.samples[i], argv[1]);
    }
    if (dumps) {
        dump(&bench);
    } else {
        measure_set(&bench, false);
        measure_set(&bench, true);
        print_costs(&bench);
    }
    free(bench.samples);
    return 0;
}
