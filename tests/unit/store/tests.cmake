errata_test(store_tests DIR tests/unit/store USES store_support LABELS unit)
