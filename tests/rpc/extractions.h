/*
 * extractions.h: the calls that the tests of extractions share, as functions of values, and their
 * effects on the log and the tables.
 */
#ifndef ERRATA_TESTS_RPC_EXTRACTIONS_H
#define ERRATA_TESTS_RPC_EXTRACTIONS_H

#include "server/domain/experiment/records.h"
#include "tests/rpc/fixture.h"

/* Maximum references, and ids, that a test sends. */
#define REFERENCES_MAX 4
/* Kinds of events. */
#define ALL ERRATA__V1__EVENT_KIND__EVENT_KIND_UNSPECIFIED
#define APPLIED ERRATA__V1__EVENT_KIND__EVENT_KIND_MAPPING_APPLIED
#define EXPOSURES ERRATA__V1__EVENT_KIND__EVENT_KIND_EXPOSURE_RECORDED
#define EXTRACTIONS ERRATA__V1__EVENT_KIND__EVENT_KIND_EXTRACTION_RECORDED

/* Members of a request; NULL and 0 omit a member, except for the confidence. */
struct sent {
    const char *extraction_id;
    const char *document_id;
    const char *draft_order_id;
    const char *layout;
    double confidence; /* negative: omitted */
    uint32_t field_count;
    const char *references[REFERENCES_MAX];
    const char *example_ids[REFERENCES_MAX];
    int64_t created_at_us;
};

/* A correction as a test makes it. */
struct correction {
    const char *document_id;
    const char *draft_order_id;
    const char *layout;
    const char *entity_id;
    const char *after; /* JSON; every member is a changed field */
};

/* Opens a call and sends its request; the fixture has not run yet. */
void extractions_send(struct exchange *exchange, struct fixture *fixture,
                      const struct exchange_start *start, const struct sent *sent);
/* Runs a complete call; returns the extraction if it succeeded. */
struct exchange extractions_try(struct fixture *fixture, const char *token, const char *key,
                                const struct sent *sent, Errata__V1__Extraction **ret_extraction);
/* Does the same as the administrator, and expects OK. */
Errata__V1__Extraction *extractions_record(struct fixture *fixture, const struct sent *sent);
/* Returns the response of GetExamples; a NULL document is omitted. */
Errata__V1__GetExamplesResponse *extractions_examples_as(struct fixture *fixture, const char *token,
                                                         const char *layout,
                                                         const char *document_id,
                                                         int32_t max_examples);
/* The newest three, for the administrator. */
Errata__V1__GetExamplesResponse *extractions_examples(struct fixture *fixture, const char *layout,
                                                      const char *document_id);
void extractions_set_holdout(struct fixture *fixture, uint32_t percent);
/* Captures a corrected line; returns the stored event. */
Errata__V1__FeedbackEvent *extractions_correct(struct fixture *fixture,
                                               const struct correction *correction);
/* Returns the number of events of a kind in the default organisation, at most 1000. */
size_t extractions_count_events(struct fixture *fixture, Errata__V1__EventKind kind);
struct org_id extractions_org_of(const char *org_id);
/* Returns the sums of a layout as stored. */
struct layout_stats_record extractions_stats_of(struct fixture *fixture, const char *org_id,
                                                const char *layout);
/* Casts a text to the type that messages need; it is never modified. */
char *extractions_text(const char *text);

#endif
