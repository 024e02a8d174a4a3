errata_test(limits_tests DIR tests/unit/limits USES domain LABELS unit)
