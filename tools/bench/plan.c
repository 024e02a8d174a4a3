/*
 * plan.c: see plan.h.
 */
#include "tools/bench/plan.h"

#include "server/tls/stream/tls_context.h"
#include "tools/bench/load/file.h"
#include "tools/bench/load/methods.h"
#include "tools/errata/terminal/suggest.h"

#include <ctype.h>
#include <stdlib.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data
#define TOKEN_BYTES_MAX 4096
#define SEED_SOURCE UINT64_C(0x50dce)

/* --- files --- */

/* Reads a file's text into the arena. */
static enum err read_text(struct ctx *ctx, const char *path, struct slice *ret_text)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum err err = file_read(path, ctx->fault, &bytes, &size);

    if (err != OK) {
        return err;
    }
    err = arena_copy(ctx->arena, slice_of(bytes, size), ret_text) ? OK : ERR_MEMORY;
    free(bytes);
    return err;
}

static struct slice trim(struct slice text)
{
    while (text.size > 0 && isspace(text.data[0])) {
        text = slice_after(text, 1);
    }
    while (text.size > 0 && isspace(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

/* Takes the first line off the input. */
static struct slice take_line(struct slice *rest)
{
    const uint8_t *end = memchr(rest->data, '\n', rest->size);
    struct slice line = *rest;

    if (end == NULL) {
        *rest = slice_of(NULL, 0);
        return line;
    }
    line.size = (size_t)(end - rest->data);
    *rest = slice_after(*rest, line.size + 1);
    return line;
}

/* --- tokens --- */

static enum err add_token(struct ctx *ctx, struct plan *plan, struct slice token, const char *path)
{
    if (token.size == 0 || token.size > TOKEN_BYTES_MAX) {
        return fault_say(ctx->fault, ERR_INVALID, "%s: a token is empty or longer than %d bytes",
                         path, TOKEN_BYTES_MAX);
    }
    for (size_t i = 0; i < token.size; i++) {
        if (token.data[i] <= ' ' || token.data[i] >= 0x7f) {
            return fault_say(
                ctx->fault, ERR_INVALID,
                "%s: invalid character in a token; expected printable ASCII without spaces", path);
        }
    }
    if (plan->token_count == PLAN_TOKENS_MAX) {
        return fault_say(ctx->fault, ERR_INVALID, "%s: too many tokens; expected at most %d", path,
                         PLAN_TOKENS_MAX);
    }
    plan->tokens[plan->token_count] = arena_printf(ctx->arena, "Bearer %.*s", SHOWN(token));
    return plan->tokens[plan->token_count++].size > 0 ? OK : ERR_MEMORY;
}

static enum err read_tokens(struct ctx *ctx, const struct arguments *arguments, struct plan *plan)
{
    struct slice text = {NULL, 0};
    enum err err = OK;

    plan->tokens = arena_calloc(ctx->arena, PLAN_TOKENS_MAX, sizeof(*plan->tokens));
    if (plan->tokens == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < arguments->token_files.count && err == OK; i++) {
        const char *path = arguments->token_files.values[i];

        err = read_text(ctx, path, &text);
        err = err == OK ? add_token(ctx, plan, trim(text), path) : err;
    }
    if (arguments->tokens == NULL || err != OK) {
        return err;
    }
    err = read_text(ctx, arguments->tokens, &text);
    for (text = trim(text); err == OK && text.size > 0;) {
        err = add_token(ctx, plan, trim(take_line(&text)), arguments->tokens);
    }
    return err == OK && plan->token_count == 0
               ? fault_say(ctx->fault, ERR_INVALID, "%s: no token; expected one in each line",
                           arguments->tokens)
               : err;
}

/* --- header fields --- */

/* Copies a name in lower case; returns false if it is invalid. */
static bool copy_name(const char *text, size_t size, uint8_t *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";

    for (size_t i = 0; i < size; i++) {
        name[i] = (uint8_t)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
        if (memchr(letters, name[i], sizeof(letters) - 1) == NULL) {
            return false;
        }
    }
    return size > 0;
}

static bool is_visible(struct slice value)
{
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < ' ' || value.data[i] >= 0x7f) {
            return false;
        }
    }
    return true;
}

/* Reads "name: value" in the form of HTTP/2: lower case, no white space around the value. */
static enum err add_header(struct ctx *ctx, struct connection_shared *shared, const char *text)
{
    const char *colon = strchr(text, ':');
    struct slice value = colon != NULL ? trim(slice_text(colon + 1)) : slice_of(NULL, 0);
    size_t size = colon != NULL ? (size_t)(colon - text) : 0;
    uint8_t *name = arena_alloc(ctx->arena, size + 1);

    if (name == NULL) {
        return ERR_MEMORY;
    }
    if (!copy_name(text, size, name) || !is_visible(value)) {
        return fault_say(ctx->fault, ERR_INVALID,
                         "--header: malformed \"%s\"; expected NAME:VALUE, such as x-tenant:7",
                         text);
    }
    shared->extra[shared->extra_count++] =
        (struct hpack_field){.name = slice_of(name, size), .value = value};
    return OK;
}

/* --- calls --- */

/* Reports an unknown method, with a similar name if there is one. */
static enum err refuse_method(struct ctx *ctx, const struct descriptors *descriptors,
                              struct slice path)
{
    struct suggest suggest;

    suggest_init(&suggest, slice_after(path, 1));
    for (size_t i = 0; i < methods_count(descriptors); i++) {
        suggest_offer(&suggest, slice_after(methods_path(descriptors, i), 1));
    }
    if (suggest.best.size > 0) {
        return fault_say(ctx->fault, ERR_INVALID, "unknown method %.*s; did you mean %.*s?",
                         SHOWN(slice_after(path, 1)), SHOWN(suggest.best));
    }
    return fault_say(ctx->fault, ERR_INVALID,
                     "unknown method %.*s; expected one of Errata's services, or of those given "
                     "with --descriptors",
                     SHOWN(slice_after(path, 1)));
}

static enum err compile_template(struct ctx *ctx, const struct arguments *arguments,
                                 const struct arguments_call *call,
                                 const struct descriptors *descriptors, struct plan *plan)
{
    const struct template_keys keys = {arguments->layout_count, arguments->skew};
    struct slice text = slice_text(call->text);
    struct load_kind *kind = &plan->kinds[plan->kind_count];
    struct template *template = arena_calloc(ctx->arena, 1, sizeof(*template));
    enum err err = template != NULL ? OK : ERR_MEMORY;

    if (err == OK && call->source == SOURCE_TEMPLATE_FILE) {
        err = read_text(ctx, call->text, &text);
    }
    if (err == OK) {
        err = arguments->plain
                  ? methods_compile_plain(ctx, text, &keys, template)
                  : methods_compile(ctx, descriptors, kind->path, text, &keys, template);
    }
    if (err == ERR_NOT_FOUND) {
        return refuse_method(ctx, descriptors, kind->path);
    }
    if (err != OK && err != ERR_MEMORY) {
        struct slice why = ctx->fault->message;

        return fault_say(ctx->fault, ERR_INVALID, "the template of \"%s\": %.*s", call->name,
                         SHOWN(why));
    }
    kind->template = template;
    plan->templates[plan->kind_count] = trim(text);
    return err;
}

static enum err add_kind(struct ctx *ctx, const struct arguments *arguments,
                         const struct arguments_call *call, const struct descriptors *descriptors,
                         struct plan *plan)
{
    struct load_kind *kind = &plan->kinds[plan->kind_count];
    enum err err = OK;

    *kind = (struct load_kind){.name = call->name,
                               .weight = call->weight,
                               .status = call->expect.status,
                               .bytes_min = call->expect.bytes_min,
                               .bytes_max = call->expect.bytes_max};
    err = methods_make_path(ctx, call->method, &kind->path);
    if (err == OK && call->source == SOURCE_REQUESTS) {
        err = requests_read(call->text, ctx->fault, &plan->requests[plan->kind_count]);
        kind->requests = plan->requests[plan->kind_count];
    } else if (err == OK) {
        err = compile_template(ctx, arguments, call, descriptors, plan);
    }
    plan->kind_count++;
    return err;
}

static enum err make_kinds(struct ctx *ctx, const struct arguments *arguments, struct plan *plan)
{
    struct descriptors descriptors = {0};
    struct slice set = {NULL, 0};
    enum err err = OK;

    if (arguments->descriptors != NULL) {
        err = read_text(ctx, arguments->descriptors, &set);
        if (err == OK) {
            err = descriptors_read(ctx, arguments->descriptors, set, &descriptors);
        }
    }
    for (size_t i = 0; i < arguments->call_count && err == OK; i++) {
        if (arguments->calls[i].weight > 0) {
            err = add_kind(ctx, arguments, &arguments->calls[i], &descriptors, plan);
        }
    }
    return err;
}

/* --- the plan --- */

static enum err read_pids(struct ctx *ctx, const struct arguments *arguments, struct plan *plan)
{
    struct process_usage usage;

    for (size_t i = 0; i < arguments->server_pids.count; i++) {
        const char *text = arguments->server_pids.values[i];
        uint64_t pid = 0;

        if (!parse_count(text, &pid) || pid == 0 || pid > INT32_MAX) {
            return fault_say(ctx->fault, ERR_INVALID,
                             "--server-pid: invalid process id \"%s\"; expected a number", text);
        }
        plan->server_processes.pids[plan->server_processes.count++] = (int)pid;
    }
    if (plan->server_processes.count > 0 && !process_read(&plan->server_processes, &usage)) {
        return fault_say(ctx->fault, ERR_INVALID, "--server-pid: no such process");
    }
    return OK;
}

static enum err make_source(struct ctx *ctx, const struct arguments *arguments, struct plan *plan)
{
    uint64_t now_us = (uint64_t)clock_wall_us(ctx->clock);

    plan->source = arena_alloc(ctx->arena, sizeof(*plan->source));
    if (plan->source == NULL) {
        return ERR_MEMORY;
    }
    template_source_init(plan->source, arguments->seed ^ SEED_SOURCE,
                         arguments->has_serial ? arguments->serial_from : now_us);
    plan->engine.shared.run_id = now_us;
    return OK;
}

static void fill_engine(const struct arguments *arguments, struct plan *plan)
{
    struct connection_shared *shared = &plan->engine.shared;

    shared->kinds = plan->kinds;
    shared->kind_count = plan->kind_count;
    shared->source = plan->source;
    shared->way = arguments->literal_headers ? HPACK_LITERAL : HPACK_INDEXED;
    shared->plain = arguments->plain;
    shared->secure = arguments->tls;
    shared->get = arguments->get;
    shared->idempotency_keys = arguments->idempotency_keys;
    shared->authority = slice_text(arguments->server);
    plan->engine.server = arguments->server;
    plan->engine.tokens = plan->tokens;
    plan->engine.token_count = plan->token_count;
    plan->engine.server_processes = &plan->server_processes;
    plan->engine.run = (struct run_options){.connection_count = (size_t)arguments->connection_count,
                                            .rate = arguments->rate,
                                            .poisson = arguments->poisson,
                                            .in_flight = arguments->in_flight,
                                            .duration_ns = arguments->duration_ns,
                                            .call_limit = arguments->call_limit,
                                            .warm_up_ns = arguments->warm_up_ns,
                                            .seed = arguments->seed};
}

static enum err open_tls(struct ctx *ctx, const struct arguments *arguments, struct plan *plan)
{
    return arguments->tls
               ? tls_context_new_client(&arguments->tls_files, ctx->fault, &plan->engine.tls)
               : OK;
}

enum err plan_make(struct ctx *ctx, const struct arguments *arguments, struct plan *ret_plan)
{
    enum err err = OK;

    *ret_plan = (struct plan){.kind_count = 0};
    err = read_tokens(ctx, arguments, ret_plan);
    for (size_t i = 0; i < arguments->headers.count && err == OK; i++) {
        err = add_header(ctx, &ret_plan->engine.shared, arguments->headers.values[i]);
    }
    if (err == OK) {
        err = make_kinds(ctx, arguments, ret_plan);
    }
    if (err == OK) {
        err = read_pids(ctx, arguments, ret_plan);
    }
    if (err == OK) {
        err = make_source(ctx, arguments, ret_plan);
    }
    if (err == OK) {
        err = open_tls(ctx, arguments, ret_plan);
    }
    if (err != OK) {
        plan_deinit(ret_plan);
        return err;
    }
    fill_engine(arguments, ret_plan);
    return OK;
}

void plan_deinit(struct plan *plan)
{
    for (size_t i = 0; i < LOAD_KINDS_MAX; i++) {
        requests_free(plan->requests[i]);
        plan->requests[i] = NULL;
    }
    tls_context_unref(plan->engine.tls);
    plan->engine.tls = NULL;
}
