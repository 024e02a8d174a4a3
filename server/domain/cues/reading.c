/*
 * reading.c: see reading.h.
 */
#include "server/domain/cues/reading.h"

#include "server/domain/cues/difference.h"
#include "server/domain/cues/masks.h"

/* Maximum words at the beginning and the end of a response that are compared with a message. */
#define RESPONSE_WORDS_MAX 256
/* Number of words at the end of a response in which an offer is searched for. */
#define OFFER_WORDS 16
/* Maximum words of a message that only repeats what was asked. */
#define REPEATED_WORDS_MAX 5

static uint32_t sets_of(const struct cue_lexicon *lexicon, const struct cue_word *word)
{
    return word->is_masked ? 0 : lexicon->entries[word->entry].sets;
}

/* Returns whether a class rejects, so that a guard cancels its cues. */
static bool is_guarded_class(enum cue_class class)
{
    return class == CUE_NEGATION || class == CUE_NOT_THAT || class == CUE_CORRECTION ||
           class == CUE_DIRECT || class == CUE_RETRY || class == CUE_COMPLAINT ||
           class == CUE_SARCASM || class == CUE_CONTRAST;
}

/* Returns whether a guard covers at least the first word of a hit. */
static bool is_covered(const struct cue_hits *hits, const struct cue_hit *hit)
{
    enum cue_class guard = is_guarded_class(hit->class) ? CUE_GUARD
                           : hit->class == CUE_ABANDON  ? CUE_ABANDON_GUARD
                                                        : CUE_CLASS_COUNT;

    for (size_t i = 0; i < hits->count; i++) {
        const struct cue_hit *other = &hits->items[i];

        if (other->class == guard && other->from < hit->to && hit->from < other->to &&
            (hit->from >= other->from || hit->to <= other->to)) {
            return true;
        }
    }
    return false;
}

static void drop_covered(struct cue_hits *hits)
{
    static const struct cue_hits none;
    struct cue_hits kept = none;

    for (size_t i = 0; i < hits->count; i++) {
        if (!is_covered(hits, &hits->items[i])) {
            kept.items[kept.count] = hits->items[i];
            kept.count++;
        }
    }
    *hits = kept;
}

static enum err enter(struct arena *arena, const struct cue_lexicon *lexicon, struct slice text,
                      struct cue_words *ret_words)
{
    enum err err = words_of(arena, text, ret_words);

    return err == OK ? cue_lexicon_enter(lexicon, arena, ret_words) : err;
}

/* Determines whether the previous response ends with a question or an offer. */
static void read_response_end(const struct cue_lexicon *lexicon, struct reading *reading)
{
    struct cue_words end = reading->response;
    struct cue_hits hits;
    size_t skipped = end.count > OFFER_WORDS ? end.count - OFFER_WORDS : 0;

    if (end.count == 0) {
        return;
    }
    reading->after_question = end.items[end.count - 1].is_asked;
    end.items += skipped;
    end.count -= skipped;
    cues_find(lexicon, &end, &hits);
    reading->after_offer = cues_first(&hits, CUE_OFFER) != NULL;
}

static bool has_word(const struct cue_words *words, struct slice text)
{
    for (size_t i = 0; i < words->count && i < RESPONSE_WORDS_MAX; i++) {
        if (words_equal_stem(words->items[i].text, text)) {
            return true;
        }
    }
    return false;
}

/* Returns whether the message names something in the response that the query did not have. */
static bool finds_mention(const struct cue_lexicon *lexicon, const struct reading *reading)
{
    for (size_t i = 0; i < reading->message.count; i++) {
        const struct cue_word *word = &reading->message.items[i];

        if (difference_is_content(lexicon, word) && (word->text.size > 2 || word->has_digit) &&
            lexicon->entries[word->entry].sets == 0 && has_word(&reading->response, word->text) &&
            !has_word(&reading->query, word->text)) {
            return true;
        }
    }
    return false;
}

/* Returns whether the message names an entity that the caller listed. */
static bool names_entity(const struct reading_input *input)
{
    for (size_t i = 0; i < input->entity_count; i++) {
        if (input->entities[i].size >= 3 && input->message.size > 0 &&
            memmem(input->message.data, input->message.size, input->entities[i].data,
                   input->entities[i].size) != NULL) {
            return true;
        }
    }
    return false;
}

/* Finds "not X" where the previous turn contains X. */
static bool finds_contrast(const struct cue_lexicon *lexicon, const struct reading *reading)
{
    for (size_t i = 0; i < reading->hits.count; i++) {
        const struct cue_hit *hit = &reading->hits.items[i];

        if (hit->class != CUE_CONTRAST && hit->class != CUE_NOT_THAT) {
            continue;
        }
        for (size_t j = hit->from; j < hit->from + 4 && j < reading->message.count; j++) {
            const struct cue_word *word = &reading->message.items[j];

            if (difference_is_content(lexicon, word) && !word->is_asked &&
                (has_word(&reading->response, word->text) ||
                 has_word(&reading->query, word->text))) {
                return true;
            }
        }
    }
    return false;
}

/* Determines the kinds of sentences in the message. */
static void read_kind(const struct cue_lexicon *lexicon, struct reading *reading)
{
    uint32_t asks = cue_lexicon_set(lexicon, SLICE("wh")) | cue_lexicon_set(lexicon, SLICE("aux"));
    uint32_t verbs = cue_lexicon_set(lexicon, SLICE("verb"));
    uint32_t filler = cue_lexicon_set(lexicon, SLICE("filler"));
    uint32_t pronouns = cue_lexicon_set(lexicon, SLICE("pronoun"));
    uint16_t please = cue_lexicon_find(lexicon, SLICE("please"));
    uint32_t subjects = cue_lexicon_set(lexicon, SLICE("subject"));
    bool begins = true;
    bool begins_message = true;

    for (size_t i = 0; i < reading->message.count; i++) {
        const struct cue_word *word = &reading->message.items[i];
        uint32_t sets = sets_of(lexicon, word);

        begins = begins || word->begins_sentence || word->begins_clause;
        reading->is_question = reading->is_question || word->is_asked ||
                               (begins && (sets & asks) != 0 && i + 1 < reading->message.count);
        reading->is_request = reading->is_request || (begins && (sets & verbs) != 0) ||
                              (word->entry == please && !word->is_masked);
        reading->refers_back = reading->refers_back || (sets & pronouns) != 0;
        reading->has_number = reading->has_number || word->has_digit;
        reading->content_words += difference_is_content(lexicon, word);
        reading->is_statement = reading->is_statement || (begins_message && (sets & subjects) != 0);
        begins = begins && (sets & filler) != 0;
        begins_message = begins_message && (sets & filler) != 0;
    }
    reading->is_wish = reading_cue(reading, CUE_WANT) != NULL;
}

/* Returns whether a hit of the class covers a word. */
static bool covers(const struct reading *reading, enum cue_class class, size_t at)
{
    for (size_t i = 0; i < reading->hits.count; i++) {
        const struct cue_hit *hit = &reading->hits.items[i];

        if (hit->class == class && hit->from <= at && at < hit->to) {
            return true;
        }
    }
    return false;
}

/* Determines whether the message denies something or repeats what was asked. */
static void read_insistence(const struct cue_lexicon *lexicon, struct reading *reading)
{
    uint32_t negators = cue_lexicon_set(lexicon, SLICE("negator"));
    uint32_t asks = cue_lexicon_set(lexicon, SLICE("wh"));
    size_t repeated = 0;

    for (size_t i = 0; i < reading->message.count; i++) {
        const struct cue_word *word = &reading->message.items[i];

        repeated += difference_is_content(lexicon, word) && has_word(&reading->query, word->text);
        reading->has_negator =
            reading->has_negator || ((sets_of(lexicon, word) & negators) != 0 && !word->is_asked &&
                                     !covers(reading, CUE_GUARD, i));
    }
    reading->repeats_query = repeated > 0 && repeated == reading->content_words &&
                             reading->message.count <= REPEATED_WORDS_MAX &&
                             reading->message.count * 2 <= reading->query.count + 2;
    reading->asked_for_fact =
        reading->query.count > 0 && (sets_of(lexicon, &reading->query.items[0]) & asks) != 0;
}

enum err reading_of(struct arena *arena, const struct cue_lexicon *lexicon,
                    const struct reading_input *input, struct reading *ret_reading)
{
    enum err err = OK;

    memset(ret_reading, 0, sizeof(*ret_reading));
    err = enter(arena, lexicon, input->message, &ret_reading->message);
    if (err == OK) {
        err = enter(arena, lexicon, input->previous_query, &ret_reading->query);
    }
    if (err == OK) {
        err = enter(arena, lexicon, input->previous_response, &ret_reading->response);
    }
    if (err != OK) {
        return err;
    }
    masks_set(&ret_reading->message, &ret_reading->query);
    masks_set(&ret_reading->message, &ret_reading->response);
    cues_find(lexicon, &ret_reading->message, &ret_reading->hits);
    err = cues_find_extras(arena, lexicon, &ret_reading->message, input->extras, input->extra_count,
                           &ret_reading->hits);
    drop_covered(&ret_reading->hits);
    read_response_end(lexicon, ret_reading);
    read_kind(lexicon, ret_reading);
    read_insistence(lexicon, ret_reading);
    ret_reading->mentions = finds_mention(lexicon, ret_reading) || names_entity(input);
    ret_reading->has_contrast_in_response = finds_contrast(lexicon, ret_reading);
    difference_of(lexicon, &ret_reading->query, &ret_reading->message, &ret_reading->difference);
    return err;
}

const struct cue_hit *reading_cue(const struct reading *reading, enum cue_class class)
{
    return cues_first(&reading->hits, class);
}
