/*
 * measured_rules.h: two learned rules of an organisation with so many measured firings that a weight is suggested.
 */
#ifndef ERRATA_TESTS_ISOLATION_MEASURED_RULES_H
#define ERRATA_TESTS_ISOLATION_MEASURED_RULES_H

#include "tests/rpc/fixture.h"

/* Learns the rules by a submission, and measures them by verdicts that cite a score. */
void make_measured_rules(struct fixture *fixture, const char *token);

#endif
