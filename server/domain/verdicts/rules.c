/*
 * rules.c: see rules.h.
 */
#include "server/domain/verdicts/rules.h"

#include "server/domain/verdicts/keys.h"
#include "store/base/bytes.h"

enum err learned_rule_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                           struct learned_rule_row *ret_row)
{
    struct key key = key_learned_rule(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_LEARNED_RULE, key_slice(&key), &value);

    if (err == OK) {
        err = record_decode_learned_rule(value, &ret_row->record);
    }
    if (err == OK) {
        ret_row->seq = seq;
    }
    return err;
}

enum err learned_rule_find_id(struct store_txn *txn, struct org_id org, struct uuid id,
                              struct learned_rule_row *ret_row)
{
    uint64_t seq = 0;
    enum err err = log_find(txn, org, id, &seq);

    return err != OK ? err : learned_rule_read(txn, org, seq, ret_row);
}

enum err learned_rule_find(struct store_txn *txn, struct org_id org, struct slice pattern,
                           enum learned_rule_type rule_type, struct learned_rule_row *ret_row)
{
    struct key key = key_learned_rule_pattern(org, pattern, (uint32_t)rule_type);
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = store_get(txn, TABLE_LEARNED_RULE_PATTERN, key_slice(&key), &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, &seq);
    if (err == OK) {
        err = learned_rule_read(txn, org, seq, ret_row);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err learned_rule_write(struct arena *arena, struct store_txn *txn, struct org_id org,
                            const struct artifact_life_record *before,
                            const struct learned_rule_row *row)
{
    const struct artifact_life_record *life = &row->record.life;
    struct key key = key_learned_rule(org, row->seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_learned_rule(arena, &row->record, &value);

    if (err == OK) {
        err = store_put(txn, TABLE_LEARNED_RULE, key_slice(&key), value);
    }
    if (err == OK && (before == NULL || !artifact_life_is_same(before, life))) {
        err = artifact_life_put(arena, txn, org, row->seq, before, life);
    }
    return err;
}

enum err learned_rule_enter(struct store_txn *txn, struct org_id org,
                            const struct learned_rule_row *row)
{
    struct key key = key_learned_rule_pattern(org, row->record.pattern, row->record.rule_type);

    return log_put_id_row(txn, TABLE_LEARNED_RULE_PATTERN, &key, row->seq);
}

void learned_rule_count(const struct learned_rule_count *count, enum learned_rule_effect effect,
                        struct learned_rule_record *record)
{
    record->count++;
    record->reinforcement_count += effect == LEARNED_RULE_EFFECT_REINFORCED;
    if (!count->is_backfill || record->updated_at_us < count->time_us) {
        record->updated_at_us = count->time_us;
    }
    if (record->life.state == ARTIFACT_STATE_RETIRED && !record->life.set_by_person) {
        artifact_life_derive(&record->life, ARTIFACT_STATE_ACTIVE, count->event_seq);
    }
}

/* A rule that was proposed may have no evidence. */
static bool needs_evidence(const struct learned_rule_record *record)
{
    uint32_t state = record->life.state;

    return record->auto_learned &&
           (state == ARTIFACT_STATE_ACTIVE || state == ARTIFACT_STATE_SHADOW ||
            state == ARTIFACT_STATE_SUNSET_PROPOSED);
}

enum err learned_rule_uncount(const struct learned_rule_count *count,
                              enum learned_rule_effect effect, struct learned_rule_record *record)
{
    bool is_reinforcement = effect == LEARNED_RULE_EFFECT_REINFORCED;

    if (record->count == 0 || (is_reinforcement && record->reinforcement_count == 0)) {
        return ERR_CORRUPT;
    }
    record->count--;
    record->reinforcement_count -= is_reinforcement;
    record->updated_at_us = count->time_us;
    if (record->count == 0 && needs_evidence(record)) {
        artifact_life_derive(&record->life, ARTIFACT_STATE_RETIRED, count->event_seq);
    }
    return OK;
}

bool learned_rule_has_values(const struct learned_rule_record *record,
                             const struct learned_rule_values *values)
{
    bool has_state = values->state == ARTIFACT_STATE_UNSPECIFIED ||
                     record->life.state == (uint32_t)values->state;
    bool has_source = bytes_are_zero(values->source_id.bytes, UUID_BYTES) ||
                      uuid_equal(record->source_id, values->source_id);

    return has_state && has_source && record->adjustment == values->adjustment &&
           record->count == values->count && learned_rule_accuracy(record) == values->accuracy &&
           record->life.held_back == !values->enabled &&
           record->auto_learned == values->auto_learned;
}

void learned_rule_set_values(const struct learned_rule_values *values, uint64_t event_seq,
                             int64_t time_us, struct learned_rule_record *record)
{
    if (record->adjustment != values->adjustment) {
        artifact_life_renew(&record->life, event_seq);
    }
    if (record->life.held_back == values->enabled) {
        artifact_life_hold(&record->life, !values->enabled, event_seq);
    }
    if (values->state != ARTIFACT_STATE_UNSPECIFIED &&
        record->life.state != (uint32_t)values->state) {
        artifact_life_decide(&record->life, values->state, event_seq);
    }
    if (!bytes_are_zero(values->source_id.bytes, UUID_BYTES)) {
        record->source_id = values->source_id;
    }
    record->adjustment = values->adjustment;
    record->count = values->count;
    record->reinforcement_count = 0;
    record->accuracy = values->accuracy;
    record->auto_learned = values->auto_learned;
    record->updated_at_us = time_us;
    record->imported_seq = event_seq;
}

void learned_rule_set_weight(int64_t adjustment, uint64_t event_seq, int64_t time_us,
                             struct learned_rule_record *record)
{
    artifact_life_renew(&record->life, event_seq);
    record->adjustment = adjustment;
    record->updated_at_us = time_us;
}

uint64_t learned_rule_accuracy(const struct learned_rule_record *record)
{
    uint64_t missing = (uint64_t)VERDICT_UNIT - record->accuracy;
    uint64_t reinforcement = (uint64_t)LEARNED_RULE_REINFORCEMENT;

    return record->reinforcement_count >= missing / reinforcement + 1
               ? (uint64_t)VERDICT_UNIT
               : record->accuracy + record->reinforcement_count * reinforcement;
}

enum err learned_rule_view_of(struct org_id org, const struct learned_rule_record *record,
                              struct learned_rule_view *ret_view)
{
    struct learned_rule_view view = {
        .id = record->id,
        .org_id = org.uuid,
        .pattern = record->pattern,
        .confidence_adjustment = (double)record->adjustment / (double)VERDICT_UNIT,
        .learned_from_feedback_count = record->count,
        .accuracy_on_validation = (double)learned_rule_accuracy(record) / (double)VERDICT_UNIT,
        .enabled = !record->life.held_back,
        .auto_learned = record->auto_learned,
        .source_rule_id = record->source_id,
        .has_source_rule_id = !bytes_are_zero(record->source_id.bytes, UUID_BYTES),
        .version = record->life.version,
        .created_at_us = record->created_at_us,
        .has_created_at = true,
        .updated_at_us = record->updated_at_us,
        .has_updated_at = true,
    };

    if (!artifact_state_from_wire((int32_t)record->life.state, &view.state) ||
        !learned_rule_type_from_wire((int32_t)record->rule_type, &view.rule_type) ||
        !learned_rule_action_from_wire((int32_t)record->action, &view.action)) {
        return ERR_CORRUPT;
    }
    *ret_view = view;
    return OK;
}
