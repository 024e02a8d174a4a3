errata_test(corrections_tests DIR tests/unit/corrections USES domain_corrections domain_retractions store_memory json_support wire
            LABELS unit)
