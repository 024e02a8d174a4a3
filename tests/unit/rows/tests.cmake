# Keys and rows of every table, the store's own and those of the capabilities, and FORMAT.md.
errata_test(rows_tests DIR tests/unit/rows USES domain store_support LABELS unit)
