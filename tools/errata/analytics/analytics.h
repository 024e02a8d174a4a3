/*
 * analytics.h: `errata analytics`: shows learning results. Each command has a file; this header
 * declares their shared functions.
 */
#ifndef ERRATA_TOOLS_ERRATA_ANALYTICS_ANALYTICS_H
#define ERRATA_TOOLS_ERRATA_ANALYTICS_ANALYTICS_H

#include "tools/errata/engine/command_call.h"

/* Maximum days of a range, by the contract. */
#define ANALYTICS_DAYS_MAX 366

extern const struct option_spec learning_options[];
extern const struct option_spec experiment_options[];
/* Callbacks of the commands `learning` and `experiment`, see command_call.h. */
MUST_CHECK enum cli_exit learning_check(struct request *request, struct cli *cli);
MUST_CHECK enum cli_exit learning_print(struct cli *cli, struct json_value reply);
MUST_CHECK enum cli_exit experiment_head(struct cli *cli, struct json_value reply);
void experiment_colour(struct cli *cli, struct json_value row, struct table *table);

/* Prints the report of the command `artifact`. */
MUST_CHECK enum cli_exit artifact_print(struct cli *cli, struct json_value reply);
/* `3 of 41 bad (7.3%), in 40 exposures`: the counts of one arm of a report, such as "served". */
struct slice artifact_outcomes(struct cli *cli, struct json_value report, const char *name);

/* Formats a member that is a share, such as `8.3%`; empty if it is absent. */
struct slice analytics_percent(struct cli *cli, struct json_value object, const char *name);
/* `+16.9%`. */
struct slice analytics_change(struct cli *cli, struct json_value object, const char *name);
/* Formats a count with its noun: `1 event`, `2 events`. */
struct slice analytics_counted(struct cli *cli, struct json_value object, const char *name,
                               const char *one, const char *many);

#endif
