/*
 * documents_tests.h: the tests of documents and profiles, for the folder's main.
 */
#ifndef ERRATA_TESTS_UNIT_LAYOUTS_DOCUMENTS_TESTS_H
#define ERRATA_TESTS_UNIT_LAYOUTS_DOCUMENTS_TESTS_H

int run_documents_tests(void);
int run_families_tests(void);
int run_family_changes_tests(void);
int run_lists_tests(void);

#endif
