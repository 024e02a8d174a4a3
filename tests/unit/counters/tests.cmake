errata_test(counters_tests DIR tests/unit/counters USES domain_counters store_support LABELS unit)
