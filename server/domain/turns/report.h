/*
 * report.h: reports over many turns: satisfaction by day and intent, and how often people agreed with the detection.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_REPORT_H
#define ERRATA_SERVER_DOMAIN_TURNS_REPORT_H

#include "server/domain/turns/turns.h"

#include <stdatomic.h>

/* Maximum turns that one report counts: a second's work. */
#define SATISFACTION_TURNS_MAX 100000
#define SATISFACTION_DAYS_MAX 400
#define SATISFACTION_INTENTS_MAX 100
/* Maximum judgements that one report counts. */
#define DETECTOR_JUDGEMENTS_MAX 20000
#define DETECTOR_CUES_MAX 200
/* A cue should be removed if it has this many judgements, and fewer than half of them are right. */
#define DETECTOR_REMOVAL_JUDGEMENTS 20

/* Counts over several turns. */
struct satisfaction {
    uint32_t day; /* days since 1970; 0 where turns are not counted by day */
    struct slice intent; /* in the arena */
    uint64_t turns;
    uint64_t rejected;
    uint64_t accepted;
    double sum; /* sum of satisfaction scores */
};

struct satisfaction_query {
    struct org_id org;
    int64_t start_us;
    int64_t end_us;
    struct slice intent; /* empty: any */
    const atomic_bool *cancelled; /* set if the call was cancelled */
};

struct satisfaction_report {
    struct satisfaction total;
    struct satisfaction days[SATISFACTION_DAYS_MAX];
    size_t day_count;
    struct satisfaction intents[SATISFACTION_INTENTS_MAX];
    size_t intent_count;
    bool is_truncated;
};

/* Counts turns, newest first. ERR_MEMORY, ERR_CANCELLED. */
MUST_CHECK enum err satisfaction_count(struct arena *arena, struct store_txn *txn,
                                       const struct satisfaction_query *query,
                                       struct satisfaction_report *ret_report);

/* Judged detections of one kind. */
struct detector_tally {
    enum detection_row row;
    struct slice cue_class; /* in the arena */
    struct slice cue;
    uint32_t judged;
    uint32_t right;
};

/* Number of statuses, from TURN_STATUS_REJECTED on. */
#define DETECTOR_STATUSES 3

struct detector_report {
    uint32_t judged;
    uint32_t confusion[DETECTOR_STATUSES]
                      [DETECTOR_STATUSES]; /* indexed by detected status, then by judged status */
    struct detector_tally rows[DETECT_NOTHING + 1];
    struct detector_tally cues[DETECTOR_CUES_MAX]; /* most frequently judged first */
    size_t cue_count;
    bool is_truncated;
};

/* Counts the last judgement of each detection. ERR_MEMORY, ERR_CANCELLED. */
MUST_CHECK enum err detector_count(struct arena *arena, struct store_txn *txn, struct org_id org,
                                   const atomic_bool *cancelled,
                                   struct detector_report *ret_report);

#endif
