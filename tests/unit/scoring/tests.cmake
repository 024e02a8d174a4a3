errata_test(scoring_tests DIR tests/unit/scoring USES domain_scoring domain_retractions domain_verdicts store_support
            LABELS unit)
