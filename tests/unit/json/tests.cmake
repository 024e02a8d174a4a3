errata_test(domain_json_tests DIR tests/unit/json USES domain_json json_support LABELS unit)
