/*
 * settings.c: see settings.h. A change reads the present settings, applies the change, and appends
 * both complete: so the response, the row and the history all follow from the event.
 */
#include "server/domain/settings/settings.h"

#include "server/domain/events/draft.h"
#include "server/domain/events/payload.h"
#include "server/domain/settings/records.h"
#include "server/domain/settings/redacted_members.h"
#include "server/domain/settings/retention_settings.h"
#include "server/domain/settings/turn_settings.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <errata/v1/organization_settings.views.h>
#include <event_apply.h>
#include <math.h>

#define HOLDOUT_PERCENT_MAX 100

static const struct settings defaults = {
    SETTINGS_HOLDOUT_PERCENT_DEFAULT, SETTINGS_MATCH_MODE_DEFAULT,
    SETTINGS_ANNOTATOR_KINDS_DEFAULT, SETTINGS_GROUPING_DEFAULT,
    SETTINGS_STACKING_DEFAULT,        SETTINGS_SUSPICIOUS_AT_DEFAULT,
    SETTINGS_FAKE_AT_DEFAULT,         SETTINGS_REVIEWS_NEEDED_DEFAULT,
    SETTINGS_VOTES_NEEDED_DEFAULT};

/* Returns a threshold of a message or a request in units, rounded. */
static uint32_t threshold_of(double threshold)
{
    return (uint32_t)llround(threshold * SETTINGS_THRESHOLD_UNIT);
}

/* Returns a threshold as it is stored in a row: the default has no field, so that rows from before
 * thresholds existed are equal to new ones. */
static uint32_t threshold_to_row(uint32_t threshold, uint32_t default_threshold)
{
    return threshold == default_threshold ? 0 : threshold + 1;
}

static uint32_t threshold_from_row(uint32_t field, uint32_t default_threshold)
{
    return field == 0 ? default_threshold : field - 1;
}

/* Reads the settings of scores from a row. */
static bool read_scores(const struct settings_record *record, struct settings *settings)
{
    settings->suspicious_at =
        threshold_from_row(record->suspicious_at, SETTINGS_SUSPICIOUS_AT_DEFAULT);
    settings->fake_at = threshold_from_row(record->fake_at, SETTINGS_FAKE_AT_DEFAULT);
    return (record->stacking == 0 ||
            score_stacking_from_wire((int32_t)record->stacking, &settings->stacking)) &&
           settings->suspicious_at <= settings->fake_at;
}

/* Reads the settings, and the number of the change that set them; the defaults and 0 if there was
 * none. */
static enum err read_row(struct store_txn *txn, struct org_id org, struct settings *ret_settings,
                         uint64_t *ret_seq)
{
    struct key key = key_org(org);
    struct settings settings = defaults;
    struct settings_record record;
    struct slice bytes;
    enum err err = store_get(txn, TABLE_SETTINGS, key_slice(&key), &bytes);

    if (err == ERR_NOT_FOUND) {
        *ret_settings = settings;
        *ret_seq = 0;
        return OK;
    }
    if (err == OK) {
        err = record_decode_settings(bytes, &record);
    }
    if (err != OK) {
        return err;
    }
    *ret_seq = record.seq;
    settings.holdout_percent = record.holdout_percent;
    settings.annotator_kinds = record.annotator_kinds;
    if (record.reviews_needed != 0) {
        settings.reviews_needed = record.reviews_needed;
    }
    if (record.votes_needed != 0) {
        settings.votes_needed = record.votes_needed;
    }
    if (!match_mode_from_wire((int32_t)record.match_mode, &settings.match_mode) ||
        settings.match_mode == MATCH_MODE_UNSPECIFIED ||
        !example_grouping_from_wire((int32_t)record.grouping, &settings.grouping) ||
        settings.grouping == EXAMPLE_GROUPING_UNSPECIFIED || !read_scores(&record, &settings)) {
        return ERR_CORRUPT;
    }
    *ret_settings = settings;
    return OK;
}

enum err settings_read(struct store_txn *txn, struct org_id org, struct settings *ret_settings)
{
    uint64_t seq = 0;

    return read_row(txn, org, ret_settings, &seq);
}

/* Writes all members, including those with their default value. */
struct organization_settings_view settings_view_of(const struct settings *settings,
                                                   const struct settings_texts *texts)
{
    return (struct organization_settings_view){
        .holdout_percent = settings->holdout_percent,
        .has_holdout_percent = true,
        .match_mode = settings->match_mode,
        .has_match_mode = true,
        .annotator_kinds = {.run = annotator_kinds_run(settings->annotator_kinds)},
        .grouping = settings->grouping,
        .has_grouping = true,
        .stacking = settings->stacking,
        .has_stacking = true,
        .suspicious_at = (double)settings->suspicious_at / SETTINGS_THRESHOLD_UNIT,
        .has_suspicious_at = true,
        .fake_at = (double)settings->fake_at / SETTINGS_THRESHOLD_UNIT,
        .has_fake_at = true,
        .reviews_needed = settings->reviews_needed,
        .has_reviews_needed = true,
        .redacted_members = texts->redacted_members,
        .has_redacted_members = true,
        .votes_needed = settings->votes_needed,
        .has_votes_needed = true,
        .evaluator_id = texts->evaluator_id,
        .has_evaluator_id = true,
        .gate_agents = texts->gate_agents,
        .has_gate_agents = true,
        .extra_cues = texts->extra_cues,
        .has_extra_cues = true,
        .topic_change = texts->topic_change,
        .has_topic_change = true,
        .content_retention = texts->content_retention,
        .has_content_retention = true,
    };
}

enum err settings_texts_read(struct store_txn *txn, struct org_id org,
                             struct settings_texts *ret_texts)
{
    struct organization_settings_view view;
    enum err err = settings_message_read(txn, org, UINT64_MAX, &view);

    if (err == OK) {
        *ret_texts = (struct settings_texts){
            .redacted_members = redacted_members_of(&view),
            .evaluator_id = view.evaluator_id,
            .gate_agents = view.gate_agents,
            .extra_cues = view.extra_cues,
            .topic_change = topic_change_of(&view),
            .content_retention = content_retention_of(&view),
        };
    }
    return err;
}

/* Reads the facts of a change, and the number of the previous change, which is smaller; 0: there
 * was none. */
static enum err read_facts(const struct event *event, struct settings_updated_view *ret_facts,
                           uint64_t *ret_previous_seq)
{
    struct settings_updated_internal_view internal;
    enum err err = event->kind == EVENT_SETTINGS_UPDATED
                       ? settings_updated_view_read(event->facts, ret_facts)
                       : ERR_CORRUPT;

    if (err == OK) {
        err = settings_updated_internal_view_read(
            payload_internal(ret_facts->internal, event->facts), &internal);
    }
    if (err == OK && internal.previous_seq >= event->seq) {
        return ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_previous_seq = internal.previous_seq;
    }
    return err;
}

/* Reads the settings of scores from a message; false for values that no update writes. */
static bool read_scores_after(const struct organization_settings_view *after,
                              struct settings *settings)
{
    if ((after->has_suspicious_at && !(after->suspicious_at >= 0 && after->suspicious_at <= 1)) ||
        (after->has_fake_at && !(after->fake_at >= 0 && after->fake_at <= 1))) {
        return false;
    }
    if (after->has_stacking) {
        settings->stacking = after->stacking;
    }
    if (after->has_suspicious_at) {
        settings->suspicious_at = threshold_of(after->suspicious_at);
    }
    if (after->has_fake_at) {
        settings->fake_at = threshold_of(after->fake_at);
    }
    return settings->stacking != SCORE_STACKING_UNSPECIFIED &&
           settings->suspicious_at <= settings->fake_at;
}

/* Reads the numbers of people who must agree on runs and proposals; false for values that no update writes. */
static bool read_needed_after(const struct organization_settings_view *after,
                              struct settings *settings)
{
    if (after->has_reviews_needed) {
        settings->reviews_needed = after->reviews_needed;
    }
    if (after->has_votes_needed) {
        settings->votes_needed = after->votes_needed;
    }
    return settings->reviews_needed > 0 &&
           settings->reviews_needed <= SETTINGS_REVIEWS_NEEDED_MAX && settings->votes_needed > 0 &&
           settings->votes_needed <= SETTINGS_VOTES_NEEDED_MAX;
}

/* Reads the settings after an event. */
static enum err read_after(const struct event *event, struct settings *ret_settings)
{
    struct settings settings = defaults;
    struct settings_updated_view facts;
    struct organization_settings_view after;
    uint64_t previous_seq = 0;
    uint32_t kinds = 0;
    enum err err = read_facts(event, &facts, &previous_seq);

    if (err == OK) {
        err = organization_settings_view_read(facts.after, &after);
    }
    if (err == OK) {
        err = annotator_kinds_read(after.annotator_kinds.run, &kinds);
    }
    if (err != OK) {
        return err;
    }
    if (after.has_holdout_percent) {
        settings.holdout_percent = after.holdout_percent;
    }
    if (after.has_match_mode) {
        settings.match_mode = after.match_mode;
    }
    if (kinds != 0) {
        settings.annotator_kinds = kinds;
    }
    if (after.has_grouping) {
        settings.grouping = after.grouping;
    }
    if (settings.holdout_percent > HOLDOUT_PERCENT_MAX ||
        settings.match_mode == MATCH_MODE_UNSPECIFIED ||
        settings.grouping == EXAMPLE_GROUPING_UNSPECIFIED ||
        !read_scores_after(&after, &settings) || !read_needed_after(&after, &settings)) {
        return ERR_CORRUPT;
    }
    *ret_settings = settings;
    return OK;
}

/* Follows the changes before `*seq` to the last one up to an event. */
static enum err go_back(struct store_txn *txn, struct org_id org, uint64_t as_of_seq, uint64_t *seq)
{
    struct settings_updated_view facts;
    struct event event;
    enum err err = OK;

    while (err == OK && *seq > as_of_seq) {
        err = log_read(txn, org, *seq, &event);
        if (err == OK) {
            err = read_facts(&event, &facts, seq);
        }
    }
    return err;
}

/* Finds the event of the last change up to the event `as_of_seq`; 0 without one. */
static enum err find_change(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                            uint64_t *ret_seq)
{
    struct settings settings;
    enum err err = read_row(txn, org, &settings, ret_seq);

    return err != OK ? err : go_back(txn, org, as_of_seq, ret_seq);
}

enum err settings_read_as_of(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                             struct settings *ret_settings)
{
    struct event event;
    uint64_t seq = 0;
    enum err err = read_row(txn, org, ret_settings, &seq);

    if (err != OK || seq <= as_of_seq) {
        return err;
    }
    err = go_back(txn, org, as_of_seq, &seq);
    if (err == OK && seq == 0) {
        *ret_settings = defaults;
        return OK;
    }
    if (err == OK) {
        err = log_read(txn, org, seq, &event);
    }
    return err != OK ? err : read_after(&event, ret_settings);
}

enum err settings_after_event(const struct event *event, struct slice *ret_settings)
{
    struct settings_updated_view facts;
    uint64_t previous_seq = 0;
    enum err err = read_facts(event, &facts, &previous_seq);

    if (err == OK) {
        *ret_settings = facts.after;
    }
    return err;
}

enum err settings_message_read(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                               struct organization_settings_view *ret_view)
{
    struct slice message = {NULL, 0};
    struct event event;
    uint64_t seq = 0;
    enum err err = find_change(txn, org, as_of_seq, &seq);

    *ret_view = (struct organization_settings_view){.has_evaluator_id = false};
    if (err != OK || seq == 0) {
        return err;
    }
    err = log_read(txn, org, seq, &event);
    if (err == OK) {
        err = settings_after_event(&event, &message);
    }
    if (err == OK) {
        err = organization_settings_view_read(message, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err settings_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct key key = key_org(event->org);
    struct settings settings;
    struct settings_record record;
    struct slice bytes;
    enum err err = read_after(event, &settings);

    ASSERT(settings_applies(event->kind));
    if (err != OK) {
        return err;
    }
    record = (struct settings_record){
        .seq = event->seq,
        .holdout_percent = settings.holdout_percent,
        .match_mode = (uint32_t)settings.match_mode,
        .annotator_kinds = settings.annotator_kinds,
        .grouping = (uint32_t)settings.grouping,
        .stacking =
            settings.stacking == SETTINGS_STACKING_DEFAULT ? 0 : (uint32_t)settings.stacking,
        .suspicious_at = threshold_to_row(settings.suspicious_at, SETTINGS_SUSPICIOUS_AT_DEFAULT),
        .fake_at = threshold_to_row(settings.fake_at, SETTINGS_FAKE_AT_DEFAULT),
        .reviews_needed = settings.reviews_needed == SETTINGS_REVIEWS_NEEDED_DEFAULT
                              ? 0
                              : settings.reviews_needed,
        .votes_needed =
            settings.votes_needed == SETTINGS_VOTES_NEEDED_DEFAULT ? 0 : settings.votes_needed,
    };
    err = record_encode_settings(ctx->arena, &record, &bytes);
    return err != OK ? err : store_put(txn, TABLE_SETTINGS, key_slice(&key), bytes);
}

/* Returns ERR_NOT_FOUND for an organisation that does not exist: its first event creates it. */
static enum err check_org(struct ctx *ctx, struct store_txn *txn, struct org_id org)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    if (err == OK && head.last_seq == 0) {
        return fault_say(ctx->fault, ERR_NOT_FOUND,
                         "org_id: not found; expected the id of an organisation");
    }
    return err;
}

/* All settings before or after a change. */
struct state {
    struct settings settings;
    struct settings_texts texts;
};

/* Encodes the facts: a SettingsUpdated. */
static enum err encode_facts(struct arena *arena, const struct state *before, uint64_t previous_seq,
                             const struct state *after, struct slice *ret_facts)
{
    struct organization_settings_view before_view =
        settings_view_of(&before->settings, &before->texts);
    struct organization_settings_view after_view =
        settings_view_of(&after->settings, &after->texts);
    struct settings_updated_view facts = {
        .has_before = true,
        .has_after = true,
    };
    const struct settings_updated_internal_view internal = {.previous_seq = previous_seq};

    return view_encode(&settings_updated_internal_view_type, &internal, arena, &facts.internal) &&
                   view_encode(&organization_settings_view_type, &before_view, arena,
                               &facts.before) &&
                   view_encode(&organization_settings_view_type, &after_view, arena,
                               &facts.after) &&
                   view_encode(&settings_updated_view_type, &facts, arena, ret_facts)
               ? OK
               : ERR_MEMORY;
}

/* Appends the event of a change and applies it. */
static enum err append(struct ctx *ctx, struct store_txn *txn, struct event_draft *draft,
                       uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    enum err err = event_draft_stamp(ctx, txn, &now, draft);

    if (err == OK) {
        err = event_draft_add_id(ctx->arena, draft, SUBJECT_ORGANIZATION, draft->org.uuid);
    }
    return err != OK ? err : event_draft_append(ctx, txn, draft, settings_apply, ret_seq);
}

/* Applies a change to the settings of scores. */
static enum err change_scores(struct ctx *ctx, const struct settings_change *change,
                              struct settings *settings)
{
    if (change->stacking != SCORE_STACKING_UNSPECIFIED) {
        settings->stacking = change->stacking;
    }
    if (change->has_suspicious_at) {
        settings->suspicious_at = threshold_of(change->suspicious_at);
    }
    if (change->has_fake_at) {
        settings->fake_at = threshold_of(change->fake_at);
    }
    if (settings->suspicious_at > settings->fake_at) {
        fault_add(ctx->fault, SLICE("settings.suspicious_at"),
                  "%.9g is above fake_at, %.9g; expected a number from 0 to fake_at",
                  (double)settings->suspicious_at / SETTINGS_THRESHOLD_UNIT,
                  (double)settings->fake_at / SETTINGS_THRESHOLD_UNIT);
        return ERR_INVALID;
    }
    return OK;
}

/* Applies a change to the settings of example lookups. */
static void change_lookups(const struct settings_change *change, struct settings *settings)
{
    if (change->has_holdout_percent) {
        settings->holdout_percent = change->holdout_percent;
    }
    if (change->has_match_mode) {
        settings->match_mode = change->match_mode;
    }
    if (change->annotator_kinds != 0) {
        settings->annotator_kinds = change->annotator_kinds;
    }
    if (change->grouping != EXAMPLE_GROUPING_UNSPECIFIED) {
        settings->grouping = change->grouping;
    }
}

/* Applies the change of how long content is kept. */
static enum err change_retention(struct arena *arena, const struct settings_change *change,
                                 struct settings_texts *texts)
{
    struct content_retention_view retention;
    struct content_retention_view given;
    enum err err = OK;

    if (!change->has_content_retention) {
        return OK;
    }
    err = content_retention_read(texts->content_retention, &retention);
    if (err == OK) {
        err = content_retention_view_read(change->content_retention, &given);
    }
    if (err != OK) {
        return err;
    }
    content_retention_change(&retention, &given);
    return view_encode(&content_retention_view_type, &retention, arena, &texts->content_retention)
               ? OK
               : ERR_MEMORY;
}

static void change_texts(const struct settings_change *change, struct settings_texts *texts)
{
    if (change->has_redacted_members) {
        texts->redacted_members = change->redacted_members;
    }
    if (change->has_evaluator_id) {
        texts->evaluator_id = change->evaluator_id;
    }
    if (change->has_gate_agents) {
        texts->gate_agents = change->gate_agents;
    }
    if (change->has_extra_cues) {
        texts->extra_cues = change->extra_cues;
    }
    if (change->topic_change != TOPIC_CHANGE_UNSPECIFIED) {
        texts->topic_change = change->topic_change;
    }
}

enum err settings_update(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         struct slice actor_user_id, const struct settings_change *change,
                         uint64_t *ret_seq)
{
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_SETTINGS_UPDATED,
        .annotator = change->by_program ? ANNOTATOR_CODE : ANNOTATOR_HUMAN,
        .actor_user_id = actor_user_id,
    };
    struct state before;
    struct state after;
    uint64_t previous_seq = 0;
    enum err err = check_org(ctx, txn, org);

    if (err == OK) {
        err = read_row(txn, org, &before.settings, &previous_seq);
    }
    if (err == OK) {
        err = settings_texts_read(txn, org, &before.texts);
    }
    if (err != OK) {
        return err;
    }
    after = before;
    change_lookups(change, &after.settings);
    if (change->reviews_needed != 0) {
        after.settings.reviews_needed = change->reviews_needed;
    }
    change_texts(change, &after.texts);
    if (change->votes_needed != 0) {
        after.settings.votes_needed = change->votes_needed;
    }
    err = change_scores(ctx, change, &after.settings);
    if (err == OK) {
        err = change_retention(ctx->arena, change, &after.texts);
    }
    if (err == OK) {
        err = encode_facts(ctx->arena, &before, previous_seq, &after, &draft.facts);
    }
    return err != OK ? err : append(ctx, txn, &draft, ret_seq);
}
