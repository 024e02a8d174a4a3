errata_test(settings_tests DIR tests/unit/settings USES domain_settings store_support LABELS unit)
