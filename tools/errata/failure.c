/*
 * failure.c: see failure.h. What servers say is cleaned before it is printed.
 */
#include "tools/errata/failure.h"

#include "client/details.h"
#include "client/header.h"
#include "store/base/json.h"

static void print_headline(struct cli *cli, struct slice name, struct slice message)
{
    print_coloured(&cli->err, COLOUR_RED, name);
    print_text(&cli->err, ": ");
    print_coloured(&cli->err, COLOUR_NONE, message);
    print_text(&cli->err, "\n");
}

static void print_field(struct cli *cli, struct slice field, struct slice description)
{
    print_text(&cli->err, "  ");
    if (field.size > 0) {
        print_coloured(&cli->err, COLOUR_BOLD, field);
        print_text(&cli->err, ": ");
    }
    print_coloured(&cli->err, COLOUR_NONE, description);
    print_text(&cli->err, "\n");
}

static const char *hint(const struct client_status *status)
{
    switch (status->code) {
    case CLIENT_CODE_UNAUTHENTICATED:
        return "give a token with --token-file FILE or ERRATA_TOKEN_FILE; a server writes its "
               "first "
               "one to DIR/admin.token";
    case CLIENT_CODE_PERMISSION_DENIED:
        return "`errata methods NAME` says which roles may call a method";
    case CLIENT_CODE_DEADLINE_EXCEEDED:
        return "--timeout 60s gives a call more time";
    case CLIENT_CODE_UNAVAILABLE:
        return status->from_server
                   ? NULL
                   : "is erratad running there? --server HOST:PORT or "
                     "ERRATA_SERVER names another; DIR/address holds the one in use";
    default: /* numbers of gRPC: nothing to add for the rest */
        return NULL;
    }
}

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

/* The message lists the bad fields too, for those who do not read details; here they follow. */
static bool message_repeats(struct slice message, const struct client_details *details)
{
    struct slice first =
        details->violation_count > 0 ? details->violations[0].description : slice_of(NULL, 0);

    return first.size > 0 && message.size > 0 &&
           memmem(message.data, message.size, first.data, first.size) != NULL;
}

static void write_json(struct cli *cli, const struct client_status *status,
                       const struct client_details *details)
{
    struct buffer json;

    buffer_init(&json, &cli->arena, 512);
    buffer_printf(&json, "{\"code\":\"%s\",\"message\":", client_code_name(status->code));
    json_write_string(&json, status->message, true);
    buffer_printf(&json, ",\"fields\":[");
    for (size_t i = 0; i < details->violation_count; i++) {
        buffer_printf(&json, "%s{\"field\":", i > 0 ? "," : "");
        json_write_string(&json, details->violations[i].field, true);
        buffer_printf(&json, ",\"description\":");
        json_write_string(&json, details->violations[i].description, true);
        buffer_append_byte(&json, '}');
    }
    buffer_append_byte(&json, ']');
    if (details->retry_ms >= 0) {
        buffer_printf(&json, ",\"retryMs\":%lld", (long long)details->retry_ms);
    }
    buffer_append_byte(&json, '}');
    print_json(&cli->err, buffer_slice(&json));
}

enum cli_exit failure_print_status(struct cli *cli, const struct client_status *status)
{
    struct client_details details = {.retry_ms = -1};
    const char *advice = hint(status);

    if (client_details_read(status->details, &details) != OK) {
        details =
            (struct client_details){.retry_ms = -1}; /* damaged details: the message is left */
    }
    if (cli->json) {
        write_json(cli, status, &details);
    } else {
        print_headline(cli, slice_text(client_code_name(status->code)),
                       message_repeats(status->message, &details)
                           ? SLICE("the request is not valid")
                           : status->message);
        print_details(cli, &details);
        if (advice != NULL) {
            print_text(&cli->err, "hint: %s\n", advice);
        }
    }
    return status->code == CLIENT_CODE_UNAVAILABLE && !status->from_server ? CLI_NO_CONNECTION
                                                                           : CLI_CALL_FAILED;
}

enum cli_exit failure_print_fault(struct cli *cli, enum err err, const char *what)
{
    const struct fault *fault = &cli->fault;
    struct slice message = fault->message.size > 0 ? fault->message : slice_text(err_text(err));

    print_coloured(&cli->err, COLOUR_RED, slice_text(what));
    print_text(&cli->err, ": ");
    print_coloured(&cli->err, COLOUR_NONE, message);
    print_text(&cli->err, "\n");
    for (size_t i = 0; i < fault->count; i++) {
        print_field(cli, fault->entries[i].field, fault->entries[i].description);
    }
    return err == ERR_INVALID || err == ERR_TOO_LARGE ? CLI_USAGE : CLI_LOCAL;
}

enum cli_exit failure_print_start(struct cli *cli, enum err err)
{
    if (err == ERR_INVALID) {
        return cli_usage(cli, "the metadata can't be sent: keys are lower-case letters, digits and "
                              "-_. without `grpc-` in front, values printable ASCII");
    }
    return cli_local(cli, "the call could not be made: %s", err_text(err));
}
