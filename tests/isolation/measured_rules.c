/*
 * measured_rules.c: see measured_rules.h.
 */
#include "tests/isolation/measured_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Firings from which on a weight is suggested. */
#define FIRINGS 5

static Errata__V1__VerdictSubmission submission_of(char *receipt_id)
{
    Errata__V1__VerdictSubmission submission = ERRATA__V1__VERDICT_SUBMISSION__INIT;

    submission.receipt_id = receipt_id;
    submission.original_verdict = ERRATA__V1__VERDICT__VERDICT_REAL;
    submission.correct_verdict = ERRATA__V1__VERDICT__VERDICT_FAKE;
    submission._original_score_case =
        ERRATA__V1__VERDICT_SUBMISSION___ORIGINAL_SCORE_ORIGINAL_SCORE;
    submission.original_score = 0.25;
    return submission;
}

static void submit(struct fixture *fixture, const char *token,
                   Errata__V1__VerdictSubmission *submission)
{
    const struct exchange_start start = {.path = "errata.v1.VerdictService/SubmitVerdict",
                                         .authorization = token};
    Errata__V1__SubmitVerdictRequest request = ERRATA__V1__SUBMIT_VERDICT_REQUEST__INIT;

    request.submission = submission;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

static Errata__V1__ScoreDocumentResponse *score(struct fixture *fixture, const char *token,
                                                char **indicators)
{
    const struct exchange_start start = {.path = "errata.v1.VerdictService/ScoreDocument",
                                         .authorization = token};
    Errata__V1__ScoreDocumentRequest request = ERRATA__V1__SCORE_DOCUMENT_REQUEST__INIT;
    Errata__V1__ScoreDocumentResponse *response = NULL;

    request._score_case = ERRATA__V1__SCORE_DOCUMENT_REQUEST___SCORE_SCORE;
    request.score = 0.25;
    request.indicators = indicators;
    request.n_indicators = 1;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

void make_measured_rules(struct fixture *fixture, const char *token)
{
    char *missed[] = {(char[]){"missed"}};
    Errata__V1__VerdictSubmission learned = submission_of(missed[0]);
    Errata__V1__ScoreDocumentResponse *scored = NULL;

    learned.missed_indicators = missed;
    learned.n_missed_indicators = 1;
    submit(fixture, token, &learned);
    scored = score(fixture, token, missed);
    for (int i = 0; i < FIRINGS; i++) {
        char receipt_id[32];
        Errata__V1__VerdictSubmission cited = submission_of(receipt_id);

        (void)snprintf(receipt_id, sizeof(receipt_id), "measured %d", i);
        cited.exposure_refs = &scored->exposure_ref;
        cited.n_exposure_refs = 1;
        submit(fixture, token, &cited);
    }
}
