/*
 * fixture.h: a store in memory with one organisation, a clock that tests move, and the calls that the
 * tests of corrections share. Any error in it fails the test.
 */
#ifndef ERRATA_TESTS_UNIT_CORRECTIONS_FIXTURE_H
#define ERRATA_TESTS_UNIT_CORRECTIONS_FIXTURE_H

#include "server/domain/corrections/capture.h"
#include "server/domain/corrections/list.h"

#define FIXTURE_START_US INT64_C(1770000000000000)

struct fixture {
    struct arena arena;
    struct clock_manual clock;
    struct random_seeded random;
    struct fault fault;
    struct ctx ctx;
    struct store_backend *backend;
    struct org_id org;
};

void fixture_init(struct fixture *fixture, uint64_t seed);
void fixture_deinit(struct fixture *fixture);
/* Frees the results of the last calls, including faults. */
void fixture_forget(struct fixture *fixture);
/* A transaction; ends the test if there is none. */
struct store_txn *fixture_begin(struct fixture *fixture, enum store_access access);

/* A list that is read page by page. */
struct pages {
    uint32_t size;
    struct slice after;
    bool more;
};
/* Begins its next page, without a body. */
void fixture_begin_list(struct fixture *fixture, struct store_txn *txn, const struct pages *pages,
                        const struct list_filter *filter, struct page *page,
                        struct feedback_list *list);
/* Ends a page and advances `pages`. */
void fixture_end_page(struct fixture *fixture, struct page *page, struct pages *pages);
/* Returns the caller of an ADMIN token without a user. */
struct event_caller fixture_admin(void);
/* Prepares and stores events in one write as an ADMIN, by a HUMAN unless an input has another kind of annotator.
 * Returns the first seq. */
uint64_t fixture_capture(struct fixture *fixture, const struct capture_input *inputs, size_t count);
/* Retracts an event as an ADMIN; returns the seq of the retraction. */
uint64_t fixture_retract(struct fixture *fixture, uint64_t event_seq);
/* True if a text is in another. */
bool fixture_has(struct slice whole, const char *part);

/* Returns the number of rows of the organisation in a table. */
size_t fixture_count_rows(struct fixture *fixture, struct store_txn *txn, enum store_table table);
/* Applies each event to a new store, with another clock and other randomness, and compares every
 * table that is made from events, byte for byte; returns how many rows there are. */
size_t fixture_check_replay(struct fixture *fixture, uint64_t last_seq);

/* The groups of this folder. */
int run_reduce_tests(void);
int run_capture_tests(void);
int run_findings_tests(void);
int run_model_tests(void);
int run_documents_tests(void);
int run_family_tests(void);
int run_family_answer_tests(void);
int run_grouping_tests(void);
int run_family_lookup_tests(void);
int run_extraction_tests(void);
int run_retraction_tests(void);

#endif
