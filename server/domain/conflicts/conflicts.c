/*
 * conflicts.c: see conflicts.h.
 */
#include "server/domain/conflicts/conflicts.h"

/* Maximum words that a wider rule has in addition to the single word of a narrower one. */
#define EXTRA_WORDS_MAX 2

static bool are_equal(const struct rule_words *a, const struct rule_words *b)
{
    return rule_words_missing(a, b) == 0 && rule_words_missing(b, a) == 0;
}

/* Returns whether one rule has all words of the other. */
static bool one_contains(const struct rule_words *a, const struct rule_words *b)
{
    return rule_words_missing(a, b) == 0 || rule_words_missing(b, a) == 0;
}

/* Returns the condition of a rule about an order; NULL if there is none. */
static const struct rule_part *order_of(const struct rule_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].is_condition && parts->items[i].words.count > 0) {
            return &parts->items[i];
        }
    }
    return NULL;
}

/* Returns whether both rules may apply at once. */
static bool apply_together(const struct rule_parts *a, const struct rule_parts *b)
{
    const struct rule_part *left = order_of(a);
    const struct rule_part *right = order_of(b);

    if (left == NULL || right == NULL) {
        return true;
    }
    return left->condition == right->condition && left->is_negative == right->is_negative &&
           one_contains(&left->words, &right->words);
}

/* Returns whether one part demands what the other forbids: all words of one are in the other, which has few more. */
static bool is_denied(const struct rule_part *a, const struct rule_parts *whole,
                      const struct rule_part *b)
{
    if (a->is_condition || b->is_condition || a->is_negative == b->is_negative ||
        a->words.count == 0 || rule_words_missing(&a->words, &b->words) > 0) {
        return false;
    }
    return a->words.count > 1 || b->words.count - a->words.count <= EXTRA_WORDS_MAX ||
           rule_words_missing(&b->words, &whole->all) <= 1;
}

static bool is_negation(const struct rule_parts *a, const struct rule_parts *b)
{
    if (a->bound_count != b->bound_count || !apply_together(a, b)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            if (is_denied(&a->items[i], a, &b->items[j]) ||
                is_denied(&b->items[j], b, &a->items[i])) {
                return true;
            }
        }
    }
    return false;
}

/* Returns whether both demand the same thing, one before and the other after the same event. */
static bool is_order(const struct rule_parts *a, const struct rule_parts *b)
{
    const struct rule_part *left = order_of(a);
    const struct rule_part *right = order_of(b);

    if (left == NULL || right == NULL || left->condition == right->condition ||
        left->condition == CONDITION_WHEN || right->condition == CONDITION_WHEN ||
        !are_equal(&left->words, &right->words)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            const struct rule_part *one = &a->items[i];
            const struct rule_part *other = &b->items[j];

            if (!one->is_condition && !other->is_condition && one->words.count > 0 &&
                other->words.count > 0 && one->is_negative == other->is_negative &&
                one_contains(&one->words, &other->words)) {
                return true;
            }
        }
    }
    return false;
}

static bool exclude_each_other(const struct rule_bound *a, const struct rule_bound *b)
{
    return a->dimension == b->dimension && a->of == b->of && (a->high < b->low || b->high < a->low);
}

static bool is_bounds(const struct rule_parts *a, const struct rule_parts *b)
{
    if (!are_equal(&a->all, &b->all) || !apply_together(a, b)) {
        return false;
    }
    for (size_t i = 0; i < a->bound_count; i++) {
        for (size_t j = 0; j < b->bound_count; j++) {
            if (exclude_each_other(&a->bounds[i], &b->bounds[j])) {
                return true;
            }
        }
    }
    return false;
}

static bool has_choice(const struct rule_parts *parts, int group, int member)
{
    for (size_t i = 0; i < parts->choice_count; i++) {
        if (parts->choices[i].group == group && parts->choices[i].member == member &&
            !parts->choices[i].is_negative) {
            return true;
        }
    }
    return false;
}

static bool is_choice(const struct rule_parts *a, const struct rule_parts *b)
{
    if (!one_contains(&a->all, &b->all) || !apply_together(a, b)) {
        return false;
    }
    for (size_t i = 0; i < a->choice_count; i++) {
        for (size_t j = 0; j < b->choice_count; j++) {
            const struct rule_choice *one = &a->choices[i];
            const struct rule_choice *other = &b->choices[j];

            if (one->group == other->group && one->member != other->member && !one->is_negative &&
                !other->is_negative && !has_choice(a, one->group, other->member) &&
                !has_choice(b, other->group, one->member)) {
                return true;
            }
        }
    }
    return false;
}

/* Returns the share of common words among the words of both rules. */
static double overlap_of(const struct rule_words *a, const struct rule_words *b)
{
    size_t missing = rule_words_missing(a, b);
    size_t shared = a->count - missing;
    size_t all = shared + missing + rule_words_missing(b, a);

    return all == 0 ? 0 : (double)shared / (double)all;
}

struct conflict rule_parts_compare(const struct rule_parts *a, const struct rule_parts *b)
{
    struct conflict conflict = {.overlap = overlap_of(&a->all, &b->all)};

    if (is_bounds(a, b)) {
        conflict.reason = CONFLICT_BOUNDS;
    } else if (is_choice(a, b)) {
        conflict.reason = CONFLICT_CHOICE;
    } else if (is_negation(a, b) || is_order(a, b)) {
        conflict.reason = CONFLICT_NEGATION;
    }
    conflict.is_duplicate = conflict.reason == CONFLICT_NONE && a->all.count > 0 &&
                            a->count == b->count && are_equal(&a->all, &b->all) &&
                            a->bound_count == b->bound_count && a->choice_count == b->choice_count;
    return conflict;
}

/* Returns whether one comment chooses something that the other rejects, or another member of its group. */
static bool choose_differently(const struct rule_parts *a, const struct rule_parts *b)
{
    for (size_t i = 0; i < a->choice_count; i++) {
        for (size_t j = 0; j < b->choice_count; j++) {
            const struct rule_choice *one = &a->choices[i];
            const struct rule_choice *other = &b->choices[j];

            if (one->group == other->group &&
                (one->member == other->member) == (one->is_negative != other->is_negative) &&
                !(one->is_negative && other->is_negative)) {
                return true;
            }
        }
    }
    return false;
}

bool rule_parts_oppose(const struct rule_parts *a, const struct rule_parts *b)
{
    if (choose_differently(a, b) && one_contains(&a->all, &b->all)) {
        return true;
    }
    if (is_bounds(a, b) || is_order(a, b)) {
        return true;
    }
    if (!apply_together(a, b) || a->count != 1 || b->count != 1) {
        return false;
    }
    return a->items[0].is_negative != b->items[0].is_negative && a->items[0].words.count > 1 &&
           are_equal(&a->items[0].words, &b->items[0].words);
}
