# Similar decisions, by an index in memory beside an exact scan of the tables.
errata_test(decisions_tests DIR tests/unit/decisions
            USES domain domain_decisions domain_retention domain_retractions event_apply store_support LABELS unit PARTS m)
