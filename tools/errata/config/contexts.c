/*
 * contexts.c: see contexts.h.
 */
#include "tools/errata/config/contexts.h"

#include "store/base/json.h"

/* An unknown member as it was read; it is written back unchanged. */
struct contexts_member {
    struct contexts_member *next;
    struct slice key; /* key with its quotes */
    struct slice value;
};

enum err contexts_init(struct contexts *contexts, struct arena *arena)
{
    *contexts = (struct contexts){.arena = arena};
    contexts->list = arena_calloc(arena, CONTEXTS_MAX, sizeof(*contexts->list));
    return contexts->list != NULL ? OK : ERR_MEMORY;
}

bool context_name_valid(struct slice name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    if (name.size == 0 || name.size > CONTEXT_NAME_BYTES_MAX || name.data[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < name.size; i++) {
        if (memchr(allowed, name.data[i], sizeof(allowed) - 1) == NULL) {
            return false;
        }
    }
    return true;
}

bool context_token_valid(struct slice token)
{
    for (size_t i = 0; i < token.size; i++) {
        if (token.data[i] <= 0x20 || token.data[i] > 0x7e) {
            return false;
        }
    }
    return token.size > 0;
}

struct slice context_token_key_id(struct slice token)
{
    const struct slice prefix = SLICE("errata_");
    const size_t end = prefix.size + 8;

    if (token.size <= end || !slice_starts_with(token, prefix) || token.data[end] != '_') {
        return slice_of(NULL, 0);
    }
    return slice_of(token.data + prefix.size, 8);
}

struct context *contexts_find(const struct contexts *contexts, struct slice name)
{
    for (size_t i = 0; i < contexts->count; i++) {
        if (slice_equal(contexts->list[i].name, name)) {
            return &contexts->list[i];
        }
    }
    return NULL;
}

enum err contexts_put(struct contexts *contexts, struct slice name, struct context **ret_context)
{
    struct context *context = contexts_find(contexts, name);

    if (context == NULL) {
        if (contexts->count == CONTEXTS_MAX) {
            return ERR_TOO_LARGE;
        }
        context = &contexts->list[contexts->count++];
        *context = (struct context){.name = name};
    }
    *ret_context = context;
    return OK;
}

void contexts_remove(struct contexts *contexts, struct context *context)
{
    size_t following = (size_t)(contexts->list + contexts->count - context) - 1;

    if (slice_equal(contexts->current, context->name)) {
        contexts->current = slice_of(NULL, 0);
    }
    memmove(context, context + 1, following * sizeof(*context));
    contexts->count--;
}

/* --- reading --- */

static enum err keep_member(struct arena *arena, struct contexts_member **list, struct slice key,
                            struct json_value value)
{
    struct contexts_member *member = arena_calloc(arena, 1, sizeof(*member));

    if (member == NULL) {
        return ERR_MEMORY;
    }
    *member = (struct contexts_member){.key = key, .value = value.text};
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = member;
    return OK;
}

static enum err read_text(struct contexts *contexts, struct slice key, struct json_value value,
                          struct fault *fault, struct slice *ret_text)
{
    if (value.kind != JSON_STRING) {
        return fault_say(fault, ERR_INVALID, "%.*s: not a JSON string", (int)key.size,
                         (const char *)key.data);
    }
    return json_string(contexts->arena, value.text, ret_text);
}

/* Reads one member of a context. */
static enum err read_member(struct contexts *contexts, struct context *context, struct slice key,
                            struct json_value value, struct fault *fault)
{
    if (json_key_is(key, SLICE("server"))) {
        return read_text(contexts, key, value, fault, &context->server);
    }
    if (json_key_is(key, SLICE("token_file"))) {
        return read_text(contexts, key, value, fault, &context->token_file);
    }
    if (json_key_is(key, SLICE("token"))) {
        enum err err = read_text(contexts, key, value, fault, &context->token);

        /* The token is sent as a header, so it is validated; other values are only printed or
         * compared. */
        return err == OK && !context_token_valid(context->token)
                   ? fault_say(fault, ERR_INVALID, "token: invalid; expected printable ASCII")
                   : err;
    }
    if (json_key_is(key, SLICE("tls"))) {
        context->tls.on = value.kind == JSON_TRUE;
        return value.kind == JSON_TRUE || value.kind == JSON_FALSE
                   ? OK
                   : fault_say(fault, ERR_INVALID, "tls: not true or false");
    }
    if (json_key_is(key, SLICE("ca"))) {
        return read_text(contexts, key, value, fault, &context->tls.ca);
    }
    if (json_key_is(key, SLICE("client_cert"))) {
        return read_text(contexts, key, value, fault, &context->tls.client_cert);
    }
    if (json_key_is(key, SLICE("client_key"))) {
        return read_text(contexts, key, value, fault, &context->tls.client_key);
    }
    return keep_member(contexts->arena, &context->others, key, value);
}

static enum err read_context(struct contexts *contexts, struct slice key, struct json_value value,
                             struct fault *fault)
{
    struct json_walk walk;
    struct context *context = NULL;
    struct slice name = {NULL, 0};
    enum err err = json_string(contexts->arena, key, &name);

    if (err != OK) {
        return err;
    }
    if (!context_name_valid(name)) {
        return fault_say(fault, ERR_INVALID, "%.*s: invalid context name", (int)key.size,
                         (const char *)key.data);
    }
    if (value.kind != JSON_OBJECT) {
        return fault_say(fault, ERR_INVALID, "context %.*s: not a JSON object", (int)key.size,
                         (const char *)key.data);
    }
    err = contexts_put(contexts, name, &context);
    walk = json_walk_start(value);
    while (err == OK && json_walk_next(&walk, &key, &value)) {
        err = read_member(contexts, context, key, value, fault);
    }
    return err == ERR_TOO_LARGE ? fault_say(fault, ERR_INVALID,
                                            "contexts: too many; expected at most %d", CONTEXTS_MAX)
                                : err;
}

static enum err read_contexts(struct contexts *contexts, struct json_value value,
                              struct fault *fault)
{
    struct json_walk walk;
    struct slice key = {NULL, 0};
    enum err err = OK;

    if (value.kind != JSON_OBJECT) {
        return fault_say(fault, ERR_INVALID, "contexts: not a JSON object");
    }
    walk = json_walk_start(value);
    while (err == OK && json_walk_next(&walk, &key, &value)) {
        err = read_context(contexts, key, value, fault);
    }
    return err;
}

static enum err read_top(struct contexts *contexts, struct json_value top, struct fault *fault)
{
    struct json_walk walk = json_walk_start(top);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    enum err err = OK;

    while (err == OK && json_walk_next(&walk, &key, &value)) {
        if (json_key_is(key, SLICE("current"))) {
            err = read_text(contexts, key, value, fault, &contexts->current);
        } else if (json_key_is(key, SLICE("contexts"))) {
            err = read_contexts(contexts, value, fault);
        } else {
            err = keep_member(contexts->arena, &contexts->others, key, value);
        }
    }
    return err;
}

enum err contexts_read(struct contexts *contexts, struct arena *arena, struct slice text,
                       struct fault *fault)
{
    const struct json_rules rules = {.depth_max = JSON_FIELD_DEPTH_MAX};
    struct json_value top = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    enum err err = contexts_init(contexts, arena);

    if (err == OK) {
        err = json_check(arena, text, &rules, &top, &problem);
    }
    if (err == ERR_INVALID) {
        return fault_say(fault, ERR_INVALID, "invalid JSON: %s (at byte %zu)", problem.what,
                         problem.at);
    }
    if (err == OK && top.kind != JSON_OBJECT) {
        return fault_say(fault, ERR_INVALID, "not a JSON object");
    }
    return err == OK ? read_top(contexts, top, fault) : err;
}

/* --- writing --- */

/* Starts a member on a new line, with a comma after the member before it. */
static void start_member(struct buffer *text, const char *indent, bool *has_member)
{
    buffer_printf(text, "%s\n%s", *has_member ? "," : "", indent);
    *has_member = true;
}

static void write_text(struct buffer *text, const char *indent, const char *key, struct slice value,
                       bool *has_member)
{
    if (value.size > 0) {
        start_member(text, indent, has_member);
        buffer_printf(text, "\"%s\": ", key);
        json_write_string(text, value, false);
    }
}

static void write_others(struct buffer *text, const char *indent,
                         const struct contexts_member *member, bool *has_member)
{
    for (; member != NULL; member = member->next) {
        start_member(text, indent, has_member);
        buffer_append(text, member->key);
        buffer_append(text, SLICE(": "));
        buffer_append(text, member->value);
    }
}

static void write_context(struct buffer *text, const struct context *context)
{
    bool has_member = false;

    json_write_string(text, context->name, false);
    buffer_append(text, SLICE(": {"));
    write_text(text, "      ", "server", context->server, &has_member);
    write_text(text, "      ", "token", context->token, &has_member);
    write_text(text, "      ", "token_file", context->token_file, &has_member);
    if (context->tls.on) {
        start_member(text, "      ", &has_member);
        buffer_append(text, SLICE("\"tls\": true"));
    }
    write_text(text, "      ", "ca", context->tls.ca, &has_member);
    write_text(text, "      ", "client_cert", context->tls.client_cert, &has_member);
    write_text(text, "      ", "client_key", context->tls.client_key, &has_member);
    write_others(text, "      ", context->others, &has_member);
    buffer_printf(text, "%s}", has_member ? "\n    " : "");
}

void contexts_write(const struct contexts *contexts, struct buffer *text)
{
    bool has_member = false;
    bool has_context = false;

    buffer_append_byte(text, '{');
    write_text(text, "  ", "current", contexts->current, &has_member);
    start_member(text, "  ", &has_member);
    buffer_append(text, SLICE("\"contexts\": {"));
    for (size_t i = 0; i < contexts->count; i++) {
        start_member(text, "    ", &has_context);
        write_context(text, &contexts->list[i]);
    }
    buffer_printf(text, "%s}", has_context ? "\n  " : "");
    write_others(text, "  ", contexts->others, &has_member);
    buffer_append(text, SLICE("\n}\n"));
}
