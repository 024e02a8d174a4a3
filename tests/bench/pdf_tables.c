/*
 * pdf_tables.c: measures the accuracy of finding tables, on a folder with a manifest.tsv (path, kind, group,
 * page count, size of page 1 before its rotation, expected tables) and a regions.tsv (path, table, page from
 * 1, box in points from the lower left of the page as displayed). Prints region precision, recall and F1,
 * and how many pages and files have the exact number of tables, by method; then, if the manifest names
 * groups, the same by group, with 95% intervals. A region is found if a table that no other region uses has
 * an intersection with it of at least half of their union.
 *
 * pdf_tables FOLDER [--verbose | --exact-min PERCENT]
 *
 * --verbose prints the pages with wrong tables. --exact-min fails if fewer pages have the exact number.
 */
#include "server/jobs/pdf/measure/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 4096
#define REGIONS_MAX 65536
#define FIELDS_MAX 16
#define TABLES_MAX 1024
#define SAME_IOU_MIN 0.5
#define TEXT_ROWS_MIN 5 /* a text table with fewer never counts */
#define GROUPS_MAX 128
#define PAGES_MAX 65536
#define RESAMPLES 1000 /* number of resamples of the bootstrap */
#define RESAMPLE_SEED 20130825
#define WILSON_Z 1.959963985 /* quantile of a 95% interval */
#define MISSING (-1.0)

enum method {
    METHOD_TEXT, /* text tables as found, whether they count or not */
    METHOD_LATTICE,
    METHOD_RULES, /* tables by rules and by lattice */
    METHOD_ALL_RAW, /* all three kinds as found, without the minimum of rows for text tables */
    METHOD_ALL,
    METHODS
};

static const char *const method_names[METHODS] = {"text as found", "lattice", "lattice + rules",
                                                  "all as found", "all"};

struct sample {
    char path[256];
    char kind[32];
    char group[32]; /* may be empty */
    double page_count; /* MISSING: the file cannot be read */
    double width;
    double height;
    double tables; /* number of tables on all pages; MISSING: unknown */
};

struct region {
    char path[256];
    uint32_t page; /* page number, from 1 */
    struct pdf_box box; /* coordinates from the lower left */
};

struct score {
    unsigned found;
    unsigned right;
    unsigned wanted;
    unsigned pages;
    unsigned pages_exact;
    unsigned files;
    unsigned files_exact;
};

struct group {
    char name[32];
    struct score score; /* score of METHOD_ALL */
};

/* Tables of one page, by METHOD_ALL. */
struct page_counts {
    unsigned wanted;
    unsigned found;
    unsigned right;
};

struct bench {
    const char *folder;
    bool verbose;
    double exact_min; /* percentage of pages */
    struct group groups[GROUPS_MAX];
    size_t groups_count;
    struct sample *samples;
    size_t samples_count;
    struct region *regions;
    size_t regions_count;
    struct page_counts *page_counts;
    size_t page_counts_count;
    struct score regions_score[METHODS];
    struct score layouts_score[METHODS];
    unsigned manifest_wrong;
    unsigned manifest_checked;
    double milliseconds_text;
    double milliseconds_tables;
    unsigned pages;
};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6;
}

/* Cuts a line at tabs, in place. */
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

static double number_of(const char *text)
{
    char *end = NULL;
    double number = strtod(text, &end);

    return end == text || *end != '\0' ? MISSING : number;
}

static FILE *open_list(const char *folder, const char *name)
{
    char path[1024];
    FILE *file = NULL;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "pdf_tables: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return file;
}

static void read_manifest(struct bench *bench)
{
    char line[4096];
    FILE *file = open_list(bench->folder, "manifest.tsv");

    while (fgets(line, sizeof line, file) != NULL && bench->samples_count < FILES_MAX) {
        char *fields[FIELDS_MAX];
        struct sample *sample = &bench->samples[bench->samples_count];
        bool turned = false;

        if (split(line, fields) < 10 || strcmp(fields[0], "path") == 0) {
            continue;
        }
        snprintf(sample->path, sizeof sample->path, "%s", fields[0]);
        snprintf(sample->kind, sizeof sample->kind, "%s", fields[3]);
        snprintf(sample->group, sizeof sample->group, "%s", fields[4]);
        sample->page_count = number_of(fields[5]);
        turned = strcmp(fields[8], "90") == 0 || strcmp(fields[8], "270") == 0;
        sample->width = number_of(fields[turned ? 7 : 6]);
        sample->height = number_of(fields[turned ? 6 : 7]);
        sample->tables = number_of(fields[9]);
        bench->samples_count++;
    }
    fclose(file);
}

static void read_regions(struct bench *bench)
{
    char line[4096];
    FILE *file = open_list(bench->folder, "regions.tsv");

    while (fgets(line, sizeof line, file) != NULL && bench->regions_count < REGIONS_MAX) {
        char *fields[FIELDS_MAX];
        struct region *region = &bench->regions[bench->regions_count];

        if (split(line, fields) < 7 || strcmp(fields[0], "path") == 0) {
            continue;
        }
        snprintf(region->path, sizeof region->path, "%s", fields[0]);
        region->page = (uint32_t)number_of(fields[2]);
        region->box = (struct pdf_box){(float)number_of(fields[3]), (float)number_of(fields[4]),
                                       (float)number_of(fields[5]), (float)number_of(fields[6])};
        bench->regions_count++;
    }
    fclose(file);
}

static bool is_of(enum method method, const struct pdf_table *table)
{
    switch (method) {
    case METHOD_TEXT:
        return table->kind == PDF_TABLE_TEXT && table->rows >= TEXT_ROWS_MIN;
    case METHOD_LATTICE:
        return table->kind == PDF_TABLE_LATTICE && table->counted;
    case METHOD_RULES:
        return table->kind != PDF_TABLE_TEXT && table->counted;
    case METHOD_ALL_RAW:
        return table->kind == PDF_TABLE_TEXT || table->counted;
    case METHOD_ALL:
    case METHODS:
        break;
    }
    return table->counted;
}

static double overlap(const struct pdf_box *a, const struct pdf_box *b)
{
    double width = fmin(a->x2, b->x2) - fmax(a->x1, b->x1);
    double height = fmin(a->y2, b->y2) - fmax(a->y1, b->y1);
    double both = width > 0 && height > 0 ? width * height : 0;
    double either = (double)(a->x2 - a->x1) * (double)(a->y2 - a->y1) +
                    (double)(b->x2 - b->x1) * (double)(b->y2 - b->y1) - both;

    return either > 0 ? both / either : 0;
}

/* Boxes of one page, from the upper left. */
struct boxes {
    struct pdf_box items[TABLES_MAX];
    size_t count;
};

/* Returns the number of expected boxes that match different found boxes, assigning the best pairs
 * first. */
static unsigned match(const struct boxes *wanted, const struct boxes *found)
{
    static bool wanted_used[TABLES_MAX];
    static bool found_used[TABLES_MAX];
    unsigned right = 0;

    memset(wanted_used, 0, sizeof wanted_used);
    memset(found_used, 0, sizeof found_used);
    for (;;) {
        double best = 0;
        size_t best_wanted = 0;
        size_t best_found = 0;

        for (size_t i = 0; i < wanted->count * found->count; i++) {
            size_t w = i / found->count;
            size_t f = i % found->count;
            double same =
                wanted_used[w] || found_used[f] ? 0 : overlap(&wanted->items[w], &found->items[f]);

            if (same > best) {
                best = same;
                best_wanted = w;
                best_found = f;
            }
        }
        if (best < SAME_IOU_MIN) {
            return right;
        }
        wanted_used[best_wanted] = true;
        found_used[best_found] = true;
        right++;
    }
}

static void pick_wanted(const struct bench *bench, const struct sample *sample, uint32_t page,
                        double height, struct boxes *ret_boxes)
{
    ret_boxes->count = 0;
    for (size_t i = 0; i < bench->regions_count && ret_boxes->count < TABLES_MAX; i++) {
        const struct region *region = &bench->regions[i];

        if (region->page == page + 1 && strcmp(region->path, sample->path) == 0) {
            ret_boxes->items[ret_boxes->count++] =
                (struct pdf_box){region->box.x1, (float)(height - region->box.y2), region->box.x2,
                                 (float)(height - region->box.y1)};
        }
    }
}

static void pick_found(const struct pdf_explanation *explanation, enum method method,
                       struct boxes *ret_boxes)
{
    ret_boxes->count = 0;
    for (uint32_t i = 0; i < explanation->table_count && ret_boxes->count < TABLES_MAX; i++) {
        if (is_of(method, &explanation->tables[i])) {
            ret_boxes->items[ret_boxes->count++] = explanation->tables[i].box;
        }
    }
}

static void print_page(const struct sample *sample, uint32_t page, const struct boxes *wanted,
                       const struct pdf_explanation *explanation)
{
    static const char *const kinds[] = {"?", "lattice", "rules", "text"};

    printf("%s page %u\n", sample->path, page + 1);
    for (size_t i = 0; i < wanted->count; i++) {
        const struct pdf_box *box = &wanted->items[i];

        printf("    wanted             %5.0f %5.0f %5.0f %5.0f\n", (double)box->x1, (double)box->y1,
               (double)box->x2, (double)box->y2);
    }
    for (uint32_t i = 0; i < explanation->table_count; i++) {
        const struct pdf_table *table = &explanation->tables[i];

        printf("    %-7s %-9s %5.0f %5.0f %5.0f %5.0f  %u rows, %u cells\n", kinds[table->kind],
               table->counted ? "" : "set aside", (double)table->box.x1, (double)table->box.y1,
               (double)table->box.x2, (double)table->box.y2, table->rows, table->cells);
    }
}

static void count_page(struct score *score, size_t wanted, size_t found, unsigned right)
{
    score->pages++;
    score->pages_exact += wanted == found;
    score->wanted += (unsigned)wanted;
    score->found += (unsigned)found;
    score->right += right;
}

/* Returns the group's score; NULL if the sample has no group. */
static struct score *find_group(struct bench *bench, const struct sample *sample)
{
    if (sample->group[0] == '\0') {
        return NULL;
    }
    for (size_t i = 0; i < bench->groups_count; i++) {
        if (strcmp(bench->groups[i].name, sample->group) == 0) {
            return &bench->groups[i].score;
        }
    }
    if (bench->groups_count == GROUPS_MAX) {
        fprintf(stderr, "pdf_tables: more than %d groups\n", GROUPS_MAX);
        exit(1);
    }
    snprintf(bench->groups[bench->groups_count].name, sizeof bench->groups[0].name, "%s",
             sample->group);
    return &bench->groups[bench->groups_count++].score;
}

/* Scores one page, and adds the number of tables that each method found to `counts`. */
static void score_page(struct bench *bench, const struct sample *sample, uint32_t page,
                       double height, const struct pdf_explanation *explanation,
                       unsigned counts[METHODS])
{
    static struct boxes wanted;
    static struct boxes found;
    struct score *group = find_group(bench, sample);

    pick_wanted(bench, sample, page, height, &wanted);
    for (int method = 0; method < METHODS; method++) {
        struct score *score = &bench->regions_score[method];
        unsigned right = 0;

        pick_found(explanation, (enum method)method, &found);
        right = match(&wanted, &found);
        count_page(score, wanted.count, found.count, right);
        if (method == METHOD_ALL && bench->page_counts_count < PAGES_MAX) {
            bench->page_counts[bench->page_counts_count++] =
                (struct page_counts){(unsigned)wanted.count, (unsigned)found.count, right};
        }
        if (method == METHOD_ALL && group != NULL) {
            count_page(group, wanted.count, found.count, right);
        }
        counts[method] += (unsigned)found.count;
        if (method == METHOD_ALL && bench->verbose &&
            (wanted.count != found.count || right != found.count)) {
            print_page(sample, page, &wanted, explanation);
        }
    }
}

static void check_manifest(struct bench *bench, const struct sample *sample, enum pdf_reason reason,
                           const struct pdf_text *text)
{
    bool wrong = false;

    if (reason != PDF_READ) {
        wrong = sample->page_count >= 0;
    } else {
        wrong = sample->page_count != (double)text->page_count ||
                fabs(sample->width - text->pages[0].width) > 0.01 * fmax(1, sample->width) ||
                fabs(sample->height - text->pages[0].height) > 0.01 * fmax(1, sample->height);
    }
    bench->manifest_checked++;
    bench->manifest_wrong += wrong;
    if (wrong && bench->verbose) {
        printf("%s: pages and size are not the manifest's: reason %d, %u pages, %g x %g\n",
               sample->path, (int)reason, reason == PDF_READ ? text->page_count : 0,
               reason == PDF_READ ? text->pages[0].width : 0,
               reason == PDF_READ ? text->pages[0].height : 0);
    }
}

/* Tables of the pages of a document whose tables are known. */
static void measure_pages(struct bench *bench, const struct sample *sample,
                          struct measure_document *document, const struct pdf_text *text)
{
    bool has_regions = strcmp(sample->kind, "table-truth") == 0;
    struct score *scores = has_regions ? bench->regions_score : bench->layouts_score;
    unsigned counts[METHODS] = {0};

    for (uint32_t page = 0; page < text->page_count; page++) {
        struct pdf_explanation explanation = {0};
        double start = now_ms();
        enum pdf_cut cut = measure_tables(document, page, &explanation);

        bench->milliseconds_tables += now_ms() - start;
        bench->pages++;
        if (cut != PDF_CUT_NONE) {
            printf("%s page %u: cut %d\n", sample->path, page + 1, (int)cut);
        }
        if (has_regions) {
            score_page(bench, sample, page, text->pages[page].height, &explanation, counts);
            continue;
        }
        for (int method = 0; method < METHODS; method++) {
            static struct boxes found;

            pick_found(&explanation, (enum method)method, &found);
            counts[method] += (unsigned)found.count;
        }
        if (bench->verbose && text->page_count == 1 && counts[METHOD_ALL] != sample->tables) {
            print_page(sample, page, &(struct boxes){.count = 0}, &explanation);
        }
    }
    for (int method = 0; method < METHODS; method++) {
        scores[method].files++;
        scores[method].files_exact += counts[method] == sample->tables;
    }
    if (bench->verbose && counts[METHOD_ALL] != sample->tables) {
        printf("%s: %u tables, not %g\n", sample->path, counts[METHOD_ALL], sample->tables);
    }
}

static void measure_sample(struct bench *bench, const struct sample *sample)
{
    char path[1024];
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    enum pdf_reason reason = PDF_READ;
    double start = now_ms();
    int fd = -1;

    snprintf(path, sizeof path, "%s/%s", bench->folder, sample->path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "pdf_tables: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    reason = measure_open(fd, (struct slice){0}, &document);
    if (reason == PDF_READ) {
        reason = measure_text(document, &text);
    }
    close(fd);
    bench->milliseconds_text += now_ms() - start;
    check_manifest(bench, sample, reason, &text);
    if (reason == PDF_READ && sample->tables >= 0) {
        measure_pages(bench, sample, document, &text);
    }
    measure_close(document);
}

static double f1_of(const struct score *score)
{
    unsigned total = score->found + score->wanted;

    return total == 0 ? 1 : 2.0 * score->right / total;
}

/* Prints a share of pages with its Wilson interval. */
static void print_share(unsigned part, unsigned whole)
{
    double n = whole;
    double share = whole == 0 ? 0 : part / n;
    double z2 = WILSON_Z * WILSON_Z;
    double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = WILSON_Z * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n);

    printf("%4u of %4u pages, %5.1f%% (%.1f to %.1f)", part, whole, 100 * share,
           100 * (middle - half), 100 * (middle + half));
}

static void print_regions(const struct score *scores)
{
    printf("%-16s %5s %5s %5s  exact counts\n", "regions", "P", "R", "F1");
    for (int i = 0; i < METHODS; i++) {
        const struct score *score = &scores[i];

        printf("%-16s %.3f %.3f %.3f  ", method_names[i],
               score->found == 0 ? 0 : (double)score->right / score->found,
               score->wanted == 0 ? 0 : (double)score->right / score->wanted, f1_of(score));
        print_share(score->pages_exact, score->pages);
        printf(", %u of %u files\n", score->files_exact, score->files);
    }
}

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return (*a > *b) - (*a < *b);
}

/* Prints the interval of F1 that 95% of resampled sets of pages have. The draws are the same in each
 * run (Knuth's MMIX generator). */
static void print_f1_interval(const struct bench *bench)
{
    static double results[RESAMPLES];
    uint64_t state = RESAMPLE_SEED;

    for (size_t i = 0; i < RESAMPLES && bench->page_counts_count > 0; i++) {
        struct score sum = {0};

        for (size_t j = 0; j < bench->page_counts_count; j++) {
            const struct page_counts *counts = NULL;

            state = state * 6364136223846793005U + 1442695040888963407U;
            counts = &bench->page_counts[(state >> 33) % bench->page_counts_count];
            sum.wanted += counts->wanted;
            sum.found += counts->found;
            sum.right += counts->right;
        }
        results[i] = f1_of(&sum);
    }
    qsort(results, RESAMPLES, sizeof *results, compare_doubles);
    printf("F1 of all: %.3f to %.3f (95%% of %d resamples of pages)\n", results[RESAMPLES / 40],
           results[RESAMPLES - 1 - RESAMPLES / 40], RESAMPLES);
}

static void print_groups(const struct bench *bench)
{
    for (size_t i = 0; i < bench->groups_count; i++) {
        const struct score *score = &bench->groups[i].score;

        printf("%-16s wanted %3u, found %3u, right %3u, F1 %.3f  ", bench->groups[i].name,
               score->wanted, score->found, score->right, f1_of(score));
        print_share(score->pages_exact, score->pages);
        printf("\n");
    }
}

/* Prints all figures; returns the program's result. */
static int print_all(const struct bench *bench)
{
    const struct score *all = &bench->regions_score[METHOD_ALL];

    print_regions(bench->regions_score);
    print_f1_interval(bench);
    print_groups(bench);
    printf("layouts\n");
    for (int i = 0; i < METHODS; i++) {
        printf("%-16s %u of %u files\n", method_names[i], bench->layouts_score[i].files_exact,
               bench->layouts_score[i].files);
    }
    printf("page counts and sizes: %u of %u as in the manifest\n",
           bench->manifest_checked - bench->manifest_wrong, bench->manifest_checked);
    printf("CPU: text %.1f ms a document, tables %.2f ms a page (%u pages)\n",
           bench->milliseconds_text / bench->manifest_checked,
           bench->pages == 0 ? 0 : bench->milliseconds_tables / bench->pages, bench->pages);
    return all->pages_exact * 100.0 >= bench->exact_min * all->pages ? 0 : 1;
}

/* Kinds whose documents are read here: hostile and malformed ones need a sandbox. */
static bool is_harmless(const struct sample *sample)
{
    return strcmp(sample->kind, "hostile") != 0 && strcmp(sample->kind, "malformed") != 0;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    bool verbose = argc == 3 && strcmp(argv[2], "--verbose") == 0;
    bool judged = argc == 4 && strcmp(argv[2], "--exact-min") == 0 && number_of(argv[3]) >= 0;
    int result = 0;

    if (argc != 2 && !verbose && !judged) {
        fprintf(stderr, "usage: pdf_tables FOLDER [--verbose | --exact-min PERCENT]\n");
        return 2;
    }
    bench.folder = argv[1];
    bench.verbose = verbose;
    bench.exact_min = judged ? number_of(argv[3]) : 0;
    bench.samples = calloc(FILES_MAX, sizeof *bench.samples);
    bench.regions = calloc(REGIONS_MAX, sizeof *bench.regions);
    bench.page_counts = calloc(PAGES_MAX, sizeof *bench.page_counts);
    if (bench.samples == NULL || bench.regions == NULL || bench.page_counts == NULL) {
        return 1;
    }
    read_manifest(&bench);
    read_regions(&bench);
    if (!measure_warm_up()) {
        fprintf(stderr, "pdf_tables: poppler-data can't be read; Asian text will be missing\n");
    }
    for (size_t i = 0; i < bench.samples_count; i++) {
        if (is_harmless(&bench.samples[i])) {
            measure_sample(&bench, &bench.samples[i]);
        }
    }
    result = print_all(&bench);
    free(bench.samples);
    free(bench.regions);
    free(bench.page_counts);
    return result;
}
