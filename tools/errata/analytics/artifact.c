/*
 * artifact.c: `errata analytics artifact`: the exposures of an artifact, and its measured effect.
 */
#include "tools/errata/analytics/analytics.h"
#include "tools/errata/layouts/measures.h"

struct slice artifact_outcomes(struct cli *cli, struct json_value report, const char *name)
{
    struct json_value side = reply_member(report, name);
    struct slice rate = analytics_percent(cli, side, "badRate");

    return arena_printf(
        &cli->arena, "%.*s of %.*s bad%s%.*s%s, in %.*s",
        SLICE_ARGS(reply_count(cli, side, "badCount")),
        SLICE_ARGS(reply_count(cli, side, "outcomeCount")), rate.size > 0 ? " (" : "",
        SLICE_ARGS(rate), rate.size > 0 ? ")" : "",
        SLICE_ARGS(analytics_counted(cli, side, "exposureCount", "exposure", "exposures")));
}

static struct slice difference_text(struct cli *cli, struct json_value report)
{
    struct slice difference = analytics_change(cli, report, "difference");

    if (difference.size == 0) {
        return SLICE("unknown: one of the two sides has no outcomes");
    }
    return arena_printf(&cli->arena, "%.*s (95%% interval %.*s to %.*s)", SLICE_ARGS(difference),
                        SLICE_ARGS(analytics_change(cli, report, "differenceLow")),
                        SLICE_ARGS(analytics_change(cli, report, "differenceHigh")));
}

enum cli_exit artifact_print(struct cli *cli, struct json_value reply)
{
    enum cli_exit result = CLI_OK;

    reply_print_member(cli, "artifact", reply_text(cli, reply, "artifactId"));
    reply_print_member(cli, "kind", reply_word(cli, reply, "artifactKind", "ARTIFACT_KIND_"));
    reply_print_member(cli, "served", artifact_outcomes(cli, reply, "served"));
    reply_print_member(cli, "treatment", artifact_outcomes(cli, reply, "treatment"));
    reply_print_member(cli, "held out", artifact_outcomes(cli, reply, "heldOut"));
    if (slice_equal(reply_text(cli, reply, "artifactKind"), SLICE("ARTIFACT_KIND_GUIDELINE"))) {
        reply_print_member(cli, "in shadow", artifact_outcomes(cli, reply, "shadow"));
    }
    reply_print_member(cli, "difference", difference_text(cli, reply));
    reply_print_member(cli, "state", reply_word(cli, reply, "state", "ARTIFACT_STATE_"));
    reply_print_member(cli, "version", reply_text(cli, reply, "version"));
    result = view_print_table(cli, "ExposureOutcome", reply, "newestOutcomes", NULL);
    return result != CLI_OK ? result
                            : view_print_table(cli, "EvidenceEvent", reply, "evidence", NULL);
}
