/*
 * explain.c: see explain.h.
 */
#include "server/domain/learning/explain_internal.h"

#include "store/base/assert.h"

#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>

/* Whether the rebuilt text has the exposure's hash. */
struct text_check {
    bool is_known; /* the text could be rebuilt */
    bool matches;
};

static enum err find_by_id(struct explaining *explaining, struct store_txn *txn)
{
    const struct explain_query *query = explaining->query;
    struct event event;
    enum err err = log_find(txn, query->org, query->exposure_id, &explaining->exposure_seq);

    if (err == OK) {
        err = log_read(txn, query->org, explaining->exposure_seq, &event);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err == OK) {
        err = exposure_of_event(explaining->ctx->arena, &event, &explaining->exposure);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(explaining->ctx->fault, err,
                         "exposure_id: not found in this organisation; expected the id of an "
                         "EXPOSURE_RECORDED event");
    }
    return err;
}

static enum err find_exposure(struct explaining *explaining, struct store_txn *txn)
{
    const struct explain_query *query = explaining->query;
    struct cited_exposure cited;
    enum err err = OK;

    if (query->exposure_ref.size == 0) {
        return find_by_id(explaining, txn);
    }
    err = exposure_find(explaining->ctx, txn, query->key, query->org, query->exposure_ref, &cited);
    if (err == ERR_INVALID) {
        fault_add(
            explaining->ctx->fault, SLICE("exposure_ref"),
            "unknown, incomplete or changed; expected the exposure_ref of a GetExamples, "
            "PreparePrompt, MatchLines, ScoreDocument, ResolvePlaceholders, SearchStrategies or "
            "BuildAgentPrompt response of this organisation");
    }
    if (err == OK) {
        explaining->exposure = cited.exposure;
        explaining->exposure_seq = cited.seq;
    }
    return err;
}

static struct text_check compare(const struct explaining *explaining, const uint8_t *hash)
{
    return (struct text_check){
        .is_known = true,
        .matches = memcmp(explaining->exposure.text_hash, hash, EXPOSURE_TEXT_HASH_BYTES) == 0,
    };
}

/* Rebuilds the prompt, if the caller sent the rest of it. */
static enum err check_prompt(struct explaining *explaining, struct store_txn *txn,
                             struct slice hint_examples_json, struct text_check *check)
{
    struct prompt_query *query = explaining->query->prompt;
    const struct prompt_template_view *template = &explaining->template.view;
    struct slice text = {NULL, 0};
    struct sha256_digest digest;
    enum err err = OK;

    if (query == NULL) {
        return OK;
    }
    if (query->stored.name.size == 0 && query->template_text.size == 0) {
        query->stored.name = template->name;
        query->stored.has_version = true;
        query->stored.version = template->version;
    }
    if (query->stored.name.size == 0 && query->template_text.size == 0) {
        fault_add(explaining->ctx->fault, SLICE("prompt_inputs.source"),
                  "missing; expected template_name or template, since the exposure names no "
                  "template");
        return ERR_INVALID;
    }
    query->stored.as_of_seq = explaining->exposure.as_of_seq;
    err = prompt_fill_again(explaining->ctx, txn, query, hint_examples_json, &text);
    if (err == OK) {
        digest = sha256(text);
        *check = compare(explaining, digest.bytes);
    }
    return err;
}

/* Matches the lines again, if the caller sent them. */
static enum err check_matches(struct explaining *explaining, struct store_txn *txn,
                              struct text_check *check)
{
    struct match *match = explaining->query->match;
    struct arena *arena = explaining->ctx->arena;
    struct match_found *found = arena_alloc(arena, sizeof(*found));
    uint8_t hash[EXPOSURE_TEXT_HASH_BYTES];
    struct arena scratch;
    enum err err = OK;

    if (match == NULL) {
        return OK;
    }
    match->past = arena_calloc(arena, 1, sizeof(*match->past));
    if (found == NULL || match->past == NULL) {
        return ERR_MEMORY;
    }
    *match->past = (struct past){
        .org = match->org, .as_of_seq = explaining->exposure.as_of_seq, .arena = arena};
    match->as_of_seq = explaining->exposure.as_of_seq;
    err = match_look_up(arena, txn, match);
    arena_init(&scratch, MATCH_LINE_BYTES_MAX);
    for (size_t i = 0; i < match->line_count && err == OK; i++) {
        err = match_find_line(&scratch, txn, match, i, found);
        arena_reset(&scratch);
    }
    arena_deinit(&scratch);
    if (err == OK) {
        err = match_text_hash(match, hash);
    }
    if (err == OK && !match->past->is_cut) {
        *check = compare(explaining, hash);
    }
    return err;
}

static enum err check_placeholders(struct explaining *explaining, struct store_txn *txn,
                                   struct text_check *check)
{
    const uint8_t *hash = NULL;
    enum err err = explain_prompts(explaining, txn, &hash);

    if (err == OK && hash != NULL) {
        *check = compare(explaining, hash);
    }
    return err;
}

static enum err check_strategies(struct explaining *explaining, struct store_txn *txn,
                                 struct text_check *check)
{
    uint8_t hash[EXPOSURE_TEXT_HASH_BYTES];
    bool is_known = false;
    enum err err = explain_strategies(explaining, txn, &is_known, hash);

    if (err == OK && is_known) {
        *check = compare(explaining, hash);
    }
    return err;
}

static enum err check_agent_prompt(struct explaining *explaining, struct store_txn *txn,
                                   struct text_check *check)
{
    uint8_t hash[EXPOSURE_TEXT_HASH_BYTES];
    bool is_known = false;
    enum err err = explain_agent_prompt(explaining, txn, &is_known, hash);

    if (err == OK && is_known) {
        *check = compare(explaining, hash);
    }
    return err;
}

static enum err check_text(struct explaining *explaining, struct store_txn *txn,
                           struct slice hint_examples_json, struct text_check *check)
{
    struct sha256_digest digest;

    switch (explaining->exposure.kind) {
    case EXPOSURE_KIND_EXAMPLES:
        digest = example_hints_hash(explaining->hint_hashes[0], explaining->hint_count);
        if (!explaining->is_expired) {
            *check = compare(explaining, digest.bytes);
        }
        return OK;
    case EXPOSURE_KIND_PROMPT:
        return explaining->is_expired ? OK
                                      : check_prompt(explaining, txn, hint_examples_json, check);
    case EXPOSURE_KIND_MATCHES:
        return check_matches(explaining, txn, check);
    case EXPOSURE_KIND_SCORE:
        digest = sha256(buffer_slice(&explaining->score_events));
        if (explaining->exposure.is_listed) {
            *check = compare(explaining, digest.bytes);
        }
        return OK;
    case EXPOSURE_KIND_PLACEHOLDERS:
        return check_placeholders(explaining, txn, check);
    case EXPOSURE_KIND_STRATEGIES:
        return explaining->is_expired ? OK : check_strategies(explaining, txn, check);
    case EXPOSURE_KIND_AGENT_PROMPT:
        return explaining->is_expired ? OK : check_agent_prompt(explaining, txn, check);
    case EXPOSURE_KIND_UNSPECIFIED:
        break;
    }
    return ERR_CORRUPT;
}

/* Encodes the events of a score as fields of the explanation. */
static enum err copy_score_events(struct explaining *explaining, struct slice *ret_run)
{
    struct slice events = buffer_slice(&explaining->score_events);
    struct slice event = {NULL, 0};
    struct buffer run;

    buffer_init(&run, explaining->ctx->arena, events.size);
    while (view_next(&events, &event)) {
        wire_put_bytes(&run, EXPLAIN_EXPOSURE_RESPONSE_SCORE_EVENTS_FIELD, event);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) && buffer_ok(&explaining->score_events) ? OK : ERR_MEMORY;
}

static enum err put_rest(struct explaining *explaining, struct store_txn *txn,
                         struct slice hint_examples_json, const struct text_check *check)
{
    const struct exposure *exposure = &explaining->exposure;
    struct explain_exposure_response_view response = {
        .exposure_kind = exposure->kind,
        .served_at_us = exposure->served_at_us,
        .has_served_at = true,
        .as_of_seq = exposure->as_of_seq,
        .arm = exposure->arm,
        .artifact_count = (uint32_t)exposure->artifact_count,
        .hint_examples_json = hint_examples_json,
        .expired = explaining->is_expired,
        .text_hash = slice_of(exposure->text_hash, EXPOSURE_TEXT_HASH_BYTES),
        .text_matches = check->matches,
        .has_text_matches = check->is_known,
        .incomplete = explaining->is_incomplete,
        .base_verdict = exposure->verdicts.base,
        .verdict = exposure->verdicts.live,
        .shadow_verdict = exposure->verdicts.shadow,
        .subcategory = exposure->placeholders.subcategory,
    };
    struct event event;
    enum err err = copy_score_events(explaining, &response.score_events.run);

    if (err == OK && explaining->exposure_seq != 0) {
        err = log_read(txn, explaining->query->org, explaining->exposure_seq, &event);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (explaining->exposure_seq != 0) {
        response.exposure_id = event.id;
        response.has_exposure_id = true;
    }
    explain_exposure_response_view_write(&response, explaining->body);
    return buffer_ok(explaining->body) ? OK : ERR_MEMORY;
}

enum err exposure_explain(struct ctx *ctx, struct store_txn *txn, const struct explain_query *query,
                          struct buffer *body)
{
    struct explaining *explaining = arena_calloc(ctx->arena, 1, sizeof(*explaining));
    struct text_check check = {.is_known = false};
    struct slice hint_examples_json = {NULL, 0};
    enum err err = OK;

    if (explaining == NULL) {
        return ERR_MEMORY;
    }
    explaining->ctx = ctx;
    explaining->query = query;
    explaining->body = body;
    buffer_init(&explaining->score_events, ctx->arena, 0);
    err = find_exposure(explaining, txn);
    if (err == OK) {
        err = explain_artifacts(explaining, txn);
    }
    if (err == OK) {
        err = explain_signals(explaining, txn);
    }
    if (err == OK && !explaining->is_expired) {
        err = example_hints_make(ctx->arena, explaining->hints, explaining->hint_count,
                                 &hint_examples_json);
    }
    if (err == OK) {
        err = check_text(explaining, txn, hint_examples_json, &check);
    }
    if (err == OK) {
        err = explain_outcomes(explaining, txn);
    }
    return err != OK ? err : put_rest(explaining, txn, hint_examples_json, &check);
}
