/*
 * sketch_tests.h: the groups of tests of this folder.
 */
#ifndef ERRATA_TESTS_UNIT_SKETCH_SKETCH_TESTS_H
#define ERRATA_TESTS_UNIT_SKETCH_SKETCH_TESTS_H

int run_words_tests(void);

#endif
