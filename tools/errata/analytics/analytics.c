/*
 * analytics.c: see analytics.h: the commands, how their figures read, and `errata analytics coverage`.
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
    {"order", "ORDER", "in which order; those seen last first where it is not given"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};

const struct command analytics_commands[] = {
    {.group = "analytics",
     .name = "learning",
     .summary = "what was corrected and learned: by day, type, field and layout",
     .help =
         "Shows what happened in a range of days, the last 30 where none is given: feedback events "
         "and the models' confidence by day, events by type, the fields that are corrected most, "
         "and the layouts that are seen most. A rate of correction is the share of extractions "
         "that somebody corrected. Figures of layouts are as of now.\n\nDays are UTC days, written "
         "2026-11-22, `today`, `yesterday`, or as a span such as 90d: so many days ago. Days "
         "without extractions are gaps in the trend of confidence.\n\n`--table` shows one part; "
         "with `--csv` it says which table is wanted (days where it is not given).",
     .examples = {{"errata analytics learning", NULL},
                  {"errata analytics learning --start 90d --top 20", "the last quarter"},
                  {"errata analytics learning --table fields --csv > fields.csv", NULL}},
     .options = learning_options,
     COMMAND_CALL("AnalyticsService/GetLearningAnalytics", .fill = learning_check,
                  .print = learning_print)},
    {.group = "analytics",
     .name = "coverage",
     .summary = "all layouts: documents, examples, and how often extractions were corrected",
     .help = "Lists all layouts that anything is known of, with the rate of correction of their "
             "extractions.",
     .examples = {{"errata analytics coverage --order most-seen --limit 20", NULL},
                  {"errata analytics coverage --all --csv > layouts.csv", NULL}},
     .options = coverage_options,
     COMMAND_CALL("AnalyticsService/ListLayoutCoverage",
                  .nothing = "no layouts: nothing was ingested or captured yet")},
    {.group = "analytics",
     .name = "experiment",
     .summary = "whether examples help: documents with them beside those held out",
     .help =
         "Compares extractions of documents that got examples with those of documents that were "
         "held out (`errata org settings --holdout`): the share that needed no correction. It says "
         "how much better the one is than the other (+20% from 50% is 60%), the 95% confidence "
         "interval of that, and how likely such a difference is by chance (p). The goal is 15%. "
         "Extractions count that were made when their layout already had 3 examples.\n\nThe "
         "layouts with 3 or more examples follow. The verdict is `better`, `worse`, or `goal "
         "reached` by what was measured (the interval may reach below it); `unclear` where that "
         "may be chance (p of 0.05 or more), `too little data` with fewer than 10 extractions on "
         "one side. Of many layouts one in twenty looks clear by chance. With `--csv` the first "
         "record, which names no layout, is the organisation.",
     .examples = {{"errata analytics experiment", NULL},
                  {"errata analytics experiment --all --csv > experiment.csv", NULL}},
     .options = experiment_options,
     COMMAND_CALL("AnalyticsService/GetExperimentReport", .head = experiment_head,
                  .colour = experiment_colour,
                  .nothing = "no layout with 3 or more examples has extractions that count")},
    {.group = "analytics",
     .name = "artifact",
     .arguments = "ARTIFACT",
     .summary = "whether an example, a mapping or a template helps",
     .help =
         "Prints how often an artifact was served and how many of the outcomes that cited it were "
         "bad: the extraction was corrected; the mapping was rejected or superseded after it was "
         "served. Beside them are documents that were held out (`errata org settings "
         "--holdout`) and would have got it, and the difference of both rates with its 95% "
         "interval: below 0% the artifact helps, if the interval is below 0%, too. Mappings are "
         "never held out; of a template, held out are prompts without examples.\n\nARTIFACT is "
         "the id of an example (of its correction), of a mapping, or of a version of a template; "
         "`errata explain` prints those of what was served.",
     .examples = {{"errata examples a1b2c3 --json | jq -r '.examples[0].id' |\n"
                   "  xargs errata analytics artifact",
                   NULL}},
     COMMAND_CALL("LearningService/GetArtifactReport", .print = artifact_print)},
    {.name = NULL}};
