/*
 * arguments_calls.c: the calls of a run: those that the command line defines, the mix, and the
 * expected answers of each.
 */
#include "tools/bench/arguments_internal.h"

#include "tools/bench/load/grpc_status.h"
#include "tools/bench/mixes.h"
#include "tools/errata/terminal/suggest.h"

#define HTTP_OK 200
/* Maximum weight. */
#define WEIGHT_MAX 1000000

static struct arguments_call *find_call(struct arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->call_count; i++) {
        if (strcmp(arguments->calls[i].name, name) == 0) {
            return &arguments->calls[i];
        }
    }
    return NULL;
}

static enum err add_call(struct arguments *arguments, const struct arguments_call *call,
                         struct fault *fault)
{
    if (find_call(arguments, call->name) != NULL) {
        return fault_say(fault, ERR_INVALID,
                         "--call: \"%s\" is defined twice; expected different names", call->name);
    }
    if (arguments->call_count == ARGUMENTS_CALLS_MAX) {
        return fault_say(fault, ERR_INVALID, "--call: too many calls; expected at most %d",
                         ARGUMENTS_CALLS_MAX);
    }
    arguments->calls[arguments->call_count++] = *call;
    return OK;
}

/* Copies a part of an argument; returns NULL without memory. */
static const char *copy(struct arena *arena, const char *from, size_t size)
{
    struct slice whole = {NULL, 0};

    return arena_copy(arena, slice_of(from, size), &whole) ? (const char *)whole.data : NULL;
}

/* Reads NAME=METHOD and the rest: `@FILE`, or for a template `{...}`. */
static enum err define_call(struct arena *arena, struct arguments *arguments, const char *option,
                            const char *text, struct fault *fault)
{
    bool requests = strcmp(option, "requests") == 0;
    const char *equals = strchr(text, '=');
    const char *method = equals != NULL ? equals + 1 : text;
    size_t method_size = strcspn(method, requests ? "@" : "@{");
    const char *rest = method + method_size;
    struct arguments_call call = {.source = SOURCE_REQUESTS, .text = rest + 1};

    if (equals == NULL || equals == text || method_size == 0 || *rest == '\0' || rest[1] == '\0' ||
        strcspn(text, "@{") < (size_t)(equals - text)) {
        return fault_say(fault, ERR_INVALID,
                         "--%s: malformed \"%s\"; expected NAME=METHOD@FILE%s, such as "
                         "mine=errata.v1.EventService/GetEvent%s",
                         option, text, requests ? "" : " or NAME=METHOD{JSON}",
                         requests ? "@bodies" : "'{\"seq\": 7}'");
    }
    if (!requests) {
        call.source = *rest == '@' ? SOURCE_TEMPLATE_FILE : SOURCE_TEMPLATE_TEXT;
        call.text = *rest == '@' ? rest + 1 : rest;
    }
    call.name = copy(arena, text, (size_t)(equals - text));
    call.method = copy(arena, method, method_size);
    if (call.name == NULL || call.method == NULL) {
        return ERR_MEMORY;
    }
    return add_call(arguments, &call, fault);
}

static enum err define_calls(struct arena *arena, struct arguments *arguments, struct fault *fault)
{
    static const char *const names[] = {"call", "requests"};
    enum err err = OK;

    for (size_t i = 0; i < 2 && err == OK; i++) {
        const char *text = NULL;
        size_t at = 0;

        while (err == OK && (text = options_next(&arguments->options, names[i], &at)) != NULL) {
            err = define_call(arena, arguments, names[i], text, fault);
        }
    }
    return err;
}

static enum err refuse_name(struct arguments *arguments, const char *option, const char *name,
                            struct fault *fault)
{
    struct suggest suggest;

    suggest_init(&suggest, slice_text(name));
    for (size_t i = 0; i < arguments->call_count; i++) {
        suggest_offer(&suggest, slice_text(arguments->calls[i].name));
    }
    for (const struct mix_call *call = mix_calls; call->name != NULL; call++) {
        suggest_offer(&suggest, slice_text(call->name));
    }
    if (suggest.best.size > 0) {
        return fault_say(fault, ERR_INVALID, "--%s: unknown call \"%s\"; did you mean \"%s\"?",
                         option, name, (const char *)suggest.best.data);
    }
    return fault_say(
        fault, ERR_INVALID,
        "--%s: unknown call \"%s\"; expected one of --list-calls, --call or --requests", option,
        name);
}

static enum err weigh_call(struct arguments *arguments, const char *name, uint32_t weight,
                           struct fault *fault)
{
    struct arguments_call *call = find_call(arguments, name);
    const struct mix_call *built_in = mix_find(name);

    if (call == NULL && built_in != NULL) {
        const struct arguments_call added = {.name = built_in->name,
                                             .method = built_in->method,
                                             .source = SOURCE_BUILT_IN,
                                             .text = built_in->json};
        enum err err = add_call(arguments, &added, fault);

        if (err != OK) {
            return err;
        }
        call = find_call(arguments, name);
    }
    if (call == NULL) {
        return refuse_name(arguments, "mix", name, fault);
    }
    if (call->weight > 0) {
        return fault_say(fault, ERR_INVALID,
                         "--mix: \"%s\" is given twice; expected each call once", name);
    }
    call->weight = weight;
    return OK;
}

/* Reads NAME=WEIGHT,NAME=WEIGHT; a name without a weight has 1. */
static enum err read_mix(struct arena *arena, struct arguments *arguments, const char *mix,
                         struct fault *fault)
{
    enum err err = OK;

    while (err == OK && mix != NULL) {
        size_t size = strcspn(mix, ",");
        char *part = (char *)copy(arena, mix, size);
        char *equals = part != NULL ? strchr(part, '=') : NULL;
        uint64_t weight = 1;

        if (part == NULL) {
            return ERR_MEMORY;
        }
        if (equals != NULL &&
            (!parse_count(equals + 1, &weight) || weight == 0 || weight > WEIGHT_MAX)) {
            return fault_say(fault, ERR_INVALID,
                             "--mix: invalid weight of \"%s\"; expected 1 to %d, such as "
                             "examples=90",
                             part, WEIGHT_MAX);
        }
        if (equals != NULL) {
            *equals = '\0';
        }
        if (*part == '\0') {
            return fault_say(
                fault, ERR_INVALID,
                "--mix: empty; expected calls and weights, such as examples=90,capture=10");
        }
        err = weigh_call(arguments, part, (uint32_t)weight, fault);
        mix = mix[size] == ',' ? mix + size + 1 : NULL;
    }
    return err;
}

/* Without --mix, all defined calls get the same weight; without defined calls, lookups are used. */
static enum err weigh_all(struct arguments *arguments, struct fault *fault)
{
    if (arguments->call_count == 0) {
        return weigh_call(arguments, "examples", 1, fault);
    }
    for (size_t i = 0; i < arguments->call_count; i++) {
        arguments->calls[i].weight = 1;
    }
    return OK;
}

static bool read_expectation(const char *option, const char *value, struct arguments_expect *expect)
{
    if (strcmp(option, "expect-status") == 0) {
        return grpc_status_find(value, &expect->status);
    }
    return parse_range(value, &expect->bytes_min, &expect->bytes_max);
}

/* Reads `[NAME=]VALUE`, for one call or for all. */
static enum err expect_one(struct arena *arena, struct arguments *arguments, const char *option,
                           const char *text, struct fault *fault)
{
    const char *equals = strchr(text, '=');
    const char *value = equals != NULL ? equals + 1 : text;
    const char *name = equals != NULL ? copy(arena, text, (size_t)(equals - text)) : NULL;

    if (equals != NULL && name == NULL) {
        return ERR_MEMORY;
    }
    if (name != NULL && find_call(arguments, name) == NULL) {
        return refuse_name(arguments, option, name, fault);
    }
    for (size_t i = 0; i < arguments->call_count; i++) {
        struct arguments_call *call = &arguments->calls[i];

        if ((name == NULL || strcmp(call->name, name) == 0) &&
            !read_expectation(option, value, &call->expect)) {
            return fault_say(
                fault, ERR_INVALID, "--%s: invalid value \"%s\"; expected %s", option, text,
                strcmp(option, "expect-status") == 0 ? "a status such as NOT_FOUND or 5"
                                                     : "a range such as 900..1100");
        }
    }
    return OK;
}

static enum err read_expectations(struct arena *arena, struct arguments *arguments,
                                  struct fault *fault)
{
    static const char *const names[] = {"expect-status", "expect-bytes"};
    enum err err = OK;

    for (size_t i = 0; i < arguments->call_count; i++) {
        arguments->calls[i].expect =
            (struct arguments_expect){arguments->plain ? HTTP_OK : 0, 0, UINT64_MAX};
    }
    for (size_t i = 0; i < 2 && err == OK; i++) {
        const char *text = NULL;
        size_t at = 0;

        while (err == OK && (text = options_next(&arguments->options, names[i], &at)) != NULL) {
            err = expect_one(arena, arguments, names[i], text, fault);
        }
    }
    return err;
}

enum err arguments_read_calls(struct arena *arena, struct arguments *arguments, struct fault *fault)
{
    const struct options *options = &arguments->options;
    const char *mix = options_get(options, "mix");
    const char *skew = options_get(options, "skew");
    enum err err = OK;

    arguments->descriptors = options_get(options, "descriptors");
    arguments->idempotency_keys = options_has(options, "idempotency-keys");
    arguments->allow_writes = options_has(options, "allow-writes");
    arguments->plain = options_has(options, "plain");
    arguments->get = options_has(options, "get");
    if (arguments->get && !arguments->plain) {
        return fault_say(
            fault, ERR_INVALID,
            "--get: given without --plain; expected --plain, since gRPC calls use POST");
    }
    if (skew != NULL && (!parse_number(skew, &arguments->skew) || arguments->skew > 10)) {
        return fault_say(fault, ERR_INVALID, "--skew: invalid number \"%s\"; expected 0 to 10",
                         skew);
    }
    err = define_calls(arena, arguments, fault);
    if (err == OK) {
        err = mix != NULL ? read_mix(arena, arguments, mix, fault) : weigh_all(arguments, fault);
    }
    return err != OK ? err : read_expectations(arena, arguments, fault);
}
