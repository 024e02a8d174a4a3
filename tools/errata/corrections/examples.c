/*
 * examples.c: `errata examples`: what a layout's corrections give the next prompt.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/ask.h"
#include "tools/errata/layouts/measures.h"

static const struct request_member members[] = {
    {"document", "document_id", REQUEST_TEXT},
    {"limit", "max_examples", REQUEST_TEXT},
    {"match", "match_mode", REQUEST_TEXT},
    {"include-superseded", "include_superseded", REQUEST_TRUE},
    {"as-of-seq", "as_of_seq", REQUEST_TEXT},
    {"as-of", "as_of_time", REQUEST_TIME_AGO},
    {NULL, NULL, REQUEST_TEXT}};

/* How much surer models were with it than without. */
static struct slice gain(struct cli *cli, struct json_value row)
{
    double improvement = 0;

    return measures_double(cli, row, "confidenceImprovement", &improvement)
               ? arena_printf(&cli->arena, "%+.2f", improvement)
               : slice_of(NULL, 0);
}

static void example_cells(struct cli *cli, struct json_value row, struct slice *cells)
{
    bool partial = reply_text(cli, row, "partial").size > 0;
    bool superseded = reply_text(cli, row, "superseded").size > 0;

    cells[0] = reply_moment(cli, row, "createdAt");
    cells[1] = reply_word(cli, row, "matchLevel", "MATCH_LEVEL_");
    cells[2] = arena_printf(&cli->arena, "%s%s%s", partial ? "partial" : "",
                            partial && superseded ? ", " : "", superseded ? "superseded" : "");
    cells[3] = reply_one_line(cli, row, "inputSnippet");
    cells[4] = reply_text(cli, row, "output");
    cells[5] = gain(cli, row);
    cells[6] = reply_text(cli, row, "id");
}

static enum cli_exit print_table(struct cli *cli, struct json_value reply)
{
    static const struct table_column columns[] = {
        {.title = "CREATED", .cut = TABLE_NEVER_CUT, .extra = 3},
        {.title = "MATCH", .cut = TABLE_NEVER_CUT, .extra = 2},
        {.title = "MARKS", .cut = TABLE_NEVER_CUT, .extra = 1, .colour = COLOUR_YELLOW},
        {.title = "INPUT", .min = 20},
        {.title = "OUTPUT", .min = 20},
        {.title = "GAIN", .right = true, .cut = TABLE_NEVER_CUT, .extra = 4},
        {.title = "EXAMPLE", .cut = TABLE_NEVER_CUT, .extra = 5, .colour = COLOUR_DIM}};
    static const struct reply_rows rows = {.name = "examples",
                                           .columns = columns,
                                           .column_count = sizeof(columns) / sizeof(columns[0]),
                                           .cells = example_cells};
    struct table table;
    enum cli_exit result = reply_table(cli, reply, &rows, &table);

    if (result != CLI_OK) {
        return result;
    }
    if (table.row_count == 0) {
        struct slice withheld = reply_word(cli, reply, "withheld", "WITHHELD_");
        struct slice arm = reply_word(cli, reply, "arm", "EXPERIMENT_ARM_");

        cli_note(cli, "no examples%s%.*s%s", withheld.size > 0 ? ", withheld: " : "",
                 (int)withheld.size, (const char *)withheld.data,
                 slice_equal(arm, SLICE("CONTROL")) ? ": the document is held out" : "");
    }
    table_print(&table, &cli->out);
    if (reply_text(cli, reply, "incomplete").size > 0) {
        cli_note(cli, "older corrections were not looked at: 2,000 did not fit the options");
    }
    return CLI_OK;
}

static enum cli_exit fill_examples(struct request *request, struct cli *cli)
{
    bool hints = options_has(&cli->options, "hints");

    request_text(request, "layout_fingerprint", slice_text(cli->options.words[0]));
    if (!cli->json || hints) {
        request_text(request, "view", hints ? SLICE("HINTS") : SLICE("EXAMPLES"));
    }
    return request_add_options(request, cli, members);
}

/* What an outcome cites, where there is a document that it can be of. */
static void note_reference(struct cli *cli, struct json_value reply)
{
    struct slice reference = reply_text(cli, reply, "exposureRef");

    if (reference.size > 0 && options_has(&cli->options, "document")) {
        (void)fflush(cli->out.stream);
        cli_note(cli, "reference: %.*s", (int)reference.size, (const char *)reference.data);
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

static enum cli_exit run_examples(struct cli *cli)
{
    static const struct ask ask = {"/errata.v1.PromptService/GetExamples", fill_examples,
                                   print_examples};

    return ask_run(cli, &ask);
}

static const struct option_spec options[] = {
    {"limit", "N", "at most N examples, 1 to 20 (default 3)"},
    {"hints", NULL, "print `hint_examples`, the JSON text for the prompt, and nothing else"},
    {"document", "DOCUMENT", "the document that is to be extracted"},
    {"match", "MODE", "how the layout has to match"},
    {"include-superseded", NULL, "include examples that were corrected again later"},
    {"as-of-seq", "SEQ", "what would have been answered after that event"},
    {"as-of", "TIME|SPAN", "what would have been answered then, or that long ago"},
    {NULL, NULL, NULL}};

const struct command example_commands[] = {
    {.name = "examples",
     .arguments = "LAYOUT",
     .summary = "the newest corrections of a layout, as the next prompt gets them",
     .help =
         "Prints the newest corrections of a layout, as they are given to the next prompt. A "
         "layout without any is no error. With `--document` the reference is printed to standard "
         "error that an outcome cites (`errata extractions record --exposure`); a document that is "
         "held out of the experiment gets none.",
     .examples = {{"errata examples a1b2c3 --limit 5", NULL},
                  {"errata examples a1b2c3 --hints > hint_examples.json",
                   "the text for the prompt"},
                  {"errata examples a1b2c3 --as-of 7d", "what it was a week ago"}},
     .options = options,
     .words_min = 1,
     .words_max = 1,
     .run = run_examples},
    {.name = NULL}};
