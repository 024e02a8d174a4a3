errata_test(http1_tests DIR tests/unit/http1 USES http1 LABELS unit)
