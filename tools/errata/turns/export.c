/*
 * export.c: `errata turns export`: turns as the files `metadata.json` of an assistant, one on each line.
 */
#include "tools/errata/engine/paging.h"
#include "tools/errata/turns/turns.h"

#define PAGE_ROWS 500

static void put_name(struct buffer *line, const char *name, bool is_first)
{
    buffer_printf(line, "%s\"%s\":", is_first ? "" : ",", name);
}

/* Adds a text, or null without one. */
static void put_text(struct buffer *line, const char *name, struct slice text)
{
    put_name(line, name, false);
    if (text.size == 0) {
        buffer_append(line, SLICE("null"));
    } else {
        json_write_string(line, text, false);
    }
}

/* Adds a number as it was received; proto JSON has none for 0. */
static void put_number(struct cli *cli, struct buffer *line, const char *name,
                       struct json_value object, const char *member)
{
    struct slice number = reply_text(cli, object, member);

    put_name(line, name, false);
    buffer_append(line, number.size > 0 ? number : SLICE("0"));
}

static struct slice correction_of(struct cli *cli, struct json_value feedback)
{
    static const char *const types[][2] = {{"EXPLICIT", "explicit_correction"},
                                           {"REPHRASED", "rephrased_query"},
                                           {"ABANDONMENT", "abandonment"}};
    struct slice type = reply_word(cli, feedback, "correctionType", "CORRECTION_TYPE_");

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (slice_equal(type, slice_text(types[i][0]))) {
            return slice_text(types[i][1]);
        }
    }
    return slice_of(NULL, 0);
}

static struct slice status_of(struct cli *cli, struct json_value feedback)
{
    struct slice status = reply_word(cli, feedback, "status", "TURN_STATUS_");

    if (slice_equal(status, SLICE("REJECTED"))) {
        return SLICE("rejected");
    }
    return slice_equal(status, SLICE("ACCEPTED")) ? SLICE("accepted") : SLICE("neutral");
}

static void put_feedback(struct cli *cli, struct buffer *line, struct json_value feedback)
{
    put_name(line, "user_feedback", false);
    buffer_append(line, SLICE("{"));
    put_name(line, "status", true);
    json_write_string(line, status_of(cli, feedback), false);
    put_text(line, "detected_at", reply_text(cli, feedback, "detectedAt"));
    put_text(line, "detected_in_turn", reply_text(cli, feedback, "detectedInTurn"));
    put_text(line, "correction_type", correction_of(cli, feedback));
    put_number(cli, line, "confidence", feedback, "confidence");
    put_text(line, "user_said", reply_text(cli, feedback, "userSaid"));
    buffer_append(line, SLICE("}"));
}

static enum cli_exit print_turn(struct cli *cli, struct json_value turn)
{
    struct buffer line;

    buffer_init(&line, &cli->arena, 512);
    buffer_append(&line, SLICE("{"));
    put_name(&line, "turn_id", true);
    json_write_string(&line, reply_text(cli, turn, "turnId"), false);
    put_text(&line, "session_id", reply_text(cli, turn, "sessionId"));
    put_text(&line, "timestamp", reply_text(cli, turn, "createdAt"));
    put_text(&line, "validation_outcome",
             reply_word(cli, turn, "validationOutcome", "VALIDATION_OUTCOME_"));
    put_number(cli, &line, "quality_score", turn, "qualityScore");
    put_feedback(cli, &line, reply_member(turn, "userFeedback"));
    buffer_append(&line, SLICE("}"));
    if (!buffer_ok(&line)) {
        return cli_local(cli, "out of memory");
    }
    print_json(&cli->out, buffer_slice(&line));
    return CLI_OK;
}

enum cli_exit turns_export(struct cli *cli)
{
    static const struct command_call call = {.method = "/errata.v1.TurnService/ListTurns"};
    struct paging_filter filter;
    enum cli_exit result = paging_filter_make(cli, &call, &filter);
    bool more = true;

    /* The loop is bounded by the list: each page is after the one before. */
    while (result == CLI_OK && more) {
        struct json_value reply = {JSON_NULL, {NULL, 0}};
        struct slice json = {NULL, 0};
        struct reply_walk walk;

        result = paging_fetch(cli, &call, &filter, PAGE_ROWS, &json);
        if (result == CLI_OK) {
            result = reply_parse(cli, json, &reply);
        }
        if (result != CLI_OK) {
            break;
        }
        walk = reply_walk(reply, "turns");
        while (result == CLI_OK && reply_next(&walk)) {
            result = print_turn(cli, walk.row);
        }
        more = paging_advance(cli, &filter, reply);
    }
    arena_deinit(&filter.arena);
    return result;
}
