/*
 * measures.c: see measures.h. A submission is counted and uncounted by the same steps, with the opposite sign.
 */
#include "server/domain/verdicts/measures.h"

#include "server/domain/artifacts/artifacts.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/learners.h"
#include "server/domain/verdicts/measured_verdicts.h"

/* A submission that is being counted or uncounted. */
struct measuring {
    struct ctx *ctx;
    struct store_txn *txn;
    struct org_id org;
    uint64_t event_seq; /* seq of the submission */
    const struct event *cause; /* the applied event: the submission, or its retraction */
    enum verdict verdict; /* the correct verdict */
    int sign; /* 1, or -1 for a retraction */
};

/* The rules of one side that fired in one score. */
struct fired_side {
    uint64_t raising;
    uint64_t lowering;
};

/* Adds to a count; false if it would become negative. */
static bool change(uint64_t *count, int sign, uint64_t by)
{
    if (sign < 0 && *count < by) {
        return false;
    }
    *count = sign < 0 ? *count - by : *count + by;
    return true;
}

static bool has_direction(enum verdict verdict)
{
    return verdict == VERDICT_REAL || verdict == VERDICT_FAKE;
}

enum err rule_measure_read(struct store_txn *txn, struct org_id org, uint64_t rule_seq,
                           uint32_t version, struct rule_measure_record *ret_record)
{
    struct key key = key_rule_measure(org, rule_seq, version);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_RULE_MEASURE, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        *ret_record = (struct rule_measure_record){.agreed = 0};
        return OK;
    }
    return err != OK ? err : record_decode_rule_measure(value, ret_record);
}

static enum err write_measure(struct ctx *ctx, struct store_txn *txn, const struct key *key,
                              const struct rule_measure_record *record)
{
    struct slice value = {NULL, 0};
    enum err err = record_encode_rule_measure(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_RULE_MEASURE, key_slice(key), value);
}

static uint64_t since(uint64_t count, uint64_t kept)
{
    return count > kept ? count - kept : 0;
}

/* Returns whether a rule changed the score in the wrong direction in most of its firings since a
 * person last kept it. */
static bool is_sunset_due(const struct rule_measure_record *record)
{
    uint64_t right = since(record->agreed, record->kept_agreed);
    uint64_t wrong = since(record->disagreed, record->kept_disagreed);

    return right + wrong >= MEASURE_SUNSET_FIRINGS && wrong > right;
}

/* Proposes a rule for retirement, or withdraws the proposal, according to its measure. */
static enum err derive_state(const struct measuring *measuring,
                             const struct measured_rule_view *fired,
                             const struct rule_measure_record *record)
{
    enum artifact_state due =
        is_sunset_due(record) ? ARTIFACT_STATE_SUNSET_PROPOSED : ARTIFACT_STATE_ACTIVE;
    struct artifact_life_record before;
    struct learned_rule_row row;
    enum err err = learned_rule_read(measuring->txn, measuring->org, fired->seq, &row);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = row.record.life;
    if (before.version != fired->version || before.state == (uint32_t)due ||
        (before.state != ARTIFACT_STATE_ACTIVE && before.state != ARTIFACT_STATE_SUNSET_PROPOSED)) {
        return OK;
    }
    artifact_life_derive(&row.record.life, due, measuring->cause->seq);
    row.record.updated_at_us = measuring->cause->created_at_us;
    return learned_rule_write(measuring->ctx->arena, measuring->txn, measuring->org, &before, &row);
}

/* Counts one rule that fired. */
static enum err count_fired(const struct measuring *measuring,
                            const struct measured_rule_view *fired, bool agrees)
{
    struct key key = key_rule_measure(measuring->org, fired->seq, fired->version);
    bool is_decided = has_direction(measuring->verdict);
    const struct artifact_change outcome = {
        .arm = EXPERIMENT_ARM_NONE,
        .outcomes = measuring->sign,
        .bad = agrees ? 0 : measuring->sign,
        .outcome_seq = measuring->event_seq,
    };
    struct rule_measure_record record;
    uint64_t *count = NULL;
    enum err err =
        rule_measure_read(measuring->txn, measuring->org, fired->seq, fired->version, &record);

    if (err != OK) {
        return err;
    }
    count = agrees ? &record.agreed : &record.disagreed;
    if (!change(is_decided ? count : &record.undecided, measuring->sign, 1)) {
        return ERR_CORRUPT;
    }
    err = write_measure(measuring->ctx, measuring->txn, &key, &record);
    if (err == OK && is_decided) {
        err = artifact_count(measuring->ctx, measuring->txn, measuring->org, fired->seq, &outcome);
    }
    return err == OK && is_decided ? derive_state(measuring, fired, &record) : err;
}

enum err rule_set_measure_read(struct store_txn *txn, struct org_id org,
                               struct rule_set_measure_record *ret_record)
{
    struct key key = key_org(org);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_RULE_SET_MEASURE, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        *ret_record = (struct rule_set_measure_record){.scores = 0};
        return OK;
    }
    return err != OK ? err : record_decode_rule_set_measure(value, ret_record);
}

/* Counts one score for one side; `from` and `to` are the verdicts without and with its rules. */
static bool count_side(const struct measuring *measuring, const struct fired_side *fired,
                       enum verdict from, enum verdict to, struct rule_set_side *side)
{
    bool is_fake = measuring->verdict == VERDICT_FAKE;
    bool is_decided = has_direction(measuring->verdict);
    uint64_t count = fired->raising + fired->lowering;
    uint64_t agreed = is_fake ? fired->raising : fired->lowering;
    uint64_t *flips = to == measuring->verdict     ? &side->flips_right
                      : from == measuring->verdict ? &side->flips_wrong
                                                   : &side->flips_undecided;
    int sign = measuring->sign;

    return change(&side->covered, sign, count > 0) && change(&side->overlapping, sign, count > 1) &&
           change(&side->conflicting, sign, fired->raising > 0 && fired->lowering > 0) &&
           change(&side->agreed, sign, is_decided ? agreed : 0) &&
           change(&side->disagreed, sign, is_decided ? count - agreed : 0) &&
           change(&side->undecided, sign, is_decided ? 0 : count) &&
           change(&side->found, sign, is_decided && agreed > 0) && change(flips, sign, from != to);
}

/* Counts one score for the whole set. */
static enum err count_set(const struct measuring *measuring,
                          const struct measured_score_view *score, const struct fired_side *live,
                          const struct fired_side *shadow)
{
    struct key key = key_org(measuring->org);
    struct rule_set_measure_record record;
    struct slice value = {NULL, 0};
    enum err err = rule_set_measure_read(measuring->txn, measuring->org, &record);

    if (err != OK) {
        return err;
    }
    if (!change(&record.scores, measuring->sign, 1) ||
        !change(&record.directed, measuring->sign, has_direction(measuring->verdict)) ||
        !count_side(measuring, live, score->base_verdict, score->verdict, &record.live) ||
        !count_side(measuring, shadow, score->verdict, score->shadow_verdict, &record.shadow)) {
        return ERR_CORRUPT;
    }
    err = record_encode_rule_set_measure(measuring->ctx->arena, &record, &value);
    return err != OK ? err
                     : store_put(measuring->txn, TABLE_RULE_SET_MEASURE, key_slice(&key), value);
}

/* Counts the rules of one score, and the score. */
static enum err count_score(const struct measuring *measuring, struct slice message)
{
    struct measured_score_view score;
    struct measured_rule_view fired;
    struct fired_side live = {0, 0};
    struct fired_side shadow = {0, 0};
    struct slice rule = {NULL, 0};
    enum err err = measured_score_view_read(message, &score);

    if (err == OK && has_direction(measuring->verdict)) {
        err = measuring->sign < 0 ? measured_verdicts_subtract(measuring->txn, measuring->org,
                                                               measuring->verdict, score.as_of_seq)
                                  : measured_verdicts_add(measuring->txn, measuring->org,
                                                          measuring->verdict, score.as_of_seq);
    }
    while (err == OK && view_next(&score.fired.run, &rule)) {
        struct fired_side *side = NULL;

        err = measured_rule_view_read(rule, &fired);
        if (err == OK) {
            side = fired.shadow ? &shadow : &live;
            side->raising += fired.raises;
            side->lowering += !fired.raises;
            err = count_fired(measuring, &fired,
                              fired.raises == (measuring->verdict == VERDICT_FAKE));
        }
    }
    return err != OK ? err : count_set(measuring, &score, &live, &shadow);
}

static enum err count_all(const struct measuring *measuring,
                          const struct verdict_submission_view *view)
{
    struct slice scores = view->measured_scores.run;
    struct slice score = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&scores, &score)) {
        err = count_score(measuring, score);
    }
    return err;
}

enum err measures_count(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                        const struct verdict_submission_view *view)
{
    const struct measuring measuring = {
        .ctx = ctx,
        .txn = txn,
        .org = event->org,
        .event_seq = event->seq,
        .cause = event,
        .verdict = view->correct_verdict,
        .sign = 1,
    };
    struct slice seqs = view->exposure_seqs.run;
    uint64_t seq = 0;
    enum err err = count_all(&measuring, view);

    while (err == OK && view_next_number(&seqs, &seq)) {
        err = exposure_keep_outcome(txn, event->org, seq, EVENT_VERDICT_SUBMITTED, view->receipt_id,
                                    event->seq);
    }
    return err;
}

enum err measures_uncount(struct ctx *ctx, struct store_txn *txn, const struct event *retraction,
                          const struct event *event, const struct verdict_submission_view *view)
{
    const struct measuring measuring = {
        .ctx = ctx,
        .txn = txn,
        .org = event->org,
        .event_seq = event->seq,
        .cause = retraction,
        .verdict = view->correct_verdict,
        .sign = -1,
    };
    struct slice seqs = view->exposure_seqs.run;
    uint64_t seq = 0;
    enum err err = count_all(&measuring, view);

    while (err == OK && view_next_number(&seqs, &seq)) {
        err = exposure_forget_outcome(txn, event->org, seq, EVENT_VERDICT_SUBMITTED,
                                      view->receipt_id, event->seq);
    }
    return err;
}

enum err measures_keep(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       const struct learned_rule_row *row)
{
    uint32_t version = row->record.life.version;
    struct key key = key_rule_measure(org, row->seq, version);
    struct rule_measure_record record;
    enum err err = rule_measure_read(txn, org, row->seq, version, &record);

    if (err != OK) {
        return err;
    }
    record.kept_agreed = record.agreed;
    record.kept_disagreed = record.disagreed;
    return write_measure(ctx, txn, &key, &record);
}

/* --- reading --- */

/* A rule whose versions are being read, newest first. */
struct reading {
    struct store_txn *txn;
    struct org_id org;
    const struct learned_rule_row *row;
    struct rule_measures *measures;
    enum verdict direction; /* direction of the newest item */
};

/* Starts a version. */
static enum err begin_version(struct reading *reading, const struct artifact_life_record *life)
{
    struct rule_measures *measures = reading->measures;
    int64_t adjustment = reading->row->record.adjustment;
    struct rule_measure_record record;
    enum err err =
        rule_measure_read(reading->txn, reading->org, reading->row->seq, life->version, &record);

    if (err == OK && life->version != reading->row->record.life.version) {
        err =
            learned_rule_adjustment_at(reading->txn, reading->org, life->content_seq, &adjustment);
    }
    if (err != OK) {
        return err;
    }
    reading->direction =
        learned_rule_raises((enum learned_rule_type)reading->row->record.rule_type, adjustment)
            ? VERDICT_FAKE
            : VERDICT_REAL;
    measures->items[measures->count] = (struct rule_measure){
        .version = life->version,
        .agreed = record.agreed,
        .disagreed = record.disagreed,
        .undecided = record.undecided,
    };
    measures->count++;
    return OK;
}

/* Adds to `missed` the verdicts that the version could have found during the period of `life`. */
static enum err add_chances(struct reading *reading, const struct artifact_life_record *life)
{
    struct rule_measure *measure = &reading->measures->items[reading->measures->count - 1];
    uint64_t end_seq = life->valid_to_seq != 0 ? life->valid_to_seq : UINT64_MAX;
    uint64_t before = 0;
    uint64_t after = 0;
    enum err err = OK;

    if (life->held_back || !(artifact_life_is_live(life) || life->state == ARTIFACT_STATE_SHADOW)) {
        return OK;
    }
    err = measured_verdicts_before(reading->txn, reading->org, reading->direction,
                                   life->valid_from_seq, &before);
    if (err == OK) {
        err = measured_verdicts_before(reading->txn, reading->org, reading->direction, end_seq,
                                       &after);
    }
    if (err == OK) {
        measure->missed += after - before;
    }
    return err;
}

/* Subtracts the agreements from the verdicts that could have been found. */
static enum err subtract_agreed(struct rule_measures *measures)
{
    for (size_t i = 0; i < measures->count; i++) {
        struct rule_measure *measure = &measures->items[i];

        if (measure->missed < measure->agreed) {
            return ERR_CORRUPT;
        }
        measure->missed -= measure->agreed;
    }
    return OK;
}

enum err rule_measures_read(struct store_txn *txn, struct org_id org,
                            const struct learned_rule_row *row, struct rule_measures *ret_measures)
{
    struct reading reading = {.txn = txn, .org = org, .row = row, .measures = ret_measures};
    struct artifact_life_record life;
    struct scan scan = {.rows_max = 0};
    enum err err = artifact_life_scan(&scan, txn, org, row->seq);

    ret_measures->count = 0;
    while (err == OK) {
        size_t count = ret_measures->count;

        err = artifact_life_next(&scan, &life);
        if (err == OK && (count == 0 || ret_measures->items[count - 1].version != life.version)) {
            err = count == MEASURE_VERSIONS_MAX ? ERR_NOT_FOUND : begin_version(&reading, &life);
        }
        if (err == OK) {
            err = add_chances(&reading, &life);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? subtract_agreed(ret_measures) : err;
}
