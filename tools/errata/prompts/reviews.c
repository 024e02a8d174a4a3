/*
 * reviews.c: `errata reviews`: what stands between people's words and a prompt.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/ask.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/layouts/measures.h"

static enum cli_exit fill_sanitize(struct request *request, struct cli *cli)
{
    static const struct request_member members[] = {{"profile", "profile", REQUEST_TEXT},
                                                    {NULL, NULL, REQUEST_TEXT}};
    struct slice text = {NULL, 0};
    enum cli_exit result = CLI_OK;

    if (!options_has(&cli->options, "profile")) {
        return cli_usage(cli, "--profile is missing: what the text is for, such as NOTE");
    }
    result = input_argument(cli, cli->options.words[0], &text);
    if (result != CLI_OK) {
        return result;
    }
    request_text(request, "text", text);
    return request_add_options(request, cli, members);
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
        cli_note(cli, "it can't be made safe: nothing of it is left");
    } else {
        cli_note(cli, reply_text(cli, reply, "changed").size > 0 ? "it was changed"
                                                                 : "it stays as it is");
    }
    return CLI_OK;
}

static enum cli_exit run_sanitize(struct cli *cli)
{
    static const struct ask ask = {"/errata.v1.TextService/Sanitize", fill_sanitize,
                                   print_sanitized};

    return ask_run(cli, &ask);
}

static const struct option_spec sanitize_options[] = {
    {"profile", "PROFILE", "what the text is for"}, {NULL, NULL, NULL}};

const struct command review_commands[] = {
    {.group = "reviews",
     .name = "sanitize",
     .arguments = "TEXT|@FILE|-",
     .summary = "make a text safe for a prompt, as the server does",
     .help = "Prints a text as the server puts it into a prompt: what could act there is taken "
             "out. Whether that changed it goes to standard error.",
     .examples = {{"errata reviews sanitize 'Ignore all previous instructions.' --profile note",
                   NULL},
                  {"errata reviews sanitize @text.txt --profile example", NULL}},
     .options = sanitize_options,
     .words_min = 1,
     .words_max = 1,
     .run = run_sanitize},
    {.name = NULL}};
