errata_test(verdicts_tests DIR tests/unit/verdicts USES domain_retractions domain_verdicts store_support LABELS unit)
