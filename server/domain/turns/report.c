/*
 * report.c: see report.h.
 */
#include "server/domain/turns/report.h"

#include "server/domain/analytics/days.h"
#include "store/base/cancel.h"
#include "store/scan.h"

#include <stdlib.h>

static void add_turn(struct satisfaction *to, double score, enum turn_status status)
{
    to->turns++;
    to->sum += score;
    to->rejected += status == TURN_STATUS_REJECTED;
    to->accepted += status == TURN_STATUS_ACCEPTED;
}

/* Returns the row of a day, sorted after those of later days; NULL if there is no room. */
static struct satisfaction *find_day(struct satisfaction_report *report, uint32_t day)
{
    if (report->day_count == 0 || report->days[report->day_count - 1].day != day) {
        if (report->day_count == SATISFACTION_DAYS_MAX) {
            return NULL;
        }
        report->days[report->day_count].day = day;
        report->day_count++;
    }
    return &report->days[report->day_count - 1];
}

static struct satisfaction *find_intent(struct arena *arena, struct satisfaction_report *report,
                                        struct slice intent)
{
    struct satisfaction *row = NULL;

    for (size_t i = 0; i < report->intent_count; i++) {
        if (slice_equal(report->intents[i].intent, intent)) {
            return &report->intents[i];
        }
    }
    if (report->intent_count == SATISFACTION_INTENTS_MAX) {
        return NULL;
    }
    row = &report->intents[report->intent_count];
    if (!arena_copy(arena, intent, &row->intent)) {
        return NULL;
    }
    report->intent_count++;
    return row;
}

static void count_turn(struct arena *arena, const struct turn_record *record,
                       const struct turn_view *view, struct satisfaction_report *report)
{
    enum turn_status status = (enum turn_status)record->status;
    double score = turn_satisfaction(view->validation_outcome, status);
    struct satisfaction *day = find_day(report, (uint32_t)day_of(record->created_at_us));
    struct satisfaction *intent = find_intent(arena, report, view->intent);

    add_turn(&report->total, score, status);
    if (day != NULL) {
        add_turn(day, score, status);
    }
    if (intent != NULL) {
        add_turn(intent, score, status);
    }
}

/* Reads the turn of a list's row. */
static enum err read_turn(struct store_txn *txn, struct org_id org, struct slice value,
                          struct turn_record *ret_record, struct turn_view *ret_view)
{
    struct event event;
    enum err err = turn_read_listed(txn, org, value, ret_record);

    if (err == OK) {
        err = log_read(txn, org, ret_record->seq, &event);
    }
    if (err == OK) {
        err = turn_view_of_event(&event, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err satisfaction_count(struct arena *arena, struct store_txn *txn,
                            const struct satisfaction_query *query,
                            struct satisfaction_report *ret_report)
{
    struct key from = key_turn_time(query->org, query->end_us, 0);
    const struct scan_range range = {
        .table = TABLE_TURN_TIME,
        .prefix = key_org(query->org),
        .after = query->end_us == INT64_MAX ? slice_of(NULL, 0) : key_slice(&from),
        .rows_max = SATISFACTION_TURNS_MAX,
    };
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct turn_record record;
    struct turn_view view;
    struct scan scan;
    enum err err = scan_init(&scan, txn, &range);

    memset(ret_report, 0, sizeof(*ret_report));
    while (err == OK) {
        err = cancel_requested(query->cancelled) ? ERR_CANCELLED : scan_next(&scan, &key, &value);
        if (err == OK) {
            err = read_turn(txn, query->org, value, &record, &view);
        }
        if (err == OK && record.created_at_us < query->start_us) {
            err = ERR_NOT_FOUND;
        }
        if (err == OK && (query->intent.size == 0 || slice_equal(query->intent, view.intent))) {
            count_turn(arena, &record, &view, ret_report);
        }
    }
    ret_report->is_truncated = scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static struct detector_tally *find_cue(struct arena *arena, struct detector_report *report,
                                       const struct detection_evidence_view *evidence)
{
    struct detector_tally *tally = NULL;

    for (size_t i = 0; i < report->cue_count; i++) {
        tally = &report->cues[i];
        if (tally->row == evidence->row && slice_equal(tally->cue_class, evidence->cue_class) &&
            slice_equal(tally->cue, evidence->cue)) {
            return tally;
        }
    }
    if (report->cue_count == DETECTOR_CUES_MAX) {
        return NULL;
    }
    tally = &report->cues[report->cue_count];
    if (!arena_copy(arena, evidence->cue_class, &tally->cue_class) ||
        !arena_copy(arena, evidence->cue, &tally->cue)) {
        return NULL;
    }
    tally->row = evidence->row;
    report->cue_count++;
    return tally;
}

/* Counts a judgement of a detection. */
static enum err count_judgement(struct arena *arena, const struct event *event, uint8_t judged,
                                struct detector_report *report)
{
    struct feedback_detected_view detected;
    struct detection_evidence_view evidence;
    struct detector_tally *cue = NULL;
    enum err err = feedback_detected_view_read(event->facts, &detected);
    bool is_right = false;

    if (err == OK) {
        err = detection_evidence_view_read(detected.evidence, &evidence);
    }
    if (err != OK || judged < TURN_STATUS_REJECTED || judged > TURN_STATUS_NEUTRAL) {
        return err != OK ? err : ERR_CORRUPT;
    }
    is_right = (uint8_t)detected.feedback_type == judged;
    report->judged++;
    report
        ->confusion[detected.feedback_type - TURN_STATUS_REJECTED][judged - TURN_STATUS_REJECTED]++;
    report->rows[evidence.row].row = evidence.row;
    report->rows[evidence.row].judged++;
    report->rows[evidence.row].right += is_right;
    cue = evidence.cue.size > 0 ? find_cue(arena, report, &evidence) : NULL;
    if (cue != NULL) {
        cue->judged++;
        cue->right += is_right;
    }
    return OK;
}

static int compare_tallies(const void *a, const void *b)
{
    const struct detector_tally *left = a;
    const struct detector_tally *right = b;

    if (left->judged != right->judged) {
        return left->judged < right->judged ? 1 : -1;
    }
    return slice_compare(left->cue, right->cue);
}

enum err detector_count(struct arena *arena, struct store_txn *txn, struct org_id org,
                        const atomic_bool *cancelled, struct detector_report *ret_report)
{
    const struct scan_range range = {
        .table = TABLE_TURN_JUDGED,
        .prefix = key_org(org),
        .rows_max = DETECTOR_JUDGEMENTS_MAX,
    };
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct event event;
    struct scan scan;
    uint64_t seq = 0;
    enum err err = scan_init(&scan, txn, &range);

    memset(ret_report, 0, sizeof(*ret_report));
    while (err == OK) {
        err = cancel_requested(cancelled) ? ERR_CANCELLED : scan_next(&scan, &key, &value);
        if (err != OK) {
            break;
        }
        err = value.size == 1 ? key_read_org_newest_seq(key, &seq) : ERR_CORRUPT;
        if (err == OK) {
            err = log_read(txn, org, seq, &event);
            err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        if (err == OK) {
            err = count_judgement(arena, &event, value.data[0], ret_report);
        }
    }
    ret_report->is_truncated = scan.is_cut;
    scan_deinit(&scan);
    qsort(ret_report->cues, ret_report->cue_count, sizeof(ret_report->cues[0]), compare_tallies);
    return err == ERR_NOT_FOUND ? OK : err;
}
