/*
 * decisions.c: `errata decisions`: people's decisions on agents' output, and their classes.
 */
#include "tools/errata/commands.h"
#include "tools/errata/corrections/retract.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/mirror/mirror.h"

static const struct option_spec record_options[] = {
    {"gate", "GATE", "the gate at which the decision was made, such as HITL-1"},
    {"epic", "EPIC", "the epic"},
    {"decision", "OUTCOME", "what the person decided"},
    {"agent", "AGENT", "the agent whose output was decided on; default: the agent of the gate"},
    {"task", "TASK", "the task"},
    {"comment", "TEXT|@FILE|-", "the reviewer's comment"},
    {"summary", "TEXT|@FILE|-", "summary of the correction"},
    {"diff", "@FILE|-", "the correction as a unified diff"},
    {"diff-path", "PATH", "path of a diff; it is stored, not opened"},
    {"tag", "TAG", "a tag; `skill` and `skill:NAME` refer to a skill; may be repeated"},
    {"reviewer", "USER", "the reviewer; default: the token's user"},
    {"duration", "SECONDS", "duration of the review"},
    {"output-sha", "HASH", "hash of the agent's output"},
    {"approved-sha", "HASH", "hash of the output that was approved; not with REJECTED"},
    {"created-at", "TIME|SPAN", "time of the decision; default: now"},
    {"exposure", "REFERENCE", "reference of a prompt that the agent used; may be repeated"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {
    {"agent", "AGENT", "only decisions on this agent's output"},
    CSV_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec similar_options[] = {
    {"text", "TEXT|@FILE|-", "compare with this text, not with a decision"},
    {"threshold", "NUMBER", "minimum similarity, 0 to 1 (default 0.8)"},
    {"limit", "N", "at most N decisions (default 20)"},
    {"agent", "AGENT", "only decisions on this agent's output"},
    {NULL, NULL, NULL}};
static const struct option_spec retract_options[] = {
    {"reason", "TEXT", "why"}, IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};
static const struct option_spec reviewers_options[] = {
    {"agent", "AGENT", "only decisions on this agent's output"},
    {"reviewer", "USER", "only this reviewer"},
    {NULL, NULL, NULL}};
static const struct option_spec dead_letters_options[] = {
    CSV_OPTION, PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec retry_options[] = {IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};
static const struct option_spec mirror_options[] = {
    {"once", NULL, "end when everything that is recorded now is mirrored: the default"},
    {"follow", NULL, "mirror what is recorded later too, until the command is ended"},
    {NULL, NULL, NULL}};
static const struct option_spec override_options[] = {{"class", "CLASS", "the class"},
                                                      {"reason", "TEXT", "why"},
                                                      IDEMPOTENCY_OPTION,
                                                      {NULL, NULL, NULL}};

static struct slice class_of(struct cli *cli, struct json_value evaluation)
{
    return reply_word(cli, evaluation, "classification", "DECISION_CLASS_");
}

struct slice cell_reasons(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);
    struct buffer line;

    buffer_init(&line, &cli->arena, text.size);
    for (size_t i = 0; i < text.size; i++) {
        buffer_append(&line, text.data[i] == '\n' ? SLICE("; ") : slice_of(&text.data[i], 1));
    }
    return buffer_slice(&line);
}

/* Prints each line of the reasons of a class as a note. */
static void note_reasons(struct cli *cli, struct slice reasons)
{
    while (reasons.size > 0) {
        const uint8_t *end = memchr(reasons.data, '\n', reasons.size);
        size_t size = end != NULL ? (size_t)(end - reasons.data) : reasons.size;

        cli_note(cli, "%.*s", SLICE_ARGS(slice_of(reasons.data, size)));
        reasons = slice_after(reasons, end != NULL ? size + 1 : size);
    }
}

/* Prints the id, and the class with its reasons as notes. */
static enum cli_exit print_recorded(struct cli *cli, struct json_value reply)
{
    struct json_value evaluation = reply_member(reply, "evaluation");
    struct slice proposal = reply_text(cli, evaluation, "proposalId");

    print_line(&cli->out, reply_text(cli, reply, "feedbackId"));
    (void)fflush(cli->out.stream);
    cli_note(cli, "class: %.*s", SLICE_ARGS(class_of(cli, evaluation)));
    note_reasons(cli, reply_text(cli, evaluation, "rationale"));
    if (proposal.size > 0) {
        cli_note(cli, "proposal: %.*s", SLICE_ARGS(proposal));
    }
    return CLI_OK;
}

static enum cli_exit print_class(struct cli *cli, struct json_value reply)
{
    print_line(&cli->out, class_of(cli, reply_member(reply, "evaluation")));
    return CLI_OK;
}

/* Prints the id of the decision. */
static enum cli_exit print_retried(struct cli *cli, struct json_value reply)
{
    print_line(&cli->out, reply_text(cli, reply, "feedbackId"));
    return CLI_OK;
}

static enum cli_exit print_similar(struct cli *cli, struct json_value reply)
{
    struct reply_walk found = reply_walk(reply, "similar");

    if (!reply_next(&found)) {
        cli_note(cli, "no similar decisions");
        return CLI_OK;
    }
    return view_print_table(cli, "SimilarDecision", reply, "similar", NULL);
}

/* The event that recorded a decision has the id of its feedback. */
static enum cli_exit fill_retract(struct request *request, struct cli *cli)
{
    return retract_fill(request, cli, SLICE("FEEDBACK"));
}

static enum cli_exit print_reviewers(struct cli *cli, struct json_value reply)
{
    if (reply_text(cli, reply, "truncated").size > 0) {
        cli_note(cli, "only the newest 20,000 decisions were counted");
    }
    return view_print_table(cli, "ReviewerReport", reply, "reviewers", NULL);
}

const struct command decision_commands[] = {
    {.group = "decisions",
     .name = "record",
     .arguments = "DECISIONID --gate GATE --epic EPIC --decision OUTCOME",
     .summary = "store a decision, print its id and its class",
     .help = "Stores a person's decision on an agent's output under your id DECISIONID, "
             "which is unique forever, and prints the server's id. The class of the decision and "
             "the reasons for it are printed on standard error.",
     .examples = {{"errata decisions record d-17 --gate HITL-1 --epic epic-1 --agent coder \\\n"
                   "  --decision REJECTED --comment 'Always set a timeout on each remote call.'",
                   NULL}},
     .options = record_options,
     COMMAND_CALL("DecisionService/RecordDecision", .print = print_recorded)},
    {.group = "decisions",
     .name = "list",
     .summary = "list decisions, newest first",
     .help = "Lists decisions, newest first, with the class that each had when it was recorded.",
     .examples = {{"errata decisions list", NULL},
                  {"errata decisions list --agent coder", NULL},
                  {"errata decisions list --all --csv > decisions.csv", NULL}},
     .options = list_options,
     COMMAND_CALL("DecisionService/ListDecisions", .nothing = "no decisions")},
    {.group = "decisions",
     .name = "similar",
     .arguments = "[FEEDBACK]",
     .summary = "list decisions that are similar to one, or to a text",
     .help = "Lists decisions whose words are similar to those of a decision, or to a text, the "
             "most similar first. FEEDBACK is the server's id of the decision.",
     .examples = {{"errata decisions similar 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10", NULL},
                  {"errata decisions similar --text 'Set a timeout on each remote call.'", NULL}},
     .options = similar_options,
     COMMAND_CALL("DecisionService/FindSimilar", .print = print_similar)},
    {.group = "decisions",
     .name = "evaluate",
     .arguments = "FEEDBACK",
     .summary = "classify a decision again",
     .help = "Classifies a decision with all decisions of its cluster that are recorded by now, "
             "and prints the class, the reasons, and the proposal that was made from the cluster. "
             "Stores nothing. FEEDBACK is the server's id of the decision.",
     .examples = {{"errata decisions evaluate 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10", NULL}},
     COMMAND_CALL("DecisionService/Evaluate")},
    {.group = "decisions",
     .name = "reviewers",
     .summary = "show what reviewers contribute",
     .help = "Shows for each reviewer the decisions, the share of them in clusters whose proposal "
             "was approved rather than rejected, and the number of clusters of which this reviewer "
             "supplies more than half.",
     .examples = {{"errata decisions reviewers", NULL},
                  {"errata decisions reviewers --agent coder", NULL}},
     .options = reviewers_options,
     COMMAND_CALL("DecisionService/GetReviewerReport", .print = print_reviewers)},
    {.group = "decisions",
     .name = "override",
     .arguments = "FEEDBACK --class CLASS",
     .summary = "set the class of a decision",
     .help = "Sets the class of a decision. It has precedence over those of evaluators, whose "
             "accuracy is measured by it. FEEDBACK is the server's id of the decision.",
     .examples = {{"errata decisions override 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --class EDGE_CASE --reason 'only this file'",
                   NULL}},
     .options = override_options,
     COMMAND_CALL("DecisionService/OverrideEvaluation", .print = print_class)},
    {.group = "decisions",
     .name = "retract",
     .arguments = "FEEDBACK --reason TEXT",
     .summary = "retract a decision",
     .help = "Takes a decision back: it leaves its cluster, the evidence of proposals and all "
             "counts, and stays in lists. Other decisions keep the class that was recorded. Cannot "
             "be undone.",
     .examples = {{"errata decisions retract 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --reason 'recorded twice'",
                   NULL}},
     .options = retract_options,
     COMMAND_CALL("EventService/RetractEvent", .fill = fill_retract, .print = retract_print)},
    {.group = "decisions",
     .name = "dead-letters",
     .summary = "list entries of the Redis stream that could not be stored",
     .help =
         "Lists entries of the Redis stream of decisions that could not be stored, with the "
         "reasons, newest first; --json prints them whole, with the fields of the entries. `errata "
         "decisions retry` stores one after the cause is mended, such as by `errata org settings "
         "--gate-agent`. The role of the token is INTEGRATOR or ADMIN.",
     .examples = {{"errata decisions dead-letters", NULL},
                  {"errata decisions dead-letters --all --json > dead-letters.json", NULL}},
     .options = dead_letters_options,
     COMMAND_CALL("DecisionService/ListDeadLetters", .nothing = "no dead letters")},
    {.group = "decisions",
     .name = "retry",
     .arguments = "LETTER",
     .summary = "store the decision of a dead letter after all",
     .help = "Stores the decision of a dead letter as if its entry had just been read from the "
             "stream, and prints the server's id of the decision. If the entry is still invalid, "
             "it prints why, and the dead letter stays. LETTER is an id that `errata decisions "
             "dead-letters` lists.",
     .examples = {{"errata decisions retry 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10", NULL}},
     .options = retry_options,
     COMMAND_CALL("DecisionService/RetryDeadLetter", .print = print_retried)},
    {.group = "decisions",
     .name = "mirror",
     .arguments = "DIR",
     .summary = "keep decisions and rules as files of a git repository",
     .help =
         "Writes decisions and rules as JSON files into the git repository DIR, which it creates, "
         "and commits each change with its author and reason. decisions/ID.json is the reply of "
         "GetDecision, rules/ID.json that of GetProposal (a proposal, and the guideline that it "
         "became), and edge_cases/ID.json a copy of a decision whose class in effect is EDGE_CASE. "
         "IDs are the server's. A commit has consecutive events of one person; a file has the "
         "state of the server when it was written. A retracted decision stays, with the time and "
         "the reason.\n\nThe position in the log is in the last commit's message: a run "
         "continues there, also after a kill. The command refuses a folder with other files or "
         "commits, changed files, a checked-out branch other than main, and a server that does not "
         "have the last mirrored event, such as after a restore of an older backup.\n\nIf content "
         "was erased on the server, the files are written without it, but earlier commits still "
         "have it: delete DIR and mirror again. Runs the program git, without hooks and without "
         "your configuration of it.",
     .examples = {{"errata decisions mirror ./feedback", NULL},
                  {"errata decisions mirror ./feedback --follow", NULL},
                  {"git -C ./feedback log --stat", "who changed what, and why"}},
     .options = mirror_options,
     .run = mirror_run},
    {.name = NULL}};
