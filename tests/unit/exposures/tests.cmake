errata_test(exposures_tests DIR tests/unit/exposures USES domain_exposures store_support LABELS unit)
