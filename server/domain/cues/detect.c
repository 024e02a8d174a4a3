/*
 * detect.c: see detect.h. A function for each row; each returns the cue by which it applies.
 */
#include "server/domain/cues/detect.h"

/* Content words of "it was X". */
#define FACT_WORDS_MAX 4

/* Returned instead of a cue if a row applies for another reason. */
static const struct cue_hit no_cue = {.class = CUE_CLASS_COUNT};

/* Returns whether a hit is within a question but not at its beginning: "is the wrong file gone?". */
static bool is_asked_about(const struct reading *reading, const struct cue_hit *hit)
{
    size_t first = hit->from;

    if (!reading->message.items[hit->from].is_asked) {
        return false;
    }
    while (first > 0 && !reading->message.items[first].begins_clause) {
        first--;
    }
    return first < hit->from && reading->is_question;
}

/* Returns whether a hit of a class shares words with another hit. */
static bool overlaps(const struct reading *reading, const struct cue_hit *hit, enum cue_class class)
{
    for (size_t i = 0; i < reading->hits.count; i++) {
        const struct cue_hit *other = &reading->hits.items[i];

        if (other->class == class && other->from < hit->to && hit->from < other->to) {
            return true;
        }
    }
    return false;
}

static bool has(const struct reading *reading, enum cue_class class)
{
    return reading_cue(reading, class) != NULL;
}

/* Returns the first hit of a class; for praise, the first one that is not part of a question. */
static const struct cue_hit *find_stated(const struct reading *reading, enum cue_class class)
{
    for (size_t i = 0; i < reading->hits.count; i++) {
        const struct cue_hit *hit = &reading->hits.items[i];

        if (hit->class == class && (class != CUE_PRAISE || !is_asked_about(reading, hit))) {
            return hit;
        }
    }
    return NULL;
}

/* Returns whether the message expresses any satisfaction. */
static bool is_content(const struct reading *reading)
{
    return has(reading, CUE_THANKS) || find_stated(reading, CUE_PRAISE) != NULL ||
           has(reading, CUE_ACTION);
}

/* Returns whether an acceptance follows a complaint: "a bit long, but I'll take it". */
static bool is_taken_back(const struct reading *reading, const struct cue_hit *hit)
{
    for (size_t i = 0; i < reading->hits.count; i++) {
        const struct cue_hit *other = &reading->hits.items[i];

        if ((other->class == CUE_ACTION || other->class == CUE_PRAISE) && other->from >= hit->to &&
            hit->class == CUE_COMPLAINT) {
            return true;
        }
    }
    return false;
}

/* The cues that reject by themselves. */
static const struct cue_hit *find_strong(const struct reading *reading)
{
    for (size_t i = 0; i < reading->hits.count; i++) {
        const struct cue_hit *hit = &reading->hits.items[i];
        bool may_be_asked = hit->class == CUE_DIRECT || hit->class == CUE_COMPLAINT;
        bool is_strong = may_be_asked || hit->class == CUE_CORRECTION || hit->class == CUE_RETRY ||
                         hit->class == CUE_SARCASM;
        bool is_declined = (reading->after_question || reading->after_offer) &&
                           overlaps(reading, hit, CUE_DECLINE);

        if (is_strong && !is_declined && !(may_be_asked && is_asked_about(reading, hit)) &&
            !is_taken_back(reading, hit)) {
            return hit;
        }
    }
    return NULL;
}

/* "No": a rejection, unless it answers a question of the response, or the user is content. */
static const struct cue_hit *find_negation(const struct reading *reading)
{
    const struct cue_hit *hit = reading_cue(reading, CUE_NEGATION);
    bool says_more = has(reading, CUE_WANT) || has(reading, CUE_CONTRAST) || reading->has_number ||
                     ((reading->is_question || reading->is_request) && reading->content_words >= 2);

    if (hit == NULL || is_content(reading) || has(reading, CUE_DECLINE)) {
        return NULL;
    }
    return reading->after_question || reading->after_offer ? (says_more ? hit : NULL) : hit;
}

/* "Not that one": a rejection if it is about what was said. */
static const struct cue_hit *find_not_that(const struct reading *reading)
{
    const struct cue_hit *hit = reading_cue(reading, CUE_NOT_THAT);

    if (hit == NULL) {
        hit = reading_cue(reading, CUE_CONTRAST);
        if (hit == NULL || !reading->has_contrast_in_response || reading->is_question ||
            is_content(reading)) {
            return NULL;
        }
        return hit;
    }
    if (is_content(reading) || has(reading, CUE_DECLINE) || has(reading, CUE_DOUBT) ||
        reading->message.items[hit->from].is_asked) {
        return NULL;
    }
    return reading->has_contrast_in_response || reading->has_number || hit->to > hit->from + 2
               ? hit
               : NULL;
}

/* A wish: a rejection if it contrasts with the answer, or repeats what the query asked. */
static const struct cue_hit *find_wish(const struct reading *reading,
                                       const struct detect_signals *signals, float similarity)
{
    const struct cue_hit *hit = reading_cue(reading, CUE_WANT);
    bool repeats = signals->has_similarity && similarity > DETECT_WISH_SIMILARITY;

    if (hit == NULL || is_content(reading) || reading->is_question || has(reading, CUE_DECLINE) ||
        has(reading, CUE_FOLLOW_UP)) {
        return NULL;
    }
    repeats = repeats && !reading->after_question && !reading->after_offer;
    return has(reading, CUE_CONTRAST) || repeats ? hit : NULL;
}

/* "Actually" with a correction. */
static const struct cue_hit *find_actually(const struct reading *reading)
{
    const struct cue_hit *hit = reading_cue(reading, CUE_ACTUALLY);

    return hit == NULL || is_content(reading) || reading->is_question || reading->is_request ||
                   reading->content_words == 0
               ? NULL
               : hit;
}

/* "It was X", where the query asked for a fact, corrects the answer; not if the response has X. */
static const struct cue_hit *find_fact(const struct reading *reading)
{
    const struct cue_hit *hit = reading_cue(reading, CUE_IT_IS);
    bool may_correct = reading->asked_for_fact && reading->response.count > 0 &&
                       !reading->after_question && !reading->mentions &&
                       reading->content_words > 0 && reading->content_words <= FACT_WORDS_MAX;

    return hit != NULL && may_correct && !is_content(reading) && !reading->is_question &&
                   !has(reading, CUE_DOUBT)
               ? hit
               : NULL;
}

/* Returns whether a statement denies what the response said, or only repeats what was asked. */
static bool insists(const struct reading *reading)
{
    bool is_bare = !is_content(reading) && !reading->is_question && !reading->is_request &&
                   !reading->after_question && !reading->after_offer &&
                   !has(reading, CUE_DECLINE) && !has(reading, CUE_DOUBT) &&
                   !has(reading, CUE_FOLLOW_UP) && !has(reading, CUE_ABANDON);
    bool is_about = reading->mentions || reading->difference.overlap > 0;

    return is_bare && reading->response.count > 0 &&
           ((reading->has_negator && is_about) || reading->repeats_query);
}

/* Decides row 1. */
static const struct cue_hit *find_explicit(const struct reading *reading,
                                           const struct detect_signals *signals, float similarity,
                                           bool *ret_is_unsure)
{
    const struct cue_hit *hit = find_strong(reading);

    *ret_is_unsure = hit == NULL;
    if (hit == NULL) {
        hit = find_negation(reading);
    }
    if (hit == NULL) {
        hit = find_not_that(reading);
    }
    if (hit == NULL) {
        hit = find_actually(reading);
    }
    /* A wish that repeats the query in other words belongs to row 2. */
    if (hit == NULL && (!signals->has_similarity || similarity <= DETECT_REPHRASED_STRONG)) {
        hit = find_wish(reading, signals, similarity);
    }
    if (hit == NULL) {
        hit = find_fact(reading);
    }
    return hit != NULL || !insists(reading) ? hit : &no_cue;
}

static bool same_structure(const struct difference *difference)
{
    return !difference->numbers_differ && !difference->names_differ && !difference->is_antonym &&
           !difference->is_replaced;
}

float detect_similarity(const struct reading *reading, const struct detect_signals *signals)
{
    if (!signals->has_similarity) {
        return 0;
    }
    return signals->is_callers || same_structure(&reading->difference) ||
                   signals->similarity < DETECT_VETO_SIMILARITY
               ? signals->similarity
               : DETECT_VETO_SIMILARITY;
}

/* Decides row 2. */
static bool is_rephrased(const struct reading *reading, const struct detect_signals *signals,
                         float similarity)
{
    bool same =
        signals->intents == DETECT_INTENTS_SAME ||
        (signals->intents == DETECT_INTENTS_UNKNOWN && same_structure(&reading->difference));

    if (!signals->has_similarity || signals->intents == DETECT_INTENTS_DIFFER ||
        is_content(reading)) {
        return false;
    }
    return similarity > DETECT_REPHRASED_STRONG || (similarity > DETECT_REPHRASED_WEAK && same);
}

/* Decides row 3. */
static const struct cue_hit *find_abandonment(const struct reading *reading)
{
    const struct cue_hit *hit = reading_cue(reading, CUE_ABANDON);
    bool declines = hit != NULL && (reading->after_question || reading->after_offer) &&
                    overlaps(reading, hit, CUE_DECLINE);

    return hit == NULL || declines || reading->message.items[hit->from].is_asked ? NULL : hit;
}

/* Returns whether the message answers a question of the response by yes or no. */
static bool answers(const struct reading *reading)
{
    return (reading->after_question || reading->after_offer) && has(reading, CUE_ANSWER) &&
           !reading->is_question && !reading->is_request;
}

/* Returns whether the message could be a query: it asks or names something, and makes no statement about the user. */
static bool is_query(const struct reading *reading)
{
    if (has(reading, CUE_DOUBT) || has(reading, CUE_DECLINE) || answers(reading)) {
        return false;
    }
    return reading->is_question || reading->is_request || reading->is_wish ||
           !reading->is_statement;
}

/* Decides row 4. A question or request that is not of another topic continues the conversation. */
static const struct cue_hit *find_continuation(const struct reading *reading,
                                               const struct detect_signals *signals,
                                               float similarity)
{
    static const enum cue_class classes[] = {CUE_THANKS, CUE_PRAISE, CUE_ACTION, CUE_FOLLOW_UP,
                                             CUE_COMPARISON};
    bool asks = reading->is_question || reading->is_request || reading->is_wish ||
                (!same_structure(&reading->difference) && is_query(reading));
    bool is_near = !signals->has_similarity || similarity >= DETECT_TOPIC_SIMILARITY ||
                   reading->refers_back || reading->content_words < DETECT_TOPIC_CONTENT_WORDS;

    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        const struct cue_hit *hit = find_stated(reading, classes[i]);

        if (hit != NULL) {
            return hit;
        }
    }
    if (has(reading, CUE_DECLINE) || has(reading, CUE_DOUBT) || answers(reading) ||
        (reading->content_words == 0 && !reading->is_question)) {
        return NULL;
    }
    return (asks && is_near) || reading->mentions ? &no_cue : NULL;
}

static struct detection decide(const struct reading *reading, enum detect_row row,
                               enum detect_status status, int hundredths, const struct cue_hit *hit)
{
    struct detection detection = {
        .status = status,
        .row = row,
        .confidence = (float)hundredths / 100,
        .class = hit != NULL ? hit->class : CUE_CLASS_COUNT,
    };

    if (detection.class != CUE_CLASS_COUNT) {
        uint32_t from = reading->message.items[hit->from].from;
        uint32_t to = reading->message.items[hit->to - 1].to;

        detection.pattern = hit->pattern;
        detection.matched = slice_of(reading->message.text.data + from, to - from);
    }
    return detection;
}

struct detection detect_feedback(const struct reading *reading,
                                 const struct detect_signals *signals)
{
    float similarity = detect_similarity(reading, signals);
    bool is_unsure = false;
    const struct cue_hit *hit = find_explicit(reading, signals, similarity, &is_unsure);
    struct detection detection =
        decide(reading, DETECT_NOTHING, DETECT_NEUTRAL, DETECT_NOTHING_HUNDREDTHS, NULL);

    if (hit != NULL) {
        detection =
            decide(reading, DETECT_EXPLICIT, DETECT_REJECTED, DETECT_EXPLICIT_HUNDREDTHS, hit);
        detection.is_unsure = is_unsure;
    } else if (is_rephrased(reading, signals, similarity)) {
        detection = decide(reading, DETECT_REPHRASED, DETECT_REJECTED, 0, NULL);
        detection.confidence = similarity;
        detection.is_strong = similarity > DETECT_REPHRASED_STRONG;
    } else if ((hit = find_abandonment(reading)) != NULL) {
        detection = decide(reading, DETECT_ABANDONMENT, DETECT_REJECTED,
                           DETECT_ABANDONMENT_HUNDREDTHS, hit);
    } else if ((hit = find_continuation(reading, signals, similarity)) != NULL) {
        detection = decide(reading, DETECT_CONTINUATION, DETECT_ACCEPTED,
                           DETECT_CONTINUATION_HUNDREDTHS, hit);
    } else if (signals->has_similarity && similarity < DETECT_TOPIC_SIMILARITY &&
               reading->content_words >= DETECT_TOPIC_CONTENT_WORDS && is_query(reading)) {
        detection = decide(reading, DETECT_TOPIC_CHANGE, DETECT_ACCEPTED,
                           DETECT_TOPIC_CHANGE_HUNDREDTHS, NULL);
    }
    detection.similarity = similarity;
    return detection;
}
