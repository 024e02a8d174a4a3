/*
 * ask.c: see ask.h.
 */
#include "tools/errata/engine/ask.h"

#include "tools/errata/engine/connect.h"

enum cli_exit ask_run(struct cli *cli, const struct ask *ask)
{
    struct request request;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    if (ask->fill != NULL) {
        result = ask->fill(&request, cli);
    }
    if (result == CLI_OK) {
        result = cli_call(cli, ask->path, request_end(&request), &json);
    }
    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (cli->json) {
        print_json(&cli->out, json);
        return CLI_OK;
    }
    return ask->print(cli, reply);
}
