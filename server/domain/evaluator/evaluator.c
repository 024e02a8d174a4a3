/*
 * evaluator.c: see evaluator.h.
 */
#include "server/domain/evaluator/evaluator.h"

#include <math.h>

/* Confidences of rows that are not computed from support. */
#define PRAISE_CONFIDENCE 0.9
#define SILENT_CONFIDENCE 0.5
#define VAGUE_CONFIDENCE 0.9
#define CONTRADICTION_CONFIDENCE 0.8
#define SUPPORTED_LOW_CONFIDENCE 0.7
#define GENERAL_CUE_CONFIDENCE 0.6
#define SPECIFIC_CUE_CONFIDENCE 0.8
#define SMALL_CHANGE_CONFIDENCE 0.6
#define ELSE_CONFIDENCE 0.5
/* Increase of the confidence with each member of a cluster. */
#define SUPPORT_RATE 0.35
/* Lowest factors of a confidence: without distinct reviewers or epics, or with old evidence. */
#define REVIEWERS_FLOOR 0.6
#define EPICS_FLOOR 0.8
#define RECENCY_FLOOR 0.5
#define AGREEMENT_FLOOR 0.5

static bool has(struct slice cue)
{
    return cue.size > 0;
}

static bool is_praise(const struct evaluator_input *input)
{
    const struct comment_signals *signals = &input->signals;

    return has(signals->praise) && !has(signals->request) && !has(signals->worry) &&
           input->changed_lines <= EVALUATOR_PRAISE_LINES_MAX;
}

static bool is_silent_approval(const struct evaluator_input *input)
{
    return input->decision == EVALUATOR_APPROVED && !input->has_words && !input->has_correction;
}

static bool is_vague(const struct evaluator_input *input)
{
    return !input->has_words || input->signals.content_words < SIGNALS_CONTENT_WORDS_MIN;
}

bool evaluator_is_evidence(const struct evaluator_input *input)
{
    return !is_praise(input) && !is_silent_approval(input) && !is_vague(input);
}

static double factor(double floor, uint32_t count, uint32_t enough)
{
    double share = count >= enough ? 1 : (double)count / (double)enough;

    return floor + (1 - floor) * share;
}

static double round_share(double share)
{
    return nearbyint(share * 1e6) / 1e6;
}

static void explain_cue(struct buffer *text, const char *name, struct slice cue)
{
    if (has(cue)) {
        buffer_printf(text, "; %s: \"%.*s\"", name, (int)cue.size, (const char *)cue.data);
    }
}

static void explain_signals(const struct evaluator_input *input, struct buffer *text)
{
    const struct comment_signals *signals = &input->signals;
    size_t named = 0;

    buffer_printf(text, "words: %u content words, %u changed lines", signals->content_words,
                  input->changed_lines);
    explain_cue(text, "praise", signals->praise);
    explain_cue(text, "request", signals->request);
    explain_cue(text, "reservation", signals->worry);
    explain_cue(text, "general cue", has(signals->general) ? signals->general : signals->modal);
    explain_cue(text, "specific cue", signals->specific);
    for (int i = 0; i < LEXICON_CONCEPTS_MAX; i++) {
        struct slice name = lexicon_concept_name(i);

        if (signals->concepts[i]) {
            buffer_printf(text, "%s %.*s", named++ == 0 ? "; concepts:" : ",", (int)name.size,
                          (const char *)name.data);
        }
    }
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

void evaluator_support_print(const struct evaluator_support *support, struct buffer *text)
{
    buffer_printf(text, "%u decision%s by %u reviewer%s on %u task%s in %u epic%s",
                  support->members, plural(support->members), support->reviewers,
                  plural(support->reviewers), support->tasks, plural(support->tasks),
                  support->epics, plural(support->epics));
}

static void explain_support(const struct evaluator_support *support, struct buffer *text)
{
    buffer_printf(text, "\ncluster: ");
    evaluator_support_print(support, text);
    if (support->contradicts) {
        buffer_printf(text, "; its members contradict each other");
    }
}

/* Computes the confidence of HIGH; its factors are part of the rationale. */
static double high_confidence(const struct evaluator_support *support, struct buffer *text)
{
    double size = 1 - exp(-SUPPORT_RATE * (double)support->members);
    double agreement = AGREEMENT_FLOOR +
                       (1 - AGREEMENT_FLOOR) * (double)support->changes / (double)support->members;
    double reviewers = factor(REVIEWERS_FLOOR, support->reviewers, EVALUATOR_REVIEWERS_COUNTED);
    double epics = factor(EPICS_FLOOR, support->epics, EVALUATOR_EPICS_COUNTED);
    double recency =
        RECENCY_FLOOR + (1 - RECENCY_FLOOR) * exp2(-support->age_days / EVALUATOR_HALF_LIFE_DAYS);

    buffer_printf(text,
                  "\nconfidence: size %.3f x agreement %.3f x reviewers %.3f x epics %.3f x "
                  "recency %.3f",
                  size, agreement, reviewers, epics, recency);
    return size * agreement * reviewers * epics * recency;
}

static void set(struct evaluator_result *result, struct buffer *text, enum evaluator_class class,
                double confidence, const char *reason)
{
    result->class = class;
    result->confidence = confidence;
    buffer_printf(text, "\nclass: %s", reason);
}

/* Evaluates the rows that need only the decision itself. Returns whether one applies. */
static bool classify_by_words(const struct evaluator_input *input, struct buffer *text,
                              struct evaluator_result *result)
{
    if (is_praise(input)) {
        set(result, text, EVALUATOR_POSITIVE, PRAISE_CONFIDENCE, "praise without a request");
    } else if (is_silent_approval(input)) {
        set(result, text, EVALUATOR_POSITIVE, SILENT_CONFIDENCE,
            "approved without words and without a correction");
    } else if (is_vague(input)) {
        set(result, text, EVALUATOR_AMBIGUOUS, VAGUE_CONFIDENCE,
            input->has_words ? "too few content words" : "no words");
    } else {
        return false;
    }
    return true;
}

static bool classify_by_support(const struct evaluator_support *support, struct buffer *text,
                                struct evaluator_result *result)
{
    if (support->contradicts) {
        set(result, text, EVALUATOR_AMBIGUOUS, CONTRADICTION_CONFIDENCE,
            "reviewers contradict each other");
    } else if (support->members >= EVALUATOR_HIGH_MEMBERS_MIN &&
               support->reviewers >= EVALUATOR_HIGH_REVIEWERS_MIN &&
               support->tasks >= EVALUATOR_HIGH_TASKS_MIN) {
        set(result, text, EVALUATOR_HIGH, high_confidence(support, text),
            "several reviewers ask for it on several tasks");
    } else if (support->members >= EVALUATOR_LOW_MEMBERS_MIN) {
        set(result, text, EVALUATOR_LOW, SUPPORTED_LOW_CONFIDENCE, "repeated, with thin support");
    } else {
        return false;
    }
    return true;
}

static void classify_by_cues(const struct evaluator_input *input, struct buffer *text,
                             struct evaluator_result *result)
{
    const struct comment_signals *signals = &input->signals;

    if (has(signals->general) || (has(signals->modal) && !has(signals->specific))) {
        set(result, text, EVALUATOR_LOW, GENERAL_CUE_CONFIDENCE, "a general statement, said once");
    } else if (has(signals->specific)) {
        set(result, text, EVALUATOR_EDGE_CASE, SPECIFIC_CUE_CONFIDENCE, "bound to one place");
    } else if (input->changed_lines <= EVALUATOR_EDGE_LINES_MAX) {
        set(result, text, EVALUATOR_EDGE_CASE, SMALL_CHANGE_CONFIDENCE,
            "a small change, said once, without a general cue");
    } else {
        set(result, text, EVALUATOR_LOW, ELSE_CONFIDENCE, "no cue either way");
    }
}

static enum evaluator_action action_of(const struct evaluator_input *input,
                                       enum evaluator_class class)
{
    switch (class) {
    case EVALUATOR_HIGH:
        return EVALUATOR_CREATE_RULE;
    case EVALUATOR_LOW:
        return input->names_skill ? EVALUATOR_UPDATE_SKILL : EVALUATOR_REFINE_PROMPT;
    case EVALUATOR_EDGE_CASE:
        return EVALUATOR_DOCUMENT_ONLY;
    case EVALUATOR_POSITIVE:
    case EVALUATOR_AMBIGUOUS:
        return EVALUATOR_NO_ACTION;
    }
    return EVALUATOR_NO_ACTION;
}

enum err evaluator_classify(struct arena *arena, const struct evaluator_input *input,
                            const struct evaluator_support *support,
                            struct evaluator_result *ret_result)
{
    struct evaluator_result result = {.class = EVALUATOR_AMBIGUOUS};
    struct buffer text;

    buffer_init(&text, arena, 512);
    explain_signals(input, &text);
    if (!classify_by_words(input, &text, &result)) {
        explain_support(support, &text);
        if (!classify_by_support(support, &text, &result)) {
            classify_by_cues(input, &text, &result);
        }
    }
    if (!buffer_ok(&text)) {
        return ERR_MEMORY;
    }
    result.confidence = round_share(result.confidence);
    result.action = action_of(input, result.class);
    result.rationale = buffer_slice(&text);
    *ret_result = result;
    return OK;
}

bool evaluator_names_skill(struct slice tag)
{
    return slice_equal(tag, SLICE("skill")) || slice_starts_with(tag, SLICE("skill:"));
}

bool evaluator_has_skill_path(struct slice text)
{
    return text.size > 0 && memmem(text.data, text.size, "skills/", strlen("skills/")) != NULL;
}
