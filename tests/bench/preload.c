/*
 * preload.c: fills a fresh data folder with captured corrections, for the measurements of
 * tests/bench/run. It takes the way of a capture from the domain down (prepare, decide, append,
 * apply, over the LMDB back end), with many captures a commit and a clock that moves one second an
 * event, so that what stands in the store is what capturing them would have left there. It is no
 * import tool: it may assume that the folder is new and that nobody else has it.
 *
 * Organisation 0 is `default`, and its token, with the server's rights, stands in DIR/admin.token as
 * after a first start; the tokens of all, a line each, stand in DIR/bench.tokens. The layouts of each
 * organisation are `bench-layout-00000000` and so on. Events come layout by layout. All of them have
 * the same length, so that every answer has the same length too.
 */
#include "server/auth/token.h"
#include "server/domain/admin/admin.h"
#include "server/domain/corrections/capture.h"
#include "store/lmdb/lmdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORGS_MAX 1000
#define TEXT_BYTES_MAX 8000
#define ARENA_BYTES_MAX ((size_t)16 << 20)
#define SECOND_US 1000000

struct preload {
    struct store_backend *backend;
    struct store_txn
        *txn; /* NULL between commits; none is held across a loop turn, there is none */
    struct ctx ctx;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct org_id orgs[ORGS_MAX];
    uint64_t batch; /* captures a commit */
    uint64_t in_batch;
    size_t snippet_bytes;
    size_t output_bytes;
};

struct plan {
    const char *path;
    uint64_t events;
    uint64_t orgs;
    uint64_t layouts; /* an organisation */
};

static _Noreturn void fail(const struct preload *preload, const char *what, enum err err)
{
    fprintf(stderr, "bench_preload: %s: %s %.*s\n", what, err_name(err),
            (int)preload->fault.message.size, (const char *)preload->fault.message.data);
    exit(2);
}

static void must(const struct preload *preload, const char *what, enum err err)
{
    if (err != OK) {
        fail(preload, what, err);
    }
}

static void begin(struct preload *preload)
{
    must(preload, "begin", store_begin(preload->backend, STORE_WRITE, &preload->txn));
    preload->in_batch = 0;
}

static void commit(struct preload *preload)
{
    struct store_txn *txn = preload->txn;

    preload->txn = NULL;
    must(preload, "commit", store_commit(txn));
}

/* What each write starts with. */
static void start_write(struct preload *preload)
{
    arena_reset(&preload->arena);
    fault_init(&preload->fault, &preload->arena);
    clock_manual_advance(&preload->clock, SECOND_US);
    log_begin_write(preload->txn, NULL);
}

static void write_line(const struct preload *preload, const char *folder, const char *name,
                       const char *mode, const char *text)
{
    struct slice path = arena_printf(preload->ctx.arena, "%s/%s", folder, name);
    FILE *file = path.size == 0 ? NULL : fopen((const char *)path.data, mode);

    if (file == NULL || fprintf(file, "%.*s\n", TOKEN_TEXT_BYTES, text) < 0 || fclose(file) != 0) {
        fail(preload, name, ERR_IO);
    }
}

/* An organisation and its token, as AdminService makes them. */
static void make_org(struct preload *preload, const char *folder, size_t index)
{
    const struct admin_actor actor = {SLICE("system"), ANNOTATOR_CODE, SOURCE_SYSTEM};
    struct token_secret secret = token_make_secret(preload->ctx.random);
    struct admin_token_draft draft = {
        .role = ROLE_ADMIN, .server = index == 0, .secret_sha256 = token_hash_secret(&secret)};
    struct work_result result;
    struct event event;
    struct slice name;
    uint32_t key_id = 0;
    char text[TOKEN_TEXT_BYTES];

    start_write(preload);
    name = index == 0 ? SLICE("default") : arena_printf(&preload->arena, "bench-%03zu", index);
    must(preload, "organisation",
         admin_create_organization(&preload->ctx, preload->txn, &actor, name, &result));
    preload->orgs[index] = result.org;
    draft.org = result.org;
    must(preload, "token",
         admin_create_token(&preload->ctx, preload->txn, &actor, &draft, &result));
    must(preload, "token", log_read(preload->txn, result.org, result.first_seq, &event));
    must(preload, "token", admin_created_key_id(&event, &key_id));
    token_format(key_id, &secret, text);
    write_line(preload, folder, "bench.tokens", index == 0 ? "w" : "a", text);
    if (index == 0) {
        write_line(preload, folder, "admin.token", "w", text);
    }
}

static void fill_letters(struct preload *preload, char *text, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz     0";

    random_fill(preload->ctx.random, text, size);
    for (size_t i = 0; i < size; i++) {
        text[i] = letters[(unsigned char)text[i] % (sizeof(letters) - 1)];
    }
}

/* One line correction. Every text in it has a fixed length. */
static void capture_one(struct preload *preload, struct org_id org, uint64_t layout,
                        uint64_t serial)
{
    static const struct capture_caller caller = {.role = ROLE_ADMIN, .key_id = 1};
    struct arena *arena = &preload->arena;
    char snippet[TEXT_BYTES_MAX];
    char output[TEXT_BYTES_MAX];
    struct capture_input input = {.event_type = EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                                  .actor_user_id = SLICE("operator-1"),
                                  .entity_type = SLICE("draft_order_line")};
    struct capture_event event;
    uint64_t seq = 0;

    start_write(preload);
    fill_letters(preload, snippet, preload->snippet_bytes);
    fill_letters(preload, output, preload->output_bytes);
    input.entity_id = arena_printf(arena, "line-%012" PRIu64, serial);
    input.document_id = arena_printf(arena, "document-%012" PRIu64, serial);
    input.draft_order_id = arena_printf(arena, "draft-%012" PRIu64, serial);
    input.layout_fingerprint = arena_printf(arena, "bench-layout-%08" PRIu64, layout);
    input.before_json = SLICE("{\"line_no\":3,\"qty\":10}");
    input.after_json = arena_printf(arena, "{\"line_no\":3,\"qty\":12,\"description\":\"%.*s\"}",
                                    (int)preload->output_bytes, output);
    input.meta_json = arena_printf(arena, "{\"model\":\"m-1\",\"input_snippet\":\"%.*s\"}",
                                   (int)preload->snippet_bytes, snippet);
    must(preload, "prepare",
         capture_prepare(&preload->ctx, &caller, &input, SLICE("event"), &event));
    must(preload, "store", capture_store(&preload->ctx, preload->txn, org, &event, 1, &seq));
    preload->in_batch++;
}

static void load_layout(struct preload *preload, const struct plan *plan, uint64_t which)
{
    uint64_t all = plan->orgs * plan->layouts;
    /* The first layouts get one more where the events do not divide. */
    uint64_t count = plan->events / all + (which < plan->events % all ? 1 : 0);

    for (uint64_t i = 0; i < count; i++) {
        capture_one(preload, preload->orgs[which / plan->layouts], which % plan->layouts,
                    which * 1000000 + i);
        if (preload->in_batch == preload->batch) {
            commit(preload);
            begin(preload);
        }
    }
}

static void load_all(struct preload *preload, const struct plan *plan)
{
    uint64_t all = plan->orgs * plan->layouts;

    begin(preload);
    for (size_t i = 0; i < plan->orgs; i++) {
        make_org(preload, plan->path, i);
    }
    for (uint64_t which = 0; which < all; which++) {
        load_layout(preload, plan, which);
        if (which % (all / 10 + 1) == 0) {
            fprintf(stderr, "bench_preload: %" PRIu64 "%%\n", which * 100 / all);
        }
    }
    commit(preload);
}

static uint64_t number_of(const char *text, uint64_t max)
{
    char *end = NULL;
    unsigned long long number = strtoull(text, &end, 10);

    if (end == text || *end != '\0' || number > max) {
        fprintf(stderr, "bench_preload: %s: a number up to %" PRIu64 " is wanted\n", text, max);
        exit(2);
    }
    return number;
}

int main(int argc, char **argv)
{
    static struct preload preload; /* one run of one program */
    struct plan plan = {0};
    int64_t now_us = clock_wall_us(clock_system());
    struct store_lmdb_config config = {0};

    if (argc != 8) {
        fputs("usage: bench_preload DIR EVENTS ORGS LAYOUTS_AN_ORG SNIPPET_BYTES OUTPUT_BYTES "
              "CAPTURES_A_COMMIT\n",
              stderr);
        return 2;
    }
    plan.path = argv[1];
    plan.events = number_of(argv[2], 100000000);
    plan.orgs = number_of(argv[3], ORGS_MAX);
    plan.layouts = number_of(argv[4], 10000000);
    preload.snippet_bytes = number_of(argv[5], 1500);
    preload.output_bytes = number_of(argv[6], TEXT_BYTES_MAX);
    preload.batch = number_of(argv[7], 100000);
    if (plan.orgs == 0 || plan.layouts == 0 || preload.batch == 0) {
        fputs("bench_preload: at least one organisation, layout and capture a commit\n", stderr);
        return 2;
    }
    config.path = plan.path;
    arena_init(&preload.arena, ARENA_BYTES_MAX);
    fault_init(&preload.fault, &preload.arena);
    /* The last event comes an hour before now. Half a second past the full one: so the nanoseconds
     * of every time have as many bytes on the wire. */
    clock_manual_init(&preload.clock,
                      (now_us / SECOND_US - 3600 - (int64_t)(plan.events + 2 * plan.orgs)) *
                              SECOND_US +
                          SECOND_US / 2);
    preload.ctx = (struct ctx){.arena = &preload.arena,
                               .clock = &preload.clock.clock,
                               .random = random_system(),
                               .fault = &preload.fault};
    must(&preload, plan.path, store_lmdb_open(&config, &preload.fault, &preload.backend));
    load_all(&preload, &plan);
    store_lmdb_close(preload.backend);
    arena_deinit(&preload.arena);
    return 0;
}
