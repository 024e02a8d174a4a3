/*
 * mapping.c: see mapping.h.
 */
#include "tools/errata/import/mapping.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PROBLEM_BYTES_MAX 256
/* Maximum digits of a number that strtod reads; a longer one is a label. */
#define NUMBER_BYTES_MAX 64

void import_skip(struct import_call *call, const char *reason, struct slice id)
{
    call->sink->skip(call->sink->user, reason, id);
}

void import_lose(struct import_call *call, size_t loss)
{
    call->sink->lose(call->sink->user, loss);
}

void import_damaged(struct import_call *call, const char *format, ...)
{
    char text[PROBLEM_BYTES_MAX];
    va_list values;
    int size = 0;

    va_start(values, format);
    size = vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    size = size < (int)sizeof(text) ? size : (int)sizeof(text) - 1;
    call->sink->damaged(call->sink->user, slice_of(text, size > 0 ? (size_t)size : 0));
}

struct slice import_join_ids(struct import_call *call, struct slice a, struct slice b)
{
    return arena_printf(call->arena, "%.*s/%.*s", (int)a.size, (const char *)a.data, (int)b.size,
                        (const char *)b.data);
}

static bool is_word(struct slice text, const char *word)
{
    return text.size == strlen(word) && strncasecmp((const char *)text.data, word, text.size) == 0;
}

struct slice import_annotator(struct slice word)
{
    static const struct {
        const char *word;
        const char *kind;
    } words[] = {{"HUMAN", "HUMAN"},  {"LLM", "LLM"},       {"CODE", "CODE"},
                 {"AI_JUDGE", "LLM"}, {"LLM_JUDGE", "LLM"}, {"ANNOTATION", "HUMAN"},
                 {"EVAL", "LLM"},     {"model", "LLM"},     {"app", "HUMAN"}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_word(word, words[i].word)) {
            return slice_text(words[i].kind);
        }
    }
    return slice_of(NULL, 0);
}

/* --- filling --- */

void import_fill(struct import_call *call, struct json_value record,
                 const struct import_member *members, struct import_row *row)
{
    for (; members->field != IMPORT_NO_FIELD; members++) {
        struct json_value value = {JSON_NULL, {NULL, 0}};
        struct json_value *place = members->field == IMPORT_BEFORE  ? &row->before
                                   : members->field == IMPORT_AFTER ? &row->after
                                                                    : NULL;
        int64_t us = 0;

        if (row->text[members->field].size > 0 ||
            !fields_find(call->arena, record, members->path, &value)) {
            continue;
        }
        if (members->field == IMPORT_AT && strcmp(members->path, "id") == 0 &&
            !fields_time(fields_value_text(call->arena, value), &us)) {
            continue; /* an id without a time */
        }
        row->text[members->field] = fields_value_text(call->arena, value);
        if (place != NULL) {
            *place = fields_parsed(call->arena, value);
        }
    }
}

/* --- outcomes --- */

static const char *const good_words[] = {
    "true",      "yes",       "good",     "correct",  "pass",     "passed",   "👍",
    "thumbs_up", "thumbs-up", "accepted", "approved", "positive", "REVIEWED", NULL};
static const char *const bad_words[] = {
    "false",       "no",          "bad",      "incorrect", "fail",     "failed", "👎",
    "thumbs_down", "thumbs-down", "rejected", "declined",  "negative", "wrong",  NULL};

static bool is_one_of(struct slice text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (is_word(text, *words)) {
            return true;
        }
    }
    return false;
}

static bool read_number(struct slice text, double *ret_number)
{
    char digits[NUMBER_BYTES_MAX];
    char *end = NULL;

    if (text.size == 0 || text.size >= sizeof(digits) ||
        memchr("+-.0123456789", text.data[0], 13) == NULL) {
        return false;
    }
    memcpy(digits, text.data, text.size);
    digits[text.size] = '\0';
    *ret_number = strtod(digits, &end);
    return *end == '\0';
}

/* Returns the threshold of an outcome; a threshold without a name applies to all others. */
static const struct import_threshold *find_threshold(const struct import_choices *choices,
                                                     struct slice metric)
{
    const struct import_threshold *found = NULL;

    for (size_t i = 0; i < choices->threshold_count; i++) {
        const struct import_threshold *threshold = &choices->thresholds[i];

        if (threshold->metric.size == 0 && found == NULL) {
            found = threshold;
        } else if (threshold->metric.size > 0 && slice_equal(threshold->metric, metric)) {
            return threshold;
        }
    }
    return found;
}

bool import_knows_label(const struct import_call *call, struct slice label)
{
    const struct import_choices *choices = call->choices;

    for (size_t i = 0; i < choices->label_count; i++) {
        if (slice_equal(choices->labels[i].label, label)) {
            return true;
        }
    }
    return is_one_of(label, good_words) || is_one_of(label, bad_words);
}

/* Determines the decision of an outcome; returns false with a reason if there is none. */
static bool judge(const struct import_choices *choices, const struct import_row *row,
                  const char **ret_decision, const char **ret_reason)
{
    struct slice value = row->text[IMPORT_VALUE];
    const struct import_threshold *threshold = find_threshold(choices, row->text[IMPORT_METRIC]);
    double number = 0;

    for (size_t i = 0; i < choices->label_count; i++) {
        if (slice_equal(choices->labels[i].label, value)) {
            *ret_decision = choices->labels[i].is_good ? "REVIEWED" : "REJECTED";
            return true;
        }
    }
    if (read_number(value, &number)) {
        *ret_reason = "a number without a threshold (--good-from [METRIC=]NUMBER)";
        if (threshold == NULL) {
            return false;
        }
        *ret_decision = number >= threshold->good_from ? "REVIEWED" : "REJECTED";
        return true;
    }
    *ret_reason = "a label without a meaning (--good-label LABEL, --bad-label LABEL)";
    *ret_decision = is_one_of(value, good_words) ? "REVIEWED" : "REJECTED";
    return is_one_of(value, good_words) || is_one_of(value, bad_words);
}

/* --- passing rows on --- */

static void put_review(struct import_call *call, struct import_row *row)
{
    const char *decision = NULL;
    const char *reason = NULL;

    if (row->text[IMPORT_SUBJECT].size == 0) {
        import_damaged(call, "%s: without the run that it judges; expected its id", row->type);
    } else if (row->text[IMPORT_DECISION].size > 0) {
        call->sink->row(call->sink->user, row);
    } else if (row->text[IMPORT_VALUE].size == 0 && row->text[IMPORT_NOTES].size > 0) {
        /* A comment without an outcome is a request. */
        IMPORT_TEXT(row, IMPORT_DECISION, "CHANGES_REQUESTED");
        call->sink->row(call->sink->user, row);
    } else if (row->text[IMPORT_VALUE].size == 0) {
        import_skip(call, "an outcome without a value", row->text[IMPORT_ID]);
    } else if (!judge(call->choices, row, &decision, &reason)) {
        import_skip(call, reason, row->text[IMPORT_ID]);
    } else {
        IMPORT_TEXT(row, IMPORT_DECISION, decision);
        call->sink->row(call->sink->user, row);
    }
}

static bool check_time(struct import_call *call, struct import_row *row)
{
    int64_t us = 0;

    if (row->text[IMPORT_AT].size == 0) {
        return true;
    }
    if (!fields_time(row->text[IMPORT_AT], &us)) {
        import_damaged(call,
                       "time: invalid value '%.*s'; expected RFC 3339, such as "
                       "2026-11-22T08:30:00Z",
                       (int)(row->text[IMPORT_AT].size < 40 ? row->text[IMPORT_AT].size : 40),
                       (const char *)row->text[IMPORT_AT].data);
        return false;
    }
    row->text[IMPORT_AT] = fields_time_text(call->arena, us);
    return true;
}

void import_put(struct import_call *call, const struct import_row *given)
{
    struct import_row row = *given;

    row.text[IMPORT_ANNOTATOR] = import_annotator(row.text[IMPORT_ANNOTATOR]);
    if (!check_time(call, &row)) {
        return;
    }
    if (row.text[IMPORT_ID].size == 0) {
        import_damaged(call, "%s: without an id; expected the record's own id", row.type);
    } else if (row.kind == IMPORT_REVIEW) {
        put_review(call, &row);
    } else if (row.kind == IMPORT_CORRECTION && row.after.kind == JSON_NULL) {
        import_skip(call, "a correction without a corrected value", row.text[IMPORT_ID]);
    } else {
        call->sink->row(call->sink->user, &row);
    }
}
