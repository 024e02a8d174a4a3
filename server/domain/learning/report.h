/*
 * report.h: reports how often an artifact was served, and its outcomes, from the counts that apply
 * maintains (artifacts.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_REPORT_H
#define ERRATA_SERVER_DOMAIN_LEARNING_REPORT_H

#include "server/domain/analytics/proportions.h"
#include "server/domain/artifacts/artifacts.h"
#include "server/domain/artifacts/evidence.h"
#include "server/domain/artifacts/life.h"
#include "store/log.h"

#include <errata/v1/learning_service.fields.h>

struct artifact_report {
    enum artifact_kind kind;
    struct artifact_counts
        served; /* without an arm, and in the arm TREATMENT; of a learned rule, in SHADOW too */
    struct artifact_counts treatment;
    struct artifact_counts held_out;
    struct artifact_counts shadow; /* while it was in SHADOW; a guideline's only */
    bool has_difference; /* both arms have outcomes */
    struct proportion_difference
        difference; /* bad rate of the treatment less that of the held-out side */
    uint64_t outcome_seqs[ARTIFACT_OUTCOMES_MAX]; /* seqs of the newest outcomes, newest first */
    size_t outcome_seq_count;
    bool has_life; /* the artifact has a state, and evidence */
    struct artifact_life_record life;
    struct artifact_evidence evidence;
};

/* Finds the seq of the event that created an artifact, and its kind. ERR_NOT_FOUND for an id that is not of an artifact. */
MUST_CHECK enum err artifact_find(struct store_txn *txn, struct org_id org, struct uuid id,
                                  uint64_t *ret_seq, enum artifact_kind *ret_kind);

/* The id of the wording of guidance that ships with the server: no event created it, so its number is 0. */
#define ARTIFACT_ID_SHIPPED_WORDING ((struct uuid){.bytes = {0}})

/* Sets the members of a report that follow from the counts of an artifact. */
void artifact_report_count(const struct artifact_record *record, struct artifact_report *report);
/* ERR_NOT_FOUND for an id that is not of an artifact of the organisation. */
MUST_CHECK enum err artifact_report_read(struct store_txn *txn, struct org_id org, struct uuid id,
                                         struct artifact_report *ret_report);

#endif
