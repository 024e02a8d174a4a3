errata_test(analytics_tests DIR tests/unit/analytics USES domain_analytics store_support wire LABELS unit)
