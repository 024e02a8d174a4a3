errata_test(rest_tests DIR tests/unit/rest USES rest LABELS unit)
