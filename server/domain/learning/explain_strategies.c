/*
 * explain_strategies.c: explains strategies that a search offered: the turn of each as it was then,
 * the feedback on it, and the answer again, if the caller sent the request.
 */
#include "server/domain/learning/explain_internal.h"
#include "server/domain/turns/served_strategies.h"

#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>

/* Typical size of the evidence: three events of two ids and a time. */
#define EVIDENCE_BYTES 480

/* Adds an event, if there is one, to the evidence; its person approved the artifact. */
static enum err put_said(struct explaining *explaining, struct store_txn *txn, uint64_t seq,
                         struct explained_artifact_view *view, struct buffer *evidence)
{
    struct event event;
    enum err err = seq == 0 ? OK : log_read(txn, explaining->query->org, seq, &event);

    if (seq != 0 && err == OK) {
        explain_put_evidence(&event, NULL, evidence);
        if (event.kind == EVENT_TURN_FEEDBACK_SET) {
            explain_approve(view, &event);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err explain_strategy(struct explaining *explaining, struct store_txn *txn,
                          const struct exposed_artifact *artifact)
{
    struct org_id org = explaining->query->org;
    struct explained_artifact_view view = {
        .version = artifact->version,
        .held_out = explaining->exposure.arm == EXPERIMENT_ARM_CONTROL,
        .has_turn = true,
    };
    struct user_feedback_view feedback;
    struct turn_record record;
    struct buffer evidence;
    struct event event;
    enum err err = log_read(txn, org, artifact->seq, &event);

    buffer_init(&evidence, explaining->ctx->arena, EVIDENCE_BYTES);
    if (err == OK) {
        err = turn_read_as_of(txn, &event, explaining->exposure.as_of_seq, &record);
    }
    if (err == OK) {
        err = put_said(explaining, txn, record.set_seq, &view, &evidence);
    }
    if (err == OK) {
        err = put_said(explaining, txn, record.marked_seq, &view, &evidence);
    }
    if (err == OK) {
        explain_put_evidence(&event, NULL, &evidence);
        err = turn_feedback_read(txn, org, &record, &feedback);
    }
    if (err == OK) {
        err = turn_encode(explaining->ctx->arena, &event, &feedback, &view.turn);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (event.content_removed) {
        view.expired = true;
        view.content_sha256 = slice_of(event.content_sha256.bytes, SHA256_BYTES);
    }
    return explain_put_artifact(explaining, &view, &evidence);
}

/* Returns whether the query can be compared with the vectors of the exposure's turns: vectors of
 * another model are not comparable. */
static enum err check_space(struct explaining *explaining, struct store_txn *txn, bool *ret_is_same)
{
    const struct exposure *exposure = &explaining->exposure;
    struct turn_view turn;
    struct event event;
    enum err err = OK;

    *ret_is_same = true;
    for (size_t i = 0; err == OK && exposure->is_listed && i < exposure->artifact_count; i++) {
        err = log_read(txn, explaining->query->org, exposure->artifacts[i].seq, &event);
        if (err == OK) {
            err = turn_view_read(event.facts, &turn);
        }
        *ret_is_same = *ret_is_same && err == OK &&
                       slice_equal(turn.embedder_id, explaining->query->strategies->vector.space);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Appends the messages of a run of the answer as a field of the explanation. */
static void copy_run(struct explaining *explaining, struct slice run, uint32_t field)
{
    struct slice message = {NULL, 0};

    while (view_next(&run, &message)) {
        wire_put_bytes(explaining->body, field, message);
    }
}

enum err explain_strategies(struct explaining *explaining, struct store_txn *txn,
                            bool *ret_is_known, uint8_t hash[EXPOSURE_TEXT_HASH_BYTES])
{
    struct strategy_query *query = explaining->query->strategies;
    struct served_strategies served = {.strategies = {NULL, 0}};
    struct strategies found;
    bool is_same = false;
    enum err err = OK;

    *ret_is_known = false;
    if (query == NULL) {
        return OK;
    }
    err = check_space(explaining, txn, &is_same);
    if (err != OK || !is_same) {
        return err;
    }
    query->is_past = true;
    query->as_of_seq = explaining->exposure.as_of_seq;
    if (explaining->exposure.arm != EXPERIMENT_ARM_CONTROL) {
        err = strategies_search(explaining->ctx->arena, txn, NULL, query, &found);
        if (err == OK) {
            err = served_strategies_encode(explaining->ctx->arena, &found, true, &served);
        }
    }
    if (err != OK) {
        return err;
    }
    copy_run(explaining, served.strategies, EXPLAIN_EXPOSURE_RESPONSE_STRATEGIES_FIELD);
    copy_run(explaining, served.avoid, EXPLAIN_EXPOSURE_RESPONSE_AVOID_FIELD);
    served_strategies_hash(&served, hash);
    *ret_is_known = true;
    return OK;
}
