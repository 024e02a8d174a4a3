errata_test(rule_files_tests DIR tests/unit/rule_files USES domain domain_rule_files domain_verdicts store_support
            LABELS unit)
