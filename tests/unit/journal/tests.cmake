errata_test(journal_tests DIR tests/unit/journal USES store_support PARTS zlib LABELS unit)
