/*
 * groups.h: declares the groups of tests of reviews.
 */
#ifndef ERRATA_TESTS_UNIT_REVIEWS_GROUPS_H
#define ERRATA_TESTS_UNIT_REVIEWS_GROUPS_H

/* Each returns the number of failed tests. */
int run_review_tests(void);
int run_spec_tests(void);
int run_trigger_tests(void);
int run_resolve_tests(void);
int run_fragment_set_tests(void);
int run_redaction_rate_tests(void);

#endif
