/*
 * generation.c: see generation.h.
 */
#include "server/domain/generation/generation.h"

#include "server/domain/decisions/evaluations.h"
#include "server/domain/events/retraction.h"
#include "server/domain/generation/centre.h"
#include "server/domain/generation/sunset.h"
#include "store/base/text.h"

/* The decisions from which a proposal is made. */
struct evidence {
    struct cluster_members members;
    struct slice agents[PROPOSAL_AGENTS_MAX];
    size_t agent_count;
    uint64_t cluster_seq; /* cluster of the decisions; 0: they are not of one cluster */
    struct evaluator_support support;
    struct evaluator_result result; /* result of the newest member, with this support */
    bool is_wanted; /* a person, or the evaluator in effect, classified a member as general */
};

/* The way in which a draft is made. */
struct drafting {
    struct org_id org;
    struct event_caller caller;
    bool by_server;
    bool expedited;
};

/* --- reading --- */

/* Returns whether a decision is evidence by the class in effect, if that is not the server's. */
static enum err check_class(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                            uint64_t decision_seq, bool *ret_is_evidence, bool *is_wanted)
{
    struct evaluation_view view;
    uint64_t retraction_seq = 0;
    enum err err = retraction_find(txn, org, decision_seq, &retraction_seq);

    *ret_is_evidence = retraction_seq == 0;
    if (err != OK || retraction_seq != 0) {
        return err;
    }
    err = evaluation_in_effect(ctx->arena, txn, org, decision_seq, &view);
    if (err == OK && !slice_equal(view.evaluator_id, SLICE(EVALUATOR_ID))) {
        *ret_is_evidence = view.classification != DECISION_CLASS_POSITIVE &&
                           view.classification != DECISION_CLASS_AMBIGUOUS;
        *is_wanted = *is_wanted || view.classification == DECISION_CLASS_GENERALIZABLE_HIGH;
    }
    return err;
}

/* Removes decisions that people, or the evaluator in effect, do not consider evidence. */
static enum err keep_evidence(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              struct evidence *evidence)
{
    struct cluster_members *members = &evidence->members;
    size_t kept = 0;
    enum err err = OK;

    for (size_t i = 0; i < members->count && err == OK; i++) {
        bool is_evidence = false;

        err = check_class(ctx, txn, org, members->items[i].seq, &is_evidence, &evidence->is_wanted);
        if (err == OK && is_evidence) {
            members->items[kept++] = members->items[i];
        }
    }
    members->count = kept;
    return err;
}

/* Lists the agents of the evidence, each once. */
static enum err list_agents(struct ctx *ctx, struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->members.count; i++) {
        struct slice agent = evidence->members.items[i].agent;
        bool is_known = false;

        for (size_t j = 0; j < evidence->agent_count; j++) {
            is_known = is_known || slice_equal(evidence->agents[j], agent);
        }
        if (!is_known && evidence->agent_count == PROPOSAL_AGENTS_MAX) {
            return fault_say(ctx->fault, ERR_PRECONDITION,
                             "feedback_ids: decisions about too many agents; expected at most %d",
                             PROPOSAL_AGENTS_MAX);
        }
        if (!is_known) {
            evidence->agents[evidence->agent_count++] = agent;
        }
    }
    return OK;
}

/* Classifies the newest decision with the support of all members. */
static enum err classify(struct ctx *ctx, struct store_txn *txn, struct drafting *drafting,
                         struct evidence *evidence)
{
    struct decision_input input = {.kind = THEME_OF_NGRAMS};
    struct event event;
    enum err err =
        decision_read(txn, drafting->org, evidence->members.items[0].seq, &event, &input.view);

    if (err == OK) {
        err = decision_read_signals(ctx->arena, &input);
    }
    if (err == OK) {
        err = cluster_support(ctx->arena, &evidence->members, clock_wall_us(ctx->clock),
                              &evidence->support);
    }
    return err != OK ? err
                     : evaluator_classify(ctx->arena, &input.evaluator, &evidence->support,
                                          &evidence->result);
}

/* Summarises the members. ERR_NOT_FOUND if none of them is evidence. */
static enum err sum_up(struct ctx *ctx, struct store_txn *txn, struct drafting *drafting,
                       struct evidence *evidence)
{
    enum err err = keep_evidence(ctx, txn, drafting->org, evidence);

    if (err == OK && evidence->members.count == 0) {
        return ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = list_agents(ctx, evidence);
    }
    return err != OK ? err : classify(ctx, txn, drafting, evidence);
}

/* --- drafting --- */

static enum rule_type type_of(const struct cluster_members *members)
{
    size_t counts[DECISION_OUTCOME_APPROVED_WITH_CHANGES + 1] = {0};

    for (size_t i = 0; i < members->count; i++) {
        counts[members->items[i].outcome]++;
    }
    if (counts[DECISION_OUTCOME_REJECTED] >= counts[DECISION_OUTCOME_APPROVED_WITH_CHANGES] &&
        counts[DECISION_OUTCOME_REJECTED] >= counts[DECISION_OUTCOME_APPROVED]) {
        return RULE_TYPE_NEGATIVE_EXAMPLE;
    }
    return counts[DECISION_OUTCOME_APPROVED_WITH_CHANGES] >= counts[DECISION_OUTCOME_APPROVED]
               ? RULE_TYPE_GUIDELINE
               : RULE_TYPE_POSITIVE_EXAMPLE;
}

/* Returns the only reviewer of the evidence; empty if there are several, or one is unknown. */
static struct slice sole_author_of(const struct cluster_members *members)
{
    for (size_t i = 1; i < members->count; i++) {
        if (!slice_equal(members->items[i].reviewer, members->items[0].reviewer)) {
            return slice_of(NULL, 0);
        }
    }
    return members->items[0].reviewer;
}

/* Describes the evidence in words; empty if the arena is full. */
static struct slice summarise(struct arena *arena, const struct evidence *evidence)
{
    struct slice rationale = text_first_characters(evidence->result.rationale, 2000);
    struct buffer text;

    buffer_init(&text, arena, rationale.size + 256);
    evaluator_support_print(&evidence->support, &text);
    buffer_printf(&text, ", %u of them not approved unchanged. ", evidence->support.changes);
    buffer_append(&text, rationale);
    return buffer_ok(&text) ? buffer_slice(&text) : slice_of(NULL, 0);
}

/* Creates the proposal. ERR_PRECONDITION if no comment is a rule. */
static enum err create(struct ctx *ctx, struct store_txn *txn, const struct drafting *drafting,
                       struct evidence *evidence, uint64_t *ret_seq)
{
    struct uuid *ids = arena_calloc(ctx->arena, evidence->members.count, sizeof(*ids));
    struct proposal_input input = {
        .org = drafting->org,
        .caller = drafting->caller,
        .rule_type = type_of(&evidence->members),
        .agents = evidence->agents,
        .agent_count = evidence->agent_count,
        .evidence = ids,
        .evidence_count = evidence->members.count,
        .confidence = evidence->result.confidence,
        .expedited = drafting->expedited,
        .cluster_seq = evidence->cluster_seq,
        .sole_author = sole_author_of(&evidence->members),
        .evidence_summary = summarise(ctx->arena, evidence),
    };
    enum err err = ids != NULL
                       ? centre_find_rule(ctx->arena, &evidence->members, &input.rule_content)
                       : ERR_MEMORY;

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "feedback_ids: none of their comments can be a rule; expected a "
                         "comment of at most %d characters",
                         RULE_CHARACTERS_MAX);
    }
    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < evidence->members.count; i++) {
        ids[i] = evidence->members.items[i].id;
    }
    if (drafting->by_server) {
        input.proposer = SLICE(GENERATION_PROPOSER);
    }
    return proposal_create(ctx, txn, &input, ret_seq);
}

static enum err refuse_second(struct ctx *ctx, const struct proposal *proposal)
{
    char id[UUID_TEXT_BYTES + 1] = "";

    uuid_format(proposal->view.id, id);
    return fault_say(
        ctx->fault, ERR_EXISTS,
        "feedback_ids: their cluster has the proposal %s; expected decisions of another "
        "cluster",
        id);
}

/* Reads the decisions of a request; if there is only one, its cluster. */
static enum err read_request(struct ctx *ctx, struct store_txn *txn,
                             const struct generation_request *request, struct evidence *evidence)
{
    struct decision_view view;
    struct event event;
    enum err err = decision_read(txn, request->org, request->decision_seqs[0], &event, &view);

    if (err == OK) {
        evidence->cluster_seq = view.cluster_seq;
    }
    if (err == OK && request->decision_count == 1 && view.cluster_seq != 0) {
        return cluster_members_read(ctx->arena, txn, request->org, view.cluster_seq,
                                    &evidence->members);
    }
    if (err == OK) {
        err = cluster_members_of(ctx->arena, txn, request->org, request->decision_seqs,
                                 request->decision_count, &evidence->members);
    }
    for (size_t i = 0; err == OK && i < evidence->members.count; i++) {
        if (evidence->members.items[i].cluster_seq != evidence->cluster_seq) {
            evidence->cluster_seq = 0;
        }
    }
    return err;
}

enum err generation_draft(struct ctx *ctx, struct store_txn *txn,
                          const struct generation_request *request, uint64_t *ret_seq)
{
    struct drafting drafting = {.org = request->org, .caller = request->caller};
    struct evidence evidence = {.cluster_seq = 0};
    struct proposal proposal;
    enum err err = read_request(ctx, txn, request, &evidence);

    if (err == OK && evidence.cluster_seq != 0) {
        err = proposal_of_cluster(txn, request->org, evidence.cluster_seq, &proposal);
        if (err == OK) {
            return refuse_second(ctx, &proposal);
        }
        err = err == ERR_NOT_FOUND ? OK : err;
    }
    if (err == OK) {
        err = sum_up(ctx, txn, &drafting, &evidence);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(
            ctx->fault, ERR_PRECONDITION,
            "feedback_ids: all are praise, unclear by their class, or retracted; expected "
            "decisions with a request");
    }
    return err != OK ? err : create(ctx, txn, &drafting, &evidence, ret_seq);
}

/* --- by the server --- */

/* Drafts the proposal of a cluster if it is general; `ret_seq` is 0 if it is not, or no comment is a rule. */
static enum err draft_cluster(struct ctx *ctx, struct store_txn *txn, struct drafting *drafting,
                              uint64_t cluster_seq, uint64_t *ret_seq)
{
    struct evidence evidence = {.cluster_seq = cluster_seq};
    enum err err =
        cluster_members_read(ctx->arena, txn, drafting->org, cluster_seq, &evidence.members);

    *ret_seq = 0;
    if (err == OK) {
        err = sum_up(ctx, txn, drafting, &evidence);
    }
    if (err == ERR_NOT_FOUND) {
        return OK;
    }
    if (err != OK || (evidence.result.class != EVALUATOR_HIGH &&
                      (!evidence.is_wanted || evidence.support.contradicts))) {
        return err;
    }
    err = create(ctx, txn, drafting, &evidence, ret_seq);
    if (err == ERR_PRECONDITION) {
        fault_init(ctx->fault, ctx->arena);
        return OK;
    }
    return err;
}

/* Examines the next clusters. */
static enum err step_clusters(struct ctx *ctx, struct store_txn *txn,
                              struct generation_batch *batch, uint64_t *ret_seq)
{
    struct drafting drafting = {.org = batch->org, .caller = batch->caller, .by_server = true};
    uint64_t seqs[GENERATION_CLUSTERS_MAX];
    size_t count = 0;
    enum err err = clusters_high_read(txn, batch->org, batch->before_seq, GENERATION_CLUSTERS_MAX,
                                      seqs, &count);

    *ret_seq = 0;
    batch->has_clusters_ended = err == OK && count < GENERATION_CLUSTERS_MAX;
    for (size_t i = 0; i < count && err == OK && *ret_seq == 0; i++) {
        struct proposal proposal;

        batch->before_seq = seqs[i];
        err = proposal_of_cluster(txn, batch->org, seqs[i], &proposal);
        if (err == ERR_NOT_FOUND) {
            err = draft_cluster(ctx, txn, &drafting, seqs[i], ret_seq);
            batch->has_clusters_ended =
                batch->has_clusters_ended && (*ret_seq == 0 || i + 1 == count);
        }
    }
    return err;
}

enum err generation_step(struct ctx *ctx, struct store_txn *txn, struct generation_batch *batch,
                         uint64_t *ret_seq)
{
    return batch->has_clusters_ended ? sunset_step(ctx, txn, batch, ret_seq)
                                     : step_clusters(ctx, txn, batch, ret_seq);
}

enum err generation_expedite(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct event_caller *caller, uint64_t decision_seq,
                             uint64_t *ret_seq)
{
    struct drafting drafting = {
        .org = org, .caller = *caller, .by_server = true, .expedited = true};
    struct decision_view view;
    struct proposal proposal;
    struct event event;
    enum err err = decision_read(txn, org, decision_seq, &event, &view);

    *ret_seq = 0;
    if (err != OK || view.classification != DECISION_CLASS_GENERALIZABLE_HIGH ||
        view.confidence < EVALUATOR_EXPEDITED_CONFIDENCE) {
        return err;
    }
    err = proposal_of_cluster(txn, org, view.cluster_seq, &proposal);
    return err == ERR_NOT_FOUND ? draft_cluster(ctx, txn, &drafting, view.cluster_seq, ret_seq)
                                : err;
}
