/*
 * prompt_service.c: PromptService's templates and prompts: stores, reads and lists templates, and
 * renders prompts. Converts wire messages to values for the domain, and its results to responses.
 * GetExamples is in get_examples.c.
 */
#include "server/api/annotators.h"
#include "server/domain/prompts/prompts.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/prompt_service.handlers.h>
#include <errata/v1/prompt_service.views.h>
#include <errata/v1/warning.views.h>

/* Rendering a prompt of this size, whose text is sanitised and hashed, takes about a
 * millisecond. */
#define PROMPT_ON_LOOP_BYTES_MAX ((size_t)64 * 1024)

enum err
prompt_service_put_prompt_template_prepare(struct prompt_service_put_prompt_template_call *call)
{
    const Errata__V1__PromptTemplate *template = call->request->prompt_template;
    struct prompt_template_draft *draft = arena_calloc(call->ctx->arena, 1, sizeof(*draft));
    enum err err = OK;

    if (draft == NULL) {
        return ERR_MEMORY;
    }
    draft->name = slice_text(template->name);
    draft->text = slice_text(template->text);
    draft->comment = slice_text(template->comment);
    draft->actor_user_id = service_actor(call->service);
    draft->by_program = call->service->principal->user_id.size == 0;
    err = draft->actor_user_id.size > 0 ? OK : ERR_MEMORY;
    if (err == OK) {
        err = prompt_template_prepare(call->ctx, draft);
    }
    if (err == OK) {
        call->prepared = draft;
    }
    return err;
}

enum err
prompt_service_put_prompt_template_write(struct prompt_service_put_prompt_template_call *call)
{
    enum err err = prompt_template_put(call->ctx, call->txn, call->org, call->prepared,
                                       &call->result->first_seq);

    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err
prompt_service_put_prompt_template_answer(struct prompt_service_put_prompt_template_call *call)
{
    struct prompt_template template;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK) {
        err = prompt_template_of_event(&event, &template);
    }
    if (err == OK) {
        prompt_template_view_put(&template.view, PUT_PROMPT_TEMPLATE_RESPONSE_PROMPT_TEMPLATE_FIELD,
                                 call->body);
    }
    return err;
}

enum err
prompt_service_get_prompt_template_read(struct prompt_service_get_prompt_template_call *call)
{
    const struct prompt_template_query query = {
        .org = call->org,
        .name = slice_text(call->request->name),
        .has_version = call->request->_version_case != 0,
        .version = call->request->version,
        .as_of_seq = UINT64_MAX,
    };
    struct prompt_template template;
    enum err err = prompt_template_find(call->ctx, call->txn, &query, &template);

    if (err != OK) {
        return err;
    }
    prompt_template_view_put(&template.view, GET_PROMPT_TEMPLATE_RESPONSE_PROMPT_TEMPLATE_FIELD,
                             call->body);
    return OK;
}

enum err
prompt_service_list_prompt_templates_read(struct prompt_service_list_prompt_templates_call *call)
{
    struct prompt_template_list list = {
        .org = call->org,
        .name = slice_text(call->request->name),
        .page = call->page,
    };
    struct prompt_template_view template;
    enum err err = OK;

    prompt_template_list_begin(&list);
    while (err == OK) {
        err = prompt_template_list_next(call->ctx, call->txn, &list, &template);
        if (err == OK) {
            prompt_template_view_put(
                &template, LIST_PROMPT_TEMPLATES_RESPONSE_PROMPT_TEMPLATES_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Converts a map of the request to values of the domain, in the arena. */
static enum err read_values(struct arena *arena,
                            Errata__V1__PreparePromptRequest__ContextEntry *const *entries,
                            size_t count, struct prompt_values *ret_values)
{
    struct prompt_value *items = arena_calloc(arena, count + 1, sizeof(*items));

    if (items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        items[i] =
            (struct prompt_value){slice_text(entries[i]->key), slice_text(entries[i]->value)};
    }
    *ret_values = (struct prompt_values){items, count};
    return OK;
}

/* The entries of the two maps are messages that differ only in their names. */
static enum err read_trusted(struct arena *arena, const Errata__V1__PreparePromptRequest *request,
                             struct prompt_values *ret_values)
{
    size_t count = request->n_trusted_context;
    struct prompt_value *items = arena_calloc(arena, count + 1, sizeof(*items));

    if (items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct prompt_value){slice_text(request->trusted_context[i]->key),
                                         slice_text(request->trusted_context[i]->value)};
    }
    *ret_values = (struct prompt_values){items, count};
    return OK;
}

/* Checks the source of the template: exactly one of the two, and a version only of a stored one. */
static void read_source(struct fault *fault, const Errata__V1__PreparePromptRequest *request,
                        struct prompt_query *query)
{
    query->stored.has_version = request->_template_version_case != 0;
    query->stored.version = request->template_version;
    if (request->source_case == ERRATA__V1__PREPARE_PROMPT_REQUEST__SOURCE_TEMPLATE_NAME) {
        query->stored.name = slice_text(request->template_name);
    } else if (request->source_case == ERRATA__V1__PREPARE_PROMPT_REQUEST__SOURCE_TEMPLATE) {
        query->template_text = slice_text(request->template_);
    }
    if (query->stored.name.size == 0 && query->template_text.size == 0) {
        fault_add(fault, SLICE("source"), "missing; expected template_name or template");
    }
    if (query->stored.has_version && query->stored.name.size == 0) {
        fault_add(fault, SLICE("template_version"),
                  "given without template_name; expected both fields, or no template_version");
    }
}

static enum err read_query(struct prompt_service_prepare_prompt_call *call,
                           struct prompt_query *ret_query)
{
    const Errata__V1__PreparePromptRequest *request = call->request;
    struct arena *arena = call->ctx->arena;
    struct prompt_query query = {
        .stored = {.org = call->org, .as_of_seq = call->as_of.seq},
        .examples = {.org = call->org,
                     .layout_fingerprint = slice_text(request->layout_fingerprint),
                     .document_id = slice_text(request->document_id),
                     .limit = request->max_examples > 0 ? (uint32_t)request->max_examples
                                                        : EXAMPLES_LIMIT_DEFAULT,
                     .view = EXAMPLE_VIEW_HINTS,
                     .include_superseded = request->include_superseded != 0,
                     .include_own = request->include_own != 0,
                     .has_as_of = call->as_of.is_given,
                     .as_of_seq = call->as_of.seq,
                     .exposure_key = &call->service->env->exposure_key,
                     .served = &call->service->env->examples_served,
                     .now_us = clock_wall_us(call->ctx->clock),
                     .arena = arena},
    };
    enum err err = read_values(arena, request->context, request->n_context, &query.context);

    if (err == OK) {
        err = read_trusted(arena, request, &query.trusted);
    }
    if (err == OK) {
        err = annotators_read(call->ctx, "annotator_kinds", request->annotator_kinds,
                              request->n_annotator_kinds, &query.examples.annotator_kinds);
    }
    if (err != OK) {
        return err;
    }
    if (UNEXPECTED(
            !example_grouping_from_wire((int32_t)request->grouping, &query.examples.grouping)) ||
        UNEXPECTED(
            !match_mode_from_wire((int32_t)request->match_mode, &query.examples.match_mode)) ||
        UNEXPECTED(query.examples.limit > EXAMPLES_LIMIT_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    read_source(call->ctx->fault, request, &query);
    *ret_query = query;
    return prompt_check(call->ctx, &query);
}

/* Returns the number of bytes to sanitise and insert, before the places and their number are known. */
static size_t bytes_given(const struct prompt_query *query)
{
    size_t bytes = query->template_text.size;

    for (size_t i = 0; i < query->context.count; i++) {
        bytes += query->context.items[i].text.size;
    }
    for (size_t i = 0; i < query->trusted.count; i++) {
        bytes += query->trusted.items[i].text.size;
    }
    return bytes;
}

/* Writes the names that have no value as a run of the field. */
static void put_missing(const struct prompt *prompt, uint32_t field, struct buffer *run)
{
    for (size_t i = 0; i < prompt->template.name_count; i++) {
        if (!prompt->values[i].given) {
            wire_put_bytes(run, field, prompt->template.names[i]);
        }
    }
}

/* Writes a warning for each value that no placeholder uses. */
static void put_unused(struct arena *arena, const struct prompt *prompt,
                       const struct prompt_values *values, const char *field, struct buffer *run)
{
    for (size_t i = 0; i < values->count; i++) {
        struct slice name = values->items[i].name;
        const struct warning_view warning = {
            .code = WARNING_CODE_UNUSED_VALUE,
            .message =
                arena_printf(arena, "%s: no placeholder uses '%.*s'; expected the name of one",
                             field, (int)name.size, (const char *)name.data)};

        if (!prompt_uses(prompt, name)) {
            warning_view_put(&warning, PREPARE_PROMPT_RESPONSE_WARNINGS_FIELD, run);
        }
    }
}

static void put_example_ids(const struct examples_found *examples, struct buffer *run)
{
    for (size_t i = 0; i < examples->count; i++) {
        char id[UUID_TEXT_BYTES];

        uuid_format(examples->example_ids[i], id);
        wire_put_bytes(run, PREPARE_PROMPT_RESPONSE_EXAMPLE_IDS_FIELD, slice_of(id, sizeof(id)));
    }
}

static enum err answer_prompt(struct arena *arena, const struct prompt_query *query,
                              const struct prompt *prompt, struct buffer *body)
{
    bool stored = query->stored.name.size > 0;
    struct prepare_prompt_response_view response = {
        .prompt = prompt->text,
        .template_name = query->stored.name,
        .template_version = stored ? prompt->stored.view.version : 0,
        .has_template_version = stored,
        .layout_fingerprint = prompt->layout_fingerprint,
        .match_level = prompt->examples.match_level,
        .arm = prompt->examples.arm,
        .withheld = prompt->examples.withheld,
        .exposure_ref = prompt->exposure_ref,
        .incomplete = prompt->examples.incomplete,
    };
    struct buffer other_tokens;
    struct buffer missing_tokens;
    struct buffer warnings;
    struct buffer example_ids;

    buffer_init(&other_tokens, arena, 256);
    put_missing(prompt, PREPARE_PROMPT_RESPONSE_OTHER_TOKENS_FIELD, &other_tokens);
    response.other_tokens.run = buffer_slice(&other_tokens);
    buffer_init(&missing_tokens, arena, 256);
    put_missing(prompt, PREPARE_PROMPT_RESPONSE_MISSING_TOKENS_FIELD, &missing_tokens);
    response.missing_tokens.run = buffer_slice(&missing_tokens);
    buffer_init(&warnings, arena, 0);
    put_unused(arena, prompt, &query->context, "context", &warnings);
    put_unused(arena, prompt, &query->trusted, "trusted_context", &warnings);
    response.warnings.run = buffer_slice(&warnings);
    buffer_init(&example_ids, arena,
                prompt->examples.count * (UUID_TEXT_BYTES + WIRE_OVERHEAD_BYTES));
    put_example_ids(&prompt->examples, &example_ids);
    response.example_ids.run = buffer_slice(&example_ids);
    prepare_prompt_response_view_write(&response, body);
    return buffer_ok(&other_tokens) && buffer_ok(&missing_tokens) && buffer_ok(&warnings) &&
                   buffer_ok(&example_ids)
               ? OK
               : ERR_MEMORY;
}

/* The values that the cost function has determined for a prompt. */
struct made_prompt {
    struct prompt_query query;
    struct prompt prompt;
};

static enum err make_prompt(struct service *service, struct store_txn *txn,
                            const struct prompt_query *query, struct made_prompt **ret_made)
{
    struct made_prompt *made = arena_alloc(service->ctx->arena, sizeof(*made));
    enum err err = OK;

    if (made == NULL) {
        return ERR_MEMORY;
    }
    made->query = *query;
    err = prompt_prepare(service->ctx, txn, &made->query, &made->prompt);
    *ret_made = made;
    return err;
}

/* Returns whether examples of documents, each from up to 50 events, have to be built. */
static bool makes_documents(const struct examples_query *query)
{
    return query->grouping == EXAMPLE_GROUPING_DOCUMENT &&
           (query->include_superseded || query->annotator_kinds != 0);
}

/* Computes the cost from the bytes of the request, then from those of the prompt. */
enum err prompt_service_prepare_prompt_cost(struct prompt_service_prepare_prompt_call *call)
{
    struct made_prompt *made = NULL;
    struct prompt_query query;
    enum err err = read_query(call, &query);

    call->cost = READ_IS_LONG;
    if (err != OK || query.examples.has_as_of || makes_documents(&query.examples) ||
        bytes_given(&query) > PROMPT_ON_LOOP_BYTES_MAX) {
        return err;
    }
    err = make_prompt(call->service, call->txn, &query, &made);
    if (err == OK && made->prompt.bytes <= PROMPT_ON_LOOP_BYTES_MAX) {
        call->cost = READ_IS_SHORT;
        call->prepared = made;
    }
    return err;
}

enum err prompt_service_prepare_prompt_read(struct prompt_service_prepare_prompt_call *call)
{
    struct made_prompt *made = call->prepared;
    struct prompt_query query;
    enum err err = OK;

    if (made == NULL) {
        err = read_query(call, &query);
        if (err == OK) {
            err = make_prompt(call->service, call->txn, &query, &made);
        }
    }
    if (err == OK) {
        err = prompt_fill(call->ctx->arena, &made->query, &made->prompt);
    }
    return err != OK ? err
                     : answer_prompt(call->ctx->arena, &made->query, &made->prompt, call->body);
}
