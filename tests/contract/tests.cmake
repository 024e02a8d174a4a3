errata_test(store_contract_tests DIR tests/contract USES store_support LABELS contract)
