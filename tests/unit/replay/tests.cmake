errata_test(replay_tests DIR tests/unit/replay USES domain_replay domain_retractions store_support LABELS unit)
