/*
 * settings.h: the settings of an organisation, as events: each change is one
 * EVENT_SETTINGS_UPDATED, whose facts are a SettingsUpdated with all settings before and after it.
 * Reading them takes one get; an organisation that has changed nothing has the defaults.
 */
#ifndef ERRATA_SERVER_DOMAIN_SETTINGS_SETTINGS_H
#define ERRATA_SERVER_DOMAIN_SETTINGS_SETTINGS_H

#include "server/domain/events/annotator_kinds.h"
#include "store/base/buffer.h"
#include "store/log.h"

#include <errata/v1/example_grouping.fields.h>
#include <errata/v1/match_mode.fields.h>
#include <errata/v1/organization_settings.views.h>
#include <errata/v1/score_stacking.fields.h>

#define SETTINGS_HOLDOUT_PERCENT_DEFAULT 0
#define SETTINGS_MATCH_MODE_DEFAULT MATCH_MODE_EXACT
#define SETTINGS_ANNOTATOR_KINDS_DEFAULT ANNOTATOR_KINDS_HUMAN
#define SETTINGS_GROUPING_DEFAULT EXAMPLE_GROUPING_EVENT
#define SETTINGS_STACKING_DEFAULT SCORE_STACKING_SUM
/* The unit of thresholds: one billionth. */
#define SETTINGS_THRESHOLD_UNIT 1000000000
#define SETTINGS_SUSPICIOUS_AT_DEFAULT (SETTINGS_THRESHOLD_UNIT / 10 * 4)
#define SETTINGS_FAKE_AT_DEFAULT (SETTINGS_THRESHOLD_UNIT / 10 * 6)
#define SETTINGS_REVIEWS_NEEDED_DEFAULT 1
#define SETTINGS_REVIEWS_NEEDED_MAX 100
#define SETTINGS_VOTES_NEEDED_DEFAULT 2
#define SETTINGS_VOTES_NEEDED_MAX 100

/* All settings. */
struct settings {
    uint32_t holdout_percent; /* 0 to 100 */
    enum match_mode match_mode; /* never UNSPECIFIED */
    uint32_t annotator_kinds; /* kinds whose examples are served; at least one */
    enum example_grouping grouping; /* never UNSPECIFIED */
    enum score_stacking stacking; /* never UNSPECIFIED */
    uint32_t suspicious_at; /* in SETTINGS_THRESHOLD_UNIT; at most fake_at */
    uint32_t fake_at; /* in the same unit; at most 1 */
    uint32_t reviews_needed; /* 1 to SETTINGS_REVIEWS_NEEDED_MAX */
    uint32_t votes_needed; /* for a proposal; 1 to SETTINGS_VOTES_NEEDED_MAX */
};

/* The changes requested by a caller; at least one. */
struct settings_change {
    bool by_program; /* requested by a program: a token without a user */
    bool has_holdout_percent;
    uint32_t holdout_percent;
    bool has_match_mode;
    enum match_mode match_mode;
    uint32_t annotator_kinds; /* 0: no change */
    enum example_grouping grouping; /* UNSPECIFIED: no change */
    enum score_stacking stacking; /* UNSPECIFIED: no change */
    bool has_suspicious_at;
    double suspicious_at; /* 0 to 1 */
    bool has_fake_at;
    double fake_at; /* from 0 to 1 */
    uint32_t reviews_needed; /* 0: no change */
    bool has_redacted_members;
    struct slice redacted_members; /* a RedactedMembers */
    uint32_t votes_needed; /* 0: no change */
    bool has_evaluator_id;
    struct slice evaluator_id;
    bool has_gate_agents;
    struct slice gate_agents; /* a GateAgents */
    bool has_extra_cues;
    struct slice extra_cues; /* an ExtraCues */
    enum topic_change topic_change; /* UNSPECIFIED: no change */
    bool has_content_retention;
    struct slice content_retention; /* a ContentRetention with the members to change */
};

/* The settings that only some methods need; stored only in the event of a change. Borrowed. */
struct settings_texts {
    struct slice redacted_members; /* a RedactedMembers (redacted_members.h) */
    struct slice evaluator_id; /* see decision_settings.h, also for the next member */
    struct slice gate_agents; /* a GateAgents */
    struct slice extra_cues; /* an ExtraCues (turn_settings.h) */
    enum topic_change topic_change; /* see turn_settings.h; never UNSPECIFIED */
    struct slice content_retention; /* a ContentRetention with all members (retention_settings.h) */
};

MUST_CHECK enum err settings_read(struct store_txn *txn, struct org_id org,
                                  struct settings *ret_settings);
/* Reads the settings after the event `as_of_seq` (UINT64_MAX: now), in one step for each change
 * since then. */
MUST_CHECK enum err settings_read_as_of(struct store_txn *txn, struct org_id org,
                                        uint64_t as_of_seq, struct settings *ret_settings);
/* Reads the settings message after the event `as_of_seq` (UINT64_MAX: now), borrowed from the
 * transaction; an empty one if no change was made until then. */
MUST_CHECK enum err settings_message_read(struct store_txn *txn, struct org_id org,
                                          uint64_t as_of_seq,
                                          struct organization_settings_view *ret_view);
/* Appends and applies. Also appends a change to equal values, since it is an administrator's
 * decision. ERR_NOT_FOUND for an organisation that does not exist; ERR_INVALID for a `suspicious_at` above
 * `fake_at`. */
MUST_CHECK enum err settings_update(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                    struct slice actor_user_id,
                                    const struct settings_change *change, uint64_t *ret_seq);
/* Reads the settings that are not in `struct settings`. */
MUST_CHECK enum err settings_texts_read(struct store_txn *txn, struct org_id org,
                                        struct settings_texts *ret_texts);
/* Encodes all settings as a message. */
struct organization_settings_view settings_view_of(const struct settings *settings,
                                                   const struct settings_texts *texts);
/* Returns the bytes of the OrganizationSettings after an EVENT_SETTINGS_UPDATED. ERR_CORRUPT for
 * other facts. */
MUST_CHECK enum err settings_after_event(const struct event *event, struct slice *ret_settings);

#endif
