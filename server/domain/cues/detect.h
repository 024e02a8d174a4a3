/*
 * detect.h: the table that decides what a message says about the previous turn. The first row that
 * applies decides the status and the confidence:
 *
 *   1 explicit rejection            REJECTED 0.9
 *   2 the query in other words      REJECTED, with the similarity
 *   3 abandonment                   REJECTED 0.85
 *   4 continuation                  ACCEPTED 0.7
 *   5 a query of another topic      ACCEPTED 0.6
 *   6 anything else                 NEUTRAL 0.5
 *
 * A false rejection excludes a good strategy permanently, so in cases of doubt the result is
 * NEUTRAL. Pure: no store, no clock.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_DETECT_H
#define ERRATA_SERVER_DOMAIN_CUES_DETECT_H

#include "server/domain/cues/reading.h"

enum detect_row {
    DETECT_EXPLICIT = 1,
    DETECT_REPHRASED,
    DETECT_ABANDONMENT,
    DETECT_CONTINUATION,
    DETECT_TOPIC_CHANGE,
    DETECT_NOTHING
};

enum detect_status {
    DETECT_REJECTED,
    DETECT_ACCEPTED,
    DETECT_NEUTRAL
};

/* Whether the caller's intents of both turns are the same. */
enum detect_intents {
    DETECT_INTENTS_UNKNOWN, /* not given for both turns */
    DETECT_INTENTS_SAME,
    DETECT_INTENTS_DIFFER
};

/* Confidences of rows 1, 3, 4, 5 and 6, in hundredths. */
#define DETECT_EXPLICIT_HUNDREDTHS 90
#define DETECT_ABANDONMENT_HUNDREDTHS 85
#define DETECT_CONTINUATION_HUNDREDTHS 70
#define DETECT_TOPIC_CHANGE_HUNDREDTHS 60
#define DETECT_NOTHING_HUNDREDTHS 50
/* Row 2 applies above the first similarity with any intent, and above the second with the same intent. */
#define DETECT_REPHRASED_STRONG 0.85F
#define DETECT_REPHRASED_WEAK 0.8F
/* Row 1: "I want" with this similarity to the query states what the answer lacked. */
#define DETECT_WISH_SIMILARITY 0.5F
/* Minimum similarity for row 5. */
#define DETECT_TOPIC_SIMILARITY 0.3F
#define DETECT_TOPIC_CONTENT_WORDS 2
/* The highest similarity, by the server's embedder, of queries about different things. */
#define DETECT_VETO_SIMILARITY 0.75F

/* Inputs besides the words. */
struct detect_signals {
    bool has_similarity;
    bool
        is_callers; /* the similarity is the cosine of the caller's vectors, and is used unchanged */
    float similarity; /* similarity of the message to the previous query, as shown: 0 to 1 */
    enum detect_intents intents;
};

struct detection {
    enum detect_status status;
    enum detect_row row;
    float confidence;
    float similarity; /* similarity that decided, after vetoes; 0 without one */
    bool is_strong; /* row 2: above DETECT_REPHRASED_STRONG */
    bool is_unsure; /* row 1 by a weak cue: a model may change it to NEUTRAL, like rows 2 and 3 */
    enum cue_class class; /* class of the cue that decided; CUE_CLASS_COUNT: it was no cue */
    struct slice pattern; /* pattern of the cue */
    struct slice matched; /* words of the cue, as in the message */
};

/* Returns the similarity after vetoes: that of queries with other numbers, names or words in the same sentence, or with
 * opposite words, is at most DETECT_VETO_SIMILARITY. */
float detect_similarity(const struct reading *reading, const struct detect_signals *signals);
/* Applies the table. `message` is the message of the reading. */
struct detection detect_feedback(const struct reading *reading,
                                 const struct detect_signals *signals);

#endif
