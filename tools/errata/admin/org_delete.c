/*
 * org_delete.c: see org_delete.h. The server continues by itself, so the wait may be interrupted; it ends when the
 * organisation is not listed any more.
 */
#include "tools/errata/admin/org_delete.h"

#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/request.h"
#include "tools/errata/engine/resolve.h"
#include "tools/errata/terminal/wrap.h"

#include <time.h>

#define LIST_PATH "/errata.v1.AdminService/ListOrganizations"
/* Pause between two reads of the list. */
#define LOOK_PAUSE_MS 200

static enum cli_exit print_begun(struct cli *cli, struct json_value reply)
{
    struct json_value organization = reply_member(reply, "organization");

    if (options_has(&cli->options, "no-wait")) {
        print_text(
            &cli->out, "organisation %.*s is being deleted, with %.*s events\n",
            SLICE_ARGS(reply_text(cli, organization, "id")),
            SLICE_ARGS(reply_count(cli, reply_member(organization, "deletion"), "eventCount")));
    }
    return CLI_OK;
}

/* Finds the organisation in the list; shows the progress of its deletion. */
static enum cli_exit look(struct cli *cli, bool *ret_is_listed)
{
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct progress_state state = {.unit = "rows"};
    struct request request;
    struct reply_walk walk;
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    request_text(&request, "id_prefix", slice_text(cli->options.words[0]));
    result = cli_call_reply(cli, LIST_PATH, request_end(&request), &reply);
    if (result != CLI_OK) {
        return result;
    }
    walk = reply_walk(reply, "organizations");
    *ret_is_listed = reply_next(&walk);
    if (*ret_is_listed && !cli->json) {
        state.done = reply_integer(cli, reply_member(walk.row, "deletion"), "deletedRowCount");
        progress_show(&cli->progress, &state);
    }
    return CLI_OK;
}

static enum cli_exit wait_for_end(struct cli *cli)
{
    const struct timespec pause = {0, LOOK_PAUSE_MS * 1000000L};
    bool is_listed = true;
    enum cli_exit result = look(cli, &is_listed);

    while (result == CLI_OK && is_listed) {
        (void)nanosleep(&pause, NULL); /* a signal may end the sleep early */
        result = look(cli, &is_listed);
    }
    if (result == CLI_OK && !cli->json) {
        wrap_message(
            &cli->out, 0, 0,
            arena_printf(&cli->arena,
                         "organisation %s is deleted. Backups that were made before keep their "
                         "copy of it; delete or replace them. Freed pages of the store's file keep "
                         "its bytes until they are overwritten: `erratad --rebuild` writes a file "
                         "without them.",
                         cli->options.words[0]));
    }
    return result;
}

enum cli_exit org_delete_run(struct cli *cli)
{
    static const struct command_call call = {.method = "/errata.v1.AdminService/DeleteOrganization",
                                             .print = print_begun};
    struct slice id = {NULL, 0};
    enum cli_exit result =
        resolve_prefix(cli, SLICE("ORG"), slice_text(cli->options.words[0]), &id);

    if (result == CLI_OK) {
        /* The wait needs the whole id, since other ids may have the same prefix. */
        cli->options.words[0] = (const char *)arena_printf(&cli->kept, "%.*s", SLICE_ARGS(id)).data;
        result = command_call_once(cli, &call);
    }
    if (result != CLI_OK || options_has(&cli->options, "no-wait")) {
        return result;
    }
    cli_progress(cli);
    return wait_for_end(cli);
}
