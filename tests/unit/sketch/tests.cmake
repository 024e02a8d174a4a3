# Sketches of page 1: building, bytes, similarity, on known examples and beside a model of sets.
errata_test(sketch_tests DIR tests/unit/sketch USES domain_sketch LABELS unit)
