/*
 * fragments.c: `errata fragments`: versions of the wording of the guidance that reviews add to prompts; and
 * `errata reviews fragments`, which prints the one in use.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/fill.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/reviews/reviews.h"
#include "tools/errata/terminal/wrap.h"

static enum cli_exit fill_set(struct request *request, struct cli *cli)
{
    struct slice set = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[0], &set);

    return result != CLI_OK ? result
                            : request_object(request, cli, "fragment_set", "the fragment set", set);
}

static enum cli_exit print_put(struct cli *cli, struct json_value reply)
{
    struct json_value set = reply_member(reply, "fragmentSet");

    print_line(&cli->out, reply_count(cli, set, "version"));
    cli_note(cli, "a draft: `errata fragments approve` puts it into use");
    return CLI_OK;
}

static enum cli_exit print_approved(struct cli *cli, struct json_value reply)
{
    struct json_value set = reply_member(reply, "fragmentSet");

    cli_note(cli, "version %.*s is in use", SLICE_ARGS(reply_count(cli, set, "version")));
    return CLI_OK;
}

/* --- the wording in use --- */

/* Prints the texts, in the order in which they enter prompts. */
static void print_texts(struct cli *cli, struct json_value set)
{
    struct reply_walk fragments = reply_walk(set, "fragments");
    struct slice label = reply_one_line(cli, set, "labelFocusFields");

    reply_align_members(cli, "label of focus fields");
    reply_print_member(cli, "version", reply_count(cli, set, "version"));
    if (label.size > 0) {
        reply_print_member(cli, "label of focus fields", label);
    }
    while (reply_next(&fragments)) {
        struct slice signal = reply_word(cli, fragments.row, "signal", "REVIEW_SIGNAL_");
        struct slice placeholder =
            reply_word(cli, fragments.row, "placeholder", "REVIEW_PLACEHOLDER_");
        struct slice text = reply_one_line(cli, fragments.row, "text");

        print_text(&cli->out, "\n");
        print_line(&cli->out, arena_printf(&cli->arena, "%.*s in {{%.*s}}", SLICE_ARGS(signal),
                                           SLICE_ARGS(placeholder)));
        print_text(&cli->out, " ");
        wrap_message(&cli->out, 1, 2, text);
    }
}

static enum cli_exit print_in_use(struct cli *cli, struct json_value reply)
{
    struct reply_walk sets = reply_walk(reply, "fragmentSets");

    while (reply_next(&sets)) {
        if (slice_equal(reply_word(cli, sets.row, "state", "FRAGMENT_SET_STATE_"),
                        SLICE("APPROVED"))) {
            print_texts(cli, sets.row);
            return CLI_OK;
        }
    }
    cli_note(cli, "the wording in use is not among the newest versions: see `errata fragments "
                  "list --json --all`");
    return CLI_OK;
}

/* Maximum number of versions of a page. */
static enum cli_exit fill_page(struct request *request, struct cli *cli)
{
    (void)cli;
    request_raw(request, "page_size", SLICE("1000"));
    return CLI_OK;
}

enum cli_exit review_fragments_run(struct cli *cli)
{
    static const struct command_call call = {.method = "/errata.v1.ReviewService/ListFragmentSets",
                                             .fill = fill_page,
                                             .print = print_in_use};

    return command_call_once(cli, &call);
}

/* --- commands --- */

static const struct option_spec list_options[] = {CSV_OPTION, PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec write_options[] = {IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};

const struct command fragment_commands[] = {
    {.group = "fragments",
     .name = "list",
     .summary = "list versions of the wording, newest first",
     .help =
         "Lists the versions of the wording of guidance, newest first; version 0 ships with the "
         "server. With --json the texts are shown too.",
     .examples = {{"errata fragments list", NULL}, {"errata fragments list --json", NULL}},
     .options = list_options,
     COMMAND_CALL("ReviewService/ListFragmentSets", .nothing = "no fragment sets")},
    {.group = "fragments",
     .name = "put",
     .arguments = "JSON|@FILE|-",
     .summary = "store a draft of the wording and print its version",
     .help = "Stores a draft of the wording of guidance: an object with `fragments`, a list of "
             "`signal`, `placeholder` and `text`, and with `label_focus_fields` and `comment`. A "
             "signal without a fragment for a placeholder adds nothing to it.",
     .examples = {{"errata fragments put @wording.json", NULL}},
     .options = write_options,
     COMMAND_CALL("ReviewService/PutFragmentSet", .fill = fill_set, .print = print_put)},
    {.group = "fragments",
     .name = "approve",
     .arguments = "VERSION",
     .summary = "put a version of the wording into use",
     .help = "Puts a version of the wording into use for later prompts. Version 0 restores "
             "the one that ships with the server. Needs a token that is bound to a user.",
     .examples = {{"errata fragments approve 3", NULL}},
     .options = write_options,
     COMMAND_CALL("ReviewService/ApproveFragmentSet", .print = print_approved)},
    {.name = NULL}};
