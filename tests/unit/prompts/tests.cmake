errata_test(prompts_tests DIR tests/unit/prompts USES domain_prompts store_support LABELS unit)
