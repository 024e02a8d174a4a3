/*
 * found_rules.c: see found_rules.h.
 */
#include "tools/errata/verdicts/found_rules.h"

#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

/* `lift 7.5 (4.0 to 14.2)` */
static struct slice lift_text(struct cli *cli, struct json_value finding)
{
    double lift = 0;
    double low = 0;
    double high = 0;

    (void)measures_double(cli, finding, "lift", &lift);
    (void)measures_double(cli, finding, "liftLow", &low);
    (void)measures_double(cli, finding, "liftHigh", &high);
    return arena_printf(&cli->arena, "lift %.1f (%.1f to %.1f)", lift, low, high);
}

static void print_found(struct cli *cli, struct json_value found)
{
    struct json_value rule = reply_member(found, "rule");
    struct json_value finding = reply_member(found, "finding");
    struct slice type = reply_word(cli, rule, "ruleType", "LEARNED_RULE_TYPE_");
    struct slice pattern = print_clean(&cli->arena, reply_text(cli, rule, "pattern"));
    struct slice targets = reply_count(cli, finding, "targetCount");
    struct slice hits = reply_count(cli, finding, "hitCount");
    struct slice lift = lift_text(cli, finding);
    struct slice agreements = reply_count(cli, finding, "agreementCount");
    struct slice alarms = reply_count(cli, finding, "falseAlarmCount");
    struct slice right = reply_count(cli, finding, "rightFlipCount");
    struct slice wrong = reply_count(cli, finding, "wrongFlipCount");

    print_text(&cli->out,
               "%.*s %.*s: %.*s of %.*s hits, %.*s; backtest: agreements %.*s, false alarms %.*s, "
               "flips right %.*s, wrong %.*s\n",
               SLICE_ARGS(type), SLICE_ARGS(pattern), SLICE_ARGS(targets), SLICE_ARGS(hits),
               SLICE_ARGS(lift), SLICE_ARGS(agreements), SLICE_ARGS(alarms), SLICE_ARGS(right),
               SLICE_ARGS(wrong));
}

enum cli_exit found_rules_print(struct cli *cli, struct json_value reply)
{
    struct reply_walk rules = reply_walk(reply, "rules");
    unsigned count = 0;

    for (; reply_next(&rules); count++) {
        print_found(cli, rules.row);
    }
    if (count == 0) {
        cli_note(cli, "no pattern is found");
    } else if (options_has(&cli->options, "dry-run")) {
        cli_note(cli, "found %u; nothing is stored with --dry-run", count);
    } else {
        cli_note(cli, "proposed %u; `errata rules shadow` or `activate` puts one into effect",
                 count);
    }
    return CLI_OK;
}
