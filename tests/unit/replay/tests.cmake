errata_test(replay_tests DIR tests/unit/replay USES domain_dead_letters domain_learning domain_replay domain_retention domain_retractions store_support LABELS unit)
# The tables are rebuilt and compared after thousands of random writes of every kind.
set_tests_properties(replay_tests PROPERTIES TIMEOUT 400)
