/*
 * terms.c: see terms.h.
 */
#include "server/domain/induction/terms.h"

#include "server/domain/json/members.h"
#include "server/domain/scoring/predicate.h"
#include "server/domain/text/case_fold.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_PREFIX "text:"

/* A submission whose patterns are visited. */
struct visiting {
    const struct numeric_features *features;
    struct arena *scratch;
    term_visit *visit;
    void *user;
};

/* A comparison is split at its first operator, and `text:` begins a phrase: such a name cannot be compared. */
static bool is_comparable(struct slice name)
{
    return name.size > 0 && memchr(name.data, '=', name.size) == NULL &&
           memchr(name.data, '<', name.size) == NULL && memchr(name.data, '>', name.size) == NULL &&
           !slice_starts_with(name, SLICE(TEXT_PREFIX));
}

/* Reads the next feature; false at the end. */
static enum err next_feature(struct json_walk *walk, struct arena *scratch, struct slice *ret_name,
                             struct feature *ret_feature, bool *ret_has)
{
    struct json_value value = {.kind = JSON_NULL};
    struct slice quoted = {NULL, 0};
    enum err err = OK;

    *ret_has = json_walk_next(walk, &quoted, &value);
    if (*ret_has) {
        err = json_string(scratch, quoted, ret_name);
    }
    if (*ret_has && err == OK) {
        err = feature_read(scratch, value, ret_feature);
    }
    return err;
}

static const struct numeric_feature *find_numeric(const struct numeric_features *features,
                                                  struct slice name)
{
    for (size_t i = 0; i < features->count; i++) {
        if (slice_equal(features->items[i].name, name)) {
            return &features->items[i];
        }
    }
    return NULL;
}

/* Adds one number; features beyond the maximum are left out. */
static enum err add_number(struct numeric_features *features, struct arena *arena,
                           struct slice name, double number)
{
    struct numeric_feature *feature =
        (struct numeric_feature *)(uintptr_t)find_numeric(features, name);

    if (feature == NULL && features->count == NUMERIC_FEATURES_MAX) {
        return OK;
    }
    if (feature == NULL) {
        feature = &features->items[features->count];
        feature->values = arena_alloc(arena, features->room * sizeof(*feature->values));
        if (feature->values == NULL || !arena_copy(arena, name, &feature->name)) {
            return ERR_MEMORY;
        }
        features->count++;
    }
    if (feature->count < features->room) {
        feature->values[feature->count] = number;
        feature->count++;
    }
    return OK;
}

enum err numeric_features_add(struct numeric_features *features, struct arena *arena,
                              struct arena *scratch, const struct verdict_submission_view *view)
{
    struct json_walk walk = json_walk_start(members_value_of(view->original_features_json));
    struct feature feature = {.kind = JSON_NULL};
    struct slice name = {NULL, 0};
    bool has = true;
    enum err err = OK;

    while (err == OK && has) {
        err = next_feature(&walk, scratch, &name, &feature, &has);
        if (err == OK && has && feature.kind == JSON_NUMBER && is_comparable(name)) {
            err = add_number(features, arena, name, feature.number);
        }
    }
    return err;
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

void numeric_features_compute(struct numeric_features *features)
{
    for (size_t i = 0; i < features->count; i++) {
        struct numeric_feature *feature = &features->items[i];

        qsort(feature->values, feature->count, sizeof(*feature->values), compare_numbers);
        for (size_t j = 0; j < DECILES; j++) {
            feature->deciles[j] = feature->values[feature->count * (j + 1) / (DECILES + 1)];
        }
    }
}

/* Visits a pattern of two parts. */
static enum err visit_joined(const struct visiting *visiting, struct slice first,
                             struct slice second)
{
    uint8_t *bytes = arena_alloc(visiting->scratch, first.size + second.size + 1);

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    if (first.size > 0) {
        memcpy(bytes, first.data, first.size);
    }
    if (second.size > 0) {
        memcpy(bytes + first.size, second.data, second.size);
    }
    return visiting->visit(visiting->user, slice_of(bytes, first.size + second.size));
}

static enum err visit_comparison(const struct visiting *visiting, struct slice name,
                                 char operator_byte, double number)
{
    return visit_joined(visiting, name,
                        arena_printf(visiting->scratch, "%c%.6g", operator_byte, number));
}

/* Visits the comparisons that are true for a number. Patterns have the decile in 6 digits, so that
 * people can read them. */
static enum err visit_deciles(const struct visiting *visiting, struct slice name,
                              const struct feature *feature)
{
    const struct numeric_feature *numeric = find_numeric(visiting->features, name);
    enum err err = OK;

    for (size_t i = 0; numeric != NULL && i < DECILES && err == OK; i++) {
        double decile = numeric->deciles[i];

        if (i > 0 && numeric->deciles[i - 1] == decile) {
            continue;
        }
        if (feature->number > decile) {
            err = visit_comparison(visiting, name, '>', decile);
        } else if (feature->number < decile) {
            err = visit_comparison(visiting, name, '<', decile);
        }
    }
    return err;
}

static enum err visit_value(const struct visiting *visiting, struct slice name, struct slice text)
{
    uint8_t value[TERM_VALUE_BYTES_MAX + 1] = {'='};

    memcpy(value + 1, text.data, text.size);
    return visit_joined(visiting, name, slice_of(value, text.size + 1));
}

static enum err visit_feature(const struct visiting *visiting, struct slice name,
                              const struct feature *feature)
{
    enum err err = feature_is_set(feature) ? visiting->visit(visiting->user, name) : OK;

    if (err != OK || !is_comparable(name)) {
        return err;
    }
    if (feature->kind == JSON_NUMBER) {
        return visit_deciles(visiting, name, feature);
    }
    if (feature->kind == JSON_STRING && feature->text.size > 0 &&
        feature->text.size <= TERM_VALUE_BYTES_MAX) {
        return visit_value(visiting, name, feature->text);
    }
    return OK;
}

static enum err visit_features(const struct visiting *visiting, struct slice features)
{
    struct json_walk walk = json_walk_start(members_value_of(features));
    struct feature feature = {.kind = JSON_NULL};
    struct slice name = {NULL, 0};
    bool has = true;
    enum err err = OK;

    while (err == OK && has) {
        err = next_feature(&walk, visiting->scratch, &name, &feature, &has);
        if (err == OK && has) {
            err = visit_feature(visiting, name, &feature);
        }
    }
    return err;
}

static enum err visit_indicators(const struct visiting *visiting, struct slice run)
{
    struct slice indicator = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&run, &indicator)) {
        err = visiting->visit(visiting->user, indicator);
    }
    return err;
}

/* Bytes of words: letters and digits, and all bytes of characters beyond ASCII. */
static bool is_word_byte(uint8_t byte)
{
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

/* Finds the next word from `at`; false at the end of the text. */
static bool next_word(struct slice text, size_t *at, size_t *ret_start)
{
    while (*at < text.size && !is_word_byte(text.data[*at])) {
        (*at)++;
    }
    *ret_start = *at;
    while (*at < text.size && is_word_byte(text.data[*at])) {
        (*at)++;
    }
    return *at > *ret_start;
}

static enum err visit_phrase(const struct visiting *visiting, struct slice phrase, bool is_word)
{
    if (phrase.size > PHRASE_BYTES_MAX || (is_word && phrase.size < PHRASE_WORD_BYTES_MIN)) {
        return OK;
    }
    return visit_joined(visiting, SLICE(TEXT_PREFIX), phrase);
}

/* Visits the phrases that end with each word, as written in the text, from the first word of a
 * phrase to the last one. */
static enum err visit_phrases(const struct visiting *visiting, struct slice text)
{
    size_t starts[PHRASE_WORDS_MAX] = {0}; /* starts of the last words, newest first */
    size_t words = 0;
    size_t start = 0;
    size_t at = 0;
    enum err err = OK;

    while (err == OK && next_word(text, &at, &start)) {
        memmove(&starts[1], &starts[0], (PHRASE_WORDS_MAX - 1) * sizeof(starts[0]));
        starts[0] = start;
        words += words < PHRASE_WORDS_MAX;
        for (size_t i = 0; i < words && err == OK; i++) {
            err = visit_phrase(visiting, slice_of(text.data + starts[i], at - starts[i]), i == 0);
        }
    }
    return err;
}

enum err terms_visit(const struct numeric_features *features, struct arena *scratch,
                     const struct verdict_submission_view *view, term_visit *visit, void *user)
{
    const struct visiting visiting = {features, scratch, visit, user};
    struct slice folded = {NULL, 0};
    enum err err = visit_indicators(&visiting, view->confirmed_indicators.run);

    if (err == OK) {
        err = visit_indicators(&visiting, view->rejected_indicators.run);
    }
    if (err == OK) {
        err = visit_features(&visiting, view->original_features_json);
    }
    if (err == OK) {
        err = case_fold(scratch, view->text, &folded);
    }
    return err != OK ? err : visit_phrases(&visiting, folded);
}
