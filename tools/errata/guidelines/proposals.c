/*
 * proposals.c: `errata proposals`: pending rules for agents.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/resolve.h"
#include "tools/errata/learning/artifact_state.h"

static const struct option_spec list_options[] = {
    {"agent", "AGENT", "only proposals for this agent"}, PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec propose_options[] = {
    {"rule-type", "FORM", "form of the proposed rule"},
    {"agent", "AGENT", "an agent to which the rule applies; may be repeated"},
    {"rule", "TEXT", "text of the rule: one or a few sentences"},
    {"evidence", "TEXT", "reason for the rule, for the people who vote"},
    {"insertion-point", "NAME",
     "name of the prompt line {{RULES:NAME}} where the rule is inserted"},
    {"replaces", "GUIDELINE", "a guideline that the rule replaces; may be repeated"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec approve_options[] = {
    {"acknowledge", "GUIDELINE", "id of a contradiction that you acknowledge; may be repeated"},
    {"retire", "GUIDELINE", "the guideline to retire if the agent already has 20"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec reject_options[] = {
    {"reason", "TEXT", "why"}, IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};
static const struct option_spec write_options[] = {IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};

/* Adds the ids of decisions; without one, the batch is requested. */
static enum cli_exit add_decisions(struct request *request, struct cli *cli)
{
    enum cli_exit result = CLI_OK;
    struct buffer ids;

    buffer_init(&ids, &cli->arena, 64);
    for (size_t i = 0; result == CLI_OK && i < cli->options.word_count; i++) {
        struct slice id = {NULL, 0};

        result = resolve_prefix(cli, SLICE("FEEDBACK"), slice_text(cli->options.words[i]), &id);
        buffer_append(&ids, i > 0 ? SLICE(",") : SLICE("["));
        json_write_string(&ids, id, false);
    }
    if (ids.size > 0) {
        buffer_append_byte(&ids, ']');
        request_raw(request, "feedback_ids", buffer_slice(&ids));
    }
    return result;
}

/* Prints the ids of the proposals. */
static enum cli_exit print_generated(struct cli *cli, struct json_value reply)
{
    struct reply_walk proposals = reply_walk(reply, "proposals");
    struct slice sunset = reply_list(cli, reply, "sunsetGuidelineIds");
    bool has_one = false;

    while (reply_next(&proposals)) {
        print_line(&cli->out, reply_text(cli, proposals.row, "id"));
        has_one = true;
    }
    if (!has_one) {
        cli_note(cli, "no cluster of decisions qualifies for a proposal");
    }
    if (sunset.size > 0) {
        cli_note(cli, "proposed for retirement: %.*s", SLICE_ARGS(sunset));
    }
    return CLI_OK;
}

/* Prints the votes of a proposal after a vote. */
static enum cli_exit print_voted(struct cli *cli, struct json_value reply)
{
    struct json_value proposal = reply_member(reply, "proposal");
    struct reply_walk votes = reply_walk(proposal, "votes");
    unsigned count = 0;

    while (reply_next(&votes)) {
        count++;
    }
    cli_note(cli, "%.*s: %u of %.*s votes",
             SLICE_ARGS(reply_word(cli, proposal, "status", "PROPOSAL_STATUS_")), count,
             SLICE_ARGS(reply_count(cli, proposal, "votesNeeded")));
    return CLI_OK;
}

static enum cli_exit fill_shadow(struct request *request, struct cli *cli)
{
    return artifact_state_fill(request, cli, SLICE("PROPOSAL"), "ARTIFACT_STATE_SHADOW");
}

/* Prints the new state, and the command that prints its measurement. */
static enum cli_exit print_shadow(struct cli *cli, struct json_value reply)
{
    enum cli_exit result = artifact_state_print(cli, reply);

    cli_note(cli, "`errata analytics artifact %s` reports what was counted", cli->options.words[0]);
    return result;
}

const struct command proposal_commands[] = {
    {.group = "proposals",
     .name = "list",
     .summary = "list proposals that wait for votes",
     .help = "Lists proposals that wait for votes.",
     .examples = {{"errata proposals list", NULL}, {"errata proposals list --agent coder", NULL}},
     .options = list_options,
     COMMAND_CALL("GuidelineService/ListPendingProposals", .nothing = "no pending proposals")},
    {.group = "proposals",
     .name = "show",
     .arguments = "PROPOSALID",
     .summary = "show a proposal, its conflicts and its votes",
     .help = "Shows a proposal, the rules that it contradicts or repeats, and its votes.",
     .examples = {{"errata proposals show 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10", NULL}},
     COMMAND_CALL("GuidelineService/GetProposal")},
    {.group = "proposals",
     .name = "propose",
     .summary = "propose a rule for agents and print its id",
     .help = "Stores a proposal. It becomes a guideline once enough other users have approved it.",
     .examples = {{"errata proposals propose --rule-type CONSTRAINT --agent coder \\\n"
                   "  --rule 'Set a timeout on each remote call.'",
                   NULL}},
     .options = propose_options,
     COMMAND_CALL("GuidelineService/ProposeGuideline")},
    {.group = "proposals",
     .name = "generate",
     .arguments = "[FEEDBACK...]",
     .summary = "draft proposals from decisions and print their ids",
     .help = "Drafts a proposal of a rule from decisions, given by the server's ids; a single one "
             "selects its whole cluster. Without an id it runs the batch, which otherwise runs "
             "every 15 minutes: each cluster that is GENERALIZABLE_HIGH and has no proposal gets "
             "one, at most 10 per call.",
     .examples = {{"errata proposals generate", NULL},
                  {"errata proposals generate 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10", NULL}},
     .options = write_options,
     COMMAND_CALL("GuidelineService/GenerateProposal", .fill = add_decisions,
                  .print = print_generated)},
    {.group = "proposals",
     .name = "shadow",
     .arguments = "PROPOSAL --reason TEXT",
     .summary = "measure a proposal before it is approved",
     .help = "Puts a pending proposal in SHADOW: it stays out of prompts, but exposures of its "
             "agents' prompts record it, and decisions that cite them are counted for it "
             "(`errata analytics artifact`). It waits for votes as before. Up to 20 for each "
             "agent.",
     .examples = {{"errata proposals shadow 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --reason 'measure it for a week'",
                   NULL}},
     .options = reject_options,
     COMMAND_CALL("LearningService/SetArtifactState", .fill = fill_shadow, .print = print_shadow)},
    {.group = "proposals",
     .name = "approve",
     .arguments = "PROPOSAL",
     .summary = "vote for a proposal",
     .help = "Votes for a proposal as the token's user. With enough votes of different users it "
             "becomes a guideline. Contradictions must be acknowledged by their ids.",
     .examples = {{"errata proposals approve 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10", NULL}},
     .options = approve_options,
     COMMAND_CALL("GuidelineService/ApproveProposal", .print = print_voted)},
    {.group = "proposals",
     .name = "reject",
     .arguments = "PROPOSAL --reason TEXT",
     .summary = "reject a proposal",
     .help = "Rejects a proposal as the token's user, with a reason.",
     .examples = {{"errata proposals reject 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --reason 'too general'",
                   NULL}},
     .options = reject_options,
     COMMAND_CALL("GuidelineService/RejectProposal", .print = print_voted)},
    {.group = "proposals",
     .name = "retract",
     .arguments = "PROPOSAL",
     .summary = "withdraw your vote",
     .help = "Withdraws the vote of the token's user, if the proposal is not decided yet.",
     .examples = {{"errata proposals retract 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10", NULL}},
     .options = write_options,
     COMMAND_CALL("GuidelineService/RetractVote", .print = print_voted)},
    {.name = NULL}};
