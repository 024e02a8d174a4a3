/*
 * main.c: runs the groups of this folder.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#if defined(__SANITIZE_ADDRESS__)
const char *__lsan_default_suppressions(void);

/* Called by the leak checker at exit: fontconfig's permanent data is not a leak of this program. */
// NOLINTNEXTLINE(bugprone-reserved-identifier): the checker's name
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig.so\n";
}
#endif

int main(void)
{
    int failed = 0;

    failed += run_text_tests();
    failed += run_rulings_tests();
    failed += run_crossings_tests();
    failed += run_tables_tests();
    failed += run_text_tables_tests();
    failed += run_prose_tests();
    failed += run_parts_of_tables_tests();
    failed += run_worst_tests();
    failed += run_document_tests();
    failed += run_path_tests();
    failed += run_corpus_tests();
    failed += run_family_tests();
    return failed != 0;
}
