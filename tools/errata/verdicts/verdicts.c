/*
 * verdicts.c: `errata verdicts`: reviewers' verdicts on receipts, and scores: submit, score,
 * stats.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

/* --- submit --- */

static enum cli_exit check_submission(struct request *request, struct cli *cli)
{
    static const char *const names[] = {"original", "correct", "score"};

    (void)request;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!options_has(&cli->options, names[i])) {
            return cli_usage(
                cli,
                "--%s: missing; expected --original VERDICT, --correct VERDICT and --score SHARE",
                names[i]);
        }
    }
    return CLI_OK;
}

/* `learned MISSED_INDICATOR font_mismatch (count 2)` */
static void note_change(struct cli *cli, struct json_value change)
{
    struct json_value rule = reply_member(change, "rule");
    struct slice effect = reply_word(cli, change, "effect", "LEARNED_RULE_EFFECT_");
    struct slice type = reply_word(cli, rule, "ruleType", "LEARNED_RULE_TYPE_");
    struct slice pattern = reply_text(cli, rule, "pattern");
    struct slice count = reply_count(cli, rule, "learnedFromFeedbackCount");
    bool enabled = slice_equal(reply_text(cli, rule, "enabled"), SLICE("true"));

    cli_note(cli, "%s %.*s %.*s (count %.*s%s)",
             slice_equal(effect, SLICE("REINFORCED")) ? "reinforced" : "learned", SLICE_ARGS(type),
             SLICE_ARGS(pattern), SLICE_ARGS(count), enabled ? "" : ", disabled");
}

static enum cli_exit print_submitted(struct cli *cli, struct json_value reply)
{
    struct json_value submission = reply_member(reply, "submission");
    struct reply_walk changes = reply_walk(submission, "ruleChanges");
    struct reply_walk shared = reply_walk(reply, "sharedPatterns");

    print_line(&cli->out, reply_text(cli, submission, "id"));
    while (reply_next(&changes)) {
        note_change(cli, changes.row);
    }
    while (reply_next(&shared)) {
        struct slice pattern = reply_text(cli, shared.row, "pattern");

        cli_note(cli, "several rules have the pattern %.*s", SLICE_ARGS(pattern));
    }
    return CLI_OK;
}

/* --- score --- */

/* Prints the score, and the rules that matched. */
static enum cli_exit print_score(struct cli *cli, struct json_value reply)
{
    struct slice score = reply_text(cli, reply, "score");
    struct slice unclamped = reply_text(cli, reply, "unclampedScore");
    struct slice reference = reply_text(cli, reply, "exposureRef");
    enum cli_exit result = CLI_OK;

    reply_print_member(cli, "score", score);
    reply_print_member(cli, "verdict", reply_word(cli, reply, "verdict", "VERDICT_"));
    if (!slice_equal(score, unclamped)) {
        reply_print_member(cli, "before limits", unclamped);
    }
    result = view_print_table(cli, "ScoreEvent", reply, "events", NULL);
    if (reference.size > 0 && options_has(&cli->options, "reference")) {
        (void)fflush(cli->out.stream);
        cli_note(cli, "reference: %.*s", SLICE_ARGS(reference));
    }
    return result;
}

struct slice cell_gate(struct cli *cli, struct json_value object, const char *name)
{
    struct slice gate = reply_word(cli, object, name, "SCORE_GATE_");

    return slice_equal(gate, SLICE("UNSPECIFIED")) ? SLICE("") : gate;
}

/* --- stats --- */

static void print_count(struct cli *cli, struct json_value reply, const char *title,
                        const char *name)
{
    reply_print_member(cli, title, reply_count(cli, reply, name));
}

static enum cli_exit print_stats(struct cli *cli, struct json_value reply)
{
    struct slice accuracy = reply_text(cli, reply, "accuracy");

    print_count(cli, reply, "submissions", "totalFeedback");
    if (accuracy.size > 0) {
        accuracy = arena_printf(&cli->arena, "%.*s%%", SLICE_ARGS(accuracy));
    }
    reply_print_member(cli, "accuracy", accuracy);
    print_count(cli, reply, "FAKE to REAL", "falsePositives");
    print_count(cli, reply, "REAL to FAKE", "falseNegatives");
    print_count(cli, reply, "real", "realReceipts");
    print_count(cli, reply, "fake", "fakeReceipts");
    print_count(cli, reply, "suspicious", "suspiciousReceipts");
    if (slice_equal(reply_text(cli, reply, "incomplete"), SLICE("true"))) {
        cli_note(cli, "more than 100,000 different indicators were missed; only the first "
                      "100,000 are counted");
    }
    return view_print_table(cli, "IndicatorCount", reply, "commonMissedIndicators", NULL);
}

static const struct option_spec submit_options[] = {
    {"original", "VERDICT", "the verdict of the score"},
    {"correct", "VERDICT", "the reviewer's verdict"},
    {"score", "SHARE", "the score, from 0 to 1"},
    {"confirmed", "INDICATOR", "an indicator that was reported correctly; may be repeated"},
    {"rejected", "INDICATOR", "an indicator that was reported wrongly; may be repeated"},
    {"missed", "INDICATOR", "an indicator that should have been reported; may be repeated"},
    {"correction", "KEY=VALUE|KEY=@FILE",
     "the correct value of a field that was read wrongly; may be repeated"},
    {"notes", "TEXT|@FILE|-", "the reviewer's note"},
    {"features", "JSON|@FILE|-", "the features that were scored, as an object"},
    {"text", "TEXT|@FILE|-", "the text of the receipt"},
    {"missing-fields", NULL, "missing fields counted in the score"},
    {"profile-confidence", "SHARE", "confidence of the document profile, from 0 to 1"},
    {"profile-subtype", "SUBTYPE", "the kind of document, such as POS_RECEIPT"},
    {"actor", "USER", "the reviewer, if the token is not bound to a user"},
    {"annotator", "ANNOTATOR", "kind of annotator: HUMAN, CODE or LLM"},
    {"created-at", "TIME|SPAN",
     "time of the verdict, to import past ones; needs INTEGRATOR or ADMIN"},
    {"exposure", "REFERENCE",
     "reference of a score of the receipt, to measure its rules; may be repeated"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec score_options[] = {
    {"indicator", "INDICATOR", "an indicator that was found; may be repeated"},
    {"features", "JSON|@FILE|-", "the features, as an object"},
    {"text", "TEXT|@FILE|-", "the text of the receipt"},
    {"missing-fields", NULL, "missing fields count in the score"},
    {"profile-confidence", "SHARE", "confidence of the document profile, from 0 to 1"},
    {"profile-subtype", "SUBTYPE", "the kind of document, such as POS_RECEIPT"},
    {"reference", NULL,
     "print the reference to cite with the verdict (`errata verdicts submit --exposure`)"},
    {"as-of", "TIME", "score by the rules and settings of this time"},
    {NULL, NULL, NULL}};
static const struct option_spec stats_options[] = {
    {"days", "N", "the last N times 24 hours, up to 366 (default 30)"}, {NULL, NULL, NULL}};

const struct command verdict_commands[] = {
    {.group = "verdicts",
     .name = "submit",
     .arguments = "RECEIPT --original VERDICT --correct VERDICT --score SHARE",
     .summary = "store a reviewer's verdict on a receipt and print its id",
     .help =
         "Stores a verdict and learns from it. Each missed indicator becomes a rule that raises "
         "scores by 0.04, and by 0.05 more if the verdict was changed from REAL to FAKE; each "
         "rejected indicator becomes a rule that lowers them by 0.03 if it was changed from "
         "FAKE to REAL; confirmed indicators increase the accuracy of the rules with that pattern. "
         "Learning a rule again raises its count, not its adjustment. The changed rules are "
         "printed to standard error.",
     .examples = {{"errata verdicts submit receipt-17 --original real --correct fake \\\n"
                   "  --score 0.3 --missed font_mismatch --confirmed total_altered",
                   NULL},
                  {"errata verdicts submit receipt-18 --original fake --correct real \\\n"
                   "  --score 0.8 --rejected spacing_irregular --correction total=12.50",
                   NULL}},
     .options = submit_options,
     COMMAND_CALL("VerdictService/SubmitVerdict", .fill = check_submission,
                  .print = print_submitted)},
    {.group = "verdicts",
     .name = "score",
     .arguments = "SCORE",
     .summary = "adjust the score of a receipt by the learned rules",
     .help =
         "Prints the score with the adjustments of all enabled rules that match, and those rules. "
         "A rule matches if its pattern is one of the indicators, or the name of a feature that "
         "is true, a number other than 0 or a text; or a comparison such as total>100; or "
         "text:PHRASE and the phrase occurs in the text. Without --profile-confidence, or below "
         "0.55, adjustments are reduced. Nothing is stored.",
     .examples = {{"errata verdicts score 0.3 --indicator font_mismatch \\\n"
                   "  --features '{\"total\": 120}' --profile-confidence 0.9",
                   NULL}},
     .options = score_options,
     COMMAND_CALL("VerdictService/ScoreDocument", .print = print_score)},
    {.group = "verdicts",
     .name = "stats",
     .summary = "report how often verdicts were correct",
     .help = "Counts the submissions of the last days: how many original verdicts were correct, "
             "false positives (FAKE changed to REAL), false negatives (REAL changed to FAKE), and "
             "the indicators that were missed most often.",
     .examples = {{"errata verdicts stats", NULL}, {"errata verdicts stats --days 7", NULL}},
     .options = stats_options,
     COMMAND_CALL("VerdictService/GetVerdictStats", .print = print_stats)},
    {.name = NULL}};
