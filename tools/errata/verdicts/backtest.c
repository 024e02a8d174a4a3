/*
 * backtest.c: see backtest.h.
 */
#include "tools/errata/verdicts/backtest.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/resolve.h"
#include "tools/errata/engine/stream_call.h"
#include "tools/errata/engine/view_cells.h"

#define BACKTEST_PATH "/errata.v1.LearningService/Backtest"

/* Adds the rule of the command line; a candidate is filled from the options. */
static enum cli_exit fill(struct request *request, struct cli *cli)
{
    struct slice id = {NULL, 0};
    bool has_rule = cli->options.word_count > 0;
    enum cli_exit result = CLI_OK;

    if (has_rule == options_has(&cli->options, "pattern")) {
        return cli_usage(cli, "RULE: missing, or given together with --pattern; expected either "
                              "RULE, or --pattern with --type");
    }
    if (has_rule) {
        result = resolve_prefix(cli, SLICE("RULE"), slice_text(cli->options.words[0]), &id);
        request_text(request, "rule_id", id);
    }
    return result;
}

static const struct table_column count_columns[] = {
    {.title = "REVIEWERS", .min = 10},
    {.title = "HITS", .right = true, .cut = TABLE_NEVER_CUT},
    {.title = "AGREEMENTS", .right = true, .cut = TABLE_NEVER_CUT},
    {.title = "FALSE ALARMS", .right = true, .cut = TABLE_NEVER_CUT},
    {.title = "RIGHT FLIPS", .right = true, .cut = TABLE_NEVER_CUT},
    {.title = "WRONG FLIPS", .right = true, .cut = TABLE_NEVER_CUT},
    {.title = "OTHER FLIPS", .right = true, .cut = TABLE_NEVER_CUT}};
#define COUNT_COLUMNS (sizeof(count_columns) / sizeof(count_columns[0]))

static bool add_counts(struct cli *cli, struct json_value counts, struct slice who,
                       struct table *table)
{
    const struct slice cells[COUNT_COLUMNS] = {who,
                                               reply_count(cli, counts, "hitCount"),
                                               reply_count(cli, counts, "agreementCount"),
                                               reply_count(cli, counts, "falseAlarmCount"),
                                               reply_count(cli, counts, "rightFlipCount"),
                                               reply_count(cli, counts, "wrongFlipCount"),
                                               reply_count(cli, counts, "otherFlipCount")};

    return table_add(table, cells);
}

/* Prints the counts of all reviewers, then of each. */
static void print_counts(struct cli *cli, struct json_value report)
{
    struct reply_walk reviewers = reply_walk(report, "reviewers");
    struct json_value others = reply_member(report, "otherReviewers");
    struct table table;
    bool added = false;

    table_init(&table, &cli->arena, count_columns, COUNT_COLUMNS);
    added = add_counts(cli, reply_member(report, "total"), SLICE("all"), &table);
    while (added && reply_next(&reviewers)) {
        struct slice who = reply_text(cli, reviewers.row, "actorUserId");

        added = add_counts(cli, reply_member(reviewers.row, "counts"),
                           who.size > 0 ? who : SLICE("unknown"), &table);
    }
    if (added && !slice_equal(reply_count(cli, others, "hitCount"), SLICE("0"))) {
        added = add_counts(cli, others, SLICE("others"), &table);
    }
    print_text(&cli->out, "\n");
    table_print(&table, &cli->out);
    if (!added) {
        cli_note(cli, "out of memory: the table is incomplete");
    }
}

static void print_report(struct cli *cli, struct json_value report)
{
    struct slice note = reply_text(cli, report, "note");

    reply_align_members(cli, "without the text");
    reply_print_member(cli, "pattern",
                       print_clean(&cli->arena, reply_text(cli, report, "pattern")));
    reply_print_member(cli, "adjustment", cell_adjustment(cli, report, "confidenceAdjustment"));
    reply_print_member(cli, "submissions", reply_count(cli, report, "submissionCount"));
    reply_print_member(cli, "without the text", reply_count(cli, report, "notEvaluableCount"));
    reply_print_member(cli, "suppressed", reply_count(cli, report, "suppressedCount"));
    print_counts(cli, report);
    if (note.size > 0) {
        cli_note(cli, "%.*s", SLICE_ARGS(note));
    }
    if (slice_equal(reply_text(cli, report, "incomplete"), SLICE("true"))) {
        cli_note(cli, "older submissions were not examined");
    }
}

static void show_progress(struct cli *cli, struct json_value progress)
{
    struct progress_state state = {.unit = "submissions"};
    struct slice copy = {NULL, 0};
    int64_t number = 0;

    if (arena_copy(&cli->arena, reply_text(cli, progress, "submissionCount"), &copy) &&
        copy.size > 0 && input_number((const char *)copy.data, &number)) {
        state.done = (uint64_t)number;
    }
    progress_show(&cli->progress, &state);
}

static enum cli_exit take(struct cli *cli, struct slice message, void *user)
{
    bool *reported = user;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value report = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    enum cli_exit result = cli_decode(cli, cli_method(BACKTEST_PATH), message, &cli->arena, &json);

    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (!json_member(reply, SLICE("report"), &report)) {
        if (!cli->json) {
            show_progress(cli, reply_member(reply, "progress"));
        }
        return CLI_OK;
    }
    *reported = true;
    if (!cli->json) {
        print_report(cli, report);
    }
    return CLI_OK;
}

enum cli_exit backtest_run(struct cli *cli)
{
    bool reported = false;
    const struct stream_call call = {
        .path = BACKTEST_PATH, .fill = fill, .take = take, .user = &reported};
    enum cli_exit result = CLI_OK;

    cli_progress(cli);
    result = stream_call_run(cli, &call);
    return result == CLI_OK && !reported ? cli_local(cli, "the server ended without a report")
                                         : result;
}
