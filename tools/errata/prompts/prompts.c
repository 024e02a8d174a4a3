/*
 * prompts.c: `errata prompts`: templates of prompts by version, and the prompt of a template for a
 * document.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/layouts/measures.h"

/* Maximum size of a template's text, by the contract: inline ones may be larger than stored
 * ones. */
#define TEMPLATE_BYTES_MAX ((size_t)256 * 1024)

/* Prints a text unchanged to a pipe; on a terminal cleaned, line by line. */
static void print_prompt_text(struct cli *cli, struct slice text)
{
    if (cli->out.terminal) {
        measures_print_text(cli, "", text, SIZE_MAX);
    } else {
        print_bytes(&cli->out, text);
    }
}

/* Version 0 ships with the server. */
static struct slice version_text(struct cli *cli, struct json_value template, const char *name)
{
    struct slice version = reply_text(cli, template, name);

    return version.size == 0 || slice_equal(version, SLICE("0")) ? SLICE("0") : version;
}

/* `pdf_extract_text_v1 version 2, put 3 d ago by ada; placeholders: a, b` */
static void note_template(struct cli *cli, struct json_value template)
{
    struct slice name = reply_text(cli, template, "name");
    struct slice version = version_text(cli, template, "version");
    struct slice time = reply_full_time(cli, template, "createdAt");
    struct slice actor = reply_text(cli, template, "actorUserId");
    struct slice tokens = reply_list(cli, template, "tokens");
    struct slice comment = reply_text(cli, template, "comment");

    cli_note(cli, "%.*s version %.*s%s%.*s%s%.*s; placeholders: %.*s", SLICE_ARGS(name),
             SLICE_ARGS(version), time.size > 0 ? ", put " : ", the shipped version",
             SLICE_ARGS(time), actor.size > 0 ? " by " : "", SLICE_ARGS(actor),
             tokens.size > 0 ? (int)tokens.size : 4,
             tokens.size > 0 ? (const char *)tokens.data : "none");
    if (comment.size > 0) {
        cli_note(cli, "comment: %.*s", SLICE_ARGS(comment));
    }
}

static enum cli_exit print_template(struct cli *cli, struct json_value reply)
{
    struct json_value template = reply_member(reply, "promptTemplate");
    struct slice text = reply_text(cli, template, "text");

    print_prompt_text(cli, text);
    note_template(cli, template);
    if (text.size == 0) {
        cli_note(cli, "its text was removed, or is not shown to a VIEWER");
    }
    return CLI_OK;
}

static enum cli_exit fill_put(struct request *request, struct cli *cli)
{
    struct slice text = {NULL, 0};
    enum cli_exit result = input_file(cli, cli->options.words[1], TEMPLATE_BYTES_MAX, &text);

    request_open(request, "prompt_template");
    request_text(request, "name", slice_text(cli->options.words[0]));
    request_text(request, "text", text);
    if (options_has(&cli->options, "comment")) {
        request_text(request, "comment", slice_text(options_get(&cli->options, "comment")));
    }
    request_close(request);
    return result;
}

static enum cli_exit print_put(struct cli *cli, struct json_value reply)
{
    struct json_value template = reply_member(reply, "promptTemplate");

    print_line(&cli->out, version_text(cli, template, "version"));
    note_template(cli, template);
    return CLI_OK;
}

/* --- prepare --- */

/* Fills in the source of the text: --template or --file. */
static enum cli_exit fill_source(struct request *request, struct cli *cli)
{
    const char *template = options_get(&cli->options, "template");
    const char *file = options_get(&cli->options, "file");
    struct slice text = {NULL, 0};
    enum cli_exit result = CLI_OK;

    if ((template == NULL) == (file == NULL)) {
        return cli_usage(cli, "--template: missing, or given together with --file; expected one of "
                              "--template NAME and --file FILE");
    }
    if (template != NULL) {
        return CLI_OK;
    }
    if (options_has(&cli->options, "version")) {
        return cli_usage(cli, "--version: given together with --file; expected --template NAME");
    }
    result = input_file(cli, file, TEMPLATE_BYTES_MAX, &text);
    request_text(request, "template", text);
    return result;
}

static enum cli_exit fill_prepare(struct request *request, struct cli *cli)
{
    const char *context = options_get(&cli->options, "context");
    enum cli_exit result = fill_source(request, cli);

    if (result == CLI_OK && context != NULL && strchr(context, '=') != NULL) {
        result = cli_usage(cli,
                           "--context \"%s\": not a context; expected the name of a context: "
                           "placeholders are filled by --value KEY=VALUE",
                           context);
    }
    return result;
}

static size_t count_examples(struct json_value reply)
{
    struct reply_walk walk = reply_walk(reply, "exampleIds");
    size_t count = 0;

    while (reply_next(&walk)) {
        count++;
    }
    return count;
}

/* Prints a note about the examples, or the reason why there are none. */
static void note_examples(struct cli *cli, struct json_value reply)
{
    struct slice layout = reply_text(cli, reply, "layoutFingerprint");
    struct slice arm = reply_word(cli, reply, "arm", "EXPERIMENT_ARM_");
    struct slice level = reply_word(cli, reply, "matchLevel", "MATCH_LEVEL_");
    struct slice withheld = reply_word(cli, reply, "withheld", "WITHHELD_");
    struct slice ids = reply_list(cli, reply, "exampleIds");
    size_t count = count_examples(reply);

    if (layout.size == 0) {
        cli_note(cli, "examples: none, since no layout was named or known");
    } else if (slice_equal(arm, SLICE("CONTROL"))) {
        cli_note(cli, "examples: none, since the document is held out (arm CONTROL)");
    } else if (withheld.size > 0) {
        cli_note(cli, "examples: none, withheld: %.*s", SLICE_ARGS(withheld));
    } else if (count == 0) {
        cli_note(cli, "examples: none, since the layout has none");
    } else {
        cli_note(cli, "examples: %zu (%.*s): %.*s", count, SLICE_ARGS(level), SLICE_ARGS(ids));
    }
    if (slice_equal(arm, SLICE("TREATMENT"))) {
        cli_note(cli, "arm: TREATMENT");
    }
}

/* Prints a note about placeholders without a value, if they are allowed; else check_prompt reports
 * them. */
static void note_missing(struct cli *cli, struct json_value reply)
{
    struct slice tokens = reply_list(cli, reply, "missingTokens");

    if (tokens.size > 0 && options_has(&cli->options, "allow-missing")) {
        cli_note(cli, "placeholders without a value, left unchanged: %.*s", (int)tokens.size,
                 (const char *)tokens.data);
    }
}

/* Fails if a placeholder has no value: the prompt is printed, but probably not as intended. */
static enum cli_exit check_prompt(struct cli *cli, struct json_value reply)
{
    struct slice tokens = reply_list(cli, reply, "missingTokens");

    if (tokens.size == 0 || options_has(&cli->options, "allow-missing")) {
        return CLI_OK;
    }
    return cli_failed(cli,
                      "placeholders without a value: %.*s; expected --value KEY=VALUE for each, or "
                      "--allow-missing",
                      (int)tokens.size, (const char *)tokens.data);
}

static enum cli_exit print_prompt(struct cli *cli, struct json_value reply)
{
    struct slice name = reply_text(cli, reply, "templateName");
    struct slice version = version_text(cli, reply, "templateVersion");
    struct slice layout = reply_text(cli, reply, "layoutFingerprint");
    struct slice reference = reply_text(cli, reply, "exposureRef");

    print_prompt_text(cli, reply_text(cli, reply, "prompt"));
    (void)fflush(cli->out.stream); /* flush before the note, in case both go to the same place */
    if (name.size > 0) {
        cli_note(cli, "template: %.*s version %.*s", SLICE_ARGS(name), SLICE_ARGS(version));
    }
    if (layout.size > 0) {
        cli_note(cli, "layout: %.*s", SLICE_ARGS(layout));
    }
    note_examples(cli, reply);
    note_missing(cli, reply);
    reply_note_warnings(cli, reply);
    if (reference.size > 0) {
        cli_note(cli, "reference: %.*s", SLICE_ARGS(reference));
    }
    return CLI_OK;
}

/* --- the commands --- */

static const struct option_spec list_options[] = {
    {"versions", "TEMPLATE", "list all versions of this template, newest first"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec show_options[] = {
    {"version", "N",
     "print this version; default: the newest; 0 is the version that ships with the server"},
    {NULL, NULL, NULL}};
static const struct option_spec put_options[] = {
    {"comment", "TEXT", "description of the change"}, IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};
static const struct option_spec prepare_options[] = {
    {"template", "TEMPLATE", "name of a stored template"},
    {"version", "N", "version of the stored template; default: the newest"},
    {"file", "FILE|-", "file that contains the template"},
    {"layout", "LAYOUT", "the layout whose examples to use; default: the layout of the document"},
    {"document", "DOCUMENT", "the document to be extracted"},
    {"value", "KEY=VALUE|KEY=@FILE",
     "value of {{KEY}}, which is sanitised: for texts of people, documents or models; may be "
     "repeated"},
    {"trusted", "KEY=VALUE|KEY=@FILE",
     "value of {{KEY}}, which is used unchanged: for trusted texts, such as a schema"},
    {"limit", "N", "at most N examples, 1 to 20 (default 3)"},
    {"match", "MODE", "layouts to take examples from: exact or family"},
    {"grouping", "GROUPING",
     "EVENT: one example per correction; DOCUMENT: one example per document"},
    {"include-superseded", NULL, "include examples that a later correction superseded"},
    {"include-own", NULL, "include corrections of the document itself"},
    {"annotator", "ANNOTATOR", "only corrections by this kind of annotator; may be repeated"},
    {"allow-missing", NULL, "leave placeholders without a value unchanged instead of failing"},
    {"as-of-seq", "SEQ", "build the prompt from the state after this event"},
    {"as-of", "TIME|SPAN", "build the prompt from the state at this time, or this long ago"},
    {NULL, NULL, NULL}};

const struct command prompt_commands[] = {
    {.group = "prompts",
     .name = "list",
     .summary = "list prompt templates, or all versions of one",
     .help = "Lists the newest version of each template by name, with its placeholders, including "
             "the templates that ship with the server.",
     .examples = {{"errata prompts list", NULL},
                  {"errata prompts list --versions pdf_extract_text_v1", NULL}},
     .options = list_options,
     COMMAND_CALL("PromptService/ListPromptTemplates", .nothing = "no templates")},
    {.group = "prompts",
     .name = "show",
     .arguments = "TEMPLATE",
     .summary = "print a template's text",
     .help = "Prints the text of a template unchanged to standard output, and its version, "
             "placeholders and comment to standard error.",
     .examples = {{"errata prompts show pdf_extract_text_v1", NULL},
                  {"diff <(errata prompts show pdf_extract_text_v1 --version 0) \\\n"
                   "  <(errata prompts show pdf_extract_text_v1)",
                   "changes since the shipped version"}},
     .options = show_options,
     COMMAND_CALL("PromptService/GetPromptTemplate", .print = print_template)},
    {.group = "prompts",
     .name = "put",
     .arguments = "TEMPLATE FILE|-",
     .summary = "store a new version of a template and print its number",
     .help = "Stores a text as the newest version of a template; older versions are kept. "
             "Placeholders have the form {{KEY}}, with letters, digits and `_`; {{hint_examples}} "
             "is replaced by the layout's examples. Needs a REVIEWER or ADMIN token.",
     .examples = {{"errata prompts put order_extract template.txt --comment 'asks for units'",
                   NULL}},
     .options = put_options,
     COMMAND_CALL("PromptService/PutPromptTemplate", .fill = fill_put, .print = print_put)},
    {.group = "prompts",
     .name = "prepare",
     .arguments = "--template TEMPLATE|--file FILE",
     .summary = "build the prompt for a document, with examples of its layout",
     .help = "Builds a prompt from a template and prints it to standard output. The template's "
             "version, the examples, warnings, and the reference to cite with the outcome (`errata "
             "extractions record --exposure`) go to standard error. Exits with 1 if a placeholder "
             "has no value. A value that begins with `@` is the name of a file.",
     .examples = {{"errata prompts prepare --template pdf_extract_text_v1 \\\n"
                   "  --document invoice-17 --value document_text=@text.txt \\\n"
                   "  --trusted output_schema=@schema.json > prompt.txt",
                   NULL},
                  {"echo 'Like these: {{hint_examples}}' |\n"
                   "  errata prompts prepare --file - --layout a1b2c3",
                   NULL}},
     .options = prepare_options,
     COMMAND_CALL("PromptService/PreparePrompt", .fill = fill_prepare, .print = print_prompt,
                  .check = check_prompt)},
    {.name = NULL}};
