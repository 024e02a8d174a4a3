/*
 * turns.c: `errata turns`: turns of conversations, and the feedback of messages on them.
 */
#include "tools/errata/turns/turns.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view.h"
#include "tools/errata/layouts/measures.h"

static const struct option_spec record_options[] = {
    {"query", "TEXT|@FILE|-", "the user's query"},
    {"outcome", "VALIDATION", "result of the assistant's validation"},
    {"quality", "NUMBER", "quality of the answer as measured by the assistant, 0 to 1"},
    {"response", "TEXT|@FILE|-", "summary of the answer"},
    {"tool", "NAME", "the tool of the strategy"},
    {"text", "TEXT", "input of the tool"},
    {"intent", "NAME", "intent of the query"},
    {"created-at", "TIME|SPAN", "time of the turn; default: now"},
    {"exposure", "REFERENCE",
     "reference of the strategies from which the answer was planned; may be repeated"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec detect_options[] = {
    {"message", "TEXT|@FILE|-", "the user's message"},
    {"intent", "NAME", "intent of the message"},
    {"what-went-wrong", "TEXT", "for the section: the error of the answer"},
    {"advice", "TEXT", "for the section: the recommended action"},
    {"created-at", "TIME|SPAN", "time of the message; default: now"},
    {"exposure", "REFERENCE",
     "reference of the strategies from which the previous answer was planned; may be repeated"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec judge_options[] = {
    {"status", "TURNSTATUS", "the new status"},
    {"reason", "TEXT", "why"},
    {"actor", "USER", "the person who judges; default: the token's user"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {
    {"session", "SESSION", "only turns of this session"},
    {"status", "TURNSTATUS", "only turns with this status"},
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
static const struct option_spec search_options[] = {
    {"intent", "NAME", "count only outcomes of this intent"},
    {"limit", "NUMBER", "maximum number of strategies (default 10)"},
    {"similarity-min", "NUMBER", "minimum similarity, 0 to 1 (default 0.5)"},
    {"session", "SESSION", "the session for which strategies are searched; it may be held out"},
    {"as-of", "TIME|SPAN", "the result as of this time or event"},
    {NULL, NULL, NULL}};

static const struct option_spec satisfaction_options[] = {
    {"since", "TIME|SPAN", "only turns at this time or later; 7d means seven days ago"},
    {"until", "TIME|SPAN", "only turns before this time"},
    {"intent", "NAME", "only turns with this intent"},
    {NULL, NULL, NULL}};
static const struct option_spec export_options[] = {
    {"session", "SESSION", "only turns of this session"},
    {"status", "TURNSTATUS", "only turns with this status"},
    {NULL, NULL, NULL}};

static enum cli_exit fill_query(struct request *request, struct cli *cli)
{
    struct slice text = {NULL, 0};
    enum cli_exit result = input_argument(cli, cli->options.words[0], &text);

    request_text(request, "query", text);
    return result;
}

static enum cli_exit print_turn_id(struct cli *cli, struct json_value reply)
{
    print_line(&cli->out, reply_text(cli, reply_member(reply, "turn"), "id"));
    return CLI_OK;
}

static enum cli_exit print_status(struct cli *cli, struct json_value reply)
{
    struct json_value feedback = reply_member(reply_member(reply, "turn"), "userFeedback");

    print_line(&cli->out, reply_word(cli, feedback, "status", "TURN_STATUS_"));
    return CLI_OK;
}

/* Prints the feedback in a message and its reason: the row, the cue and its words, the similarity,
 * the probability of a rejection. */
static enum cli_exit print_detected(struct cli *cli, struct json_value reply)
{
    struct json_value evidence = reply_member(reply_member(reply, "matchedCue"), "evidence");

    reply_align_members(cli, "rejections in sequence");
    reply_print_member(cli, "status", reply_word(cli, reply, "feedbackType", "TURN_STATUS_"));
    reply_print_member(cli, "confidence", measures_share(cli, reply, "confidence"));
    reply_print_member(cli, "kind", reply_word(cli, reply, "correctionType", "CORRECTION_TYPE_"));
    reply_print_member(cli, "row", reply_word(cli, evidence, "row", "DETECTION_ROW_"));
    reply_print_member(cli, "cue", reply_text(cli, evidence, "cue"));
    turns_print_evidence(cli, reply);
    reply_print_member(cli, "rejections in sequence",
                       reply_count(cli, reply, "consecutiveRejections"));
    turns_print_reason(cli, reply);
    print_bytes(&cli->out, reply_text(cli, reply, "contextSection"));
    return CLI_OK;
}

static enum cli_exit print_session(struct cli *cli, struct json_value reply)
{
    struct json_value session = reply_member(reply, "session");

    reply_align_members(cli, "rejections in sequence");
    reply_print_member(cli, "turns", reply_count(cli, session, "turnCount"));
    reply_print_member(cli, "rejected", reply_count(cli, session, "rejectedCount"));
    reply_print_member(cli, "accepted", reply_count(cli, session, "acceptedCount"));
    reply_print_member(cli, "neutral", reply_count(cli, session, "neutralCount"));
    reply_print_member(cli, "rejections in sequence",
                       reply_count(cli, session, "consecutiveRejections"));
    reply_print_member(cli, "started", reply_full_time(cli, session, "startedAt"));
    reply_print_member(cli, "last turn", reply_full_time(cli, session, "lastTurnAt"));
    return CLI_OK;
}

static enum cli_exit print_satisfaction(struct cli *cli, struct json_value reply)
{
    struct json_value total = reply_member(reply, "total");
    enum cli_exit result = CLI_OK;

    reply_align_members(cli, "mean satisfaction");
    reply_print_member(cli, "turns", reply_count(cli, total, "turnCount"));
    reply_print_member(cli, "rejected", reply_count(cli, total, "rejectedCount"));
    reply_print_member(cli, "accepted", reply_count(cli, total, "acceptedCount"));
    reply_print_member(cli, "mean satisfaction", reply_number(cli, total, "mean"));
    result = view_print_table(cli, "Satisfaction", reply, "days", NULL);
    if (result == CLI_OK) {
        result = view_print_table(cli, "Satisfaction", reply, "intents", NULL);
    }
    if (result == CLI_OK && reply_text(cli, reply, "truncated").size > 0) {
        cli_note(cli, "only the newest 100,000 turns are counted");
    }
    return result;
}

/* Prints the strategies, then the turns to avoid. */
static enum cli_exit print_strategies(struct cli *cli, struct json_value reply)
{
    struct slice reference = reply_text(cli, reply, "exposureRef");
    enum cli_exit result = view_print_table(cli, "StrategyMatch", reply, "strategies", NULL);

    if (result == CLI_OK) {
        result = view_print_table(cli, "AvoidedStrategy", reply, "avoid", NULL);
    }
    if (result != CLI_OK) {
        return result;
    }
    cli_note(cli, "%.*s turns compared", SLICE_ARGS(reply_count(cli, reply, "searchedCount")));
    if (slice_equal(reply_word(cli, reply, "arm", "EXPERIMENT_ARM_"), SLICE("CONTROL"))) {
        cli_note(cli, "the session is held out: no strategies");
    }
    if (reference.size > 0) {
        cli_note(cli, "reference: %.*s", SLICE_ARGS(reference));
    }
    return CLI_OK;
}

const struct command turn_commands[] = {
    {.group = "turns",
     .name = "record",
     .arguments = "SESSION TURN --query TEXT --outcome VALIDATION",
     .summary = "store a turn of a conversation and print its id",
     .help = "Stores the user's query, the strategy that found the answer, and the result of its "
             "validation.",
     .examples = {{"errata turns record chat-7 turn-1 --query 'laptops under 1000 dollars' \\\n"
                   "  --outcome APPROVE --tool shop --text 'laptop price<1000'",
                   NULL}},
     .options = record_options,
     COMMAND_CALL("TurnService/RecordTurn", .print = print_turn_id)},
    {.group = "turns",
     .name = "detect",
     .arguments = "SESSION TURN --message TEXT",
     .summary = "read a message as feedback on the previous turn",
     .help = "Marks the previous turn of the session and prints the feedback in the message with "
             "its reasons. TURN is the turn that the message begins; it need not be recorded yet.",
     .examples = {{"errata turns detect chat-7 turn-2 --message 'No, I meant gaming laptops'",
                   NULL}},
     .options = detect_options,
     COMMAND_CALL("TurnService/DetectFeedback", .print = print_detected)},
    {.group = "turns",
     .name = "list",
     .summary = "list turns, newest first",
     .help = "Lists turns, newest first, with the feedback on them.",
     .examples = {{"errata turns list --session chat-7", NULL},
                  {"errata turns list --status REJECTED", NULL}},
     .options = list_options,
     COMMAND_CALL("TurnService/ListTurns", .nothing = "no turns")},
    {.group = "turns",
     .name = "judge",
     .arguments = "SESSION TURN --status TURNSTATUS",
     .summary = "set the status of a turn",
     .help = "Sets a turn's status by a person's judgement, which has precedence over detected "
             "feedback.",
     .examples = {{"errata turns judge chat-7 turn-1 --status ACCEPTED --reason 'it was a joke'",
                   NULL}},
     .options = judge_options,
     COMMAND_CALL("TurnService/SetFeedback", .print = print_status)},
    {.group = "turns",
     .name = "session",
     .arguments = "SESSION",
     .summary = "count the turns of a session by status",
     .help = "Counts the turns of a session since its last silence of more than 30 minutes.",
     .examples = {{"errata turns session chat-7", NULL}},
     COMMAND_CALL("TurnService/GetSession", .print = print_session)},
    {.group = "turns",
     .name = "satisfaction",
     .summary = "show the mean satisfaction by day and by intent",
     .help =
         "Prints the mean satisfaction of all turns, including those without feedback. A rejected "
         "turn has -1; other turns have a value that depends on the validation, and 0.5 more if "
         "they were accepted.",
     .examples = {{"errata turns satisfaction --since 30d", NULL}},
     .options = satisfaction_options,
     COMMAND_CALL("TurnService/GetSatisfaction", .print = print_satisfaction)},
    {.group = "turns",
     .name = "export",
     .summary = "write turns in the form of metadata.json, one per line",
     .help =
         "Writes all turns, newest first, in the form of an assistant's metadata.json: ids, time, "
         "validation, quality, and the feedback on the answer. Each line is a JSON object.",
     .examples = {{"errata turns export --session chat-7 > turns.jsonl", NULL}},
     .options = export_options,
     .run = turns_export},
    {.group = "turns",
     .name = "chat",
     .arguments = "SESSION",
     .summary = "try a conversation and see how each message is read",
     .help =
         "Prompts for messages and their answers in turn, in a new session, and prints after each "
         "message the feedback on the previous answer: the cue, the similarity, the reason, and "
         "the conditions under which it would differ. An empty message ends the conversation. If "
         "the input is a file, its lines are messages and answers in turn. The turns are stored.",
     .examples = {{"errata turns chat trial-1", NULL},
                  {"printf '%s\\n' 'find laptops' 'Here are three.' 'No, tablets' |\n"
                   "  errata turns chat trial-2",
                   "messages and answers from another command"}},
     .run = turns_chat},
    {.group = "turns",
     .name = "search",
     .arguments = "TEXT|@FILE|-",
     .summary = "find strategies that worked for similar queries",
     .help = "Prints the strategies of turns with similar queries, accepted ones first, and those "
             "to avoid. Each line has status, similarity, turn, tool and text, separated by tabs.",
     .examples = {{"errata turns search 'laptops under 1000 dollars'", NULL}},
     .options = search_options,
     COMMAND_CALL("TurnService/SearchStrategies", .fill = fill_query, .print = print_strategies)},
    {.name = NULL}};
