/*
 * records.c: see records.h.
 */
#include "server/domain/artifacts/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/artifacts.views.h>

static bool counts_fit(const struct artifact_counts *counts)
{
    return counts->bad_count <= counts->outcome_count;
}

static bool is_empty(const struct artifact_counts *counts)
{
    return counts->exposure_count == 0 && counts->outcome_count == 0;
}

/* A row without counts is not written. */
static bool artifact_fits(const struct artifact_record *record)
{
    return counts_fit(&record->none) && counts_fit(&record->treatment) &&
           counts_fit(&record->control) && counts_fit(&record->shadow) &&
           (record->withdrawn_seq != 0 || !is_empty(&record->none) ||
            !is_empty(&record->treatment) || !is_empty(&record->control) ||
            !is_empty(&record->shadow));
}

/* Each event is named once, and there are at most as many as outcomes. */
static bool outcome_seqs_fit(const struct artifact_record *record)
{
    uint64_t count = record->none.outcome_count + record->treatment.outcome_count +
                     record->control.outcome_count + record->shadow.outcome_count;

    if (record->outcome_seq_count > ARTIFACT_OUTCOMES_MAX || record->outcome_seq_count > count) {
        return false;
    }
    for (size_t i = 0; i < record->outcome_seq_count; i++) {
        if (record->outcome_seqs[i] == 0 ||
            (i > 0 && record->outcome_seqs[i] >= record->outcome_seqs[i - 1])) {
            return false;
        }
    }
    return true;
}

static void take_counts(struct record_check *check, struct slice bytes,
                        struct artifact_counts *ret_counts)
{
    struct artifact_counts_view counts;

    record_need(check, artifact_counts_view_read(bytes, &counts) == OK);
    *ret_counts = (struct artifact_counts){
        .exposure_count = counts.exposure_count,
        .outcome_count = counts.outcome_count,
        .bad_count = counts.bad_count,
    };
}

enum err record_decode_artifact(struct slice bytes, struct artifact_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct artifact_row_view message;
    struct artifact_record record;
    enum err err = artifact_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    take_counts(&check, message.none, &record.none);
    take_counts(&check, message.treatment, &record.treatment);
    take_counts(&check, message.control, &record.control);
    take_counts(&check, message.shadow, &record.shadow);
    record.withdrawn_seq = message.withdrawn_seq;
    memset(record.outcome_seqs, 0, sizeof(record.outcome_seqs));
    record.outcome_seq_count = record_numbers(&check, &message.outcome_seq, false,
                                              record.outcome_seqs, ARTIFACT_OUTCOMES_MAX);
    if (check.failed || !artifact_fits(&record) || !outcome_seqs_fit(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

/* A side without exposures and outcomes is left out. */
static enum err give_counts(struct arena *arena, const struct artifact_counts *counts,
                            struct slice *ret_bytes, bool *ret_has)
{
    const struct artifact_counts_view view = {
        .exposure_count = counts->exposure_count,
        .outcome_count = counts->outcome_count,
        .bad_count = counts->bad_count,
    };

    *ret_has = !is_empty(counts);
    return record_encode(arena, &artifact_counts_view_type, &view, ret_bytes);
}

enum err record_encode_artifact(struct arena *arena, const struct artifact_record *record,
                                struct slice *ret_bytes)
{
    struct artifact_row_view message;
    enum err err = OK;

    if (UNEXPECTED(!artifact_fits(record) || !outcome_seqs_fit(record))) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    message.withdrawn_seq = record->withdrawn_seq;
    err = give_counts(arena, &record->none, &message.none, &message.has_none);
    if (err == OK) {
        err = give_counts(arena, &record->treatment, &message.treatment, &message.has_treatment);
    }
    if (err == OK) {
        err = give_counts(arena, &record->control, &message.control, &message.has_control);
    }
    if (err == OK) {
        err = give_counts(arena, &record->shadow, &message.shadow, &message.has_shadow);
    }
    if (err == OK) {
        err = record_list(arena, record->outcome_seqs, record->outcome_seq_count, false,
                          &message.outcome_seq);
    }
    return err != OK ? err : record_encode(arena, &artifact_row_view_type, &message, ret_bytes);
}

static bool life_fits(const struct artifact_life_record *life)
{
    enum artifact_state state = ARTIFACT_STATE_UNSPECIFIED;

    return artifact_state_from_wire((int32_t)life->state, &state) &&
           state != ARTIFACT_STATE_UNSPECIFIED && life->version > 0 && life->content_seq > 0 &&
           life->content_seq <= life->valid_from_seq &&
           (life->valid_to_seq == 0 || life->valid_to_seq > life->valid_from_seq);
}

enum err record_decode_artifact_life(struct slice bytes, struct artifact_life_record *ret_life)
{
    struct artifact_life_row_view message;
    struct artifact_life_record life;
    enum err err = artifact_life_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    life = (struct artifact_life_record){
        .state = message.state,
        .held_back = message.held_back,
        .set_by_person = message.set_by_person,
        .version = message.version,
        .valid_from_seq = message.valid_from_seq,
        .content_seq = message.content_seq,
        .valid_to_seq = message.valid_to_seq,
    };
    if (!life_fits(&life)) {
        return ERR_CORRUPT;
    }
    *ret_life = life;
    return OK;
}

enum err record_encode_artifact_life(struct arena *arena, const struct artifact_life_record *life,
                                     struct slice *ret_bytes)
{
    const struct artifact_life_row_view message = {
        .state = life->state,
        .held_back = life->held_back,
        .set_by_person = life->set_by_person,
        .version = life->version,
        .valid_from_seq = life->valid_from_seq,
        .content_seq = life->content_seq,
        .valid_to_seq = life->valid_to_seq,
    };

    if (UNEXPECTED(!life_fits(life))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &artifact_life_row_view_type, &message, ret_bytes);
}
