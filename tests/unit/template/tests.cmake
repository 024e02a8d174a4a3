errata_test(template_tests DIR tests/unit/template USES domain_text LABELS unit)
