/*
 * recount.c: see recount.h.
 */
#include "tests/explain/recount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/extraction.fields.h>
#include <errata/v1/sku_mapping.fields.h>

static struct recount_mapping *find_mapping(struct recount *recount, const char *id)
{
    for (size_t i = 0; i < recount->mapping_count; i++) {
        if (strcmp(recount->mappings[i].id, id) == 0) {
            return &recount->mappings[i];
        }
    }
    assert_true(recount->mapping_count < RECOUNT_MAPPINGS_MAX);
    recount->mappings[recount->mapping_count].id = id;
    return &recount->mappings[recount->mapping_count++];
}

void recount_judgement(struct recount *recount, const Errata__V1__FeedbackEvent *event,
                       uint64_t seq)
{
    for (size_t i = 0; i < event->n_mapping_changes; i++) {
        const Errata__V1__SkuMapping *now = event->mapping_changes[i]->mapping;
        struct recount_mapping *mapping = find_mapping(recount, now->id);
        bool is_confirmed = (int)now->status == MAPPING_STATUS_CONFIRMED;

        if (mapping->is_confirmed && !is_confirmed) {
            mapping->lost_seq = seq;
        }
        mapping->is_confirmed = is_confirmed;
    }
}

static size_t find_artifact(struct recount *recount, const char *id)
{
    for (size_t i = 0; i < recount->artifact_count; i++) {
        if (strcmp(recount->artifacts[i].id, id) == 0) {
            return i;
        }
    }
    assert_true(recount->artifact_count < RECOUNT_ARTIFACTS_MAX);
    recount->artifacts[recount->artifact_count].id = id;
    return recount->artifact_count++;
}

static const char *id_of(const Errata__V1__ExplainedArtifact *artifact)
{
    switch (artifact->artifact_case) {
    case ERRATA__V1__EXPLAINED_ARTIFACT__ARTIFACT_EXAMPLE:
        return artifact->example->id;
    case ERRATA__V1__EXPLAINED_ARTIFACT__ARTIFACT_MAPPING:
        return artifact->mapping->id;
    case ERRATA__V1__EXPLAINED_ARTIFACT__ARTIFACT_PROMPT_TEMPLATE:
        return artifact->prompt_template->id;
    case ERRATA__V1__EXPLAINED_ARTIFACT__ARTIFACT__NOT_SET:
    default:
        fail();
        return NULL;
    }
}

/* An extraction that cites an artifact by several references counts for it once: on the lowest of their arms. */
static struct recount_outcome *find_outcome(struct recount *recount, size_t artifact,
                                            const char *event_id)
{
    for (size_t i = 0; i < recount->outcome_count; i++) {
        if (recount->outcomes[i].artifact == artifact &&
            strcmp(recount->outcomes[i].event_id, event_id) == 0) {
            return &recount->outcomes[i];
        }
    }
    assert_true(recount->outcome_count < RECOUNT_OUTCOMES_MAX);
    recount->outcomes[recount->outcome_count] =
        (struct recount_outcome){artifact, event_id, EXPERIMENT_ARM_CONTROL, false};
    return &recount->outcomes[recount->outcome_count++];
}

static void count_outcome(struct recount *recount, size_t artifact,
                          const Errata__V1__ExplainExposureResponse *explained,
                          const Errata__V1__ExposureOutcome *outcome)
{
    bool is_use = explained->exposure_kind == ERRATA__V1__EXPOSURE_KIND__EXPOSURE_KIND_MATCHES;
    struct recount_outcome *counted = NULL;

    if (is_use != (outcome->kind == ERRATA__V1__EVENT_KIND__EVENT_KIND_MAPPING_APPLIED)) {
        return;
    }
    counted = find_outcome(recount, artifact, outcome->event_id);
    counted->arm = explained->arm < counted->arm ? (unsigned)explained->arm : counted->arm;
    counted->bad = outcome->_corrected_by_event_id_case != 0;
    if (is_use) {
        counted->bad =
            explained->as_of_seq < find_mapping(recount, recount->artifacts[artifact].id)->lost_seq;
    }
}

static void count_artifact(struct recount *recount,
                           const Errata__V1__ExplainExposureResponse *explained, const char *id)
{
    size_t artifact = find_artifact(recount, id);

    recount->artifacts[artifact].exposures[explained->arm]++;
    for (size_t i = 0; i < explained->n_outcomes; i++) {
        count_outcome(recount, artifact, explained, explained->outcomes[i]);
    }
}

void recount_exposure(struct recount *recount, const Errata__V1__ExplainExposureResponse *explained)
{
    for (size_t i = 0; i < recount->exposure_count; i++) {
        if (strcmp(recount->exposures[i], explained->exposure_id) == 0) {
            return;
        }
    }
    assert_true(recount->exposure_count < sizeof(recount->exposures) / sizeof(char *));
    recount->exposures[recount->exposure_count] = explained->exposure_id;
    recount->exposure_count++;
    for (size_t i = 0; i < explained->n_artifacts; i++) {
        const Errata__V1__ExplainedArtifact *artifact = explained->artifacts[i];
        const Errata__V1__Example *example =
            artifact->artifact_case == ERRATA__V1__EXPLAINED_ARTIFACT__ARTIFACT_EXAMPLE
                ? artifact->example
                : NULL;

        count_artifact(recount, explained, id_of(artifact));
        for (size_t j = 1; example != NULL && j < example->n_event_ids; j++) {
            count_artifact(recount, explained, example->event_ids[j]);
        }
    }
}

/* Compares one side of a report, which has the outcomes of all arms of a set of bits. */
static void expect_side(const struct recount *recount, size_t artifact, unsigned arms,
                        const Errata__V1__ArtifactOutcomes *side)
{
    uint64_t exposures = 0;
    uint64_t outcomes = 0;
    uint64_t bad = 0;

    for (unsigned arm = 0; arm < 4; arm++) {
        exposures += (arms & 1u << arm) != 0 ? recount->artifacts[artifact].exposures[arm] : 0;
    }
    for (size_t i = 0; i < recount->outcome_count; i++) {
        const struct recount_outcome *outcome = &recount->outcomes[i];

        if (outcome->artifact == artifact && (arms & 1u << outcome->arm) != 0) {
            outcomes++;
            bad += outcome->bad;
        }
    }
    assert_int_equal(side->exposure_count, exposures);
    assert_int_equal(side->outcome_count, outcomes);
    assert_int_equal(side->bad_count, bad);
    assert_int_equal(side->good_count, outcomes - bad);
    assert_int_equal(side->_bad_rate_case != 0, outcomes > 0);
}

/* Returns whether the recount has an outcome of an artifact. */
static bool has_outcome(const struct recount *recount, size_t artifact, const char *event_id)
{
    for (size_t i = 0; i < recount->outcome_count; i++) {
        if (recount->outcomes[i].artifact == artifact &&
            strcmp(recount->outcomes[i].event_id, event_id) == 0) {
            return true;
        }
    }
    return false;
}

/* Checks the newest outcomes: each is one that the recount has, newest first; ids of events ascend with time. None is left
 * out before the last, but those of extractions that were replaced leave a gap at the end. */
static void expect_newest(const struct recount *recount, size_t artifact,
                          const Errata__V1__GetArtifactReportResponse *report)
{
    size_t count = report->n_newest_outcomes;
    size_t newer = 0;

    for (size_t i = 0; i < count; i++) {
        const char *id = report->newest_outcomes[i]->event_id;

        assert_true(has_outcome(recount, artifact, id));
        assert_true(i == 0 || strcmp(id, report->newest_outcomes[i - 1]->event_id) < 0);
    }
    for (size_t i = 0; i < recount->outcome_count && count > 0; i++) {
        newer += recount->outcomes[i].artifact == artifact &&
                 strcmp(recount->outcomes[i].event_id,
                        report->newest_outcomes[count - 1]->event_id) >= 0;
    }
    assert_int_equal(newer, count);
    assert_true(count > 0 || report->served->outcome_count + report->held_out->outcome_count < 5);
}

void recount_check(const struct recount *recount, struct fixture *fixture)
{
    const struct exchange_start start = {.path = "errata.v1.LearningService/GetArtifactReport",
                                         .authorization = fixture->admin};

    for (size_t i = 0; i < recount->artifact_count; i++) {
        const struct recount_artifact *counted = &recount->artifacts[i];
        Errata__V1__GetArtifactReportRequest request =
            ERRATA__V1__GET_ARTIFACT_REPORT_REQUEST__INIT;
        Errata__V1__GetArtifactReportResponse *report = NULL;

        request.artifact_id = (char *)(uintptr_t)counted->id;
        assert_int_equal(fixture_call(fixture, &start, &request.base, &report), STATUS_OK);
        expect_side(recount, i, 1u << EXPERIMENT_ARM_TREATMENT, report->treatment);
        expect_side(recount, i, 1u << EXPERIMENT_ARM_CONTROL, report->held_out);
        expect_side(recount, i, 1u << EXPERIMENT_ARM_NONE | 1u << EXPERIMENT_ARM_TREATMENT,
                    report->served);
        expect_newest(recount, i, report);
        assert_int_equal(report->_difference_case != 0, report->treatment->outcome_count > 0 &&
                                                            report->held_out->outcome_count > 0);
    }
}
