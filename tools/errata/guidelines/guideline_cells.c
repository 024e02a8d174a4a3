/*
 * guideline_cells.c: votes and conflicts of proposals as cells of tables (engine/view_cells.h).
 */
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

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

struct slice cell_votes(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk votes = reply_walk(object, "votes");
    unsigned count = 0;

    (void)name;
    while (reply_next(&votes)) {
        count++;
    }
    return arena_printf(&cli->arena, "%u of %.*s", count,
                        SLICE_ARGS(reply_count(cli, object, "votesNeeded")));
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

/* Formats the bad outcomes among all. */
struct slice cell_bad_outcomes(struct cli *cli, struct json_value object, const char *name)
{
    struct json_value outcomes = reply_member(object, name);

    return arena_printf(&cli->arena, "%.*s of %.*s",
                        SLICE_ARGS(reply_count(cli, outcomes, "badCount")),
                        SLICE_ARGS(reply_count(cli, outcomes, "outcomeCount")));
}

/* Formats the change of similar feedback with its interval. */
struct slice cell_change_per_100(struct cli *cli, struct json_value object, const char *name)
{
    double change = 0;
    double low = 0;
    double high = 0;

    (void)name;
    if (!measures_double(cli, object, "change", &change) ||
        !measures_double(cli, object, "changeLow", &low) ||
        !measures_double(cli, object, "changeHigh", &high)) {
        return SLICE("not measured");
    }
    return arena_printf(&cli->arena, "%+.1f (%+.1f to %+.1f)", change, low, high);
}
