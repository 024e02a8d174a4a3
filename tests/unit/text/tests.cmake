errata_test(text_tests DIR tests/unit/text USES domain_text PARTS utf8proc LABELS unit)
