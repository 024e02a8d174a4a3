/*
 * retract.c: see retract.h.
 */
#include "tools/errata/corrections/retract.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/resolve.h"

enum cli_exit retract_fill(struct request *request, struct cli *cli, struct slice kind)
{
    struct slice id = {NULL, 0};
    enum cli_exit result = resolve_prefix(cli, kind, slice_text(cli->options.words[0]), &id);

    if (result == CLI_OK) {
        request_text(request, "event_id", id);
    }
    return result;
}

enum cli_exit retract_print(struct cli *cli, struct json_value reply)
{
    struct json_value retraction = reply_member(reply, "retraction");
    struct slice reason = reply_text(cli, retraction, "reason");
    struct slice user = reply_text(cli, retraction, "retractedBy");
    struct slice given = slice_text(options_get(&cli->options, "reason"));

    print_line(&cli->out, reply_text(cli, retraction, "id"));
    if (!slice_equal(reason, given)) {
        cli_note(cli, "it was already retracted%s%.*s%s%.*s", user.size > 0 ? " by " : "",
                 SLICE_ARGS(user), reason.size > 0 ? ": " : "", SLICE_ARGS(reason));
    }
    return CLI_OK;
}
