/*
 * agent.c: `errata agent`: the prompts of agents, and the origins of their rules.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/view_cells.h"

#define GET_PROPOSAL "/errata.v1.GuidelineService/GetProposal"

static const struct option_spec prompt_options[] = {
    {"base", "TEXT|@FILE|-", "the prompt into which the rules are inserted"},
    {"subject", "SUBJECT", "subject of the prompt, such as a task; it may be held out"},
    {"as-of", "TIME|SPAN", "the prompt as of this time or event"},
    {"origin", NULL, "then print the origin of each rule"},
    {NULL, NULL, NULL}};

/* Prints the prompt as it is, and notes the reference. */
static enum cli_exit print_prompt(struct cli *cli, struct json_value reply)
{
    struct slice reference = reply_text(cli, reply, "exposureRef");

    print_bytes(&cli->out, reply_text(cli, reply, "prompt"));
    (void)fflush(cli->out.stream);
    if (slice_equal(reply_word(cli, reply, "arm", "EXPERIMENT_ARM_"), SLICE("CONTROL"))) {
        cli_note(cli, "the subject is held out: no guidelines");
    }
    if (reference.size > 0) {
        cli_note(cli, "reference: %.*s", SLICE_ARGS(reference));
    }
    return CLI_OK;
}

/* Prints the proposal from which a guideline came. */
static enum cli_exit print_origin(struct cli *cli, struct slice id)
{
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value proposal = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    struct request request;
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    request_text(&request, "id", id);
    result = cli_call(cli, GET_PROPOSAL, request_end(&request), &json);
    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (cli->json) {
        print_json(&cli->out, json);
        return CLI_OK;
    }
    proposal = reply_member(reply, "proposal");
    print_text(&cli->out, "\n");
    reply_print_member(cli, "rule", reply_text(cli, proposal, "ruleContent"));
    reply_print_member(cli, "type", reply_word(cli, proposal, "ruleType", "RULE_TYPE_"));
    reply_print_member(cli, "guideline", id);
    reply_print_member(cli, "proposed by", reply_text(cli, proposal, "proposedBy"));
    reply_print_member(cli, "decisions", reply_list(cli, proposal, "createdFromFeedbackIds"));
    reply_print_member(cli, "evidence", reply_text(cli, proposal, "evidenceSummary"));
    reply_print_member(cli, "approved by", cell_voters(cli, proposal, "votes"));
    reply_print_member(cli, "approved", reply_full_time(cli, proposal, "decidedAt"));
    return CLI_OK;
}

/* Prints the origin of each rule of the prompt, in the order of the prompt, if it is requested. */
static enum cli_exit print_origins(struct cli *cli, struct json_value reply)
{
    struct reply_walk ids = reply_walk(reply, "guidelineIds");
    enum cli_exit result = CLI_OK;

    while (options_has(&cli->options, "origin") && result == CLI_OK && reply_next(&ids)) {
        struct slice id = {NULL, 0};

        if (json_string(&cli->arena, ids.row.text, &id) != OK) {
            return cli_local(cli, "out of memory");
        }
        result = print_origin(cli, id);
    }
    return result;
}

const struct command agent_commands[] = {
    {.group = "agent",
     .name = "prompt",
     .arguments = "AGENT",
     .summary = "print an agent's prompt with its guidelines",
     .help = "Inserts the guidelines of an agent into a prompt and prints it. The reference on "
             "standard error proves what was served: `errata decisions record --exposure` cites "
             "it, and `errata explain` explains it. With --origin the guideline of each rule "
             "follows: its proposer, the decisions from which it was made, and its approvers. With "
             "--json the ids of the guidelines are shown too, and with --origin a line of JSON for "
             "each of their proposals.",
     .examples = {{"errata agent prompt coder --base 'You write code.'", NULL},
                  {"errata agent prompt coder --origin", NULL},
                  {"errata agent prompt coder --json", NULL}},
     .options = prompt_options,
     COMMAND_CALL("GuidelineService/BuildAgentPrompt", .print = print_prompt,
                  .check = print_origins)},
    {.name = NULL}};
