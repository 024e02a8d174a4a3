errata_test(domain_events_tests DIR tests/unit/events USES domain_events store_support LABELS unit)
