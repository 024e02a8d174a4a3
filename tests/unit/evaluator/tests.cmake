# Words, conflicts of rules, and the evaluator of decisions.
errata_test(evaluator_tests DIR tests/unit/evaluator
            USES domain_lexicon domain_words domain_conflicts domain_evaluator LABELS unit PARTS m)
