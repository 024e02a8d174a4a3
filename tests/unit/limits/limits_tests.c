/*
 * limits_tests.c: the values of the limits and thresholds of learned rules.
 *
 * Goal: a constant that changes by its smallest step fails a test.
 * Method: the tests of each capability use the names of its constants, at their edges; here are the values that callers
 * rely on, as the contract documents them.
 */
#include "server/domain/artifacts/evidence.h"
#include "server/domain/artifacts/records.h"
#include "server/domain/backtest/backtest.h"
#include "server/domain/learning/explain.h"
#include "server/domain/rule_files/rule_file.h"
#include "server/domain/rule_files/rule_import_read.h"
#include "server/domain/scoring/rule_set.h"
#include "server/domain/scoring/score.h"
#include "server/domain/verdicts/learners.h"
#include "server/domain/verdicts/measures.h"
#include "server/domain/verdicts/stats.h"
#include "server/domain/verdicts/verdicts.h"
#include "server/domain/weights/set_weights.h"
#include "server/domain/weights/suggestions.h"
#include "server/domain/weights/weight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct limit {
    const char *name;
    double value;
    double expected;
};

#define LIMIT(name, expected)                                                                      \
    {                                                                                              \
#name, (double)(name), expected                                                            \
    }

static void assert_documented(const struct limit *limits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (limits[i].value < limits[i].expected || limits[i].value > limits[i].expected) {
            fail_msg("%s is %f; documented is %f", limits[i].name, limits[i].value,
                     limits[i].expected);
        }
    }
}

static void test_verdicts_have_documented_limits(void **state)
{
    static const struct limit limits[] = {
        LIMIT(VERDICT_INDICATORS_MAX, 50),
        LIMIT(VERDICT_INDICATOR_BYTES_MAX, 256),
        LIMIT(VERDICT_CORRECTIONS_BYTES_MAX, 32768),
        LIMIT(VERDICT_REFERENCES_MAX, 16),
        LIMIT(VERDICT_STATS_TOP, 10),
        LIMIT(VERDICT_STATS_NAMES_MAX, 100000),
        LIMIT(MEASURE_SUNSET_FIRINGS, 20),
        LIMIT(MEASURE_VERSIONS_MAX, 20),
        LIMIT(SCORE_CONFIDENCE_MIN, 0.55),
        LIMIT(SCORE_REDUCED_PERCENT, 65),
        LIMIT(RULE_SET_RULES_MAX, 20000),
        LIMIT(RULE_SET_LAG_MAX, 1000),
        LIMIT(EXPLAIN_EVIDENCE_MAX, 20),
        LIMIT(EXPLAIN_OUTCOMES_MAX, 100),
        LIMIT(ARTIFACT_EVIDENCE_MAX, 20),
        LIMIT(ARTIFACT_OUTCOMES_MAX, 5),
    };

    (void)state;
    assert_documented(limits, sizeof(limits) / sizeof(limits[0]));
}

static void test_measured_rules_have_documented_limits(void **state)
{
    static const struct limit limits[] = {
        LIMIT(WEIGHT_FIRINGS_MIN, 5),
        LIMIT(WEIGHT_MAX, 500000000),
        LIMIT(SET_WEIGHTS_MAX, 100),
        LIMIT(SUGGESTIONS_MAX, 20),
        LIMIT(SUGGESTIONS_RULES_MAX, 2000),
        LIMIT(SUGGESTIONS_SUBMISSIONS_MAX, 20000),
        LIMIT(SUGGESTIONS_FLIPS_MAX, 20),
        LIMIT(BACKTEST_SUBMISSIONS_MAX, 1000000),
        LIMIT(BACKTEST_STEP_MAX, 2000),
        LIMIT(BACKTEST_REVIEWERS_MAX, 100),
        LIMIT(BACKTEST_PATTERN_BYTES_MAX, 256),
        LIMIT(BACKTEST_REVIEWER_BYTES_MAX, 128),
        LIMIT(RULE_FILE_VERSION, 1),
        LIMIT(RULE_IMPORT_RULES_MAX, 20000),
        LIMIT(RULE_IMPORT_PATTERN_BYTES_MAX, 256),
        LIMIT(RULE_IMPORT_COUNT_MAX, 9007199254740992.0),
    };

    (void)state;
    assert_documented(limits, sizeof(limits) / sizeof(limits[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts_have_documented_limits),
        cmocka_unit_test(test_measured_rules_have_documented_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
