/*
 * import_choices.c: see import_choices.h.
 */
#include "tools/errata/transfer/import_choices.h"

#include "store/base/buffer.h"

#include <stdlib.h>

/* The fields of --map. */
static const struct {
    const char *name;
    enum import_field field;
} fields[] = {{"id", IMPORT_ID},
              {"subject", IMPORT_SUBJECT},
              {"name", IMPORT_NAME},
              {"input", IMPORT_INPUT},
              {"before", IMPORT_BEFORE},
              {"after", IMPORT_AFTER},
              {"actor", IMPORT_ACTOR},
              {"annotator", IMPORT_ANNOTATOR},
              {"at", IMPORT_AT},
              {"metric", IMPORT_METRIC},
              {"value", IMPORT_VALUE},
              {"decision", IMPORT_DECISION},
              {"notes", IMPORT_NOTES},
              {"layout", IMPORT_LAYOUT},
              {"original_verdict", IMPORT_ORIGINAL_VERDICT},
              {"correct_verdict", IMPORT_CORRECT_VERDICT},
              {"original_score", IMPORT_ORIGINAL_SCORE},
              {"confirmed", IMPORT_CONFIRMED},
              {"rejected", IMPORT_REJECTED},
              {"missed", IMPORT_MISSED},
              {"rule_type", IMPORT_RULE_TYPE},
              {"pattern", IMPORT_PATTERN},
              {"adjustment", IMPORT_ADJUSTMENT},
              {"agents", IMPORT_AGENTS},
              {"rule", IMPORT_RULE_CONTENT},
              {"gate", IMPORT_GATE},
              {"epic", IMPORT_EPIC},
              {"task", IMPORT_TASK},
              {"agent", IMPORT_AGENT},
              {"seconds", IMPORT_SECONDS},
              {"output_sha", IMPORT_OUTPUT_SHA},
              {"approved_sha", IMPORT_APPROVED_SHA},
              {"tags", IMPORT_TAGS},
              {"summary", IMPORT_SUMMARY},
              {"diff", IMPORT_DIFF}};

static enum cli_exit unknown_field(struct cli *cli, const char *given)
{
    struct buffer names;

    buffer_init(&names, &cli->arena, 256);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        buffer_printf(&names, "%s%s", i > 0 ? ", " : "", fields[i].name);
    }
    return cli_usage(cli, "--map \"%s\": unknown field; expected COLUMN=FIELD with one of: %.*s",
                     given, SLICE_ARGS(buffer_slice(&names)));
}

static enum cli_exit read_map(struct cli *cli, struct import_options *options)
{
    const char *given = NULL;
    size_t count = 0;

    for (size_t at = 0; (given = options_next(&cli->options, "map", &at)) != NULL;) {
        const char *equals = strrchr(given, '=');
        struct slice column = slice_of(given, equals != NULL ? (size_t)(equals - given) : 0);
        struct slice copy = {NULL, 0};
        size_t i = 0;

        while (equals != NULL && i < sizeof(fields) / sizeof(fields[0]) &&
               strcmp(fields[i].name, equals + 1) != 0) {
            i++;
        }
        if (column.size == 0 || i == sizeof(fields) / sizeof(fields[0])) {
            return unknown_field(cli, given);
        }
        if (!arena_copy(&cli->kept, column, &copy)) {
            return cli_local(cli, "out of memory");
        }
        options->map[count++] = (struct import_member){fields[i].field, (const char *)copy.data};
    }
    options->choices.map = options->map;
    return CLI_OK;
}

static enum cli_exit read_thresholds(struct cli *cli, struct import_options *options)
{
    const char *given = NULL;

    for (size_t at = 0; (given = options_next(&cli->options, "good-from", &at)) != NULL;) {
        const char *equals = strrchr(given, '=');
        const char *number = equals != NULL ? equals + 1 : given;
        char *end = NULL;
        double value = strtod(number, &end);

        if (end == number || *end != '\0') {
            return cli_usage(
                cli, "--good-from \"%s\": invalid number; expected NUMBER or METRIC=NUMBER", given);
        }
        options->thresholds[options->choices.threshold_count++] = (struct import_threshold){
            slice_of(given, equals != NULL ? (size_t)(equals - given) : 0), value};
    }
    options->choices.thresholds = options->thresholds;
    return CLI_OK;
}

static void read_labels(struct cli *cli, struct import_options *options)
{
    const char *given = NULL;

    for (size_t at = 0; (given = options_next(&cli->options, "good-label", &at)) != NULL;) {
        options->labels[options->choices.label_count++] =
            (struct import_label){slice_text(given), true};
    }
    for (size_t at = 0; (given = options_next(&cli->options, "bad-label", &at)) != NULL;) {
        options->labels[options->choices.label_count++] =
            (struct import_label){slice_text(given), false};
    }
    options->choices.labels = options->labels;
}

enum cli_exit import_options_read(struct cli *cli, const struct import_source *source,
                                  struct import_options *options)
{
    enum cli_exit result = read_map(cli, options);

    if (result == CLI_OK) {
        result = read_thresholds(cli, options);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (source == &import_csv && options->map[0].field == IMPORT_NO_FIELD) {
        return cli_usage(cli, "csv: the columns are unknown; expected --map COLUMN=FIELD, such "
                              "as --map corrected=after");
    }
    if (source != &import_csv && options->map[0].field != IMPORT_NO_FIELD) {
        return cli_usage(cli, "--map: only for the source csv; %s has known members",
                         source->title);
    }
    read_labels(cli, options);
    options->choices.trusts_status = options_has(&cli->options, "trust-status");
    options->choices.layout = slice_text(options_get(&cli->options, "layout"));
    return CLI_OK;
}
