/*
 * guideline_cells.c: votes and conflicts of proposals as cells of tables (engine/view_cells.h).
 */
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/view_cells.h"

struct slice cell_voters(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk votes = reply_walk(object, name);
    struct buffer text;

    buffer_init(&text, &cli->arena, 0);
    while (reply_next(&votes)) {
        buffer_printf(&text, "%s%.*s", text.size > 0 ? ", " : "",
                      SLICE_ARGS(reply_text(cli, votes.row, "approverId")));
    }
    return buffer_slice(&text);
}

struct slice cell_conflicts(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk conflicts = reply_walk(object, name);
    struct buffer text;

    buffer_init(&text, &cli->arena, 0);
    while (reply_next(&conflicts)) {
        buffer_printf(&text, "%s%.*s %.*s: %.*s", text.size > 0 ? "; " : "",
                      SLICE_ARGS(reply_word(cli, conflicts.row, "kind", "RULE_CONFLICT_KIND_")),
                      SLICE_ARGS(reply_text(cli, conflicts.row, "guidelineId")),
                      SLICE_ARGS(reply_text(cli, conflicts.row, "reason")));
    }
    return buffer_slice(&text);
}
