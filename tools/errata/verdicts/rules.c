/*
 * rules.c: `errata rules`: the rules that were learned from verdicts or proposed, and their states.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/learning/artifact_state.h"
#include "tools/errata/verdicts/backtest.h"
#include "tools/errata/verdicts/found_rules.h"
#include "tools/errata/verdicts/rule_files.h"
#include "tools/errata/verdicts/weights.h"

static bool is_enabled(struct cli *cli, struct json_value rule)
{
    return slice_equal(reply_text(cli, rule, "enabled"), SLICE("true"));
}

struct slice cell_adjustment(struct cli *cli, struct json_value object, const char *name)
{
    double adjustment = 0;

    (void)measures_double(cli, object, name, &adjustment);
    return arena_printf(&cli->arena, "%+.4g", adjustment);
}

struct slice cell_rule_state(struct cli *cli, struct json_value object, const char *name)
{
    static const struct {
        const char *name;
        const char *word;
    } states[] = {{"PROPOSED", "proposed"},
                  {"SHADOW", "shadow"},
                  {"SUNSET_PROPOSED", "enabled, retirement proposed"},
                  {"RETIRED", "retired"},
                  {"REJECTED", "rejected"}};
    struct slice state = reply_word(cli, object, "state", "ARTIFACT_STATE_");

    (void)name;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (slice_equal(state, slice_text(states[i].name))) {
            return slice_text(states[i].word);
        }
    }
    return is_enabled(cli, object) ? SLICE("enabled") : SLICE("disabled");
}

struct slice cell_rule_source(struct cli *cli, struct json_value object, const char *name)
{
    return slice_equal(reply_text(cli, object, name), SLICE("true"))
               ? SLICE("learned from submissions")
               : SLICE("a person");
}

struct slice cell_hits(struct cli *cli, struct json_value object, const char *name)
{
    static const char *const members[] = {"agreedCount", "disagreedCount", "undecidedCount"};
    double hits = 0;

    (void)name;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        double count = 0;

        (void)measures_double(cli, object, members[i], &count); /* proto JSON omits 0 */
        hits += count;
    }
    return arena_printf(&cli->arena, "%.0f", hits);
}

struct slice cell_rate(struct cli *cli, struct json_value object, const char *name)
{
    struct json_value rate = reply_member(object, name);
    double estimate = 0;
    double low = 0;
    double high = 0;

    if (!measures_double(cli, rate, "estimate", &estimate) ||
        !measures_double(cli, rate, "low", &low) || !measures_double(cli, rate, "high", &high)) {
        return SLICE("not measured");
    }
    return arena_printf(&cli->arena, "%.2f (%.2f to %.2f) of %.*s", estimate, low, high,
                        SLICE_ARGS(reply_text(cli, rate, "n")));
}

static enum cli_exit print_rule(struct cli *cli, struct json_value reply)
{
    view_print_fields(cli, view_message("LearnedRule"), reply_member(reply, "rule"));
    return view_print_table(cli, "RuleMeasure", reply, "measures", NULL);
}

/* Prints the shares and the flips of one side of the report. */
static void print_side(struct cli *cli, struct json_value side, const char *title)
{
    static const char *const rates[] = {"coverage", "overlap", "conflict", "precision", "recall"};

    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct slice line = arena_printf(&cli->arena, "%s %s", title, rates[i]);

        reply_print_member(cli, (const char *)line.data, cell_rate(cli, side, rates[i]));
    }
    reply_print_member(cli, (const char *)arena_printf(&cli->arena, "%s flips", title).data,
                       arena_printf(&cli->arena, "%.*s right, %.*s wrong, %.*s neither",
                                    SLICE_ARGS(reply_count(cli, side, "rightFlipCount")),
                                    SLICE_ARGS(reply_count(cli, side, "wrongFlipCount")),
                                    SLICE_ARGS(reply_count(cli, side, "undecidedFlipCount"))));
}

static enum cli_exit print_report(struct cli *cli, struct json_value reply)
{
    reply_align_members(cli, "shadow precision");
    reply_print_member(cli, "scores", reply_count(cli, reply, "scoreCount"));
    reply_print_member(cli, "REAL or FAKE", reply_count(cli, reply, "directedCount"));
    print_side(cli, reply_member(reply, "live"), "live");
    print_side(cli, reply_member(reply, "shadow"), "shadow");
    return CLI_OK;
}

/* Dims disabled and retired rules, which change no score. */
static void colour_rule(struct cli *cli, struct json_value row, struct table *table)
{
    if (!slice_equal(cell_rule_state(cli, row, ""), SLICE("enabled"))) {
        table_colour(table, TABLE_COLUMNS_MAX, COLOUR_DIM);
    }
}

static enum cli_exit fill_list(struct request *request, struct cli *cli)
{
    if (!options_has(&cli->options, "disabled")) {
        return CLI_OK;
    }
    if (options_has(&cli->options, "enabled")) {
        return cli_usage(cli,
                         "--enabled: given together with --disabled; expected only one of them");
    }
    request_raw(request, "enabled", SLICE("false"));
    return CLI_OK;
}

static enum cli_exit fill_enable(struct request *request, struct cli *cli)
{
    (void)cli;
    request_raw(request, "enabled", SLICE("true"));
    return CLI_OK;
}

static enum cli_exit fill_disable(struct request *request, struct cli *cli)
{
    (void)cli;
    request_raw(request, "enabled", SLICE("false"));
    return CLI_OK;
}

static enum cli_exit print_switched(struct cli *cli, struct json_value reply)
{
    struct json_value rule = reply_member(reply, "rule");
    struct slice type = reply_word(cli, rule, "ruleType", "LEARNED_RULE_TYPE_");
    struct slice pattern = reply_text(cli, rule, "pattern");

    print_line(&cli->out, reply_text(cli, rule, "id"));
    cli_note(cli, "%.*s %.*s: %s", SLICE_ARGS(type), SLICE_ARGS(pattern),
             is_enabled(cli, rule) ? "enabled" : "disabled");
    return CLI_OK;
}

static enum cli_exit fill_shadow(struct request *request, struct cli *cli)
{
    return artifact_state_fill(request, cli, SLICE("RULE"), "ARTIFACT_STATE_SHADOW");
}

static enum cli_exit fill_activate(struct request *request, struct cli *cli)
{
    return artifact_state_fill(request, cli, SLICE("RULE"), "ARTIFACT_STATE_ACTIVE");
}

static enum cli_exit fill_retire(struct request *request, struct cli *cli)
{
    return artifact_state_fill(request, cli, SLICE("RULE"), "ARTIFACT_STATE_RETIRED");
}

static enum cli_exit print_proposed(struct cli *cli, struct json_value reply)
{
    print_line(&cli->out, reply_text(cli, reply_member(reply, "learnedRule"), "id"));
    return CLI_OK;
}

static const struct option_spec list_options[] = {
    {"type", "RULETYPE", "only rules of this type"},
    {"pattern", "TEXT", "only rules with exactly this pattern"},
    {"enabled", NULL, "only rules that are enabled"},
    {"disabled", NULL, "only rules that are disabled"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec switch_options[] = {IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};

static const struct option_spec decide_options[] = {
    {"reason", "TEXT", "reason of the decision"}, IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};
static const struct option_spec backtest_options[] = {
    {"pattern", "TEXT", "pattern of a rule that is not stored"},
    {"type", "RULETYPE", "with --pattern: its type"},
    {"adjustment", "NUMBER",
     "with --pattern: its adjustment of a score; default: the one of its type"},
    {"max-submissions", "N", "only the newest N submissions"},
    {NULL, NULL, NULL}};
static const struct option_spec find_options[] = {
    {"max-rules", "N", "at most N rules; default and maximum: 20"},
    {"dry-run", NULL, "list the rules, and store nothing"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec suggest_options[] = {
    {"rule", "RULE", "only this rule"}, CSV_OPTION, PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec apply_options[] = {
    {"rule", "RULE", "a rule; may be repeated"},
    {"apply", NULL, "store the weights; without it, they are only listed"},
    {"reason", "TEXT", "reason of the decision"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec import_options[] = {
    {"replace", NULL, "retire the rules that the document does not have"},
    {"dry-run", NULL, "check the document and list the changes, and store nothing"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec propose_options[] = {
    {"type", "RULETYPE", "type of the rule"},
    {"adjustment", "NUMBER",
     "adjustment of a score; default: the one of learned rules of its type"},
    {"reason", "TEXT", "reason of the proposal"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};

const struct command rule_commands[] = {
    {.group = "rules",
     .name = "list",
     .summary = "list the rules that were learned from verdicts",
     .help =
         "Lists learned rules, oldest first. A rule is learned from an indicator that reviewers "
         "missed or rejected (`errata verdicts submit`).",
     .examples = {{"errata rules list --disabled", NULL},
                  {"errata rules list --pattern font_mismatch", "all rules of one indicator"},
                  {"errata rules list --all --csv > rules.csv", NULL}},
     .options = list_options,
     COMMAND_CALL("VerdictService/ListLearnedRules", .colour = colour_rule,
                  .nothing = "no rules match", .fill = fill_list)},
    {.group = "rules",
     .name = "show",
     .arguments = "RULE",
     .summary = "show one rule: its adjustment, state, counts and measures",
     .help =
         "Shows one rule by its id. `errata events list --subject learned_rule:ID` lists when it "
         "was created, enabled and disabled, and by whom. The table has a row for each version, "
         "newest first: how often it fired in scores that verdicts cite (`errata verdicts submit "
         "--exposure`), how often the reviewer agreed with it, how often it did not fire "
         "although the reviewer did, and its precision and recall with 95% intervals.",
     .examples = {{"errata rules show 0192f0c0-1111-7222-8333-444455556666", NULL}},
     COMMAND_CALL("VerdictService/GetLearnedRule", .print = print_rule)},
    {.group = "rules",
     .name = "report",
     .summary = "measure all rules together",
     .help = "Prints measures of the rules in effect (live) and of those in SHADOW, from verdicts "
             "that cite scores (`errata verdicts submit --exposure`): the shares of scores in "
             "which a rule fired (coverage), several fired (overlap), and both directions fired "
             "(conflict); precision and recall; and the verdicts of scores that the rules changed "
             "to the reviewer's (right), from the reviewer's (wrong), or between two others. The "
             "intervals are 95%. Needs a REVIEWER, INTEGRATOR or ADMIN token.",
     .examples = {{"errata rules report", NULL}},
     COMMAND_CALL("LearningService/GetRuleSetReport", .print = print_report)},
    {.group = "rules",
     .name = "enable",
     .arguments = "RULE",
     .summary = "enable a rule that was disabled",
     .help = "Enables a rule, so that it adjusts scores again. Needs a REVIEWER or ADMIN token.",
     .examples = {{"errata rules enable 0192f0c0-1111-7222-8333-444455556666", NULL}},
     .options = switch_options,
     COMMAND_CALL("VerdictService/SetLearnedRuleEnabled", .fill = fill_enable,
                  .print = print_switched)},
    {.group = "rules",
     .name = "disable",
     .arguments = "RULE",
     .summary = "disable a rule, so that it does not adjust scores",
     .help = "Disables a rule. It is still learned and counted, and stays disabled until a person "
             "enables it. Needs a REVIEWER or ADMIN token.",
     .examples = {{"errata rules disable 0192f0c0-1111-7222-8333-444455556666", NULL}},
     .options = switch_options,
     COMMAND_CALL("VerdictService/SetLearnedRuleEnabled", .fill = fill_disable,
                  .print = print_switched)},
    {.group = "rules",
     .name = "propose",
     .arguments = "PATTERN --type RULETYPE --reason TEXT",
     .summary = "propose a rule",
     .help =
         "Proposes a rule, which changes no score until `errata rules activate`. A pattern is an "
         "indicator, a comparison such as `total>100`, or `text:` and a phrase. Prints the id "
         "of the rule.",
     .examples = {{"errata rules propose 'text:gift card' --type missed_indicator \\\n"
                   "  --reason 'seen in May'",
                   NULL}},
     .options = propose_options,
     COMMAND_CALL("LearningService/ProposeArtifact", .print = print_proposed)},
    {.group = "rules",
     .name = "shadow",
     .arguments = "RULE --reason TEXT",
     .summary = "let a rule match without effect",
     .help =
         "Puts a rule in the state SHADOW: it changes no score. Needs a REVIEWER or ADMIN token.",
     .examples = {{"errata rules shadow 0192f0c0-1111-7222-8333-444455556666 \\\n"
                   "  --reason 'to be measured'",
                   NULL}},
     .options = decide_options,
     COMMAND_CALL("LearningService/SetArtifactState", .fill = fill_shadow,
                  .print = artifact_state_print)},
    {.group = "rules",
     .name = "activate",
     .arguments = "RULE --reason TEXT",
     .summary = "put a rule into effect",
     .help = "Puts a rule in the state ACTIVE: it adjusts scores, unless it is disabled. Needs a "
             "REVIEWER or "
             "ADMIN token.",
     .examples = {{"errata rules activate 0192f0c0-1111-7222-8333-444455556666 \\\n"
                   "  --reason 'agreed with Ann'",
                   NULL}},
     .options = decide_options,
     COMMAND_CALL("LearningService/SetArtifactState", .fill = fill_activate,
                  .print = artifact_state_print)},
    {.group = "rules",
     .name = "retire",
     .arguments = "RULE --reason TEXT",
     .summary = "retire a rule permanently",
     .help = "Puts a rule in the state RETIRED; one that is still proposed becomes REJECTED. It "
             "keeps this state even if it is learned again. Needs a REVIEWER or ADMIN token.",
     .examples = {{"errata rules retire 0192f0c0-1111-7222-8333-444455556666 \\\n"
                   "  --reason 'too many false alarms'",
                   NULL}},
     .options = decide_options,
     COMMAND_CALL("LearningService/SetArtifactState", .fill = fill_retire,
                  .print = artifact_state_print)},
    {.group = "rules",
     .name = "backtest",
     .arguments = "[RULE]",
     .summary = "run a rule over the stored submissions",
     .help = "Scores the stored submissions with their original score and only one rule, a stored "
             "one or one that "
             "the options describe: how often it fires, how often the reviewer agreed with its "
             "direction or not "
             "(false alarms), and the verdicts that it would change, rightly and wrongly, by "
             "reviewer. Needs a "
             "REVIEWER, INTEGRATOR or ADMIN token.",
     .examples = {{"errata rules backtest 0192f0c0-1111-7222-8333-444455556666", NULL},
                  {"errata rules backtest --pattern 'total>100' --type missed_indicator \\\n"
                   "  --adjustment 0.2",
                   NULL}},
     .options = backtest_options,
     .run = backtest_run},
    {.group = "rules",
     .name = "find",
     .summary = "find rules in stored submissions and propose them",
     .help =
         "Searches the newest 20,000 submissions for patterns that corrected verdicts have in "
         "common: patterns are found on the older half, and kept if they are confirmed on the "
         "newer half. The lift, with its 95% interval, states how much more often a verdict was "
         "corrected if the pattern occurs. The rules are proposed: they have no effect until a "
         "person decides. Takes up to 30 s. Needs a REVIEWER, INTEGRATOR or ADMIN token.",
     .examples = {{"errata rules find --dry-run", NULL}, {"errata rules find", NULL}},
     .options = find_options,
     COMMAND_CALL("VerdictService/ProposeRules", .print = found_rules_print)},
    {.group = "rules",
     .name = "suggest",
     .summary = "list the weights that measured verdicts suggest",
     .help =
         "Lists the weight that verdicts which cite scores (`errata verdicts submit --exposure`) "
         "suggest for each rule with at least 5 firings, with its 95% interval, and the stored "
         "verdicts that it would change, alone with the stored score: to the reviewer's (right) "
         "or from it (wrong). Nothing changes until `errata rules apply`. Needs a REVIEWER, "
         "INTEGRATOR or ADMIN token.",
     .examples = {{"errata rules suggest", NULL},
                  {"errata rules suggest --json", "with all flips"}},
     .options = suggest_options,
     COMMAND_CALL("VerdictService/ListSuggestedWeights",
                  .nothing = "no rule has 5 measured firings")},
    {.group = "rules",
     .name = "apply",
     .summary = "give rules the weights that measured verdicts suggest",
     .help = "Lists the change of each chosen rule; with --apply, stores it. A changed rule begins "
             "a version and keeps its state. Needs a REVIEWER or ADMIN token.",
     .examples = {{"errata rules apply --rule 0192f0c0-1111-7222-8333-444455556666", NULL},
                  {"errata rules apply --rule 0192f0c0-1111-7222-8333-444455556666 --apply \\\n"
                   "  --reason 'agreed with Ann'",
                   NULL}},
     .options = apply_options,
     COMMAND_CALL("VerdictService/ApplySuggestedWeights", .fill = weights_fill,
                  .print = weights_print)},
    {.group = "rules",
     .name = "export",
     .summary = "print all rules as one JSON document",
     .help = "Prints all rules, in all states and oldest first, as a JSON document with a schema "
             "version. Its form is "
             "always the same, so that two exports can be compared. With --json, prints the "
             "replies of the server "
             "instead. Needs an INTEGRATOR or ADMIN token.",
     .examples = {{"errata rules export > rules.json", NULL}},
     .run = rule_export_run},
    {.group = "rules",
     .name = "import",
     .arguments = "FILE",
     .summary = "import rules that were exported",
     .help =
         "Imports a document of `errata rules export` (`-`: standard input), all of it or nothing. "
         "A rule with the type and pattern of an existing one replaces that one's values; other "
         "rules are created. Prints each change. Needs an INTEGRATOR or ADMIN token.",
     .examples = {{"errata rules import rules.json --dry-run",
                   "check the file and list the changes"},
                  {"errata rules import rules.json --replace",
                   "also retire the rules that the file does not have"}},
     .options = import_options,
     COMMAND_CALL("VerdictService/ImportLearnedRules", .fill = rule_import_fill,
                  .print = rule_import_print)},
    {.name = NULL}};
