/*
 * detect_turn.c: reads a message as feedback on the previous turn, and appends the detection.
 * Everything that depends on vectors, cues or the clock is recorded in the event.
 */
#include "server/domain/cues/veto.h"
#include "server/domain/embed/calibration.h"
#include "server/domain/embed/embedder.h"
#include "server/domain/exposures/citations.h"
#include "server/domain/settings/turn_settings.h"
#include "server/domain/turns/citations.h"
#include "server/domain/turns/section.h"

#include <event_apply.h>

/* The previous turn and the decision about it. */
struct deciding {
    const struct detect_input *input;
    const struct cue_lexicon *lexicon;
    int64_t at_us; /* time of the message */
    struct turn_hash hash;
    bool has_previous;
    struct turn_record record; /* record of the previous turn */
    struct turn_view previous;
    struct user_feedback_view previous_feedback;
    struct reading *reading;
    struct detect_signals signals;
    struct slice embedder_id; /* id of the compared vectors */
    struct detection detection;
    struct veto veto; /* veto of `detection` */
    bool is_late;
    bool marks;
    uint32_t rejections;
    struct turn_citations citations;
    struct feedback_detected_view view; /* view to be stored */
};

/* Finds the detection of an earlier call with this turn. ERR_NOT_FOUND without one; ERR_EXISTS for another message. */
static enum err find_earlier(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct detect_input *input, uint64_t *ret_seq)
{
    struct turn_hash hash = turn_hash_of(input->session_id, input->turn_id);
    struct key key = key_turn(org, &hash);
    struct feedback_detected_view view;
    struct slice value = {NULL, 0};
    struct event event;
    enum err err = store_get(txn, TABLE_TURN_DETECTION, key_slice(&key), &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, ret_seq);
    if (err == OK) {
        err = log_read(txn, org, *ret_seq, &event);
    }
    if (err == OK) {
        err = view_read_parts(&feedback_detected_view_type, event.facts, event.content, &view);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return slice_equal(view.message, input->message)
               ? OK
               : fault_say(ctx->fault, ERR_EXISTS,
                           "turn_id: another message of this turn was read; expected a new id, "
                           "or the same message");
}

static enum err find_previous(struct store_txn *txn, struct org_id org, struct deciding *deciding)
{
    struct event event;
    enum err err =
        turn_find_previous(txn, org, &deciding->hash, deciding->at_us, &deciding->record);

    if (err == ERR_NOT_FOUND) {
        return OK;
    }
    if (err == OK) {
        err = log_read(txn, org, deciding->record.seq, &event);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err == OK) {
        err = turn_view_of_event(&event, &deciding->previous);
    }
    if (err == OK) {
        err = turn_feedback_read(txn, org, &deciding->record, &deciding->previous_feedback);
    }
    deciding->has_previous = err == OK;
    deciding->is_late = deciding->at_us - deciding->record.created_at_us > TURN_SILENCE_US;
    return err;
}

/* Compares by n-grams, which need no model, two texts whose vectors are of different embedders. */
static enum err compare_ngrams(struct ctx *ctx, struct deciding *deciding)
{
    float *vectors = (float *)arena_alloc(ctx->arena, 2 * (size_t)NGRAMS_WIDTH * sizeof(float));
    enum err err = vectors != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = ngrams_of(ctx->arena, deciding->previous.query, vectors);
    }
    if (err == OK) {
        err = ngrams_of(ctx->arena, deciding->input->words, vectors + NGRAMS_WIDTH);
    }
    if (err == OK) {
        deciding->signals.has_similarity = true;
        deciding->signals.similarity =
            calibration_show(CALIBRATION_QUERY, EMBEDDER_NGRAMS,
                             embedder_cosine(vectors, vectors + NGRAMS_WIDTH, NGRAMS_WIDTH));
        deciding->embedder_id = SLICE("ngrams");
    }
    return err;
}

static enum err compare(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                        struct deciding *deciding)
{
    const struct turn_vector *vector = &deciding->input->vector;
    struct turn_vector stored;
    float cosine = 0;
    enum err err = turn_vector_read(ctx->arena, txn, org, deciding->record.seq, &stored);

    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (err == ERR_NOT_FOUND || !slice_equal(stored.space, vector->space) ||
        stored.width != vector->width) {
        return compare_ngrams(ctx, deciding);
    }
    cosine = embedder_cosine(vector->values, stored.values, vector->width);
    deciding->signals.has_similarity = true;
    deciding->signals.is_callers = vector->is_callers;
    deciding->signals.similarity = !vector->is_callers
                                       ? calibration_show(CALIBRATION_QUERY, vector->kind, cosine)
                                   : cosine > 0 ? cosine
                                                : 0;
    deciding->embedder_id = vector->space;
    return OK;
}

static enum detect_intents compare_intents(const struct deciding *deciding)
{
    struct slice a = deciding->previous.intent;
    struct slice b = deciding->input->intent;

    if (a.size == 0 || b.size == 0) {
        return DETECT_INTENTS_UNKNOWN;
    }
    return slice_equal(a, b) ? DETECT_INTENTS_SAME : DETECT_INTENTS_DIFFER;
}

/* Reads the entities that the message may name: those of the previous response, and those of the request. */
static enum err read_entities(struct ctx *ctx, struct deciding *deciding,
                              struct reading_input *reading)
{
    const struct detect_input *input = deciding->input;
    size_t room = deciding->previous.response_entities.count + input->entity_count;
    struct slice *entities = arena_calloc(ctx->arena, room + 1, sizeof(*entities));
    struct slice run = deciding->previous.response_entities.run;
    size_t count = 0;

    if (entities == NULL) {
        return ERR_MEMORY;
    }
    while (count < room && view_next(&run, &entities[count])) {
        count++;
    }
    for (size_t i = 0; i < input->entity_count && count < room; i++) {
        entities[count++] = input->entities[i];
    }
    reading->entities = entities;
    reading->entity_count = count;
    return OK;
}

/* Reads the organisation's own cues. */
static enum err read_extras(struct ctx *ctx, const struct turn_settings *settings,
                            struct reading_input *reading)
{
    struct extra_cue *extras = NULL;
    struct extra_cues_view cues;
    struct slice message = {NULL, 0};
    size_t count = 0;
    enum err err = extra_cues_view_read(settings->extra_cues, &cues);

    if (err != OK) {
        return err;
    }
    extras = arena_calloc(ctx->arena, cues.cues.count + 1, sizeof(*extras));
    if (extras == NULL) {
        return ERR_MEMORY;
    }
    while (err == OK && view_next(&cues.cues.run, &message)) {
        struct extra_cue_view cue;

        err = extra_cue_view_read(message, &cue);
        if (err == OK && !cue_class_find(cue.cue_class, &extras[count].class)) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            extras[count++].phrase = cue.phrase;
        }
    }
    reading->extras = extras;
    reading->extra_count = count;
    return err;
}

/* Applies the organisation's setting for a change of topic. */
static void set_topic_change(const struct turn_settings *settings, struct detection *detection)
{
    if (detection->row == DETECT_TOPIC_CHANGE && settings->topic_change == TOPIC_CHANGE_NEUTRAL) {
        detection->status = DETECT_NEUTRAL;
        detection->confidence = DETECT_NOTHING_HUNDREDTHS / 100.0F;
    }
}

/* Reads the message together with the previous turn. */
static enum err read_message(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             struct deciding *deciding)
{
    struct reading_input input = {
        .message = deciding->input->words,
        .previous_query = deciding->previous.query,
        .previous_response = deciding->previous.response_summary,
    };
    struct turn_settings settings;
    enum err err = compare(ctx, txn, org, deciding);

    if (err == OK) {
        err = read_entities(ctx, deciding, &input);
    }
    if (err == OK) {
        err = turn_settings_read(txn, org, &settings);
    }
    if (err == OK) {
        err = read_extras(ctx, &settings, &input);
    }
    deciding->reading = arena_calloc(ctx->arena, 1, sizeof(*deciding->reading));
    if (err == OK && deciding->reading == NULL) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = reading_of(ctx->arena, deciding->lexicon, &input, deciding->reading);
    }
    if (err == OK) {
        deciding->signals.intents = compare_intents(deciding);
        deciding->detection = detect_feedback(deciding->reading, &deciding->signals);
        deciding->veto = veto_apply(deciding->reading, &deciding->detection);
        set_topic_change(&settings, &deciding->detection);
    }
    return err;
}

/* Decides the status that the message implies, and whether it marks the turn. */
static enum err decide(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       struct deciding *deciding)
{
    const struct detect_input *input = deciding->input;
    bool is_user =
        input->author == MESSAGE_AUTHOR_UNSPECIFIED || input->author == MESSAGE_AUTHOR_USER;
    enum err err = OK;

    deciding->detection = (struct detection){
        .status = DETECT_NEUTRAL,
        .row = DETECT_NOTHING,
        .confidence = DETECT_NOTHING_HUNDREDTHS / 100.0F,
        .class = CUE_CLASS_COUNT,
    };
    if (!deciding->has_previous || !is_user) {
        return OK;
    }
    err = read_message(ctx, txn, org, deciding);
    if (err == OK && deciding->is_late && deciding->detection.row != DETECT_EXPLICIT) {
        deciding->detection.status = DETECT_NEUTRAL;
        deciding->detection.row = DETECT_NOTHING;
        deciding->detection.confidence = DETECT_NOTHING_HUNDREDTHS / 100.0F;
    }
    deciding->marks = deciding->record.marked_seq == 0 && deciding->record.set_seq == 0 &&
                      !(deciding->is_late && deciding->detection.row != DETECT_EXPLICIT);
    if (err == OK && deciding->detection.status == DETECT_REJECTED) {
        deciding->rejections = 1;
        if (!deciding->is_late) {
            err = turn_count_rejections(txn, org, &deciding->hash, &deciding->record,
                                        &deciding->rejections);
        }
    }
    return err;
}

static enum turn_status status_of(enum detect_status status)
{
    switch (status) {
    case DETECT_REJECTED:
        return TURN_STATUS_REJECTED;
    case DETECT_ACCEPTED:
        return TURN_STATUS_ACCEPTED;
    case DETECT_NEUTRAL:
        break;
    }
    return TURN_STATUS_NEUTRAL;
}

/* Sets the members that depend on the row of the table. */
static void set_row(const struct detection *detection, struct feedback_detected_view *view)
{
    view->feedback_type = status_of(detection->status);
    view->confidence = (double)detection->confidence;
    if (detection->row == DETECT_REPHRASED) {
        view->tier = detection->is_strong ? REPHRASE_TIER_STRONG : REPHRASE_TIER_WEAK;
    } else {
        /* Confidences of the other rows are in hundredths. */
        view->confidence = (double)(int)(detection->confidence * 100 + 0.5F) / 100;
    }
    switch (detection->row) {
    case DETECT_EXPLICIT:
        view->correction_type = CORRECTION_TYPE_EXPLICIT;
        break;
    case DETECT_REPHRASED:
        view->correction_type = CORRECTION_TYPE_REPHRASED;
        break;
    case DETECT_ABANDONMENT:
        view->correction_type = CORRECTION_TYPE_ABANDONMENT;
        break;
    case DETECT_CONTINUATION:
        view->acceptance_kind = ACCEPTANCE_KIND_CONTINUATION;
        break;
    case DETECT_TOPIC_CHANGE:
        if (detection->status == DETECT_ACCEPTED) {
            view->acceptance_kind = ACCEPTANCE_KIND_TOPIC_CHANGE;
        }
        break;
    case DETECT_NOTHING:
        break;
    }
}

static enum err set_evidence(struct ctx *ctx, const struct deciding *deciding,
                             struct feedback_detected_view *view)
{
    const struct detection *detection = &deciding->detection;
    const struct detection_evidence_view evidence = {
        .row = deciding->reading != NULL ? (enum detection_row)detection->row
                                         : DETECTION_ROW_UNSPECIFIED,
        .cue_class = cue_class_name(detection->class),
        .cue = detection->pattern,
        .has_similarity = deciding->signals.has_similarity,
        .similarity = (double)detection->similarity,
        .embedder_id = deciding->embedder_id,
        .late = deciding->is_late,
        .unsure = detection->is_unsure,
        .has_rejection_probability = deciding->reading != NULL,
        .rejection_probability = (double)deciding->veto.probability,
        .vetoed_row = deciding->veto.is_vetoed ? (enum detection_row)deciding->veto.row
                                               : DETECTION_ROW_UNSPECIFIED,
    };

    view->has_evidence = true;
    view->matched = detection->matched;
    return view_encode(&detection_evidence_view_type, &evidence, ctx->arena, &view->evidence)
               ? OK
               : ERR_MEMORY;
}

/* Sets the feedback on the previous turn after the event. */
static enum err set_previous(struct ctx *ctx, const struct deciding *deciding,
                             struct feedback_detected_view *view)
{
    struct user_feedback_view feedback = deciding->previous_feedback;

    view->has_previous_feedback = true;
    view->has_previous_turn_id = true;
    view->previous_turn_id = deciding->previous.turn_id;
    view->previous_seq = deciding->record.seq;
    view->previous_user_said = feedback.user_said;
    if (deciding->marks) {
        feedback = (struct user_feedback_view){
            .status = view->feedback_type,
            .confidence = view->confidence,
            .correction_type = view->correction_type,
            .has_detected_at = true,
            .detected_at_us = deciding->at_us,
            .has_detected_in_turn = true,
            .detected_in_turn = deciding->input->turn_id,
        };
        view->previous_user_said = view->user_said;
    }
    feedback.user_said = slice_of(NULL, 0);
    return view_encode(&user_feedback_view_type, &feedback, ctx->arena, &view->previous_feedback)
               ? OK
               : ERR_MEMORY;
}

static enum err set_section(struct ctx *ctx, const struct deciding *deciding,
                            struct feedback_detected_view *view)
{
    struct turn_strategy_view strategy = {.tool = {NULL, 0}};
    struct section_input section = {
        .rejected_turn_id = deciding->previous.turn_id,
        .detected_in_turn_id = deciding->input->turn_id,
        .user_said = deciding->input->words,
        .what_went_wrong = deciding->input->what_went_wrong,
        .advice = deciding->input->advice,
        .consecutive_rejections = deciding->rejections,
    };
    enum err err = OK;

    if (deciding->previous.strategy.size > 0) {
        err = turn_strategy_view_read(deciding->previous.strategy, &strategy);
    }
    section.tool = strategy.tool;
    section.tool_text = strategy.text;
    return err != OK ? err : section_write(ctx->arena, &section, &view->context_section);
}

static enum err fill(struct ctx *ctx, struct deciding *deciding)
{
    struct feedback_detected_view *view = &deciding->view;
    enum err err = OK;

    view->session_id = deciding->input->session_id;
    view->turn_id = deciding->input->turn_id;
    view->has_created_at = true;
    view->created_at_us = deciding->at_us;
    view->author = deciding->input->author == MESSAGE_AUTHOR_UNSPECIFIED ? MESSAGE_AUTHOR_USER
                                                                         : deciding->input->author;
    view->consecutive_rejections = deciding->rejections;
    view->marked = deciding->marks;
    view->message = deciding->input->message;
    set_row(&deciding->detection, view);
    err = set_evidence(ctx, deciding, view);
    if (err == OK && view->feedback_type == TURN_STATUS_REJECTED) {
        view->user_said = deciding->input->words;
        err = set_section(ctx, deciding, view);
    }
    return err == OK && deciding->has_previous ? set_previous(ctx, deciding, view) : err;
}

static enum err append(struct ctx *ctx, struct store_txn *txn, struct deciding *deciding,
                       struct event_draft *draft, uint64_t *ret_seq)
{
    struct buffer seqs;
    enum err err = fill(ctx, deciding);

    buffer_init(&seqs, ctx->arena, deciding->citations.count * WIRE_OVERHEAD_BYTES);
    for (size_t i = 0; i < deciding->citations.count; i++) {
        feedback_detected_view_add_exposure_seqs(&seqs, deciding->citations.items[i].seq);
    }
    deciding->view.exposure_seqs.run = buffer_slice(&seqs);
    if (err != OK || !buffer_ok(&seqs)) {
        return err != OK ? err : ERR_MEMORY;
    }
    deciding->view.id = draft->stamp.id;
    deciding->view.org_id = draft->org.uuid;
    if (!view_encode_parts(&feedback_detected_view_type, &deciding->view, ctx->arena, &draft->facts,
                           &draft->content)) {
        return ERR_MEMORY;
    }
    event_draft_add_subject(draft, SUBJECT_SESSION, deciding->input->session_id);
    event_draft_add_subject(draft, SUBJECT_TURN, deciding->input->turn_id);
    return event_draft_append(ctx, txn, draft, turns_apply, ret_seq);
}

static enum err detect_new(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           struct deciding *deciding, uint64_t *ret_seq)
{
    const struct detect_input *input = deciding->input;
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_FEEDBACK_DETECTED,
        .annotator = ANNOTATOR_CODE,
    };
    enum err err = actor_resolve(ctx, &input->caller, slice_of(NULL, 0), slice_of(NULL, 0), false,
                                 &draft.actor_user_id);

    if (err == OK) {
        err = event_time_check_now(ctx, txn, org, &input->time, slice_of(NULL, 0));
    }
    if (err == OK) {
        err = turn_citations_read(ctx, txn, org, &input->references, &deciding->citations);
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err == OK) {
        err = exposures_record(ctx, txn, org,
                               &(struct exposure_citer){draft.actor_user_id, input->time},
                               deciding->citations.items, deciding->citations.count);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &input->time, &draft);
        deciding->at_us = draft.created_at_us;
    }
    if (err == OK) {
        err = find_previous(txn, org, deciding);
    }
    if (err == OK) {
        err = decide(ctx, txn, org, deciding);
    }
    return err != OK ? err : append(ctx, txn, deciding, &draft, ret_seq);
}

enum err turn_detect(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                     const struct cue_lexicon *lexicon, const struct detect_input *input,
                     uint64_t *ret_seq)
{
    struct deciding *deciding = NULL;
    enum err err = find_earlier(ctx, txn, org, input, ret_seq);

    if (err != ERR_NOT_FOUND) {
        return err;
    }
    deciding = arena_calloc(ctx->arena, 1, sizeof(*deciding));
    if (deciding == NULL) {
        return ERR_MEMORY;
    }
    deciding->input = input;
    deciding->lexicon = lexicon;
    deciding->hash = turn_hash_of(input->session_id, input->turn_id);
    return detect_new(ctx, txn, org, deciding, ret_seq);
}
