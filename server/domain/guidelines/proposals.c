/*
 * proposals.c: stores and reads proposals; see proposals.h. proposal_output.c shows them, gate.c decides about them.
 */
#include "server/domain/guidelines/proposals.h"

#include "server/domain/artifacts/life.h"
#include "server/domain/guidelines/conflict_check.h"
#include "server/domain/guidelines/keys.h"
#include "server/domain/settings/settings.h"
#include "server/domain/text/sanitise.h"
#include "store/base/text.h"

#include <event_apply.h>

bool rule_content_is_valid(struct arena *arena, struct slice rule)
{
    struct slice first = text_first_characters(rule, RULE_CHARACTERS_MAX);
    struct sanitised clean = {.text = {NULL, 0}};

    if (rule.size > 0 && first.size == rule.size) {
        clean = sanitise_text(arena, SANITISE_GUIDELINE, rule);
    }
    return clean.text.size > 0 && !clean.failed;
}

void rule_content_check(struct ctx *ctx, struct slice field, struct slice rule)
{
    if (!rule_content_is_valid(ctx->arena, rule)) {
        fault_add(
            ctx->fault, field,
            "empty, too long, or nothing remains of it in a prompt; expected a rule in 1 to %d "
            "characters",
            RULE_CHARACTERS_MAX);
    }
}

static bool is_name(struct slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        uint8_t byte = name.data[i];

        if (!(byte >= 'a' && byte <= 'z') && !(byte >= 'A' && byte <= 'Z') &&
            !(byte >= '0' && byte <= '9') && byte != '_' && byte != '-') {
            return false;
        }
    }
    return name.size <= RULE_INSERTION_POINT_BYTES_MAX;
}

static void check_agents(struct ctx *ctx, const struct proposal_input *input)
{
    if (input->agent_count == 0) {
        fault_add(ctx->fault, SLICE("proposal.affected_agents"),
                  "empty; expected 1 to %d names of agents", PROPOSAL_AGENTS_MAX);
    }
    for (size_t i = 0; i < input->agent_count; i++) {
        bool is_repeated = false;

        for (size_t j = 0; j < i; j++) {
            is_repeated = is_repeated || slice_equal(input->agents[i], input->agents[j]);
        }
        if (input->agents[i].size == 0 || is_repeated) {
            fault_add(ctx->fault, arena_printf(ctx->arena, "proposal.affected_agents[%zu]", i),
                      "empty or repeated; expected the name of each agent once");
        }
    }
}

/* A guideline that is replaced must be in effect. */
static enum err check_replaced(struct ctx *ctx, struct store_txn *txn,
                               const struct proposal_input *input)
{
    enum err err = OK;

    for (size_t i = 0; i < input->replaces_count && err == OK; i++) {
        struct proposal replaced;

        err = proposal_find(txn, input->org, input->replaces[i], &replaced);
        if (err == ERR_NOT_FOUND || (err == OK && !artifact_life_is_live(&replaced.record.life))) {
            fault_add(ctx->fault,
                      arena_printf(ctx->arena, "proposal.replaces_guideline_ids[%zu]", i),
                      "not a guideline in effect; expected the id of an active guideline");
            err = OK;
        }
    }
    return err;
}

static enum err check(struct ctx *ctx, struct store_txn *txn, const struct proposal_input *input)
{
    enum err err = check_replaced(ctx, txn, input);

    if (err != OK) {
        return err;
    }
    rule_content_check(ctx, SLICE("proposal.rule_content"), input->rule_content);
    check_agents(ctx, input);
    if (!is_name(input->insertion_point)) {
        fault_add(ctx->fault, SLICE("proposal.insertion_point"),
                  "not a name; expected 1 to %d letters, digits, underscores and hyphens",
                  RULE_INSERTION_POINT_BYTES_MAX);
    }
    return fault_result(ctx->fault);
}

static enum err put_conflicts(struct ctx *ctx, struct store_txn *txn,
                              const struct proposal_input *input, struct slice *ret_run)
{
    const struct conflict_query query = {
        .org = input->org,
        .rule = input->rule_content,
        .agents = input->agents,
        .agent_count = input->agent_count,
        .except_ids = input->replaces,
        .except_count = input->replaces_count,
    };
    struct found_conflicts *found = arena_alloc(ctx->arena, sizeof(*found));
    struct buffer run;
    enum err err = found != NULL ? conflicts_find(ctx->arena, txn, &query, found) : ERR_MEMORY;

    if (err != OK) {
        return err;
    }
    buffer_init(&run, ctx->arena, 0);
    conflicts_put(found, PROPOSAL_CONFLICTS_FIELD, &run);
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Writes the lists of a proposal. */
static enum err put_lists(struct ctx *ctx, const struct proposal_input *input,
                          struct proposal_view *view)
{
    struct buffer agents;
    struct buffer replaces;
    struct buffer evidence;

    buffer_init(&agents, ctx->arena, 0);
    buffer_init(&replaces, ctx->arena, 0);
    buffer_init(&evidence, ctx->arena, 0);
    for (size_t i = 0; i < input->agent_count; i++) {
        proposal_view_add_affected_agents(&agents, input->agents[i]);
    }
    for (size_t i = 0; i < input->replaces_count; i++) {
        char text[UUID_TEXT_BYTES];

        uuid_format(input->replaces[i], text);
        proposal_view_add_replaces_guideline_ids(&replaces, slice_of(text, UUID_TEXT_BYTES));
    }
    for (size_t i = 0; i < input->evidence_count; i++) {
        char text[UUID_TEXT_BYTES];

        uuid_format(input->evidence[i], text);
        proposal_view_add_created_from_feedback_ids(&evidence, slice_of(text, UUID_TEXT_BYTES));
    }
    view->affected_agents.run = buffer_slice(&agents);
    view->replaces_guideline_ids.run = buffer_slice(&replaces);
    view->created_from_feedback_ids.run = buffer_slice(&evidence);
    return buffer_ok(&agents) && buffer_ok(&replaces) && buffer_ok(&evidence) ? OK : ERR_MEMORY;
}

static enum err encode(struct ctx *ctx, struct store_txn *txn, const struct proposal_input *input,
                       struct event_draft *draft)
{
    struct settings settings;
    struct slice proposer = input->proposer.size > 0 ? input->proposer : draft->actor_user_id;
    struct proposal_view view = {
        .id = draft->stamp.id,
        .rule_type = input->rule_type,
        .insertion_point = input->insertion_point,
        .has_insertion_point = input->insertion_point.size > 0,
        .proposed_by = proposer,
        .has_proposed_by = proposer.size > 0,
        .created_at_us = draft->created_at_us,
        .has_created_at = true,
        .status = PROPOSAL_STATUS_PENDING,
        .rule_content = input->rule_content,
        .evidence_summary = input->evidence_summary,
        .classification_confidence = input->confidence,
        .expedited = input->expedited,
        .cluster_seq = input->cluster_seq,
        .sole_author = input->sole_author,
        .has_sole_author = input->sole_author.size > 0,
    };
    enum err err = settings_read(txn, input->org, &settings);

    if (err == OK) {
        view.votes_needed = settings.votes_needed;
        err = put_conflicts(ctx, txn, input, &view.conflicts.run);
    }
    if (err == OK) {
        err = put_lists(ctx, input, &view);
    }
    if (err != OK) {
        return err;
    }
    return view_encode_parts(&proposal_view_type, &view, ctx->arena, &draft->facts, &draft->content)
               ? OK
               : ERR_MEMORY;
}

/* Sets the proposer: a timer has no caller. */
static enum err set_actor(struct ctx *ctx, const struct proposal_input *input,
                          struct event_draft *draft)
{
    const struct slice none = {NULL, 0};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    enum err err = OK;

    if (input->caller.role == ROLE_UNSPECIFIED) {
        draft->actor_user_id = input->proposer;
        draft->annotator = ANNOTATOR_CODE;
        return OK;
    }
    err = actor_resolve(ctx, &input->caller, none, none, false, &draft->actor_user_id);
    if (err == OK) {
        err = annotator_resolve(ctx, &input->caller, none, none, &annotator);
    }
    draft->annotator = (enum annotator)annotator;
    return err;
}

enum err proposal_create(struct ctx *ctx, struct store_txn *txn, const struct proposal_input *input,
                         uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct event_draft draft = {.org = input->org, .kind = EVENT_PROPOSAL_CREATED};
    enum err err = check(ctx, txn, input);

    if (err == OK) {
        err = set_actor(ctx, input, &draft);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        err = encode(ctx, txn, input, &draft);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_PROPOSAL, draft.stamp.id);
    }
    if (err != OK) {
        return err;
    }
    event_draft_add_subject(&draft, SUBJECT_AGENT, input->agents[0]);
    return event_draft_append(ctx, txn, &draft, guidelines_apply, ret_seq);
}

enum err proposal_read_created(struct store_txn *txn, struct org_id org, uint64_t seq,
                               struct event *ret_event, struct proposal_view *ret_view)
{
    enum err err = log_read(txn, org, seq, ret_event);

    if (err == OK && ret_event->kind != EVENT_PROPOSAL_CREATED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = view_read_parts(&proposal_view_type, ret_event->facts, ret_event->content, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err proposal_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                       struct proposal *ret_proposal)
{
    struct key key = key_proposal(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_PROPOSAL, key_slice(&key), &value);

    if (err != OK) {
        return err;
    }
    ret_proposal->seq = seq;
    err = record_decode_proposal(value, &ret_proposal->record);
    return err != OK
               ? err
               : proposal_read_created(txn, org, seq, &ret_proposal->event, &ret_proposal->view);
}

enum err proposal_find(struct store_txn *txn, struct org_id org, struct uuid id,
                       struct proposal *ret_proposal)
{
    uint64_t seq = 0;
    enum err err = log_find(txn, org, id, &seq);

    return err != OK ? err : proposal_read(txn, org, seq, ret_proposal);
}

enum err proposal_of_cluster(struct store_txn *txn, struct org_id org, uint64_t cluster_seq,
                             struct proposal *ret_proposal)
{
    struct key key = key_proposal_cluster(org, cluster_seq);
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = store_get(txn, TABLE_PROPOSAL_CLUSTER, key_slice(&key), &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, &seq);
    if (err == OK) {
        err = proposal_read(txn, org, seq, ret_proposal);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
