/*
 * rule_files.c: see rule_files.h.
 */
#include "tools/errata/verdicts/rule_files.h"

#include "tools/errata/engine/input.h"
#include "tools/errata/engine/stream_call.h"
#include "tools/errata/engine/view_cells.h"

#include "store/base/wire.h"

#include <errata/v1/verdict_service.fields.h>

/* Prints a piece of the document unchanged. */
static enum cli_exit print_piece(struct cli *cli, struct slice message, void *user)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = OK;

    (void)user;
    while ((err = wire_next(&reader, &field)) == OK) {
        if (field.number == EXPORT_LEARNED_RULES_RESPONSE_PIECE_FIELD && !cli->json) {
            print_bytes(&cli->out, field.bytes);
        }
    }
    return err == ERR_NOT_FOUND ? CLI_OK
                                : cli_local(cli, "the server sent a reply that does not decode");
}

enum cli_exit rule_export_run(struct cli *cli)
{
    const struct stream_call call = {.path = "/errata.v1.VerdictService/ExportLearnedRules",
                                     .take = print_piece};

    return stream_call_run(cli, &call);
}

enum cli_exit rule_import_fill(struct request *request, struct cli *cli)
{
    struct slice document = {NULL, 0};
    enum cli_exit result = input_file(cli, cli->options.words[0], INPUT_BYTES_MAX, &document);

    if (result == CLI_OK) {
        request_text(request, "document_json", document);
    }
    return result;
}

/* `UPDATED MISSED_INDICATOR font: +0.04 enabled, was +0.03 disabled` */
static void print_change(struct cli *cli, struct json_value change)
{
    struct json_value rule = reply_member(change, "rule");
    struct json_value previous = reply_member(change, "previous");
    struct slice effect = reply_word(cli, change, "effect", "LEARNED_RULE_IMPORT_EFFECT_");
    struct slice type = reply_word(cli, rule, "ruleType", "LEARNED_RULE_TYPE_");
    struct slice pattern = print_clean(&cli->arena, reply_text(cli, rule, "pattern"));
    struct slice adjustment = cell_adjustment(cli, rule, "confidenceAdjustment");
    struct slice state = cell_rule_state(cli, rule, "state");

    print_text(&cli->out, "%.*s %.*s %.*s: %.*s %.*s", SLICE_ARGS(effect), SLICE_ARGS(type),
               SLICE_ARGS(pattern), SLICE_ARGS(adjustment), SLICE_ARGS(state));
    if (reply_text(cli, previous, "id").size > 0) {
        adjustment = cell_adjustment(cli, previous, "confidenceAdjustment");
        state = cell_rule_state(cli, previous, "state");
        print_text(&cli->out, ", was %.*s %.*s", SLICE_ARGS(adjustment), SLICE_ARGS(state));
    }
    print_text(&cli->out, "\n");
}

enum cli_exit rule_import_print(struct cli *cli, struct json_value reply)
{
    struct reply_walk changes = reply_walk(reply, "changes");
    struct slice created = reply_count(cli, reply, "createdCount");
    struct slice updated = reply_count(cli, reply, "updatedCount");
    struct slice retired = reply_count(cli, reply, "retiredCount");
    struct slice unchanged = reply_count(cli, reply, "unchangedCount");

    while (reply_next(&changes)) {
        print_change(cli, changes.row);
    }
    cli_note(cli, "%screated %.*s, updated %.*s, retired %.*s, unchanged %.*s%s",
             options_has(&cli->options, "dry-run") ? "dry run, nothing is stored: " : "",
             SLICE_ARGS(created), SLICE_ARGS(updated), SLICE_ARGS(retired), SLICE_ARGS(unchanged),
             slice_equal(reply_text(cli, reply, "incomplete"), SLICE("true"))
                 ? "; only the first changes are listed"
                 : "");
    return CLI_OK;
}
