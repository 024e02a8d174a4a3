/*
 * turns.h: turns of conversations, and the feedback of later messages and persons on them.
 * server/domain/cues reads a message; this module decides with what it is compared, which turn it
 * marks, and what is stored.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_TURNS_H
#define ERRATA_SERVER_DOMAIN_TURNS_TURNS_H

#include "server/domain/cues/detect.h"
#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/turns/records.h"
#include "server/domain/turns/vector_row.h"

#include <errata/v1/turn.views.h>
#include <errata/v1/turn_feedback.views.h>

/* The longest silence within a session. */
#define TURN_SILENCE_US (INT64_C(30) * 60 * 1000000)
/* Number of rejections in sequence after which the assistant should ask a question. */
#define TURN_CLARIFY_REJECTIONS 2
/* Maximum turns that a count of rejections in sequence reads. */
#define TURN_STREAK_MAX 100

/* Maximum references that a call cites; the max_items of the requests. */
#define TURN_REFERENCES_MAX 20

/* References to exposures of strategies, as a call cites them. */
struct turn_references {
    const struct exposure_key *key;
    const struct slice *items; /* at most TURN_REFERENCES_MAX */
    size_t count;
};

/* A turn to record. Slices are borrowed. */
struct turn_input {
    struct event_caller caller;
    struct slice session_id;
    struct slice turn_id;
    struct event_time time;
    struct slice intent;
    enum validation_outcome outcome;
    double quality;
    struct slice query;
    bool has_response;
    struct slice response;
    struct slice strategy; /* an encoded TurnStrategy; empty without one */
    struct slice entities; /* the run of response_entities */
    struct turn_vector vector;
    struct turn_references references;
};

/* A message to read. */
struct detect_input {
    struct event_caller caller;
    struct slice session_id;
    struct slice turn_id;
    struct event_time time;
    struct slice message; /* message as it was sent */
    struct slice words; /* the message without the texts to ignore */
    enum message_author author;
    struct slice intent;
    const struct slice *entities;
    size_t entity_count;
    struct slice what_went_wrong;
    struct slice advice;
    struct turn_vector vector; /* vector of the message's words */
    struct turn_references references; /* references of the previous turn */
};

/* A person's judgement. */
struct judge_input {
    struct event_caller caller;
    struct slice session_id;
    struct slice turn_id;
    struct slice actor_user_id;
    enum turn_status status;
    struct slice reason;
};

/* Decides and appends EVENT_TURN_RECORDED, after the events of exposures that it cites for the
 * first time, and stores the vector. ERR_EXISTS for a turn that the session has. */
MUST_CHECK enum err turn_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                const struct turn_input *input, uint64_t *ret_seq);
/* Reads a message and appends EVENT_FEEDBACK_DETECTED, after such events; returns the number of the
 * earlier one if the turn's message was read before. ERR_EXISTS if that was another message. */
MUST_CHECK enum err turn_detect(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                const struct cue_lexicon *lexicon, const struct detect_input *input,
                                uint64_t *ret_seq);
/* Appends EVENT_TURN_FEEDBACK_SET. ERR_NOT_FOUND for an unknown turn. */
MUST_CHECK enum err turn_judge(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                               const struct judge_input *input, uint64_t *ret_seq);

/* Reads a turn's row. ERR_NOT_FOUND without one. */
MUST_CHECK enum err turn_read(struct store_txn *txn, struct org_id org,
                              const struct turn_hash *hash, struct turn_record *ret_record);
/* Reads the row of the turn that an event recorded as it was after the event `as_of_seq`; its status is not set. */
MUST_CHECK enum err turn_read_as_of(struct store_txn *txn, const struct event *recorded,
                                    uint64_t as_of_seq, struct turn_record *ret_record);
/* Reads the turn of a list's row, by the row's value. ERR_CORRUPT if the row names no turn. */
MUST_CHECK enum err turn_read_listed(struct store_txn *txn, struct org_id org, struct slice value,
                                     struct turn_record *ret_record);
/* Returns the newest turn of a session that is not after `at_us`, other than `hash`. ERR_NOT_FOUND. */
MUST_CHECK enum err turn_find_previous(struct store_txn *txn, struct org_id org,
                                       const struct turn_hash *hash, int64_t at_us,
                                       struct turn_record *ret_record);
/* Counts the rejected turns in sequence that end with `last`, which counts as rejected. */
MUST_CHECK enum err turn_count_rejections(struct store_txn *txn, struct org_id org,
                                          const struct turn_hash *hash,
                                          const struct turn_record *last, uint32_t *ret_count);

/* Reads a recorded turn from its event. ERR_CORRUPT for another one. */
MUST_CHECK enum err turn_view_of_event(const struct event *event, struct turn_view *ret_view);
/* Reads the current feedback on a turn; texts are borrowed from the transaction. */
MUST_CHECK enum err turn_feedback_read(struct store_txn *txn, struct org_id org,
                                       const struct turn_record *record,
                                       struct user_feedback_view *ret_feedback);
/* Returns the encoded turn of an event with the feedback on it, in the arena. `feedback` is borrowed. */
MUST_CHECK enum err turn_encode(struct arena *arena, const struct event *event,
                                const struct user_feedback_view *feedback, struct slice *ret_turn);
/* Returns the satisfaction of a turn, and its rank among strategies. */
double turn_satisfaction(enum validation_outcome outcome, enum turn_status status);
double turn_ranking(double quality, enum turn_status status);

#endif
