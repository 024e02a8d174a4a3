errata_test(reviews_tests DIR tests/unit/reviews USES domain_retractions domain_reviews domain_settings store_support
            LABELS unit)
