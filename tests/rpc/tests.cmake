errata_test(rpc_tests DIR tests/rpc USES services domain_replay store_memory LABELS rpc)
