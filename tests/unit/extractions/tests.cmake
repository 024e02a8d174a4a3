errata_test(extractions_tests DIR tests/unit/extractions USES domain_extractions store_support LABELS unit)
