errata_test(text_tests DIR tests/unit/text USES domain_text LABELS unit)
