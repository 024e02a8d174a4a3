# Messages read as feedback: words, cues, differences, the table.
errata_test(cues_tests DIR tests/unit/cues USES domain_cues LABELS unit PARTS m)
