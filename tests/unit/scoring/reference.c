/*
 * reference.c: see reference.h. Features and their values are a table, so that no JSON is read here.
 */
#include "tests/unit/scoring/reference.h"

#include "server/domain/verdicts/keys.h"
#include "store/scan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const char *const reference_patterns[REFERENCE_PATTERNS] = {
    "font",
    "font_odd",
    "missing_elements_total",
    "spacing_odd",
    "layout_odd",
    "total",
    "total>10",
    "total<10",
    "total=10",
    "flag",
    "flag=true",
    "flag=false",
    "currency",
    "currency=EUR",
    "missing_elements",
    "layout missing_elements",
    "text:total",
    "text:Straße",
    "text:STRASSE",
    "text:a",
    "text:aa",
    "text:spacing",
    "store.layout=A",
    "weight<0.5",
};

/* A value of a feature, as JSON, and the patterns that match it; no other pattern matches. */
struct value {
    const char *json;
    const char *matches[4];
};

struct named_feature {
    const char *name;
    struct value values[4]; /* from 1 */
};

static const struct named_feature features[REFERENCE_FEATURES] = {
    {"total",
     {{NULL, {NULL}},
      {"10", {"total", "total=10", NULL}},
      {"10.5", {"total", "total>10", NULL}},
      {"0", {"total<10", NULL}}}},
    {"flag",
     {{NULL, {NULL}},
      {"true", {"flag", "flag=true", NULL}},
      {"false", {"flag=false", NULL}},
      {"\"true\"", {"flag", "flag=true", NULL}}}},
    {"currency",
     {{NULL, {NULL}},
      {"\"EUR\"", {"currency", "currency=EUR", NULL}},
      {"\"\"", {NULL}},
      {"\"\\u0045UR\"", {"currency", "currency=EUR", NULL}}}},
    {"store.layout",
     {{NULL, {NULL}},
      {"\"A\"", {"store.layout=A", NULL}},
      {"[\"A\"]", {NULL}},
      {"{\"font\":true}", {NULL}}}},
    {"weight",
     {{NULL, {NULL}}, {"4.9e-1", {"weight<0.5", NULL}}, {"0.5", {NULL}}, {"null", {NULL}}}},
    {"spacing_odd",
     {{NULL, {NULL}}, {"1", {"spacing_odd", NULL}}, {"0", {NULL}}, {"false", {NULL}}}},
};

/* A text, and the patterns that match it. */
struct named_text {
    const char *text;
    const char *matches[6];
};

static const struct named_text texts[] = {
    {"", {NULL}},
    {"TOTAL", {"text:total", "text:a", NULL}},
    {"strasse SPACING", {"text:Straße", "text:STRASSE", "text:a", "text:spacing", NULL}},
    {"Kaassa", {"text:a", "text:aa", NULL}},
    {"tota l", {"text:a", NULL}},
};

uint32_t reference_pick(struct random_seeded *random, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&random->random, &number, sizeof(number));
    return number % below;
}

static struct slice make_features(struct random_seeded *random, struct reference_receipt *receipt)
{
    static char json[512];
    size_t size = 0;
    const char *comma = "";

    size += (size_t)snprintf(json, sizeof(json), "{");
    for (size_t i = 0; i < REFERENCE_FEATURES; i++) {
        receipt->features[i] = (int)reference_pick(random, 4);
        if (receipt->features[i] > 0) {
            size +=
                (size_t)snprintf(json + size, sizeof(json) - size, "%s\"%s\":%s", comma,
                                 features[i].name, features[i].values[receipt->features[i]].json);
            comma = ",";
        }
    }
    size += (size_t)snprintf(json + size, sizeof(json) - size, "}");
    return slice_of(json, size);
}

struct reference_receipt reference_receipt(struct random_seeded *random)
{
    static const double confidences[] = {0, 0.5499999999, 0.55, 0.56, 1};
    static const char *const subtypes[] = {"", "POS", "POS_A", "A_POS", "PO", "INVOICE"};
    static struct slice indicators[REFERENCE_PATTERNS];
    struct reference_receipt receipt = {.stacks_max = reference_pick(random, 2) == 0};
    size_t count = 0;

    for (size_t i = 0; i < REFERENCE_PATTERNS; i++) {
        if (reference_pick(random, 5) == 0) {
            indicators[count] = slice_text(reference_patterns[i]);
            count++;
        }
    }
    receipt.receipt.indicators = indicators;
    receipt.receipt.indicator_count = count;
    receipt.receipt.features = make_features(random, &receipt);
    receipt.receipt.text = slice_text(texts[reference_pick(random, 5)].text);
    receipt.score = reference_pick(random, 1001) / 1000.0;
    receipt.context.missing_fields_enabled = reference_pick(random, 2) == 0;
    receipt.context.profile_confidence = confidences[reference_pick(random, 5)];
    receipt.context.profile_subtype = slice_text(subtypes[reference_pick(random, 6)]);
    return receipt;
}

static bool is_listed(const char *const *list, struct slice pattern)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        if (slice_equal(slice_text(list[i]), pattern)) {
            return true;
        }
    }
    return false;
}

static bool matches(const struct reference_receipt *receipt, struct slice pattern)
{
    for (size_t i = 0; i < receipt->receipt.indicator_count; i++) {
        if (slice_equal(receipt->receipt.indicators[i], pattern)) {
            return true;
        }
    }
    for (size_t i = 0; i < REFERENCE_FEATURES; i++) {
        if (receipt->features[i] > 0 &&
            is_listed(features[i].values[receipt->features[i]].matches, pattern)) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (slice_equal(receipt->receipt.text, slice_text(texts[i].text))) {
            return is_listed(texts[i].matches, pattern);
        }
    }
    return false;
}

static struct reference_event weigh(const struct reference_receipt *receipt,
                                    const struct learned_rule_row *row)
{
    const struct score_context *context = &receipt->context;
    uint64_t accuracy = row->record.accuracy + 20000000 * row->record.reinforcement_count;
    struct reference_event event = {
        .seq = row->seq,
        .weight = row->record.adjustment,
        .count = row->record.count,
        .accuracy = accuracy > 1000000000 ? 1000000000 : accuracy,
    };
    char pattern[64];

    (void)snprintf(pattern, sizeof(pattern), "%.*s", (int)row->record.pattern.size,
                   (const char *)row->record.pattern.data);
    event.is_suppressed =
        (strstr(pattern, "missing_elements") != NULL && !context->missing_fields_enabled) ||
        ((strstr(pattern, "spacing") != NULL || strstr(pattern, "layout") != NULL) &&
         context->profile_subtype.size >= 3 &&
         memcmp(context->profile_subtype.data, "POS", 3) == 0);
    if (context->profile_confidence < 0.55) {
        int64_t hundredfold = event.weight * 65;

        event.weight = (hundredfold + (hundredfold < 0 ? -50 : 50)) / 100;
        event.weight = event.weight > 50000000 ? 50000000 : event.weight;
        event.weight = event.weight < -50000000 ? -50000000 : event.weight;
    }
    event.weight = event.is_suppressed ? 0 : event.weight;
    return event;
}

/* A rule that matched; those in SHADOW are not in events. */
struct matched {
    struct slice pattern;
    int64_t weight;
    bool is_shadow;
};

/* Returns whether an earlier rule with the same pattern has a weight as large, or a later one a larger one. */
static bool is_smaller(const struct matched *matched, size_t count, bool shadows, size_t at)
{
    for (size_t i = 0; i < count; i++) {
        int64_t weight = matched[at].weight;
        int64_t other = matched[i].weight;
        bool same = slice_equal(matched[i].pattern, matched[at].pattern) &&
                    (weight < 0) == (other < 0) && (shadows || !matched[i].is_shadow);
        int64_t more = weight < 0 ? weight - other : other - weight;

        if (same && (more > 0 || (more == 0 && i < at))) {
            return true;
        }
    }
    return false;
}

static double sum_of(const struct reference_receipt *receipt, const struct matched *matched,
                     size_t count, bool shadows)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        if ((shadows || !matched[i].is_shadow) &&
            (!receipt->stacks_max || !is_smaller(matched, count, shadows, i))) {
            sum += matched[i].weight;
        }
    }
    return receipt->score + (double)sum / 1e9;
}

enum verdict reference_verdict(double score)
{
    double rounded = floor((score < 0 ? 0 : score) * 1e9 + 0.5);

    if (rounded >= 6e8) {
        return VERDICT_FAKE;
    }
    return rounded >= 4e8 ? VERDICT_SUSPICIOUS : VERDICT_REAL;
}

struct reference_score reference_score(struct store_txn *txn, struct org_id org,
                                       const struct reference_receipt *receipt)
{
    const struct scan_range range = {
        .table = TABLE_LEARNED_RULE, .prefix = key_org(org), .rows_max = UINT32_MAX};
    struct reference_score score = {.count = 0};
    struct matched matched[REFERENCE_EVENTS_MAX];
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct scan scan;
    size_t count = 0;

    assert_int_equal(scan_init(&scan, txn, &range), OK);
    while (scan_next(&scan, &key, &value) == OK) {
        struct reference_event event;
        struct learned_rule_row row;
        bool is_live = false;

        assert_int_equal(key_read_learned_rule(key, &row.seq), OK);
        assert_int_equal(record_decode_learned_rule(value, &row.record), OK);
        is_live = row.record.life.state == ARTIFACT_STATE_ACTIVE ||
                  row.record.life.state == ARTIFACT_STATE_SUNSET_PROPOSED;
        if (row.record.life.held_back ||
            (!is_live && row.record.life.state != ARTIFACT_STATE_SHADOW) ||
            !matches(receipt, row.record.pattern)) {
            continue;
        }
        assert_true(count < REFERENCE_EVENTS_MAX);
        event = weigh(receipt, &row);
        matched[count] = (struct matched){row.record.pattern, event.weight, !is_live};
        count++;
        if (is_live) {
            score.events[score.count] = event;
            score.count++;
        } else {
            score.shadow_seqs[score.shadow_count] = row.seq;
            score.shadow_count++;
        }
    }
    scan_deinit(&scan);
    score.unclamped = sum_of(receipt, matched, count, false);
    score.unclamped_with_shadows = sum_of(receipt, matched, count, true);
    return score;
}
