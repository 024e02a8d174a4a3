errata_test(redact_tests DIR tests/unit/redact USES codec views LABELS unit)
