errata_test(induction_tests DIR tests/unit/induction USES domain domain_induction store_support PARTS m LABELS unit)
