/*
 * explain.h: calls that the tests of explanations share.
 */
#ifndef ERRATA_TESTS_EXPLAIN_EXPLAIN_H
#define ERRATA_TESTS_EXPLAIN_EXPLAIN_H

#include "tests/rpc/extractions.h"
#include "tests/rpc/mappings.h"
#include "tests/rpc/prompts.h"

#include <errata/v1/learning_service.pb-c.h>

/* A request for a reference, without inputs. */
Errata__V1__ExplainExposureRequest explain_of_reference(const char *reference);
Errata__V1__ExplainExposureRequest explain_of_id(const char *exposure_id);
enum status_code explain_try(struct fixture *fixture, const char *token,
                             const Errata__V1__ExplainExposureRequest *request,
                             Errata__V1__ExplainExposureResponse **ret_response);
/* Does the same by the administrator, expected to be OK. */
Errata__V1__ExplainExposureResponse *explain(struct fixture *fixture,
                                             const Errata__V1__ExplainExposureRequest *request);

/* A correction of a line of a layout. NULL leaves a member out. */
struct explain_correction {
    const char *layout;
    const char *document_id;
    const char *entity_id;
    const char *after; /* JSON */
    const char *meta; /* JSON */
};

/* Captures it, a second after the one before; returns its id. */
const char *explain_capture(struct fixture *fixture, const struct explain_correction *correction);

int run_case_tests(void);
/* Serves this many exposures at random, and explains each. */
int run_random_tests(unsigned long seed, unsigned exposures);

#endif
