# Strategies of turns: searches in transactions older than the index, beside new indexes.
errata_test(turns_tests DIR tests/unit/turns USES domain_turns store_support LABELS unit PARTS m)
