/*
 * examples.c: `errata examples`: shows the few-shot examples of a layout.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

/* Formats the mean gain of confidence through an example. */
struct slice cell_gain(struct cli *cli, struct json_value object, const char *name)
{
    double improvement = 0;

    return measures_double(cli, object, name, &improvement)
               ? arena_printf(&cli->arena, "%+.2f", improvement)
               : slice_of(NULL, 0);
}

struct slice cell_marks(struct cli *cli, struct json_value object, const char *name)
{
    bool partial = reply_text(cli, object, "partial").size > 0;
    bool superseded = reply_text(cli, object, "superseded").size > 0;

    (void)name;
    return arena_printf(&cli->arena, "%s%s%s", partial ? "partial" : "",
                        partial && superseded ? ", " : "", superseded ? "superseded" : "");
}

static enum cli_exit print_table(struct cli *cli, struct json_value reply)
{
    struct view view;
    struct table table;
    enum cli_exit result = CLI_OK;

    view_init(&view, view_message("Example"));
    view_shorten_ids(cli, &view, reply, "examples");
    result = view_table(cli, &view, reply, "examples", NULL, &table);

    if (result != CLI_OK) {
        return result;
    }
    if (table.row_count == 0) {
        struct slice withheld = reply_word(cli, reply, "withheld", "WITHHELD_");
        struct slice arm = reply_word(cli, reply, "arm", "EXPERIMENT_ARM_");

        cli_note(cli, "no examples%s%.*s%s", withheld.size > 0 ? ", withheld: " : "",
                 SLICE_ARGS(withheld),
                 slice_equal(arm, SLICE("CONTROL")) ? ": the document is held out" : "");
    }
    table_print(&table, &cli->out);
    if (reply_text(cli, reply, "incomplete").size > 0) {
        cli_note(cli, "older corrections were not examined: 2,000 did not match the options");
    }
    return CLI_OK;
}

/* Checks that a layout or a document is named. */
static enum cli_exit check_named(struct cli *cli)
{
    if (cli->options.word_count > 0 || options_has(&cli->options, "document")) {
        return CLI_OK;
    }
    return cli_usage(
        cli,
        "LAYOUT: missing; expected a layout, or --document with a document whose layout is known");
}

static enum cli_exit fill_examples(struct request *request, struct cli *cli)
{
    bool hints = options_has(&cli->options, "hints");

    if (!cli->json || hints) {
        request_text(request, "view", hints ? SLICE("HINTS") : SLICE("EXAMPLES"));
    }
    return check_named(cli);
}

/* Prints the reference for the outcome, if the call had a document. */
static void note_reference(struct cli *cli, struct json_value reply)
{
    struct slice reference = reply_text(cli, reply, "exposureRef");

    if (reference.size > 0 && options_has(&cli->options, "document")) {
        (void)fflush(cli->out.stream);
        cli_note(cli, "reference: %.*s", SLICE_ARGS(reference));
    }
}

static enum cli_exit print_examples(struct cli *cli, struct json_value reply)
{
    enum cli_exit result = CLI_OK;

    if (!options_has(&cli->options, "hints")) {
        result = print_table(cli, reply);
    } else if (reply_text(cli, reply, "hintExamplesJson").size > 0) {
        print_json(&cli->out, reply_text(cli, reply, "hintExamplesJson"));
    }
    note_reference(cli, reply);
    return result;
}

static const struct option_spec options[] = {
    {"limit", "N", "at most N examples, 1 to 20 (default 3)"},
    {"hints", NULL, "print only `hint_examples`, the JSON text for the prompt"},
    {"document", "DOCUMENT", "the document to be extracted"},
    {"match", "MODE", "layouts to take examples from: exact or family"},
    {"grouping", "GROUPING",
     "EVENT: one example per correction; DOCUMENT: one example per document"},
    {"include-superseded", NULL, "include examples that a later correction superseded"},
    {"include-own", NULL, "include corrections of the document itself"},
    {"annotator", "ANNOTATOR", "only corrections by this kind of annotator; may be repeated"},
    {"as-of-seq", "SEQ", "list the examples as of this event"},
    {"as-of", "TIME|SPAN", "list the examples as of this time, or this long ago"},
    {NULL, NULL, NULL}};

const struct command example_commands[] = {
    {.name = "examples",
     .arguments = "[LAYOUT]",
     .summary = "list the examples of a layout for the next prompt",
     .help =
         "Prints the newest corrections of a layout that the next prompt would contain as "
         "examples. A layout without examples is not an error. With `--document`, the reference to "
         "cite with the outcome (`errata extractions record --exposure`) is printed to standard "
         "error. A document that is held out of the experiment gets no examples.",
     .examples = {{"errata examples a1b2c3 --limit 5", NULL},
                  {"errata examples --document invoice-17", "of the layout of a document"},
                  {"errata examples --document invoice-17 --match family",
                   "of all layouts of its layout family"},
                  {"errata examples a1b2c3 --hints > hint_examples.json",
                   "the text for the prompt"},
                  {"errata examples a1b2c3 --as-of 7d", "the state a week ago"}},
     .options = options,
     COMMAND_CALL("PromptService/GetExamples", .fill = fill_examples, .print = print_examples)},
    {.name = NULL}};
