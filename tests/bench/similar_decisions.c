/*
 * similar_decisions.c: finds similar decisions among many of an organisation, without writes and while another thread
 * records decisions: wall times of the search by the index, of a scan of the newest 20,000 themes, and of a scan of
 * all; and the recall relative to the last. The three alternate, so that each has the same conditions. Themes are those
 * of real comments (a file with one per line) and variations of them: each is a comment's vector plus a share of
 * another's and noise. Queries are comments that are not rows. Themes are put into the table directly; those that the
 * thread records are real events.
 *
 *   bench_similar_decisions FOLDER MODEL|- COMMENTS DECISIONS [SEARCHES]
 */
#include "server/domain/decisions/keys.h"
#include "server/domain/decisions/similar.h"
#include "server/domain/embed/embedder.h"
#include "store/lmdb/lmdb.h"
#include "store/scan.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define START_US INT64_C(1770000000000000)
#define MAP_BYTES (UINT64_C(16) << 30)
#define FILE_BYTES_MAX ((size_t)64 << 20)
#define COMMENTS_MAX 5000
#define QUERIES 50
#define BATCH 1000
#define NEWEST 20000
#define LIMIT 20
/* The seq of the first theme that no event recorded: above those of events. */
#define FIRST_SEQ UINT64_C(1000000000)
/* Scans are slow, so there are fewer of them. */
#define SEARCHES_PER_SCAN 10
#define SCANS_OF_ALL_MAX 20

/* Store context of one thread. */
struct context {
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
};

struct bench {
    struct store_backend *backend;
    struct org_id org;
    struct arena arena;
    struct embedder *embedder;
    size_t width;
    float *vectors; /* vectors of comments */
    struct comment_signals signals[COMMENTS_MAX];
    struct slice comments[COMMENTS_MAX];
    size_t comment_count;
    struct vector_source source;
    struct vector_index *index;
    atomic_bool cancelled;
    struct decision_theme queries[QUERIES];
    atomic_bool ends; /* the thread that records */
    atomic_size_t recorded;
};

static struct bench bench;

static void must(const char *what, enum err err)
{
    if (err != OK) {
        (void)fprintf(stderr, "bench_similar_decisions: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

static void context_init(struct context *context, uint64_t seed)
{
    arena_init(&context->arena, SIZE_MAX);
    fault_init(&context->fault, &context->arena);
    clock_manual_init(&context->clock, START_US);
    random_seeded_init(&context->random, seed);
    context->ctx = (struct ctx){&context->arena, &context->clock.clock, &context->random.random,
                                &context->fault};
}

static uint32_t draw(struct context *context, size_t below)
{
    uint32_t drawn = 0;

    random_fill(context->ctx.random, &drawn, sizeof(drawn));
    return drawn % (uint32_t)below;
}

static double read_clock_ms(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double wall_ms(void)
{
    return read_clock_ms(CLOCK_MONOTONIC);
}

/* CPU time of this thread, on which other programs have less influence. */
static double cpu_ms(void)
{
    return read_clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

static struct slice read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = arena_alloc(&bench.arena, FILE_BYTES_MAX);
    size_t size = 0;

    if (file == NULL || bytes == NULL) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    bytes += (MODEL_ALIGN_BYTES - (uintptr_t)bytes % MODEL_ALIGN_BYTES) % MODEL_ALIGN_BYTES;
    size = fread(bytes, 1, FILE_BYTES_MAX - MODEL_ALIGN_BYTES, file);
    (void)fclose(file);
    return slice_of(bytes, size);
}

static void embed_comments(const char *path)
{
    struct slice rest = read_file(path);

    bench.width = embedder_width(bench.embedder);
    bench.vectors = (float *)arena_alloc(&bench.arena, COMMENTS_MAX * bench.width * sizeof(float));
    while (bench.vectors != NULL && rest.size > 0 && bench.comment_count < COMMENTS_MAX) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        size_t size = end != NULL ? (size_t)(end - rest.data) : rest.size;
        size_t at = bench.comment_count;

        bench.comments[at] = slice_of(rest.data, size);
        must("embed", embedder_embed(bench.embedder, &bench.arena, SLICE("bench"),
                                     &bench.comments[at], 1, bench.vectors + at * bench.width));
        must("read", comment_signals_read(&bench.arena, bench.comments[at], &bench.signals[at]));
        bench.comment_count += size > 0;
        rest = slice_after(rest, size < rest.size ? size + 1 : size);
    }
    if (bench.comment_count <= 2 * QUERIES) {
        (void)fprintf(stderr, "%s: too few comments\n", path);
        exit(2);
    }
}

/* Returns a comment that is not a query. */
static size_t draw_comment(struct context *context)
{
    return QUERIES + draw(context, bench.comment_count - QUERIES);
}

/* Makes the theme of a variation of a comment. */
static struct theme vary(struct context *context, struct arena *arena, size_t comment)
{
    const float *one = bench.vectors + comment * bench.width;
    const float *other = bench.vectors + draw_comment(context) * bench.width;
    float share = (float)draw(context, 100) / 100;
    float *vector = (float *)arena_alloc(arena, bench.width * sizeof(float));
    struct theme theme;

    for (size_t i = 0; i < bench.width; i++) {
        float noise = ((float)draw(context, 2001) / 1000 - 1) / sqrtf((float)bench.width);

        vector[i] = one[i] + share * other[i] + noise * 0.3F;
    }
    must("theme", theme_make(arena, vector, bench.width, &bench.signals[comment], &theme));
    return theme;
}

static enum theme_kind kind_of_themes(void)
{
    return embedder_has_model(bench.embedder) ? THEME_OF_MODEL : THEME_OF_NGRAMS;
}

static struct slice bytes_of(struct arena *arena, const struct theme *theme)
{
    uint8_t *bytes = arena_alloc(arena, theme->width * DECISION_THEME_NUMBER_BYTES);

    for (size_t i = 0; i < theme->width; i++) {
        bytes[2 * i] = (uint8_t)((uint16_t)theme->numbers[i] >> 8);
        bytes[2 * i + 1] = (uint8_t)theme->numbers[i];
    }
    return slice_of(bytes, theme->width * DECISION_THEME_NUMBER_BYTES);
}

static void make_queries(void)
{
    for (size_t i = 0; i < QUERIES; i++) {
        struct theme theme;

        must("query", theme_make(&bench.arena, bench.vectors + i * bench.width, bench.width,
                                 &bench.signals[i], &theme));
        bench.queries[i] = (struct decision_theme){kind_of_themes(), SLICE("bench"),
                                                   bytes_of(&bench.arena, &theme)};
    }
}

static void put_theme(struct store_txn *txn, struct context *context, uint64_t seq)
{
    struct key key = key_decision_theme(bench.org, SLICE("bench"), seq);
    struct key agent = {.size = 0};
    struct theme theme = vary(context, &context->arena, draw_comment(context));
    struct buffer value;

    key_put_hash(&agent, SLICE("coder"));
    buffer_init(&value, &context->arena, 64);
    buffer_append(&value, key_slice(&agent));
    buffer_append(&value, bytes_of(&context->arena, &theme));
    must("put", store_put(txn, TABLE_DECISION_THEME, key_slice(&key), buffer_slice(&value)));
}

static void fill(size_t count)
{
    struct context context;
    struct store_txn *txn = NULL;

    context_init(&context, 7);
    store_lmdb_begin_bulk(bench.backend);
    for (size_t i = 0; i < count; i++) {
        if (i % BATCH == 0) {
            must("begin", store_begin(bench.backend, STORE_WRITE, &txn));
        }
        put_theme(txn, &context, FIRST_SEQ + i);
        if (i % BATCH == BATCH - 1 || i + 1 == count) {
            must("commit", store_commit(txn));
            arena_reset(&context.arena);
        }
    }
    must("sync", store_lmdb_end_bulk(bench.backend));
    arena_deinit(&context.arena);
}

/* Records a decision, as RecordDecision does. */
static void record_one(struct context *context)
{
    size_t comment = draw_comment(context);
    struct decision_input input = {
        .view = {.decision_id =
                     arena_printf(&context->arena, "d-%zu", (size_t)atomic_load(&bench.recorded)),
                 .gate_id = SLICE("HITL-1"),
                 .epic_id = SLICE("epic"),
                 .agent_name = SLICE("coder"),
                 .decision = DECISION_OUTCOME_REJECTED,
                 .reviewer_comment = bench.comments[comment]},
        .kind = kind_of_themes(),
        .space = SLICE("bench"),
        .theme = vary(context, &context->arena, comment)};
    const struct decision_request request = {bench.org, {ROLE_ADMIN, {NULL, 0}, 1, false}, &input};
    struct decision_stored stored;
    struct store_txn *txn = NULL;

    must("signals", decision_read_signals(&context->arena, &input));
    must("begin", store_begin(bench.backend, STORE_WRITE, &txn));
    must("record", decision_record(&context->ctx, txn, &request, &stored));
    must("commit", store_commit(txn));
    atomic_fetch_add(&bench.recorded, 1);
    arena_reset(&context->arena);
    fault_init(&context->fault, &context->arena);
}

static void *record_all(void *user)
{
    struct context context;

    context_init(&context, 11);
    while (!atomic_load(&bench.ends)) {
        record_one(&context);
    }
    arena_deinit(&context.arena);
    return user;
}

/* Scans the newest themes, and keeps the cosines of the most similar ones, best first. */
static void scan_newest(struct store_txn *txn, const struct decision_theme *theme,
                        uint32_t rows_max, double best[LIMIT])
{
    const struct scan_range range = {.table = TABLE_DECISION_THEME,
                                     .prefix = key_decision_theme_prefix(bench.org, theme->space),
                                     .order = STORE_ASCENDING,
                                     .rows_max = rows_max};
    size_t width = theme->numbers.size / DECISION_THEME_NUMBER_BYTES;
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    for (size_t i = 0; i < LIMIT; i++) {
        best[i] = -2;
    }
    must("scan", scan_init(&scan, txn, &range));
    while (scan_next(&scan, &key, &value) == OK) {
        struct slice numbers = slice_after(value, KEY_HASH_BYTES);
        int64_t product = 0;
        double cosine = 0;
        size_t at = LIMIT;

        for (size_t i = 0; i < width; i++) {
            product += (int32_t)decision_theme_number(theme->numbers, i) *
                       (int32_t)decision_theme_number(numbers, i);
        }
        cosine = (double)product / ((double)THEME_SCALE * THEME_SCALE);
        while (at > 0 && best[at - 1] < cosine) {
            at--;
        }
        if (at < LIMIT) {
            memmove(best + at + 1, best + at, (LIMIT - at - 1) * sizeof(best[0]));
            best[at] = cosine;
        }
    }
    scan_deinit(&scan);
}

/* The times of one kind of search. */
struct times {
    double *wall_ms;
    double *cpu_ms;
    size_t count;
    double wall_start;
    double cpu_start;
};

static void times_init(struct times *times, size_t max)
{
    *times = (struct times){calloc(max, sizeof(double)), calloc(max, sizeof(double)), 0, 0, 0};
}

static void times_deinit(struct times *times)
{
    free(times->wall_ms);
    free(times->cpu_ms);
}

static void begin_time(struct times *times)
{
    times->wall_start = wall_ms();
    times->cpu_start = cpu_ms();
}

static void end_time(struct times *times)
{
    times->cpu_ms[times->count] = cpu_ms() - times->cpu_start;
    times->wall_ms[times->count] = wall_ms() - times->wall_start;
    times->count++;
}

static int compare_times(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static void print_times(const char *name, struct times *times)
{
    size_t p50 = times->count / 2;
    size_t p99 = times->count * 99 / 100;

    qsort(times->wall_ms, times->count, sizeof(times->wall_ms[0]), compare_times);
    qsort(times->cpu_ms, times->count, sizeof(times->cpu_ms[0]), compare_times);
    (void)printf("  %-14s %4zu searches: wall p50 %7.2f ms, p99 %7.2f ms; CPU p50 %7.2f ms, p99 "
                 "%7.2f ms\n",
                 name, times->count, times->wall_ms[p50], times->wall_ms[p99], times->cpu_ms[p50],
                 times->cpu_ms[p99]);
}

static void search(struct context *context, const struct decision_theme *theme, double threshold,
                   struct similar_matches *matches)
{
    const struct similar_query query = {.org = bench.org,
                                        .theme = *theme,
                                        .threshold = threshold,
                                        .limit = LIMIT,
                                        .cancelled = &bench.cancelled};
    struct store_txn *txn = NULL;

    must("begin", store_begin(bench.backend, STORE_READ, &txn));
    must("search", decision_find_similar(&context->arena, txn, bench.index, &query, matches));
    store_abort(txn);
    arena_reset(&context->arena);
}

static void time_scan(struct times *times, const struct decision_theme *theme, uint32_t rows_max,
                      double best[LIMIT])
{
    struct store_txn *txn = NULL;

    begin_time(times);
    must("begin", store_begin(bench.backend, STORE_READ, &txn));
    scan_newest(txn, theme, rows_max, best);
    store_abort(txn);
    end_time(times);
}

/* Counts how many of the most similar ones a search found. */
static size_t count_found(const struct similar_matches *matches, const double best[LIMIT])
{
    size_t found = 0;

    for (size_t i = 0; i < matches->count; i++) {
        found += matches->items[i].cosine >= best[LIMIT - 1] - 1e-9;
    }
    return found;
}

/* Measures the three searches, one after the other; only without writes are the results comparable. */
static void measure(const char *name, size_t searches, bool has_recall)
{
    struct times times[3];
    struct context context;
    double best[LIMIT];
    size_t found = 0;
    size_t expected = 0;

    context_init(&context, 13);
    for (size_t i = 0; i < 3; i++) {
        times_init(&times[i], searches);
    }
    for (size_t i = 0; i < searches; i++) {
        const struct decision_theme *theme = &bench.queries[i % QUERIES];
        struct similar_matches matches;

        begin_time(&times[0]);
        search(&context, theme, 0, &matches);
        end_time(&times[0]);
        if (i % SEARCHES_PER_SCAN == 0) {
            time_scan(&times[1], theme, NEWEST, best);
        }
        if (times[2].count < SCANS_OF_ALL_MAX && i % (searches / SCANS_OF_ALL_MAX + 1) == 0) {
            time_scan(&times[2], theme, UINT32_MAX, best);
            expected += LIMIT;
            found += count_found(&matches, best);
        }
    }
    (void)printf("%s\n", name);
    print_times("index", &times[0]);
    print_times("newest 20,000", &times[1]);
    print_times("all, exactly", &times[2]);
    if (has_recall) {
        (void)printf("  recall@%d %.4f\n", LIMIT, (double)found / (double)expected);
    }
    for (size_t i = 0; i < 3; i++) {
        times_deinit(&times[i]);
    }
    arena_deinit(&context.arena);
}

static void measure_with_writes(size_t searches)
{
    pthread_t thread;
    double start = wall_ms();
    size_t before = atomic_load(&bench.recorded);

    if (pthread_create(&thread, NULL, record_all, NULL) != 0) {
        exit(2);
    }
    measure("while decisions are recorded", searches, false);
    atomic_store(&bench.ends, true);
    (void)pthread_join(thread, NULL);
    (void)printf("  decisions recorded: %.0f per second\n",
                 (double)(atomic_load(&bench.recorded) - before) * 1e3 / (wall_ms() - start));
}

/* Makes the index from the tables, as the first search does; later ones follow the log. */
static void warm(size_t decisions)
{
    struct context context;
    struct similar_matches matches;
    double start = 0;

    context_init(&context, 17);
    record_one(&context);
    bench.source = similar_source;
    bench.source.gap_max = 0;
    must("index", vector_index_new(&bench.arena, &bench.source, &bench.index));
    start = wall_ms();
    search(&context, &bench.queries[0], THEME_SAME_SHOWN, &matches);
    bench.source.gap_max = similar_source.gap_max;
    (void)printf("%zu decisions, themes of %zu numbers; first search %.0f ms\n", decisions,
                 bench.queries[0].numbers.size / DECISION_THEME_NUMBER_BYTES, wall_ms() - start);
    arena_deinit(&context.arena);
}

int main(int argc, char **argv)
{
    struct store_lmdb_config config = {.path = argc > 1 ? argv[1] : NULL, .map_bytes = MAP_BYTES};
    struct slice model = {NULL, 0};
    struct fault fault;
    size_t decisions = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    size_t searches = argc > 5 ? strtoul(argv[5], NULL, 10) : 1000;

    if (argc < 5 || decisions == 0 || searches < 100) {
        (void)fprintf(stderr, "usage: bench_similar_decisions FOLDER MODEL|- COMMENTS DECISIONS "
                              "[SEARCHES, at least 100]\n");
        return 2;
    }
    arena_init(&bench.arena, SIZE_MAX);
    fault_init(&fault, &bench.arena);
    memset(bench.org.uuid.bytes, 1, UUID_BYTES);
    model = strcmp(argv[2], "-") == 0 ? model : read_file(argv[2]);
    must("embedder", embedder_new(&bench.arena, model, &bench.embedder));
    embed_comments(argv[3]);
    make_queries();
    must("open", store_lmdb_open(&config, &fault, &bench.backend));
    fill(decisions);
    warm(decisions);
    measure("alone", searches, true);
    measure_with_writes(searches);
    vector_index_deinit(bench.index);
    store_lmdb_close(bench.backend);
    embedder_free(bench.embedder);
    arena_deinit(&bench.arena);
    return 0;
}
