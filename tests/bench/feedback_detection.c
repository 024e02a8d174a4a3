/*
 * feedback_detection.c: the accuracy and the cost of reading messages as feedback on the turn before. Reads labelled
 * messages, one JSON object per line (prev_query, prev_response, next_message, feedback_type, correction_type), applies
 * the table and the veto with the server's embedder, and prints the confusion matrix, accuracy, F1 of each class, the
 * share of false rejections, and the CPU time of a decision without embedding. With `--errors` also each message that
 * was read wrongly; with `--features` only the features and the label of each, for fitting; with `--table` no veto.
 *
 *   bench_feedback_detection MODEL|- MESSAGES.jsonl [--errors|--features|--table]
 */
#include "server/domain/cues/veto.h"
#include "server/domain/embed/calibration.h"
#include "server/domain/embed/embedder.h"
#include "store/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define ROUNDS 20 /* of all messages, for the time */

/* The feedback of a message, as distinguished by labels. */
enum label {
    LABEL_EXPLICIT,
    LABEL_REPHRASED,
    LABEL_ABANDONMENT,
    LABEL_ACCEPTED,
    LABEL_NEUTRAL,
    LABEL_COUNT
};

static const char *const label_names[LABEL_COUNT] = {"explicit", "rephrased", "abandonment",
                                                     "accepted", "neutral"};

struct message {
    struct slice query;
    struct slice response;
    struct slice text;
    enum label label;
    float similarity;
};

/* Results over all messages. */
struct tally {
    size_t counts[LABEL_COUNT][LABEL_COUNT]; /* by label, then by result */
    size_t total;
};

static struct arena kept;
static struct arena scratch;
static const struct cue_lexicon *lexicon;

static void fail(const char *what)
{
    (void)fprintf(stderr, "feedback_detection: %s\n", what);
    exit(EXIT_FAILURE);
}

static struct slice read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(&kept, FILE_BYTES_MAX);
    size_t size = 0;

    if (file == NULL || bytes == NULL) {
        fail("a file cannot be read");
    }
    bytes += (MODEL_ALIGN_BYTES - (uintptr_t)bytes % MODEL_ALIGN_BYTES) % MODEL_ALIGN_BYTES;
    size = fread(bytes, 1, FILE_BYTES_MAX - MODEL_ALIGN_BYTES, file);
    (void)fclose(file);
    return slice_of(bytes, size);
}

static struct slice member(struct json_value object, struct slice name)
{
    struct json_value value;
    struct slice text = {NULL, 0};

    if (json_member(object, name, &value) && value.kind == JSON_STRING &&
        json_string(&kept, value.text, &text) != OK) {
        fail("no memory");
    }
    return text;
}

static enum label label_of(struct json_value object)
{
    struct slice type = member(object, SLICE("feedback_type"));
    struct slice correction = member(object, SLICE("correction_type"));

    if (slice_equal(type, SLICE("rejected"))) {
        return slice_equal(correction, SLICE("explicit"))    ? LABEL_EXPLICIT
               : slice_equal(correction, SLICE("rephrased")) ? LABEL_REPHRASED
                                                             : LABEL_ABANDONMENT;
    }
    return slice_equal(type, SLICE("accepted")) ? LABEL_ACCEPTED : LABEL_NEUTRAL;
}

static size_t read_messages(struct slice file, struct message *messages, size_t most)
{
    const struct json_rules rules = {.depth_max = 8};
    size_t count = 0;

    while (file.size > 0 && count < most) {
        const uint8_t *end = memchr(file.data, '\n', file.size);
        struct slice line =
            slice_of(file.data, end != NULL ? (size_t)(end - file.data) : file.size);
        struct json_problem problem;
        struct json_value object;

        file = slice_after(file, line.size + (end != NULL));
        if (line.size == 0) {
            continue;
        }
        if (json_check(&kept, line, &rules, &object, &problem) != OK) {
            fail("a line is not JSON");
        }
        messages[count++] = (struct message){
            .query = member(object, SLICE("prev_query")),
            .response = member(object, SLICE("prev_response")),
            .text = member(object, SLICE("next_message")),
            .label = label_of(object),
        };
    }
    return count;
}

static void embed(struct embedder *embedder, struct message *message)
{
    struct slice texts[2] = {message->query, message->text};
    size_t width = embedder_width(embedder);
    float *vectors = NULL;

    arena_reset(&scratch);
    vectors = (float *)arena_alloc(&scratch, 2 * width * sizeof(float));
    if (vectors == NULL ||
        embedder_embed(embedder, &scratch, SLICE("bench"), texts, 2, vectors) != OK) {
        fail("no memory");
    }
    message->similarity = calibration_show(CALIBRATION_QUERY, embedder_kind(embedder),
                                           embedder_cosine(vectors, vectors + width, width));
}

static struct detection detect(const struct message *message, struct reading *reading)
{
    const struct reading_input input = {
        .message = message->text,
        .previous_query = message->query,
        .previous_response = message->response,
    };
    const struct detect_signals signals = {
        .has_similarity = true,
        .similarity = message->similarity,
    };

    arena_reset(&scratch);
    if (reading_of(&scratch, lexicon, &input, reading) != OK) {
        fail("no memory");
    }
    return detect_feedback(reading, &signals);
}

static enum label result_of(const struct detection *detection)
{
    switch (detection->row) {
    case DETECT_EXPLICIT:
        return LABEL_EXPLICIT;
    case DETECT_REPHRASED:
        return LABEL_REPHRASED;
    case DETECT_ABANDONMENT:
        return LABEL_ABANDONMENT;
    case DETECT_CONTINUATION:
    case DETECT_TOPIC_CHANGE:
        return LABEL_ACCEPTED;
    case DETECT_NOTHING:
        break;
    }
    return LABEL_NEUTRAL;
}

static void print_error(const struct message *message, const struct detection *detection)
{
    struct slice end = message->response;

    end = end.size > 60 ? slice_after(end, end.size - 60) : end;
    (void)printf("%s as %s (%.2f of %.2f) [%.*s: %.*s] '%.*s' ... '%.*s' -> '%.*s'\n",
                 label_names[message->label], label_names[result_of(detection)],
                 (double)detection->similarity, (double)message->similarity,
                 (int)detection->pattern.size, (const char *)detection->pattern.data,
                 (int)detection->matched.size, (const char *)detection->matched.data,
                 (int)message->query.size, (const char *)message->query.data, (int)end.size,
                 (const char *)end.data, (int)message->text.size, (const char *)message->text.data);
}

static void print_features(const struct message *message, const struct reading *reading,
                           const struct detection *detection)
{
    float features[FEATURE_COUNT];

    features_of(reading, detection, features);
    (void)printf("%s\t%s", label_names[message->label], label_names[result_of(detection)]);
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        (void)printf("\t%g", (double)features[i]);
    }
    (void)printf("\n");
}

static bool is_rejection(size_t label)
{
    return label <= LABEL_ABANDONMENT;
}

/* Prints precision, recall and F1 of one class; returns F1. */
static double print_class(const struct tally *tally, size_t class)
{
    size_t labelled = 0;
    size_t found = 0;
    double right = (double)tally->counts[class][class];

    for (size_t i = 0; i < LABEL_COUNT; i++) {
        labelled += tally->counts[class][i];
        found += tally->counts[i][class];
    }
    (void)printf("%-12s %5zu", label_names[class], labelled);
    for (size_t i = 0; i < LABEL_COUNT; i++) {
        (void)printf(" %11zu", tally->counts[class][i]);
    }
    right = labelled + found > 0 ? 2 * right / (double)(labelled + found) : 0;
    (void)printf("  F1 %.3f\n", right);
    return right;
}

static void print_tally(const struct tally *tally)
{
    double macro = 0;
    size_t right = 0;
    size_t groups[3][3] = {{0}};
    size_t false_rejections = 0;

    (void)printf("%-12s %5s", "label", "rows");
    for (size_t i = 0; i < LABEL_COUNT; i++) {
        (void)printf(" %11s", label_names[i]);
    }
    (void)printf("\n");
    for (size_t i = 0; i < LABEL_COUNT; i++) {
        size_t group = is_rejection(i) ? 0 : i - LABEL_ABANDONMENT;

        macro += print_class(tally, i);
        right += tally->counts[i][i];
        for (size_t j = 0; j < LABEL_COUNT; j++) {
            groups[group][is_rejection(j) ? 0 : j - LABEL_ABANDONMENT] += tally->counts[i][j];
        }
    }
    false_rejections = groups[1][0] + groups[2][0];
    (void)printf("accuracy by status %.3f, by kind %.3f; macro-F1 by kind %.3f\n",
                 (double)(groups[0][0] + groups[1][1] + groups[2][2]) / (double)tally->total,
                 (double)right / (double)tally->total, macro / LABEL_COUNT);
    macro = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t sum =
            groups[i][0] + groups[i][1] + groups[i][2] + groups[0][i] + groups[1][i] + groups[2][i];

        macro += sum > 0 ? 2 * (double)groups[i][i] / (double)sum / 3 : 0;
    }
    (void)printf("macro-F1 by status %.3f; false rejections %.1f%% of %zu\n", macro,
                 100 * (double)false_rejections /
                     (double)(groups[1][0] + groups[1][1] + groups[1][2] + groups[2][0] +
                              groups[2][1] + groups[2][2]),
                 tally->total);
}

static void print_time(const struct message *messages, size_t count)
{
    struct timespec before;
    struct timespec after;
    struct reading reading;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (size_t i = 0; i < ROUNDS * count; i++) {
        (void)detect(&messages[i % count], &reading);
    }
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    (void)printf("%.1f us of CPU for a decision without embedding\n",
                 ((double)(after.tv_sec - before.tv_sec) * 1e6 +
                  (double)(after.tv_nsec - before.tv_nsec) / 1e3) /
                     (double)(ROUNDS * count));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[3] : "";
    static struct message messages[20000];
    struct slice model = {NULL, 0};
    struct embedder *embedder = NULL;
    struct tally tally = {.total = 0};
    struct reading reading;

    arena_init(&kept, (size_t)512 << 20);
    arena_init(&scratch, (size_t)64 << 20);
    if (argc < 3) {
        fail("expected MODEL|- MESSAGES.jsonl [--errors|--features|--table]");
    }
    model = strcmp(argv[1], "-") == 0 ? model : read_file(argv[1]);
    if (embedder_new(&kept, model, &embedder) != OK || cue_lexicon_new(&kept, &lexicon) != OK) {
        fail("the model or the cues cannot be read");
    }
    tally.total =
        read_messages(read_file(argv[2]), messages, sizeof(messages) / sizeof(messages[0]));
    for (size_t i = 0; i < tally.total; i++) {
        struct detection detection;

        embed(embedder, &messages[i]);
        detection = detect(&messages[i], &reading);
        if (strcmp(mode, "--features") == 0) {
            print_features(&messages[i], &reading, &detection);
        }
        if (strcmp(mode, "--table") != 0) {
            (void)veto_apply(&reading, &detection);
        }
        tally.counts[messages[i].label][result_of(&detection)]++;
        if (strcmp(mode, "--errors") == 0 && messages[i].label != result_of(&detection)) {
            print_error(&messages[i], &detection);
        }
    }
    if (strcmp(mode, "--features") != 0) {
        print_tally(&tally);
        print_time(messages, tally.total);
    }
    embedder_free(embedder);
    arena_deinit(&scratch);
    arena_deinit(&kept);
    return EXIT_SUCCESS;
}
