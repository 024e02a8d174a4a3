errata_test(replay_tests DIR tests/unit/replay USES domain_replay store_support LABELS unit)
