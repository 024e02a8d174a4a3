errata_test(preload_tests DIR tests/unit/preload USES harness_preload store_support LABELS unit)
