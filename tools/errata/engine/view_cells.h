/*
 * view_cells.h: functions for cells of resources.def whose format does not follow from a
 * descriptor, by command group. Each returns the text of the member `name` of an object or, if the
 * name is empty, of a whole row.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_VIEW_CELLS_H
#define ERRATA_TOOLS_ERRATA_ENGINE_VIEW_CELLS_H

#include "tools/errata/engine/view.h"

/* corrections/ */
/* omits the prefix EXTRACTION_ on a terminal */
struct slice cell_event_type(struct cli *cli, struct json_value object, const char *name);
/* `qty 10 -> 12, note added` of a diff */
struct slice cell_changes(struct cli *cli, struct json_value object, const char *name);
/* `TYPE/ID` */
struct slice cell_entity(struct cli *cli, struct json_value object, const char *name);
/* `partial, superseded` */
struct slice cell_marks(struct cli *cli, struct json_value object, const char *name);
/* `+0.12` */
struct slice cell_gain(struct cli *cli, struct json_value object, const char *name);
/* admin/ */
/* a number without separators */
struct slice cell_digits(struct cli *cli, struct json_value object, const char *name);
/* `document:invoice-17` */
struct slice cell_subject(struct cli *cli, struct json_value object, const char *name);
/* summary of the recorded event */
struct slice cell_event_summary(struct cli *cli, struct json_value object, const char *name);
/* `active`, `expired`, `revoked` */
struct slice cell_token_state(struct cli *cli, struct json_value object, const char *name);
/* the date of a time that is exact to the day */
struct slice cell_day(struct cli *cli, struct json_value object, const char *name);
/* the path without errata.v1. */
struct slice cell_method(struct cli *cli, struct json_value object, const char *name);
/* the gRPC status code's name */
struct slice cell_code(struct cli *cli, struct json_value object, const char *name);
/* a counter of bytes or microseconds with a unit */
struct slice cell_counter_meaning(struct cli *cli, struct json_value object, const char *name);
/* a count; nothing if it is 0, so that a column of zeros is omitted */
struct slice cell_nonzero(struct cli *cli, struct json_value object, const char *name);
/* `organisation`, or the key id of a token */
struct slice cell_quota_holder(struct cli *cli, struct json_value object, const char *name);
/* `100, burst 300` */
struct slice cell_quota_requests(struct cli *cli, struct json_value object, const char *name);
/* calls that may begin at once; nothing without a limit */
struct slice cell_quota_available(struct cli *cli, struct json_value object, const char *name);
/* `3 of 10`; also returned by the following functions */
struct slice cell_quota_streams(struct cli *cli, struct json_value object, const char *name);
struct slice cell_quota_stored(struct cli *cli, struct json_value object, const char *name);
struct slice cell_quota_pdf_jobs(struct cli *cli, struct json_value object, const char *name);
/* layouts/ */
/* a mean with four digits */
struct slice cell_mean(struct cli *cli, struct json_value object, const char *name);
/* `rules 2, Poppler 22.12.0` of `2/22.12.0` */
struct slice cell_rules(struct cli *cli, struct json_value object, const char *name);
/* mappings/ */
/* the time, or `never` */
struct slice cell_last_used(struct cli *cli, struct json_value object, const char *name);
/* decisions/ */
/* the reasons of a class, separated by `; ` */
struct slice cell_reasons(struct cli *cli, struct json_value object, const char *name);
/* guidelines/ */
/* the users who approved a proposal, such as `anna, berta` */
struct slice cell_voters(struct cli *cli, struct json_value object, const char *name);
/* `1 of 2` votes of a proposal */
struct slice cell_votes(struct cli *cli, struct json_value object, const char *name);
struct slice cell_bad_outcomes(struct cli *cli, struct json_value object, const char *name);
struct slice cell_change_per_100(struct cli *cli, struct json_value object, const char *name);
/* the conflicts of a proposal, such as `CONTRADICTION 0192...: numbers that cannot both hold` */
struct slice cell_conflicts(struct cli *cli, struct json_value object, const char *name);
/* reviews/ */
/* the findings of a review, such as `bad format; missing: Width, Height` */
struct slice cell_findings(struct cli *cli, struct json_value object, const char *name);
/* `event 17: again BAD_FORMAT` of each exposure that a review cites */
struct slice cell_cited_prompts(struct cli *cli, struct json_value object, const char *name);
/* `40%`, or `-` for an absent one; proto JSON omits no `optional` 0 */
struct slice cell_percent(struct cli *cli, struct json_value object, const char *name);
/* `yes`, or nothing */
struct slice cell_yes(struct cli *cli, struct json_value object, const char *name);
/* verdicts/ */
/* `+0.05` */
struct slice cell_adjustment(struct cli *cli, struct json_value object, const char *name);
/* `enabled`, `disabled` or `retired` */
struct slice cell_rule_state(struct cli *cli, struct json_value object, const char *name);
/* the gate that suppressed a rule, such as `POS_LAYOUT`, or nothing */
struct slice cell_gate(struct cli *cli, struct json_value object, const char *name);
/* `learned from submissions` */
struct slice cell_rule_source(struct cli *cli, struct json_value object, const char *name);
/* number of firings of a version of a rule */
struct slice cell_hits(struct cli *cli, struct json_value object, const char *name);
/* `+0.29 (+0.12 to +0.5)` of a suggested weight */
struct slice cell_suggested(struct cli *cli, struct json_value object, const char *name);
/* `3 right, 1 wrong` */
struct slice cell_weight_flips(struct cli *cli, struct json_value object, const char *name);
/* `r-17 REAL -> FAKE, r-18 ...` */
struct slice cell_flipped(struct cli *cli, struct json_value object, const char *name);
/* a measured share with its interval, such as `0.50 (0.09 to 0.91) of 2` */
struct slice cell_rate(struct cli *cli, struct json_value object, const char *name);
/* analytics/ */
/* share of an arm, such as `91.2% of 320` */
struct slice cell_arm(struct cli *cli, struct json_value object, const char *name);
struct slice cell_interval(struct cli *cli, struct json_value object, const char *name);
struct slice cell_p_value(struct cli *cli, struct json_value object, const char *name);
struct slice cell_verdict(struct cli *cli, struct json_value object, const char *name);
/* learning/ */
/* `example`, `mapping`, `template`, `rule`, `wording`, `example item`, or `expired`; and `held out` */
struct slice cell_artifact_kind(struct cli *cli, struct json_value object, const char *name);
struct slice cell_artifact_text(struct cli *cli, struct json_value object, const char *name);
struct slice cell_artifact_id(struct cli *cli, struct json_value object, const char *name);
/* the newest event, and its document or the number of the others */
struct slice cell_evidence(struct cli *cli, struct json_value object, const char *name);
struct slice cell_evidence_time(struct cli *cli, struct json_value object, const char *name);
/* `superseded by ID`, or the status of a mapping */
struct slice cell_since(struct cli *cli, struct json_value object, const char *name);
/* `corrected by ID`, `not corrected`, `applied`; of a review, the signals that it gives again; of a receipt, its verdict */
struct slice cell_outcome(struct cli *cli, struct json_value object, const char *name);
/* the document, the receipt or the run */
struct slice cell_outcome_subject(struct cli *cli, struct json_value object, const char *name);
/* `BAD_FORMAT, NOTES` */
struct slice cell_signals(struct cli *cli, struct json_value object, const char *name);
/* the runs whose reviews gave a signal, newest first */
struct slice cell_signal_runs(struct cli *cli, struct json_value object, const char *name);
/* `EXTRACTION_REVIEW: Check.; ...` */
struct slice cell_signal_texts(struct cli *cli, struct json_value object, const char *name);

#endif
