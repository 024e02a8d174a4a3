/*
 * records.c: see records.h.
 */
#include "server/domain/artifacts/records.h"

#include "store/base/assert.h"
#include "store/record_pb.h"

#include <record/artifacts.pb.h>

static bool counts_fit(const struct artifact_counts *counts)
{
    return counts->bad_count <= counts->outcome_count;
}

static bool is_empty(const struct artifact_counts *counts)
{
    return counts->exposure_count == 0 && counts->outcome_count == 0;
}

/* A row that would say nothing is not written. */
static bool artifact_fits(const struct artifact_record *record)
{
    return counts_fit(&record->none) && counts_fit(&record->treatment) &&
           counts_fit(&record->control) &&
           (record->withdrawn_seq != 0 || !is_empty(&record->none) ||
            !is_empty(&record->treatment) || !is_empty(&record->control));
}

static struct artifact_counts take_counts(const errata_record_ArtifactCounts *counts)
{
    return (struct artifact_counts){
        .exposure_count = counts->exposure_count,
        .outcome_count = counts->outcome_count,
        .bad_count = counts->bad_count,
    };
}

enum err record_decode_artifact(struct slice bytes, struct artifact_record *ret_record)
{
    errata_record_ArtifactRow message;
    struct artifact_record record;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_ArtifactRow_msg, &message);
    if (err != OK) {
        return err;
    }
    record.none = take_counts(&message.none);
    record.treatment = take_counts(&message.treatment);
    record.control = take_counts(&message.control);
    record.withdrawn_seq = message.withdrawn_seq;
    if (!artifact_fits(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

/* A side without exposures and outcomes is left out. */
static void give_counts(const struct artifact_counts *counts,
                        errata_record_ArtifactCounts *ret_counts, bool *ret_has)
{
    *ret_has = !is_empty(counts);
    ret_counts->exposure_count = counts->exposure_count;
    ret_counts->outcome_count = counts->outcome_count;
    ret_counts->bad_count = counts->bad_count;
}

enum err record_encode_artifact(struct arena *arena, const struct artifact_record *record,
                                struct slice *ret_bytes)
{
    errata_record_ArtifactRow message;

    if (UNEXPECTED(!artifact_fits(record))) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    give_counts(&record->none, &message.none, &message.has_none);
    give_counts(&record->treatment, &message.treatment, &message.has_treatment);
    give_counts(&record->control, &message.control, &message.has_control);
    message.withdrawn_seq = record->withdrawn_seq;
    return record_pb_encode(arena, &errata_record_ArtifactRow_msg, &message, ret_bytes);
}
