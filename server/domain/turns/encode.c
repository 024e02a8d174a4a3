/*
 * encode.c: encodes a turn with the feedback on it, for responses.
 */
#include "server/domain/turns/turns.h"

#include <errata/v1/turn.fields.h>

/* Maximum bytes of the feedback on a turn, without the user's words. */
#define FEEDBACK_BYTES 256

enum err turn_encode(struct arena *arena, const struct event *event,
                     const struct user_feedback_view *feedback, struct slice *ret_turn)
{
    struct turn_view turn;
    struct buffer whole;
    struct turn_view more = {.has_user_feedback = true};
    enum err err = turn_view_of_event(event, &turn);

    if (err != OK) {
        return err;
    }
    if (!view_encode(&user_feedback_view_type, feedback, arena, &more.user_feedback)) {
        return ERR_MEMORY;
    }
    more.satisfaction_score = turn_satisfaction(turn.validation_outcome, feedback->status);
    more.ranking_score = turn_ranking(turn.quality_score, feedback->status);
    buffer_init(&whole, arena,
                event->facts.size + event->content.size + more.user_feedback.size + FEEDBACK_BYTES);
    buffer_append(&whole, event->facts);
    buffer_append(&whole, event->content);
    view_write_range(&turn_view_type, &more, TURN_USER_FEEDBACK_FIELD, UINT32_MAX, &whole);
    *ret_turn = buffer_slice(&whole);
    return buffer_ok(&whole) ? OK : ERR_MEMORY;
}
