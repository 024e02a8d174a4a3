errata_test(rpc_tests DIR tests/rpc USES services store_memory LABELS rpc)
