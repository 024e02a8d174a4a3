/*
 * artifact_state.c: see artifact_state.h.
 */
#include "tools/errata/learning/artifact_state.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/resolve.h"

enum cli_exit artifact_state_fill(struct request *request, struct cli *cli, struct slice kind,
                                  const char *state)
{
    struct slice id = {NULL, 0};
    enum cli_exit result = resolve_prefix(cli, kind, slice_text(cli->options.words[0]), &id);

    if (result == CLI_OK) {
        request_text(request, "artifact_id", id);
        request_text(request, "state", slice_text(state));
    }
    return result;
}

enum cli_exit artifact_state_print(struct cli *cli, struct json_value reply)
{
    struct slice before = reply_word(cli, reply, "previousState", "ARTIFACT_STATE_");
    struct slice state = reply_word(cli, reply, "state", "ARTIFACT_STATE_");

    print_line(&cli->out, reply_text(cli, reply, "eventId"));
    if (slice_equal(state, before)) {
        cli_note(cli, "%.*s, as before", SLICE_ARGS(state));
    } else {
        cli_note(cli, "%.*s, was %.*s", SLICE_ARGS(state), SLICE_ARGS(before));
    }
    return CLI_OK;
}
