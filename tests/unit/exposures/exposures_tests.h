/*
 * exposures_tests.h: the groups of tests of this folder.
 */
#ifndef ERRATA_TESTS_UNIT_EXPOSURES_EXPOSURES_TESTS_H
#define ERRATA_TESTS_UNIT_EXPOSURES_EXPOSURES_TESTS_H

#include "server/domain/exposures/exposures.h"

int run_reference_tests(void);
int run_log_tests(void);

#endif
