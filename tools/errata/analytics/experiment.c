/*
 * experiment.c: `errata analytics experiment`: prints whether examples help, as a sentence and by
 * layout.
 */
#include "tools/errata/analytics/analytics.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/terminal/wrap.h"

/* A difference with a smaller p-value is considered significant. */
#define P_VALUE_MAX 0.05
/* The interval and the p-value are approximations for many extractions: below this number in one
 * arm they are not used. */
#define ARM_EXTRACTIONS_MIN 10
/* Smaller values are printed as `< 0.0001`. */
#define P_VALUE_SHOWN_MIN 0.0001
/* The goal, by the contract of `target_reached`. */
#define GOAL "15% goal"

/* The result of a comparison. */
enum verdict {
    VERDICT_NO_CONTROL, /* there are no extractions without examples */
    VERDICT_NO_TREATMENT,
    VERDICT_NO_RATIO, /* every extraction without examples was corrected */
    VERDICT_FEW, /* there are too few extractions */
    VERDICT_UNCLEAR, /* there are enough extractions, but the difference may be chance */
    VERDICT_WORSE,
    VERDICT_BETTER,
    VERDICT_REACHED
};

static bool is_empty(struct cli *cli, struct json_value arm)
{
    return slice_equal(measures_number(cli, arm, "extractionCount"), SLICE("0"));
}

static bool is_small(struct cli *cli, struct json_value arm)
{
    double count = 0;

    return !measures_double(cli, arm, "extractionCount", &count) || count < ARM_EXTRACTIONS_MIN;
}

/* Returns whether the difference is significant. */
static bool is_certain(struct cli *cli, struct json_value comparison)
{
    double p_value = 1;

    return measures_double(cli, comparison, "pValue", &p_value) && p_value < P_VALUE_MAX;
}

static enum verdict judge(struct cli *cli, struct json_value comparison)
{
    double improvement = 0;

    if (is_empty(cli, reply_member(comparison, "treatment"))) {
        return VERDICT_NO_TREATMENT;
    }
    if (is_empty(cli, reply_member(comparison, "control"))) {
        return VERDICT_NO_CONTROL;
    }
    if (!measures_double(cli, comparison, "relativeImprovement", &improvement)) {
        return VERDICT_NO_RATIO;
    }
    if (is_small(cli, reply_member(comparison, "treatment")) ||
        is_small(cli, reply_member(comparison, "control"))) {
        return VERDICT_FEW;
    }
    if (!is_certain(cli, comparison)) {
        return VERDICT_UNCLEAR;
    }
    if (improvement < 0) {
        return VERDICT_WORSE;
    }
    return reply_text(cli, comparison, "targetReached").size > 0 ? VERDICT_REACHED : VERDICT_BETTER;
}

static struct slice p_value_text(struct cli *cli, struct json_value comparison)
{
    double p_value = 0;

    if (!measures_double(cli, comparison, "pValue", &p_value)) {
        return slice_of(NULL, 0);
    }
    if (p_value < P_VALUE_SHOWN_MIN) {
        return SLICE("p < 0.0001");
    }
    return arena_printf(&cli->arena, p_value < 0.01 ? "p = %.4f" : "p = %.3f", p_value);
}

static struct slice interval_text(struct cli *cli, struct json_value comparison)
{
    struct slice low = analytics_change(cli, comparison, "improvementLow");
    struct slice high = analytics_change(cli, comparison, "improvementHigh");

    if (low.size + high.size == 0) {
        return low;
    }
    return arena_printf(&cli->arena, "%.*s to %.*s", low.size > 0 ? (int)low.size : 8,
                        low.size > 0 ? (const char *)low.data : "anything",
                        high.size > 0 ? (int)high.size : 8,
                        high.size > 0 ? (const char *)high.data : "anything");
}

/* --- the sentences --- */

static const char *conclusion(enum verdict verdict, bool reached)
{
    switch (verdict) {
    case VERDICT_REACHED:
        return "the " GOAL " is reached";
    case VERDICT_BETTER:
        return "examples help, but the " GOAL " is not reached";
    case VERDICT_WORSE:
        return "results are worse with examples, and the " GOAL " is not reached";
    case VERDICT_FEW:
        return reached ? "too little data: this would reach the " GOAL ", but may be chance"
                       : "too little data: this may be chance";
    case VERDICT_UNCLEAR:
        return reached ? "no clear difference: this would reach the " GOAL ", but may be chance"
                       : "no clear difference: this may be chance";
    case VERDICT_NO_CONTROL:
    case VERDICT_NO_TREATMENT:
    case VERDICT_NO_RATIO:
        break;
    }
    return "";
}

/* `With examples 91.2% of extractions needed no correction, without 78.0%: +16.9% (95% interval +9.1%
 * to +25.3%, p = 0.0002); the 15% goal is reached.` */
static struct slice compared(struct cli *cli, struct json_value comparison, enum verdict verdict)
{
    struct slice with = analytics_percent(cli, reply_member(comparison, "treatment"), "accuracy");
    struct slice without = analytics_percent(cli, reply_member(comparison, "control"), "accuracy");
    struct slice change = analytics_change(cli, comparison, "relativeImprovement");
    struct slice interval = interval_text(cli, comparison);
    struct slice p_value = p_value_text(cli, comparison);
    bool reached = reply_text(cli, comparison, "targetReached").size > 0;

    return arena_printf(&cli->arena,
                        "With examples %.*s of extractions needed no correction, without %.*s: "
                        "%.*s (95%% interval %.*s, %.*s); %s.",
                        SLICE_ARGS(with), SLICE_ARGS(without), SLICE_ARGS(change),
                        SLICE_ARGS(interval), SLICE_ARGS(p_value), conclusion(verdict, reached));
}

/* Prints the sentence if only one arm has extractions, or if there is no ratio. */
static struct slice not_compared(struct cli *cli, struct json_value comparison,
                                 enum verdict verdict)
{
    bool control = verdict == VERDICT_NO_TREATMENT;
    struct json_value arm = reply_member(comparison, control ? "control" : "treatment");
    struct slice accuracy = analytics_percent(cli, arm, "accuracy");

    if (verdict == VERDICT_NO_RATIO) {
        return arena_printf(&cli->arena,
                            "With examples %.*s of extractions needed no correction, without none "
                            "did: there is no ratio.",
                            SLICE_ARGS(accuracy));
    }
    if (accuracy.size == 0) {
        return SLICE("There is nothing to compare yet: no extraction of a layout with 3 or more "
                     "examples counts in the experiment.");
    }
    return arena_printf(
        &cli->arena,
        "%s %.*s of extractions needed no correction; there is none %s to compare with.",
        control ? "Without examples" : "With examples", SLICE_ARGS(accuracy),
        control ? "with examples" : "without");
}

static void print_sentence(struct cli *cli, struct slice sentence)
{
    wrap_message(&cli->out, 0, 0, sentence);
}

/* `Not compared: 3 without a document, 2 of layouts with fewer than 3 examples.`; nothing if there are none. */
static void print_excluded(struct cli *cli, struct json_value comparison)
{
    static const struct {
        const char *member;
        const char *reason;
    } reasons[] = {
        {"noDocumentCount", "without a document"},
        {"furtherExtractionCount", "further extractions of a document"},
        {"noHoldoutCount", "of documents served without a holdout"},
        {"mixedArmsCount", "with references of both arms"},
        {"layoutNotReadyCount", "of layouts with fewer than 3 examples"},
    };
    struct json_value excluded = reply_member(comparison, "excluded");
    struct slice sentence = {NULL, 0};

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct slice number = measures_number(cli, excluded, reasons[i].member);
        struct slice count = reply_count(cli, excluded, reasons[i].member);

        if (slice_equal(number, SLICE("0"))) {
            continue;
        }
        sentence = arena_printf(&cli->arena, "%.*s%s%.*s %s", SLICE_ARGS(sentence),
                                sentence.size > 0 ? ", " : "Not compared: ", SLICE_ARGS(count),
                                reasons[i].reason);
    }
    if (sentence.size > 0) {
        print_sentence(cli, arena_printf(&cli->arena, "%.*s.", SLICE_ARGS(sentence)));
    }
}

/* Prints the numbers of extractions compared, and a hint if no documents are held out. */
static void print_ground(struct cli *cli, struct json_value reply, struct json_value comparison)
{
    struct slice with = analytics_counted(cli, reply_member(comparison, "treatment"),
                                          "extractionCount", "extraction", "extractions");
    struct slice without = reply_count(cli, reply_member(comparison, "control"), "extractionCount");
    struct slice holdout = measures_number(cli, reply, "holdoutPercent");

    print_sentence(
        cli,
        arena_printf(
            &cli->arena,
            "Compared: %.*s with examples and %.*s without; %.*s%% of documents are held out now.",
            SLICE_ARGS(with), SLICE_ARGS(without), SLICE_ARGS(holdout)));
    print_excluded(cli, comparison);
    if (slice_equal(holdout, SLICE("0"))) {
        cli_note(cli, "hint: `errata org settings --holdout 10` holds a tenth of documents out");
    }
}

static struct slice field_sentence(struct cli *cli, struct json_value comparison)
{
    struct slice with =
        analytics_percent(cli, reply_member(comparison, "treatment"), "fieldAccuracy");
    struct slice without =
        analytics_percent(cli, reply_member(comparison, "control"), "fieldAccuracy");

    if (with.size == 0 || without.size == 0) {
        return slice_of(NULL, 0);
    }
    return arena_printf(
        &cli->arena, "By field: with examples %.*s of fields needed no correction, without %.*s.",
        SLICE_ARGS(with), SLICE_ARGS(without));
}

static bool has_layouts(struct json_value reply)
{
    struct reply_walk walk = reply_walk(reply, "layouts");

    return reply_next(&walk);
}

static void print_organization(struct cli *cli, struct json_value reply)
{
    struct json_value comparison = reply_member(reply, "organization");
    enum verdict verdict = judge(cli, comparison);
    struct slice fields = field_sentence(cli, comparison);

    print_sentence(cli, verdict <= VERDICT_NO_RATIO ? not_compared(cli, comparison, verdict)
                                                    : compared(cli, comparison, verdict));
    if (fields.size > 0) {
        print_sentence(cli, fields);
    }
    print_ground(cli, reply, comparison);
    if (has_layouts(reply)) {
        print_text(&cli->out, "\n");
    }
}

/* --- the layouts --- */

static const char *verdict_word(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_NO_CONTROL:
        return "none held out";
    case VERDICT_NO_TREATMENT:
        return "all held out";
    case VERDICT_NO_RATIO:
        return "no ratio";
    case VERDICT_FEW:
        return "too little data";
    case VERDICT_UNCLEAR:
        return "unclear";
    case VERDICT_WORSE:
        return "worse";
    case VERDICT_BETTER:
        return "better";
    case VERDICT_REACHED:
        return "goal reached";
    }
    return "";
}

/* Formats the share of an arm, such as `91.2% of 320`. */
struct slice cell_arm(struct cli *cli, struct json_value object, const char *name)
{
    struct json_value arm = reply_member(object, name);
    struct slice accuracy = analytics_percent(cli, arm, "accuracy");
    struct slice count = reply_count(cli, arm, "extractionCount");

    return accuracy.size == 0
               ? accuracy
               : arena_printf(&cli->arena, "%.*s of %.*s", SLICE_ARGS(accuracy), SLICE_ARGS(count));
}

struct slice cell_p_value(struct cli *cli, struct json_value object, const char *name)
{
    struct slice p_value = p_value_text(cli, object);

    (void)name;
    p_value = p_value.size > 2 ? slice_after(p_value, 2) : p_value;
    return slice_starts_with(p_value, SLICE("= ")) ? slice_after(p_value, 2) : p_value;
}

struct slice cell_interval(struct cli *cli, struct json_value object, const char *name)
{
    (void)name;
    return interval_text(cli, object);
}

struct slice cell_verdict(struct cli *cli, struct json_value object, const char *name)
{
    (void)name;
    return slice_text(verdict_word(judge(cli, object)));
}

void experiment_colour(struct cli *cli, struct json_value row, struct table *table)
{
    switch (judge(cli, reply_member(row, "comparison"))) {
    case VERDICT_REACHED:
    case VERDICT_BETTER:
        table_colour(table, 7, COLOUR_GREEN);
        break;
    case VERDICT_WORSE:
        table_colour(table, 7, COLOUR_RED);
        break;
    case VERDICT_NO_CONTROL:
    case VERDICT_NO_TREATMENT:
    case VERDICT_NO_RATIO:
    case VERDICT_FEW:
    case VERDICT_UNCLEAR:
        table_colour(table, 7, COLOUR_DIM);
        break;
    }
}

enum cli_exit experiment_head(struct cli *cli, struct json_value reply)
{
    struct json_value comparison = reply_member(reply, "organization");
    struct slice fields[VIEW_CSV_FIELDS_MAX] = {{NULL, 0}};
    size_t count = 2; /* the organisation has no layout, and no count of examples */

    if (!view_csv_wanted(cli)) {
        print_organization(cli, reply);
        return CLI_OK;
    }
    view_csv_append(cli, view_message("ExperimentComparison"), &comparison, fields, &count);
    return view_csv_print(cli, fields, count);
}

const struct option_spec experiment_options[] = {CSV_OPTION, PAGING_OPTIONS, {NULL, NULL, NULL}};
