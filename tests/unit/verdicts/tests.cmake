errata_test(verdicts_tests DIR tests/unit/verdicts USES domain_verdicts store_support LABELS unit)
