errata_test(domain_experiment_tests DIR tests/unit/experiment USES domain_experiment store_support
            LABELS unit)
