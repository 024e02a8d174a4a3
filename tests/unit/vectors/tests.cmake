# The search of vectors by their sketches, compared with an exact scan.
errata_test(vectors_tests DIR tests/unit/vectors USES domain_vectors LABELS unit PARTS m)
