# Proposals, votes and guidelines: the gate, random sequences of writes, prompts.
errata_test(guidelines_tests DIR tests/unit/guidelines
            USES domain domain_learning domain_settings store_support LABELS unit)
