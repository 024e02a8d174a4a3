/*
 * command_call.c: see command_call.h.
 */
#include "tools/errata/engine/command_call.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/fill.h"
#include "tools/errata/engine/paging.h"

/* Returns the first member of a reply that is a message or an array of messages; NULL if there is
 * none. */
static const struct field_info *find_message(const struct message_info *reply, bool repeated)
{
    for (uint32_t i = 0; i < reply->count; i++) {
        const struct field_info *field = &reply->fields[i];

        if (field->type == FIELD_MESSAGE && field->repeated == repeated &&
            field->message->well_known == MESSAGE_PLAIN) {
            return field;
        }
    }
    return NULL;
}

const struct field_info *command_call_rows(const struct method_info *method)
{
    bool paged = view_field_named(method->request, SLICE("page_token")) != NULL;

    return paged ? find_message(method->reply, true) : NULL;
}

/* Prints the lines of the resource for a read, and its id for a write. */
static enum cli_exit print_object(struct cli *cli, const struct method_info *method,
                                  struct json_value reply)
{
    const struct field_info *field = find_message(method->reply, false);
    struct json_value object =
        field != NULL ? reply_member(reply, (const char *)field->json_name.data) : reply;

    if (method->no_side_effects && field != NULL) {
        view_print_fields(cli, field->message, object);
    } else {
        print_line(&cli->out, reply_text(cli, object, "id"));
    }
    return CLI_OK;
}

/* Prints the reply to a single call in the requested form. */
static enum cli_exit print_reply(struct cli *cli, const struct command_call *call,
                                 struct slice json, struct json_value reply)
{
    if (cli->json) {
        print_json(&cli->out, json);
        return CLI_OK;
    }
    return call->print != NULL ? call->print(cli, reply)
                               : print_object(cli, cli_method(call->method), reply);
}

enum cli_exit command_call_once(struct cli *cli, const struct command_call *call)
{
    const struct method_info *method = cli_method(call->method);
    struct request request;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    if (call->fill != NULL) {
        result = call->fill(&request, cli);
    }
    if (result == CLI_OK) {
        result = fill_request(&request, cli, method);
    }
    if (result == CLI_OK) {
        result = cli_call(cli, call->method, request_end(&request), &json);
    }
    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    result = print_reply(cli, call, json, reply);
    return result == CLI_OK && call->check != NULL ? call->check(cli, reply) : result;
}

enum cli_exit command_call_run(struct cli *cli)
{
    const struct command_call *call = cli->command->call;

    return command_call_rows(cli_method(call->method)) != NULL ? paging_run(cli, call)
                                                               : command_call_once(cli, call);
}
