/*
 * resolve_placeholders.c: ReviewService/ResolvePlaceholders. If stored reviews cannot be read, or an item cannot be
 * redacted, the placeholders are filled without them.
 */
#include "server/domain/reviews/fragment_sets.h"
#include "server/domain/reviews/items.h"
#include "server/domain/reviews/resolve.h"
#include "server/domain/reviews/specs.h"
#include "server/domain/text/template.h"
#include "server/pipeline/service.h"
#include "store/base/wire.h"

#include <errata/v1/review_prompts.views.h>
#include <errata/v1/review_service.handlers.h>

/* What is read on the loop: at most this many reviews, and bytes of prompts and notes. */
#define REVIEWS_ON_LOOP_MAX 100
#define PROMPTS_ON_LOOP_BYTES_MAX ((size_t)64 * 1024)
#define NOTES_ON_LOOP_BYTES_MAX ((size_t)1024)

static bool is_cancelled(const void *user)
{
    return service_is_cancelled(user);
}

static struct review_window_query
query_of(const struct review_service_resolve_placeholders_call *call)
{
    return (struct review_window_query){
        .org = call->org,
        .subcategory = slice_text(call->request->subcategory),
        .as_of_seq = call->as_of.is_given ? call->as_of.seq : REVIEWS_NOW,
        .runs_max = REVIEW_WINDOW_RUNS,
        .is_cancelled = is_cancelled,
        .user = call->service,
    };
}

static size_t prompt_bytes(const Errata__V1__ResolvePlaceholdersRequest *request)
{
    size_t bytes = 0;

    for (size_t i = 0; i < request->n_prompts; i++) {
        bytes += slice_text(request->prompts[i]->value).size;
    }
    return bytes;
}

enum err
review_service_resolve_placeholders_cost(struct review_service_resolve_placeholders_call *call)
{
    const Errata__V1__CurrentReview *review = call->request->current_review;
    const struct review_window_query query = query_of(call);
    uint64_t review_count = 0;
    enum err err = OK;

    call->cost = READ_IS_LONG;
    if (call->as_of.is_given || prompt_bytes(call->request) > PROMPTS_ON_LOOP_BYTES_MAX ||
        (review != NULL && slice_text(review->notes).size > NOTES_ON_LOOP_BYTES_MAX)) {
        return OK;
    }
    err = review_window_cost(call->txn, &query, &review_count);
    if (err == OK && review_count <= REVIEWS_ON_LOOP_MAX) {
        call->cost = READ_IS_SHORT;
    }
    return err == ERR_CORRUPT ? OK : err;
}

static enum review_answer answer_of(bool is_given, bool value)
{
    if (!is_given) {
        return REVIEW_ABSENT;
    }
    return value ? REVIEW_TRUE : REVIEW_FALSE;
}

static enum err read_review(struct ctx *ctx, const Errata__V1__CurrentReview *review,
                            struct current_review *ret_review)
{
    enum err err = OK;

    *ret_review = (struct current_review){.notes = {NULL, 0}};
    if (review == NULL) {
        return OK;
    }
    ret_review->notes = slice_text(review->notes);
    ret_review->flags[REVIEW_INFORMATION_PRESENT] =
        answer_of(review->_information_present_case != 0, review->information_present);
    ret_review->flags[REVIEW_BAD_FORMAT] =
        answer_of(review->_bad_format_case != 0, review->bad_format);
    ret_review->flags[REVIEW_WRONG_INFORMATION] =
        answer_of(review->_wrong_information_case != 0, review->wrong_information);
    ret_review->flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] =
        answer_of(review->_wrong_physical_dimensions_case != 0, review->wrong_physical_dimensions);
    err = review_specs_normalise(ctx, SLICE("current_review"), review->missing_spec,
                                 review->n_missing_spec, &ret_review->missing_spec);
    return err != OK ? err : fault_result(ctx->fault);
}

/* What the stored reviews add. */
struct stored_signals {
    struct review_triggers triggers;
    struct slice item_json;
    struct fragment_set fragments;
};

static enum err read_stored(struct review_service_resolve_placeholders_call *call,
                            struct stored_signals *ret_stored)
{
    struct review_window_query query = query_of(call);
    struct stored_signals stored = {.item_json = {NULL, 0}};
    uint64_t item_seq = 0;
    enum err err = review_triggers_read(call->ctx->arena, call->txn, &query, &stored.triggers);

    if (err == OK) {
        err = run_item_example(call->ctx->arena, call->txn, &query, &item_seq);
    }
    if (err == OK && item_seq != 0) {
        err = run_item_read(call->txn, call->org, item_seq, &stored.item_json);
    }
    if (err == OK) {
        err = fragment_set_active(call->txn, call->org, query.as_of_seq, &stored.fragments);
    }
    if (err == OK) {
        *ret_stored = stored;
    }
    return err;
}

/* Lists a token once. */
static void put_token(struct slice name, struct buffer *run)
{
    struct slice rest = buffer_slice(run);
    struct slice found = {NULL, 0};

    while (view_next(&rest, &found)) {
        if (slice_equal(found, name)) {
            return;
        }
    }
    resolve_placeholders_response_view_add_other_tokens(run, name);
}

/* Sets the values of a template's names, and lists other names. */
static void set_values(const struct template *template, const struct resolved *resolved,
                       struct template_value *values, struct buffer *other_tokens)
{
    for (size_t i = 0; i < template->name_count; i++) {
        for (int32_t j = 1; j <= PLACEHOLDER_COUNT; j++) {
            if (slice_equal(template->names[i], placeholder_name((enum review_placeholder)j))) {
                values[i] = (struct template_value){true, resolved->texts[j].text};
            }
        }
        if (!values[i].given) {
            put_token(template->names[i], other_tokens);
        }
    }
}

/* Appends one filled prompt. */
static enum err fill_one(struct ctx *ctx, const char *name, const char *text,
                         const struct resolved *resolved, struct buffer *other_tokens,
                         struct buffer *prompts)
{
    struct template template;
    struct template_value *values = NULL;
    struct buffer entry;
    struct buffer filled;
    enum err err = template_read(ctx->arena, slice_text(text), &template);

    if (err == ERR_INVALID) {
        fault_add(ctx->fault, arena_printf(ctx->arena, "prompts[%s]", name),
                  "too many different tokens; expected at most %d", TEMPLATE_NAMES_MAX);
        return OK;
    }
    values = arena_calloc(ctx->arena, template.name_count + 1, sizeof(*values));
    if (err != OK || values == NULL) {
        return err != OK ? err : ERR_MEMORY;
    }
    set_values(&template, resolved, values, other_tokens);
    buffer_init(&filled, ctx->arena, template_filled_bytes(&template, values));
    template_fill(&template, values, &filled);
    buffer_init(&entry, ctx->arena, filled.size + 64);
    wire_put_bytes(&entry, 1, slice_text(name));
    wire_put_bytes(&entry, 2, buffer_slice(&filled));
    wire_put_bytes(prompts, RESOLVE_PLACEHOLDERS_RESPONSE_PROMPTS_FIELD, buffer_slice(&entry));
    return buffer_ok(&filled) && buffer_ok(&entry) ? OK : ERR_MEMORY;
}

static enum err fill_prompts(struct review_service_resolve_placeholders_call *call,
                             const struct resolved *resolved, struct buffer *other_tokens,
                             struct buffer *prompts)
{
    enum err err = OK;

    for (size_t i = 0; i < call->request->n_prompts && err == OK; i++) {
        err = fill_one(call->ctx, call->request->prompts[i]->key, call->request->prompts[i]->value,
                       resolved, other_tokens, prompts);
    }
    return err != OK ? err : fault_result(call->ctx->fault);
}

static enum err put_placeholders(struct arena *arena, const struct resolved *resolved,
                                 struct buffer *run)
{
    for (int32_t i = 1; i <= PLACEHOLDER_COUNT; i++) {
        const struct resolved_text *text = &resolved->texts[i];
        struct resolved_placeholder_view view = {
            .placeholder = (enum review_placeholder)i,
            .source = text->source,
            .text = text->text,
        };
        struct buffer signals;

        buffer_init(&signals, arena, SIGNAL_COUNT);
        for (int32_t j = 1; j <= SIGNAL_COUNT; j++) {
            if (text->signals[j]) {
                resolved_placeholder_view_add_signals(&signals, (enum review_signal)j);
            }
        }
        view.signals.run = buffer_slice(&signals);
        resolved_placeholder_view_put(&view, RESOLVE_PLACEHOLDERS_RESPONSE_PLACEHOLDERS_FIELD, run);
        if (!buffer_ok(&signals)) {
            return ERR_MEMORY;
        }
    }
    return OK;
}

/* The lists of a response. */
struct lists {
    struct buffer prompts;
    struct buffer placeholders;
    struct buffer other_tokens;
    struct buffer queries;
    struct buffer cuts;
    struct buffer triggers;
};

static enum err write_lists(struct review_service_resolve_placeholders_call *call,
                            const struct resolved *resolved, struct lists *lists)
{
    const Errata__V1__ResolvePlaceholdersRequest *request = call->request;
    enum err err = fill_prompts(call, resolved, &lists->other_tokens, &lists->prompts);

    if (err == OK) {
        err = put_placeholders(call->ctx->arena, resolved, &lists->placeholders);
    }
    for (size_t i = 0; i < request->n_search_queries; i++) {
        resolve_placeholders_response_view_add_search_queries(
            &lists->queries, slice_text(request->search_queries[i]));
    }
    for (int32_t i = CUT_PART_NOTES; i <= CUT_PART_FOCUS_FIELDS; i++) {
        if (resolved->cuts[i]) {
            resolve_placeholders_response_view_add_cuts(&lists->cuts, (enum cut_part)i);
        }
    }
    return err;
}

static enum err answer(struct review_service_resolve_placeholders_call *call,
                       const struct resolved *resolved, const struct review_triggers *triggers,
                       bool degraded)
{
    struct resolve_placeholders_response_view view = {
        .has_triggers = true,
        .broad_search_allowed = resolved->broad_search_allowed,
        .prefer_json_correction = resolved->prefer_json_correction,
        .degraded = degraded,
    };
    struct lists lists;
    struct buffer *buffers[] = {&lists.prompts, &lists.placeholders, &lists.other_tokens,
                                &lists.queries, &lists.cuts,         &lists.triggers};
    bool is_ok = true;
    enum err err = OK;

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        buffer_init(buffers[i], call->ctx->arena, 0);
    }
    err = write_lists(call, resolved, &lists);
    if (err == OK) {
        err = review_triggers_encode(call->ctx->arena, triggers, &view.triggers);
    }
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        is_ok = is_ok && buffer_ok(buffers[i]);
    }
    if (err != OK || !is_ok) {
        return err != OK ? err : ERR_MEMORY;
    }
    view.prompts.run = buffer_slice(&lists.prompts);
    view.placeholders.run = buffer_slice(&lists.placeholders);
    view.other_tokens.run = buffer_slice(&lists.other_tokens);
    view.search_queries.run = buffer_slice(&lists.queries);
    view.cuts.run = buffer_slice(&lists.cuts);
    resolve_placeholders_response_view_write(&view, call->body);
    return OK;
}

enum err
review_service_resolve_placeholders_read(struct review_service_resolve_placeholders_call *call)
{
    const struct stored_signals none = {
        .triggers = {.low_confidence = true},
        .fragments = *fragment_set_default(),
    };
    struct stored_signals stored = none;
    struct resolve_request request = {
        .has_static_example = call->request->_static_example_case != 0,
        .static_example = slice_text(call->request->static_example),
    };
    struct resolved resolved;
    bool degraded = false;
    enum err err = read_review(call->ctx, call->request->current_review, &request.review);

    if (err != OK) {
        return err;
    }
    err = read_stored(call, &stored);
    degraded = err == ERR_CORRUPT;
    if (err != OK && !degraded) {
        return err;
    }
    if (degraded) {
        stored = none;
    }
    request.triggers = &stored.triggers;
    request.item_json = stored.item_json;
    request.fragments = &stored.fragments;
    err = resolve_placeholders(call->ctx->arena, &request, &resolved);
    return err != OK ? err : answer(call, &resolved, &stored.triggers, degraded);
}
