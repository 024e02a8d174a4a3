errata_test(phrases_tests DIR tests/unit/phrases USES domain_scoring LABELS unit)
