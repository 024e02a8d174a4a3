/*
 * evaluator_accuracy.c: the agreement of the evaluator of decisions and of the detection of conflicts with people.
 * Reads decisions with labels and themes, and pairs of rules with labels (JSON lines). Clusters the decisions in their
 * order as the server does, classifies each with all of them recorded, and prints accuracy, macro-F1, B-cubed of the
 * clusters, and F1 of conflicts. The score from which on two decisions are of one cluster is chosen on four fifths of
 * the agents' decisions and measured on the last fifth, five times; `--errors` lists the errors at the score in use.
 *
 *   bench_evaluator_accuracy MODEL|- DECISIONS.jsonl RULE_PAIRS.jsonl [--errors]
 */
#include "server/domain/conflicts/conflicts.h"
#include "server/domain/embed/embedder.h"
#include "server/domain/evaluator/evaluator.h"
#include "server/domain/evaluator/theme.h"
#include "store/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define ROWS_MAX 4000
#define FOLDS 5
#define CLASSES 5
#define THRESHOLDS 61

struct row {
    struct slice comment;
    struct slice agent;
    struct slice reviewer;
    struct slice task;
    struct slice epic;
    struct slice theme;
    enum evaluator_class label;
    struct evaluator_input input;
    struct rule_parts parts;
    struct theme vector;
    size_t cluster; /* first row of the cluster */
    enum evaluator_class found;
};

struct scores {
    double accuracy;
    double macro_f1;
    double b3_f1;
};

static struct arena arena;
static struct arena scratch;
static struct row rows[ROWS_MAX];
static size_t row_count;

static const char *const class_names[CLASSES] = {"positive", "ambiguous", "generalizable_high",
                                                 "generalizable_low", "edge_case"};

static void need(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "evaluator_accuracy: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static struct slice read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(&arena, FILE_BYTES_MAX);
    size_t size = 0;

    need(file != NULL && bytes != NULL, path);
    bytes += (MODEL_ALIGN_BYTES - (uintptr_t)bytes % MODEL_ALIGN_BYTES) % MODEL_ALIGN_BYTES;
    size = fread(bytes, 1, FILE_BYTES_MAX - MODEL_ALIGN_BYTES, file);
    (void)fclose(file);
    return slice_of(bytes, size);
}

/* Takes the next line; returns false at the end. */
static bool next_line(struct slice *rest, struct slice *ret_line)
{
    const uint8_t *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    size_t size = end != NULL ? (size_t)(end - rest->data) : rest->size;

    *ret_line = slice_of(rest->data, size);
    *rest = slice_after(*rest, end != NULL ? size + 1 : size);
    return size > 0;
}

/* Returns the text of a member; empty if it is null or absent. */
static struct slice member_text(struct slice line, struct slice name)
{
    struct json_value value;
    struct slice text = {NULL, 0};

    if (json_member((struct json_value){JSON_OBJECT, line}, name, &value) && value.text.size > 0 &&
        value.text.data[0] == '"') {
        need(json_string(&arena, value.text, &text) == OK, "string");
    }
    return text;
}

static uint32_t member_number(struct slice line, struct slice name)
{
    struct json_value value;
    bool is_negative = false;
    uint64_t number = 0;

    if (json_member((struct json_value){JSON_OBJECT, line}, name, &value)) {
        (void)json_integer(value.text, &is_negative, &number);
    }
    return (uint32_t)number;
}

static enum evaluator_class class_of(struct slice name)
{
    for (size_t i = 0; i < CLASSES; i++) {
        if (slice_equal(name, slice_text(class_names[i]))) {
            return (enum evaluator_class)i;
        }
    }
    need(false, "label");
    return EVALUATOR_POSITIVE;
}

static void read_row(struct embedder *embedder, struct slice line)
{
    struct row *row = &rows[row_count++];
    size_t width = embedder_width(embedder);
    float *vector = (float *)arena_alloc(&scratch, width * sizeof(*vector));
    struct slice decision = member_text(line, SLICE("decision"));

    need(row_count < ROWS_MAX && vector != NULL, "rows");
    *row = (struct row){.comment = member_text(line, SLICE("reviewer_comment")),
                        .agent = member_text(line, SLICE("agent")),
                        .reviewer = member_text(line, SLICE("reviewer_id")),
                        .task = member_text(line, SLICE("task_id")),
                        .epic = member_text(line, SLICE("epic_id")),
                        .theme = member_text(line, SLICE("theme")),
                        .label = class_of(member_text(line, SLICE("label")))};
    need(comment_signals_read(&arena, row->comment, &row->input.signals) == OK, "signals");
    need(rule_parts_read(&arena, row->comment, &row->parts) == OK, "parts");
    need(embedder_embed(embedder, &scratch, SLICE("bench"), &row->comment, 1, vector) == OK,
         "vector");
    need(theme_make(&arena, vector, width, &row->input.signals, &row->vector) == OK, "theme");
    row->input.decision = slice_equal(decision, SLICE("APPROVED")) ? EVALUATOR_APPROVED
                          : slice_equal(decision, SLICE("REJECTED"))
                              ? EVALUATOR_REJECTED
                              : EVALUATOR_APPROVED_WITH_CHANGES;
    row->input.has_words = row->comment.size > 0;
    row->input.changed_lines = member_number(line, SLICE("diff_lines_changed"));
    row->input.has_correction = row->input.changed_lines > 0;
}

/* Puts each decision into the cluster of its agent with the best mean score, from the given one on. */
static void cluster(double cosine_min)
{
    int32_t *sum = arena_calloc(&scratch, THEME_WIDTH_MAX, sizeof(*sum));

    need(sum != NULL, "memory");
    for (size_t i = 0; i < row_count; i++) {
        double best = cosine_min;

        rows[i].cluster = i;
        for (size_t c = 0; c < i && evaluator_is_evidence(&rows[i].input); c++) {
            uint32_t members = 0;
            double cosine = 0;

            if (rows[c].cluster != c || !slice_equal(rows[c].agent, rows[i].agent) ||
                !evaluator_is_evidence(&rows[c].input)) {
                continue;
            }
            memset(sum, 0, THEME_WIDTH_MAX * sizeof(*sum));
            for (size_t m = c; m < i; m++) {
                for (size_t k = 0; rows[m].cluster == c && k < rows[m].vector.width; k++) {
                    sum[k] += rows[m].vector.numbers[k];
                }
                members += rows[m].cluster == c ? 1 : 0;
            }
            cosine = theme_mean_cosine(rows[i].vector.numbers, sum, rows[i].vector.width, members);
            if (cosine >= best) {
                best = cosine;
                rows[i].cluster = c;
            }
        }
    }
}

/* Returns whether no earlier member of the cluster has the same value. */
static bool is_new(size_t i, size_t offset)
{
    struct slice value;

    memcpy(&value, (const uint8_t *)&rows[i] + offset, sizeof(value));
    for (size_t j = 0; j < i; j++) {
        struct slice other;

        memcpy(&other, (const uint8_t *)&rows[j] + offset, sizeof(other));
        if (rows[j].cluster == rows[i].cluster && slice_equal(value, other)) {
            return false;
        }
    }
    return true;
}

static struct evaluator_support support_of(size_t cluster_row)
{
    struct evaluator_support support = {.members = 0};

    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].cluster != cluster_row) {
            continue;
        }
        support.members++;
        support.reviewers += is_new(i, offsetof(struct row, reviewer)) ? 1 : 0;
        support.tasks += is_new(i, offsetof(struct row, task)) ? 1 : 0;
        support.epics += is_new(i, offsetof(struct row, epic)) ? 1 : 0;
        support.changes += rows[i].input.decision != EVALUATOR_APPROVED ? 1 : 0;
        for (size_t j = 0; j < i; j++) {
            support.contradicts =
                support.contradicts || (rows[j].cluster == cluster_row &&
                                        rule_parts_oppose(&rows[i].parts, &rows[j].parts));
        }
    }
    return support;
}

static void classify(void)
{
    for (size_t i = 0; i < row_count; i++) {
        struct evaluator_support support = support_of(rows[i].cluster);
        struct evaluator_result result;

        need(evaluator_classify(&scratch, &rows[i].input, &support, &result) == OK, "classify");
        rows[i].found = result.class;
    }
}

static bool is_in_fold(size_t i, size_t fold, bool tested)
{
    return fold == FOLDS || (i % FOLDS == fold) == tested;
}

static double f1(double hits, double found, double wanted)
{
    return found + wanted > 0 ? 2 * hits / (found + wanted) : 0;
}

/* B-cubed over the rows with a theme. */
static double b3(size_t fold, bool tested)
{
    double precision = 0;
    double recall = 0;
    double count = 0;

    for (size_t i = 0; i < row_count; i++) {
        double both = 0;
        double same_cluster = 0;
        double same_theme = 0;

        if (rows[i].theme.size == 0 || !is_in_fold(i, fold, tested)) {
            continue;
        }
        for (size_t j = 0; j < row_count; j++) {
            bool theme = slice_equal(rows[i].theme, rows[j].theme);
            bool together = rows[i].cluster == rows[j].cluster;

            same_cluster += together ? 1 : 0;
            same_theme += theme ? 1 : 0;
            both += together && theme ? 1 : 0;
        }
        precision += both / same_cluster;
        recall += both / same_theme;
        count++;
    }
    return count == 0
               ? 0
               : 2 * (precision / count) * (recall / count) / (precision / count + recall / count);
}

static struct scores score(size_t fold, bool tested)
{
    double hits[CLASSES] = {0};
    double found[CLASSES] = {0};
    double wanted[CLASSES] = {0};
    struct scores scores = {.b3_f1 = b3(fold, tested)};
    double right = 0;
    double count = 0;

    for (size_t i = 0; i < row_count; i++) {
        if (is_in_fold(i, fold, tested)) {
            hits[rows[i].label] += rows[i].label == rows[i].found ? 1 : 0;
            right += rows[i].label == rows[i].found ? 1 : 0;
            found[rows[i].found]++;
            wanted[rows[i].label]++;
            count++;
        }
    }
    scores.accuracy = right / count;
    for (size_t c = 0; c < CLASSES; c++) {
        scores.macro_f1 += f1(hits[c], found[c], wanted[c]) / CLASSES;
    }
    return scores;
}

static void print_scores(const char *name, struct scores scores)
{
    (void)printf("%-28s accuracy %.3f  macro-F1 %.3f  B3-F1 %.3f\n", name, scores.accuracy,
                 scores.macro_f1, scores.b3_f1);
}

/* Chooses the cosine on four fifths, and measures it on the rest. */
static void cross_validate(void)
{
    static struct scores train[THRESHOLDS][FOLDS];
    static struct scores test[THRESHOLDS][FOLDS];
    struct scores mean = {.accuracy = 0};

    for (size_t t = 0; t < THRESHOLDS; t++) {
        cluster(0.1 + 0.01 * (double)t);
        classify();
        for (size_t fold = 0; fold < FOLDS; fold++) {
            train[t][fold] = score(fold, false);
            test[t][fold] = score(fold, true);
        }
        if (t % 5 == 0) {
            char name[32];

            (void)snprintf(name, sizeof(name), "cosine %.2f", 0.1 + 0.01 * (double)t);
            print_scores(name, score(FOLDS, true));
        }
    }
    for (size_t fold = 0; fold < FOLDS; fold++) {
        size_t best = 0;

        for (size_t t = 1; t < THRESHOLDS; t++) {
            best = train[t][fold].b3_f1 + train[t][fold].accuracy >
                           train[best][fold].b3_f1 + train[best][fold].accuracy
                       ? t
                       : best;
        }
        (void)printf("fold %zu: cosine %.2f\n", fold, 0.1 + 0.01 * (double)best);
        mean.accuracy += test[best][fold].accuracy / FOLDS;
        mean.macro_f1 += test[best][fold].macro_f1 / FOLDS;
        mean.b3_f1 += test[best][fold].b3_f1 / FOLDS;
    }
    print_scores("cross-validated", mean);
}

static void print_errors(void)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *head = &rows[rows[i].cluster];

        if (rows[i].label != rows[i].found) {
            (void)printf("  %s, not %s: %.*s\n", class_names[rows[i].found],
                         class_names[rows[i].label], (int)rows[i].comment.size,
                         (const char *)rows[i].comment.data);
        }
        if (rows[i].cluster != i && !slice_equal(head->theme, rows[i].theme)) {
            (void)printf("  joined: %.*s | %.*s\n", (int)rows[i].comment.size,
                         (const char *)rows[i].comment.data, (int)head->comment.size,
                         (const char *)head->comment.data);
        }
        if (rows[i].cluster == i && rows[i].theme.size > 0) {
            (void)printf("  begins %.*s: %.*s\n", (int)rows[i].theme.size,
                         (const char *)rows[i].theme.data, (int)rows[i].comment.size,
                         (const char *)rows[i].comment.data);
        }
    }
}

static void measure_rules(struct slice file, bool errors)
{
    struct slice line;
    double hits = 0;
    double found = 0;
    double wanted = 0;
    double right = 0;
    double count = 0;

    while (next_line(&file, &line)) {
        struct slice texts[2] = {member_text(line, SLICE("rule_a")),
                                 member_text(line, SLICE("rule_b"))};
        struct json_value label = {.text = {NULL, 0}};
        struct rule_parts parts[2];
        struct conflict conflict;
        bool is_conflict = false;

        need(json_member((struct json_value){JSON_OBJECT, line}, SLICE("conflict"), &label),
             "conflict");
        need(rule_parts_read(&scratch, texts[0], &parts[0]) == OK &&
                 rule_parts_read(&scratch, texts[1], &parts[1]) == OK,
             "rules");
        is_conflict = slice_equal(label.text, SLICE("true"));
        conflict = rule_parts_compare(&parts[0], &parts[1]);
        hits += is_conflict && conflict.reason != CONFLICT_NONE ? 1 : 0;
        found += conflict.reason != CONFLICT_NONE ? 1 : 0;
        wanted += is_conflict ? 1 : 0;
        right += is_conflict == (conflict.reason != CONFLICT_NONE) ? 1 : 0;
        count++;
        if (errors && is_conflict != (conflict.reason != CONFLICT_NONE)) {
            (void)printf("  %s: %.*s | %.*s\n", is_conflict ? "missed" : "wrong",
                         (int)texts[0].size, (const char *)texts[0].data, (int)texts[1].size,
                         (const char *)texts[1].data);
        }
    }
    (void)printf("conflicts: F1 %.3f  precision %.3f  recall %.3f  accuracy %.3f of %.0f pairs\n",
                 f1(hits, found, wanted), found > 0 ? hits / found : 0, hits / wanted,
                 right / count, count);
}

/* Returns the lowest cosine with the shown score of a cluster. */
static double cosine_in_use(enum theme_kind kind)
{
    double cosine = 0;

    while (theme_show(kind, cosine) < THEME_SAME_SHOWN) {
        cosine += 0.001;
    }
    return cosine;
}

int main(int argc, char **argv)
{
    struct embedder *embedder = NULL;
    struct slice model = {NULL, 0};
    struct slice file;
    struct slice line;
    bool errors = argc > 4;
    enum theme_kind kind = THEME_OF_NGRAMS;

    need(argc > 3, "expected MODEL|- DECISIONS.jsonl RULE_PAIRS.jsonl");
    arena_init(&arena, (size_t)1 << 30);
    arena_init(&scratch, (size_t)4 << 30);
    if (strcmp(argv[1], "-") != 0) {
        model = read_file(argv[1]);
        kind = THEME_OF_MODEL;
    }
    need(embedder_new(&arena, model, &embedder) == OK, "model");
    file = read_file(argv[2]);
    while (next_line(&file, &line)) {
        read_row(embedder, line);
    }
    cross_validate();
    cluster(cosine_in_use(kind));
    classify();
    print_scores("in use", score(FOLDS, true));
    if (errors) {
        print_errors();
    }
    measure_rules(read_file(argv[3]), errors);
    embedder_free(embedder);
    arena_deinit(&scratch);
    arena_deinit(&arena);
    return EXIT_SUCCESS;
}
