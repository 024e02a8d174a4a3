/*
 * suggestions.c: see suggestions.h.
 */
#include "server/domain/weights/suggestions.h"

#include "server/domain/backtest/trial.h"
#include "server/domain/verdicts/keys.h"
#include "store/base/wire.h"

#include <errata/v1/measured_weight.views.h>
#include <errata/v1/verdict_service.fields.h>
#include <math.h>

/* Submissions between two calls of is_cancelled. */
#define SUBMISSIONS_BETWEEN_LOOKS 64

/* A listed flip. Its slices are in the arena. */
struct flip {
    struct uuid submission_id;
    struct slice receipt_id;
    double original_score;
    enum verdict correct;
    enum verdict before;
    enum verdict after;
};

struct flips {
    struct flip items[SUGGESTIONS_FLIPS_MAX];
    size_t listed;
    uint64_t count;
};

/* A suggestion that is being tried. */
struct tried_suggestion {
    struct suggestion suggestion;
    struct rule_trial trial;
    struct flips right;
    struct flips wrong;
    uint64_t other_count;
};

struct listing {
    struct ctx *ctx;
    struct store_txn *txn;
    const struct suggestions_request *request;
    struct tried_suggestion *items;
    size_t count;
    uint64_t submissions;
    bool is_incomplete; /* there are older submissions */
};

static bool is_ended(const struct learned_rule_record *record)
{
    return record->life.state == ARTIFACT_STATE_RETIRED ||
           record->life.state == ARTIFACT_STATE_REJECTED;
}

enum err suggestion_read(struct store_txn *txn, struct org_id org, const struct rule_total *total,
                         struct suggestion *ret_suggestion, bool *ret_has)
{
    struct suggestion suggestion = {.total = *total};
    int64_t first_adjustment = 0;
    enum err err = learned_rule_read(txn, org, total->rule_seq, &suggestion.row);

    if (err == OK) {
        err = learned_rule_first_adjustment(txn, org, &suggestion.row, &first_adjustment);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_has =
        !is_ended(&suggestion.row.record) &&
        weight_suggest(first_adjustment, total->agreed, total->disagreed, &suggestion.weight);
    *ret_suggestion = suggestion;
    return OK;
}

/* Adds a rule, if a weight is suggested for it. */
static enum err add_rule(struct listing *listing, const struct rule_total *total)
{
    struct tried_suggestion *item = &listing->items[listing->count];
    const struct learned_rule_record *record = &item->suggestion.row.record;
    enum learned_rule_type type = LEARNED_RULE_TYPE_UNSPECIFIED;
    bool has = false;
    enum err err =
        suggestion_read(listing->txn, listing->request->org, total, &item->suggestion, &has);

    if (err != OK || !has) {
        return err;
    }
    if (!learned_rule_type_from_wire((int32_t)record->rule_type, &type)) {
        return ERR_CORRUPT;
    }
    listing->count++;
    return rule_trial_init(listing->ctx->arena, type, record->pattern,
                           item->suggestion.weight.weight, &item->trial);
}

/* Finds the rules of the page. */
static enum err find_rules(struct listing *listing, struct page *page)
{
    struct org_id org = listing->request->org;
    uint32_t size = page->size < SUGGESTIONS_MAX ? page->size : SUGGESTIONS_MAX;
    struct rule_total total = {.rule_seq = 0};
    enum err err = page->after.size > 0 ? key_read_learned_rule(page->after, &total.rule_seq) : OK;

    for (size_t i = 0; err == OK && i < SUGGESTIONS_RULES_MAX && listing->count < size; i++) {
        err = rule_total_next(listing->txn, org, total.rule_seq, &total);
        if (err == OK) {
            err = add_rule(listing, &total);
        }
    }
    page->more = err == OK;
    page->last = key_learned_rule(org, total.rule_seq);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err find_rule(struct listing *listing)
{
    struct org_id org = listing->request->org;
    struct rule_total total;
    struct learned_rule_row row;
    enum err err = learned_rule_find_id(listing->txn, org, listing->request->rule_id, &row);

    if (err == ERR_NOT_FOUND) {
        return fault_say(
            listing->ctx->fault, err,
            "rule_id: not found in this organisation; expected the id of a learned rule");
    }
    if (err == OK) {
        err = rule_total_read(listing->txn, org, row.seq, &total);
    }
    return err != OK ? err : add_rule(listing, &total);
}

/* Lists a flip, if there is room. */
static enum err add_flip(struct arena *arena, const struct event *event,
                         const struct verdict_submission_view *view,
                         const struct rule_trial_result *result, struct flips *flips)
{
    struct flip *flip = &flips->items[flips->listed];

    flips->count++;
    if (flips->listed == SUGGESTIONS_FLIPS_MAX) {
        return OK;
    }
    *flip = (struct flip){
        .submission_id = event->id,
        .original_score = view->original_score,
        .correct = view->correct_verdict,
        .before = result->before,
        .after = result->after,
    };
    flips->listed++;
    return arena_copy(arena, view->receipt_id, &flip->receipt_id) ? OK : ERR_MEMORY;
}

static enum err count_result(struct listing *listing, const struct event *event,
                             const struct verdict_submission_view *view,
                             const struct rule_trial_result *result, struct tried_suggestion *item)
{
    struct arena *arena = listing->ctx->arena;

    if (!result->fires || result->before == result->after) {
        return OK;
    }
    if (result->after == view->correct_verdict) {
        return add_flip(arena, event, view, result, &item->right);
    }
    if (result->before == view->correct_verdict) {
        return add_flip(arena, event, view, result, &item->wrong);
    }
    item->other_count++;
    return OK;
}

/* Tries every rule of the page on one submission. */
static enum err try_submission(struct listing *listing, uint64_t seq, struct arena *scratch)
{
    struct verdict_submission_view view;
    struct tried_submission tried = {.view = &view, .scratch = scratch};
    struct event event;
    enum err err = log_read(listing->txn, listing->request->org, seq, &event);

    if (err == OK) {
        err = view_read_parts(&verdict_submission_view_type, event.facts, event.content, &view);
    }
    for (size_t i = 0; err == OK && i < listing->count; i++) {
        struct tried_suggestion *item = &listing->items[i];
        struct rule_trial_result result;

        err = rule_trial_run(&item->trial, &tried, &listing->request->thresholds, &result);
        if (err == OK) {
            err = count_result(listing, &event, &view, &result, item);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err try_next(struct listing *listing, struct scan *scan, struct arena *scratch)
{
    const struct suggestions_request *request = listing->request;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = scan_next(scan, &key, &value);

    if (err == OK) {
        err = key_read_newest_first(key, &created_at_us, &seq);
    }
    if (err == OK) {
        err = try_submission(listing, seq, scratch);
        arena_reset(scratch);
        listing->submissions++;
    }
    if (err == OK && listing->submissions % SUBMISSIONS_BETWEEN_LOOKS == 0 &&
        request->is_cancelled(request->user)) {
        err = ERR_CANCELLED;
    }
    return err;
}

static enum err try_all(struct listing *listing)
{
    const struct scan_range range = {
        .table = TABLE_VERDICT,
        .prefix = key_org(listing->request->org),
        .rows_max = SUGGESTIONS_SUBMISSIONS_MAX,
    };
    struct scan scan = {.rows_max = 0};
    struct arena scratch;
    enum err err = scan_init(&scan, listing->txn, &range);

    arena_init(&scratch, SUGGESTIONS_MAX * TRIAL_MEMORY_MAX);
    while (err == OK) {
        err = try_next(listing, &scan, &scratch);
    }
    listing->is_incomplete = scan.is_cut;
    arena_deinit(&scratch);
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static void put_flips(const struct flips *flips, uint32_t field, struct buffer *run)
{
    for (size_t i = 0; i < flips->listed; i++) {
        const struct flip *flip = &flips->items[i];
        const struct flipped_verdict_view view = {
            .submission_id = flip->submission_id,
            .receipt_id = flip->receipt_id,
            .original_score = flip->original_score,
            .correct_verdict = flip->correct,
            .previous_verdict = flip->before,
            .verdict = flip->after,
        };

        flipped_verdict_view_put(&view, field, run);
    }
}

static double weight_value(int64_t units)
{
    return (double)units / (double)VERDICT_UNIT;
}

static enum err put_suggestion(struct listing *listing, const struct tried_suggestion *item,
                               struct buffer *body)
{
    const struct suggestion *suggestion = &item->suggestion;
    struct arena *arena = listing->ctx->arena;
    struct suggested_weight_view view = {
        .has_rule = true,
        .weight = weight_value(suggestion->weight.weight),
        .low = weight_value(suggestion->weight.low),
        .high = weight_value(suggestion->weight.high),
        .agreed_count = suggestion->total.agreed,
        .disagreed_count = suggestion->total.disagreed,
        .right_flip_count = item->right.count,
        .wrong_flip_count = item->wrong.count,
        .other_flip_count = item->other_count,
    };
    struct learned_rule_view rule;
    struct buffer right;
    struct buffer wrong;
    enum err err = learned_rule_view_of(listing->request->org, &suggestion->row.record, &rule);

    if (err == OK && !view_encode(&learned_rule_view_type, &rule, arena, &view.rule)) {
        err = ERR_MEMORY;
    }
    if (err != OK) {
        return err;
    }
    buffer_init(&right, arena, 1024);
    buffer_init(&wrong, arena, 1024);
    put_flips(&item->right, SUGGESTED_WEIGHT_RIGHT_FLIPS_FIELD, &right);
    put_flips(&item->wrong, SUGGESTED_WEIGHT_WRONG_FLIPS_FIELD, &wrong);
    view.right_flips.run = buffer_slice(&right);
    view.wrong_flips.run = buffer_slice(&wrong);
    suggested_weight_view_put(&view, LIST_SUGGESTED_WEIGHTS_RESPONSE_WEIGHTS_FIELD, body);
    return buffer_ok(&right) && buffer_ok(&wrong) ? OK : ERR_MEMORY;
}

static enum err put_all(struct listing *listing, struct buffer *body)
{
    enum err err = OK;

    for (size_t i = 0; err == OK && i < listing->count; i++) {
        err = put_suggestion(listing, &listing->items[i], body);
    }
    wire_put_varint(body, LIST_SUGGESTED_WEIGHTS_RESPONSE_SUBMISSION_COUNT_FIELD,
                    listing->submissions);
    wire_put_varint(body, LIST_SUGGESTED_WEIGHTS_RESPONSE_INCOMPLETE_FIELD,
                    listing->is_incomplete ? 1 : 0);
    return err;
}

enum err suggestions_list(struct ctx *ctx, struct store_txn *txn,
                          const struct suggestions_request *request, struct page *page)
{
    struct listing listing = {.ctx = ctx, .txn = txn, .request = request};
    enum err err = OK;

    listing.items = arena_calloc(ctx->arena, SUGGESTIONS_MAX, sizeof(*listing.items));
    if (listing.items == NULL) {
        return ERR_MEMORY;
    }
    err = request->has_rule ? find_rule(&listing) : find_rules(&listing, page);
    if (err == OK && listing.count > 0) {
        err = try_all(&listing);
    }
    return err != OK ? err : put_all(&listing, page->body);
}
