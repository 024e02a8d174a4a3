/*
 * failure.c: see failure.h. Texts from servers are cleaned before they are printed.
 */
#include "tools/errata/engine/failure.h"

#include "client/details.h"
#include "client/header.h"
#include "store/base/json.h"
#include "store/base/timestamp.h"
#include "tools/errata/engine/where.h"
#include "tools/errata/terminal/wrap.h"

static void print_headline(struct cli *cli, struct slice name, struct slice message)
{
    print_coloured(&cli->err, COLOUR_RED, name);
    print_text(&cli->err, ":");
    wrap_message(&cli->err, (unsigned)name.size + 1, 0, message);
}

static void print_field(struct cli *cli, struct slice field, struct slice description)
{
    print_text(&cli->err, field.size > 0 ? "  " : " ");
    if (field.size > 0) {
        print_coloured(&cli->err, COLOUR_BOLD, field);
        print_text(&cli->err, ":");
    }
    wrap_message(&cli->err, field.size > 0 ? (unsigned)field.size + 3 : 1, 4, description);
}

/* --- advice --- */

static bool says(struct slice message, const char *words)
{
    return message.size > 0 && memmem(message.data, message.size, words, strlen(words)) != NULL;
}

/* `the token 0123abcd of FILE, from ERRATA_TOKEN_FILE`: describes the token that the server
 * refused. */
static struct slice token_name(struct cli *cli)
{
    const struct settings *settings = &cli->settings;
    struct slice key_id = context_token_key_id(cli->token);
    struct slice file = settings->token_file;

    return arena_printf(
        &cli->arena, "the token%s%.*s%s%.*s, from %s", key_id.size > 0 ? " " : "",
        SLICE_ARGS(key_id), file.size > 0 ? " of " : "", SLICE_ARGS(file),
        where_source(cli, settings->token_source, "--token-file", "ERRATA_TOKEN_FILE"));
}

static struct slice hint_no_token(struct cli *cli)
{
    const struct settings *settings = &cli->settings;

    if (settings->token_withheld) {
        return arena_printf(&cli->arena,
                            "the token of the context %.*s is for its own server, %.*s: name "
                            "another one with --token-file FILE",
                            SLICE_ARGS(settings->context->name),
                            SLICE_ARGS(settings->context->server));
    }
    return SLICE("no token was given: name one with --token-file FILE, ERRATA_TOKEN_FILE or "
                 "`errata context add`; a server writes its first one to DIR/admin.token");
}

static struct slice hint_token(struct cli *cli, struct slice message)
{
    struct slice name = token_name(cli);

    if (cli->token.size == 0) {
        return hint_no_token(cli);
    }
    if (says(message, "of the form")) {
        return arena_printf(&cli->arena, "%.*s, has another form: does the file contain a token?",
                            SLICE_ARGS(name));
    }
    return arena_printf(&cli->arena,
                        "it is %.*s; is it a token of this server? With an ADMIN token, `errata "
                        "token list` shows its state",
                        SLICE_ARGS(name));
}

static struct slice hint_role(struct cli *cli)
{
    struct slice name = token_name(cli);

    return arena_printf(&cli->arena, "it is %.*s; --token-file or --context selects another",
                        SLICE_ARGS(name));
}

/* Returns a hint for a call without a response, from the last known state of the connection. */
static struct slice hint_unreachable(struct cli *cli, struct slice message)
{
    const char *likely =
        "is erratad running there? The file `address` in its folder contains its address.";

    if (says(message, "not HTTP/2")) {
        likely = "another program listens there, such as a web server: is the port correct?";
    } else if (says(message, "before it sent anything")) {
        likely = "the peer closed the connection at once: it is another program, requires TLS, or "
                 "is an erratad that is stopping or has reached its limit of connections (see its "
                 "log, and its options --connections-max and --connections-per-address).";
    } else if (says(message, "closed it")) {
        likely = "the server closed the connection: it is stopping, or closed idle connections to "
                 "accept others.";
    } else if (says(message, "no HTTP/2 settings") || says(message, "connect timeout")) {
        likely = "a firewall, or another program at that port?";
    } else if (says(message, "cannot find")) {
        likely = "is the name correct?";
    }
    return arena_printf(&cli->arena, "%s The address is %s.", likely, where_server_phrase(cli));
}

/* A time that the server refuses may be caused by this machine's clock. */
static struct slice hint_time(struct cli *cli, const struct client_details *details)
{
    char now[TIMESTAMP_TEXT_BYTES_MAX];
    size_t size = 0;

    for (size_t i = 0; i < details->violation_count; i++) {
        struct slice field = details->violations[i].field;

        if (!says(field, "expires_at") && !says(field, "created_at")) {
            continue;
        }
        size = timestamp_format(clock_wall_us(cli->ctx.clock) / 1000000, 0, now);
        return arena_printf(&cli->arena,
                            "spans such as 90d count from this machine's clock, which shows %.*s",
                            (int)size, now);
    }
    return slice_of(NULL, 0);
}

static struct slice hint(struct cli *cli, const struct client_status *status,
                         const struct client_details *details)
{
    switch (status->code) {
    case CLIENT_CODE_UNAUTHENTICATED:
        return hint_token(cli, status->message);
    case CLIENT_CODE_PERMISSION_DENIED:
        return hint_role(cli);
    case CLIENT_CODE_DEADLINE_EXCEEDED:
        return says(status->message, "before a connection")
                   ? hint_unreachable(cli, SLICE("connect timeout"))
                   : SLICE("--timeout 60s gives a call more time");
    case CLIENT_CODE_UNAVAILABLE:
        return status->from_server ? slice_of(NULL, 0) : hint_unreachable(cli, status->message);
    case CLIENT_CODE_UNIMPLEMENTED:
        return SLICE(
            "does the server have another version? This program has version " ERRATA_VERSION
            "; `errata admin info` shows the server's version");
    default: /* other gRPC codes: no hint */
        return hint_time(cli, details);
    }
}

/* --- printing --- */

static void print_details(struct cli *cli, const struct client_details *details)
{
    for (size_t i = 0; i < details->violation_count; i++) {
        print_field(cli, details->violations[i].field, details->violations[i].description);
    }
    if (details->violation_total > details->violation_count) {
        print_text(&cli->err, "  and %zu more\n",
                   details->violation_total - details->violation_count);
    }
    if (details->retry_ms >= 0) {
        print_text(&cli->err, "try again in %lld.%03lld s\n", (long long)details->retry_ms / 1000,
                   (long long)details->retry_ms % 1000);
    }
}

/* The message also lists the invalid fields, for clients that do not read the details; they are
 * printed separately here. */
static bool message_repeats(struct slice message, const struct client_details *details)
{
    struct slice first =
        details->violation_count > 0 ? details->violations[0].description : slice_of(NULL, 0);

    return first.size > 0 && message.size > 0 &&
           memmem(message.data, message.size, first.data, first.size) != NULL;
}

static void write_field(struct buffer *json, size_t index, struct slice field,
                        struct slice description)
{
    buffer_printf(json, "%s{\"field\":", index > 0 ? "," : "");
    json_write_string(json, field, true);
    buffer_printf(json, ",\"description\":");
    json_write_string(json, description, true);
    buffer_append_byte(json, '}');
}

static void write_json(struct cli *cli, const struct client_status *status,
                       const struct client_details *details, struct slice advice)
{
    struct buffer json;

    buffer_init(&json, &cli->arena, 512);
    buffer_printf(&json, "{\"code\":\"%s\",\"message\":", client_code_name(status->code));
    json_write_string(&json, status->message, true);
    buffer_printf(&json, ",\"fields\":[");
    for (size_t i = 0; i < details->violation_count; i++) {
        write_field(&json, i, details->violations[i].field, details->violations[i].description);
    }
    buffer_append_byte(&json, ']');
    if (details->retry_ms >= 0) {
        buffer_printf(&json, ",\"retryMs\":%lld", (long long)details->retry_ms);
    }
    if (advice.size > 0) {
        buffer_printf(&json, ",\"hint\":");
        json_write_string(&json, advice, true);
    }
    buffer_append_byte(&json, '}');
    print_json(&cli->err, buffer_slice(&json));
}

enum cli_exit failure_print_status(struct cli *cli, const struct client_status *status)
{
    struct client_details details = {.retry_ms = -1};
    struct slice advice = {NULL, 0};

    if (client_details_read(status->details, &details) != OK) {
        details = (struct client_details){
            .retry_ms = -1}; /* the details are damaged: only the message is used */
    }
    advice = hint(cli, status, &details);
    cli->failed_code = status->code;
    if (cli->json) {
        write_json(cli, status, &details, advice);
    } else {
        print_headline(cli, slice_text(client_code_name(status->code)),
                       message_repeats(status->message, &details) ? SLICE("the request is invalid")
                                                                  : status->message);
        print_details(cli, &details);
        if (advice.size > 0) {
            print_text(&cli->err, "hint:");
            wrap_message(&cli->err, (unsigned)strlen("hint:"), 0, advice);
        }
    }
    return status->code == CLIENT_CODE_UNAVAILABLE && !status->from_server ? CLI_NO_CONNECTION
                                                                           : CLI_CALL_FAILED;
}

/* The same form as a server's error, with a code of this program. */
static void write_fault_json(struct cli *cli, const char *code, struct slice message)
{
    const struct fault *fault = &cli->fault;
    struct buffer json;

    buffer_init(&json, &cli->arena, 512);
    buffer_printf(&json, "{\"code\":\"%s\",\"message\":", code);
    json_write_string(&json, message, true);
    buffer_printf(&json, ",\"fields\":[");
    for (size_t i = 0; i < fault->count; i++) {
        write_field(&json, i, fault->entries[i].field, fault->entries[i].description);
    }
    buffer_append(&json, SLICE("]}"));
    print_json(&cli->err, buffer_slice(&json));
}

enum cli_exit failure_print_fault(struct cli *cli, enum err err, const char *what)
{
    const struct fault *fault = &cli->fault;
    struct slice message = fault->message.size > 0 ? fault->message : slice_text(err_text(err));
    bool usage = err == ERR_INVALID || err == ERR_TOO_LARGE;

    if (cli->json) {
        write_fault_json(cli, usage ? "USAGE" : "LOCAL", message);
        return usage ? CLI_USAGE : CLI_LOCAL;
    }
    print_coloured(&cli->err, COLOUR_RED, SLICE("errata"));
    print_text(&cli->err, ": ");
    if (fault->count > 0 && fault->message.size == 0) {
        print_text(&cli->err, "%s:\n", what); /* the fields contain the rest */
    } else {
        print_text(&cli->err, "%s:", what);
        wrap_message(&cli->err, (unsigned)(strlen("errata: :") + strlen(what)), 0, message);
    }
    for (size_t i = 0; i < fault->count; i++) {
        print_field(cli, fault->entries[i].field, fault->entries[i].description);
    }
    return usage ? CLI_USAGE : CLI_LOCAL;
}

enum cli_exit failure_print_start(struct cli *cli, enum err err)
{
    if (err == ERR_INVALID) {
        return cli_usage(
            cli, "--metadata: invalid; expected keys of lower-case letters, digits, `-`, `_` and "
                 "`.` that do not begin with `grpc-`, and values of printable ASCII");
    }
    return cli_local(cli, "the call could not be made: %s", err_text(err));
}
