/*
 * world.h: a store in memory with one organisation, a clock that tests move, and the calls that the
 * tests of corrections share. Everything that goes wrong in it fails the test.
 */
#ifndef ERRATA_TESTS_UNIT_CORRECTIONS_WORLD_H
#define ERRATA_TESTS_UNIT_CORRECTIONS_WORLD_H

#include "server/domain/corrections/capture.h"
#include "server/domain/corrections/list.h"

#define WORLD_START_US INT64_C(1770000000000000)

struct world {
    struct arena arena;
    struct clock_manual clock;
    struct random_seeded random;
    struct fault fault;
    struct ctx ctx;
    struct store_backend *backend;
    struct org_id org;
};

void world_init(struct world *world, uint64_t seed);
void world_deinit(struct world *world);
/* Frees what the last calls made, faults too. */
void world_forget(struct world *world);
/* A transaction; ends the test if there is none. */
struct store_txn *world_begin(struct world *world, enum store_access access);

/* A list that is read page by page. */
struct pages {
    uint32_t size;
    struct slice after;
    bool more;
};
/* Begins its next page, without a body. */
void world_begin_list(struct world *world, struct store_txn *txn, const struct pages *pages,
                      const struct list_filter *filter, struct page *page,
                      struct feedback_list *list);
/* Ends a page and advances `pages`. */
void world_end_page(struct world *world, struct page *page, struct pages *pages);
/* Returns the caller of an ADMIN token without a user. */
struct event_caller world_admin(void);
/* Prepares and stores events in one write as an ADMIN, by a HUMAN unless an input has another kind of annotator.
 * Returns the first seq. */
uint64_t world_capture(struct world *world, const struct capture_input *inputs, size_t count);
/* Retracts an event as an ADMIN; gives the seq of the retraction. */
uint64_t world_retract(struct world *world, uint64_t event_seq);
/* True if a text is in another. */
bool world_has(struct slice whole, const char *part);

/* Returns the number of rows of the organisation in a table. */
size_t world_count_rows(struct world *world, struct store_txn *txn, enum store_table table);
/* Applies each event to a new store, with another clock and other randomness, and compares every
 * table that is made from events, byte for byte; returns how many rows there are. */
size_t world_check_replay(struct world *world, uint64_t last_seq);

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
