/*
 * analytics.c: see analytics.h: the commands, the formats of their figures, and `errata analytics
 * coverage`.
 */
#include "tools/errata/analytics/analytics.h"

#include "tools/errata/commands.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/layouts/measures.h"

/* --- figures --- */

struct slice analytics_percent(struct cli *cli, struct json_value object, const char *name)
{
    double share = 0;

    return measures_double(cli, object, name, &share)
               ? arena_printf(&cli->arena, "%.1f%%", share * 100)
               : slice_of(NULL, 0);
}

struct slice analytics_change(struct cli *cli, struct json_value object, const char *name)
{
    double share = 0;

    return measures_double(cli, object, name, &share)
               ? arena_printf(&cli->arena, "%+.1f%%", share * 100)
               : slice_of(NULL, 0);
}

struct slice analytics_counted(struct cli *cli, struct json_value object, const char *name,
                               const char *one, const char *many)
{
    struct slice count = reply_count(cli, object, name);

    return arena_printf(&cli->arena, "%.*s %s", SLICE_ARGS(count),
                        slice_equal(count, SLICE("1")) ? one : many);
}

static const struct option_spec coverage_options[] = {
    {"order", "ORDER", "order of the layouts; default: most recently seen first"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};

const struct command analytics_commands[] = {
    {.group = "analytics",
     .name = "learning",
     .summary = "show corrections by day, type, field and layout",
     .help = "Shows statistics of a range of days, by default the last 30: feedback events and the "
             "models' confidence by day, events by type, the most corrected fields, and the most "
             "frequent layouts. A correction rate is the share of extractions with at least one "
             "correction. The figures of layouts are current and do not depend on the "
             "range.\n\nDays are UTC days, written as 2026-11-22, `today`, `yesterday`, or a "
             "number of days ago such as 90d. Days without extractions are gaps in the confidence "
             "trend. `--table` selects one table; with `--csv` the default is `days`.",
     .examples = {{"errata analytics learning", NULL},
                  {"errata analytics learning --start 90d --top 20", "the last quarter"},
                  {"errata analytics learning --table fields --csv > fields.csv", NULL}},
     .options = learning_options,
     COMMAND_CALL("AnalyticsService/GetLearningAnalytics", .fill = learning_check,
                  .print = learning_print)},
    {.group = "analytics",
     .name = "coverage",
     .summary = "list layouts with documents, examples and correction rates",
     .help = "Lists all layouts with documents, corrections or extractions, and the correction "
             "rate of their extractions.",
     .examples = {{"errata analytics coverage --order most-seen --limit 20", NULL},
                  {"errata analytics coverage --all --csv > layouts.csv", NULL}},
     .options = coverage_options,
     COMMAND_CALL("AnalyticsService/ListLayoutCoverage",
                  .nothing = "no layouts: no document or correction has been stored")},
    {.group = "analytics",
     .name = "experiment",
     .summary = "measure the effect of examples against held-out documents",
     .help = "Compares the share of extractions without corrections between documents that got "
             "examples and documents that were held out (`errata org settings --holdout`). Prints "
             "the relative improvement (from 50% to 60% is +20%), its 95% confidence interval, and "
             "the probability p of such a difference by chance. The goal is 15%. Only extractions "
             "whose layout already had 3 examples are counted. A table of the layouts with 3 or "
             "more examples follows. The verdict is `better`, `worse` or `goal reached` (the "
             "measured improvement, even if its interval extends below the goal); `unclear` if p "
             "is 0.05 or more; `too little data` if one side has fewer than 10 extractions. Of "
             "many layouts, one in twenty differs clearly by chance. With `--csv`, the first "
             "record has no layout and describes the organisation.",
     .examples = {{"errata analytics experiment", NULL},
                  {"errata analytics experiment --all --csv > experiment.csv", NULL}},
     .options = experiment_options,
     COMMAND_CALL("AnalyticsService/GetExperimentReport", .head = experiment_head,
                  .colour = experiment_colour,
                  .nothing = "no layout with 3 or more examples has extractions that count")},
    {.group = "analytics",
     .name = "artifact",
     .arguments = "ARTIFACT",
     .summary = "measure the effect of one artifact, such as an example or a mapping",
     .help = "Prints the number of times an artifact was served, and the share of bad outcomes "
             "among those that cite it. An outcome is bad if the extraction was corrected, if the "
             "mapping was rejected or superseded after it was served, or if the review of a run "
             "found a signal again whose guidance was in its prompts. The held-out documents "
             "(`errata org settings --holdout`) that would have got the artifact are shown for "
             "comparison, with the difference of both rates and its 95% interval. The artifact "
             "helps if the whole interval is below 0%. Mappings are never held out; for a "
             "template, prompts without examples are the held-out ones.\n\nARTIFACT is the id of "
             "an example (of its correction), of a mapping, of a version of a template or of the "
             "wording of guidance, of a rule, or of the event that stored an example item; `errata "
             "explain` prints the ids of served artifacts. The wording that ships with the server "
             "has the id 00000000-0000-0000-0000-000000000000.",
     .examples = {{"errata examples a1b2c3 --json | jq -r '.examples[0].id' |\n"
                   "  xargs errata analytics artifact",
                   NULL}},
     COMMAND_CALL("LearningService/GetArtifactReport", .print = artifact_print)},
    {.name = NULL}};
