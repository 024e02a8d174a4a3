/*
 * chat.c: `errata turns chat`: a conversation, message by message, with the feedback of each message on the previous answer, its
 * reason, and the conditions under which it would differ. Prompts on a terminal; otherwise the input's lines alternate.
 */
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/request.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/turns/turns.h"

#include <unistd.h>

#define DETECT "/errata.v1.TurnService/DetectFeedback"
#define LIST "/errata.v1.TurnService/ListTurns"
#define RECORD "/errata.v1.TurnService/RecordTurn"
/* Maximum size of a message, by the contract, and a line feed. */
#define LINE_BYTES ((size_t)16384 + 2)
/* Maximum messages of one conversation: more than a person writes. */
#define MESSAGES_MAX 10000

struct chat {
    struct cli *cli;
    const char *session;
    bool asks; /* on a terminal */
    char message[LINE_BYTES];
    char answer[LINE_BYTES];
};

/* Reads a line; returns false at the end of the input. */
static bool read_line(struct chat *chat, const char *question, char *line)
{
    if (chat->asks) {
        print_text(&chat->cli->out, "%s", question);
        (void)fflush(chat->cli->out.stream);
    }
    if (fgets(line, LINE_BYTES, stdin) == NULL) {
        return false;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

static struct slice turn_id(struct chat *chat, unsigned number)
{
    return arena_printf(&chat->cli->arena, "turn_%u", number);
}

/* --- reasons --- */

/* The reason for each row, and the conditions for another one. */
struct reason {
    const char *row;
    const char *why;
    const char *instead;
};

static const struct reason reasons[] = {
    {"EXPLICIT", "an explicit rejection",
     "without these words the similarity decides: above 0.85 the message repeats the query"},
    {"REPHRASED", "the query in other words; the similarity is the confidence",
     "at 0.8 or below, or with another intent, it would be a separate message"},
    {"ABANDONMENT", "the user gives up", "without these words the following rows decide"},
    {"CONTINUATION", "the message continues from the answer",
     "words of rejection, or a similarity above 0.85, would have precedence"},
    {"TOPIC_CHANGE", "a query about something else: the user moved on",
     "at a similarity of 0.3 or more, or with fewer than 2 content words, it would be NEUTRAL"},
    {"NOTHING", "no feedback on the answer",
     "above a similarity of 0.85, or 0.8 with the same intent, it is REJECTED; below 0.3 ACCEPTED"},
};

void turns_print_evidence(struct cli *cli, struct json_value reply)
{
    struct json_value cue = reply_member(reply, "matchedCue");
    struct json_value evidence = reply_member(cue, "evidence");

    reply_print_member(cli, "matched", reply_text(cli, cue, "matched"));
    reply_print_member(cli, "similarity", measures_share(cli, evidence, "similarity"));
    reply_print_member(cli, "rejection probability",
                       measures_share(cli, evidence, "rejectionProbability"));
}

void turns_print_reason(struct cli *cli, struct json_value reply)
{
    struct json_value evidence = reply_member(reply_member(reply, "matchedCue"), "evidence");
    struct slice row = reply_word(cli, evidence, "row", "DETECTION_ROW_");
    struct slice vetoed = reply_word(cli, evidence, "vetoedRow", "DETECTION_ROW_");

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (slice_equal(row, slice_text(reasons[i].row))) {
            reply_print_member(cli, "because", slice_text(reasons[i].why));
            reply_print_member(cli, "otherwise", slice_text(reasons[i].instead));
        }
    }
    if (vetoed.size > 0) {
        reply_print_member(
            cli, "model",
            arena_printf(&cli->arena,
                         "row %.*s applied, but the probability of a rejection is too low",
                         SLICE_ARGS(vetoed)));
    }
    if (reply_text(cli, evidence, "late").size > 0) {
        reply_print_member(cli, "late",
                           SLICE("after more than 30 minutes only an explicit rejection counts"));
    }
}

/* Prints the feedback of a message on the previous answer. */
static void print_detected(struct cli *cli, struct json_value reply)
{
    struct json_value evidence = reply_member(reply_member(reply, "matchedCue"), "evidence");
    struct slice pattern = reply_text(cli, evidence, "cue");

    reply_align_members(cli, "rejections in sequence");
    print_text(&cli->out, "%.*s %.*s\n",
               SLICE_ARGS(reply_word(cli, reply, "feedbackType", "TURN_STATUS_")),
               SLICE_ARGS(measures_share(cli, reply, "confidence")));
    if (pattern.size > 0) {
        reply_print_member(cli, "cue",
                           arena_printf(&cli->arena, "%.*s: %.*s",
                                        SLICE_ARGS(reply_text(cli, evidence, "cueClass")),
                                        SLICE_ARGS(pattern)));
    }
    turns_print_evidence(cli, reply);
    turns_print_reason(cli, reply);
    if (reply_text(cli, reply, "suggestClarify").size > 0) {
        reply_print_member(cli, "rejections in sequence",
                           reply_count(cli, reply, "consecutiveRejections"));
    }
    print_text(&cli->out, "\n");
}

/* --- the conversation --- */

static enum cli_exit detect(struct chat *chat, unsigned number)
{
    struct cli *cli = chat->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct request request;
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    request_text(&request, "session_id", slice_text(chat->session));
    request_text(&request, "turn_id", turn_id(chat, number));
    request_text(&request, "message", slice_text(chat->message));
    result = cli_call_reply(cli, DETECT, request_end(&request), &reply);
    if (result == CLI_OK && number > 1) {
        print_detected(cli, reply);
    }
    return result;
}

static enum cli_exit record(struct chat *chat, unsigned number)
{
    struct cli *cli = chat->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct request request;

    request_begin(&request, cli);
    request_open(&request, "turn");
    request_text(&request, "session_id", slice_text(chat->session));
    request_text(&request, "turn_id", turn_id(chat, number));
    request_text(&request, "validation_outcome", SLICE("APPROVE"));
    request_text(&request, "query", slice_text(chat->message));
    request_text(&request, "response_summary", slice_text(chat->answer));
    request_close(&request);
    return cli_call_reply(cli, RECORD, request_end(&request), &reply);
}

/* Refuses a session that has turns, since their ids would equal those of new ones. */
static enum cli_exit check_new(struct chat *chat)
{
    struct cli *cli = chat->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct request request;
    struct reply_walk walk;
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    request_text(&request, "session_id", slice_text(chat->session));
    request_raw(&request, "page_size", SLICE("1"));
    result = cli_call_reply(cli, LIST, request_end(&request), &reply);
    walk = reply_walk(reply, "turns");
    if (result == CLI_OK && reply_next(&walk)) {
        result = cli_usage(cli, "SESSION \"%s\": has turns; expected a new session", chat->session);
    }
    arena_reset(&cli->arena);
    return result;
}

/* Ends the line of the prompt, and names the command that shows the session. */
static void print_end(struct chat *chat, unsigned stored)
{
    if (chat->asks && feof(stdin) != 0) {
        print_text(&chat->cli->out, "\n");
    }
    if (stored > 0) {
        cli_note(chat->cli, "%u turn%s stored; `errata turns list --session %s` shows them", stored,
                 stored == 1 ? " is" : "s are", chat->session);
    }
}

enum cli_exit turns_chat(struct cli *cli)
{
    struct chat *chat = arena_calloc(&cli->kept, 1, sizeof(*chat));
    enum cli_exit result = CLI_OK;
    unsigned stored = 0;

    if (cli->json) {
        return cli_usage(cli, "--json: not for chat; expected `errata turns detect --json`");
    }
    if (chat == NULL) {
        return cli_local(cli, "out of memory");
    }
    chat->cli = cli;
    chat->session = cli->options.words[0];
    chat->asks = cli->out.terminal && isatty(STDIN_FILENO) == 1;
    result = check_new(chat);
    for (unsigned number = 1; result == CLI_OK && number <= MESSAGES_MAX; number++) {
        if (!read_line(chat, "message> ", chat->message) || chat->message[0] == '\0') {
            break;
        }
        result = detect(chat, number);
        if (result != CLI_OK || !read_line(chat, "answer>  ", chat->answer)) {
            break;
        }
        result = record(chat, number);
        stored += result == CLI_OK ? 1 : 0;
        arena_reset(&cli->arena);
    }
    if (result == CLI_OK) {
        print_end(chat, stored);
    }
    return result;
}
