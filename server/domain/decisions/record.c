/*
 * record.c: decides and appends a decision; see decisions.h.
 */
#include "server/domain/decisions/decisions.h"

#include "server/domain/decisions/citations.h"
#include "server/domain/decisions/decisions_internal.h"
#include "server/domain/evaluator/diff.h"
#include "server/domain/exposures/citations.h"
#include "server/domain/settings/decision_settings.h"

#include <event_apply.h>

/* A decision that is being recorded. */
struct recording {
    const struct decision_request *request;
    struct slice agent;
    struct slice reviewer;
    enum annotator_kind annotator;
    uint64_t cluster_seq; /* 0: none, or the decision's own event */
    struct slice similar_seqs; /* encoded: other members of the cluster */
    struct evaluator_result result;
    struct decision_citations citations;
};

struct slice decision_words(struct arena *arena, struct slice comment, struct slice summary)
{
    if (comment.size == 0 || summary.size == 0) {
        return comment.size > 0 ? comment : summary;
    }
    return arena_printf(arena, "%.*s\n%.*s", (int)comment.size, (const char *)comment.data,
                        (int)summary.size, (const char *)summary.data);
}

static enum evaluator_decision outcome_of(enum decision_outcome outcome)
{
    switch (outcome) {
    case DECISION_OUTCOME_REJECTED:
        return EVALUATOR_REJECTED;
    case DECISION_OUTCOME_APPROVED_WITH_CHANGES:
        return EVALUATOR_APPROVED_WITH_CHANGES;
    case DECISION_OUTCOME_APPROVED:
    case DECISION_OUTCOME_UNSPECIFIED:
        break;
    }
    return EVALUATOR_APPROVED;
}

enum err decision_read_signals(struct arena *arena, struct decision_input *input)
{
    const struct decision_view *view = &input->view;
    struct slice words = decision_words(arena, view->reviewer_comment, view->correction_summary);
    struct slice tags = view->tags.run;
    struct slice tag = {NULL, 0};

    input->evaluator = (struct evaluator_input){
        .decision = outcome_of(view->decision),
        .has_words = words.size > 0,
        .has_correction = view->correction_diff.size > 0 || view->correction_diff_path.size > 0 ||
                          view->correction_summary.size > 0,
        .changed_lines = diff_count_lines(view->correction_diff),
        .names_skill = evaluator_has_skill_path(view->correction_diff) ||
                       evaluator_has_skill_path(view->correction_diff_path),
    };
    while (view_next(&tags, &tag)) {
        input->evaluator.names_skill = input->evaluator.names_skill || evaluator_names_skill(tag);
    }
    return comment_signals_read(arena, words, &input->evaluator.signals);
}

enum err decision_theme_write(struct arena *arena, const struct decision_input *input,
                              struct slice *ret_theme)
{
    size_t size = 2 + input->space.size + input->theme.width * DECISION_THEME_NUMBER_BYTES;
    uint8_t *bytes = (uint8_t *)arena_alloc(arena, size);

    if (bytes == NULL || input->space.size > UINT8_MAX) {
        return ERR_MEMORY;
    }
    if (input->theme.width == 0) {
        *ret_theme = slice_of(NULL, 0);
        return OK;
    }
    bytes[0] = (uint8_t)input->kind;
    bytes[1] = (uint8_t)input->space.size;
    memcpy(bytes + 2, input->space.data, input->space.size);
    for (size_t i = 0; i < input->theme.width; i++) {
        uint8_t *place = bytes + 2 + input->space.size + i * DECISION_THEME_NUMBER_BYTES;
        uint16_t number = (uint16_t)input->theme.numbers[i];

        place[0] = (uint8_t)(number >> 8);
        place[1] = (uint8_t)number;
    }
    *ret_theme = slice_of(bytes, size);
    return OK;
}

/* Returns whether a stored decision has the content of a request; values set by the server are ignored. */
static bool has_same_content(struct arena *arena, const struct decision_view *stored,
                             const struct decision_view *given)
{
    struct decision_view known = *stored;
    struct decision_view wanted = *given;
    struct slice a = {NULL, 0};
    struct slice b = {NULL, 0};

    wanted.id = known.id;
    wanted.agent_name = wanted.agent_name.size > 0 ? wanted.agent_name : known.agent_name;
    wanted.reviewer_id = wanted.has_reviewer_id ? wanted.reviewer_id : known.reviewer_id;
    wanted.has_reviewer_id = known.has_reviewer_id;
    wanted.created_at_us = wanted.has_created_at ? wanted.created_at_us : known.created_at_us;
    wanted.has_created_at = true;
    known.classification = DECISION_CLASS_UNSPECIFIED;
    known.confidence = 0;
    known.proposed_action = PROPOSED_ACTION_UNSPECIFIED;
    known.changed_lines = 0;
    known.cluster_seq = 0;
    known.theme = slice_of(NULL, 0);
    known.exposure_seqs.run = slice_of(NULL, 0);
    known.similar_seqs.run = slice_of(NULL, 0);
    known.rationale = slice_of(NULL, 0);
    return view_encode(&decision_view_type, &known, arena, &a) &&
           view_encode(&decision_view_type, &wanted, arena, &b) && slice_equal(a, b);
}

/* Finds an earlier decision with the id. OK and its seq, ERR_NOT_FOUND, or ERR_EXISTS. */
static enum err find_repeat(struct ctx *ctx, struct store_txn *txn,
                            const struct decision_request *request, uint64_t *ret_seq)
{
    const struct decision_view *given = &request->input->view;
    struct decision_view stored;
    struct event event;
    enum err err = decision_find(txn, request->org, given->decision_id, ret_seq);

    if (err == OK) {
        err = decision_read(txn, request->org, *ret_seq, &event, &stored);
    }
    if (err != OK || has_same_content(ctx->arena, &stored, given)) {
        return err;
    }
    return fault_say(ctx->fault, ERR_EXISTS,
                     "decision.decision_id: a decision with this id and other content is stored; "
                     "expected a new id, or the same content");
}

static enum err resolve(struct ctx *ctx, struct store_txn *txn, struct recording *recording)
{
    const struct decision_request *request = recording->request;
    const struct decision_input *input = request->input;
    bool sets_time = request->caller.backfill_only && input->time.is_given;
    enum err err = actor_resolve(ctx, &request->caller, SLICE("decision"), input->view.reviewer_id,
                                 sets_time, &recording->reviewer);

    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, SLICE("decision"), input->view.reviewer_id,
                                &recording->annotator);
    }
    if (err == OK) {
        err = event_time_check_now(ctx, txn, request->org, &input->time, SLICE("decision"));
    }
    if (err == OK) {
        err = decision_citations_read(ctx, txn, request, &recording->citations);
    }
    return err != OK ? err : fault_result(ctx->fault);
}

/* Finds the agent: the one in the request, else the one that the settings assign to the gate. */
static enum err find_agent(struct ctx *ctx, struct store_txn *txn, struct recording *recording)
{
    const struct decision_request *request = recording->request;
    const struct decision_view *given = &request->input->view;
    struct decision_settings settings;
    enum err err = OK;

    recording->agent = given->agent_name;
    if (recording->agent.size > 0) {
        return OK;
    }
    err = decision_settings_read(txn, request->org, &settings);
    if (err == OK) {
        err = decision_settings_agent(&settings, given->gate_id, &recording->agent);
    }
    if (err == OK && recording->agent.size == 0) {
        fault_add(ctx->fault, SLICE("decision.agent_name"),
                  "missing, and the gate has no agent; expected the name of an agent, or a gate of "
                  "the setting gate_agents");
        err = ERR_INVALID;
    }
    return err;
}

static enum err encode_similar(struct arena *arena, const struct cluster_members *members,
                               struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, EVALUATION_SIMILAR_MAX * WIRE_OVERHEAD_BYTES);
    for (size_t i = 0; i < members->count && i < EVALUATION_SIMILAR_MAX; i++) {
        decision_view_add_similar_seqs(&run, members->items[i].seq);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Finds the cluster, and classifies the decision with the support of all members. */
static enum err evaluate(struct ctx *ctx, struct store_txn *txn, struct recording *recording,
                         int64_t created_at_us)
{
    const struct decision_request *request = recording->request;
    const struct decision_input *input = request->input;
    const struct cluster_space space = {request->org, recording->agent, input->space, input->kind};
    struct evaluator_support support = {.members = 1};
    struct cluster_members members;
    enum err err = OK;

    if (input->theme.width > 0) {
        err = cluster_find(txn, &space, &input->theme, &recording->cluster_seq);
    }
    if (err == OK) {
        err = cluster_members_read(ctx->arena, txn, request->org, recording->cluster_seq, &members);
    }
    if (err == OK) {
        err = encode_similar(ctx->arena, &members, &recording->similar_seqs);
    }
    if (err != OK) {
        return err;
    }
    members.items[members.count++] = (struct cluster_member){
        .reviewer = recording->reviewer,
        .task = input->view.task_id,
        .epic = input->view.epic_id,
        .words = decision_words(ctx->arena, input->view.reviewer_comment,
                                input->view.correction_summary),
        .created_at_us = created_at_us,
        .is_change = input->view.decision != DECISION_OUTCOME_APPROVED,
    };
    err = cluster_support(ctx->arena, &members, clock_wall_us(ctx->clock), &support);
    return err != OK
               ? err
               : evaluator_classify(ctx->arena, &input->evaluator, &support, &recording->result);
}

static enum decision_class class_of(enum evaluator_class class)
{
    static const enum decision_class classes[] = {
        [EVALUATOR_POSITIVE] = DECISION_CLASS_POSITIVE,
        [EVALUATOR_AMBIGUOUS] = DECISION_CLASS_AMBIGUOUS,
        [EVALUATOR_HIGH] = DECISION_CLASS_GENERALIZABLE_HIGH,
        [EVALUATOR_LOW] = DECISION_CLASS_GENERALIZABLE_LOW,
        [EVALUATOR_EDGE_CASE] = DECISION_CLASS_EDGE_CASE};

    return classes[class];
}

static enum proposed_action action_of(enum evaluator_action action)
{
    static const enum proposed_action actions[] = {
        [EVALUATOR_NO_ACTION] = PROPOSED_ACTION_UNSPECIFIED,
        [EVALUATOR_CREATE_RULE] = PROPOSED_ACTION_CREATE_RULE,
        [EVALUATOR_REFINE_PROMPT] = PROPOSED_ACTION_REFINE_PROMPT,
        [EVALUATOR_UPDATE_SKILL] = PROPOSED_ACTION_UPDATE_SKILL,
        [EVALUATOR_DOCUMENT_ONLY] = PROPOSED_ACTION_DOCUMENT_ONLY};

    return actions[action];
}

enum proposed_action decision_action_of_class(enum decision_class class)
{
    switch (class) {
    case DECISION_CLASS_GENERALIZABLE_HIGH:
        return PROPOSED_ACTION_CREATE_RULE;
    case DECISION_CLASS_GENERALIZABLE_LOW:
        return PROPOSED_ACTION_REFINE_PROMPT;
    case DECISION_CLASS_EDGE_CASE:
        return PROPOSED_ACTION_DOCUMENT_ONLY;
    case DECISION_CLASS_UNSPECIFIED:
    case DECISION_CLASS_POSITIVE:
    case DECISION_CLASS_AMBIGUOUS:
        break;
    }
    return PROPOSED_ACTION_UNSPECIFIED;
}

void decision_put_result(const struct evaluator_result *result, struct evaluation_view *view)
{
    view->classification = class_of(result->class);
    view->confidence = result->confidence;
    view->proposed_action = action_of(result->action);
    view->rationale = result->rationale;
    view->evaluator_id = SLICE(EVALUATOR_ID);
}

static enum err encode(struct ctx *ctx, const struct recording *recording,
                       struct event_draft *draft)
{
    const struct decision_input *input = recording->request->input;
    struct decision_view view = input->view;
    enum err err = decision_theme_write(ctx->arena, input, &view.theme);

    view.id = draft->stamp.id;
    view.agent_name = recording->agent;
    view.reviewer_id = recording->reviewer;
    view.has_reviewer_id = recording->reviewer.size > 0;
    view.created_at_us = draft->created_at_us;
    view.has_created_at = true;
    view.classification = class_of(recording->result.class);
    view.confidence = recording->result.confidence;
    view.proposed_action = action_of(recording->result.action);
    view.changed_lines = input->evaluator.changed_lines;
    view.rationale = recording->result.rationale;
    view.similar_seqs.run = recording->similar_seqs;
    if (input->theme.width > 0) {
        view.cluster_seq = recording->cluster_seq != 0 ? recording->cluster_seq : draft->stamp.seq;
    }
    if (err == OK) {
        err = decision_citations_encode(ctx->arena, &recording->citations, &view);
    }
    if (err == OK && !view_encode_parts(&decision_view_type, &view, ctx->arena, &draft->facts,
                                        &draft->content)) {
        err = ERR_MEMORY;
    }
    return err;
}

static enum err append(struct ctx *ctx, struct store_txn *txn, struct recording *recording,
                       uint64_t *ret_seq)
{
    const struct decision_input *input = recording->request->input;
    struct event_draft draft = {.org = recording->request->org,
                                .kind = EVENT_DECISION_RECORDED,
                                .annotator = (enum annotator)recording->annotator,
                                .actor_user_id = recording->reviewer};
    const struct exposure_citer citer = {recording->reviewer, input->time};
    enum err err = find_agent(ctx, txn, recording);

    if (err == OK) {
        err = exposures_record(ctx, txn, recording->request->org, &citer,
                               recording->citations.items, recording->citations.count);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &input->time, &draft);
    }
    if (err == OK) {
        err = evaluate(ctx, txn, recording, draft.created_at_us);
    }
    if (err == OK) {
        err = encode(ctx, recording, &draft);
    }
    if (err != OK) {
        return err;
    }
    event_draft_add_subject(&draft, SUBJECT_AGENT, recording->agent);
    event_draft_add_subject(&draft, SUBJECT_DECISION, input->view.decision_id);
    return event_draft_append(ctx, txn, &draft, decisions_apply, ret_seq);
}

enum err decision_record(struct ctx *ctx, struct store_txn *txn,
                         const struct decision_request *request, struct decision_stored *ret_stored)
{
    struct recording *recording = arena_calloc(ctx->arena, 1, sizeof(*recording));
    enum err err = OK;

    if (recording == NULL) {
        return ERR_MEMORY;
    }
    recording->request = request;
    err = resolve(ctx, txn, recording);
    if (err == OK) {
        err = find_repeat(ctx, txn, request, &ret_stored->seq);
    }
    ret_stored->is_repeat = err == OK;
    return err == ERR_NOT_FOUND ? append(ctx, txn, recording, &ret_stored->seq) : err;
}
