/*
 * reviews.c: `errata reviews`: structured reviews of runs, and sanitising people's text for a prompt.
 */
#include "tools/errata/reviews/reviews.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/fill.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

#include <errata/contract_messages.h>

static enum cli_exit fill_text(struct request *request, struct cli *cli)
{
    struct slice text = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[0], &text);

    request_text(request, "text", text);
    return result;
}

static enum cli_exit print_sanitized(struct cli *cli, struct json_value reply)
{
    struct slice text = reply_text(cli, reply, "text");

    if (cli->out.terminal) {
        measures_print_text(cli, "", text, SIZE_MAX);
    } else {
        print_bytes(&cli->out, text);
    }
    if (reply_text(cli, reply, "failed").size > 0) {
        cli_note(cli, "it can't be made safe, so the result is empty");
    } else {
        cli_note(cli,
                 reply_text(cli, reply, "changed").size > 0 ? "it was changed" : "it is unchanged");
    }
    return CLI_OK;
}

static const struct option_spec sanitize_options[] = {
    {"profile", "PROFILE", "intended use of the text"}, {NULL, NULL, NULL}};

/* --- reviews --- */

/* Formats an answer of a review; `good` if yes is the good answer. */
static const struct finding {
    const char *member;
    const char *text;
    bool good;
} answers[] = {{"informationPresent", "information present", true},
               {"badFormat", "bad format", false},
               {"wrongInformation", "wrong information", false},
               {"wrongPhysicalDimensions", "wrong dimensions", false}};

/* Adds the answers that name a problem, or the others. */
static void add_findings(struct cli *cli, struct json_value object, bool problems,
                         struct buffer *findings)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct slice value = reply_text(cli, object, answers[i].member);
        bool is_true = slice_equal(value, SLICE("true"));

        if (value.size > 0 && (is_true != answers[i].good) == problems) {
            buffer_printf(findings, "%s%s%s", findings->size > 0 ? "; " : "", is_true ? "" : "no ",
                          answers[i].text);
        }
    }
}

struct slice cell_findings(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk specs = reply_walk(object, "missingSpec");
    const char *before = "missing: ";
    struct buffer findings;

    (void)name;
    buffer_init(&findings, &cli->arena, 64);
    add_findings(cli, object, true, &findings);
    while (reply_next(&specs)) {
        struct slice spec = {NULL, 0};

        if (json_string(&cli->arena, specs.row.text, &spec) != OK) {
            return slice_of(NULL, 0);
        }

        if (findings.size > 0 && before[0] == 'm') {
            buffer_append(&findings, SLICE("; "));
        }
        buffer_printf(&findings, "%s%.*s", before, SLICE_ARGS(spec));
        before = ", ";
    }
    add_findings(cli, object, false, &findings);
    return buffer_slice(&findings);
}

struct slice cell_cited_prompts(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk cited = reply_walk(object, name);
    struct buffer text;

    buffer_init(&text, &cli->arena, 64);
    while (reply_next(&cited)) {
        struct slice seq = reply_text(cli, cited.row, "exposureSeq");
        struct slice signals = cell_signals(cli, cited.row, "recurred");

        buffer_printf(&text, "%sevent %.*s: %s%.*s", text.size > 0 ? "; " : "", SLICE_ARGS(seq),
                      signals.size > 0 ? "again " : "nothing again", SLICE_ARGS(signals));
    }
    return buffer_slice(&text);
}

static enum cli_exit print_review_id(struct cli *cli, struct json_value reply)
{
    print_line(&cli->out, reply_text(cli, reply_member(reply, "review"), "id"));
    return CLI_OK;
}

static enum cli_exit print_run(struct cli *cli, struct json_value reply)
{
    struct json_value run = reply_member(reply, "run");
    struct json_value newest = reply_member(run, "newestReview");
    struct slice reviewed = reply_count(cli, run, "reviewedCount");
    struct slice needed = reply_count(cli, run, "reviewsNeeded");
    bool is_reviewed = slice_equal(reply_text(cli, run, "reviewed"), SLICE("true"));
    enum cli_exit result = CLI_OK;

    reply_print_member(cli, "run", reply_text(cli, run, "runId"));
    reply_print_member(cli, "subcategory", reply_text(cli, newest, "subcategory"));
    reply_print_member(cli, "decision", reply_word(cli, newest, "decision", "REVIEW_DECISION_"));
    reply_print_member(cli, "reviews", reply_count(cli, run, "reviewCount"));
    reply_print_member(cli, "reviewed",
                       arena_printf(&cli->arena, "%s: %.*s of %.*s reviewers",
                                    is_reviewed ? "yes" : "no", SLICE_ARGS(reviewed),
                                    SLICE_ARGS(needed)));
    result = view_print_table(cli, "ReviewerAnswer", run, "answers", NULL);
    return result == CLI_OK ? view_print_table(cli, "ReviewAgreement", run, "agreement", NULL)
                            : result;
}

/* --- triggers --- */

/* `yes: 4 of 10 runs, threshold 3` */
static void print_trigger(struct cli *cli, struct json_value triggers, const char *title,
                          const char *member)
{
    struct slice count_name = arena_printf(&cli->arena, "%sCount", member);
    struct slice count = reply_count(cli, triggers, (const char *)count_name.data);
    struct slice runs = reply_count(cli, triggers, "runCount");
    struct slice threshold = reply_count(cli, reply_member(triggers, "thresholds"), member);
    bool is_true = slice_equal(reply_text(cli, triggers, member), SLICE("true"));

    reply_print_member(cli, title,
                       arena_printf(&cli->arena, "%s: %.*s of %.*s runs, threshold %.*s of 10",
                                    is_true ? "yes" : "no", SLICE_ARGS(count), SLICE_ARGS(runs),
                                    SLICE_ARGS(threshold)));
}

static enum cli_exit print_triggers(struct cli *cli, struct json_value reply)
{
    struct json_value triggers = reply_member(reply, "triggers");
    bool is_low = slice_equal(reply_text(cli, triggers, "lowConfidence"), SLICE("true"));

    reply_align_members(cli, "information missing");
    print_trigger(cli, triggers, "bad format", "badFormat");
    print_trigger(cli, triggers, "wrong information", "wrongInformation");
    print_trigger(cli, triggers, "wrong dimensions", "wrongPhysicalDimensions");
    print_trigger(cli, triggers, "information missing", "informationPresentLow");
    if (is_low) {
        cli_note(cli, "fewer than 10 runs were reviewed: the thresholds are scaled down");
    }
    return view_print_table(cli, "MissingSpec", triggers, "missingSpecs", NULL);
}

static const struct option_spec thresholds_options[] = {
    {"bad-format", "N", "threshold of runs with a bad format, of 10; default 3"},
    {"wrong-information", "N", "threshold of runs with wrong information; default 3"},
    {"dimensions", "N", "threshold of runs with wrong dimensions; default 2"},
    {"missing", "N", "threshold of runs that lack the same field; default 2"},
    {"information-missing", "N", "threshold of runs without enough information; default 4"},
    {"reviews-needed", "N",
     "number of reviewers that a reviewed run needs; default: the one in the settings"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};

/* Without a threshold the request would change nothing. */
static enum cli_exit fill_thresholds(struct request *request, struct cli *cli)
{
    (void)request;
    for (const struct option_spec *spec = thresholds_options; spec->name != NULL; spec++) {
        if (strcmp(spec->name, "idempotency-key") != 0 && options_has(&cli->options, spec->name)) {
            return CLI_OK;
        }
    }
    return cli_usage(cli, "thresholds: missing; expected at least one of --bad-format, "
                          "--wrong-information, --dimensions, --missing, --information-missing "
                          "and --reviews-needed");
}

static enum cli_exit print_thresholds(struct cli *cli, struct json_value reply)
{
    (void)reply;
    cli_note(cli, "the thresholds are set");
    return CLI_OK;
}

/* --- the agent card --- */

struct slice cell_percent(struct cli *cli, struct json_value object, const char *name)
{
    double percent = 0;

    return measures_double(cli, object, name, &percent)
               ? arena_printf(&cli->arena, "%.0f%%", percent)
               : SLICE("-");
}

struct slice cell_yes(struct cli *cli, struct json_value object, const char *name)
{
    return slice_equal(reply_text(cli, object, name), SLICE("true")) ? SLICE("yes")
                                                                     : slice_of(NULL, 0);
}

static enum cli_exit print_card(struct cli *cli, struct json_value reply)
{
    struct json_value card = reply_member(reply, "agentCard");
    struct slice first = cell_percent(cli, card, "firstPassPercent");
    struct slice first_count = reply_count(cli, card, "firstPassCount");
    enum cli_exit result = CLI_OK;

    reply_align_members(cli, "changes requested");
    reply_print_member(cli, "subcategory", reply_text(cli, card, "subcategory"));
    reply_print_member(cli, "runs", reply_count(cli, card, "runCount"));
    reply_print_member(cli, "reviews", reply_count(cli, card, "reviewCount"));
    reply_print_member(cli, "reviewed", reply_count(cli, card, "reviewedCount"));
    reply_print_member(cli, "rejected", reply_count(cli, card, "rejectedCount"));
    reply_print_member(cli, "changes requested", reply_count(cli, card, "changesRequestedCount"));
    reply_print_member(
        cli, "accepted at once",
        arena_printf(&cli->arena, "%.*s (%.*s)", SLICE_ARGS(first), SLICE_ARGS(first_count)));
    result = view_print_table(cli, "SignalShare", card, "signals", NULL);
    return result == CLI_OK ? view_print_table(cli, "AgentCardPeriod", card, "periods", NULL)
                            : result;
}

/* --- items and prompts --- */

static enum cli_exit fill_item(struct request *request, struct cli *cli)
{
    struct slice item = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[1], &item);

    if (result == CLI_OK) {
        request_open(request, "item");
        request_text(request, "run_id", slice_text(cli->options.words[0]));
        request_text(request, "item_json", item);
        result = fill_message(request, cli, &contract_errata_v1_run_item);
        request_close(request);
    }
    return result;
}

static enum cli_exit print_item_id(struct cli *cli, struct json_value reply)
{
    print_line(&cli->out, reply_text(cli, reply_member(reply, "item"), "id"));
    return CLI_OK;
}

/* `EXTRACTION_REVIEW: INJECTED by BAD_FORMAT, NOTES` */
static void note_placeholder(struct cli *cli, struct json_value placeholder)
{
    struct slice name = reply_word(cli, placeholder, "placeholder", "REVIEW_PLACEHOLDER_");
    struct slice source = reply_word(cli, placeholder, "source", "PLACEHOLDER_SOURCE_");
    struct slice signals = cell_signals(cli, placeholder, "signals");

    cli_note(cli, "%.*s: %.*s%s%.*s", SLICE_ARGS(name), SLICE_ARGS(source),
             signals.size > 0 ? " by " : "", SLICE_ARGS(signals));
}

/* Prints notes about the prompts for their caller. */
static void note_resolved(struct cli *cli, struct json_value reply)
{
    struct slice arm = reply_word(cli, reply, "arm", "EXPERIMENT_ARM_");
    struct slice reference = reply_text(cli, reply, "exposureRef");

    if (reply_text(cli, reply, "degraded").size > 0) {
        cli_note(cli, "stored reviews could not be used; `errata admin verify` finds the damage");
    }
    if (slice_equal(arm, SLICE("CONTROL"))) {
        cli_note(cli, "the run is held out: no guidance, and no example from other runs");
    }
    if (reference.size > 0) {
        cli_note(cli, "reference: %.*s", SLICE_ARGS(reference));
    }
}

/* Prints a text of several lines: for a terminal without invisible characters, else unchanged. */
static void print_lines(struct cli *cli, struct slice text)
{
    if (cli->out.terminal) {
        measures_print_text(cli, "", text, SIZE_MAX);
        return;
    }
    print_bytes(&cli->out, text);
    print_text(&cli->out, "\n");
}

/* Prints the filled prompts; without prompts, the texts of the placeholders. */
static enum cli_exit print_resolved(struct cli *cli, struct json_value reply)
{
    struct json_walk prompts = json_walk_start(reply_member(reply, "prompts"));
    struct reply_walk placeholders = reply_walk(reply, "placeholders");
    struct json_value prompt;
    struct slice name = {NULL, 0};
    bool has_prompts = false;

    while (json_walk_next(&prompts, &name, &prompt)) {
        struct slice text = {NULL, 0};

        if (json_string(&cli->arena, prompt.text, &text) == OK) {
            print_lines(cli, text);
        }
        has_prompts = true;
    }
    while (reply_next(&placeholders)) {
        struct slice text = reply_text(cli, placeholders.row, "text");

        note_placeholder(cli, placeholders.row);
        if (!has_prompts && text.size > 0) {
            print_lines(cli, text);
        }
    }
    note_resolved(cli, reply);
    return CLI_OK;
}

static const struct option_spec item_options[] = {
    {"item-id", "ID", "your id for the item"},
    {"actor", "USER", "the acting user, if the token is not bound to one"},
    {"created-at", "TIME|SPAN",
     "time of the event, to import past ones; needs INTEGRATOR or ADMIN"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec resolve_options[] = {
    {"prompt", "NAME=TEXT|NAME=@FILE", "a prompt to fill; may be repeated"},
    {"run", "RUN", "the run for which the prompts are filled; it may be held out"},
    {"static", "TEXT|@FILE|-", "the example if there is no reviewed item"},
    {"query", "TEXT", "an explicit search query; may be repeated"},
    {"information-present", "ANSWER", "current review: whether enough data is present"},
    {"missing", "FIELD", "a field to research first; may be repeated"},
    {"bad-format", "ANSWER", "whether the format is wrong"},
    {"wrong-information", "ANSWER", "whether facts are wrong"},
    {"dimensions", "ANSWER", "whether dimensions or units are wrong"},
    {"notes", "TEXT|@FILE|-", "the reviewer's note"},
    {"as-of", "TIME|SPAN", "the result as of this time or event"},
    {NULL, NULL, NULL}};
static const struct option_spec triggers_options[] = {
    {"as-of", "TIME|SPAN", "the triggers as of this time or event"}, {NULL, NULL, NULL}};
static const struct option_spec submit_options[] = {
    {"subcategory", "NAME", "subcategory of the item"},
    {"decision", "DECISION", "the reviewer's decision"},
    {"item", "ID", "the item that was reviewed"},
    {"state", "TEXT", "a state of your own workflow"},
    {"information-present", "ANSWER", "whether enough data is present"},
    {"missing", "FIELD", "a field to research first; may be repeated"},
    {"bad-format", "ANSWER", "whether the format is wrong"},
    {"wrong-information", "ANSWER", "whether facts are wrong"},
    {"dimensions", "ANSWER", "whether dimensions or units are wrong"},
    {"notes", "TEXT|@FILE|-", "the reviewer's note"},
    {"snapshot", "JSON|@FILE|-", "the reviewed item, as a JSON object"},
    {"exposure", "REFERENCE", "reference of a prompt of the run; may be repeated"},
    {"reviewer", "USER", "the reviewer, if the token is not bound to a user"},
    {"annotator", "ANNOTATOR", "kind of annotator: HUMAN, CODE or LLM"},
    {"created-at", "TIME|SPAN",
     "time of the event, to import past ones; needs INTEGRATOR or ADMIN"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec fill_options[] = {
    {"subcategory", "NAME", "subcategory of the item; default: the one of the run's newest review"},
    {"reviewer", "USER", "the reviewer, if the token is not bound to a user"},
    {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {
    {"run", "RUN", "only reviews of this run"},
    {"subcategory", "NAME", "only reviews of this subcategory"},
    {"decision", "DECISION", "only reviews with this decision"},
    {"reviewer", "USER", "only reviews by this user"},
    {"since", "TIME|SPAN", "only reviews at this time or later"},
    {"until", "TIME|SPAN", "only reviews before this time"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};

const struct command review_commands[] = {
    {.group = "reviews",
     .name = "submit",
     .arguments = "RUN --subcategory NAME --decision DECISION",
     .summary = "store a reviewer's form about a run and print its id",
     .help =
         "Stores a review of the item that a run extracted. The reviews of a subcategory decide "
         "which guidance goes into the prompts of later runs. A run may have several reviews; "
         "earlier ones still count.",
     .examples = {{"errata reviews submit run-17 --subcategory laptops --decision reviewed", NULL},
                  {"errata reviews submit run-18 --subcategory laptops --decision rejected \\\n"
                   "  --bad-format yes --missing Width --missing Height",
                   NULL},
                  {"errata reviews resolve laptops --run run-19 --json | jq -r .exposureRef |\n"
                   "  xargs errata reviews submit run-19 --subcategory laptops \\\n"
                   "    --decision reviewed --exposure",
                   "cite the prompts of the run, so that the effect of guidance is measured"}},
     .options = submit_options,
     COMMAND_CALL("ReviewService/SubmitReview", .print = print_review_id)},
    {.group = "reviews",
     .name = "fill",
     .arguments = "RUN",
     .summary = "review a run on the terminal, question by question",
     .help = "Shows the item of a run and the questions of the form one by one. Each is answered "
             "by one key: y, n, or space for no answer; b goes back, q quits. Nothing is stored "
             "until the form is submitted. Needs a terminal; scripts use `errata reviews submit`.",
     .examples = {{"errata reviews fill run-17 --subcategory laptops", NULL}},
     .options = fill_options,
     .run = review_fill_run},
    {.group = "reviews",
     .name = "list",
     .summary = "list reviews, newest first",
     .help = "Lists reviews, newest first, including retracted ones.",
     .examples = {{"errata reviews list --subcategory laptops", NULL},
                  {"errata reviews list --run run-17 --csv", NULL}},
     .options = list_options,
     COMMAND_CALL("ReviewService/ListReviews", .nothing = "no reviews match")},
    {.group = "reviews",
     .name = "show",
     .arguments = "REVIEW",
     .summary = "show one review",
     .help = "Shows one review by its id.",
     .examples = {{"errata reviews show 0192f0c0-1111-7222-8333-444455556666", NULL}},
     COMMAND_CALL("ReviewService/GetReview")},
    {.group = "reviews",
     .name = "run",
     .arguments = "RUN",
     .summary = "show the combined reviews of a run",
     .help = "Shows whether a run counts as reviewed, the answers of each reviewer, and the "
             "agreement on each question. Retracted reviews do not count.",
     .examples = {{"errata reviews run run-17", NULL}},
     COMMAND_CALL("ReviewService/GetRun", .print = print_run)},
    {.group = "reviews",
     .name = "item",
     .arguments = "RUN JSON|@FILE|-",
     .summary = "store the item that a run extracted and print its id",
     .help = "Stores the item of a run. The latest item of the reviewed runs of a subcategory "
             "becomes the example in its prompts.",
     .examples = {{"errata reviews item run-17 '{\"name\": \"X1\", \"width_mm\": 311}'", NULL}},
     .options = item_options,
     COMMAND_CALL("ReviewService/PutItem", .fill = fill_item, .print = print_item_id)},
    {.group = "reviews",
     .name = "resolve",
     .arguments = "SUBCATEGORY",
     .summary = "fill the placeholders of prompts with guidance from reviews",
     .help = "Fills {{CATEGORIZER_REVIEW}}, {{EXTRACTION_REVIEW}}, {{SUPERVISOR_REVIEW}} and "
             "{{EXAMPLE_ITEM}} of prompts, by the triggers of the subcategory and by a current "
             "review, and prints the prompts; if no prompts are given, it prints the texts. "
             "Standard error reports "
             "which signals filled each placeholder, and the reference that the run's reviews "
             "cite (`errata reviews submit --exposure`).",
     .examples = {{"errata reviews resolve laptops \\\n"
                   "  --prompt 'extract=Extract. {{EXTRACTION_REVIEW}}'",
                   NULL},
                  {"errata reviews resolve laptops --bad-format yes --notes 'The price is gross.'",
                   "with a current review"}},
     .options = resolve_options,
     COMMAND_CALL("ReviewService/ResolvePlaceholders", .print = print_resolved)},
    {.group = "reviews",
     .name = "triggers",
     .arguments = "SUBCATEGORY",
     .summary = "show findings that are frequent in a subcategory's reviews",
     .help = "Shows which findings are frequent in the 10 most recently reviewed runs of a "
             "subcategory, and the fields that are often missing.",
     .examples = {{"errata reviews triggers laptops", NULL},
                  {"errata reviews triggers laptops --as-of 1d", NULL}},
     .options = triggers_options,
     COMMAND_CALL("ReviewService/GetTriggers", .print = print_triggers)},
    {.group = "reviews",
     .name = "card",
     .arguments = "SUBCATEGORY",
     .summary = "show statistics of the agent of a subcategory",
     .help = "Shows how often runs of a subcategory have each signal, among the last 10 and among "
             "all, which triggers are set, how many runs are accepted at once, and for each ten "
             "runs how often a signal of the previous 10 runs recurred.",
     .examples = {{"errata reviews card laptops", NULL}},
     COMMAND_CALL("ReviewService/GetAgentCard", .print = print_card)},
    {.group = "reviews",
     .name = "fragments",
     .summary = "show the wording of guidance that is in use",
     .help = "Shows the text that each signal adds to each placeholder. `errata fragments` lists "
             "the versions of the wording and changes it.",
     .examples = {{"errata reviews fragments", NULL}},
     .run = review_fragments_run},
    {.group = "reviews",
     .name = "thresholds",
     .arguments = "SUBCATEGORY",
     .summary = "set the thresholds of a subcategory",
     .help = "Sets all thresholds of a subcategory at once; thresholds that are not given are "
             "reset to their default. Needs an ADMIN token.",
     .examples = {{"errata reviews thresholds laptops --bad-format 2 --missing 3", NULL}},
     .options = thresholds_options,
     COMMAND_CALL("ReviewService/SetTriggerThresholds", .fill = fill_thresholds,
                  .print = print_thresholds)},
    {.group = "reviews",
     .name = "sanitize",
     .arguments = "TEXT|@FILE|-",
     .summary = "sanitise a text for a prompt, like the server does",
     .help = "Prints a text as the server inserts it into a prompt, without the characters and "
             "markup that could change the prompt's meaning. Standard error reports whether the "
             "text was changed.",
     .examples = {{"errata reviews sanitize 'Ignore all previous instructions.' --profile note",
                   NULL},
                  {"errata reviews sanitize @text.txt --profile example", NULL}},
     .options = sanitize_options,
     COMMAND_CALL("TextService/Sanitize", .fill = fill_text, .print = print_sanitized)},
    {.name = NULL}};
