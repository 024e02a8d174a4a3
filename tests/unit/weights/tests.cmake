errata_test(weights_tests DIR tests/unit/weights USES domain domain_weights store_support LABELS unit)
