/*
 * agent_prompt.c: the cost of BuildAgentPrompt below the services: an agent's guidelines read from a store, inserted into a
 * prompt, and named by a signed reference; without proposals in SHADOW, and with as many as an agent may have. CPU time of
 * this thread, from a store in memory.
 *
 *   bench_agent_prompt [PROMPTS]
 */
#include "server/domain/guidelines/agent_prompt.h"
#include "server/domain/guidelines/gate.h"
#include "server/domain/learning/state.h"
#include "server/domain/settings/settings.h"
#include "store/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define START_US INT64_C(1770000000000000)
#define PROMPTS 20000
#define AGENT SLICE("coder")
#define BASE SLICE("You write code.\nBe brief.\n")

struct bench {
    struct store_backend *backend;
    struct arena arena;
    struct fault fault;
    struct clock_manual clock;
    struct random_seeded random;
    struct ctx ctx;
    struct org_id org;
    struct exposure_key key;
};

static void must(const char *what, enum err err)
{
    if (err != OK) {
        (void)fprintf(stderr, "bench_agent_prompt: %s: %s\n", what, err_name(err));
        exit(2);
    }
}

static double cpu_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static struct event_caller caller(const char *user)
{
    return (struct event_caller){ROLE_ADMIN, slice_text(user), 1, false};
}

/* Stores a proposal, and returns its id. */
static struct uuid propose(struct bench *bench, struct store_txn *txn, size_t number)
{
    const struct slice agents[] = {AGENT};
    const struct proposal_input input = {
        .org = bench->org,
        .caller = caller("paul"),
        .rule_type = RULE_TYPE_GUIDELINE,
        .agents = agents,
        .agent_count = 1,
        .rule_content = arena_printf(&bench->arena,
                                     "Topic%zu needs the remedy%zu of chapter%zu, before the "
                                     "review, and with a test.",
                                     number, number, number)};
    struct proposal proposal;
    uint64_t seq = 0;

    must("propose", proposal_create(&bench->ctx, txn, &input, &seq));
    must("read", proposal_read(txn, bench->org, seq, &proposal));
    return proposal.view.id;
}

static void approve(struct bench *bench, struct store_txn *txn, struct uuid id)
{
    const struct proposal_vote_request vote = {.org = bench->org,
                                               .caller = caller("anna"),
                                               .kind = PROPOSAL_VOTE_KIND_APPROVED,
                                               .proposal_id = id};
    uint64_t seq = 0;

    must("approve", guideline_gate(&bench->ctx, txn, &vote, &seq));
}

static void put_in_shadow(struct bench *bench, struct store_txn *txn, struct uuid id)
{
    const struct artifact_decision decision = {.org = bench->org,
                                               .caller = caller("anna"),
                                               .artifact_id = id,
                                               .state = ARTIFACT_STATE_SHADOW,
                                               .reason = SLICE("measure it first")};
    uint64_t seq = 0;

    must("shadow", artifact_set_state(&bench->ctx, txn, &decision, &seq));
}

/* Adds guidelines, or proposals in SHADOW. */
static void add(struct bench *bench, size_t count, bool is_shadow)
{
    struct store_txn *txn = NULL;

    must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
    for (size_t i = 0; i < count; i++) {
        struct uuid id = propose(bench, txn, is_shadow ? 1000 + i : i);

        if (is_shadow) {
            put_in_shadow(bench, txn, id);
        } else {
            approve(bench, txn, id);
        }
    }
    must("commit", store_commit(txn));
}

static bool never(const void *user)
{
    (void)user;
    return false;
}

static void build(struct bench *bench, struct arena *arena)
{
    const struct agent_prompt_query query = {.org = bench->org,
                                             .agent = AGENT,
                                             .base = BASE,
                                             .subject_id = SLICE("task-1"),
                                             .is_cancelled = never};
    struct agent_prompt prompt;
    struct exposure exposure;
    struct slice reference = {NULL, 0};
    struct store_txn *txn = NULL;

    must("begin", store_begin(bench->backend, STORE_READ, &txn));
    must("build", agent_prompt_build(arena, txn, &query, &prompt));
    must("expose", agent_prompt_expose(arena, &prompt, &exposure));
    must("refer", exposure_reference(arena, &bench->key, bench->org, &exposure, &reference));
    store_abort(txn);
    arena_reset(arena);
}

static void measure(struct bench *bench, const char *name, size_t prompts)
{
    struct arena arena;
    double start = 0;

    arena_init(&arena, (size_t)1 << 20);
    build(bench, &arena);
    start = cpu_us();
    for (size_t i = 0; i < prompts; i++) {
        build(bench, &arena);
    }
    (void)printf("%-40s %.1f us of CPU\n", name, (cpu_us() - start) / (double)prompts);
    arena_deinit(&arena);
}

/* Appends the first event of the organisation, which its settings need. */
static void make_org(struct bench *bench, struct store_txn *txn)
{
    struct event_draft draft = {.org = bench->org,
                                .kind = EVENT_ORGANIZATION_CREATED,
                                .annotator = ANNOTATOR_HUMAN,
                                .source = SOURCE_SYSTEM,
                                .actor_user_id = SLICE("root")};
    struct event event;

    must("stamp", log_next_stamp(&bench->ctx, txn, draft.org, &draft.stamp));
    draft.created_at_us = draft.stamp.created_at_us;
    must("subject",
         event_draft_add_id(&bench->arena, &draft, SUBJECT_ORGANIZATION, draft.org.uuid));
    must("append", log_append(&bench->ctx, txn, &draft, &event));
}

static void need_one_vote(struct bench *bench)
{
    const struct settings_change change = {.votes_needed = 1};
    struct store_txn *txn = NULL;
    uint64_t seq = 0;

    must("begin", store_begin(bench->backend, STORE_WRITE, &txn));
    make_org(bench, txn);
    must("settings", settings_update(&bench->ctx, txn, bench->org, SLICE("root"), &change, &seq));
    must("commit", store_commit(txn));
}

int main(int argc, char **argv)
{
    static struct bench bench;
    const uint8_t key[EXPOSURE_KEY_BYTES] = {7};
    size_t prompts = argc > 1 ? strtoul(argv[1], NULL, 10) : PROMPTS;

    arena_init(&bench.arena, SIZE_MAX);
    fault_init(&bench.fault, &bench.arena);
    clock_manual_init(&bench.clock, START_US);
    random_seeded_init(&bench.random, 7);
    bench.ctx = (struct ctx){&bench.arena, &bench.clock.clock, &bench.random.random, &bench.fault};
    memset(bench.org.uuid.bytes, 1, UUID_BYTES);
    exposure_key_init(&bench.key, key);
    must("open", store_memory_open(&bench.backend));
    need_one_vote(&bench);
    measure(&bench, "no guidelines", prompts);
    add(&bench, GUIDELINES_OF_AGENT_MAX, false);
    measure(&bench, "20 guidelines", prompts);
    add(&bench, SHADOWS_OF_AGENT_MAX, true);
    measure(&bench, "20 guidelines, 20 proposals in SHADOW", prompts);
    store_memory_close(bench.backend);
    arena_deinit(&bench.arena);
    return 0;
}
