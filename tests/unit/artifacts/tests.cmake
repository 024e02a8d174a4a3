errata_test(domain_artifacts_tests DIR tests/unit/artifacts USES domain_artifacts store_support
            LABELS unit)
