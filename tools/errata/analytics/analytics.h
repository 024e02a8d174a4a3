/*
 * analytics.h: `errata analytics`: what the loop learned, for people. Each command is a file; what they
 * share is here.
 */
#ifndef ERRATA_TOOLS_ERRATA_ANALYTICS_ANALYTICS_H
#define ERRATA_TOOLS_ERRATA_ANALYTICS_ANALYTICS_H

#include "tools/errata/engine/command_call.h"

/* Days of a range, by the contract. */
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
/* `3 of 41 bad (7.3%), in 40 exposures`: a side of a report, such as "served". */
struct slice artifact_outcomes(struct cli *cli, struct json_value report, const char *name);

/* `8.3%` of a member that is a share; empty where it is left out. */
struct slice analytics_percent(struct cli *cli, struct json_value object, const char *name);
/* `+16.9%`. */
struct slice analytics_change(struct cli *cli, struct json_value object, const char *name);
/* `1 event`, `2 events`: a count and what it counts. */
struct slice analytics_counted(struct cli *cli, struct json_value object, const char *name,
                               const char *one, const char *many);

#endif
