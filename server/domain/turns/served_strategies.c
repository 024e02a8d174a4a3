/*
 * served_strategies.c: see served_strategies.h.
 */
#include "server/domain/turns/served_strategies.h"

#include "server/domain/analytics/proportions.h"

#include <errata/v1/turn_service.fields.h>
#include <errata/v1/turn_service.views.h>

/* Maximum bytes of a match besides its texts. */
#define MATCH_BYTES 256

static void put_match(const struct strategy_match *match, bool has_counts, struct buffer *run)
{
    struct strategy_match_view view = {
        .session_id = match->turn.session_id,
        .turn_id = match->turn.turn_id,
        .has_created_at = true,
        .created_at_us = match->event.created_at_us,
        .intent = match->turn.intent,
        .status = match->status,
        .validation_outcome = match->turn.validation_outcome,
        .similarity = (double)match->similarity,
        .cosine = (double)match->cosine,
        .quality_score = match->turn.quality_score,
        .ranking_score = match->ranking,
        .satisfaction_score = turn_satisfaction(match->turn.validation_outcome, match->status),
        .accepted_count = has_counts ? match->accepted : 0,
        .rejected_count = has_counts ? match->rejected : 0,
        .query = match->turn.query,
        .has_strategy = match->turn.strategy.size > 0,
        .strategy = match->turn.strategy,
    };
    const struct proportion accepted = {match->accepted,
                                        (uint64_t)match->accepted + match->rejected};
    struct proportion_interval interval;

    if (has_counts && proportion_interval_of(&accepted, &interval)) {
        view.has_accepted_share = true;
        view.accepted_share = interval.estimate;
        view.accepted_share_low = interval.low;
        view.accepted_share_high = interval.high;
    }
    strategy_match_view_put(&view, SEARCH_STRATEGIES_RESPONSE_STRATEGIES_FIELD, run);
}

static void put_avoid(const struct strategy_match *match, struct buffer *run)
{
    const struct avoided_strategy_view view = {
        .session_id = match->turn.session_id,
        .turn_id = match->turn.turn_id,
        .similarity = (double)match->similarity,
        .reason = match->is_excluded ? AVOID_REASON_STRATEGY_REJECTED : AVOID_REASON_REJECTED,
        .query = match->turn.query,
        .has_strategy = match->turn.strategy.size > 0,
        .strategy = match->turn.strategy,
    };

    avoided_strategy_view_put(&view, SEARCH_STRATEGIES_RESPONSE_AVOID_FIELD, run);
}

enum err served_strategies_encode(struct arena *arena, const struct strategies *found,
                                  bool has_counts, struct served_strategies *ret_served)
{
    struct buffer matches;
    struct buffer avoid;

    buffer_init(&matches, arena, found->count * MATCH_BYTES);
    buffer_init(&avoid, arena, found->avoid_count * MATCH_BYTES);
    for (size_t i = 0; i < found->count; i++) {
        put_match(&found->items[i], has_counts, &matches);
    }
    for (size_t i = 0; i < found->avoid_count; i++) {
        put_avoid(&found->avoid[i], &avoid);
    }
    if (!buffer_ok(&matches) || !buffer_ok(&avoid)) {
        return ERR_MEMORY;
    }
    *ret_served = (struct served_strategies){buffer_slice(&matches), buffer_slice(&avoid)};
    return OK;
}

void served_strategies_hash(const struct served_strategies *served,
                            uint8_t hash[EXPOSURE_TEXT_HASH_BYTES])
{
    struct sha256_state state;
    struct sha256_digest digest;

    sha256_begin(&state);
    sha256_add(&state, served->strategies);
    sha256_add(&state, served->avoid);
    digest = sha256_read(&state);
    memcpy(hash, digest.bytes, EXPOSURE_TEXT_HASH_BYTES);
}

enum err served_strategies_expose(struct arena *arena, const struct strategies *found,
                                  struct exposure *exposure)
{
    struct exposed_artifact *artifacts = arena_calloc(arena, found->count + 1, sizeof(*artifacts));

    if (artifacts == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < found->count; i++) {
        artifacts[i] = (struct exposed_artifact){.seq = found->items[i].seq, .version = 1};
    }
    exposure->kind = EXPOSURE_KIND_STRATEGIES;
    exposure->artifacts = artifacts;
    exposure->artifact_count = found->count;
    exposure->is_listed = true;
    return OK;
}
