/*
 * weights.c: see weights.h.
 */
#include "tools/errata/verdicts/weights.h"

#include "tools/errata/engine/resolve.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

/* `+0.29 (+0.12 to +0.5)` */
struct slice cell_suggested(struct cli *cli, struct json_value object, const char *name)
{
    struct slice weight = cell_adjustment(cli, object, name);
    struct slice low = cell_adjustment(cli, object, "low");
    struct slice high = cell_adjustment(cli, object, "high");

    return arena_printf(&cli->arena, "%.*s (%.*s to %.*s)", SLICE_ARGS(weight), SLICE_ARGS(low),
                        SLICE_ARGS(high));
}

struct slice cell_weight_flips(struct cli *cli, struct json_value object, const char *name)
{
    struct slice right = reply_count(cli, object, "rightFlipCount");
    struct slice wrong = reply_count(cli, object, "wrongFlipCount");

    (void)name;
    return arena_printf(&cli->arena, "%.*s right, %.*s wrong", SLICE_ARGS(right),
                        SLICE_ARGS(wrong));
}

struct slice cell_flipped(struct cli *cli, struct json_value object, const char *name)
{
    struct reply_walk flips = reply_walk(object, name);
    struct buffer text;

    buffer_init(&text, &cli->arena, 256);
    while (reply_next(&flips)) {
        struct slice receipt = print_clean(&cli->arena, reply_text(cli, flips.row, "receiptId"));
        struct slice before = reply_word(cli, flips.row, "previousVerdict", "VERDICT_");
        struct slice after = reply_word(cli, flips.row, "verdict", "VERDICT_");

        buffer_printf(&text, "%s%.*s %.*s -> %.*s", text.size == 0 ? "" : ", ", SLICE_ARGS(receipt),
                      SLICE_ARGS(before), SLICE_ARGS(after));
    }
    return buffer_slice(&text);
}

enum cli_exit weights_fill(struct request *request, struct cli *cli)
{
    const char *given = NULL;
    struct buffer list;

    buffer_init(&list, &cli->arena, 256);
    for (size_t at = 0; (given = options_next(&cli->options, "rule", &at)) != NULL;) {
        struct slice id = {NULL, 0};
        enum cli_exit result = resolve_prefix(cli, SLICE("RULE"), slice_text(given), &id);

        if (result != CLI_OK) {
            return result;
        }
        buffer_printf(&list, "%s{\"rule_id\":", list.size == 0 ? "[" : ",");
        json_write_string(&list, id, false);
        buffer_printf(&list, "}");
    }
    if (list.size == 0) {
        return cli_usage(cli, "--rule: missing; expected at least one rule");
    }
    buffer_append_byte(&list, ']');
    request_raw(request, "weights", buffer_slice(&list));
    return CLI_OK;
}

enum cli_exit weights_print(struct cli *cli, struct json_value reply)
{
    struct reply_walk changes = reply_walk(reply, "changes");
    struct slice unchanged = reply_count(cli, reply, "unchangedCount");
    unsigned count = 0;

    for (; reply_next(&changes); count++) {
        struct json_value rule = reply_member(changes.row, "rule");
        struct slice type = reply_word(cli, rule, "ruleType", "LEARNED_RULE_TYPE_");
        struct slice pattern = print_clean(&cli->arena, reply_text(cli, rule, "pattern"));
        struct slice weight = cell_adjustment(cli, rule, "confidenceAdjustment");
        struct slice before = cell_adjustment(cli, changes.row, "previousWeight");
        struct slice agreed = reply_count(cli, changes.row, "agreedCount");
        struct slice disagreed = reply_count(cli, changes.row, "disagreedCount");

        print_text(&cli->out, "%.*s %.*s: %.*s, was %.*s (%.*s agreed, %.*s disagreed)\n",
                   SLICE_ARGS(type), SLICE_ARGS(pattern), SLICE_ARGS(weight), SLICE_ARGS(before),
                   SLICE_ARGS(agreed), SLICE_ARGS(disagreed));
    }
    cli_note(cli, "%schanged %u, unchanged %.*s",
             options_has(&cli->options, "apply") ? "" : "nothing is stored without --apply: ",
             count, SLICE_ARGS(unchanged));
    return CLI_OK;
}
